#include "infino/superfile/parquet_guard.h"

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <arrow/status.h>
#include <parquet/exception.h>

#include "infino/error.h"

namespace infino {

arrow::Status StatusOfCurrentException() {
  try {
    throw;
  } catch (const parquet::ParquetStatusException& error) {
    return error.status();
  } catch (const std::bad_alloc&) {
    return MakeError(ErrorKind::kResourceExhausted, "out of memory in Parquet");
  } catch (const std::exception& error) {
    return arrow::Status::IOError(error.what());
  } catch (...) {
    return arrow::Status::UnknownError("unknown exception in Parquet");
  }
}

arrow::Status CorruptParquet(const arrow::Status& status, std::string_view object) {
  if (status.ok() || KindOf(status).has_value()) return status;
  if (status.IsOutOfMemory()) return FromForeign(status, object);
  return MakeError(ErrorKind::kCorrupt, std::string(object) + ": " + status.message());
}

}  // namespace infino
