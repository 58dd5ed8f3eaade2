#include "infino/codec/fst_reader.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/fst_format.h"
#include "infino/common/bytes.h"
#include "infino/error.h"

namespace infino {

arrow::Result<FstReader> FstReader::Open(ByteSpan bytes, std::string_view object) {
  ByteReader header(bytes, object);
  ARROW_ASSIGN_OR_RAISE(const uint32_t magic, header.ReadU32());
  if (magic != kFstMagic) return header.Corrupt("not a transducer: wrong magic number");
  ARROW_ASSIGN_OR_RAISE(const uint32_t version, header.ReadU32());
  if (version != kFstVersion) {
    std::string message(object);
    message += ": transducer of a newer format: version=" + std::to_string(version);
    return MakeError(ErrorKind::kUnsupportedVersion, std::move(message));
  }
  FstReader reader(bytes, object);
  ARROW_ASSIGN_OR_RAISE(reader.key_count_, header.ReadU64());
  ARROW_ASSIGN_OR_RAISE(reader.root_, header.ReadU32());
  ARROW_ASSIGN_OR_RAISE(const uint32_t size, header.ReadU32());
  if (size != bytes.size()) {
    return header.Corrupt("expected a transducer of " + std::to_string(size) + " bytes, got " +
                          std::to_string(bytes.size()));
  }
  if (reader.key_count_ == 0) {
    if (reader.root_ != 0 || size != kFstHeaderBytes) {
      return header.Corrupt("transducer without keys has states");
    }
    return reader;
  }
  ARROW_RETURN_NOT_OK(reader.StateAt(reader.root_).status());
  return reader;
}

arrow::Status FstReader::Corrupt(std::string_view what, uint32_t address) const {
  std::string message = object_ + ": ";
  message += what;
  message += ": offset=" + std::to_string(address);
  return MakeError(ErrorKind::kCorrupt, std::move(message));
}

arrow::Result<FstState> FstReader::StateAt(uint32_t address) const {
  const auto state = DecodeFstState(bytes_, address);
  if (!state) return Corrupt("malformed transducer state", address);
  return *state;
}

arrow::Result<FstTransition> FstReader::TransitionOf(const FstState& state,
                                                     uint32_t ordinal) const {
  const auto transition = state.TransitionAt(ordinal);
  if (!transition) {
    return Corrupt("transducer state leads to no earlier one", state.address);
  }
  return *transition;
}

arrow::Result<std::optional<uint64_t>> FstReader::Find(std::string_view key) const {
  if (key_count_ == 0 || key.size() > kFstKeyBytesMax) return std::nullopt;
  uint64_t output = 0;
  ARROW_ASSIGN_OR_RAISE(FstState state, StateAt(root_));
  for (const char character : key) {
    const auto label = static_cast<uint8_t>(character);
    const uint32_t ordinal = state.CountBelow(label);
    if (ordinal == state.transition_count || state.labels[ordinal] != label) return std::nullopt;
    ARROW_ASSIGN_OR_RAISE(const FstTransition transition, TransitionOf(state, ordinal));
    output += transition.output;
    ARROW_ASSIGN_OR_RAISE(state, StateAt(transition.child));
  }
  if (!state.is_final) return std::nullopt;
  return output + state.final_output;
}

arrow::Result<std::optional<uint64_t>> FstReader::FindFloor(std::string_view key) const {
  if (key_count_ == 0) return std::nullopt;
  // The best key so far: the one that ends at a state passed, or the last one under a transition
  // passed by. Whatever is found deeper is greater.
  std::optional<uint64_t> ended;
  std::optional<FstTransition> passed;
  uint64_t passed_output = 0;
  uint64_t output = 0;
  ARROW_ASSIGN_OR_RAISE(FstState state, StateAt(root_));
  for (size_t depth = 0;; ++depth) {
    if (state.is_final) {
      ended = output + state.final_output;
      passed.reset();
    }
    if (depth == key.size()) break;
    const auto label = static_cast<uint8_t>(key[depth]);
    const uint32_t below = state.CountBelow(label);
    if (below > 0) {
      ARROW_ASSIGN_OR_RAISE(passed, TransitionOf(state, below - 1));
      passed_output = output;
    }
    if (below == state.transition_count || state.labels[below] != label) break;
    ARROW_ASSIGN_OR_RAISE(const FstTransition taken, TransitionOf(state, below));
    output += taken.output;
    ARROW_ASSIGN_OR_RAISE(state, StateAt(taken.child));
  }
  if (!passed) return ended;
  ARROW_ASSIGN_OR_RAISE(const uint64_t value, LastValueUnder(*passed, passed_output));
  return value;
}

arrow::Result<uint64_t> FstReader::LastValueUnder(FstTransition transition, uint64_t output) const {
  for (size_t depth = 0; depth < kFstKeyBytesMax; ++depth) {
    output += transition.output;
    ARROW_ASSIGN_OR_RAISE(const FstState state, StateAt(transition.child));
    if (state.transition_count == 0) return output + state.final_output;
    ARROW_ASSIGN_OR_RAISE(transition, TransitionOf(state, state.transition_count - 1));
  }
  return Corrupt("transducer key too long", transition.child);
}

FstReader::Cursor::Cursor(const FstReader& reader) : reader_(&reader) {}

arrow::Status FstReader::Cursor::Push(uint32_t address, uint64_t output) {
  if (path_.size() > kFstKeyBytesMax) return reader_->Corrupt("transducer key too long", address);
  ARROW_ASSIGN_OR_RAISE(const FstState state, reader_->StateAt(address));
  path_.push_back({.state = state, .next_ordinal = 0, .output = output});
  return arrow::Status::OK();
}

arrow::Status FstReader::Cursor::Enter(const FstTransition& transition) {
  const uint64_t output = path_.back().output + transition.output;
  ARROW_RETURN_NOT_OK(Push(transition.child, output));
  key_.push_back(static_cast<char>(transition.label));
  return arrow::Status::OK();
}

arrow::Status FstReader::Cursor::StandHere() {
  // Sharing lets a few corrupt bytes spell more keys than anybody could walk.
  if (++visited_ > reader_->key_count_) {
    return reader_->Corrupt("transducer has more keys than it says", path_.back().state.address);
  }
  value_ = path_.back().output + path_.back().state.final_output;
  valid_ = true;
  return arrow::Status::OK();
}

arrow::Status FstReader::Cursor::Seek(std::string_view lower_bound) {
  valid_ = false;
  visited_ = 0;
  path_.clear();
  key_.clear();
  if (reader_->key_count_ == 0) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(Push(reader_->root_, 0));
  for (const char character : lower_bound) {
    const auto label = static_cast<uint8_t>(character);
    Step& step = path_.back();
    const uint32_t ordinal = step.state.CountBelow(label);
    step.next_ordinal = ordinal;
    if (ordinal == step.state.transition_count || step.state.labels[ordinal] != label) {
      return Advance();
    }
    ++step.next_ordinal;
    ARROW_ASSIGN_OR_RAISE(const FstTransition transition,
                          reader_->TransitionOf(step.state, ordinal));
    ARROW_RETURN_NOT_OK(Enter(transition));
  }
  return path_.back().state.is_final ? StandHere() : Advance();
}

arrow::Status FstReader::Cursor::Next() {
  valid_ = false;
  return Advance();
}

arrow::Status FstReader::Cursor::Advance() {
  while (!path_.empty()) {
    Step& step = path_.back();
    const uint32_t ordinal = step.next_ordinal;
    if (ordinal == step.state.transition_count) {
      path_.pop_back();
      if (!key_.empty()) key_.pop_back();
      continue;
    }
    if (ordinal > 0 && step.state.labels[ordinal - 1] >= step.state.labels[ordinal]) {
      return reader_->Corrupt("transducer labels out of order", step.state.address);
    }
    ++step.next_ordinal;
    ARROW_ASSIGN_OR_RAISE(const FstTransition transition,
                          reader_->TransitionOf(step.state, ordinal));
    ARROW_RETURN_NOT_OK(Enter(transition));
    if (path_.back().state.is_final) return StandHere();
  }
  return arrow::Status::OK();
}

}  // namespace infino
