// BenchmarkIntraSM: what synchronizing inside one SM or one cluster costs, by
// the SM's clock.
#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/measuring_run.hpp"
#include "explicit_barrier/blocks_per_sm.hpp"
#include "explicit_barrier/latency.hpp"
#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/rows.hpp"
#include "explicit_barrier/sm_windows.hpp"

namespace syncbench::explicit_barrier {
namespace {

constexpr int kMaxBlocksPerSm = 64;
constexpr int kMaxThreads = 1024;

// As kLatencyTolerance, of throughput.
constexpr double kThroughputTolerance = 0.005;

// Of throughput (study, section IX-C): mean cycles, over the SMs that took part
// in the last launch, from first entry to last exit; *sms gets the number of
// these SMs.
double sm_cycles(const TimedLaunch& launch,
                 const DeviceBuffer<SmWindow>& windows, int* sms) {
  const DeviceBuffer<WarpRecord>& records = launch.device_records();
  const auto count = static_cast<unsigned>(records.size());
  merge_windows(records.get(), count, windows.get());
  double cycles = 0;
  *sms = 0;
  for (const SmWindow& window : windows.read()) {
    if (window.end == 0) continue;
    check_order(window.start, window.end);
    ++*sms;
    cycles += static_cast<double>(window.end - window.start);
  }
  if (*sms == 0) throw std::runtime_error("no warp took part");
  return cycles / *sms;
}

struct Throughput {
  Summary total;       // cycles of an SM for all operations, as the study
  Summary per_cycle;   // warp operations a cycle and SM in these
  Summary difference;  // cycles of an SM for as many operations more
  Repeated difference_per_cycle;
};

// Operations a cycle where `operations` take `cycles`.
Summary rate_of(double operations, const Summary& cycles) {
  Summary rate;
  rate.count = cycles.count;
  rate.mean = operations / cycles.mean;
  rate.median = operations / cycles.median;
  rate.ci95 = rate.mean * cycles.ci95 / cycles.mean;
  return rate;
}

// Operations of each warp: `few` for up to 8 warps that an SM holds at once,
// half as many for twice as many warps. The same in every run, whatever they
// take.
int throughput_repeats(int few, int warps_at_once) {
  constexpr int kFewWarps = 8;
  int repeats = few;
  for (int warps = kFewWarps; warps < warps_at_once; warps *= 2) repeats /= 2;
  return repeats;
}

// A fifth of the samples asked for, a tenth where blocks run in waves, five at
// least: such long samples spread little, see the column ci95(diff_thrput).
int throughput_samples(int samples, bool waves) {
  return std::max(std::min(samples, 5), samples / (waves ? 10 : 5));
}

// Throughput of an SM that gets `blocks_per_sm` blocks. The difference is of
// the same number of trips round bodies of twice and of once as many
// operations: the loop cancels as well as start-up, launch skew and clock
// reads. Each warp of each wave of blocks has so much to do that the waves'
// starts and ends, which do not quite cancel, weigh little.
Throughput measure_throughput(TimedLaunch& launch, int blocks_per_sm,
                              int samples) {
  const MethodEntry& method = launch.method();
  const Shape& shape = launch.shape();
  const int in_line = method.most_repeats();
  const int at_once = std::min(
      blocks_per_sm, blocks_that_fit(method, 2 * in_line, shape.threads));
  const int warps_per_block = (shape.threads + 31) / 32;
  const int repeats = throughput_repeats(method.throughput_repeats(shape.group),
                                         at_once * warps_per_block);
  if (repeats < in_line) {
    throw std::invalid_argument(std::string(method.name) +
                                ": too few throughput_repeats()");
  }
  const DeviceBuffer<SmWindow> windows(launch.device(), kSmSlots);
  int sms = 0;
  const auto cycles_at = [&](int trips, int count, int warm_ups) {
    const auto measure = [&](int line) {
      launch.run_lines(line, {trips, 0});
      return sm_cycles(launch, windows, &sms);
    };
    return sample_in_turn({in_line, 2 * in_line}, count, measure, warm_ups);
  };
  const int count = throughput_samples(samples, at_once < blocks_per_sm);
  const auto cycles = cycles_at(repeats / in_line, count, 1);
  const auto longer = cycles_at(2 * repeats / in_line, 2, 0);
  const Summary once = difference(cycles[1], cycles[0], 1);
  const Summary twice = difference(longer[1], longer[0], 1);
  const double operations =
      static_cast<double>(shape.blocks) * warps_per_block / sms * repeats;
  return {cycles[0],
          rate_of(operations, cycles[0]),
          once,
          {in_line, repeats, rate_of(operations, once),
           rate_of(2 * operations, twice).mean}};
}

class IntraSm {
 public:
  IntraSm(const ProgramInfo& info, const Options& options, LineWriter& out,
          const BlocksPerSm& blocks_per_sm)
      : run_(info, options, out), blocks_per_sm_(blocks_per_sm.swept()) {
    for (const MethodEntry& method :
         methods_of(Scope::kWarp, Scope::kCluster)) {
      if (options.wants(method.name, method.set)) methods_.push_back(method);
    }
  }

