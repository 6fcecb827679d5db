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

// What they have measured of a row.
struct Sampled {
  Measured<InterSmSample> measured;
  Remark reason;  // why one of them has no samples
};
using SampledRows = std::map<std::string, Sampled>;  // by Table::key()

SamplingPlan plan_of(const Row& row) {
  return {row.repeats, row.more, row.launches};
}

// The first GPUs, in every number that a method runs on.
std::vector<std::vector<Gpu>> groups_of(const MethodEntry& method,
                                        const std::vector<Gpu>& all) {
  const std::size_t most = method.scope == Scope::kGrid ? 1 : all.size();
  std::vector<std::vector<Gpu>> groups;
  for (std::size_t count = method.fewest_gpus; count <= most; ++count) {
    groups.emplace_back(all.begin(), all.begin() + count);
  }
  return groups;
}

// What stands for all rows of a method on these GPUs.
Row all_shapes(const MethodEntry& method, const std::vector<Gpu>& gpus) {
  return {method.name, static_cast<int>(gpus.size()), kAny, kAny, 32};
}

// Whether pages show this shape of all methods: one block, 8 and 32 an SM, of
// the fewest and of the most threads. fit(threads): blocks that an SM holds.
template <class Fit>
bool is_shown(int per_sm, int threads, Fit fit) {
  const bool most = threads == kMaxThreads || fit(2 * threads) < per_sm;
  return (per_sm == 1 || per_sm == 8 || per_sm == 32) &&
         (threads == 32 || most);
}

// Calls visit(row, blocks that an SM holds) for the shapes that `per_sm` names
// and that are measured, with the GPUs' access to each other's memory as the
// method wants it.
template <class Visitor>
void for_each_row(MeasuringRun& run, const Table<Row>& table,
                  const MethodEntry& method, const std::vector<Gpu>& gpus,
                  const std::vector<int>& per_sm, Visitor visit) {
  const std::vector<int> devices = device_numbers(gpus);
  Row row = all_shapes(method, gpus);
  if (!method.peer_access) {
    disable_peer_access(devices);
  } else if (method.multi_device && !enable_peer_access(devices)) {
    run.warn(table.key(row),
             {"no-peer-access",
              "no peer access between these GPUs; measured without"});
  }
  for (const int count : per_sm) {
    for (int threads = 32; threads <= kMaxThreads; threads *= 2) {
      if (!method.fits(threads)) continue;
      const auto fit_of = [&](int size) {
        return blocks_that_fit(method, method.repeats(32), size);
      };
      const Set point = set_of_point(method, is_shown(count, threads, fit_of));
      if (!run.options().measures(point)) continue;
      row.set = std::max(method.set, point);
      row.blocks = count * gpus[0].sm_count;
      row.threads = threads;
      row.more = method.longer;
      row.repeats = row.more / 9;
      // Grid barriers differ between launches, so a sample is several of them.
      row.launches = method.launches(count, row.gpus);
      const int fit = fit_of(threads);
      if (count <= fit) run.show(table.key(row));
      visit(row, fit);
    }
  }
  if (!method.peer_access) enable_peer_access(devices);
}

// A process that has been started by another: samples of methods whose cost
// differs between processes.
class SamplingProcess {
 public:
  SamplingProcess(const ProgramInfo& info, const Options& options,
                  LineWriter& out, const BlocksPerSm& blocks_per_sm)
      : run_(info, options, out),
        blocks_per_sm_(blocks_per_sm.swept()),
        table_(out, "", inter_sm_columns(false)) {}

  void run() {
    run_.measure([this] {
      run_.begin_section("multi-GPU latency");
      if (!run_.gpu().cooperative_launch) return;
      for (const MethodEntry& method : methods_of(Scope::kGpus, Scope::kGpus)) {
        if (!method.differs_by_process ||
            !run_.options().wants(method.name, method.set)) {
          continue;
        }
        for (const auto& gpus : groups_of(method, run_.gpus())) {
          for_each_row(
              run_, table_, method, gpus, blocks_per_sm_,
              [&](const Row& row, int fit) {
                if (row.blocks > fit * gpus[0].sm_count) return;
                run_.out().line(record_text(record_of(row, method, gpus)));
              });
        }
      }
    });
  }

