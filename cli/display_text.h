#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace infino::cli {

/// Has the process read and show text as UTF-8, which is what tables hold, whatever the user's
/// locale. Called once, before all others here.
void UseUtf8();

/// How many columns of a terminal `text` takes: two a wide character (East Asian, most emoji), none
/// a combining one.
[[nodiscard]] size_t DisplayWidth(std::string_view text);

/// `text` on one line that takes at most `width` columns. Line ends, tabs and other control
/// characters, which would move the cursor or command the terminal, become blanks; bytes that are
/// no UTF-8 become U+FFFD; what is cut off shows as an ellipsis. REQUIRES: `width` > 0.
[[nodiscard]] std::string OneLine(std::string_view text, size_t width);

/// `text` with blanks after it, or before it, so that it takes `width` columns.
[[nodiscard]] std::string Padded(const std::string& text, size_t width, bool right);

}  // namespace infino::cli