  void run() {
    run_.measure([this] { sections(); });
    run_.finish();
  }

 private:
  bool stats() const { return run_.options().stats; }

  void sections() {
    run_.begin_section("block latency");
    Table<Row> block(run_.out(), "block latency",
                     latency_columns(false, stats()));
    for (const MethodEntry& method : methods_) {
      if (method.scope != Scope::kBlock || method.has_groups()) continue;
      for (int threads = 32; threads <= kMaxThreads; threads += 32) {
        const bool shown = (threads & (threads - 1)) == 0;
        latency_row(block, method, threads, 32, set_of_point(method, shown));
      }
    }
    run_.begin_section("warp latency");
    warp_latency_section();
    run_.begin_section("throughput");
    throughput_section();
    run_.begin_section("group latency");
    group_latency_section();
    if (run_.options().measures(Set::kEvidence)) late_section();
  }

  // Of parts of a block, and of clusters of blocks of a few sizes.
  void group_latency_section() {
    Table<Row> group(run_.out(), "group latency",
                     latency_columns(true, stats()));
    for (const MethodEntry& method : methods_) {
      if (method.scope == Scope::kWarp || !method.has_groups()) continue;
      for (int threads = 32; threads <= kMaxThreads; threads *= 2) {
        const bool shown = method.scope != Scope::kCluster || threads == 32 ||
                           threads == 256 || threads == kMaxThreads;
        const Set set = std::max(Set::kToday, set_of_point(method, shown));
        method.groups(threads).for_each(
            [&](int size) { latency_row(group, method, threads, size, set); });
      }
    }
  }

  // Of blocks of several warps, and of clusters.
  void late_section() {
    run_.begin_section("one late");
    Table<Row> table(run_.out(), "one late",
                     late_columns("exit_cycle", "cycles", stats()));
    for (const MethodEntry& method : methods_) {
      if (method.late_kernel == nullptr) continue;
      const bool block = method.scope == Scope::kBlock;
      note_about(table, method);
      for (int threads = block ? 64 : 32; threads <= kMaxThreads;
           threads *= 2) {
        method.groups(threads).for_each(
            [&](int group) { late_row(table, method, threads, group); });
      }
    }
  }

  void late_row(Table<Row>& table, const MethodEntry& method, int threads,
                int group) {
    const Shape shape = shape_of(method, threads, group);
    Row row = {method.name, 1, shape.blocks, threads, group};
    row.late = kLateCycles;
    row.set = Set::kEvidence;
    run_.measure_or_skip(table, table.key(row), [&] {
      TimedLaunch launch(method, {run_.gpu()}, shape);
      row.value = measure_late(launch, run_.options().samples);
      print(table, row, Summary());  // who is out first varies
    });
  }

  // One block, or one cluster.
  static Shape shape_of(const MethodEntry& method, int threads, int group) {
    return {std::max(1, method.attributes(group).cluster), threads, group};
  }

  // One warp, then several that do not wait for each other.
  void warp_latency_section() {
    Table<Row> table(run_.out(), "warp latency",
                     latency_columns(true, stats()));
    for (const MethodEntry& method : methods_) {
      if (method.scope != Scope::kWarp) continue;
      method.groups(32).for_each(
          [&](int size) { latency_row(table, method, 32, size); });
    }
    for (const MethodEntry& method : methods_) {
      if (method.scope != Scope::kWarp) continue;
      method.groups(32).for_each([&](int size) {
        if (method.throughput_repeats(size) == 0) return;
        if (nothing_waits_.count({method.name, size}) != 0) return;
        for (int threads = 64; threads <= kMaxThreads; threads *= 2) {
          latency_row(table, method, threads, size);
        }
      });
    }
  }

