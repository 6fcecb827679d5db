// BenchmarkIntraSM: what synchronizing inside one SM costs, by the SM's clock.
#include <set>
#include <string>
#include <utility>

#include "common/measuring_run.cuh"
#include "explicit_barrier/block_methods.cuh"
#include "explicit_barrier/intra_sm.cuh"
#include "explicit_barrier/warp_methods.cuh"

namespace syncbench {
namespace {

struct LatencyRow {
  std::string method;
  int repeats = 0;
  int threads = 0;
  int tile = 0;
  Summary cycles;
  double mhz = kNan;
};

struct ThroughputRow {
  std::string method;
  int blocks = 0;
  int threads = 0;
  int tile = 0;
  Throughput result;
  double mhz = kNan;
};

Columns<LatencyRow> latency_columns(bool with_tile, bool stats) {
  using Row = LatencyRow;
  const auto cycles = [](const Row& r) { return r.cycles; };
  Columns<Row> columns =
      Columns<Row>{column<Row>("method", "", "synchronization method",
                               [](const Row& r) { return r.method; }),
                   column<Row>("GPUcount", "", "GPUs involved: 1",
                               [](const Row&) { return 1; }),
                   column<Row>("rep", "", "operations the average is over",
                               [](const Row& r) { return r.repeats; }),
                   column<Row>("blk", "blocks", "grid dimension",
                               [](const Row&) { return 1; }),
                   column<Row>("thrd", "threads", "block dimension",
                               [](const Row& r) { return r.threads; })};
  columns =
      columns + mean_stddev_columns<Row>("ave_cycle", "cycles",
                                         "latency of one operation", cycles);
  if (with_tile) {
    columns.push_back(column<Row>("tile", "threads", "size of the group",
                                  [](const Row& r) { return r.tile; }));
  }
  if (!stats) return columns;
  return columns +
         sample_count_column<Row>([](const Row& r) { return r.cycles; }) +
         robust_columns<Row>("ave_cycle", "cycles", cycles) +
         clock_column<Row>();
}

Columns<ThroughputRow> throughput_columns(bool stats) {
  using Row = ThroughputRow;
  Columns<Row> columns = {
      column<Row>("method", "", "synchronization method",
                  [](const Row& r) { return r.method; }),
      column<Row>("GPUcount", "", "GPUs involved: 1",
                  [](const Row&) { return 1; }),
      column<Row>("rep", "", "operations of each warp",
                  [](const Row& r) { return r.result.repeats; }),
      column<Row>("blk", "blocks", "grid dimension: blocks per SM x SMs",
                  [](const Row& r) { return r.blocks; }),
      column<Row>("thrd", "threads", "block dimension",
                  [](const Row& r) { return r.threads; }),
      column<Row>("tile", "threads", "size of the group",
                  [](const Row& r) { return r.tile; }),
      real_column<Row>("m(ttl_latency)", "cycles",
                       "mean time of one SM for rep operations a warp",
                       [](const Row& r) { return r.result.total.mean; }),
      real_column<Row>(
          "m(thrput)", "warp/cycle", "warp operations per cycle and SM",
          [](const Row& r) { return r.result.per_cycle.mean; }, 5)};
  if (!stats) return columns;
  return columns +
         sample_count_column<Row>([](const Row& r) { return r.result.total; }) +
         robust_columns<Row>("ttl_latency", "cycles",
                             [](const Row& r) { return r.result.total; }) +
         robust_columns<Row>(
             "thrput", "warp/cycle",
             [](const Row& r) { return r.result.per_cycle; }, 5) +
         clock_column<Row>();
}

class IntraSm {
 public:
  IntraSm(const ProgramInfo& info, const Options& options, LineWriter& out)
      : run_(info, options, out), store_(run_.gpu()) {}

  void run() {
    run_.begin_section();
    block_latency_section();
    run_.begin_section();
    warp_latency_section();
    run_.begin_section();
    throughput_section();
  }

