#include "infino/index/vector/vector_search.h"

#include <algorithm>
#include <bit>
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

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/doc_filter.h"
#include "infino/index/top_k.h"
#include "infino/index/vector/block_scanner.h"
#include "infino/index/vector/nearest_docs.h"
#include "infino/index/vector/query_candidates.h"
#include "infino/index/vector/row_access.h"
#include "infino/index/vector/sign_code.h"
#include "infino/index/vector/stored_codes.h"
#include "infino/index/vector/vector_row.h"

namespace infino::vector {
namespace {

/// Passing documents that are at most this share of all are compared without codes: to compare one
/// takes about as long as to scan so many codes.
constexpr uint64_t kFewShare = 32;

/// Blocks that stay in the processor's cache while all queries pass by.
constexpr uint32_t kTileBlocks = 64;

constexpr auto kBlock = static_cast<uint32_t>(kBlockCodes);

struct BlockSpan {
  uint32_t begin = 0;
  uint32_t end = 0;
};

}  // namespace

class VectorSearch::Impl {
 public:
  Impl(const VectorIndexReader& index, const VectorSpace& space, const DocFilter* filter,
       const VectorSearchOptions& options)
      : index_(index), space_(space), filter_(filter), options_(options), rows_(index) {}

  arrow::Status Start(std::span<const PreparedQuery> queries);
  arrow::Status Resume();
  arrow::Status Feed(Buffers bytes);

  [[nodiscard]] const std::vector<ByteRange>& reads() const { return reads_; }

  [[nodiscard]] bool done() const { return state_ == State::kDone; }

  [[nodiscard]] std::span<const ComparedDoc> compared(size_t query) const {
    return compared_[query];
  }

  [[nodiscard]] uint64_t k() const { return options_.k; }

  [[nodiscard]] int64_t reranked_count() const { return reranked_; }

 private:
  enum class State : uint8_t { kReadCodes, kHaveCodes, kReadRows, kHaveRows, kDone };

  [[nodiscard]] bool keeps_rows() const { return space_.column().tier != RerankTier::kNone; }

  arrow::Status ChooseSpans();
  [[nodiscard]] bool ComparesAll() const;
  void PlanCodes();
  arrow::Status TakeCodes(const Buffers& bytes);
  void KeepCodes();
  void ScanAll();
  void ScanTile(uint32_t begin, uint32_t end);
  void TakePassing();
  void PlanRows();
  arrow::Status Rerank();
  arrow::Status RerankQuery(QueryCandidates& query);
  arrow::Status Estimate(QueryCandidates& query);
  void Finish();

  const VectorIndexReader& index_;
  const VectorSpace& space_;
  const DocFilter* filter_;
  VectorSearchOptions options_;
  State state_ = State::kReadCodes;
  uint64_t passing_ = 0;  // rows
  bool compares_all_ = false;
  std::optional<ClusterMap> map_;
  std::vector<std::unique_ptr<QueryCandidates>> queries_;
  std::vector<BlockSpan> spans_;  // to be scanned, ascending
  std::vector<ByteRange> reads_;
  std::vector<BlockSpan> doc_reads_;    // chunks, as they stand in reads_ before the blocks
  std::vector<BlockSpan> block_reads_;  // as they stand behind them
  std::shared_ptr<StoredCodes> read_codes_;
  std::shared_ptr<const StoredCodes> codes_;
  RowAccess rows_;
  int64_t reranked_ = 0;
  std::vector<std::span<const ComparedDoc>> compared_;
};

arrow::Status VectorSearch::Impl::Start(std::span<const PreparedQuery> queries) {
  if (index_.column() != space_.column()) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "search " + index_.name() + ": it is of another column");
  }
  ARROW_ASSIGN_OR_RAISE(map_, ClusterMap::Make(index_.lists(), index_.clusters(), space_));
  for (size_t i = 0; i < queries.size(); ++i) {
    SharedFloor* const floor = i < options_.floors.size() ? options_.floors[i] : nullptr;
    queries_.push_back(std::make_unique<QueryCandidates>(queries[i], *map_, options_.k, floor));
  }
  ARROW_RETURN_NOT_OK(ChooseSpans());
  passing_ = filter_ == nullptr ? index_.row_count() : filter_->pass_count();
  if (queries.empty() || options_.k == 0 || passing_ == 0 || spans_.empty()) {
    Finish();
    return arrow::Status::OK();
  }
  compares_all_ = ComparesAll();
  if (options_.cache != nullptr) codes_ = options_.cache->FindCodes(index_.uid());
  if (codes_ != nullptr) {
    state_ = State::kHaveCodes;
  } else {
    PlanCodes();
  }
  return arrow::Status::OK();
}

