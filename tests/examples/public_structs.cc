// Names one member of each public struct. Compiled under -Wmissing-field-initializers, which warns
// of any other member that has no default.

#include "infino/index_spec.h"
#include "infino/options.h"
#include "infino/search.h"
#include "infino/table.h"

namespace infino {
namespace {

[[maybe_unused]] void NameOneMemberOfEach() {
  [[maybe_unused]] const TextIndexOptions index_options{.positions = true};
  [[maybe_unused]] const TextIndexSpec index{.options = {.positions = true}};
  [[maybe_unused]] const VectorIndexOptions vector_options{.rerank = "fp16"};
  [[maybe_unused]] const VectorIndexSpec vectors{.column = "v"};
  [[maybe_unused]] const IndexSpec spec{.text = {index}};
  [[maybe_unused]] const StopCondition stop{.poll = [] { return false; }};
  [[maybe_unused]] const ConnectOptions options{.thread_count = 1};
  [[maybe_unused]] const TextSearchRequest search{.k = 1};
  [[maybe_unused]] const MatchRequest match{.mode = MatchMode::kAnd};
  [[maybe_unused]] const ExactMatchRequest exact{.value = "x"};
  [[maybe_unused]] const TextFilter filter{.query = "x"};
  [[maybe_unused]] const VectorEffort effort{.nprobe = 1};
  [[maybe_unused]] const VectorSearchRequest vector_search{.k = 1};
  [[maybe_unused]] const HybridSearchRequest hybrid_search{.text_weight = 2};
  [[maybe_unused]] const CountRequest count{.mode = MatchMode::kAnd};
  [[maybe_unused]] const AppendOptions append{.stop = stop};
}

}  // namespace
}  // namespace infino
