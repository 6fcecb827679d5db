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
                                ": too few throughput_repeats");
  }
  const DeviceBuffer<SmWindow> windows(launch.device(), kSmSlots);
  int sms = 0;
  const auto cycles_at = [&](int trips, int count, int warm_ups) {
    const auto measure = [&](int line) {
      launch.run_lines(line, {trips, 0});
      return sm_cycles(launch, windows, &sms);
    };
    return sample_lengths({in_line, 2 * in_line}, count, measure, warm_ups);
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

// Says so where the difference is above the method's limit.
Remark above_limit(const Throughput& result, double limit) {
  if (result.difference_per_cycle.value.mean <= limit) return {};
  const std::string most = format_number(limit, 5);
  return {"above-limit limit=" + most,
          "m(diff_thrput) is above the hardware's limit, " + most +
              "; take m(thrput)"};
}

// Of one operation, and of one in each trip of a loop.
struct Latency {
  Repeated line;
  int most_in_line;
  double loop = kNan;
};

// The study's table of block barriers has no `tile`.
Row latency_row(bool tile, const std::string& method = "",
                const Shape& shape = {}, const Latency& latency = {},
                double mhz = kNan, Set set = {}) {
  const auto& [in_line, repeats, value, twice] = latency.line;
  Row row = begin_row(method, 1);
  row.cell("rep", "", "operations the average is over", repeats);
  add_grid(row, shape);
  row.mean_stddev("ave_cycle", "cycles", "latency of one operation", value);
  if (tile) add_tile(row, shape);
  return row.stats("ave_cycle", "cycles", value)
      .clock(mhz)
      .cell("line", "",
            "operations in a row, without a loop, in the shorter kernel",
            // A longer one is rounds of half of the longest.
            in_line > latency.most_in_line ? latency.most_in_line / 2 : in_line)
      .real("loop(ave_cycle)", "cycles",
            "latency where each trip of a loop has one operation, loop "
            "included",
            latency.loop)
      .set(set);
}

// Cycles, and warp operations in one of them.
void add_time_and_rate(Row& row, const std::string& time,
                       const std::string& meaning, const Summary& cycles,
                       const std::string& rate, const Summary& per_cycle) {
  row.real("m(" + time + ")", "cycles", meaning, cycles.mean)
      .real("m(" + rate + ")", "warp/cycle",
            "warp operations per cycle and SM in " + time, per_cycle.mean, 5);
}

Row throughput_row(const std::string& method = "", const Shape& shape = {},
                   const Throughput& result = {}, double mhz = kNan,
                   Set set = {}) {
  const Repeated& difference = result.difference_per_cycle;
  Row row = begin_row(method, 1);
  row.cell("rep", "", "operations of each warp", difference.repeats);
  add_grid(row, shape);
  add_tile(row, shape);
  add_time_and_rate(row, "ttl_latency",
                    "time of one SM for rep operations a warp, from first warp "
                    "in to last warp out",
                    result.total, "thrput", result.per_cycle);
  add_time_and_rate(row.stats("diff_thrput", "rep"), "diff_latency",
                    "time of one SM for 2 rep operations a warp, less that "
                    "for rep",
                    result.difference, "diff_thrput", difference.value);
  return row.count(result.total)
      .robust("ttl_latency", "cycles", result.total)
      .robust("thrput", "warp/cycle", result.per_cycle, 5)
      .robust("diff_latency", "cycles", result.difference)
      .robust("diff_thrput", "warp/cycle", difference.value, 5)
      .clock(mhz)
      .set(set);
}

Row late_row(const std::string& method = "", const Shape& shape = {},
             const Summary& value = {}, double mhz = kNan) {
  return late_row("exit_cycle", "cycles", method, 1, shape, value, mhz);
}

class IntraSm {
 public:
  IntraSm(MeasuringRun& run, const BlocksPerSm& blocks_per_sm)
      : run_(run), blocks_per_sm_(blocks_per_sm.swept()) {
    for (const MethodEntry& method :
         methods_of(Scope::kWarp, Scope::kCluster)) {
      if (run.options().wants(method.name, method.set)) {
        methods_.push_back(method);
      }
    }
  }

  std::string sections() {
    Table block = run_.begin_section("block latency", latency_row(false));
    for (const MethodEntry& method : methods_) {
      if (method.scope != Scope::kBlock || method.has_groups()) continue;
      for (int threads = 32; threads <= kMaxThreads; threads += 32) {
        const bool shown = (threads & (threads - 1)) == 0;
        print_latency(block, method, threads, 32, set_of_point(method, shown));
      }
    }
    warp_latency_section();
    throughput_section();
    group_latency_section();
    if (run_.options().measures(Set::kEvidence)) late_section();
    return "";
  }

 private:
  // Of parts of a block, and of clusters of blocks of a few sizes.
  void group_latency_section() {
    Table group = run_.begin_section("group latency", latency_row(true));
    for (const MethodEntry& method : methods_) {
      if (method.scope == Scope::kWarp || !method.has_groups()) continue;
      for (int threads = 32; threads <= kMaxThreads; threads *= 2) {
        const bool shown = method.scope != Scope::kCluster || threads == 32 ||
                           threads == 256 || threads == kMaxThreads;
        const Set set = std::max(Set::kToday, set_of_point(method, shown));
        method.groups(threads).for_each([&](int size) {
          print_latency(group, method, threads, size, set);
        });
      }
    }
  }

  // Of blocks of several warps, and of clusters.
  void late_section() {
    Table table = run_.begin_section("one late", late_row());
    for (const MethodEntry& method : methods_) {
      if (method.late_kernel == nullptr) continue;
      const bool block = method.scope == Scope::kBlock;
      note_about(table, method);
      for (int threads = block ? 64 : 32; threads <= kMaxThreads;
           threads *= 2) {
        method.groups(threads).for_each(
            [&](int group) { print_late(table, method, threads, group); });
      }
    }
  }

  void print_late(Table& table, const MethodEntry& method, int threads,
                  int group) {
    const Shape shape = shape_of(method, threads, group);
    const RowKey key = late_row(method.name, shape).key();
    run_.measure_or_skip(table, key, [&] {
      TimedLaunch launch(method, {run_.gpu()}, shape);
      const Summary value = measure_late(launch, run_.options().samples);
      table.row(late_row(method.name, shape, value, run_.clock_mhz()));
      run_.check_row(key, Summary());  // who is out first varies
    });
  }

  // One block, or one cluster.
  static Shape shape_of(const MethodEntry& method, int threads, int group) {
    return {std::max(1, method.attributes(group).cluster), threads, group};
  }

  // One warp, then several that do not wait for each other.
  void warp_latency_section() {
    Table table = run_.begin_section("warp latency", latency_row(true));
    for (const MethodEntry& method : methods_) {
      if (method.scope != Scope::kWarp) continue;
      method.groups(32).for_each(
          [&](int size) { print_latency(table, method, 32, size); });
    }
    for (const MethodEntry& method : methods_) {
      if (method.scope != Scope::kWarp) continue;
      method.groups(32).for_each([&](int size) {
        if (method.throughput_repeats(size) == 0) return;
        if (nothing_waits_.count({method.name, size}) != 0) return;
        for (int threads = 64; threads <= kMaxThreads; threads *= 2) {
          print_latency(table, method, threads, size);
        }
      });
    }
  }

  // `set`: of the point, or of its section.
  void print_latency(Table& table, const MethodEntry& method, int threads,
                     int group, Set set = Set::kStudy) {
    if (!method.fits(threads) || !run_.options().measures(set)) return;
    note_about(table, method);
    const bool tile = method.scope != Scope::kBlock || method.has_groups();
    const Shape shape = shape_of(method, threads, group);
    const RowKey key = latency_row(tile, method.name, shape).key();
    run_.measure_or_skip(table, key, [&] {
      TimedLaunch launch(method, {run_.gpu()}, shape);
      table.note_once(method.name, launch.rightness());
      const bool among = method.scope == Scope::kWarp && threads > 32;
      const int samples = run_.options().samples;
      const Repeated line = among ? measure_latency_among(launch, samples)
                                  : measure_latency(launch, samples);
      const Latency latency = {line, method.most_in_line, measure_loop(launch)};
      table.row(latency_row(tile, method.name, shape, latency, run_.clock_mhz(),
                            std::max(method.set, set)));
      run_.check_row(key, line.value);
      if (line.value.mean < kFewestCycles) {
        nothing_waits_.insert({method.name, group});
        table.note_once(method.name, nothing_waits());
      } else {
        table.note(key, count_matters(line, kLatencyTolerance));
      }
    });
  }

  void throughput_section() {
    Table table = run_.begin_section("throughput", throughput_row());
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
              print_throughput(table, method, per_sm, threads, group);
            }
          }
        });
      });
    }
  }

  void print_throughput(Table& table, const MethodEntry& method, int per_sm,
                        int threads, int group) {
    const Set set = set_of_point(method, threads == kMaxThreads);
    if (!method.fits(threads) || !run_.options().measures(set)) return;
    const Shape shape = {per_sm * run_.gpu().sm_count, threads, group};
    const RowKey key = throughput_row(method.name, shape).key();
    run_.show(key);
    TimedLaunch launch(method, {run_.gpu()}, shape);
    const Throughput result =
        measure_throughput(launch, per_sm, run_.options().samples);
    table.row(throughput_row(method.name, shape, result, run_.clock_mhz(),
                             std::max(method.set, set)));
    run_.check_row(key, result.difference);
    table.note(key, above_limit(result, method.throughput_limit));
    table.note(
        key, count_matters(result.difference_per_cycle, kThroughputTolerance));
  }

  MeasuringRun& run_;
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
  info.columns = describe("block latency", latency_row(false)) +
                 describe("warp latency, group latency", latency_row(true)) +
                 describe("throughput", throughput_row()) +
                 describe("one late", late_row());
  return info;
}

}  // namespace

}  // namespace syncbench::explicit_barrier

int main(int argc, char** argv) {
  using namespace syncbench;
  using namespace explicit_barrier;
  BlocksPerSm blocks_per_sm = {kMaxBlocksPerSm, "throughput alone: "};
  return run_sections(program_info(blocks_per_sm), argc, argv,
                      [&](MeasuringRun& run) {
                        return IntraSm(run, blocks_per_sm).sections();
                      });
}
