// BenchmarkInterSM: what synchronizing across SMs costs, by the CPU's clock.
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/child_processes.hpp"
#include "common/measuring_run.hpp"
#include "common/peer_access.hpp"
#include "common/point_records.hpp"
#include "explicit_barrier/blocks_per_sm.hpp"
#include "explicit_barrier/inter_sm.hpp"
#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/rows.hpp"
#include "explicit_barrier/timed_launch.hpp"

namespace syncbench {
namespace {

constexpr int kMaxBlocksPerSm = 32;
constexpr int kMaxThreads = 1024;

// Processes that methods whose level a process draws are measured in, with a
// share of the samples each.
int process_count(const Options& options) {
  return std::min(10, options.samples);
}

// What they have measured, by Point::text().
using SamplesOfPoints = std::map<std::string, Collected>;

class InterSm {
 public:
  /// `samples`: what the processes that this one has started have measured.
  InterSm(const ProgramInfo& info, const Options& options, LineWriter& out,
          const BlocksPerSm& blocks_per_sm, const SamplesOfPoints& samples)
      : run_(info, options, out),
        blocks_per_sm_(blocks_per_sm.swept()),
        samples_(samples) {}

  /// In a process that has been started by another, only what that is for:
  /// lines of samples.
  void run() {
    run_.measure([this] { sections(); });
    if (process_number() < 0) run_.finish();
  }

 private:
  void sections() {
    Table<Row> grid(
        run_.out(),
        "grid latency: a sample is the mean of as many launches in one queue "
        "as the row says",
        inter_sm_columns(run_.options().stats));
    section(grid, Scope::kGrid);
    Table<Row> gpus(run_.out(), "multi-GPU latency",
                    inter_sm_columns(run_.options().stats));
    if (run_.options().methods.empty()) {
      for (const MethodInfo& method : missing_gpu_methods()) {
        gpus.skip(method.name, {"toolkit", method.description});
      }
    }
    section(gpus, Scope::kGpus);
  }

  // The rows of all methods of a scope, on every number of GPUs.
  void section(Table<Row>& table, Scope scope) {
    run_.begin_section(scope == Scope::kGrid ? "grid latency"
                                             : "multi-GPU latency");
    for (const MethodEntry& method : methods_of(scope, scope)) {
      if (!run_.options().wants(method.name)) continue;
      if (process_number() >= 0 && !method.drawn_by_process) continue;
      if (!run_.gpu().cooperative_launch) {
        run_.skip(
            table, method.name,
            {"no-cooperative-launch", "no cooperative launch on this GPU"});
        continue;
      }
      const auto all = run_.gpus().size();
      const std::size_t most = scope == Scope::kGrid ? 1 : all;
      for (std::size_t count = method.fewest_gpus; count <= most; ++count) {
        const std::vector<Gpu> gpus(run_.gpus().begin(),
                                    run_.gpus().begin() + count);
        const Row all_shapes = {method.name, static_cast<int>(count), kAny,
                                kAny, 32};
        run_.measure_or_skip(table, table.key(all_shapes),
                             [&] { rows_on(table, method, gpus); });
      }
    }
  }

  // A row for every shape that fits.
  void rows_on(Table<Row>& table, const MethodEntry& method,
               const std::vector<Gpu>& gpus) {
    const std::vector<int> devices = device_numbers(gpus);
    if (!method.peer_access) {
      disable_peer_access(devices);
    } else if (method.multi_device && !enable_peer_access(devices)) {
      run_.warn(method.name,
                {"no-peer-access",
                 "no peer access between these GPUs; measured without"});
    }
    note_about(table, method);
    for (const int per_sm : blocks_per_sm_) {
      for (int threads = 32; threads <= kMaxThreads; threads *= 2) {
        const Row row = {method.name, static_cast<int>(gpus.size()),
                         per_sm * gpus[0].sm_count, threads, 32};
        const int fit = blocks_that_fit(method, method.repeats(32), threads);
        if (per_sm > fit) {
          table.skip(table.key(row), does_not_fit(fit));
        } else {
          run_.show(table.key(row));
          row_of(table, method, gpus, row);
        }
      }
    }
    if (!method.peer_access) enable_peer_access(devices);
  }

