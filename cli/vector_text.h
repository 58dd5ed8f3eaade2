#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

namespace infino::cli {

/// The vectors that a text holds: one a line, or one a pair of brackets, which may span lines and
/// stand in others. Numbers are separated by commas, blanks or both. Fails, saying where, for what
/// is no number and brackets that do not match, and if there is no number at all.
[[nodiscard]] arrow::Result<std::vector<std::vector<float>>> ParseVectors(std::string_view text);

/// What an argument stands for: the content of a file for @FILE, standard input for -, else itself.
[[nodiscard]] arrow::Result<std::string> ReadArgument(const std::string& argument);

}  // namespace infino::cli
