// TestRepeat: the study's barriers inside a kernel at 1 to 128 straight-line
// repeats, and a float-add chain by both clocks, which validates them.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/measuring_run.hpp"
#include "explicit_barrier/latency.hpp"
#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/rows.hpp"

namespace syncbench::explicit_barrier {
namespace {

// The study repeats groups of 1, 2, 4, ... threads; others are evidence.
std::vector<MethodEntry> methods_of_study() {
  std::vector<MethodEntry> found;
  for (MethodEntry method : all_methods()) {
    if (!method.in_test_repeat() && method.scope != Scope::kThread) continue;
    method.between = Set::kEvidence;
    found.push_back(method);
  }
  return found;
}

// `cycles` by the SM's clock, `nanoseconds` by the CPU's.
Row row_of(const std::string& method, const Shape& shape, int repeats,
           const Summary& cycles = {}, const Summary& nanoseconds = {},
           double mhz = kNan, Set set = {}) {
  const Summary each = per(cycles, repeats);
  Row row = begin_row(method);
  row.label("rep", "", "operations in the total", repeats);
  add_grid(row, shape);
  add_tile(row, shape);
  return row.mean_stddev("cycle", "cycles", "total by the SM clock", cycles)
      .mean_stddev("ns", "ns", "kernel by the CPU clock", nanoseconds)
      .mean_stddev("ave_cycle", "cycles", "cycle / rep, nothing subtracted",
                   each, 4)
      .stats("ave_cycle", "cycles", each, 4)
      .clock(mhz)
      .set(set);
}

Row columns() { return row_of("", {}, 1); }

class TestRepeat {
 public:
  explicit TestRepeat(MeasuringRun& run)
      : run_(run),
        table_(run_.out(),
               "repeats: total of the last of three trips; ns: launch to end",
               columns()) {}

  std::string sections() {
    run_.begin_section("repeats");
    for (const MethodEntry& method : methods_of_study()) {
      if (!run_.options().wants(method.name, method.set)) continue;
      if (method.scope == Scope::kThread) {
        validation_rows(method);
        continue;
      }
      run_.measure_or_skip(table_, {method.name}, [&] {
        for (const Shape& shape : shapes_of(method)) {
          const bool shown = (shape.group & (shape.group - 1)) == 0;
          const Set set = set_of_point(method, shown);
          if (run_.options().measures(set)) rows(method, shape, set);
        }
      });
    }
    return "";
  }

 private:
  // What each method is repeated in.
  std::vector<Shape> shapes_of(const MethodEntry& method) {
    const int sms = run_.gpu().sm_count;
    if (method.scope >= Scope::kGrid) {
      if (!run_.gpu().cooperative_launch) {
        throw CannotMeasure("no-cooperative-launch",
                            "no cooperative launch on this GPU");
      }
      return {{sms, 32, 32}, {2 * sms, 1024, 32}};
    }
    std::vector<int> sizes = {32};
    if (method.scope == Scope::kBlock) sizes = {32, 256, 1024};
    std::vector<Shape> shapes;
    for (const int threads : sizes) {
      method.groups(threads).for_each([&](int group) {
        shapes.push_back({1, threads, group});
      });
    }
    return shapes;
  }

  // A row for every repeat count. `set`: of the shape.
  void rows(const MethodEntry& method, const Shape& shape, Set set) {
    const RowKey any = row_of(method.name, shape, kAny).key();
    run_.show(any);
    if (method.scope >= Scope::kGrid) {
      const int fit = blocks_that_fit(method, kMostTestRepeats, shape.threads);
      if (shape.blocks > fit * run_.gpu().sm_count) {
        return table_.skip(any, does_not_fit(fit));
      }
    }
    note_about(table_, method);
    TimedLaunch launch(method, {run_.gpu()}, shape);
    double half = 0;  // cycles of the row before, of half as many repeats
    for (int repeats = 1; repeats <= kMostTestRepeats; repeats *= 2) {
      const RowKey key = row_of(method.name, shape, repeats).key();
      run_.show(key);
      const auto [cycles, nanoseconds] = measure(launch, repeats);
      table_.row(row_of(method.name, shape, repeats, cycles, nanoseconds,
                        run_.clock_mhz(), std::max(method.set, set)));
      // Short totals spread more, in percent of their mean.
      if (repeats >= 8) run_.check_row(key, cycles);
      const double each = (cycles.mean - half) / (repeats / 2.);
      if (repeats == kMostTestRepeats && each < kFewestCycles) {
        table_.note_once(method.name, nothing_waits());
      }
      half = cycles.mean;
    }
  }

