// BenchmarkInterSM: what synchronizing across SMs costs, by the CPU's clock.
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/child_processes.hpp"
#include "common/measuring_run.hpp"
#include "common/peer_access.hpp"
#include "common/process_samples.hpp"
#include "explicit_barrier/blocks_per_sm.hpp"
#include "explicit_barrier/inter_sm.hpp"
#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/rows.hpp"
#include "explicit_barrier/timed_launch.hpp"

namespace syncbench {
namespace {

constexpr int kMaxBlocksPerSm = 32;
constexpr int kMaxThreads = 1024;

// How many processes measure a method whose level differs between processes.
// Each takes a share of the samples.
int process_count(const Options& options) {
  return std::min(10, options.samples);
}

// What they have measured, by Table::key().
using SamplesOfRows = std::map<std::string, Measured<InterSmSample>>;

SamplingPlan plan_of(const MethodEntry& method, const Row& row, int sms) {
  // Grid barriers differ between launches, so a sample is several of them.
  return {32, 288, method.launches(row.blocks / sms, row.gpus)};
}

// Both sections: their tables, and all their rows in turn.
class Sections {
 public:
  Sections(const ProgramInfo& info, const Options& options, LineWriter& out,
           const BlocksPerSm& blocks_per_sm)
      : run_(info, options, out),
        blocks_per_sm_(blocks_per_sm.swept()),
        grid_(out,
              "grid latency: a sample is the mean of as many launches in one "
              "queue as the row says",
              inter_sm_columns(options.stats)),
        gpus_(out, "multi-GPU latency", inter_sm_columns(options.stats)) {}

  MeasuringRun& run() { return run_; }

  // Calls visit(table, method, GPUs, row) for every row that fits, of methods
  // that are wanted(method).
  template <class Wanted, class Visitor>
  void for_each_row(Wanted wanted, Visitor visit) {
    section(grid_, Scope::kGrid, wanted, visit);
    if (run_.options().methods.empty()) {
      for (const MethodInfo& method : missing_gpu_methods()) {
        gpus_.skip(method.name, {"toolkit", method.description});
      }
    }
    section(gpus_, Scope::kGpus, wanted, visit);
  }

 private:
  // The rows of all methods of a scope, on every number of GPUs.
  template <class Wanted, class Visitor>
  void section(Table<Row>& table, Scope scope, Wanted wanted, Visitor visit) {
    run_.begin_section(scope == Scope::kGrid ? "grid latency"
                                             : "multi-GPU latency");
    for (const MethodEntry& method : methods_of(scope, scope)) {
      if (!run_.options().wants(method.name) || !wanted(method)) continue;
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
        const std::string key = table.key(all_shapes);
        run_.measure_or_skip(table, key, [&] {
          switch_peer_access(method, device_numbers(gpus), key);
          note_about(table, method);
          rows_on(table, method, gpus, visit);
          if (!method.peer_access) enable_peer_access(device_numbers(gpus));
        });
      }
    }
  }

  void switch_peer_access(const MethodEntry& method,
                          const std::vector<int>& devices,
                          const std::string& key) {
    if (!method.peer_access) {
      disable_peer_access(devices);
    } else if (method.multi_device && !enable_peer_access(devices)) {
      run_.warn(key, {"no-peer-access",
                      "no peer access between these GPUs; measured without"});
    }
  }

  template <class Visitor>
  void rows_on(Table<Row>& table, const MethodEntry& method,
               const std::vector<Gpu>& gpus, Visitor visit) {
    for (const int per_sm : blocks_per_sm_) {
      for (int threads = 32; threads <= kMaxThreads; threads *= 2) {
        Row row = {method.name, static_cast<int>(gpus.size()),
                   per_sm * gpus[0].sm_count, threads, 32};
        const int fit = blocks_that_fit(method, method.repeats(32), threads);
        if (per_sm > fit) {
          table.skip(table.key(row), does_not_fit(fit));
          continue;
        }
        run_.show(table.key(row));
        visit(table, method, gpus, row);
      }
    }
  }

