// BenchmarkInterSM: what synchronizing across SMs costs, by the CPU's clock.
#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/child_processes.hpp"
#include "common/measuring_run.hpp"
#include "common/peer_access.hpp"
#include "common/process_samples.hpp"
#include "explicit_barrier/blocks_per_sm.hpp"
#include "explicit_barrier/inter_sm.hpp"
#include "explicit_barrier/latency.hpp"
#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/rows.hpp"
#include "explicit_barrier/timed_launch.hpp"

namespace syncbench::explicit_barrier {
namespace {

constexpr int kMaxBlocksPerSm = 32;
constexpr int kMaxThreads = 1024;
constexpr int kExchangeThreads = 512;  // of a block, where it is full

// Processes for methods whose cost differs between processes, with a share of
// the samples each.
int process_count(const Options& options) {
  return std::min(10, options.samples);
}

// What they have measured, by Row::key().
using SampledRows = std::map<std::string, Measured>;

// What a row is of: a method on the first GPUs, and a shape; that of all rows
// of the method on these GPUs where it says kAny.
struct Point {
  const MethodEntry* method = nullptr;
  std::vector<Gpu> gpus = {};
  Shape shape = {kAny, kAny, 32};
  SamplingPlan plan = {};
  Set set = {};
  bool sends = false;  // shape.group bytes, from each GPU to every other

