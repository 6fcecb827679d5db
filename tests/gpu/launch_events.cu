// What one more launch costs, Eq. 6 with no kernel or clock of the programs:
// units of work, a kernel each, and the same in one kernel, by CUDA events. A
// kernel that stores costs more, and so do those behind it: so either none of a
// chain stores, or all do.
// Under a header, a line for each way, shape and who stores: nanoseconds.
// launch_events_test.py compares them with the rows of ImplicitBarrier.
//
// argument: one or several, the streams that it uses
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/graphs.hpp"
#include "common/launch.hpp"
#include "common/statistics.hpp"
#include "tests/gpu/events.hpp"
#include "tests/gpu/gpu_test.hpp"

namespace syncbench::implicit_barrier::launch_events {
namespace {

constexpr int kUnits = 96;
constexpr long long kUnitCycles = 20000;  // longer than a launch call
constexpr int kStreams = 10, kWarmUps = kStreams, kSamples = 10;

enum class Next { kOrdinary, kAtEntry, kAfterWait, kAtEnd };

// The units of the chain that have run are counted where `kStores`.
template <Next kNext, bool kStores>
__global__ void work(unsigned* ran, int units, long long cycles) {
#if __CUDA_ARCH__ >= 900
  if (kNext == Next::kAtEntry) {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  }
  if (kNext != Next::kOrdinary) {
    asm volatile("griddepcontrol.wait;" ::: "memory");
  }
  if (kNext == Next::kAfterWait) {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  }
#endif
  for (int unit = 0; unit < units; ++unit) {
    const long long begin = clock64();
    if (kStores && blockIdx.x == 0 && threadIdx.x == 0) ++*ran;
    while (clock64() - begin < cycles) {
    }
  }
}

struct Way {
  const char* name;  // of the same method of ImplicitBarrier
  void (*kernels[2])(unsigned*, int, long long);  // [stores]
  bool programmatic, in_graph;
};
template <Next kNext>
Way way(const char* name, bool in_graph) {
  return {name,
          {work<kNext, false>, work<kNext, true>},
          kNext != Next::kOrdinary,
          in_graph};
}
const Way kWays[] = {way<Next::kOrdinary>("traditional_launch", false),
                     way<Next::kOrdinary>("graph_launch", true),
                     way<Next::kAtEntry>("programmatic_launch", false),
                     way<Next::kAfterWait>("programmatic_after_wait", false),
                     way<Next::kAtEnd>("programmatic_at_end", false),
                     way<Next::kAtEntry>("graph_programmatic", true)};

bool can_be_had(const Way& way) {
  if (!way.programmatic) return true;
  return code_version(reinterpret_cast<const void*>(way.kernels[0])) >= 90 &&
         !(way.in_graph && CUDART_VERSION < 12030);
}

class Chains {
 public:
  Chains(int gpu, bool several, bool storing)
      : storing_(storing), ran_(gpu, 1), capturing_(gpu) {
    for (int i = 0; several && i < kStreams; ++i) streams_.emplace_back(gpu);
  }

  /// Nanoseconds of one more launch, a median.
  double measure(const Way& way, int blocks, int threads) {
    std::optional<GraphExec> graphs[2];  // a kernel each, and all in one
    for (const bool in_one : {false, true}) {
      if (!way.in_graph) break;
      graphs[in_one].emplace(Graph(capturing_.get(), [&] {
        launch(way, blocks, threads, in_one, capturing_.get());
      }));
      graphs[in_one]->upload(stream(0));
    }
    const auto took = [&](bool in_one, cudaStream_t in) {
      ran_.set_to_zero();
      CUDA_CHECK(cudaDeviceSynchronize());
      const auto start = [&] {
        if (graphs[in_one]) {
          graphs[in_one]->launch(in);
        } else {
          launch(way, blocks, threads, in_one, in);
        }
        return cudaSuccess;
      };
      const double took_ns = events_ns(start, in);
      if (storing_ && ran_.read()[0] != kUnits) {
        throw std::runtime_error("a unit did not run");
      }
      return took_ns;
    };
    std::vector<double> samples;
    for (int i = 0; i < kWarmUps + kSamples; ++i) {
      const double one = took(true, stream(i)), each = took(false, stream(i));
      if (i >= kWarmUps) samples.push_back((each - one) / (kUnits - 1));
    }
    return median_of(samples);
  }

 private:
  void launch(const Way& way, int blocks, int threads, bool in_one,
              cudaStream_t stream) {
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = way.programmatic ? 1 : 0;
    const int units = in_one ? kUnits : 1;
    for (int unit = 0; unit < kUnits; unit += units) {
      CUDA_CHECK(cudaLaunchKernelEx(&config, way.kernels[storing_], ran_.get(),
                                    units, kUnitCycles));
    }
  }

  cudaStream_t stream(int sample) const {
    return streams_.empty() ? cudaStreamLegacy
                            : streams_[sample % kStreams].get();
  }

  bool storing_;
  DeviceBuffer<unsigned> ran_;
  Stream capturing_;  // nothing runs in it
  std::vector<Stream> streams_;
};

int run(bool several) {
  if (launches_wait_for_kernels()) return kSkipped;
  std::vector<Gpu> gpus = find_gpus();
  gpus.resize(1);
  prepare_gpus(gpus);
  std::puts("way\tstoring\tblk\tthrd\tns");
  for (const bool storing : {false, true}) {
    Chains chains(gpus[0].index, several, storing);
    for (const Way& way : kWays) {
      if (!can_be_had(way)) continue;
      for (const auto& [blocks, threads] :
           {std::pair(1, 32), std::pair(gpus[0].sm_count, 1024)}) {
        std::printf("%s\t%s\t%d\t%d\t%.3f\n", way.name,
                    storing ? "all" : "none", blocks, threads,
                    chains.measure(way, blocks, threads));
      }
    }
  }
  return 0;
}

[[maybe_unused]] const bool kAdded =
    add_gpu_test("launch_events",
                 [](const Words& words) { return run(words[0] == "several"); });

}  // namespace
}  // namespace syncbench::implicit_barrier::launch_events
