// The tables of Pitfalls.
#pragma once

#include <string>
#include <vector>

#include "common/table.hpp"

namespace syncbench::pitfalls {

/// A row as the process of its case has written it.
struct Cells {
  std::string method;
  std::vector<std::string> cells;
};

/// A column without its cell: header, unit, meaning.
struct Heading {
  const char* header;
  const char* unit;
  const char* meaning;
  bool label = false;  ///< Column::label
};

/// `method`, then one column a heading.
inline Columns<Cells> cell_columns(const std::vector<Heading>& headings) {
  Columns<Cells> columns = {column<Cells>(
      "method", "", "the case; --list says what it is", &Cells::method)};
  for (std::size_t i = 0; i < headings.size(); ++i) {
    columns.push_back(
        column<Cells>(headings[i].header, headings[i].unit, headings[i].meaning,
                      [i](const Cells& row) { return row.cells.at(i); }));
    columns.back().label = headings[i].label;
  }
  return columns;
}

inline Columns<Cells> lane_columns() {
  return cell_columns(
      {{"lane", "", "of the warp, each in a branch of its own", true},
       {"start", "cycles", "before it synchronizes, since the first start"},
       {"end", "cycles", "after it, since the first start"}});
}

inline Columns<Cells> verdict_columns() {
  return cell_columns(
      {{"blocks", "", "1: in all launches every end came after every start"},
       {"launches", "", "launches of one warp"},
       {"held", "launches", "in which every end came after every start"},
       {"wrong", "lanes", "that got a wrong value, in all launches together"}});
}

inline Columns<Cells> partial_columns() {
  return cell_columns(
      {{"form", "", "what the missing part does", true},
       {"outcome", "",
        "completed, wrong result (not all had come), no progress within T s, "
        "error NAME"},
       {"T", "s", "that a launch was given"},
       {"launches", "", "until then"}});
}

inline Columns<Cells> race_columns() {
  return cell_columns({{"form", "", "wrong, or right: as it should be", true},
                       {"tries", "", "each alone with its data"},
                       {"wrong", "tries", "with a wrong result"}});
}

inline Columns<Cells> litmus_columns() {
  return cell_columns(
      {{"order", "", "plain, or PTX's name of it", true},
       {"form", "", "right: PTX forbids stale data; wrong: it does not", true},
       {"messages", "", "data and a flag each, 10,000 for each try of a race"},
       {"stale", "messages", "whose flag was new and whose data was old"}});
}

}  // namespace syncbench::pitfalls
