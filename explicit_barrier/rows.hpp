// What the programs of this folder know of a point, and the columns, spelt as
// in the study, in which each of their tables shows it.
#pragma once

#include <string>

#include "common/statistics.hpp"
#include "common/table.hpp"
#include "explicit_barrier/method_entry.hpp"

namespace syncbench::explicit_barrier {

struct Row {
  std::string method;
  int gpus;
  int blocks;  ///< on each GPU
  int threads;
  int group;
  int line = 0;        ///< operations in a row, without a loop
  int repeats = 0;     ///< operations of a warp
  int more = 0;        ///< operations in the longer kernel
  int late = kAny;     ///< cycles by which a warp comes late
  int launches = 1;    ///< in one queue, of which a sample is the mean
  Summary value = {};  ///< of one operation; throughput: operations a cycle
  Summary total = {};  ///< of all repeats
  Summary difference = {};  ///< throughput: `total` of twice as many, less it
  Summary difference_value = {};  ///< as `value`, of `difference`
  Summary more_total = {};  ///< of the longer kernel, or by the other clock
  double loop = kNan;       ///< of one operation, each in a trip of a loop
  int processes = 1;        ///< that the samples are from
  double mhz = kNan;
  Set set = Set::kStudy;
};

/// The set of a point of `method`, beside that of the method: of one that pages
/// show, or of one between these.
inline Set set_of_point(const MethodEntry& method, bool shown) {
  return shown ? Set::kStudy : method.between;
}

/// No instruction that waits for a result takes less than a dependent float add
/// on any GPU so far (4 cycles, study section IX-D). An operation that does
/// waits for nothing: of warp barriers in a row CUDA 13 leaves NOPs and one
/// test for convergence.
inline constexpr double kFewestCycles = 3.5;

/// What is said of a method, once a table, below its first row of less than
/// kFewestCycles an operation.
Remark nothing_waits();

/// What is said of a throughput row whose difference is above the method's
/// limit; nothing where it is not.
Remark above_limit(const Row& row, double limit);

/// Why a grid cannot be launched whose blocks an SM holds so few of.
Remark does_not_fit(int blocks_per_sm);

/// Of BenchmarkIntraSM; the study's table of block barriers has no group.
Columns<Row> latency_columns(bool with_group, bool stats);

/// Of BenchmarkIntraSM; `total` is the window of an SM, in cycles, and `value`
/// warp operations per cycle in it.
Columns<Row> throughput_columns(bool stats);

/// Of BenchmarkIntraSM and BenchmarkInterSM, section `one late`; `name` of the
/// value in `unit`.
Columns<Row> late_columns(const std::string& name, const std::string& unit,
                          bool stats);

/// Of BenchmarkInterSM; `repeats` and `total` are of the basic kernel.
Columns<Row> inter_sm_columns(bool stats);

/// The same of exchanges, with `group` bytes of each GPU.
Columns<Row> exchange_columns(bool stats);

/// Of TestRepeat; `more_total` is by the CPU's clock.
Columns<Row> repeat_columns(bool stats);

}  // namespace syncbench::explicit_barrier
