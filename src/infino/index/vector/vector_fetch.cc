#include "infino/index/vector/vector_fetch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/vector/stored_codes.h"
#include "infino/index/vector/vector_cache.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_row.h"

namespace infino::vector {

VectorFetch::VectorFetch(Private /*tag*/, const VectorIndexReader& index, std::vector<DocId> docs)
    : index_(index), docs_(std::move(docs)), rows_(index) {}

arrow::Result<std::unique_ptr<VectorFetch>> VectorFetch::Make(const VectorIndexReader& index,
                                                              std::vector<DocId> docs,
                                                              VectorCache* cache) {
  if (index.column().tier == RerankTier::kNone) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "read vectors of " + index.name() +
                         ": the rerank tier none keeps no vectors; use another, or stored=True");
  }
  for (const DocId doc : docs) {
    if (doc < index.row_count()) continue;
    return MakeError(
        ErrorKind::kInvalidArgument,
        "read vectors of " + index.name() + ": there is no such row: row=" + std::to_string(doc));
  }
  auto fetch = std::make_unique<VectorFetch>(Private(), index, std::move(docs));
  if (fetch->docs_.empty()) {
    fetch->done_ = true;
    return fetch;
  }
  const auto codes = cache == nullptr ? nullptr : cache->FindCodes(index.uid());
  if (cache != nullptr) fetch->rows_.UseWhole(cache->FindRows(index.uid()));
  if (codes != nullptr) {
    ARROW_RETURN_NOT_OK(fetch->PlanRows(*codes));
  } else {
    fetch->reads_ = {index.sections().docs};
  }
  return fetch;
}

arrow::Status VectorFetch::PlanRows(const StoredCodes& codes) {
  std::unordered_map<DocId, uint32_t> wanted;
  for (const DocId doc : docs_) wanted.emplace(doc, index_.row_count());
  if (!codes.positions().empty()) {
    for (auto& [doc, position] : wanted) position = codes.positions()[doc];
  } else {
    for (uint32_t position = 0; position < index_.row_count(); ++position) {
      const auto found = wanted.find(codes.DocAt(position));
      if (found != wanted.end()) found->second = position;
    }
  }
  for (const DocId doc : docs_) {
    const uint32_t position = wanted[doc];
    if (position == index_.row_count()) {
      return index_.Corrupt("a document has no vector: document=" + std::to_string(doc));
    }
    positions_.push_back(position);
  }
  have_positions_ = true;
  reads_.clear();
  if (!rows_.has_whole()) reads_ = rows_.Plan(positions_, false);
  return reads_.empty() ? Decode() : arrow::Status::OK();
}

arrow::Status VectorFetch::Decode() {
  const RowFormat format(index_.column());
  const size_t dimension = index_.column().dimension;
  vectors_.resize(docs_.size() * dimension);
  for (size_t i = 0; i < docs_.size(); ++i) {
    const uint8_t* const row = rows_.RowAt(positions_[i]);
    if (row == nullptr) return rows_.Damage(positions_[i]);
    format.Decode({row, format.row_bytes()}, std::span(vectors_).subspan(i * dimension, dimension));
  }
  done_ = true;
  return arrow::Status::OK();
}

arrow::Status VectorFetch::Feed(Buffers bytes) {
  bool fits = bytes.size() == reads_.size();
  for (size_t i = 0; i < reads_.size() && fits; ++i) fits = bytes[i]->size() == reads_[i].length;
  if (!fits || reads_.empty()) {
    return MakeError(ErrorKind::kInternal,
                     "read vectors of " + index_.name() + ": fed what was not asked for");
  }
  if (have_positions_) {
    reads_.clear();
    rows_.Take(std::move(bytes));
    return Decode();
  }
  StoredCodes docs(index_);
  ARROW_RETURN_NOT_OK(docs.AddDocs(index_, 0, index_.doc_chunk_count(), *bytes.front()));
  return PlanRows(docs);
}

}  // namespace infino::vector
