#include "infino/index/text/analyzer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <libstemmer.h>
#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/stringpiece.h>
#include <unicode/uchar.h>
#include <unicode/umachine.h>
#include <unicode/urename.h>
#include <unicode/utypes.h>

#include "infino/common/bytes.h"
#include "infino/error.h"
#include "infino/index/text/ascii_word.h"
#include "infino/index/text/stop_words.h"
#include "infino/index/text/word_break.h"
#include "infino/index_spec.h"

namespace infino::text {
namespace {

struct DeleteStemmer {
  void operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }
};

using Stemmer = std::unique_ptr<sb_stemmer, DeleteStemmer>;

using internal::AsciiTraitsOf;
using internal::AsciiWord;
using internal::FindAsciiWord;
using internal::kAsciiBlank;
using internal::kAsciiWord;
using internal::kNotAscii;
using internal::ToLowerAscii;

void AppendUtf8(char32_t value, std::string& out) {
  const auto put = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0U | (value >> 6U));
    put(0x80U | (value & 0x3FU));
  } else {
    if (value < 0x10000) {
      put(0xE0U | (value >> 12U));
    } else {
      put(0xF0U | (value >> 18U));
      put(0x80U | ((value >> 12U) & 0x3FU));
    }
    put(0x80U | ((value >> 6U) & 0x3FU));
    put(0x80U | (value & 0x3FU));
  }
}

icu::StringPiece PieceOf(std::string_view utf8) {
  return {utf8.data(), static_cast<int32_t>(utf8.size())};
}

// Brings `utf8`, which is valid, to NFC: `utf8` itself, or `scratch` holding the result. When ICU
// fails, `code` says why and the text stays as it is.
std::string_view ToNfc(std::string_view utf8, std::string& scratch, UErrorCode& code) {
  const icu::Normalizer2* nfc = icu::Normalizer2::getNFCInstance(code);
  if (U_FAILURE(code) || nfc->isNormalizedUTF8(PieceOf(utf8), code) != 0) return utf8;
  scratch.clear();
  icu::StringByteSink<std::string> sink(&scratch);
  nfc->normalizeUTF8(0, PieceOf(utf8), sink, nullptr, code);
  return U_FAILURE(code) ? utf8 : scratch;
}

bool IsCaseIgnorable(char32_t value) {
  return u_hasBinaryProperty(static_cast<UChar32>(value), UCHAR_CASE_IGNORABLE) != 0;
}

bool IsCased(char32_t value) {
  return u_hasBinaryProperty(static_cast<UChar32>(value), UCHAR_CASED) != 0;
}

// Whether a Σ that is followed by `rest` in its word is followed by a letter with case.
bool LettersFollow(std::string_view rest) {
  for (size_t offset = 0; offset < rest.size();) {
    const DecodedChar decoded = DecodeChar(rest, offset);
    if (!IsCaseIgnorable(decoded.value)) return IsCased(decoded.value);
    offset += decoded.size;
  }
  return false;
}

constexpr std::string_view kCapitalSigma = "\xCE\xA3";
constexpr std::string_view kFinalSigma = "\xCF\x82";
constexpr char32_t kDottedCapitalI = 0x130;

// Replaces `out` by the valid `word` in lower case, by the full rules of the root locale: a mapping
// of single characters but for two of them.
void ToLower(std::string_view word, std::string& out) {
  out.clear();
  const bool has_sigma = word.find(kCapitalSigma) != std::string_view::npos;
  bool after_cased = false;  // not counting case-ignorable characters; kept only for a Σ
  for (size_t offset = 0; offset < word.size();) {
    const DecodedChar decoded = DecodeChar(word, offset);
    const std::string_view bytes = word.substr(offset, decoded.size);
    offset += decoded.size;
    if (decoded.value < 0x80) {
      out.push_back(ToLowerAscii(bytes.front()));
    } else if (decoded.value == kDottedCapitalI) {
      out += "i\xCC\x87";
    } else if (bytes == kCapitalSigma && after_cased && !LettersFollow(word.substr(offset))) {
      out += kFinalSigma;
    } else {
      AppendUtf8(static_cast<char32_t>(u_tolower(static_cast<UChar32>(decoded.value))), out);
    }
    if (has_sigma && !IsCaseIgnorable(decoded.value)) after_cased = IsCased(decoded.value);
  }
}

}  // namespace

