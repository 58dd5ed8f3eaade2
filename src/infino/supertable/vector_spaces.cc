#include "infino/supertable/vector_spaces.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "infino/error.h"
#include "infino/index/vector/point_list.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_space.h"
#include "infino/manifest/points_codec.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

using Lists = std::vector<std::shared_ptr<const vector::PointList>>;

bool IsOf(const vector::VectorSpace& space, const vector::VectorColumn& column,
          const Lists& lists) {
  if (space.column() != column || space.list_count() != lists.size()) return false;
  for (size_t i = 0; i < lists.size(); ++i) {
    if (space.list(i).id() != lists[i]->id()) return false;
  }
  return true;
}

}  // namespace

arrow::Result<VectorSpaces> MakeSpaces(const TableSchema& schema,
                                       std::span<const ReferencePoints> points,
                                       const VectorSpaces& known) {
  std::map<int32_t, Lists> lists;
  for (const ReferencePoints& list : points) lists[list.field_id].push_back(list.list);
  VectorSpaces spaces;
  for (auto& [field_id, of_column] : lists) {
    const TableColumn* column = schema.FindById(field_id);
    if (column == nullptr || !column->vector) {
      return MakeError(
          ErrorKind::kInvalidArgument,
          "reference points are of no vector column: field_id=" + std::to_string(field_id));
    }
    const auto before = known.find(field_id);
    if (before != known.end() && IsOf(*before->second, column->vector->column, of_column)) {
      spaces.emplace(field_id, before->second);
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(auto space,
                          vector::VectorSpace::Make(column->vector->column, std::move(of_column)));
    spaces.emplace(field_id, std::move(space));
  }
  return spaces;
}

}  // namespace infino
