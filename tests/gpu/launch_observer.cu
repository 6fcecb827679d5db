// What one more launch costs, with no kernel, clock or stream of the programs:
// Eq. 6 in cycles of an SM: units of work, a kernel each, and the same with
// most units in one kernel. Units count, and note when they begin. A kernel
// that stores costs more: so either three units at each end count, or all do.
// Cycles are read in two ways:
//   observer  one thread on another SM polls the count and reads its own clock.
//             Its stream is a second one, which slows all launches of a
//             process.
//   own       The clock of an SM that ran two kernels of the chain. It is the
//             only way where a process uses the default stream alone.
// Under a header, a line for each way, shape and who counts: nanoseconds, nan
// where there is none.
// launch_observer_test.py compares them with the rows of ImplicitBarrier.
//
// argument: one or several, the streams that it uses
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/graphs.hpp"
#include "common/launch.hpp"
#include "common/statistics.hpp"
#include "tests/gpu/gpu_test.hpp"

namespace syncbench::implicit_barrier {
namespace {

constexpr int kUnits = 128, kFirst = 16, kLast = 112;
constexpr int kNoted = 3;  // from each of these two on, if not all
constexpr int kInOne = kLast - kFirst - kNoted;
constexpr long long kUnitCycles = 20000;           // longer than a launch call
constexpr long long kPatienceCycles = 4000000000;  // 2 s
constexpr int kStreams = 10, kWarmUps = kStreams, kSamples = 10;

struct Note {
  long long clock;  // of SM `sm`
  unsigned sm;
};

struct Board {
  unsigned begun;  // units that count
  Note notes[kUnits];
};

struct Sight {
  volatile int running;
  volatile long long cycles;  // 0: the count stood still
};

enum class Next { kOrdinary, kAtEntry, kAfterWait, kAtEnd };

__host__ __device__ constexpr bool counts(int unit, bool all) {
  return all || (unit >= kFirst && unit < kFirst + kNoted) ||
         (unit >= kLast && unit < kLast + kNoted);
}
// So many count before this one.
constexpr int counted_before(int unit, bool all) {
  int count = 0;
  for (int i = 0; i < unit; ++i) count += counts(i, all);
  return count;
}

template <Next kNext>
__device__ void let_next_begin() {
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
}

// Units from number `first` on, one behind the other.
template <Next kNext>
__global__ void count_units(Board* board, int first, int units,
                            long long cycles, bool all) {
  let_next_begin<kNext>();
  for (int unit = first; unit < first + units; ++unit) {
    const long long begin = clock64();
    if (blockIdx.x == 0 && threadIdx.x == 0 && counts(unit, all)) {
      unsigned sm;
      asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
      board->notes[unit] = {begin, sm};
      atomicAdd(&board->begun, 1u);
    }
    while (clock64() - begin < cycles) {
    }
  }
}

// Units that do not count, and no code that stores.
template <Next kNext>
__global__ void pass_units(Board*, int, int units, long long cycles, bool) {
  let_next_begin<kNext>();
  for (int unit = 0; unit < units; ++unit) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
  }
}

__global__ void observe(const volatile unsigned* begun, unsigned first,
                        unsigned last, Sight* sight) {
  const long long start = clock64();
  sight->running = 1;
  __threadfence_system();
  long long seen[2];
  for (int i = 0; i < 2; ++i) {
    while (*begun <= (i == 0 ? first : last)) {
      if (clock64() - start > kPatienceCycles) return;
    }
    seen[i] = clock64();
  }
  sight->cycles = seen[1] - seen[0];
}

struct Way {
  const char* name;  // of the same method of ImplicitBarrier
  using Kernel = void (*)(Board*, int, int, long long, bool);
  Kernel counting, passing;
  bool programmatic, in_graph;
};
const Way kWays[] = {{"traditional_launch", count_units<Next::kOrdinary>,
                      pass_units<Next::kOrdinary>, false, false},
                     {"graph_launch", count_units<Next::kOrdinary>,
                      pass_units<Next::kOrdinary>, false, true},
                     {"programmatic_launch", count_units<Next::kAtEntry>,
                      pass_units<Next::kAtEntry>, true, false},
                     {"programmatic_after_wait", count_units<Next::kAfterWait>,
                      pass_units<Next::kAfterWait>, true, false},
                     {"programmatic_at_end", count_units<Next::kAtEnd>,
                      pass_units<Next::kAtEnd>, true, false},
                     {"graph_programmatic", count_units<Next::kAtEntry>,
                      pass_units<Next::kAtEntry>, true, true}};

bool can_be_had(const Way& way) {
  if (!way.programmatic) return true;
  return code_version(reinterpret_cast<const void*>(way.counting)) >= 90 &&
         !(way.in_graph && CUDART_VERSION < 12030);
}

// In cycles of look(), in nanoseconds of measure().
struct Sighting {
  double observer, own;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  const std::chrono::duration<double> passed =
      std::chrono::steady_clock::now() - start;
  return passed.count();
}

class Observatory {
 public:
  Observatory(int gpu, bool observing, bool all)
      : all_(all), board_(gpu, 1), capturing_(gpu) {
    if (!observing) return;
    observing_.emplace(gpu);
    for (int i = 0; i < kStreams; ++i) streams_.emplace_back(gpu);
  }

