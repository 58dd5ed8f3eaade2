#include "infino/common/wait.h"

#include <arrow/status.h>

#include "infino/error.h"
#include "infino/options.h"

namespace infino {

arrow::Status CheckStop(const StopCondition& stop) {
  if (stop.token.IsStopRequested()) {
    return MakeError(ErrorKind::kCancelled, "the call was cancelled by its stop token");
  }
  if (stop.poll && stop.poll()) {
    return MakeError(ErrorKind::kCancelled, "the call was cancelled by its caller");
  }
  return arrow::Status::OK();
}

}  // namespace infino