// Stemmers that no call uses at the moment; each serves one call at a time.
class Analyzer::StemmerPool {
 public:
  Stemmer Take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        Stemmer stemmer = std::move(idle_.back());
        idle_.pop_back();
        return stemmer;
      }
    }
    return Stemmer(sb_stemmer_new("english", nullptr));
  }

  void Give(Stemmer stemmer) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(stemmer));
  }

 private:
  std::mutex mutex_;
  std::vector<Stemmer> idle_;
};

namespace {

// One call of Analyze: cuts words out of the text and passes them on.
//
// ASCII goes by a table, a byte at a time. Where another character follows so that it might belong
// to the same segment, the general rules take over for a stretch that begins at a known boundary
// and ends before a blank.
class Analysis {
 public:
  Analysis(std::string_view utf8, TokenSink sink, bool remove_stop_words, sb_stemmer* stemmer)
      : utf8_(utf8),
        bytes_(AsBytes(utf8)),
        sink_(sink),
        remove_stop_words_(remove_stop_words),
        stemmer_(stemmer) {}

  arrow::Status Run() {
    size_t offset = 0;
    while (offset < utf8_.size()) {
      const unsigned traits = AsciiTraitsOf(bytes_[offset]);
      if ((traits & kAsciiWord) != 0) {
        const AsciiWord word = FindAsciiWord(bytes_, offset);
        if (word.undecided) {
          offset = TakeStretch(offset);
          continue;
        }
        if (word.makes_word) {
          TakeAsciiWord(utf8_.substr(offset, word.end - offset), word.has_upper);
        }
        offset = word.end;
      } else if ((traits & kNotAscii) != 0) {
        offset = TakeStretch(SegmentBegin(offset));
      } else {
        ++offset;
      }
    }
    if (U_SUCCESS(code_)) return arrow::Status::OK();
    return MakeError(ErrorKind::kInternal,
                     std::string("Cannot normalise text: ICU says ") + u_errorName(code_));
  }

 private:
  // Where the segment with the character at `offset` begins, which isn't ASCII: it may be a mark on
  // the character before it, which isn't part of a word, or is a blank.
  [[nodiscard]] size_t SegmentBegin(size_t offset) const {
    if (offset == 0) return offset;
    const unsigned before = AsciiTraitsOf(bytes_[offset - 1]);
    return (before & (kNotAscii | kAsciiBlank)) == 0 ? offset - 1 : offset;
  }

  // Takes all words from `begin`, which is a boundary, to the first ASCII blank that an ASCII
  // character follows, or to the first byte that isn't UTF-8. Returns where to go on.
  size_t TakeStretch(size_t begin) {
    const WordBreaker& breaker = WordBreaker::Get();
    unsigned traits = 0;
    size_t end = begin;
    while (end < utf8_.size() && !EndsStretch(end)) {
      const DecodedChar decoded = DecodeChar(utf8_, end);
      if (decoded.value == DecodedChar::kNotUtf8) break;
      traits |= breaker.TraitsOf(decoded.value).traits();
      end += decoded.size;
    }
    std::string_view stretch = utf8_.substr(begin, end - begin);
    if ((traits & kMayCompose) != 0) stretch = ToNfc(stretch, normalized_, code_);
    for (size_t offset = 0; offset < stretch.size();) {
      const WordBreaker::Segment segment = breaker.Next(stretch, offset);
      if ((segment.traits & kMakesWord) != 0) {
        TakeWord(stretch.substr(offset, segment.end - offset), segment.traits);
      }
      offset = segment.end;
    }
    return end + 1;
  }

  [[nodiscard]] bool EndsStretch(size_t offset) const {
    return (AsciiTraitsOf(bytes_[offset]) & kAsciiBlank) != 0 &&
           (offset + 1 == utf8_.size() || (AsciiTraitsOf(bytes_[offset + 1]) & kNotAscii) == 0);
  }

  void TakeWord(std::string_view word, unsigned traits) {
    if ((traits & kHasLowerCase) != 0) {
      ToLower(word, lower_);
      word = lower_;
      // A small letter may compose with its mark where the capital doesn't: H and U+0331.
      if ((traits & kMayCompose) != 0) word = ToNfc(lower_, normalized_word_, code_);
    }
    while (word.size() > Analyzer::kTokenLengthMax) {
      size_t end = 0;
      for (uint32_t i = 0; i < Analyzer::kTokenLengthMax && end < word.size(); ++i) {
        end += DecodeChar(word, end).size;
      }
      Emit(word.substr(0, end));
      word.remove_prefix(end);
    }
    if (!word.empty()) Emit(word);
  }