  // `set`: of the point, or of its section.
  void latency_row(Table<Row>& table, const MethodEntry& method, int threads,
                   int group, Set set = Set::kStudy) {
    if (!method.fits(threads) || !run_.options().measures(set)) return;
    note_about(table, method);
    const Shape shape = shape_of(method, threads, group);
    Row row = {method.name, 1, shape.blocks, threads, group};
    row.set = std::max(method.set, set);
    const RowKey key = table.key(row);
    run_.measure_or_skip(table, key, [&] {
      TimedLaunch launch(method, {run_.gpu()}, shape);
      table.note_once(method.name, launch.rightness());
      const bool among = method.scope == Scope::kWarp && threads > 32;
      const Repeated latency =
          among ? measure_latency_among(launch, run_.options().samples)
                : measure_latency(launch, run_.options().samples);
      // A longer one is rounds of half of the longest.
      row.line = latency.in_line > method.most_in_line ? method.most_in_line / 2
                                                       : latency.in_line;
      row.repeats = latency.repeats;
      row.value = latency.value;
      row.loop = measure_loop(launch);
      print(table, row, row.value);
      if (row.value.mean < kFewestCycles) {
        nothing_waits_.insert({row.method, group});
        table.note_once(method.name, nothing_waits());
      } else {
        table.note(key, count_matters(latency, kLatencyTolerance));
      }
    });
  }

  void print(Table<Row>& table, Row& row, const Summary& watched) {
    row.mhz = run_.clock_mhz();
    table.row(row);
    run_.check_row(table.key(row), watched);
  }

  void throughput_section() {
    Table<Row> table(run_.out(), "throughput", throughput_columns(stats()));
    for (const MethodEntry& method : methods_) {
      method.groups(kMaxThreads).for_each([&](int group) {
        if (method.throughput_repeats(group) == 0) return;
        note_about(table, method);
        if (nothing_waits_.count({method.name, group}) != 0) {
          table.note_once(method.name, nothing_waits());
        }
        run_.measure_or_skip(table, {method.name}, [&] {
          for (const int per_sm : blocks_per_sm_) {
            for (int threads = 32; threads <= kMaxThreads; threads *= 2) {
              throughput_row(table, method, per_sm, threads, group);
            }
          }
        });
      });
    }
  }

  void throughput_row(Table<Row>& table, const MethodEntry& method, int per_sm,
                      int threads, int group) {
    const Set set = set_of_point(method, threads == kMaxThreads);
    if (!method.fits(threads) || !run_.options().measures(set)) return;
    const Shape shape = {per_sm * run_.gpu().sm_count, threads, group};
    Row row = {method.name, 1, shape.blocks, threads, group};
    row.set = std::max(method.set, set);
    run_.show(table.key(row));
    TimedLaunch launch(method, {run_.gpu()}, shape);
    const Throughput result =
        measure_throughput(launch, per_sm, run_.options().samples);
    row.repeats = result.difference_per_cycle.repeats;
    row.total = result.total;
    row.value = result.per_cycle;
    row.difference = result.difference;
    row.difference_value = result.difference_per_cycle.value;
    print(table, row, row.difference);
    table.note(table.key(row), above_limit(row, method.throughput_limit));
    table.note(table.key(row), count_matters(result.difference_per_cycle,
                                             kThroughputTolerance));
  }

  MeasuringRun run_;
  const std::vector<int> blocks_per_sm_;
  std::vector<MethodEntry> methods_;
  // Those, by name and group, that wait for nothing.
  std::set<std::pair<std::string, int>> nothing_waits_;
};

ProgramInfo program_info(BlocksPerSm& blocks_per_sm) {
  ProgramInfo info;
  info.name = "BenchmarkIntraSM";
  info.summary =
      "Latency and throughput of synchronizing inside one SM or one cluster, "
      "by\nthe SM's clock: barriers, shuffles, collectives, fences, atomics, "
      "copies.";
  info.counted += "; of throughput a fifth or a tenth, at least 5 of them";
  info.options.push_back(blocks_per_sm.option());
  take_methods(info, methods_of(Scope::kWarp, Scope::kCluster));
  info.columns =
      describe("block latency", latency_columns(false, true)) +
      describe("warp latency, group latency", latency_columns(true, true)) +
      describe("throughput", throughput_columns(true)) +
      describe("one late", late_columns("exit_cycle", "cycles", true));
  return info;
}

}  // namespace

std::vector<MethodList> method_lists() {
  return {block_methods,  mbarrier_methods, block_collective_methods,
          warp_methods,   exchange_methods, warp_collective_methods,
          in_use_methods, atomic_methods,   memory_order_methods,
          order_methods,  copy_methods,     cluster_methods};
}

}  // namespace syncbench::explicit_barrier

int main(int argc, char** argv) {
  using namespace syncbench;
  using namespace explicit_barrier;
  BlocksPerSm blocks_per_sm = {kMaxBlocksPerSm, "throughput alone: "};
  return program_main<IntraSm>(program_info(blocks_per_sm), argc, argv,
                               blocks_per_sm);
}
