#include "infino/query/text_plan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/text/analyzer.h"
#include "infino/index/text/query_parser.h"
#include "infino/index/text/text_query.h"
#include "infino/index_spec.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/pruner.h"
#include "infino/options.h"
#include "infino/query/term_filter_cache.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/snapshot.h"
#include "infino/supertable/term_filters.h"

namespace infino {
namespace {

/// With so few superfiles left, asking their dictionaries is as good as reading filters first.
constexpr size_t kFewSuperfiles = 8;

/// Of a text that is looked for as a whole, so many words are asked of the index.
constexpr size_t kExactTermsMax = 64;

arrow::Result<text::TextQuery> Parse(const TextQuestion& question, const TableColumn& column) {
  ARROW_ASSIGN_OR_RAISE(const std::unique_ptr<text::Analyzer> analyzer,
                        text::Analyzer::Make(*column.text));
  const text::ParseOptions options{
      .mode = question.mode, .has_positions = column.text->positions, .column = question.column};
  if (question.is_prefix) return text::ParsePrefix(question.text, *analyzer);
  return text::ParseQuery(question.text, *analyzer, options);
}

/// What the terms of a query say about a superfile that holds only some of them.
class TermNeeds {
 public:
  TermNeeds(const text::TextQuery& query, bool ranked)
      : query_(query), ranked_(ranked), wanted_(query.terms.size()), required_(query.terms.size()) {
    for (const text::TextClause& clause : query.clauses) {
      if (clause.occur == text::Occur::kMustNot) continue;
      if (clause.kind == text::ClauseKind::kPrefix) {
        prefixes_.push_back(&clause);
        continue;
      }
      for (const text::ClauseTerm& term : query.TermsOf(clause)) {
        wanted_[term.term] = true;
        if (clause.occur == text::Occur::kMust) required_[term.term] = true;
      }
    }
    required_count_ = std::ranges::count(required_, true);
  }

  /// Whether a superfile that holds at most these terms has to be asked.
  [[nodiscard]] bool Concerns(const SuperfileEntry& entry, int32_t field_id,
                              const std::vector<uint32_t>& terms) const {
    if (!ranked_ && required_count_ > 0 && std::ranges::count_if(terms, [&](uint32_t term) {
                                             return required_[term];
                                           }) != required_count_) {
      return false;
    }
    bool has_prefix = false;
    for (const text::TextClause* prefix : prefixes_) {
      const std::string& stem = query_.terms[query_.TermsOf(*prefix).front().term];
      const bool may_hold = MayHoldPrefix(entry, field_id, stem);
      if (!may_hold && !ranked_ && prefix->occur == text::Occur::kMust) return false;
      has_prefix = has_prefix || may_hold;
    }
    return has_prefix || std::ranges::any_of(terms, [&](uint32_t term) { return wanted_[term]; });
  }