 private:
  Record record_of(const Row& row, const MethodEntry& method,
                   const std::vector<Gpu>& gpus) {
    const Options& options = run_.options();
    const int share = (options.samples - 1) / process_count(options) + 1;
    Record record;
    record.point = table_.key(row).text;
    try {
      TimedLaunch launch(method, gpus, {row.blocks, row.threads, row.group});
      record.numbers = numbers_of(sample_inter_sm(launch, share, plan_of(row)));
      record.mhz = run_.clock_mhz();
    } catch (const CannotMeasure& error) {
      record.skipped = {error.tag, error.what()};
    }
    return record;
  }

  MeasuringRun run_;
  const std::vector<int> blocks_per_sm_;
  const Table<Row> table_;  // for keys; writes nothing
};

// The process that prints, which measures what needs no others.
class InterSm {
 public:
  /// `sampled`: what the processes that this one has started have measured.
  InterSm(const ProgramInfo& info, const Options& options, LineWriter& out,
          const BlocksPerSm& blocks_per_sm, SampledRows sampled)
      : run_(info, options, out),
        blocks_per_sm_(blocks_per_sm.swept()),
        sampled_(std::move(sampled)) {}

  void run() {
    run_.measure([this] {
      section("grid latency", Scope::kGrid, missing_grid_methods());
      section("multi-GPU latency", Scope::kGpus, missing_gpu_methods());
      exchange_section();
      if (run_.options().measures(Set::kEvidence)) late_section();
    });
    run_.finish();
  }

 private:
  // Says where it is skipped.
  bool launches_cooperatively(Table<Row>& table, const MethodEntry& method) {
    if (run_.gpu().cooperative_launch) return true;
    run_.skip(table, {method.name},
              {"no-cooperative-launch", "no cooperative launch on this GPU"});
    return false;
  }

  // The rows of all methods of a scope, on every number of GPUs.
  void section(const std::string& name, Scope scope,
               const std::vector<MethodInfo>& missing) {
    const Options& options = run_.options();
    Table<Row> table(run_.out(), name, inter_sm_columns(options.stats));
    run_.begin_section(name);
    for (const MethodInfo& method : missing) {
      if (!options.methods.empty()) break;
      table.skip(method.name, {"toolkit", method.description});
    }
    for (const MethodEntry& method : methods_of(scope, scope)) {
      if (method.bytes_of_thread > 0) continue;
      if (!options.wants(method.name, method.set)) continue;
      if (!launches_cooperatively(table, method)) continue;
      for (const auto& gpus : groups_of(method, run_.gpus())) {
        run_.measure_or_skip(table, table.key(all_shapes(method, gpus)), [&] {
          note_about(table, method);
          for_each_row(run_, table, method, gpus, blocks_per_sm_,
                       [&](Row& row, int fit) {
                         if (row.blocks > fit * gpus[0].sm_count) {
                           table.skip(table.key(row), does_not_fit(fit));
                         } else if (method.differs_by_process) {
                           print_processes(table, row);
                         } else {
                           print_places(table, row, method, gpus);
                         }
                       });
        });
      }
    }
  }