  // The last of three trips; the others bring the code into the instruction
  // cache.
  std::pair<Summary, Summary> measure(TimedLaunch& launch, int repeats) {
    constexpr Trips kLastOfThree = {3, 2};
    const Samples samples = sample_alone(
        [&] {
          const double total = launch.run_lines(repeats, kLastOfThree);
          return Sample{{"ns", total}, {"cycles", window_cycles(launch)}};
        },
        run_.options().samples);
    return {summarize(samples.at("cycles")), summarize(samples.at("ns"))};
  }

  // One operation by both methods of section IX-D: straight lines of r and 2 r
  // by the SM's clock; the same by the CPU's (Eq. 7), each so often that they
  // differ by 2 ms. The loop round them cancels too.
  void validation_rows(const MethodEntry& method) {
    constexpr int kTrips = 2048;
    Table table = run_.begin_section(
        "method validation: float_add by the SM clock, then by the CPU clock",
        columns());
    run_.show(method.name);
    const int samples = run_.options().samples;
    const double mhz = run_.clock_mhz();
    const Shape shape = {1, 32, 32};
    TimedLaunch launch(method, {run_.gpu()}, shape);
    const auto print = [&](int repeats, const Summary& cycles,
                           const Summary& nanoseconds) {
      const Row row = row_of(method.name, shape, repeats, cycles, nanoseconds,
                             run_.clock_mhz());
      table.row(row);
      run_.check_row(row.key(), cycles);
    };
    const int r = 2 * method.repeats(32);
    const auto by_sm = sample_lengths({r, 2 * r}, samples, [&](int line) {
      launch.run_lines(line, {3, 2});
      return window_cycles(launch);
    });
    const Summary cycles = difference(by_sm[1], by_sm[0], 1);
    print(r, cycles, per(cycles, mhz / 1e3));
    const auto by_cpu = sample_lengths({r, 2 * r}, samples, [&](int line) {
      return launch.run_lines(line, {kTrips, 0});
    });
    const Summary nanoseconds = difference(by_cpu[1], by_cpu[0], 1);
    print(kTrips * r, per(nanoseconds, 1e3 / mhz), nanoseconds);
  }

  MeasuringRun& run_;
  Table table_;
};

ProgramInfo program_info() {
  ProgramInfo info;
  info.name = "TestRepeat";
  info.summary =
      "The study's barriers inside a kernel at 1 to 128 straight-line\n"
      "repeats, to see from where on repeating no longer changes the\n"
      "average; and a float-add chain by the SM clock and by the CPU clock,\n"
      "which both have to read its latency.";
  take_methods(info, methods_of_study());
  info.missing = missing_gpu_methods();
  for (const MethodEntry& method : all_methods()) {
    info.missing.push_back(
        {method.name,
         std::string("TestRepeat does not repeat it; Benchmark") +
             (method.scope < Scope::kGrid ? "IntraSM" : "InterSM") +
             " measures it"});
  }
  info.columns = describe("repeats, method validation", columns());
  return info;
}

}  // namespace
}  // namespace syncbench::explicit_barrier

int main(int argc, char** argv) {
  using namespace syncbench;
  using namespace explicit_barrier;
  return run_sections(program_info(), argc, argv, [](MeasuringRun& run) {
    return TestRepeat(run).sections();
  });
}
