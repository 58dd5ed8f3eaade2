#include "infino/manifest/totals.h"

#include <algorithm>
#include <cstdint>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/error.h"
#include "infino/manifest/manifest.h"

namespace infino {
namespace {

arrow::Status AddTo(int64_t more, int64_t* sum) {
  if (__builtin_add_overflow(*sum, more, sum)) {
    return MakeError(ErrorKind::kInvalidArgument, "add up a manifest: a total exceeds 64 bits");
  }
  return arrow::Status::OK();
}

arrow::Status AddText(const TextColumnTotals& more, ManifestTotals* totals) {
  auto at = std::lower_bound(
      totals->texts.begin(), totals->texts.end(), more.field_id,
      [](const TextColumnTotals& text, int32_t field_id) { return text.field_id < field_id; });
  if (at == totals->texts.end() || at->field_id != more.field_id) {
    totals->texts.insert(at, more);
    return arrow::Status::OK();
  }
  ARROW_RETURN_NOT_OK(AddTo(more.rows_with_token, &at->rows_with_token));
  return AddTo(more.token_total, &at->token_total);
}

}  // namespace

arrow::Status AddTotals(const ManifestTotals& more, ManifestTotals* totals) {
  ARROW_RETURN_NOT_OK(AddTo(more.superfile_count, &totals->superfile_count));
  ARROW_RETURN_NOT_OK(AddTo(more.row_count, &totals->row_count));
  ARROW_RETURN_NOT_OK(AddTo(more.deleted_count, &totals->deleted_count));
  ARROW_RETURN_NOT_OK(AddTo(more.size_bytes, &totals->size_bytes));
  for (const TextColumnTotals& text : more.texts) ARROW_RETURN_NOT_OK(AddText(text, totals));
  return arrow::Status::OK();
}

arrow::Result<ManifestTotals> TotalsOf(const ManifestPart& part) {
  ManifestTotals totals;
  for (const SuperfileEntry& entry : part.entries) {
    ARROW_RETURN_NOT_OK(AddTo(1, &totals.superfile_count));
    ARROW_RETURN_NOT_OK(AddTo(entry.row_count, &totals.row_count));
    ARROW_RETURN_NOT_OK(AddTo(entry.row_count - entry.live_row_count(), &totals.deleted_count));
    ARROW_RETURN_NOT_OK(AddTo(entry.size_bytes, &totals.size_bytes));
    for (const TextColumnSummary& text : entry.texts) {
      ARROW_RETURN_NOT_OK(AddText({.field_id = text.field_id,
                                   .rows_with_token = text.rows_with_token,
                                   .token_total = text.token_total},
                                  &totals));
    }
  }
  return totals;
}

}  // namespace infino
