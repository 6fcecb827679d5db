// TestRepeat: does repeating an operation change what it costs? And do the two
// clocks that the suite measures with agree?
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/measuring_run.cuh"
#include "explicit_barrier/block_methods.cuh"
#include "explicit_barrier/grid_methods.cuh"
#include "explicit_barrier/multi_grid_methods.cuh"
#include "explicit_barrier/test_repeat.cuh"
#include "explicit_barrier/warp_methods.cuh"

namespace syncbench {
namespace {

constexpr int kMostRepeats = 128;
using RepeatCounts =
    std::integer_sequence<int, 1, 2, 4, 8, 16, 32, 64, kMostRepeats>;

struct RepeatRow {
  std::string method;
  int repeats = 0;
  int blocks = 1;
  int threads = 32;
  int tile = 32;
  Summary cycles;
  Summary nanoseconds;
  double mhz = kNan;
};

Columns<RepeatRow> repeat_columns(bool stats) {
  using Row = RepeatRow;
  const auto each = [](const Row& r) { return per(r.cycles, r.repeats); };
  const Columns<Row> columns =
      Columns<Row>{column<Row>("method", "", "operation",
                               [](const Row& r) { return r.method; }),
                   column<Row>("rep", "", "operations in the total",
                               [](const Row& r) { return r.repeats; }),
                   column<Row>("blk", "blocks", "grid dimension",
                               [](const Row& r) { return r.blocks; }),
                   column<Row>("thrd", "threads", "block dimension",
                               [](const Row& r) { return r.threads; }),
                   column<Row>("tile", "threads", "group inside a warp",
                               [](const Row& r) { return r.tile; })} +
      mean_stddev_columns<Row>("cycle", "cycles", "total by the SM clock",
                               [](const Row& r) { return r.cycles; }) +
      mean_stddev_columns<Row>("ns", "ns", "kernel by the CPU clock",
                               [](const Row& r) { return r.nanoseconds; }) +
      mean_stddev_columns<Row>("ave_cycle", "cycles", "cycle / rep", each, 4);
  if (!stats) return columns;
  return columns +
         sample_count_column<Row>([](const Row& r) { return r.cycles; }) +
         robust_columns<Row>("ave_cycle", "cycles", each, 4) +
         clock_column<Row>();
}

class TestRepeat {
 public:
  TestRepeat(const ProgramInfo& info, const Options& options, LineWriter& out)
      : run_(info, options, out),
        table_(run_.out(), kTitle, repeat_columns(options.stats)) {}

  void run() {
    run_.begin_section();
    for_each_method(BlockMethods{}, [this](auto tag) {
      for (const int threads : {32, 256, 1024}) rows(tag, 1, threads, 32);
    });
    for_each_method(WarpMethods{}, [this](auto tag) {
      using Method = typename decltype(tag)::type;
      for (int lanes = kFewestLanes<Method>; lanes <= 32; ++lanes) {
        rows(tag, 1, 32, lanes);
      }
    });
    for_each_method(GridMethods{}, [this](auto tag) { grid_rows(tag); });
    for_each_method(OneGpuMultiGridMethods{},
                    [this](auto tag) { grid_rows(tag); });
    validation_rows();
    run_.finish();
  }

 private:
  static constexpr const char* kTitle =
      "repeats: total of the last of three trips; ns is launch to end of all";

  // A row for every repeat count.
  template <class Method>
  void rows(MethodTag<Method> tag, int blocks, int threads, int lanes,
            const MethodParameter<Method>& parameter = {}) {
    if (!run_.options().wants(Method::kName)) return;
    table_.comment_once(caution_of<Method>());
    rows_of(tag, RepeatCounts{}, blocks, threads, lanes, parameter);
  }

  template <class Method, int... kRepeats>
  void rows_of(MethodTag<Method>, std::integer_sequence<int, kRepeats...>,
               int blocks, int threads, int lanes,
               const MethodParameter<Method>& parameter) {
    Summary half;  // cycles of the row before, of half as many repeats
    ((half = row<Method, kRepeats>(blocks, threads, lanes, parameter, half)),
     ...);
  }

