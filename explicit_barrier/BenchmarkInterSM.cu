// BenchmarkInterSM: what synchronizing across SMs costs, by the CPU's clock.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/child_processes.hpp"
#include "common/measuring_run.cuh"
#include "common/point_records.hpp"
#include "explicit_barrier/grid_methods.cuh"
#include "explicit_barrier/grid_point.cuh"
#include "explicit_barrier/inter_sm_rows.hpp"
#include "explicit_barrier/multi_grid_methods.cuh"

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

// Sampling plans. Grid barriers draw a level a launch, whatever its length (one
// H200: grid_sync 0.6% between launches of 0.5 as of 8 ms): the mean of many
// short launches is steady, no long one is. In one queue, so that a host that
// stalls has no part in it unless at its end. So many that one GPU takes half a
// minute.
SamplingPlan plan_of(MethodTag<GridSync>, int blocks_per_sm, int /*gpus*/) {
  // Samples of about 8 ms whatever the shape: more blocks take longer.
  return {32, 288, std::clamp(100 / blocks_per_sm, 3, 32)};
}
SamplingPlan plan_of(MethodTag<PeerGridSync>, int, int gpus) {
  return {32, 288, gpus == 1 ? 8 : 4};
}
#if CUDART_VERSION < 13000
template <class Method>
SamplingPlan plan_of(MethodTag<Method>, int, int) {
  return {32, 288, 1};  // a multi-device launch waits for the one before
}
#endif

class InterSm {
 public:
  /// `samples`: what the processes that this one has started have measured.
  InterSm(const ProgramInfo& info, const Options& options, LineWriter& out,
          const SamplesOfPoints& samples = {})
      : run_(info, options, out), samples_(samples) {}

  /// In a process that has been started by another, only what that is for:
  /// lines of samples.
  void run() {
    if (process_number() >= 0) return multi_gpu_section();
    grid_section();
    multi_gpu_section();
    run_.finish();
  }

 private:
  using Gpus = std::vector<Gpu>;

  void grid_section() {
    Table<InterSmRow> table(
        run_.out(),
        "grid latency: a sample is the mean of as many launches in one queue "
        "as the row says",
        inter_sm_columns(run_.options().stats));
    run_.begin_section();
    for_each_method(GridMethods{}, [&](auto tag) {
      using Method = typename decltype(tag)::type;
      if (!run_.options().wants(Method::kName)) return;
      const auto make = [this](int blocks, int threads) {
        return GridPoint<Method>(run_.gpu(), blocks, threads);
      };
      measure_shapes<Method>(table, 1, make);
    });
  }

  void multi_gpu_section() {
    if (run_.options().methods.empty()) {
      for (const MethodInfo& method : missing_multi_grid_methods()) {
        run_.out().comment(method.name + ": " + method.description);
      }
    }
    Table<InterSmRow> table(run_.out(), "multi-GPU latency",
                            inter_sm_columns(run_.options().stats));
    run_.begin_section();
    for_each_method(MultiGridMethods{}, [&](auto tag) {
      using Method = typename decltype(tag)::type;
      if (!run_.options().wants(Method::kName)) return;
      if (process_number() >= 0 && !kDrawnByProcess<Method>) return;
      const int all = static_cast<int>(run_.gpus().size());
      for (int count = kFewestGpus<Method>; count <= all; ++count) {
        const Gpus gpus(run_.gpus().begin(), run_.gpus().begin() + count);
        const std::string point = std::string(Method::kName) + " on " +
                                  std::to_string(count) + " GPUs";
        run_.show(point);
        try {
          run_.measure_or_skip(table, point,
                               [&] { measure_multi_gpu(table, tag, gpus); });
        } catch (const peer_grid::CannotJoin& error) {
          run_.skip(table, point, error.what());
        }
      }
    });
  }

  void measure_multi_gpu(Table<InterSmRow>& table, MethodTag<PeerGridSync>,
                         const Gpus& gpus) {
    const std::optional<peer_grid::BarrierSet> barriers(device_numbers(gpus));
    const auto make = [&](int blocks, int threads) {
      return ThreadedGridPoint<PeerGridSync>(gpus, blocks, threads,
                                             barriers->for_blocks(blocks));
    };
    explain_failure(barriers, [&] {
      measure_shapes<PeerGridSync>(table, static_cast<int>(gpus.size()), make);
    });
  }

#if CUDART_VERSION < 13000
  template <class Method>
  void measure_multi_gpu(Table<InterSmRow>& table, MethodTag<Method>,
                         const Gpus& gpus) {
    const std::vector<int> devices = device_numbers(gpus);
    const bool access = Method::kPeerAccess;
    if (!access) disable_peer_access(devices);
    if (access && !enable_peer_access(devices)) {
      run_.warn("no peer access between these GPUs, " +
                std::string(Method::kName) + " is measured without");
    }
    const auto make = [&](int blocks, int threads) {
      return MultiDevicePoint<Method>(gpus, blocks, threads,
                                      std::vector<NoParameter>(gpus.size()));
    };
    measure_shapes<Method>(table, static_cast<int>(gpus.size()), make);
    enable_peer_access(devices);
  }
#endif