  MeasuringRun run_;
  const std::vector<int> blocks_per_sm_;
  Table<Row> grid_, gpus_;
};

// A process that another has started. It samples methods whose level differs
// between processes.
class SamplingProcess {
 public:
  SamplingProcess(const ProgramInfo& info, const Options& options,
                  LineWriter& out, const BlocksPerSm& blocks_per_sm)
      : sections_(info, options, out, blocks_per_sm), out_(out) {}

  void run() {
    MeasuringRun& run = sections_.run();
    const Options& options = run.options();
    const int share = (options.samples - 1) / process_count(options) + 1;
    run.measure([&] {
      sections_.for_each_row(
          [](const MethodEntry& method) { return method.drawn_by_process; },
          [&](const Table<Row>& table, const MethodEntry& method,
              const std::vector<Gpu>& gpus, const Row& row) {
            TimedLaunch launch(method, gpus,
                               {row.blocks, row.threads, row.group});
            const auto samples = sample_inter_sm(
                launch, share, plan_of(method, row, gpus[0].sm_count));
            out_.line(record_text(
                {0, table.key(row), {}, run.clock_mhz(), numbers_of(samples)}));
          });
    });
  }

 private:
  Sections sections_;
  LineWriter& out_;
};

// The process that prints, which measures what needs no others.
class InterSm {
 public:
  /// `samples`: what the processes that this one has started have measured.
  InterSm(const ProgramInfo& info, const Options& options, LineWriter& out,
          const BlocksPerSm& blocks_per_sm, SamplesOfRows samples)
      : sections_(info, options, out, blocks_per_sm),
        samples_(std::move(samples)) {}

  void run() {
    run_.measure([this] {
      sections_.for_each_row(
          [](const MethodEntry&) { return true; },
          [this](Table<Row>& table, const MethodEntry& method,
                 const std::vector<Gpu>& gpus, Row row) {
            const SamplingPlan plan = plan_of(method, row, gpus[0].sm_count);
            row.repeats = plan.basic;
            row.more = plan.more;
            row.launches = plan.launches;
            if (method.drawn_by_process) {
              print_processes(table, row, plan);
            } else {
              print_places(table, row, method, gpus, plan);
            }
          });
    });
    run_.finish();
  }

 private:
  // A row of what other processes have sampled.
  void print_processes(Table<Row>& table, Row& row, const SamplingPlan& plan) {
    const std::string key = table.key(row);
    const auto found = samples_.find(key);
    if (found == samples_.end()) {
      return run_.skip(table, key,
                       {"not-measured", "no process has measured it"});
    }
    row.processes = static_cast<int>(found->second.samples.size());
    print(table, row, plan, found->second);
    // Its neighbours see a row without spread: that processes differ is no
    // reason to warn.
    run_.check_row(key, Summary());
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
    print(table, row, plan, measured);
    run_.check_row(table.key(row), widest);
  }

  // The row of what was measured, in one place or process or in several.
  static void print(Table<Row>& table, Row& row, const SamplingPlan& plan,
                    const Measured<InterSmSample>& measured) {
    const InterSmResult result = inter_sm_result(measured, plan);
    row.total = result.basic;
    row.more_total = result.more;
    row.value = result.instruction;
    row.mhz = summarize(measured.mhz).mean;
    table.row(row);
  }

  Sections sections_;
  MeasuringRun& run_ = sections_.run();
  const SamplesOfRows samples_;
};

// Of the wanted methods whose level differs between processes. To be called
// before this process makes a context: the others find the GPUs unused.
SamplesOfRows measure_in_processes(const Options& options, char** argv,
                                   LineWriter& out) {
  bool wanted = false, clamped = false;
  for (const MethodEntry& method : all_methods()) {
    wanted |= method.drawn_by_process && options.wants(method.name);
  }
  SamplesOfRows samples;
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
    if (is_record(line)) {
      const Record record = parse_record(line);
      samples[record.point].add(samples_of<InterSmSample>(record.numbers),
                                record.mhz);
    } else if (line.rfind("# warning[", 0) == 0 && told.insert(line).second) {
      out.line(line);
    }
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
  info.counted += "; rounded up where processes or places share them";
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
        if (process_number() >= 0) {
          return SamplingProcess(info, options, out, blocks_per_sm).run();
        }
        InterSm(info, options, out, blocks_per_sm,
                measure_in_processes(options, argv, out))
            .run();
      });
}