  const char* name() const { return method == nullptr ? "" : method->name; }
  int gpu_count() const { return static_cast<int>(gpus.size()); }
};

Row row_of(const Point& point, const InterSmResult& result = {},
           int processes = 1, double mhz = kNan) {
  Row row = begin_row(point.name(), point.gpu_count());
  row.cell("basicrep", "", "operations in the basic kernel", point.plan.basic)
      .cell("moredrep", "", "operations in the longer kernel", point.plan.more);
  add_grid(row, point.shape);
  if (point.sends) {
    row.label("bytes", "bytes", "that each GPU sends to every other",
              point.shape.group);
  }
  return row
      .mean_stddev("basic_ttl", "ns", "basic kernel, launch to end",
                   result.basic)
      .mean_stddev("more_ttl", "ns", "longer kernel, launch to end",
                   result.more)
      .mean_stddev("avginstru", "ns", "one operation (Eq. 7, 8)",
                   result.instruction, 3, "avginstr")
      .stats("avginstru")
      .cell("launches", "",
            "launches in one queue that a sample is the mean of",
            point.plan.launches)
      .count(result.instruction)
      .cell("processes", "", "processes that the n samples are from", processes)
      .robust("avginstru", "ns", result.instruction)
      .clock(mhz)
      .set(point.set);
}

Row exchange_columns() {
  Point point;
  point.sends = true;
  return row_of(point);
}

Row late_row(const Point& point, const Summary& value = {}, double mhz = kNan) {
  return late_row("exit", "ns", point.name(), point.gpu_count(), point.shape,
                  value, mhz);
}

// Calls measure(point of all shapes) for every number of GPUs that a method
// runs on.
template <class Measure>
void for_each_count(const MethodEntry& method, const std::vector<Gpu>& all,
                    Measure measure) {
  const std::size_t most = method.scope == Scope::kGrid ? 1 : all.size();
  for (std::size_t count = method.fewest_gpus; count <= most; ++count) {
    measure(Point{&method, {all.begin(), all.begin() + count}});
  }
}

// Gives a point its shape, `per_sm` blocks an SM, and how it is sampled. Why it
// cannot be launched; nothing: it can.
Remark shape_point(Point& point, const Shape& shape, int per_sm, int fit) {
  const MethodEntry& method = *point.method;
  point.shape = shape;
  // Grid barriers differ between launches, so a sample is several of them.
  point.plan = {method.longer / 9, method.longer,
                method.launches(per_sm, point.gpu_count())};
  const bool fits = shape.blocks <= fit * point.gpus[0].sm_count;
  return fits ? Remark() : does_not_fit(fit);
}

// Whether pages show this shape of all methods: one block, 8 and 32 an SM, of
// the fewest and of the most threads. fit(threads): blocks that an SM holds.
template <class Fit>
bool is_shown(int per_sm, int threads, Fit fit) {
  const bool most = threads == kMaxThreads || fit(2 * threads) < per_sm;
  return (per_sm == 1 || per_sm == 8 || per_sm == 32) &&
         (threads == 32 || most);
}

// Calls visit(point, why it cannot be launched) for the shapes that `per_sm`
// names and that are measured, with the GPUs' access to each other's memory as
// the method wants it.
template <class Visitor>
void for_each_shape(MeasuringRun& run, Point point,
                    const std::vector<int>& per_sm, Visitor visit) {
  const MethodEntry& method = *point.method;
  const std::vector<int> devices = device_numbers(point.gpus);
  if (!method.peer_access) {
    disable_peer_access(devices);
  } else if (method.multi_device && !enable_peer_access(devices)) {
    run.warn(row_of(point).key(),
             {"no-peer-access",
              "no peer access between these GPUs; measured without"});
  }
  for (const int count : per_sm) {
    for (int threads = 32; threads <= kMaxThreads; threads *= 2) {
      if (!method.fits(threads)) continue;
      const auto fit_of = [&](int size) {
        return blocks_that_fit(method, method.repeats(32), size);
      };
      const Set set = set_of_point(method, is_shown(count, threads, fit_of));
      if (!run.options().measures(set)) continue;
      point.set = std::max(method.set, set);
      const Shape shape = {count * point.gpus[0].sm_count, threads, 32};
      const Remark why = shape_point(point, shape, count, fit_of(threads));
      if (!why) run.show(row_of(point).key());
      visit(point, why);
    }
  }
  if (!method.peer_access) enable_peer_access(devices);
}

Samples sample(TimedLaunch& launch, int samples, const SamplingPlan& plan) {
  return sample_inter_sm(
      [&](int repeats, int launches) { return launch.run(repeats, launches); },
      samples, plan);
}

// A process that has been started by another: samples of methods whose cost
// differs between processes.
void sample_in_process(MeasuringRun& run, const std::vector<int>& per_sm) {
  const Options& options = run.options();
  const int share = (options.samples - 1) / process_count(options) + 1;
  const auto record_of = [&](const Point& point) {
    Record record;
    record.point = {{"row", row_of(point).key().text}};
    try {
      TimedLaunch launch(*point.method, point.gpus, point.shape);
      record.samples = sample(launch, share, point.plan);
      record.mhz = run.clock_mhz();
    } catch (const CannotMeasure& error) {
      record.skipped = {error.tag, error.what()};
    }
    return record;
  };
  run.begin_section("multi-GPU latency");
  if (!run.gpu().cooperative_launch) return;
  for (const MethodEntry& method : methods_of(Scope::kGpus, Scope::kGpus)) {
    if (!method.differs_by_process || !options.wants(method.name, method.set)) {
      continue;
    }
    for_each_count(method, run.gpus(), [&](const Point& all) {
      for_each_shape(run, all, per_sm,
                     [&](const Point& point, const Remark& why) {
                       if (why) return;
                       run.out().line(record_text(record_of(point)));
                     });
    });
  }
}

// The process that prints, which measures what needs no others.
class InterSm {
 public:
  /// `sampled`: what the processes that this one has started have measured.
  InterSm(MeasuringRun& run, std::vector<int> blocks_per_sm,
          SampledRows sampled)
      : run_(run),
        blocks_per_sm_(std::move(blocks_per_sm)),
        sampled_(std::move(sampled)) {}

  std::string sections() {
    section("grid latency", Scope::kGrid, missing_grid_methods());
    section("multi-GPU latency", Scope::kGpus, missing_gpu_methods());
    exchange_section();
    if (run_.options().measures(Set::kEvidence)) late_section();
    return "";
  }

