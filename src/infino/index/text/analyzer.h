#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/index_spec.h"

namespace infino::text {

/// One term of an analysed text. `position` counts the text's tokens from 0, removed stop words
/// included, so it may skip numbers.
struct Token {
  std::string_view text;
  uint32_t position = 0;
};

/// Where an analyzer puts its tokens: a reference to any callable `void(Token)`. It neither owns
/// nor copies the callable, so it is a parameter and never a member. A token's text is valid only
/// during the call.
class TokenSink {
 public:
  template <typename Callable>
    requires(!std::is_same_v<std::remove_cvref_t<Callable>, TokenSink> &&
             std::is_invocable_v<Callable&, Token>)
  TokenSink(Callable&& callable)  // NOLINT(google-explicit-constructor): passes for a lambda
      : callable_(const_cast<void*>(static_cast<const volatile void*>(&callable))),  // NOLINT
        call_([](void* target, Token token) {
          (*static_cast<std::remove_reference_t<Callable>*>(target))(token);
        }) {}

  void operator()(Token token) const { call_(callable_, token); }

 private:
  void* callable_;
  void (*call_)(void*, Token);
};

/// Turns text into the terms that are indexed and searched. The same analyzer serves documents and
/// queries, so that they meet.
///
/// `standard`: the text is brought to NFC; split into words by UAX #29 without dictionaries (one
/// token per ideograph, hiragana letter or emoji sequence); words without a letter, a digit or an
/// emoji are dropped; the rest is lower-cased by the full rules of the root locale. A word longer
/// than 255 code points becomes several tokens of at most 255. Then come, by option, the stop words
/// (which leave their positions empty) and the stemmer. A term is never empty and always UTF-8.
///
/// Immutable and thread-safe: one analyzer may serve any number of threads at once.
class Analyzer {
  class StemmerPool;

  struct Private {};

 public:
  /// The longest term, in code points before stemming.
  static constexpr uint32_t kTokenLengthMax = 255;

  /// The analyzer that `options` describe. kInvalidArgument naming what is unknown and what would
  /// be accepted.
  [[nodiscard]] static arrow::Result<std::unique_ptr<Analyzer>> Make(
      const TextIndexOptions& options);

  /// For Make only.
  Analyzer(Private, bool remove_stop_words, std::unique_ptr<StemmerPool> stemmers);

  Analyzer(const Analyzer&) = delete;
  Analyzer& operator=(const Analyzer&) = delete;
  Analyzer(Analyzer&&) = delete;
  Analyzer& operator=(Analyzer&&) = delete;
  ~Analyzer();

  /// Gives `sink` the tokens of `utf8` in order. Bytes that are not UTF-8 separate words like
  /// blanks. Allocates nothing per token, and nothing at all for ASCII. Fails with
  /// kInvalidArgument, and gives no token, when the text has 2 GiB or more.
  arrow::Status Analyze(std::string_view utf8, TokenSink sink) const;

  /// Whether a word (possibly a stop word) begins with the first byte of `utf8`.
  [[nodiscard]] bool StartsWithWord(std::string_view utf8) const;

  /// Where the word (possibly a stop word) that ends with the last byte of `utf8` begins, or
  /// nothing when the last byte is not part of a word.
  [[nodiscard]] std::optional<size_t> LastWord(std::string_view utf8) const;

 private:
  bool remove_stop_words_;
  std::unique_ptr<StemmerPool> stemmers_;  // null: no stemming
};

}  // namespace infino::text
