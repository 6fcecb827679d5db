// BenchmarkInterSM: what synchronizing across SMs costs, by the CPU's clock.
#include <string>
#include <vector>

#include "common/measuring_run.cuh"
#include "explicit_barrier/grid_methods.cuh"
#include "explicit_barrier/grid_point.cuh"
#include "explicit_barrier/inter_sm.hpp"
#include "explicit_barrier/multi_grid_methods.cuh"

namespace syncbench {
namespace {

constexpr int kMaxBlocksPerSm = 32;
constexpr int kMaxThreads = 1024;
// Such that one GPU takes 15 s and eight take a minute.
constexpr SamplingBudget kGrid = {1.7e6, 8};
constexpr SamplingBudget kMultiGpuOnOne = {0.8e6, 1};
constexpr SamplingBudget kMultiGpu = {1.2e6, 1};

struct InterSmRow {
  std::string method;
  int gpus = 1;
  int blocks = 0;
  int threads = 0;
  InterSmResult result;
  double mhz = kNan;
};

Columns<InterSmRow> inter_sm_columns(bool stats) {
  using Row = InterSmRow;
  const auto instruction = [](const Row& r) { return r.result.instruction; };
  const Columns<Row> columns =
      Columns<Row>{
          column<Row>("method", "", "synchronization method",
                      [](const Row& r) { return r.method; }),
          column<Row>("GPUcount", "", "GPUs involved",
                      [](const Row& r) { return r.gpus; }),
          column<Row>("basicrep", "", "operations in the basic kernel",
                      [](const Row& r) { return r.result.plan.basic; }),
          column<Row>("moredrep", "", "operations in the longer kernel",
                      [](const Row& r) { return r.result.plan.more; }),
          column<Row>("blk", "blocks", "grid dimension: blocks per SM x SMs",
                      [](const Row& r) { return r.blocks; }),
          column<Row>("thrd", "threads", "block dimension",
                      [](const Row& r) { return r.threads; })} +
      mean_stddev_columns<Row>("basic_ttl", "ns", "basic kernel, launch to end",
                               [](const Row& r) { return r.result.basic; }) +
      mean_stddev_columns<Row>("more_ttl", "ns", "longer kernel, launch to end",
                               [](const Row& r) { return r.result.more; }) +
      mean_stddev_columns<Row>("avginstru", "ns", "one operation (Eq. 7, 8)",
                               instruction, 3, "avginstr");
  if (!stats) return columns;
  return columns + sample_count_column<Row>(instruction) +
         robust_columns<Row>("avginstru", "ns", instruction) +
         clock_column<Row>() +
         Columns<Row>{column<Row>("basic_launches", "",
                                  "launches a basic_ttl sample "
                                  "is the mean of",
                                  [](const Row& r) {
                                    return r.result.plan.basic_launches;
                                  }),
                      column<Row>("more_launches", "",
                                  "launches a more_ttl sample is "
                                  "the mean of",
                                  [](const Row& r) {
                                    return r.result.plan.more_launches;
                                  })};
}

class InterSm {
 public:
  InterSm(const ProgramInfo& info, const Options& options, LineWriter& out)
      : run_(info, options, out) {}

  void run() {
    grid_section();
    multi_gpu_section();
  }

 private:
  using Gpus = std::vector<Gpu>;

  void grid_section() {
    Table<InterSmRow> table(
        run_.out(),
        "grid latency: a sample of basic_ttl is the mean of 4 launches; where "
        "the barrier wanders, both samples are means of 8",
        inter_sm_columns(run_.options().stats));
    run_.begin_section();
    for_each_method(GridMethods{}, [&](auto tag) {
      using Method = typename decltype(tag)::type;
      if (!run_.options().wants(Method::kName)) return;
      const auto make = [this](int blocks, int threads) {
        return GridPoint<Method>(run_.gpu(), blocks, threads);
      };
      measure_shapes<Method>(table, 1, kGrid, make);
    });
  }