  void row_of(Table<Row>& table, const MethodEntry& method,
              const std::vector<Gpu>& gpus, Row row) {
    // Grid barriers differ between launches, so a sample is several of them.
    const SamplingPlan plan = {
        32, 288, method.launches(row.blocks / gpus[0].sm_count, row.gpus)};
    row.repeats = plan.basic;
    row.more = plan.more;
    row.launches = plan.launches;
    const Point point = {"latency", row.method, row.gpus,
                         row.more,  row.blocks, row.threads};
    const Options& options = run_.options();
    if (process_number() >= 0) {
      const int share = (options.samples - 1) / process_count(options) + 1;
      TimedLaunch launch(method, gpus, {row.blocks, row.threads, row.group});
      return run_.out().line(
          record_text({point, sample(launch, share, plan), {}}));
    }
    if (!method.drawn_by_process) {
      return print_places(table, row, method, gpus, plan);
    }
    const auto found = samples_.find(point.text());
    if (found == samples_.end()) {
      return run_.skip(table, table.key(row),
                       {"not-measured", "no process has measured it"});
    }
    row.processes = static_cast<int>(found->second.at("mhz").size());
    print(table, row, plan, found->second);
    // Its neighbours see a row without spread: that processes differ is no
    // reason to warn.
    run_.check_row(table.key(row), Summary());
  }

  NamedSamples sample(TimedLaunch& launch, int samples,
                      const SamplingPlan& plan) {
    NamedSamples measured = sample_inter_sm(launch, samples, plan);
    measured["mhz"] = {run_.clock_mhz()};
    return measured;
  }

  // A row of this process, of samples from as many places as the method asks
  // for: all there at the same time, so that each has memory of its own.
  void print_places(Table<Row>& table, Row& row, const MethodEntry& method,
                    const std::vector<Gpu>& gpus, const SamplingPlan& plan) {
    const int count = std::min(method.places, run_.options().samples);
    const int share = (run_.options().samples - 1) / count + 1;
    std::deque<TimedLaunch> places;
    while (static_cast<int>(places.size()) < count) {
      places.emplace_back(method, gpus,
                          Shape{row.blocks, row.threads, row.group});
    }
    Collected collected;
    Summary widest;  // that places differ is no reason to warn
    for (TimedLaunch& place : places) {
      const NamedSamples samples = sample(place, share, plan);
      const Summary here =
          inter_sm_result(of_one_process(samples), plan).instruction;
      const bool first = &place == &places.front();
      if (first || here.stddev > widest.stddev) widest = here;
      add_process(samples, collected);
    }
    print(table, row, plan, collected);
    run_.check_row(table.key(row), widest);
  }

  // The row of what was measured, in one place or process or in several.
  void print(Table<Row>& table, Row& row, const SamplingPlan& plan,
             const Collected& collected) {
    const InterSmResult result = inter_sm_result(collected, plan);
    row.total = result.basic;
    row.more_total = result.more;
    row.value = result.instruction;
    row.mhz = summarize_processes(collected.at("mhz")).mean;
    table.row(row);
  }

  MeasuringRun run_;
  const std::vector<int> blocks_per_sm_;
  const SamplesOfPoints samples_;
};

// Of the methods that are wanted and whose level a process draws. To be called
// before this process makes a context: the others find the GPUs unused.
SamplesOfPoints measure_in_processes(const Options& options, char** argv,
                                     LineWriter& out) {
  bool wanted = false, clamped = false;
  for (const MethodEntry& method : all_methods()) {
    wanted |= method.drawn_by_process && options.wants(method.name);
  }
  SamplesOfPoints samples;
  if (!wanted ||
      resolve_gpu_count(options.gpu_count, static_cast<int>(find_gpus().size()),
                        &clamped) < 2) {
    return samples;
  }
  Progress progress;
  std::set<std::string> told;
  const int count = process_count(options);
  run_processes(argv, count, [&](int number, const std::string& line) {
    progress.show("process " + std::to_string(number + 1) + " of " +
                  std::to_string(count));
    if (line.rfind("# warning", 0) == 0 && told.insert(line).second) {
      out.line(line);
    }
    if (line.rfind(kSamplesWord, 0) != 0) return;
    const Record record = parse_record(line);
    add_process(record.samples, samples[record.point.text()]);
  });
  progress.clear();
  return samples;
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
  info.options.push_back(blocks_per_sm.option());
  take_methods(info, methods_of(Scope::kGrid, Scope::kGpus));
  info.missing = missing_gpu_methods();
  info.columns =
      describe("grid latency, multi-GPU latency", inter_sm_columns(true));
  return info;
}

}  // namespace
}  // namespace syncbench

int main(int argc, char** argv) {
  using namespace syncbench;
  BlocksPerSm blocks_per_sm = {kMaxBlocksPerSm};
  const ProgramInfo info = program_info(blocks_per_sm);
  return run_program(
      info, argc, argv, [&](const Options& options, LineWriter& out) {
        const bool started = process_number() >= 0;
        InterSm(info, options, out, blocks_per_sm,
                started ? SamplesOfPoints()
                        : measure_in_processes(options, argv, out))
            .run();
      });
}
