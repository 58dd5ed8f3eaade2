#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "infino/options.h"

namespace infino {

/// Whether a row must match any or all of a query's clauses.
enum class MatchMode : uint8_t { kOr, kAnd };

/// A ranked keyword search over one column.
struct TextSearchRequest {
  std::string column = {};

  /// What a person types: words, -word, +word, "a phrase", pref*. See docs/python.md, "Queries".
  std::string query = {};

  /// Whether the query is the beginning of one word instead. Of anything but one word nothing is
  /// found.
  bool is_prefix = false;

  /// How many rows at the most; 0 gives an empty result.
  uint64_t k = 10;

  MatchMode mode = MatchMode::kOr;

  /// Columns of the result, in this order; `_id` and `score` are legal. Unset: `_id`, `score`.
  std::optional<std::vector<std::string>> projection = std::nullopt;

  /// Overrides the column's BM25 parameters; both or neither.
  std::optional<double> k1 = std::nullopt;
  std::optional<double> b = std::nullopt;

  StopCondition stop = {};
};

/// All rows that match a query, unranked, in `_id` order.
struct MatchRequest {
  std::string column = {};
  std::string query = {};
  MatchMode mode = MatchMode::kOr;

  /// As in TextSearchRequest; `score` is 0 for every row.
  std::optional<std::vector<std::string>> projection = std::nullopt;

  StopCondition stop = {};
};

/// All rows whose text is, byte for byte, the one given; a null never is. In `_id` order.
struct ExactMatchRequest {
  std::string column = {};  ///< With a keyword index, and stored.
  std::string value = {};

  /// As in MatchRequest.
  std::optional<std::vector<std::string>> projection = std::nullopt;

  StopCondition stop = {};
};

/// How many rows match a query.
struct CountRequest {
  std::string column = {};
  std::string query = {};
  MatchMode mode = MatchMode::kOr;
  StopCondition stop = {};
};

}  // namespace infino
