#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"

namespace infino {

/// A compressed set of the documents of one superfile: tombstones, the rows that pass a predicate.
/// A value; reading is thread-safe, changing is not.
class RowBitmap {
 public:
  RowBitmap();
  ~RowBitmap();
  RowBitmap(const RowBitmap& other);
  RowBitmap& operator=(const RowBitmap& other);
  RowBitmap(RowBitmap&& other) noexcept;  ///< `other` may only be assigned to or destroyed.
  RowBitmap& operator=(RowBitmap&& other) noexcept;

  /// Of documents in any order, repeated or not.
  [[nodiscard]] static RowBitmap Of(const std::vector<DocId>& docs);

  /// Reads the portable format of Roaring bitmaps, as any of its libraries writes it. kCorrupt
  /// unless it is exact: sorted, consistent, ending with the last container, every document below
  /// `row_count`. `object` is what errors call the bytes.
  [[nodiscard]] static arrow::Result<RowBitmap> Deserialize(ByteSpan bytes, uint64_t row_count,
                                                            std::string_view object);

  /// The portable format. Equal sets give equal bytes.
  [[nodiscard]] std::vector<uint8_t> Serialize() const;

  void Add(DocId doc);

  /// Adds every document in [begin, end).
  void AddRange(DocId begin, uint64_t end);

  /// this := this ∪ other, this ∩ other, this \ other.
  void UnionWith(const RowBitmap& other);
  void IntersectWith(const RowBitmap& other);
  void Subtract(const RowBitmap& other);

  [[nodiscard]] bool Contains(DocId doc) const;
  [[nodiscard]] uint64_t cardinality() const;
  [[nodiscard]] bool empty() const;

  /// How many documents are less than `doc`.
  [[nodiscard]] uint64_t CountBelow(DocId doc) const;
  [[nodiscard]] bool Intersects(const RowBitmap& other) const;
  [[nodiscard]] uint64_t IntersectionCount(const RowBitmap& other) const;

  /// Calls `visit` for each document in order until it returns false.
  void ForEach(const std::function<bool(DocId)>& visit) const;

  /// All documents in order.
  [[nodiscard]] std::vector<DocId> ToVector() const;

  friend bool operator==(const RowBitmap& a, const RowBitmap& b);

 private:
  struct Impl;
  explicit RowBitmap(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace infino
