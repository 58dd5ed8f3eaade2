#include "infino/index/text/term_table_writer.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/index/text/term_table.h"
#include "infino/index/text/text_index_writer.h"

namespace infino::text {
namespace {

constexpr size_t kFetchAhead = 8;

/// Reads varints that a builder wrote. Such bytes never left memory.
class RawReader {
 public:
  explicit RawReader(std::span<const uint8_t> bytes) : at_(bytes.data()) {}

  uint32_t Next() {
    uint32_t value = 0;
    for (uint32_t shift = 0;; shift += 7) {
      const uint8_t byte = *at_++;
      value |= static_cast<uint32_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
  }

 private:
  const uint8_t* at_;
};

/// One term after the other, with memory that is kept between them.
class TermWriter {
 public:
  TermWriter(TermTable& terms, TextIndexWriter& writer) : terms_(&terms), writer_(&writer) {}

  arrow::Status Write(uint32_t id) {
    const TermRecord& record = terms_->record(id);
    record.postings.CopyTo(terms_->arena(), raw_postings_);
    if (terms_->has_positions()) {
      terms_->positions(id).stream.CopyTo(terms_->arena(), raw_positions_);
    }
    RawReader postings(raw_postings_);
    RawReader positions(raw_positions_);
    writer_->BeginTerm();
    DocId doc = record.first_doc;
    for (uint32_t left = record.document_count; left > 1; --left) {
      const uint32_t code = postings.Next();
      Add(doc, (code & 1) != 0 ? 1 : postings.Next(), positions);
      doc += code / 2;
    }
    Add(doc, record.frequency, positions);
    terms_->CopyTerm(id, term_);
    return writer_->EndTerm(term_);
  }

 private:
  void Add(DocId doc, uint32_t frequency, RawReader& positions) {
    writer_->Add(doc, frequency);
    if (!terms_->has_positions()) return;
    for (uint32_t i = 0; i < frequency; ++i) writer_->AddDifference(positions.Next());
  }

  TermTable* terms_;
  TextIndexWriter* writer_;
  std::string term_;
  std::vector<uint8_t> raw_postings_;
  std::vector<uint8_t> raw_positions_;
};

}  // namespace

arrow::Status WriteTerms(TermTable& terms, TextIndexWriter& writer) {
  TermWriter term_writer(terms, writer);
  const std::vector<uint32_t> ids = terms.SortAndClose();
  for (size_t i = 0; i < ids.size(); ++i) {
    // Neighbours in order lie far apart in memory.
    if (i + kFetchAhead < ids.size()) terms.FetchRecord(ids[i + kFetchAhead]);
    if (i + kFetchAhead / 2 < ids.size()) {
      const uint32_t next = ids[i + kFetchAhead / 2];
      terms.FetchStream(next);
      writer.FetchLength(terms.record(next).first_doc);
    }
    ARROW_RETURN_NOT_OK(term_writer.Write(ids[i]));
  }
  return arrow::Status::OK();
}

}  // namespace infino::text