 private:
  // Calls measure(point of all shapes) for the methods that are wanted, on
  // every number of GPUs.
  template <class Measure>
  void of_method(Table& table, const MethodEntry& method, Measure measure) {
    if (!run_.options().wants(method.name, method.set)) return;
    if (!run_.gpu().cooperative_launch) {
      return run_.skip(
          table, {method.name},
          {"no-cooperative-launch", "no cooperative launch on this GPU"});
    }
    for_each_count(method, run_.gpus(), [&](const Point& all) {
      run_.measure_or_skip(table, row_of(all).key(), [&] { measure(all); });
    });
  }

  // The rows of all methods of a scope.
  void section(const std::string& name, Scope scope,
               const std::vector<MethodInfo>& missing) {
    Table table = run_.begin_section(name, row_of({}));
    for (const MethodInfo& method : missing) {
      if (!run_.options().methods.empty()) break;
      table.skip(method.name, {"toolkit", method.description});
    }
    for (const MethodEntry& method : methods_of(scope, scope)) {
      if (method.bytes_of_thread > 0) continue;
      of_method(table, method, [&](const Point& all) {
        note_about(table, method);
        for_each_shape(run_, all, blocks_per_sm_,
                       [&](const Point& point, const Remark& why) {
                         if (why) {
                           table.skip(row_of(point).key(), why);
                         } else if (method.differs_by_process) {
                           print_processes(table, point);
                         } else {
                           print_places(table, point);
                         }
                       });
      });
    }
  }

  // A thread has one element of the message.
  void exchange_section() {
    Table table = run_.begin_section(
        "exchange: each GPU sends so many bytes to every other, and reads what "
        "all have sent",
        exchange_columns());
    for (const MethodEntry& method : methods_of(Scope::kGpus, Scope::kGpus)) {
      if (method.bytes_of_thread == 0) continue;
      of_method(table, method, [&](Point point) {
        table.note_once(method.name, {"method", method.caution});
        point.sends = true;
        point.set = std::max(method.set, Set::kToday);
        method.groups(kMaxThreads).for_each([&](int bytes) {
          const int elements = bytes / method.bytes_of_thread;
          const Shape shape = {std::max(elements / kExchangeThreads, 1),
                               std::clamp(elements, 32, kExchangeThreads),
                               bytes};
          const int fit =
              blocks_that_fit(method, method.repeats(bytes), shape.threads);
          const Remark why = shape_point(point, shape, 1, fit);
          const RowKey key = row_of(point).key();
          if (why) return table.skip(key, why);
          run_.show(key);
          print_places(table, point);
        });
      });
    }
  }

  void late_section() {
    Table table = run_.begin_section("one late", late_row({}));
    if (!run_.gpu().cooperative_launch) return;  // said in the first section
    for (const MethodEntry& method : methods_of(Scope::kGrid, Scope::kGpus)) {
      if (method.late_kernel == nullptr) continue;
      of_method(table, method, [&](const Point& all) {
        note_about(table, method);
        for_each_shape(run_, all, blocks_per_sm_,
                       [&](const Point& point, const Remark& why) {
                         if (!why) print_late(table, point);
                       });
      });
    }
  }

  void print_late(Table& table, const Point& point) {
    TimedLaunch launch(*point.method, point.gpus, point.shape);
    const double mhz = run_.clock_mhz();
    const Summary cycles = measure_late(launch, run_.options().samples);
    const Row row = late_row(point, per(cycles, mhz / 1e3), mhz);
    table.row(row);
    run_.check_row(row.key(), Summary());  // who is out first varies
  }

  // A row of what other processes have sampled.
  void print_processes(Table& table, const Point& point) {
    const RowKey key = row_of(point).key();
    const Measured& sampled = sampled_[key];
    if (sampled.skipped) return run_.skip(table, key, sampled.skipped);
    if (sampled.samples.empty()) {
      return run_.skip(table, key,
                       {"not-measured", "no process has measured it"});
    }
    // Its neighbours see a row without spread: that processes differ is no
    // reason to warn.
    print(table, point, sampled, static_cast<int>(sampled.samples.size()),
          Summary());
  }