  void exchange_section() {
    const Options& options = run_.options();
    Table<Row> table(run_.out(),
                     "exchange: each GPU sends so many bytes to every other, "
                     "and reads what all have sent",
                     exchange_columns(options.stats));
    run_.begin_section("exchange");
    for (const MethodEntry& method : methods_of(Scope::kGpus, Scope::kGpus)) {
      if (method.bytes_of_thread == 0) continue;
      if (!options.wants(method.name, method.set)) continue;
      if (!launches_cooperatively(table, method)) continue;
      for (const auto& gpus : groups_of(method, run_.gpus())) {
        Row all = all_shapes(method, gpus);
        all.group = kAny;
        run_.measure_or_skip(table, table.key(all), [&] {
          table.note_once(method.name, {"method", method.caution});
          method.groups(kMaxThreads).for_each([&](int bytes) {
            Row row = exchange_row(method, gpus, bytes);
            const int fit =
                blocks_that_fit(method, method.repeats(bytes), row.threads);
            if (row.blocks > fit * gpus[0].sm_count) {
              return table.skip(table.key(row), does_not_fit(fit));
            }
            run_.show(table.key(row));
            print_places(table, row, method, gpus);
          });
        });
      }
    }
  }

  // A thread has one element of the message.
  static Row exchange_row(const MethodEntry& method,
                          const std::vector<Gpu>& gpus, int bytes) {
    Row row = all_shapes(method, gpus);
    row.set = std::max(method.set, Set::kToday);
    const int elements = bytes / method.bytes_of_thread;
    row.threads = std::clamp(elements, 32, kExchangeThreads);
    row.blocks = std::max(elements / kExchangeThreads, 1);
    row.group = bytes;
    row.more = method.longer;
    row.repeats = row.more / 9;
    row.launches = method.launches(1, row.gpus);
    return row;
  }

  void late_section() {
    Table<Row> table(run_.out(), "one late",
                     late_columns("exit", "ns", run_.options().stats));
    run_.begin_section("one late");
    if (!run_.gpu().cooperative_launch) return;  // said in the first section
    for (const MethodEntry& method : methods_of(Scope::kGrid, Scope::kGpus)) {
      if (method.late_kernel == nullptr ||
          !run_.options().wants(method.name, method.set)) {
        continue;
      }
      for (const auto& gpus : groups_of(method, run_.gpus())) {
        run_.measure_or_skip(table, table.key(all_shapes(method, gpus)), [&] {
          note_about(table, method);
          for_each_row(run_, table, method, gpus, blocks_per_sm_,
                       [&](Row& row, int fit) {
                         if (row.blocks > fit * gpus[0].sm_count) return;
                         late_row(table, row, method, gpus);
                       });
        });
      }
    }
  }

  void late_row(Table<Row>& table, Row& row, const MethodEntry& method,
                const std::vector<Gpu>& gpus) {
    row.late = kLateCycles;
    row.set = Set::kEvidence;
    TimedLaunch launch(method, gpus, {row.blocks, row.threads, row.group});
    row.mhz = run_.clock_mhz();
    row.value =
        per(measure_late(launch, run_.options().samples), row.mhz / 1e3);
    table.row(row);
    run_.check_row(table.key(row), Summary());  // who is out first varies
  }

  // A row of what other processes have sampled.
  void print_processes(Table<Row>& table, Row& row) {
    const RowKey key = table.key(row);
    const Sampled& sampled = sampled_[key];
    if (sampled.reason) return run_.skip(table, key, sampled.reason);
    if (sampled.measured.samples.empty()) {
      return run_.skip(table, key,
                       {"not-measured", "no process has measured it"});
    }
    row.processes = static_cast<int>(sampled.measured.samples.size());
    print(table, row, sampled.measured);
    // Its neighbours see a row without spread: that processes differ is no
    // reason to warn.
    run_.check_row(key, Summary());
  }