 private:
  void block_latency_section() {
    Table<LatencyRow> table(run_.out(), "block latency",
                            latency_columns(false, run_.options().stats));
    if (!run_.options().wants(BlockSync::kName)) return;
    for (int threads = 32; threads <= kMaxThreads; threads += 32) {
      latency_row<BlockSync>(table, threads, 32);
    }
  }

  void warp_latency_section() {
    Table<LatencyRow> table(run_.out(), "warp latency",
                            latency_columns(true, run_.options().stats));
    for_each_method(WarpMethods{}, [&](auto tag) {
      using Method = typename decltype(tag)::type;
      if (!run_.options().wants(Method::kName)) return;
      table.comment_once(caution_of<Method>());
      for (int lanes = kFewestLanes<Method>; lanes <= 32; ++lanes) {
        latency_row<Method>(table, 32, lanes);
      }
    });
  }

  template <class Method>
  void latency_row(Table<LatencyRow>& table, int threads, int lanes) {
    LatencyRow row;
    row.method = Method::kName;
    row.repeats = Method::kRepeats;
    row.threads = threads;
    row.tile = tile_of<Method>(lanes);
    run_.show(row.method + " latency " + std::to_string(threads) + "/" +
              std::to_string(row.tile));
    row.cycles = measure_latency<Method>(run_, store_, threads, lanes);
    row.mhz = run_.clock_mhz();
    table.row(row);
    run_.check_row(row.cycles);
    if (row.cycles.mean < kFewestCycles) {
      empty_.insert({row.method, row.tile});
      table.comment(nothing_waits(row.method, row.tile));
    }
  }

  void throughput_section() {
    Table<ThroughputRow> table(run_.out(), "throughput",
                               throughput_columns(run_.options().stats));
    throughput_rows<BlockSync>(table, 32);
    for_each_method(WarpMethods{}, [&](auto tag) {
      using Method = typename decltype(tag)::type;
      if constexpr (kUsesActiveLanes<Method>) {
        throughput_rows<Method>(table, 16);  // a part of a warp
      }
      if constexpr (kUsesActiveLanes<Method> || Method::kTile == 32) {
        throughput_rows<Method>(table, 32);
      }
    });
  }

  template <class Method>
  void throughput_rows(Table<ThroughputRow>& table, int lanes) {
    if (!run_.options().wants(Method::kName)) return;
    table.comment_once(caution_of<Method>());
    if (empty_.count({Method::kName, lanes}) != 0) {
      table.comment(std::string(Method::kName) + " of " +
                    std::to_string(lanes) +
                    ": nothing waits, as said under latency");
    }
    for (const int per_sm : run_.options().blocks_per_sm) {
      for (int threads = 32; threads <= kMaxThreads; threads *= 2) {
        ThroughputRow row;
        row.method = Method::kName;
        row.blocks = per_sm * run_.gpu().sm_count;
        row.threads = threads;
        row.tile = lanes;
        run_.show(row.method + " throughput " + std::to_string(row.blocks) +
                  " x " + std::to_string(threads));
        row.result = measure_throughput<Method>(run_, store_, row.blocks,
                                                threads, lanes);
        row.mhz = run_.clock_mhz();
        table.row(row);
        run_.check_row(row.result.total);
      }
    }
  }

  MeasuringRun run_;
  RecordStore store_;
  std::set<std::pair<std::string, int>>
      empty_;  // methods that wait for nothing
};

ProgramInfo program_info() {
  ProgramInfo info;
  info.name = "BenchmarkIntraSM";
  info.summary =
      "Latency and throughput of synchronizing inside one SM, by its clock:\n"
      "block barriers, warp tiles and coalesced groups, and their shuffles.";
  info.most_blocks_per_sm = kMaxBlocksPerSm;
  info.methods = {method_info<BlockSync>(
      "__syncthreads() of a block of 32 to 1024 threads")};
  add_warp_methods(info.methods);
  info.columns = describe("block latency", latency_columns(false, true)) +
                 describe("warp latency", latency_columns(true, true)) +
                 describe("throughput", throughput_columns(true));
  return info;
}

}  // namespace
}  // namespace syncbench

int main(int argc, char** argv) {
  using namespace syncbench;
  return program_main<IntraSm>(program_info(), argc, argv);
}
