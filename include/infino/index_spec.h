#pragma once

#include <cstdint>
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

/// How one column of vectors is indexed for nearest-neighbour search.
struct VectorIndexOptions {
  /// What a distance is: "cosine" (1 - cos), "l2sq" (squared Euclidean; "l2" is the same) or
  /// "negdot" (the inner product, negated; "dot" is the same). Case does not count.
  std::string metric = "cosine";

  /// How precisely a vector is kept beside its 1-bit code: "fp32", "fp16", "sq8_residual" (2 bytes
  /// a dimension), "sq8" (1 byte) or "none", which makes distances estimates.
  std::string rerank = "sq8_residual";

  /// Whether the vectors are also kept, as they came, as a column of the data files. Without it
  /// they are read back as `rerank` keeps them.
  bool stored = false;

  friend bool operator==(const VectorIndexOptions&, const VectorIndexOptions&) = default;
};

struct VectorIndexSpec {
  std::string column = {};

  /// Numbers a vector, 16 to 4096, as the column's type has it. 0: whatever that is.
  uint32_t dimension = 0;

  VectorIndexOptions options = {};

  friend bool operator==(const VectorIndexSpec&, const VectorIndexSpec&) = default;
};

/// Which columns of a table are indexed, and how. A plain value; checked by create_table.
struct IndexSpec {
  std::vector<TextIndexSpec> text = {};
  std::vector<VectorIndexSpec> vectors = {};

  /// Adds a keyword index over `column` and returns the spec, for chaining.
  IndexSpec& Fts(std::string column, TextIndexOptions options = {}) {
    text.push_back({.column = std::move(column), .options = std::move(options)});
    return *this;
  }

  /// Adds a vector index over `column`, a fixed-size list of float32, and returns the spec.
  IndexSpec& Vector(std::string column, uint32_t dimension = 0, VectorIndexOptions options = {}) {
    vectors.push_back(
        {.column = std::move(column), .dimension = dimension, .options = std::move(options)});
    return *this;
  }

  friend bool operator==(const IndexSpec&, const IndexSpec&) = default;
};

}  // namespace infino