arrow::Status VectorSearch::Impl::ChooseSpans() {
  if (!options_.clusters.has_value()) {
    if (index_.block_count() > 0) spans_.push_back({.begin = 0, .end = index_.block_count()});
    return arrow::Status::OK();
  }
  for (const uint32_t ordinal : *options_.clusters) {
    if (ordinal >= index_.clusters().size()) {
      return MakeError(ErrorKind::kInvalidArgument,
                       "search " + index_.name() +
                           ": there is no such cluster: cluster=" + std::to_string(ordinal));
    }
    const VectorCluster& cluster = index_.clusters()[ordinal];
    const BlockSpan span = {.begin = cluster.begin / kBlock,
                            .end = (cluster.end + kBlock - 1) / kBlock};
    if (!spans_.empty() && span.begin <= spans_.back().end) {
      spans_.back().end = std::max(spans_.back().end, span.end);
    } else {
      spans_.push_back(span);
    }
  }
  return arrow::Status::OK();
}

bool VectorSearch::Impl::ComparesAll() const {
  if (!keeps_rows()) return false;
  if (options_.exact) return true;
  const uint64_t count = index_.row_count();
  return passing_ <= options_.few_rows_max || passing_ <= count / kFewShare;
}

void VectorSearch::Impl::PlanCodes() {
  read_codes_ = std::make_shared<StoredCodes>(index_);
  constexpr auto kChunk = static_cast<uint32_t>(kDocChunkSize);
  constexpr uint32_t kChunkBlocks = kChunk / kBlock;
  const bool keeps_whole =
      options_.cache != nullptr && index_.sections().codes.length <= options_.whole_bytes_max;
  if (compares_all_) spans_ = {{.begin = 0, .end = index_.block_count()}};
  block_reads_ =
      keeps_whole ? std::vector<BlockSpan>{{.begin = 0, .end = index_.block_count()}} : spans_;
  for (const BlockSpan& span : block_reads_) {
    const BlockSpan chunks = {.begin = span.begin / kChunkBlocks,
                              .end = (span.end + kChunkBlocks - 1) / kChunkBlocks};
    if (!doc_reads_.empty() && chunks.begin <= doc_reads_.back().end) {
      doc_reads_.back().end = std::max(doc_reads_.back().end, chunks.end);
    } else {
      doc_reads_.push_back(chunks);
    }
  }
  for (const BlockSpan& chunks : doc_reads_) {
    const ByteRange first = index_.DocChunk(chunks.begin);
    const ByteRange last = index_.DocChunk(chunks.end - 1);
    reads_.push_back({.offset = first.offset, .length = last.end() - first.offset});
  }
  if (compares_all_ && !keeps_whole) block_reads_.clear();
  for (const BlockSpan& span : block_reads_) reads_.push_back(index_.Blocks(span.begin, span.end));
}

arrow::Status VectorSearch::Impl::TakeCodes(const Buffers& bytes) {
  for (size_t i = 0; i < doc_reads_.size(); ++i) {
    ARROW_RETURN_NOT_OK(
        read_codes_->AddDocs(index_, doc_reads_[i].begin, doc_reads_[i].end, *bytes[i]));
  }
  for (size_t i = 0; i < block_reads_.size(); ++i) {
    ARROW_RETURN_NOT_OK(read_codes_->AddBlocks(index_, block_reads_[i].begin, block_reads_[i].end,
                                               bytes[i + doc_reads_.size()]));
  }
  codes_ = read_codes_;
  state_ = State::kHaveCodes;
  return Resume();
}