  /// Nanoseconds of one more launch, medians.
  Sighting measure(const Way& way, int blocks, int threads) {
    std::optional<GraphExec> graphs[2];  // one by one, and many in one
    for (const bool in_one : {false, true}) {
      if (!way.in_graph) break;
      graphs[in_one].emplace(Graph(capturing_.get(), [&] {
        chain(way, blocks, threads, in_one, capturing_.get());
      }));
      graphs[in_one]->upload(stream(0));
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    const auto look_at = [&](bool in_one, cudaStream_t in) {
      return look([&] {
        if (graphs[in_one]) return graphs[in_one]->launch(in);
        chain(way, blocks, threads, in_one, in);
      });
    };
    std::vector<double> observer, own;
    for (int i = 0; i < kWarmUps + kSamples; ++i) {
      const Sighting one = look_at(true, stream(i));
      const Sighting many = look_at(false, stream(i));
      if (i < kWarmUps) continue;
      observer.push_back(many.observer - one.observer);
      const double cycles = many.own - one.own;
      if (!std::isnan(cycles)) own.push_back(cycles);
    }
    const double ns = cycle_ns() / (kInOne - 1);
    return {ns * median_of(observer),
            own.size() < kSamples / 2 ? NAN : ns * median_of(own)};
  }

 private:
  // All units, a kernel each; with in_one, a kernel has kInOne.
  void chain(const Way& way, int blocks, int threads, bool in_one,
             cudaStream_t stream) {
    for (int unit = 0; unit < kUnits;) {
      const int units = in_one && unit == kFirst + kNoted ? kInOne : 1;
      launch(way, blocks, threads, stream, unit, units, kUnitCycles);
      unit += units;
    }
  }

  void launch(const Way& way, int blocks, int threads, cudaStream_t stream,
              int first, int units, long long cycles) {
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = way.programmatic ? 1 : 0;
    CUDA_CHECK(cudaLaunchKernelEx(
        &config, counts(first, all_) ? way.counting : way.passing, board_.get(),
        first, units, cycles, all_));
  }

  cudaStream_t stream(int sample) const {
    return observing_ ? streams_[sample % kStreams].get() : cudaStreamLegacy;
  }

  // Cycles from unit kFirst to unit kLast of what run() launches.
  template <class Run>
  Sighting look(Run run) {
    board_.set_to_zero();
    sight_->running = 0;
    sight_->cycles = 0;
    if (observing_) {
      observe<<<1, 1, 0, observing_->get()>>>(
          &board_.get()->begun, counted_before(kFirst, all_),
          counted_before(kLast, all_), sight_.get());
      CUDA_CHECK(cudaGetLastError());
      const auto start = std::chrono::steady_clock::now();
      while (sight_->running == 0) {
        if (seconds_since(start) > 2) throw std::runtime_error("no observer");
      }
    }
    run();
    CUDA_CHECK(cudaDeviceSynchronize());
    const Board board = board_.read()[0];
    if (static_cast<int>(board.begun) != counted_before(kUnits, all_) ||
        (observing_ && sight_->cycles == 0)) {
      throw std::runtime_error(std::to_string(board.begun) +
                               " units have counted; the observer gave up");
    }
    return {observing_ ? static_cast<double>(sight_->cycles) : NAN,
            own_cycles(board)};
  }

  // Of one of the first units that count and its like among the last, on one
  // SM.
  static double own_cycles(const Board& board) {
    for (int i = 0; i < kNoted; ++i) {
      const Note &first = board.notes[kFirst + i],
                 &last = board.notes[kLast + i];
      if (first.sm == last.sm) {
        return static_cast<double>(last.clock - first.clock);
      }
    }
    return NAN;
  }

  double spin_ns(long long cycles) {
    const auto start = std::chrono::steady_clock::now();
    launch(kWays[0], 1, 32, stream(0), 0, 1, cycles);
    CUDA_CHECK(cudaDeviceSynchronize());
    return 1e9 * seconds_since(start);
  }

  double cycle_ns() {
    constexpr long long kCycles = 2000000;
    std::vector<double> samples;
    for (int i = 0; i < 5; ++i) {
      const double once = spin_ns(kCycles);
      samples.push_back((spin_ns(2 * kCycles) - once) / kCycles);
    }
    return median_of(samples);
  }

  bool all_;  // units count
  DeviceBuffer<Board> board_;
  PinnedValue<Sight> sight_;
  Stream capturing_;  // nothing runs in it
  std::optional<Stream> observing_;
  std::vector<Stream> streams_;
};

int run(bool observing) {
  if (launches_wait_for_kernels()) return kSkipped;
  std::vector<Gpu> gpus = find_gpus();
  prepare_gpus(gpus);
  std::puts("way\tstoring\tblk\tthrd\tobserver\town");
  for (const bool all : {false, true}) {
    Observatory observatory(gpus[0].index, observing, all);
    for (const Way& way : kWays) {
      if (!can_be_had(way)) continue;
      // Two kernels of 1,024 threads an SM run at once where the next one
      // begins early. They and the observer do not fit on one SM, so it has
      // none.
      for (const auto& [blocks, threads] :
           {std::pair(1, 32), std::pair(gpus[0].sm_count - observing, 1024)}) {
        const Sighting ns = observatory.measure(way, blocks, threads);
        std::printf("%s\t%s\t%d\t%d\t%.3f\t%.3f\n", way.name,
                    all ? "all" : "few", blocks, threads, ns.observer, ns.own);
      }
    }
  }
  return 0;
}

[[maybe_unused]] const bool kAdded =
    add_gpu_test("launch_observer",
                 [](const Words& words) { return run(words[0] == "several"); });

}  // namespace
}  // namespace syncbench::implicit_barrier