  // Every shape that fits; make(blocks, threads) gives the point.
  template <class Method, class Make>
  void measure_shapes(Table<InterSmRow>& table, int gpus, Make make) {
    if (!run_.gpu().cooperative_launch) {
      return run_.skip(table, Method::kName,
                       "no cooperative launch on this GPU");
    }
    table.comment_once(caution_of<Method>());
    for (const int per_sm : run_.options().blocks_per_sm) {
      for (int threads = 32; threads <= kMaxThreads; threads *= 2) {
        const std::string shape =
            std::string(Method::kName) + " on " + std::to_string(gpus) + ", " +
            std::to_string(per_sm) + " per SM x " + std::to_string(threads);
        const int fit = blocks_that_fit<Method>(threads);
        if (per_sm > fit) {
          table.skip(shape, "an SM holds " + std::to_string(fit) +
                                " blocks of this size");
          continue;
        }
        run_.show(shape);
        InterSmRow row;
        row.method = Method::kName;
        row.gpus = gpus;
        row.blocks = per_sm * run_.gpu().sm_count;
        row.threads = threads;
        row.plan = plan_of(MethodTag<Method>{}, per_sm, gpus);
        if constexpr (kDrawnByProcess<Method>) {
          row_of_processes(table, shape, row, make);
          continue;
        }
        auto point = make(row.blocks, threads);
        row.result = measure_inter_sm(point, run_.options().samples, row.plan);
        row.mhz = run_.clock_mhz();
        table.row(row);
        run_.check_row(row.result.instruction);
      }
    }
  }

  // Measures a point for the process that prints, or prints what was measured.
  template <class Make>
  void row_of_processes(Table<InterSmRow>& table, const std::string& shape,
                        InterSmRow& row, Make make) {
    const Point key = {"latency",     row.method, row.gpus,
                       row.plan.more, row.blocks, row.threads};
    if (process_number() >= 0) {
      auto point = make(row.blocks, row.threads);
      const Options& options = run_.options();
      const int samples = (options.samples - 1) / process_count(options) + 1;
      NamedSamples measured = sample_inter_sm(point, samples, row.plan);
      measured["mhz"] = {run_.clock_mhz()};
      return run_.out().line(record_text({key, measured, ""}));
    }
    const auto found = samples_.find(key.text());
    if (found == samples_.end()) {
      return run_.skip(table, shape, "no process has measured it");
    }
    row.result = inter_sm_result(found->second, row.plan);
    row.processes = static_cast<int>(found->second.at("mhz").size());
    row.mhz = summarize_processes(found->second.at("mhz")).mean;
    table.row(row);
    // Its neighbours see a row without spread: that processes differ is no
    // reason to warn.
    run_.check_row(Summary());
  }

  MeasuringRun run_;
  const SamplesOfPoints samples_;
};

// Of the methods that are wanted and whose level a process draws. To be called
// before this process makes a context: the others find the GPUs unused.
SamplesOfPoints measure_in_processes(const Options& options, char** argv,
                                     LineWriter& out) {
  bool wanted = false, clamped = false;
  for_each_method(MultiGridMethods{}, [&](auto tag) {
    using Method = typename decltype(tag)::type;
    wanted |= kDrawnByProcess<Method> && options.wants(Method::kName);
  });
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

ProgramInfo program_info() {
  ProgramInfo info;
  info.name = "BenchmarkInterSM";
  info.summary =
      "Latency of synchronizing all blocks of a GPU, or of several GPUs, as "
      "the\n"
      "difference of two kernels that synchronize basicrep and moredrep times.";
  info.takes_gpu_count = true;
  info.most_blocks_per_sm = kMaxBlocksPerSm;
  info.methods = {
    method_info<GridSync>("grid_group::sync() of 1 to 32 blocks per SM"),
#if CUDART_VERSION < 13000
    method_info<MultiGridSync>(
        "multi_grid_group::sync() on 1 to gpu_count GPUs with peer access"),
    method_info<MultiGridSyncNoPeer>(
        "multi_grid_group::sync() on 2 to gpu_count GPUs without it"),
#endif
    method_info<PeerGridSync>("barrier over peer memory "
                              "(peer_grid_barrier/) on 1 to gpu_count GPUs")
  };
  info.missing = missing_multi_grid_methods();
  info.columns =
      describe("grid latency, multi-GPU latency", inter_sm_columns(true));
  return info;
}

}  // namespace
}  // namespace syncbench

int main(int argc, char** argv) {
  using namespace syncbench;
  const ProgramInfo info = program_info();
  if (process_number() >= 0) {
    end_with_parent();
    return program_main<InterSm>(info, argc, argv);
  }
  return run_program(
      info, argc, argv, [&](const Options& options, LineWriter& out) {
        InterSm(info, options, out, measure_in_processes(options, argv, out))
            .run();
      });
}