void VectorSearch::Impl::KeepCodes() {
  if (options_.cache == nullptr || read_codes_ == nullptr || !read_codes_->complete()) return;
  read_codes_->IndexPositions();
  options_.cache->KeepCodes(index_.uid(), read_codes_);
}

arrow::Status VectorSearch::Impl::Resume() {
  if (state_ == State::kHaveCodes) {
    KeepCodes();
    if (compares_all_) {
      TakePassing();
    } else {
      ScanAll();
    }
    for (const auto& query : queries_) query->EndScan();
    PlanRows();
  }
  return state_ == State::kHaveRows ? Rerank() : arrow::Status::OK();
}

void VectorSearch::Impl::ScanAll() {
  for (const BlockSpan& span : spans_) {
    for (uint32_t begin = span.begin; begin < span.end; begin += kTileBlocks) {
      ScanTile(begin, std::min(span.end, begin + kTileBlocks));
    }
  }
}

void VectorSearch::Impl::ScanTile(uint32_t begin, uint32_t end) {
  const auto clusters = map_->clusters();
  const size_t first_cluster = map_->ClusterOf(begin * kBlock);
  for (const auto& query : queries_) {
    CodeBlock block = {.cluster = first_cluster};
    for (block.number = begin; block.number < end; ++block.number) {
      const uint32_t first = block.number * kBlock;
      while (clusters[block.cluster].end <= first) ++block.cluster;
      block.bytes = codes_->Block(block.number);
      block.docs = codes_->DocsFrom(first);
      const uint32_t codes = std::min(index_.row_count() - first, kBlock);
      query->Scan(block, ~uint32_t{0} >> (kBlock - codes), filter_);
    }
  }
}

/// Positions of documents that pass, by going through the fewer of the two.
void VectorSearch::Impl::TakePassing() {
  std::vector<uint32_t> passing;
  passing.reserve(passing_);
  const auto positions = codes_->positions();
  if (filter_ != nullptr && !positions.empty()) {
    for (uint32_t word = 0; word * 64 < filter_->row_count(); ++word) {
      for (uint64_t bits = filter_->Word(word); bits != 0; bits &= bits - 1) {
        passing.push_back(positions[word * 64 + static_cast<uint32_t>(std::countr_zero(bits))]);
      }
    }
    std::ranges::sort(passing);
  } else {
    for (uint32_t position = 0; position < index_.row_count(); ++position) {
      if (filter_ == nullptr || filter_->Passes(codes_->DocAt(position))) {
        passing.push_back(position);
      }
    }
  }
  for (const auto& query : queries_) {
    for (const uint32_t position : passing) query->Take(position);
  }
}

void VectorSearch::Impl::PlanRows() {
  state_ = State::kHaveRows;
  reads_.clear();
  if (!keeps_rows()) return;
  if (options_.cache != nullptr) rows_.UseWhole(options_.cache->FindRows(index_.uid()));
  if (rows_.has_whole()) return;
  std::vector<uint32_t> wanted;
  for (const auto& query : queries_) {
    for (const Candidate& candidate : query->candidates()) wanted.push_back(candidate.position);
  }
  const bool keeps_whole =
      options_.cache != nullptr && index_.sections().rows.length <= options_.whole_bytes_max;
  reads_ = rows_.Plan(std::move(wanted), keeps_whole);
  if (!reads_.empty()) state_ = State::kReadRows;
}

arrow::Status VectorSearch::Impl::RerankQuery(QueryCandidates& query) {
  const RowFormat format(space_.column());
  const RowScorer scorer(format, query.query().vector());
  const auto candidates = query.candidates();
  constexpr size_t kAhead = 4;
  constexpr size_t kRaiseEvery = 64;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (i % kRaiseEvery == 0) query.RaiseFloor();
    if (i + kAhead < candidates.size()) rows_.Prefetch(candidates[i + kAhead].position);
    if (!query.MayBeNear(candidates[i])) continue;
    const uint32_t position = candidates[i].position;
    const uint8_t* const row = rows_.RowAt(position);
    if (row == nullptr) return rows_.Damage(position);
    query.Offer(candidates[i], scorer.DistanceOf(row), codes_->DocAt(position));
    ++reranked_;
  }
  return arrow::Status::OK();
}

