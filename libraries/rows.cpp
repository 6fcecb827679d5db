#include "libraries/rows.hpp"

namespace syncbench::libraries {
namespace {

// A number that some methods have.
Column<LibraryRow> of_shape(const std::string& header, const std::string& unit,
                            const std::string& meaning,
                            int CallShape::*member) {
  return column<LibraryRow>(
      header, unit, meaning, [member](const LibraryRow& row) {
        const int value = row.shape.*member;
        return value < 0 ? std::string("nan") : std::to_string(value);
      });
}

}  // namespace

Columns<LibraryRow> library_columns(bool stats) {
  Columns<LibraryRow> shown =
      Columns<LibraryRow>{column<LibraryRow>(
          "method", "", "call of a library, or this suite's own barrier",
          &LibraryRow::method)} +
      labels<LibraryRow>(
          {column<LibraryRow>("nodes", "", "machines", &LibraryRow::nodes),
           column<LibraryRow>("processes", "", "of all nodes",
                              &LibraryRow::processes),
           column<LibraryRow>("GPUcount", "", "GPUs involved, of all nodes",
                              &LibraryRow::gpus),
           of_shape("bytes", "bytes", "that each GPU adds up",
                    &CallShape::bytes),
           of_shape("blk", "blocks", "grid dimension", &CallShape::blocks),
           of_shape("thrd", "threads", "block dimension",
                    &CallShape::threads)}) +
      mean_stddev_columns<LibraryRow>("op", "ns", "one operation (Eq. 7, 8)",
                                      &LibraryRow::value);
  if (!stats) return shown;
  return shown + sample_count_column<LibraryRow>(&LibraryRow::value) +
         robust_columns<LibraryRow>("op", "ns", &LibraryRow::value) +
         clock_column<LibraryRow>() + set_column<LibraryRow>();
}

}  // namespace syncbench::libraries