 private:
  const text::TextQuery&
      query_;  // NOLINT(cppcoreguidelines-avoid-const-or-ref-data-members): local
  bool ranked_;
  std::vector<bool> wanted_;
  std::vector<bool> required_;
  int64_t required_count_ = 0;
  std::vector<const text::TextClause*> prefixes_;
};

void Prune(TextPlan& plan, const TermNeeds& needs, const ColumnTermFilters* filters) {
  std::erase_if(plan.entries, [&](const SuperfileEntry* entry) {
    const arrow::Buffer* filter = filters == nullptr ? nullptr : filters->Find(entry->id);
    return !needs.Concerns(*entry, plan.field_id,
                           TermsThatMayOccur(*entry, plan.field_id, plan.query.terms, filter));
  });
}

/// Sets the plan's superfiles: of all in the snapshot those that its query concerns. Deleted rows
/// count in the statistics of a ranked one, so it leaves out none for them.
arrow::Status ChooseFiles(TextPlan& plan, bool ranked, const Snapshot& snapshot,
                          const std::string& folder, TermFilterCache* filters,
                          const StopCondition& stop) {
  plan.entries.reserve(snapshot.files.size());
  // Files from before the column have no index of it: all of their rows are null.
  for (const Snapshot::File& file : snapshot.files) {
    const bool may_say_something = ranked || file.entry->live_row_count() > 0;
    if (may_say_something && HasTextIndex(*file.entry, plan.field_id)) {
      plan.entries.push_back(file.entry);
    }
  }
  if (!plan.query.empty()) {
    const TermNeeds needs(plan.query, ranked);
    Prune(plan, needs, nullptr);
    if (plan.entries.size() > kFewSuperfiles && filters != nullptr) {
      ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<const ColumnTermFilters> loaded,
                            filters->Get(folder, snapshot, plan.field_id, stop));
      if (loaded != nullptr) Prune(plan, needs, loaded.get());
    }
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<const TableColumn*> FindTextColumn(const TableSchema& schema,
                                                 const std::string& name) {
  const TableColumn* column = schema.Find(name);
  if (column != nullptr && column->text) return column;
  std::string indexed;
  for (const TableColumn& other : schema.columns) {
    if (!other.text) continue;
    if (!indexed.empty()) indexed += ", ";
    indexed += other.field->name();
  }
  return MakeError(ErrorKind::kInvalidArgument,
                   "no full-text index for column '" + name +
                       "'; full-text-indexed columns: " + (indexed.empty() ? "none" : indexed));
}

arrow::Result<Bm25Parameters> ResolveBm25(const TextIndexOptions& column, std::optional<double> k1,
                                          std::optional<double> b) {
  if (k1.has_value() != b.has_value()) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "BM25 parameters: give both k1 and b, or neither");
  }
  Bm25Parameters parameters;
  parameters.k1 = k1 ? *k1 : column.k1.value_or(parameters.k1);
  parameters.b = b ? *b : column.b.value_or(parameters.b);
  if (!std::isfinite(parameters.k1) || parameters.k1 <= 0) {
    return MakeError(
        ErrorKind::kInvalidArgument,
        "BM25 parameter k1 must be finite and above 0; k1=" + std::to_string(parameters.k1));
  }
  if (!(parameters.b >= 0 && parameters.b <= 1)) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "BM25 parameter b must be in [0, 1]; b=" + std::to_string(parameters.b));
  }
  return parameters;
}

arrow::Result<TextPlan> PlanText(const TextQuestion& question, const Snapshot& snapshot,
                                 const std::string& folder, TermFilterCache* filters,
                                 const StopCondition& stop) {
  ARROW_ASSIGN_OR_RAISE(const TableColumn* column,
                        FindTextColumn(snapshot.root.schema, question.column));
  TextPlan plan;
  plan.field_id = column->field_id;
  ARROW_ASSIGN_OR_RAISE(plan.query, Parse(question, *column));
  if (plan.query.empty()) return plan;

  ARROW_RETURN_NOT_OK(ChooseFiles(plan, question.ranked, snapshot, folder, filters, stop));
  return plan;
}

arrow::Result<ExactPlan> PlanExact(const TableColumn& column, const std::string& value,
                                   const Snapshot& snapshot, const std::string& folder,
                                   TermFilterCache* filters, const StopCondition& stop) {
  ARROW_ASSIGN_OR_RAISE(const std::unique_ptr<text::Analyzer> analyzer,
                        text::Analyzer::Make(*column.text));
  ExactPlan plan;
  plan.text.field_id = column.field_id;
  text::TextQuery& query = plan.text.query;
  ARROW_RETURN_NOT_OK(analyzer->Analyze(value, [&](text::Token token) {
    ++plan.token_count;
    if (query.terms.size() < kExactTermsMax &&
        std::ranges::find(query.terms, token.text) == query.terms.end()) {
      query.terms.emplace_back(token.text);
    }
  }));
  for (uint32_t term = 0; term < query.terms.size(); ++term) {
    query.clause_terms.push_back({.term = term});
    query.clauses.push_back(
        {.occur = text::Occur::kMust, .terms_begin = term, .terms_end = term + 1});
  }
  ARROW_RETURN_NOT_OK(ChooseFiles(plan.text, false, snapshot, folder, filters, stop));
  return plan;
}

}  // namespace infino