arrow::Status VectorSearch::Impl::Estimate(QueryCandidates& query) {
  const size_t dimension = space_.column().dimension;
  std::vector<uint8_t> record(CodeRecordBytes(dimension));
  for (const Candidate& candidate : query.candidates()) {
    const uint32_t position = candidate.position;
    const std::span<const uint8_t> block(codes_->Block(position / kBlock),
                                         BlockContentBytes(dimension));
    UnpackRecord(block, position % kBlock, dimension, record);
    const PointRef point = map_->clusters()[map_->ClusterOf(position)].point;
    query.Offer(candidate, query.query().EstimateOf(record, point), codes_->DocAt(position));
  }
  return arrow::Status::OK();
}

arrow::Status VectorSearch::Impl::Rerank() {
  if (options_.cache != nullptr && rows_.read_whole() != nullptr) {
    options_.cache->KeepRows(index_.uid(), rows_.read_whole());
  }
  for (const auto& query : queries_) {
    ARROW_RETURN_NOT_OK(keeps_rows() ? RerankQuery(*query) : Estimate(*query));
    query->RaiseFloor();
  }
  Finish();
  return arrow::Status::OK();
}

void VectorSearch::Impl::Finish() {
  state_ = State::kDone;
  reads_.clear();
  for (const auto& query : queries_) compared_.push_back(query->Finish());
}

arrow::Status VectorSearch::Impl::Feed(Buffers bytes) {
  bool fits = bytes.size() == reads_.size();
  for (size_t i = 0; i < reads_.size() && fits; ++i) fits = bytes[i]->size() == reads_[i].length;
  if (!fits || reads_.empty()) {
    return MakeError(ErrorKind::kInternal,
                     "search " + index_.name() + ": fed what was not asked for");
  }
  if (state_ == State::kReadCodes) {
    reads_.clear();
    return TakeCodes(bytes);
  }
  reads_.clear();
  rows_.Take(std::move(bytes));
  state_ = State::kHaveRows;
  return Resume();
}

VectorSearch::VectorSearch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

VectorSearch::~VectorSearch() = default;

arrow::Result<std::unique_ptr<VectorSearch>> VectorSearch::Make(
    const VectorIndexReader& index, const VectorSpace& space,
    std::span<const PreparedQuery> queries, const DocFilter* filter,
    const VectorSearchOptions& options) {
  auto impl = std::make_unique<Impl>(index, space, filter, options);
  ARROW_RETURN_NOT_OK(impl->Start(queries));
  return std::make_unique<VectorSearch>(std::move(impl));
}

arrow::Status VectorSearch::Resume() {
  return impl_->Resume();
}

std::vector<ByteRange> VectorSearch::NextReads() {
  return impl_->reads();
}

arrow::Status VectorSearch::Feed(Buffers bytes) {
  return impl_->Feed(std::move(bytes));
}

bool VectorSearch::done() const {
  return impl_->done();
}

std::span<const ComparedDoc> VectorSearch::Compared(size_t query) const {
  return impl_->compared(query);
}

std::vector<ScoredDoc> VectorSearch::TopDocs(size_t query) const {
  const std::span<const ComparedDoc> compared = impl_->compared(query);
  const float bound = BoundOf(compared, impl_->k());
  std::vector<ScoredDoc> docs;
  for (const ComparedDoc& found : compared) {
    if (found.lowest <= bound) docs.push_back({.doc = found.doc, .score = 0.0F - found.distance});
  }
  std::ranges::sort(docs, RanksBefore);
  if (docs.size() > impl_->k()) docs.resize(impl_->k());
  return docs;
}

int64_t VectorSearch::reranked_count() const {
  return impl_->reranked_count();
}

}  // namespace infino::vector
