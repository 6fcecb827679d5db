// BenchmarkIntraSM: what synchronizing inside one SM costs, by the SM's clock.
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "common/measuring_run.cuh"
#include "explicit_barrier/block_methods.cuh"
#include "explicit_barrier/intra_sm.cuh"
#include "explicit_barrier/intra_sm_rows.hpp"
#include "explicit_barrier/throughput.cuh"
#include "explicit_barrier/warp_methods.cuh"

namespace syncbench {
namespace {

// A row says more than it knows if its number depends on the repeat count by
// more than this part.
constexpr double kLatencyTolerance = 0.02;
constexpr double kThroughputTolerance = 0.005;

class IntraSm {
 public:
  IntraSm(const ProgramInfo& info, const Options& options, LineWriter& out)
      : run_(info, options, out), store_(run_.gpu()), windows_(run_.gpu()) {}

  void run() {
    run_.begin_section();
    block_latency_section();
    run_.begin_section();
    warp_latency_section();
    run_.begin_section();
    throughput_section();
    run_.finish();
  }

 private:
  void block_latency_section() {
    Table<LatencyRow> table(run_.out(), "block latency",
                            latency_columns(false, run_.options().stats));
    if (!run_.options().wants(BlockSync::kName)) return;
    for (int threads = 32; threads <= kMaxThreads; threads += 32) {
      latency_row(table, BlockSync::kName, threads, 32, [&] {
        return measure_latency<BlockSync, BlockSync::kRepeats>(run_, store_,
                                                               threads, 32);
      });
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
        latency_row(table, Method::kName, 32, tile_of<Method>(lanes), [&] {
          return lanes == 32 ? measure_latency<Method, Method::kRepeats>(
                                   run_, store_, 32, lanes)
                             : measure_latency<Method, Part<Method>::kRepeats>(
                                   run_, store_, 32, lanes);
        });
      }
    });
    for_each_wide_method([&](auto tag, int lanes) {
      using Method = typename decltype(tag)::type;
      if (empty_.count({Method::kName, lanes}) != 0) return;
      for (int threads = 64; threads <= kMaxThreads; threads *= 2) {
        latency_row(table, Method::kName, threads, lanes, [&] {
          return measure_latency_among<Method>(run_, store_, threads, lanes);
        });
      }
    });
  }

  // Calls visit(tag, lanes) for the methods of a whole warp that are wanted,
  // coalesced ones also for half a warp.
  template <class Visitor>
  void for_each_wide_method(Visitor visit) {
    for_each_method(WarpMethods{}, [&](auto tag) {
      using Method = typename decltype(tag)::type;
      if (!run_.options().wants(Method::kName)) return;
      if constexpr (kUsesActiveLanes<Method>) visit(tag, 16);
      if constexpr (kUsesActiveLanes<Method> || Method::kTile == 32) {
        visit(tag, 32);
      }
    });
  }

  // measure() gives the latency.
  template <class Measure>
  void latency_row(Table<LatencyRow>& table, const std::string& method,
                   int threads, int tile, Measure measure) {
    LatencyRow row;
    row.method = method;
    row.threads = threads;
    row.tile = tile;
    run_.show(method + " latency " + std::to_string(threads) + "/" +
              std::to_string(tile));
    row.latency = measure();
    row.mhz = run_.clock_mhz();
    table.row(row);
    run_.check_row(row.latency.value);
    if (row.latency.value.mean < kFewestCycles) {
      empty_.insert({method, tile});
      table.comment(nothing_waits(method, tile));
    } else {
      flag(table, row.latency, kLatencyTolerance);
    }
  }

  // Says below a row that its number is that of its repeat count.
  template <class Table>
  void flag(Table& table, const Repeated& repeated, double tolerance) {
    const double off = repeated.disagreement();
    if (std::abs(off) <= tolerance) return;
    table.comment(
        "the row above depends on the repeat count: twice as many "
        "operations give " +
        format_number(repeated.twice, 4) + ", " + format_number(100 * off, 1) +
        "% off");
  }

  void throughput_section() {
    Table<ThroughputRow> table(run_.out(), "throughput",
                               throughput_columns(run_.options().stats));
    if (run_.options().wants(BlockSync::kName)) {
      throughput_rows<BlockSync>(table, 32);
    }
    for_each_wide_method([&](auto tag, int lanes) {
      throughput_rows<typename decltype(tag)::type>(table, lanes);
    });
  }

  template <class Method>
  void throughput_rows(Table<ThroughputRow>& table, int lanes) {
    table.comment_once(caution_of<Method>());
    if (empty_.count({Method::kName, lanes}) != 0) {
      table.comment(std::string(Method::kName) + " of " +
                    std::to_string(lanes) +
                    ": nothing waits, as said under latency");
    }
    const int few = lanes == 32 ? Method::kThroughputRepeats
                                : Part<Method>::kThroughputRepeats;
    for (const int per_sm : run_.options().blocks_per_sm) {
      for (int threads = 32; threads <= kMaxThreads; threads *= 2) {
        ThroughputRow row;
        row.method = Method::kName;
        row.blocks = per_sm * run_.gpu().sm_count;
        row.threads = threads;
        row.tile = lanes;
        run_.show(row.method + " throughput " + std::to_string(row.blocks) +
                  " x " + std::to_string(threads) + "/" +
                  std::to_string(lanes));
        row.result = measure_throughput<Method>(
            {row.blocks, threads, lanes, store_, windows_}, per_sm, few,
            run_.options().samples);
        row.mhz = run_.clock_mhz();
        table.row(row);
        run_.check_row(row.result.total);
        flag(table, row.result.per_cycle, kThroughputTolerance);
      }
    }
  }

  MeasuringRun run_;
  RecordStore store_;
  WindowStore windows_;
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