  void multi_gpu_section() {
    if (run_.options().methods.empty()) {
      for (const MethodInfo& method : missing_multi_grid_methods()) {
        run_.out().comment(method.name + ": " + method.description);
      }
    }
    Table<InterSmRow> table(run_.out(),
                            "multi-GPU latency: a sample of basic_ttl is "
                            "the mean of 4 launches",
                            inter_sm_columns(run_.options().stats));
    run_.begin_section();
    for_each_method(MultiGridMethods{}, [&](auto tag) {
      using Method = typename decltype(tag)::type;
      if (!run_.options().wants(Method::kName)) return;
      const int all = static_cast<int>(run_.gpus().size());
      for (int count = 1; count <= all; ++count) {
        const Gpus gpus(run_.gpus().begin(), run_.gpus().begin() + count);
        run_.show(std::string(Method::kName) + " on " + std::to_string(count));
        const std::string point = std::string(Method::kName) + " on " +
                                  std::to_string(count) + " GPUs";
        try {
          measure_or_skip(table, point,
                          [&] { measure_multi_gpu(table, tag, gpus); });
        } catch (const PeerGridError& error) {
          run_.warn(point + " not measured: " + error.what());
        }
      }
    });
  }

  void measure_multi_gpu(Table<InterSmRow>& table, MethodTag<PeerGridSync>,
                         const Gpus& gpus) {
    const PeerGridBarrierSet barriers(device_numbers(gpus));
    std::vector<PeerGridBarrier> parameters;
    for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
      parameters.push_back(barriers.on_rank(static_cast<int>(rank)));
    }
    const auto make = [&](int blocks, int threads) {
      return ThreadedGridPoint<PeerGridSync>(gpus, blocks, threads, parameters);
    };
    measure_shapes<PeerGridSync>(table, static_cast<int>(gpus.size()),
                                 budget_for(gpus), make);
  }

#if CUDART_VERSION < 13000
  void measure_multi_gpu(Table<InterSmRow>& table, MethodTag<MultiGridSync>,
                         const Gpus& gpus) {
    if (gpus.size() > 1) {
      table.comment_once(
          "multi_grid_sync: on several GPUs a process draws its level, up to "
          "20% apart on H200; compare several runs");
    }
    const auto make = [&](int blocks, int threads) {
      return MultiDevicePoint<MultiGridSync>(
          gpus, blocks, threads, std::vector<NoParameter>(gpus.size()));
    };
    measure_shapes<MultiGridSync>(table, static_cast<int>(gpus.size()),
                                  budget_for(gpus), make);
  }
#endif

  static SamplingBudget budget_for(const Gpus& gpus) {
    return gpus.size() == 1 ? kMultiGpuOnOne : kMultiGpu;
  }

  // Every shape that fits; make(blocks, threads) gives the point.
  template <class Method, class Make>
  void measure_shapes(Table<InterSmRow>& table, int gpus,
                      const SamplingBudget& budget, Make make) {
    if (!run_.gpu().cooperative_launch) {
      return table.skip(Method::kName, "no cooperative launch on this GPU");
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
        auto point = make(row.blocks, threads);
        row.result = measure_inter_sm(point, run_.options().samples, budget);
        row.mhz = run_.clock_mhz();
        table.row(row);
        run_.check_row(row.result.instruction);
      }
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
  info.methods = {
    method_info<GridSync>("grid_group::sync() of 1 to 32 blocks per SM"),
#if CUDART_VERSION < 13000
    method_info<MultiGridSync>(
        "multi_grid_group::sync() on 1 to gpu_count GPUs"),
#endif
    method_info<PeerGridSync>("barrier over peer memory "
                              "(peer_grid_barrier.cuh) on 1 to gpu_count GPUs")
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
  return program_main<InterSm>(program_info(), argc, argv);
}
