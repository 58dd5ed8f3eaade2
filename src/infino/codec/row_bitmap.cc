#include "infino/codec/row_bitmap.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <roaring/roaring.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/error.h"

namespace infino {
namespace {

// The portable format. The library's own reader checks lengths but believes what lies between them.
constexpr uint32_t kCookieNoRuns = 12346;
constexpr uint32_t kCookieWithRuns = 12347;
constexpr uint32_t kContainersMax = 1U << 16;
constexpr uint32_t kOffsetsFrom = 4;
constexpr uint32_t kArrayCountMax = 4096;
constexpr uint32_t kBitsetBytes = 8192;

/// Checks the bytes of one portable bitmap before the library may see them.
class PortableFormat {
 public:
  PortableFormat(ByteSpan bytes, uint64_t row_count, std::string_view object)
      : reader_(bytes, object), row_count_(row_count) {}

  arrow::Status Check() {
    ARROW_RETURN_NOT_OK(CheckHead());
    ARROW_RETURN_NOT_OK(CheckDescriptors());
    for (uint32_t i = 0; i < container_count_; ++i) ARROW_RETURN_NOT_OK(CheckContainer(i));
    return reader_.AtEnd() ? arrow::Status::OK()
                           : reader_.Corrupt("bytes after the last container");
  }

 private:
  struct Container {
    uint32_t key = 0;
    uint32_t cardinality = 0;
  };

  arrow::Status CheckHead() {
    ARROW_ASSIGN_OR_RAISE(const uint32_t cookie, reader_.ReadU32());
    if ((cookie & 0xffff) == kCookieWithRuns) {
      container_count_ = (cookie >> 16) + 1;
      has_runs_ = true;
      ARROW_ASSIGN_OR_RAISE(run_flags_, reader_.ReadBytes((container_count_ + 7) / 8));
      return arrow::Status::OK();
    }
    if (cookie != kCookieNoRuns) return reader_.Corrupt("not a Roaring bitmap");
    ARROW_ASSIGN_OR_RAISE(container_count_, reader_.ReadU32());
    if (container_count_ > kContainersMax) return reader_.Corrupt("over 65536 containers");
    return arrow::Status::OK();
  }

  arrow::Status CheckDescriptors() {
    ARROW_ASSIGN_OR_RAISE(descriptors_, reader_.ReadBytes(uint64_t{container_count_} * 4));
    if (!has_runs_ || container_count_ >= kOffsetsFrom) {
      ARROW_ASSIGN_OR_RAISE(offsets_, reader_.ReadBytes(uint64_t{container_count_} * 4));
    }
    for (uint32_t i = 1; i < container_count_; ++i) {
      if (ContainerAt(i).key <= ContainerAt(i - 1).key) {
        return reader_.Corrupt("containers out of order");
      }
    }
    return arrow::Status::OK();
  }

  [[nodiscard]] Container ContainerAt(uint32_t i) const {
    const uint8_t* at = descriptors_.data() + size_t{4} * i;
    return {.key = LoadU16(at), .cardinality = uint32_t{LoadU16(at + 2)} + 1};
  }

  arrow::Status CheckContainer(uint32_t i) {
    if (!offsets_.empty() && LoadU32(offsets_.data() + size_t{4} * i) != reader_.offset()) {
      return reader_.Corrupt("container is not where its offset says");
    }
    const Container container = ContainerAt(i);
    const bool is_run = has_runs_ && ((run_flags_[i / 8] >> (i % 8)) & 1) != 0;
    arrow::Result<uint32_t> last = is_run ? CheckRuns(container.cardinality)
                                   : container.cardinality <= kArrayCountMax
                                       ? CheckArray(container.cardinality)
                                       : CheckBitset(container.cardinality);
    ARROW_RETURN_NOT_OK(last.status());
    const uint64_t document = (uint64_t{container.key} << 16) | *last;
    if (document >= row_count_) return reader_.Corrupt("document past the last row");
    return arrow::Status::OK();
  }