  // A row of this process, of samples from as many places as the method asks
  // for: all there at the same time, so that each has memory of its own.
  void print_places(Table& table, const Point& point) {
    const int count = std::min(point.method->places, run_.options().samples);
    const int share = (run_.options().samples - 1) / count + 1;
    std::deque<TimedLaunch> places;
    while (static_cast<int>(places.size()) < count) {
      places.emplace_back(*point.method, point.gpus, point.shape);
    }
    Measured measured;
    Summary widest;  // that places differ is no reason to warn
    for (TimedLaunch& place : places) {
      Measured here;
      Samples samples = sample(place, share, point.plan);
      here.add(std::move(samples), run_.clock_mhz());
      const Summary found = inter_sm_result(here, point.plan).instruction;
      const bool first = &place == &places.front();
      if (first || found.stddev > widest.stddev) widest = found;
      measured.add(here.samples[0], here.mhz[0]);
    }
    print(table, point, measured, 1, widest);
  }

  // The row of what was measured, in one place or process or in several.
  void print(Table& table, const Point& point, const Measured& measured,
             int processes, const Summary& watched) {
    const Row row = row_of(point, inter_sm_result(measured, point.plan),
                           processes, summarize(measured.mhz).mean);
    table.row(row);
    run_.check_row(row.key(), watched);
  }

  MeasuringRun& run_;
  const std::vector<int> blocks_per_sm_;
  SampledRows sampled_;
};

// Of the methods that are wanted and whose cost differs between processes. To
// be called before this process makes a context: the others find the GPUs
// unused.
SampledRows measure_in_processes(const Options& options, char** argv,
                                 LineWriter& out) {
  bool wanted = false;
  for (const MethodEntry& method : all_methods()) {
    wanted |=
        method.differs_by_process && options.wants(method.name, method.set);
  }
  SampledRows sampled;
  if (!wanted || resolve_gpu_count(options.gpu_count,
                                   static_cast<int>(find_gpus().size())) < 2) {
    return sampled;
  }
  Progress progress;
  const int count = process_count(options);
  run_samplers(argv, count, out, Relay::kWarnings,
               [&](int number, const Record& record) {
                 progress.show("process " + std::to_string(number + 1) +
                               " of " + std::to_string(count));
                 sampled[record.point.at("row")].add(record);
               });
  progress.clear();
  return sampled;
}

ProgramInfo program_info(BlocksPerSm& blocks_per_sm) {
  ProgramInfo info;
  info.name = "BenchmarkInterSM";
  info.summary =
      "Latency of synchronizing all blocks of a GPU, or of several GPUs, as "
      "the\n"
      "difference of two kernels that synchronize basicrep and moredrep times.";
  info.takes_gpu_count = true;
  info.default_samples = 30;
  info.counted +=
      ", a few more where the same number comes from each of several places "
      "in memory or processes";
  info.options.push_back(blocks_per_sm.option());
  take_methods(info, methods_of(Scope::kGrid, Scope::kGpus));
  info.missing = missing_grid_methods();
  for (const MethodInfo& method : missing_gpu_methods()) {
    info.missing.push_back(method);
  }
  info.columns = describe("grid latency, multi-GPU latency", row_of({})) +
                 describe("exchange", exchange_columns()) +
                 describe("one late", late_row({}));
  return info;
}

}  // namespace

}  // namespace syncbench::explicit_barrier

int main(int argc, char** argv) {
  using namespace syncbench;
  using namespace explicit_barrier;
  BlocksPerSm blocks_per_sm = {kMaxBlocksPerSm};
  const ProgramInfo info = program_info(blocks_per_sm);
  return run_program(
      info, argc, argv, [&](const Options& options, LineWriter& out) {
        const std::vector<int> per_sm = blocks_per_sm.swept();
        if (process_number() >= 0) {
          MeasuringRun run(info, options, out);
          return run.measure([&] { sample_in_process(run, per_sm); });
        }
        const SampledRows sampled = measure_in_processes(options, argv, out);
        MeasuringRun run(info, options, out);
        run.measure_all(
            [&] { return InterSm(run, per_sm, sampled).sections(); });
      });
}
