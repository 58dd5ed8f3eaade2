#include "infino/superfile/page_body.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/options.h"
#include "infino/superfile/page_encodings.h"
#include "infino/superfile/page_header.h"
#include "infino/superfile/page_inflate.h"
#include "infino/superfile/superfile_format.h"

namespace infino {
namespace {

constexpr char kPage[] = "page";

}  // namespace

arrow::Status CheckPlainLength(const ByteReader& in, Compression compression, size_t compressed,
                               size_t plain) {
  const int64_t most = InflatedMax(compression, static_cast<int64_t>(compressed));
  return std::cmp_less_equal(plain, most) ? arrow::Status::OK()
                                          : in.Corrupt("page: decompressed length");
}

arrow::Status InflateChecked(const ByteReader& in, Compression compression, ByteSpan compressed,
                             std::span<uint8_t> out) {
  if (out.empty()) return arrow::Status::OK();
  const arrow::Status status = Inflate(compression, compressed, out);
  return status.ok() ? status : in.Corrupt("page: " + status.message());
}

arrow::Result<PageBody> ParsePageBody(ByteSpan page, uint32_t row_count, bool nullable) {
  PageBody body;
  ARROW_ASSIGN_OR_RAISE(body.header, ParsePageHeader(page, kPage));
  const PageHeader& header = body.header;
  ByteReader in(page, kPage);
  ARROW_RETURN_NOT_OK(in.Seek(header.header_length));
  if (header.is_dictionary || header.row_count != row_count || header.value_count != row_count ||
      row_count > kPageRowsMax || header.repetition_length != 0) {
    return in.Corrupt("page: kind or row count");
  }
  ARROW_ASSIGN_OR_RAISE(body.levels, in.ReadBytes(header.definition_length));
  if (!nullable && (header.null_count != 0 || !body.levels.empty())) {
    return in.Corrupt("page: null count");
  }
  ARROW_ASSIGN_OR_RAISE(body.stored, in.ReadBytes(in.remaining()));
  return body;
}

arrow::Status ReadLevels(const PageBody& body, std::vector<uint32_t>& levels) {
  ByteReader in(body.levels, kPage);
  ARROW_RETURN_NOT_OK(ReadRuns(in, /*width=*/1, body.header.value_count, levels));
  size_t found = 0;
  for (const uint32_t level : levels) found += level;
  return found == body.value_count() ? arrow::Status::OK() : in.Corrupt("page: null count");
}

arrow::Result<ByteSpan> InflateBody(const PageBody& body, Compression compression,
                                    arrow::ResizableBuffer& out) {
  const ByteReader in(body.stored, kPage);
  const size_t plain = body.plain_length();
  ARROW_RETURN_NOT_OK(CheckPlainLength(in, compression, body.stored.size(), plain));
  ARROW_RETURN_NOT_OK(out.Resize(static_cast<int64_t>(plain), /*shrink_to_fit=*/false));
  const std::span<uint8_t> bytes(out.mutable_data(), plain);
  ARROW_RETURN_NOT_OK(InflateChecked(in, compression, body.stored, bytes));
  return ByteSpan(bytes);
}

}  // namespace infino
