#include "infino/sql/statement_state.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "duckdb/common/string_util.hpp"
#include "duckdb/main/client_context.hpp"
#include "infino/error.h"
#include "infino/options.h"
#include "infino/sql/table_source.h"

namespace infino::sql {
namespace {

/// So many names are listed in an error.
constexpr size_t kNamesShown = 20;

std::string Listed(const std::vector<std::string>& names) {
  std::string listed;
  for (size_t i = 0; i < names.size() && i < kNamesShown; ++i) {
    listed += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > kNamesShown ? listed + ", …" : listed;
}

}  // namespace

StatementState::StatementState(const QueryEnvironment& environment, TableSource& source,
                               const duckdb::TableFunction& parquet_scan, StopCondition stop)
    : environment_(environment),
      source_(source),
      parquet_scan_(parquet_scan),
      stop_(std::move(stop)) {}

StatementState& StatementState::Of(duckdb::ClientContext& context) {
  return *context.registered_state->Get<StatementState>(kKey);
}

arrow::Result<const PinnedTable*> StatementState::Pin(const std::string& name) {
  ARROW_ASSIGN_OR_RAISE(PinnedTable pinned, source_.Pin(name, false, stop_));
  auto& pin = pins_[name];
  pin = std::make_unique<PinnedTable>(std::move(pinned));
  return pin.get();
}

arrow::Result<const PinnedTable*> StatementState::Find(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const std::string wanted(name);
  if (const auto found = pins_.find(wanted); found != pins_.end()) return found->second.get();
  arrow::Result<const PinnedTable*> exact = Pin(wanted);
  if (!IsError(exact.status(), ErrorKind::kNotFound)) return exact;
  ARROW_ASSIGN_OR_RAISE(const std::vector<std::string> names, source_.Names(stop_));
  std::vector<std::string> alike;
  std::ranges::copy_if(names, std::back_inserter(alike), [&](const std::string& each) {
    return duckdb::StringUtil::CIEquals(each, wanted);
  });
  if (alike.empty()) {
    return MakeError(ErrorKind::kNotFound, "there is no table '" + wanted + "'" +
                                               (names.empty() ? std::string("; there are none yet")
                                                              : "; tables: " + Listed(names)));
  }
  if (alike.size() > 1) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "'" + wanted + "' could be one of several tables: " + Listed(alike) +
                         "; write the name in its own case");
  }
  if (const auto found = pins_.find(alike.front()); found != pins_.end()) {
    return found->second.get();
  }
  return Pin(alike.front());
}

arrow::Result<std::vector<const PinnedTable*>> StatementState::FindAll() {
  const std::lock_guard lock(mutex_);
  ARROW_ASSIGN_OR_RAISE(const std::vector<std::string> names, source_.Names(stop_));
  std::vector<const PinnedTable*> tables;
  for (const std::string& name : names) {
    const auto found = pins_.find(name);
    if (found != pins_.end()) {
      tables.push_back(found->second.get());
      continue;
    }
    const arrow::Result<const PinnedTable*> pinned = Pin(name);
    // One that was dropped meanwhile is not there.
    if (IsError(pinned.status(), ErrorKind::kNotFound)) continue;
    ARROW_RETURN_NOT_OK(pinned.status());
    tables.push_back(*pinned);
  }
  return tables;
}

void StatementState::Preset(PinnedTable table) {
  const std::lock_guard lock(mutex_);
  std::string name = table.name;
  pins_[std::move(name)] = std::make_unique<PinnedTable>(std::move(table));
}

arrow::Result<bool> StatementState::AreOfOneMoment() {
  const std::lock_guard lock(mutex_);
  if (pins_.size() < 2 || pins_.size() == of_one_moment_) return true;
  bool same = true;
  for (bool moved = true; moved;) {
    moved = false;
    for (auto pin = pins_.begin(); pin != pins_.end();) {
      arrow::Result<PinnedTable> newest = source_.Pin(pin->first, true, stop_);
      const bool is_gone = IsError(newest.status(), ErrorKind::kNotFound);
      if (!is_gone) ARROW_RETURN_NOT_OK(newest.status());
      if (!is_gone && newest->folder == pin->second->folder &&
          newest->snapshot->version() == pin->second->snapshot->version()) {
        ++pin;
        continue;
      }
      moved = true;
      same = false;
      outdated_.push_back(std::move(pin->second));
      if (is_gone) {
        pin = pins_.erase(pin);
        continue;
      }
      pin->second = std::make_unique<PinnedTable>(*std::move(newest));
      ++pin;
    }
  }
  of_one_moment_ = pins_.size();
  return same;
}

void StatementState::Unbind() {
  const std::lock_guard lock(entries_mutex_);
  for (auto& [name, entry] : entries_) outdated_entries_.push_back(std::move(entry));
  entries_.clear();
}

void StatementState::AddFile(const std::string& path, ScannedFile file) {
  const std::lock_guard lock(mutex_);
  files_.insert_or_assign(path, std::move(file));
}

std::optional<ScannedFile> StatementState::FindFile(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(path);
  if (found == files_.end()) return std::nullopt;
  return found->second;
}

void StatementState::NoteMissing(const std::string& name, const arrow::Status& why) {
  const std::lock_guard lock(mutex_);
  missing_.insert_or_assign(name, why);
}

arrow::Status StatementState::MissingIn(const std::string& message) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, why] : missing_) {
    if (message.starts_with("Table with name " + name + " does not exist")) return why;
  }
  return arrow::Status::OK();
}

void StatementState::NoteFailure(const arrow::Status& failure) {
  const std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = failure;
}

arrow::Status StatementState::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace infino::sql
