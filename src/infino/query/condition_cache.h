#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "infino/index/doc_filter.h"
#include "infino/manifest/manifest.h"

namespace infino {

/// The rows that conditions selected, by superfile: superfiles never change, so what is asked again
/// need not be looked for again, whatever was appended meanwhile. What was not used for longest
/// goes when the budget is full. Thread-safe.
class ConditionCache {
 public:
  explicit ConditionCache(int64_t budget_bytes);
  ~ConditionCache();
  ConditionCache(const ConditionCache&) = delete;
  ConditionCache& operator=(const ConditionCache&) = delete;

  /// The rows of a superfile, deleted ones not among them, for which `condition` is true, if that
  /// is known. The text of a condition says all that it depends on, the table's schema included.
  [[nodiscard]] std::shared_ptr<const DocFilter> Find(const SuperfileEntry& superfile,
                                                      const std::string& condition);

  void Keep(const SuperfileEntry& superfile, const std::string& condition,
            std::shared_ptr<const DocFilter> rows);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace infino