  void TakeAsciiWord(std::string_view word, bool has_upper) {
    if (!has_upper && word.size() <= Analyzer::kTokenLengthMax) {
      Emit(word);
      return;
    }
    while (!word.empty()) {
      std::array<char, Analyzer::kTokenLengthMax> lower;  // NOLINT: filled just below
      const size_t size = std::min(word.size(), lower.size());
      std::transform(word.begin(), word.begin() + static_cast<ptrdiff_t>(size), lower.begin(),
                     ToLowerAscii);
      Emit(std::string_view(lower.data(), size));
      word.remove_prefix(size);
    }
  }

  void Emit(std::string_view term) {
    const uint32_t position = position_++;
    if (remove_stop_words_ && IsStopWord(term)) return;
    if (stemmer_ != nullptr) term = Stem(term);
    sink_({.text = term, .position = position});
  }

  // The stem of `term`; `term` itself when memory runs out or nothing would be left.
  [[nodiscard]] std::string_view Stem(std::string_view term) const {
    const sb_symbol* stem =
        sb_stemmer_stem(stemmer_, AsBytes(term).data(), static_cast<int>(term.size()));
    const int size = sb_stemmer_length(stemmer_);
    if (stem == nullptr || size <= 0) return term;
    return AsText({stem, static_cast<size_t>(size)});
  }

  std::string_view utf8_;
  ByteSpan bytes_;  // the same
  TokenSink sink_;
  bool remove_stop_words_;
  sb_stemmer* stemmer_;
  uint32_t position_ = 0;
  UErrorCode code_ = U_ZERO_ERROR;
  std::string normalized_;
  std::string lower_;
  std::string normalized_word_;
};

arrow::Status CheckChoice(std::string_view option, std::string_view value,
                          std::string_view accepted) {
  if (value == accepted) return arrow::Status::OK();
  return MakeError(ErrorKind::kInvalidArgument, "Unknown " + std::string(option) + " '" +
                                                    std::string(value) + "'; accepted: '" +
                                                    std::string(accepted) + "'");
}

}  // namespace

arrow::Result<std::unique_ptr<Analyzer>> Analyzer::Make(const TextIndexOptions& options) {
  ARROW_RETURN_NOT_OK(CheckChoice("analyzer", options.analyzer, "standard") &
                      CheckChoice("stopwords", options.stopwords.value_or("english"), "english") &
                      CheckChoice("stemmer", options.stemmer.value_or("english"), "english"));
  std::unique_ptr<StemmerPool> stemmers;
  if (options.stemmer) stemmers = std::make_unique<StemmerPool>();

  return std::make_unique<Analyzer>(Private{}, options.stopwords.has_value(), std::move(stemmers));
}

Analyzer::Analyzer(Private /*key*/, bool remove_stop_words, std::unique_ptr<StemmerPool> stemmers)
    : remove_stop_words_(remove_stop_words), stemmers_(std::move(stemmers)) {}

Analyzer::~Analyzer() = default;

arrow::Status Analyzer::Analyze(std::string_view utf8, TokenSink sink) const {
  if (utf8.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    return MakeError(
        ErrorKind::kInvalidArgument,
        "Cannot index a text of " + std::to_string(utf8.size()) + " bytes; the limit is 2 GiB");
  }
  if (stemmers_ == nullptr) return Analysis(utf8, sink, remove_stop_words_, nullptr).Run();
  Stemmer stemmer = stemmers_->Take();
  if (stemmer == nullptr) {
    return MakeError(ErrorKind::kResourceExhausted, "Cannot analyse text: no memory for a stemmer");
  }
  arrow::Status status = Analysis(utf8, sink, remove_stop_words_, stemmer.get()).Run();
  stemmers_->Give(std::move(stemmer));
  return status;
}

bool Analyzer::StartsWithWord(std::string_view utf8) const {
  return !utf8.empty() && (WordBreaker::Get().Next(utf8, 0).traits & kMakesWord) != 0;
}

std::optional<size_t> Analyzer::LastWord(std::string_view utf8) const {
  const WordBreaker& breaker = WordBreaker::Get();
  std::optional<size_t> last;
  for (size_t offset = 0; offset < utf8.size();) {
    const WordBreaker::Segment segment = breaker.Next(utf8, offset);
    last = (segment.traits & kMakesWord) != 0 ? std::optional(offset) : std::nullopt;
    offset = segment.end;
  }
  return last;
}

}  // namespace infino::text
