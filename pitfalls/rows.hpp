// The tables of Pitfalls. Their rows are of the case `name`, and have what its
// process has written: a cell for each column.
#pragma once

#include <string>
#include <vector>

#include "common/table.hpp"

namespace syncbench::pitfalls {

using Cells = std::vector<std::string>;

inline Row row_of(const std::string& name) {
  return {"the case; --list says what it is", name};
}

inline Row lane_row(const std::string& name = "",
                    const Cells& cells = Cells(3)) {
  return row_of(name)
      .label("lane", "", "of the warp, each in a branch of its own",
             cells.at(0))
      .cell("start", "cycles", "before it synchronizes, since the first start",
            cells.at(1))
      .cell("end", "cycles", "after it, since the first start", cells.at(2));
}

inline Row verdict_row(const std::string& name = "",
                       const Cells& cells = Cells(4)) {
  return row_of(name)
      .cell("blocks", "", "1: in all launches every end came after every start",
            cells.at(0))
      .cell("launches", "", "launches of one warp", cells.at(1))
      .cell("held", "launches", "in which every end came after every start",
            cells.at(2))
      .cell("wrong", "lanes",
            "that got a wrong value, in all launches together", cells.at(3));
}

inline Row partial_row(const std::string& name = "",
                       const Cells& cells = Cells(4)) {
  return row_of(name)
      .label("form", "", "what the missing part does", cells.at(0))
      .cell("outcome", "",
            "completed, wrong result (not all had come), no progress within T "
            "s, error NAME",
            cells.at(1))
      .cell("T", "s", "that a launch was given", cells.at(2))
      .cell("launches", "", "until then", cells.at(3));
}

inline Row race_row(const std::string& name = "",
                    const Cells& cells = Cells(3)) {
  return row_of(name)
      .label("form", "", "wrong, or right: as it should be", cells.at(0))
      .cell("tries", "", "each alone with its data", cells.at(1))
      .cell("wrong", "tries", "with a wrong result", cells.at(2));
}

inline Row litmus_row(const std::string& name = "",
                      const Cells& cells = Cells(4)) {
  return row_of(name)
      .label("order", "", "plain, or PTX's name of it", cells.at(0))
      .label("form", "", "right: PTX forbids stale data; wrong: it does not",
             cells.at(1))
      .cell("messages", "",
            "data and a flag each, 10,000 for each try of a race", cells.at(2))
      .cell("stale", "messages", "whose flag was new and whose data was old",
            cells.at(3));
}

}  // namespace syncbench::pitfalls
