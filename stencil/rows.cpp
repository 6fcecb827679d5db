#include "stencil/rows.hpp"

#include "common/noise.hpp"

namespace syncbench::stencil {
namespace {

Columns<FieldRow> stats_columns() {
  return sample_count_column<FieldRow>(&FieldRow::step) +
         robust_columns<FieldRow>("step", "ns", &FieldRow::step) +
         Columns<FieldRow>{real_column<FieldRow>(
             "clock", "MHz",
             "SM clock of the slowest GPU used, after the samples",
             &FieldRow::mhz, 1)} +
         set_column<FieldRow>();
}

}  // namespace

Columns<FieldRow> field_columns(bool stats) {
  using Row = FieldRow;
  return labels<Row>(
             {column<Row>("method", "", "way to make time steps", &Row::method),
              column<Row>("GPUcount", "", "GPUs involved", &Row::gpus),
              real_column<Row>("cells", "", "of each GPU", &Row::cells, 0)}) +
         Columns<Row>{
             column<Row>("width", "cells", "of a row",
                         [](const Row& row) { return row.shape.width; }),
             column<Row>("rows", "rows", "of a layer; a layer is a row in 2D",
                         [](const Row& row) { return row.shape.rows; }),
             column<Row>("layers", "layers", "of each GPU",
                         [](const Row& row) { return row.shape.layers; }),
             real_column<Row>("steps", "",
                              "of the longer run; the shorter has a quarter",
                              &Row::steps, 0),
             column<Row>("blk", "blocks", "grid dimension on each GPU",
                         &Row::blocks),
             column<Row>("thrd", "threads", "block dimension", &Row::threads)} +
         mean_stddev_columns<Row>("step", "ns", "one more time step",
                                  &Row::step) +
         Columns<Row>{
             real_column<Row>("GB/s", "10^9 B/s",
                              "each cell of all GPUs read and written once, "
                              "8 bytes / m(step)",
                              &Row::rate),
             real_column<Row>(
                 "sync", "%",
                 "of m(step) beyond that of none, or of none_tile for "
                 "tiles; below 0 where that is slower",
                 &Row::sync, 1),
             real_column<Row>("right", "",
                              "1: all results were right; 0: not; nan: it "
                              "orders nothing",
                              &Row::right, 0),
             column<Row>("nodes", "", "machines", &Row::nodes),
             column<Row>("processes", "", "of all nodes", &Row::processes)} +
         (stats ? stats_columns() : Columns<Row>());
}

bool print_field(MeasuringRun& run, Table<FieldRow>& table, FieldRow& row,
                 const Summary& total, const AtClock& clock) {
  row.mhz = clock.mhz;
  table.row(row);
  const RowKey key = table.key(row);
  run.warn(key, clock.warning);
  table.note(key, clock.repeated);
  run.warn(key, wide_interval(row.step));
  run.check_row(key, total.mean > 100e3 ? total : Summary());
  return row.right == 0;
}

}  // namespace syncbench::stencil
