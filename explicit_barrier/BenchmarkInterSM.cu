// BenchmarkInterSM: what synchronizing across SMs costs, by the CPU's clock.
#include <string>
#include <vector>

#include "common/measuring_run.cuh"
#include "explicit_barrier/inter_sm.hpp"
#include "explicit_barrier/rows.hpp"
#include "explicit_barrier/timed_launch.hpp"

namespace syncbench {
namespace {

constexpr int kMaxBlocksPerSm = 32;
constexpr int kMaxThreads = 1024;

class InterSm {
 public:
  InterSm(const ProgramInfo& info, const Options& options, LineWriter& out)
      : run_(info, options, out) {}

  void run() {
    Table<Row> grid(
        run_.out(),
        "grid latency: a sample is the mean of as many launches in one queue "
        "as the row says",
        inter_sm_columns(run_.options().stats));
    section(grid, Scope::kGrid);
    if (run_.options().methods.empty()) {
      for (const MethodInfo& method : missing_gpu_methods()) {
        run_.out().comment(method.name + ": " + method.description);
      }
    }
    Table<Row> gpus(run_.out(), "multi-GPU latency",
                    inter_sm_columns(run_.options().stats));
    section(gpus, Scope::kGpus);
    run_.finish();
  }

 private:
  // The rows of all methods of a scope, on every number of GPUs.
  void section(Table<Row>& table, Scope scope) {
    run_.begin_section();
    for (const MethodEntry& method : methods_of(scope, scope)) {
      if (!run_.options().wants(method.name)) continue;
      if (!run_.gpu().cooperative_launch) {
        run_.skip(table, method.name, "no cooperative launch on this GPU");
        continue;
      }
      const auto all = run_.gpus().size();
      const std::size_t most = scope == Scope::kGrid ? 1 : all;
      for (std::size_t count = method.fewest_gpus; count <= most; ++count) {
        const std::vector<Gpu> gpus(run_.gpus().begin(),
                                    run_.gpus().begin() + count);
        const std::string point =
            std::string(method.name) + " on " + std::to_string(count) + " GPUs";
        run_.show(point);
        run_.measure_or_skip(table, point,
                             [&] { rows_on(table, method, gpus); });
      }
    }
  }

  // A row for every shape that fits.
  void rows_on(Table<Row>& table, const MethodEntry& method,
               const std::vector<Gpu>& gpus) {
    warn_of_access(method, gpus);
    table.comment_once(caution_of(method));
    for (const int per_sm : run_.options().blocks_per_sm) {
      for (int threads = 32; threads <= kMaxThreads; threads *= 2) {
        const std::string point = std::string(method.name) + " on " +
                                  std::to_string(gpus.size()) + ", " +
                                  std::to_string(per_sm) + " per SM x " +
                                  std::to_string(threads);
        const int fit = blocks_that_fit(method, method.repeats(32), threads);
        if (per_sm > fit) {
          table.skip(point, "an SM holds " + std::to_string(fit) +
                                " blocks of this size");
        } else {
          run_.show(point);
          row_of(table, method, gpus, per_sm, threads);
        }
      }
    }
  }

  void row_of(Table<Row>& table, const MethodEntry& method,
              const std::vector<Gpu>& gpus, int per_sm, int threads) {
    const int count = static_cast<int>(gpus.size());
    // Grid barriers differ between launches, so a sample is several of them. So
    // many that one GPU takes half a minute.
    const SamplingPlan plan = {32, 288, method.launches(per_sm, count)};
    Row row;
    row.method = method.name;
    row.gpus = count;
    row.blocks = per_sm * gpus[0].sm_count;
    row.threads = threads;
    TimedLaunch launch(method, gpus, {row.blocks, threads, row.group});
    const InterSmResult result =
        measure_inter_sm(launch, run_.options().samples, plan);
    row.repeats = plan.basic;
    row.more = plan.more;
    row.launches = plan.launches;
    row.total = result.basic;
    row.more_total = result.more;
    row.value = result.instruction;
    row.mhz = run_.clock_mhz();
    table.row(row);
    run_.check_row(row.value);
  }

  void warn_of_access(const MethodEntry& method, const std::vector<Gpu>& gpus) {
    if (method.multi_device && method.peer_access &&
        !enable_peer_access(device_numbers(gpus))) {
      run_.warn("no peer access between these GPUs, " +
                std::string(method.name) + " is measured without");
    }
  }

  MeasuringRun run_;
};

ProgramInfo program_info() {
  ProgramInfo info;
  info.name = "BenchmarkInterSM";
  info.summary =
      "Latency of synchronizing all blocks of a GPU, or of several GPUs, as "
      "the\n"
      "difference of two kernels that synchronize basicrep and moredrep times.";
  info.takes_gpu_count = true;
  info.most_blocks_per_sm = kMaxBlocksPerSm;
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
  return program_main<InterSm>(program_info(), argc, argv);
}
