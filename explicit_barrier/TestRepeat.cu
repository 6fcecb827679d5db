// TestRepeat: does repeating an operation change what it costs? And do the two
// clocks that the suite measures with agree?
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

using RepeatCounts = std::integer_sequence<int, 1, 2, 4, 8, 16, 32, 64, 128>;

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
      const int first = kUsesActiveLanes<Method> ? 1 : 32;
      for (int lanes = first; lanes <= 32; ++lanes) rows(tag, 1, 32, lanes);
    });
    if (run_.gpu().cooperative_launch) {
      for_each_method(GridMethods{}, [this](auto tag) { grid_rows(tag, {}); });
      const PeerGridBarrierSet barriers({run_.gpu().index});
      grid_rows(MethodTag<PeerGridSync>{}, barriers.on_rank(0));
    }
    validation_rows();
  }

 private:
  static constexpr const char* kTitle =
      "repeats: total of the last of three trips; ns is launch to end of all";

  // A row for every repeat count.
  template <class Method>
  void rows(MethodTag<Method> tag, int blocks, int threads, int lanes,
            const MethodParameter<Method>& parameter = {}) {
    if (!run_.options().wants(Method::kName)) return;
    rows_of(tag, RepeatCounts{}, blocks, threads, lanes, parameter);
  }

  template <class Method, int... kRepeats>
  void rows_of(MethodTag<Method>, std::integer_sequence<int, kRepeats...>,
               int blocks, int threads, int lanes,
               const MethodParameter<Method>& parameter) {
    (row<Method, kRepeats>(blocks, threads, lanes, parameter), ...);
  }

  template <class Method, int kRepeats>
  void row(int blocks, int threads, int lanes,
           const MethodParameter<Method>& parameter) {
    run_.show(std::string(Method::kName) + " x " + std::to_string(kRepeats));
    TimedCall<Method, kRepeats> timed(run_.gpu().index, blocks, threads,
                                      parameter);
    timed.set_active_lanes(lanes);
    const RepeatTotals totals =
        measure_repeats(timed, blocks, run_.options().samples);
    RepeatRow row;
    row.method = Method::kName;
    row.repeats = kRepeats;
    row.blocks = blocks;
    row.threads = threads;
    row.tile = kUsesActiveLanes<Method> ? lanes : Method::kTile;
    row.cycles = totals.cycles;
    row.nanoseconds = totals.nanoseconds;
    row.mhz = run_.clock_mhz();
    table_.row(row);
    run_.check_row(row.cycles);
  }

  template <class Method>
  void grid_rows(MethodTag<Method> tag,
                 const MethodParameter<Method>& parameter) {
    const int sms = run_.gpu().sm_count;
    rows(tag, sms, 32, 32, parameter);
    if (blocks_that_fit<Method, 128>(1024) >= 2) {
      rows(tag, 2 * sms, 1024, 32, parameter);
    }
  }

  void validation_rows() {
    if (!run_.options().wants(FloatAdd::kName)) return;
    Table<RepeatRow> table(run_.out(),
                           "method validation: float_add by the SM clock, then "
                           "by the CPU clock; differences of two lengths",
                           repeat_columns(run_.options().stats));
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
    }
  }

  MeasuringRun run_;
  Table<RepeatRow> table_;
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
      {BlockSync::kName, "__syncthreads() of 32, 256 and 1024 threads"},
      {TileSync<32>::kName,
       std::string("sync() of a warp tile of 1 to 32 threads") + kSyncNote},
      {TileShuffle<32>::kName, "shfl_down() in a warp tile of 1 to 32 threads"},
      {CoalescedSync::kName,
       std::string("sync() of 1 to 32 coalesced threads") + kSyncNote},
      {CoalescedShuffle::kName, "shfl_down() among 1 to 32 coalesced threads"},
      {GridSync::kName, "grid_group::sync()"},
      {PeerGridSync::kName, "barrier over peer memory, on one GPU"},
      {FloatAdd::kName, "dependent float additions by two clocks"}};
  info.columns = describe("repeats, method validation", repeat_columns(true)) +
                 "  from n on: only with --stats\n";
  return info;
}

}  // namespace
}  // namespace syncbench

int main(int argc, char** argv) {
  using namespace syncbench;
  return program_main<TestRepeat>(program_info(), argc, argv);
}
