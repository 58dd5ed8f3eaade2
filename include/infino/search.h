#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <arrow/util/decimal.h>

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

  uint64_t k = 10;  ///< How many rows at the most; 0 gives an empty result.
  MatchMode mode = MatchMode::kOr;

  /// Columns of the result, in this order; `_id` and `score` are legal. Unset: `_id`, `score`.
  std::optional<std::vector<std::string>> projection = std::nullopt;

  /// Overrides the column's BM25 parameters; both or neither.
  std::optional<double> k1 = std::nullopt;
  std::optional<double> b = std::nullopt;

  /// A condition in SQL over the stored columns and `_id`, as in a WHERE clause; only rows for
  /// which it is true are found. Scores stay those of the whole table. Empty: none.
  std::string where = {};
  StopCondition stop = {};
};

/// All rows that match a query, unranked, in `_id` order.
struct MatchRequest {
  std::string column = {};
  std::string query = {};
  MatchMode mode = MatchMode::kOr;

  /// As in TextSearchRequest; `score` is 0 for every row.
  std::optional<std::vector<std::string>> projection = std::nullopt;
  std::string where = {};  ///< As in TextSearchRequest.
  StopCondition stop = {};
};

/// All rows whose text is, byte for byte, the one given; a null never is. In `_id` order.
struct ExactMatchRequest {
  std::string column = {};  ///< With a keyword index, and stored.
  std::string value = {};

  /// As in MatchRequest.
  std::optional<std::vector<std::string>> projection = std::nullopt;
  std::string where = {};  ///< As in TextSearchRequest.
  StopCondition stop = {};
};

/// Limits a search to the rows that match a query over a column with a keyword index.
struct TextFilter {
  std::string column = {};
  std::string query = {};  ///< As in TextSearchRequest; one that matches nothing leaves no row.
  MatchMode mode = MatchMode::kOr;
};

/// How thoroughly a vector index is searched.
struct VectorEffort {
  /// The share of the nearest rows that is to be found, above 0 and at most 1, on average over
  /// queries that are distributed like the rows. 1 compares every row. Unset: 0.99.
  std::optional<double> target_recall = std::nullopt;

  /// Overrides it: how many reference points' rows are looked at; above 0.
  std::optional<uint32_t> nprobe = std::nullopt;
};

/// The rows nearest to one or several vectors.
struct VectorSearchRequest {
  std::string column = {};  ///< With a vector index.

  /// Each of the column's dimension, every number finite. All are searched for together.
  std::vector<std::vector<float>> queries = {};

  /// How many rows a query, at the most. As many are found if so many pass the filter.
  uint64_t k = 10;

  std::optional<TextFilter> filter = std::nullopt;
  VectorEffort effort = {};

  /// As in TextSearchRequest; `score` is the distance.
  std::optional<std::vector<std::string>> projection = std::nullopt;

  /// Whether a first column `query`, uint32, tells which of the queries found the row.
  bool number_queries = false;

  std::string where = {};  ///< As in TextSearchRequest.
  StopCondition stop = {};
};

/// A keyword and a vector search in one, by reciprocal rank fusion.
struct HybridSearchRequest {
  std::string text_column = {};
  std::string text = {};  ///< As TextSearchRequest::query.
  MatchMode mode = MatchMode::kOr;
  std::string vector_column = {};
  std::vector<float> vector = {};
  uint64_t k = 10;

  std::optional<uint64_t> depth = std::nullopt;  ///< How many rows either search gives. Unset: k.

  /// What the two ranks count; finite, not negative.
  double text_weight = 1.0;
  double vector_weight = 1.0;
  std::optional<TextFilter> filter = std::nullopt;  ///< Of both searches.
  VectorEffort effort = {};

  /// As in TextSearchRequest; `score` is the fused one: the sum of weight / (60 + rank).
  std::optional<std::vector<std::string>> projection = std::nullopt;
  std::string where = {};  ///< As in TextSearchRequest.
  StopCondition stop = {};
};

/// Rows by their `_id`.
struct GetRequest {
  /// In the order of the result. Those that the table has not, or no more, are left out; one that
  /// is given twice comes twice.
  std::vector<arrow::Decimal128> ids = {};

  /// As in TextSearchRequest, without `score`. Unset: `_id` and all stored columns.
  std::optional<std::vector<std::string>> projection = std::nullopt;
  StopCondition stop = {};
};

/// How many rows match a query.
struct CountRequest {
  std::string column = {};
  std::string query = {};
  MatchMode mode = MatchMode::kOr;
  std::string where = {};  ///< As in TextSearchRequest.
  StopCondition stop = {};
};

}  // namespace infino