  // A row of this process, of samples from as many places as the method asks
  // for: all there at the same time, so that each has memory of its own.
  void print_places(Table<Row>& table, Row& row, const MethodEntry& method,
                    const std::vector<Gpu>& gpus) {
    const SamplingPlan plan = plan_of(row);
    const int count = std::min(method.places, run_.options().samples);
    const int share = (run_.options().samples - 1) / count + 1;
    std::deque<TimedLaunch> places;
    while (static_cast<int>(places.size()) < count) {
      places.emplace_back(method, gpus,
                          Shape{row.blocks, row.threads, row.group});
    }
    Measured<InterSmSample> measured;
    Summary widest;  // that places differ is no reason to warn
    for (TimedLaunch& place : places) {
      auto samples = sample_inter_sm(place, share, plan);
      Measured<InterSmSample> here;
      here.add(std::move(samples), run_.clock_mhz());
      const Summary found = inter_sm_result(here, plan).instruction;
      const bool first = &place == &places.front();
      if (first || found.stddev > widest.stddev) widest = found;
      measured.add(std::move(here.samples[0]), here.mhz[0]);
    }
    print(table, row, measured);
    run_.check_row(table.key(row), widest);
  }

  // The row of what was measured, in one place or process or in several.
  void print(Table<Row>& table, Row& row,
             const Measured<InterSmSample>& measured) {
    const InterSmResult result = inter_sm_result(measured, plan_of(row));
    row.total = result.basic;
    row.more_total = result.more;
    row.value = result.instruction;
    row.mhz = summarize(measured.mhz).mean;
    table.row(row);
  }

  MeasuringRun run_;
  const std::vector<int> blocks_per_sm_;
  SampledRows sampled_;
};

// Of the methods that are wanted and whose cost differs between processes. To
// be called before this process makes a context: the others find the GPUs
// unused.
SampledRows measure_in_processes(const Options& options, char** argv,
                                 LineWriter& out) {
  bool wanted = false, clamped = false;
  for (const MethodEntry& method : all_methods()) {
    wanted |=
        method.differs_by_process && options.wants(method.name, method.set);
  }
  SampledRows sampled;
  if (!wanted ||
      resolve_gpu_count(options.gpu_count, static_cast<int>(find_gpus().size()),
                        &clamped) < 2) {
    return sampled;
  }
  Progress progress;
  const int count = process_count(options);
  run_samplers(argv, count, out, Relay::kWarnings,
               [&](int number, const Record& record) {
                 progress.show("process " + std::to_string(number + 1) +
                               " of " + std::to_string(count));
                 Sampled& row = sampled[record.point];
                 if (record.skipped) {
                   row.reason = record.skipped;
                 } else {
                   row.measured.add(samples_of<InterSmSample>(record.numbers),
                                    record.mhz);
                 }
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
  info.default_samples = 60;
  info.counted +=
      ", a few more where the same number comes from each of several places "
      "in memory or processes";
  info.options.push_back(blocks_per_sm.option());
  take_methods(info, methods_of(Scope::kGrid, Scope::kGpus));
  info.missing = missing_grid_methods();
  for (const MethodInfo& method : missing_gpu_methods()) {
    info.missing.push_back(method);
  }
  info.columns =
      describe("grid latency, multi-GPU latency", inter_sm_columns(true)) +
      describe("exchange", exchange_columns(true)) +
      describe("one late", late_columns("exit", "ns", true));
  return info;
}

}  // namespace

std::vector<MethodList> method_lists() {
  return {grid_methods,         grid_barrier_methods, semaphore_methods,
          message_methods,      gpu_methods,          node_barrier_methods,
          peer_message_methods, gpu_exchange_methods};
}

}  // namespace syncbench::explicit_barrier

int main(int argc, char** argv) {
  using namespace syncbench;
  using namespace explicit_barrier;
  BlocksPerSm blocks_per_sm = {kMaxBlocksPerSm};
  const ProgramInfo info = program_info(blocks_per_sm);
  return run_program(
      info, argc, argv, [&](const Options& options, LineWriter& out) {
        if (process_number() >= 0) {
          return SamplingProcess(info, options, out, blocks_per_sm).run();
        }
        InterSm(info, options, out, blocks_per_sm,
                measure_in_processes(options, argv, out))
            .run();
      });
}