  // Returns the cycles of the row.
  template <class Method, int kRepeats>
  Summary row(int blocks, int threads, int lanes,
              const MethodParameter<Method>& parameter, const Summary& half) {
    run_.show(std::string(Method::kName) + " x " + std::to_string(kRepeats) +
              " on " + std::to_string(blocks) + " x " +
              std::to_string(threads) + "/" +
              std::to_string(tile_of<Method>(lanes)));
    TimedCall<Method, kRepeats> timed(run_.gpu().index, blocks, threads,
                                      parameter);
    timed.set_active_lanes(lanes);
    const RepeatTotals totals =
        measure_repeats(run_.gpu(), timed, blocks, run_.options().samples);
    RepeatRow row;
    row.method = Method::kName;
    row.repeats = kRepeats;
    row.blocks = blocks;
    row.threads = threads;
    row.tile = tile_of<Method>(lanes);
    row.cycles = totals.cycles;
    row.nanoseconds = totals.nanoseconds;
    row.mhz = run_.clock_mhz();
    table_.row(row);
    // The spread of a total grows less than the total: fewer are no neighbours.
    if (kRepeats >= 8) run_.check_row(row.cycles);
    const double each = (row.cycles.mean - half.mean) / (kRepeats / 2.);
    if (kRepeats == kMostRepeats && each < kFewestCycles) {
      table_.comment(nothing_waits(row.method, row.tile));
    }
    if (kRepeats > kMostInLine<Method>) {
      table_.comment(std::string("the row above is a loop, one ") +
                     Method::kName +
                     " a trip: its code is too long to be "
                     "repeated so often");
    }
    return row.cycles;
  }

  // What the host hands to a method's kernel, for one GPU alone.
  MethodParameter<PeerGridSync> parameter_of(MethodTag<PeerGridSync>,
                                             int blocks) {
    if (!barrier_) barrier_.emplace(std::vector<int>{run_.gpu().index});
    return barrier_->for_blocks(blocks)[0];
  }
  template <class Method>
  NoParameter parameter_of(MethodTag<Method>, int) {
    return {};
  }

  template <class Method>
  void grid_rows(MethodTag<Method> tag) {
    if (!run_.options().wants(Method::kName)) return;
    if (!run_.gpu().cooperative_launch) {
      return run_.skip(table_, Method::kName,
                       "no cooperative launch on this GPU");
    }
    const int sms = run_.gpu().sm_count;
    try {
      run_.measure_or_skip(table_, Method::kName, [&] {
        explain_failure(barrier_, [&] {
          rows(tag, sms, 32, 32, parameter_of(tag, sms));
          if (blocks_that_fit<Method, kMostRepeats>(1024) >= 2) {
            rows(tag, 2 * sms, 1024, 32, parameter_of(tag, 2 * sms));
          } else {
            table_.skip(std::string(Method::kName) + " on " +
                            std::to_string(2 * sms) + " x 1024",
                        "an SM does not hold two blocks of this size");
          }
        });
      });
    } catch (const peer_grid::CannotJoin& error) {
      run_.skip(table_, Method::kName, error.what());
    }
  }

  void validation_rows() {
    if (!run_.options().wants(FloatAdd::kName)) return;
    run_.begin_section();
    Table<RepeatRow> table(run_.out(),
                           "method validation: float_add by the SM clock, then "
                           "by the CPU clock; differences of two lengths",
                           repeat_columns(run_.options().stats));
    run_.show(FloatAdd::kName);
    const int samples = run_.options().samples;
    const double mhz = run_.clock_mhz();
    for (const FloatAddResult& result :
         {float_add_by_sm_clock(run_.gpu(), samples, mhz),
          float_add_by_cpu_clock(run_.gpu(), samples, mhz)}) {
      RepeatRow row;
      row.method = FloatAdd::kName;
      row.repeats = result.repeats;
      row.cycles = result.cycles;
      row.nanoseconds = result.nanoseconds;
      row.mhz = run_.clock_mhz();
      table.row(row);
      run_.check_row(row.cycles);
    }
  }

  MeasuringRun run_;
  Table<RepeatRow> table_;
  std::optional<peer_grid::BarrierSet> barrier_;
};

ProgramInfo program_info() {
  ProgramInfo info;
  info.name = "TestRepeat";
  info.summary =
      "Every in-kernel method at 1 to 128 straight-line repeats, to see from\n"
      "where on repeating no longer changes the average; and a float-add "
      "chain\n"
      "by the SM clock and by the CPU clock, which both have to read its "
      "latency.";
  info.methods = {
      method_info<BlockSync>("__syncthreads() of 32, 256 and 1024 threads")};
  add_warp_methods(info.methods);
  info.methods.push_back(method_info<GridSync>("grid_group::sync()"));
#if CUDART_VERSION < 13000
  info.methods.push_back(
      method_info<MultiGridSync>("multi_grid_group::sync(), on one GPU"));
#endif
  info.methods.push_back(
      method_info<PeerGridSync>("barrier over peer memory, on one GPU"));
  info.methods.push_back(
      method_info<FloatAdd>("dependent float additions by two clocks"));
  info.missing = missing_multi_grid_methods();
  info.columns = describe("repeats, method validation", repeat_columns(true));
  return info;
}

}  // namespace
}  // namespace syncbench

int main(int argc, char** argv) {
  using namespace syncbench;
  return program_main<TestRepeat>(program_info(), argc, argv);
}