  /// Each of these returns the greatest value of the container.
  arrow::Result<uint32_t> CheckRuns(uint32_t cardinality) {
    ARROW_ASSIGN_OR_RAISE(const uint16_t run_count, reader_.ReadU16());
    ARROW_ASSIGN_OR_RAISE(const ByteSpan runs, reader_.ReadBytes(uint64_t{run_count} * 4));
    uint32_t next = 0;
    uint32_t sum = 0;
    for (size_t i = 0; i < run_count; ++i) {
      const uint32_t start = LoadU16(runs.data() + 4 * i);
      const uint32_t end = start + LoadU16(runs.data() + 4 * i + 2) + 1;
      if (start < next || end > kContainersMax) return reader_.Corrupt("runs out of order");
      sum += end - start;
      next = end;
    }
    if (sum != cardinality) return reader_.Corrupt("runs don't add up to their count");
    return next - 1;
  }

  arrow::Result<uint32_t> CheckArray(uint32_t cardinality) {
    ARROW_ASSIGN_OR_RAISE(const ByteSpan values, reader_.ReadBytes(uint64_t{cardinality} * 2));
    uint32_t next = 0;
    for (size_t i = 0; i < cardinality; ++i) {
      const uint32_t value = LoadU16(values.data() + 2 * i);
      if (value < next) return reader_.Corrupt("array out of order");
      next = value + 1;
    }
    return next - 1;
  }

  arrow::Result<uint32_t> CheckBitset(uint32_t cardinality) {
    ARROW_ASSIGN_OR_RAISE(const ByteSpan words, reader_.ReadBytes(kBitsetBytes));
    uint32_t sum = 0;
    uint32_t last = 0;
    for (size_t at = 0; at < kBitsetBytes; at += 8) {
      const uint64_t word = LoadU64(words.data() + at);
      sum += static_cast<uint32_t>(std::popcount(word));
      if (word != 0)
        last = static_cast<uint32_t>(8 * at) + 63U - static_cast<uint32_t>(std::countl_zero(word));
    }
    if (sum != cardinality) return reader_.Corrupt("bits don't add up to their count");
    return last;
  }

