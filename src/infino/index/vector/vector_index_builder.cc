#include "infino/index/vector/vector_index_builder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/checked_cast.h>

#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/vector/encoded_runs.h"
#include "infino/index/vector/point_list.h"
#include "infino/index/vector/sign_code.h"
#include "infino/index/vector/vector_format.h"
#include "infino/index/vector/vector_index_writer.h"
#include "infino/index/vector/vector_row.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {
namespace {

arrow::Status RefuseRow(int64_t row, const std::string& what) {
  return MakeError(ErrorKind::kInvalidArgument,
                   "index a vector: " + what + ": row=" + std::to_string(row));
}

/// The numbers of a column that is what it should be, row after row.
arrow::Result<std::span<const float>> NumbersOf(const arrow::Array& column,
                                                const VectorColumn& expected) {
  const auto* const type =
      column.type_id() == arrow::Type::FIXED_SIZE_LIST
          ? &arrow::internal::checked_cast<const arrow::FixedSizeListType&>(*column.type())
          : nullptr;
  if (type == nullptr || type->value_type()->id() != arrow::Type::FLOAT ||
      type->list_size() != static_cast<int32_t>(expected.dimension)) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "index vectors: the column has " + std::to_string(expected.dimension) +
                         " floats a row, not " + column.type()->ToString());
  }
  const auto& lists = arrow::internal::checked_cast<const arrow::FixedSizeListArray&>(column);
  const auto& values = arrow::internal::checked_cast<const arrow::FloatArray&>(*lists.values());
  const auto dimension = static_cast<int64_t>(expected.dimension);
  const int64_t begin = lists.value_offset(0);
  for (int64_t row = 0; row < lists.length(); ++row) {
    if (lists.IsNull(row)) return RefuseRow(row, "it is null");
    for (int64_t i = 0; i < dimension; ++i) {
      const int64_t at = begin + row * dimension + i;
      if (values.IsNull(at)) return RefuseRow(row, "a number is null");
      if (!std::isfinite(values.Value(at))) return RefuseRow(row, "a number is not finite");
    }
  }
  return std::span<const float>(values.raw_values() + begin,
                                static_cast<size_t>(lists.length() * dimension));
}

}  // namespace

class VectorIndexBuilder::Impl {
 public:
  Impl(std::shared_ptr<const VectorSpace> space, const SuperfileId& superfile,
       VectorBuildMemory memory)
      : space_(std::move(space)),
        superfile_(superfile),
        memory_(std::move(memory)),
        encoder_(*space_),
        runs_(*space_) {}

  arrow::Status Add(const arrow::Array& column) {
    if (column.length() == 0) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const std::span<const float> numbers,
                          NumbersOf(column, space_->column()));
    if (int64_t{runs_.row_count()} + column.length() > kVectorRowsMax) {
      return MakeError(ErrorKind::kResourceExhausted,
                       "index vectors: a file has at most 2^31 - 1 rows");
    }
    const size_t tile = kTileRows * space_->column().dimension;
    for (size_t begin = 0; begin < numbers.size(); begin += tile) {
      ARROW_RETURN_NOT_OK(AddTile(numbers.subspan(begin, std::min(tile, numbers.size() - begin))));
    }
    return arrow::Status::OK();
  }

  arrow::Result<FinishedVectorIndex> Finish(arrow::io::OutputStream& sink) {
    runs_.Seal();
    return WriteVectorIndex(*space_, runs_, superfile_, sink);
  }

  [[nodiscard]] const EncodedRuns& runs() const { return runs_; }

 private:
  static constexpr size_t kTileRows = 64;

  arrow::Status AddTile(std::span<const float> numbers) {
    const VectorColumn& column = space_->column();
    const size_t dimension = column.dimension;
    const size_t count = numbers.size() / dimension;
    normalized_.resize(numbers.size());
    for (size_t i = 0; i < count; ++i) {
      NormalizeFor(column.metric, numbers.subspan(i * dimension, dimension),
                   std::span(normalized_).subspan(i * dimension, dimension));
    }
    std::array<PointRef, kTileRows> points;
    space_->FindNearest(normalized_, std::span(points).first(count));
    for (size_t i = 0; i < count; ++i) {
      const EncodedRuns::Slot slot = runs_.Append(points[i]);
      encoder_.Encode(std::span<const float>(normalized_).subspan(i * dimension, dimension),
                      points[i], slot.record);
      if (column.tier != RerankTier::kNone) {
        RowFormat(column).Encode(numbers.subspan(i * dimension, dimension), slot.row);
      }
    }
    if (memory_.limit_bytes == 0 || runs_.memory_bytes() <= memory_.limit_bytes) {
      return arrow::Status::OK();
    }
    return runs_.Spill(*memory_.scratch);
  }

  std::shared_ptr<const VectorSpace> space_;
  SuperfileId superfile_;
  VectorBuildMemory memory_;
  SignEncoder encoder_;
  EncodedRuns runs_;
  std::vector<float> normalized_;
};

VectorIndexBuilder::VectorIndexBuilder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

VectorIndexBuilder::~VectorIndexBuilder() = default;

std::unique_ptr<VectorIndexBuilder> VectorIndexBuilder::Make(
    std::shared_ptr<const VectorSpace> space, const SuperfileId& superfile,
    VectorBuildMemory memory) {
  return std::make_unique<VectorIndexBuilder>(
      std::make_unique<Impl>(std::move(space), superfile, std::move(memory)));
}

arrow::Status VectorIndexBuilder::Add(const arrow::Array& column) {
  return impl_->Add(column);
}

int64_t VectorIndexBuilder::memory_bytes() const {
  return impl_->runs().memory_bytes();
}

int64_t VectorIndexBuilder::spilled_bytes() const {
  return impl_->runs().spilled_bytes();
}

int64_t VectorIndexBuilder::row_count() const {
  return impl_->runs().row_count();
}

arrow::Result<FinishedVectorIndex> VectorIndexBuilder::Finish(arrow::io::OutputStream& sink) {
  return impl_->Finish(sink);
}

}  // namespace infino::vector
