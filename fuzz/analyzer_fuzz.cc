#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "infino/common/bytes.h"
#include "infino/index/text/analyzer.h"
#include "infino/index/text/word_break.h"
#include "infino/index_spec.h"

// The first byte chooses the options, the rest is the text. Any bytes are a text: the analyzer must
// succeed, and its terms must be UTF-8, not empty, not too long, and at rising positions.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace text = infino::text;
  if (size == 0) return 0;
  infino::TextIndexOptions options;
  if ((data[0] & 1) != 0) options.stopwords = "english";
  if ((data[0] & 2) != 0) options.stemmer = "english";
  const auto analyzer = text::Analyzer::Make(options);
  if (!analyzer.ok()) std::abort();
  const std::string_view utf8 = infino::AsText({data + 1, size - 1});
  int64_t last = -1;
  const auto check = [&last](text::Token token) {
    if (token.text.empty() || token.position <= last) std::abort();
    last = token.position;
    uint32_t length = 0;
    for (size_t offset = 0; offset < token.text.size(); ++length) {
      const text::DecodedChar decoded = text::DecodeChar(token.text, offset);
      if (decoded.value == text::DecodedChar::kNotUtf8) std::abort();
      offset += decoded.size;
    }
    if (length > text::Analyzer::kTokenLengthMax) std::abort();
  };
  if (!(*analyzer)->Analyze(utf8, check).ok()) std::abort();
  const auto word = (*analyzer)->LastWord(utf8);
  if (word && !(*analyzer)->StartsWithWord(utf8.substr(*word))) std::abort();
  return 0;
}
