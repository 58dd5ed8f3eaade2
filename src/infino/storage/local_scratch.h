#pragma once

#include <memory>
#include <optional>
#include <string>

#include "infino/common/scratch.h"

namespace infino {

/// Scratch files in a folder of the local disk, which has to exist by the time of the first one;
/// nothing: in the system's folder for temporary files. The files have no name, so that nothing is
/// left when the process is killed. They are readable by the user alone.
[[nodiscard]] std::shared_ptr<ScratchSpace> MakeLocalScratch(std::optional<std::string> folder);

}  // namespace infino