  ByteReader reader_;
  uint64_t row_count_;
  uint32_t container_count_ = 0;
  bool has_runs_ = false;
  ByteSpan run_flags_;
  ByteSpan descriptors_;
  ByteSpan offsets_;
};

struct Free {
  void operator()(roaring_bitmap_t* bitmap) const { roaring_bitmap_free(bitmap); }
};

using Handle = std::unique_ptr<roaring_bitmap_t, Free>;

/// The same set without runs: which containers are runs depends on how a set came about. (The
/// library's own way to drop them writes out of bounds when a run ends its container.)
Handle Rebuild(const roaring_bitmap_t* bitmap) {
  struct Copier {
    Handle target{roaring_bitmap_create()};
    std::vector<DocId> pending;

    void Flush() {
      roaring_bitmap_add_many(target.get(), pending.size(), pending.data());
      pending.clear();
    }
  };

  const auto copy = [](uint32_t doc, void* argument) {
    constexpr size_t kPendingMax = 4096;
    auto* copier = static_cast<Copier*>(argument);
    copier->pending.push_back(doc);
    if (copier->pending.size() == kPendingMax) copier->Flush();
    return true;
  };
  Copier copier;
  roaring_iterate(bitmap, copy, &copier);
  copier.Flush();
  return std::move(copier.target);
}

}  // namespace

struct RowBitmap::Impl {
  Handle bitmap;
};

RowBitmap::RowBitmap() : RowBitmap(std::make_unique<Impl>(Handle(roaring_bitmap_create()))) {}

RowBitmap::RowBitmap(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

RowBitmap::~RowBitmap() = default;

RowBitmap::RowBitmap(const RowBitmap& other)
    : RowBitmap(std::make_unique<Impl>(Handle(roaring_bitmap_copy(other.impl_->bitmap.get())))) {}

RowBitmap& RowBitmap::operator=(const RowBitmap& other) {
  if (this != &other) *this = RowBitmap(other);
  return *this;
}

RowBitmap::RowBitmap(RowBitmap&& other) noexcept = default;
RowBitmap& RowBitmap::operator=(RowBitmap&& other) noexcept = default;

RowBitmap RowBitmap::Of(const std::vector<DocId>& docs) {
  return RowBitmap(std::make_unique<Impl>(Handle(roaring_bitmap_of_ptr(docs.size(), docs.data()))));
}

arrow::Result<RowBitmap> RowBitmap::Deserialize(ByteSpan bytes, uint64_t row_count,
                                                std::string_view object) {
  ARROW_RETURN_NOT_OK(PortableFormat(bytes, row_count, object).Check());
  const std::string_view text = AsText(bytes);
  Handle bitmap(roaring_bitmap_portable_deserialize_safe(text.data(), text.size()));
  if (bitmap == nullptr) {
    std::string message = "no memory for the Roaring bitmap of ";
    message += object;
    return MakeError(ErrorKind::kResourceExhausted, std::move(message));
  }
  return RowBitmap(std::make_unique<Impl>(std::move(bitmap)));
}

std::vector<uint8_t> RowBitmap::Serialize() const {
  const Handle fresh = Rebuild(impl_->bitmap.get());
  roaring_bitmap_run_optimize(fresh.get());
  std::vector<uint8_t> bytes(roaring_bitmap_portable_size_in_bytes(fresh.get()));
  roaring_bitmap_portable_serialize(fresh.get(), reinterpret_cast<char*>(bytes.data()));
  return bytes;
}

void RowBitmap::Add(DocId doc) {
  roaring_bitmap_add(impl_->bitmap.get(), doc);
}

void RowBitmap::AddRange(DocId begin, uint64_t end) {
  if (begin >= end) return;
  constexpr uint64_t kLast = std::numeric_limits<DocId>::max();
  const auto last = static_cast<DocId>(end - 1 < kLast ? end - 1 : kLast);
  roaring_bitmap_add_range_closed(impl_->bitmap.get(), begin, last);
}

void RowBitmap::UnionWith(const RowBitmap& other) {
  roaring_bitmap_or_inplace(impl_->bitmap.get(), other.impl_->bitmap.get());
}

void RowBitmap::IntersectWith(const RowBitmap& other) {
  roaring_bitmap_and_inplace(impl_->bitmap.get(), other.impl_->bitmap.get());
}

void RowBitmap::Subtract(const RowBitmap& other) {
  roaring_bitmap_andnot_inplace(impl_->bitmap.get(), other.impl_->bitmap.get());
}

bool RowBitmap::Contains(DocId doc) const {
  return roaring_bitmap_contains(impl_->bitmap.get(), doc);
}

uint64_t RowBitmap::cardinality() const {
  return roaring_bitmap_get_cardinality(impl_->bitmap.get());
}

bool RowBitmap::empty() const {
  return roaring_bitmap_is_empty(impl_->bitmap.get());
}

uint64_t RowBitmap::CountBelow(DocId doc) const {
  // The library counts what is at most its argument.
  return doc == 0 ? 0 : roaring_bitmap_rank(impl_->bitmap.get(), doc - 1);
}

bool RowBitmap::Intersects(const RowBitmap& other) const {
  return roaring_bitmap_intersect(impl_->bitmap.get(), other.impl_->bitmap.get());
}

uint64_t RowBitmap::IntersectionCount(const RowBitmap& other) const {
  return roaring_bitmap_and_cardinality(impl_->bitmap.get(), other.impl_->bitmap.get());
}

void RowBitmap::ForEach(const std::function<bool(DocId)>& visit) const {
  // The library takes a function and a pointer that isn't to const.
  struct Visitor {
    std::function<bool(DocId)> visit;
  };

  const auto call = [](uint32_t doc, void* argument) {
    return static_cast<const Visitor*>(argument)->visit(doc);
  };
  Visitor visitor{.visit = visit};
  roaring_iterate(impl_->bitmap.get(), call, &visitor);
}

std::vector<DocId> RowBitmap::ToVector() const {
  std::vector<DocId> docs(cardinality());
  roaring_bitmap_to_uint32_array(impl_->bitmap.get(), docs.data());
  return docs;
}

bool operator==(const RowBitmap& a, const RowBitmap& b) {
  return roaring_bitmap_equals(a.impl_->bitmap.get(), b.impl_->bitmap.get());
}

}  // namespace infino
