#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace infino {

/// How one text column is indexed for keyword search.
struct TextIndexOptions {
  std::string analyzer = "standard";

  /// Whether the text itself is kept as a column. Without it the text can be searched, not read.
  bool stored = true;

  /// BM25 parameters; both or neither. Unset: 1.2 and 0.75.
  std::optional<double> k1 = std::nullopt;
  std::optional<double> b = std::nullopt;

  /// "english" or nothing.
  std::optional<std::string> stopwords = std::nullopt;
  std::optional<std::string> stemmer = std::nullopt;

  /// Whether token positions are kept, which phrases need.
  bool positions = false;

  friend bool operator==(const TextIndexOptions&, const TextIndexOptions&) = default;
};

struct TextIndexSpec {
  std::string column = {};
  TextIndexOptions options = {};

  friend bool operator==(const TextIndexSpec&, const TextIndexSpec&) = default;
};

/// Which columns of a table are indexed, and how. A plain value; checked by create_table.
struct IndexSpec {
  std::vector<TextIndexSpec> text = {};

  /// Adds a keyword index over `column` and returns the spec, for chaining.
  IndexSpec& Fts(std::string column, TextIndexOptions options = {}) {
    text.push_back({.column = std::move(column), .options = std::move(options)});
    return *this;
  }

  friend bool operator==(const IndexSpec&, const IndexSpec&) = default;
};

}  // namespace infino
