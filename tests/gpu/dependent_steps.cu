// Steps that depend on each other, with no kernel or clock of ImplicitBarrier:
// what advise.py predicts. A step checks what its neighbor stored in the step
// before, spins, and stores its own number.
//
// Under a line that names the GPU, a line for each way, shape and work:
// microseconds of a step by CUDA events, the median of five chains.
// dependent_steps_test.py compares them with advise.py. It takes 10 s.
#include <cooperative_groups.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/graphs.hpp"
#include "common/launch.hpp"
#include "common/statistics.hpp"
#include "tests/gpu/events.hpp"
#include "tests/gpu/gpu_test.hpp"

namespace syncbench::dependent_steps {
namespace {

constexpr unsigned kSteps = 400;
constexpr int kWarmUps = 2, kChains = 5;

struct Board {
  volatile unsigned* words;  // two of each block
  unsigned* wrong;           // words that were not as expected
  long long cycles;          // of a step's work
};

// Block or thread `me` of `size`, each of which has two words.
__device__ void make_step(const Board& board, volatile unsigned* words,
                          unsigned size, unsigned me, bool stores,
                          unsigned step) {
  if (stores && words[step % 2 * size + (me + 1) % size] != step) {
    atomicAdd(board.wrong, 1u);
  }
  const long long begin = clock64();
  while (clock64() - begin < board.cycles) {
  }
  if (stores) words[(step + 1) % 2 * size + me] = step + 1;
}

template <bool kEarly>
__global__ void launched(Board board, unsigned step) {
#if __CUDA_ARCH__ >= 900
  if (kEarly) {
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  }
#endif
  make_step(board, board.words, gridDim.x, blockIdx.x, threadIdx.x == 0, step);
}

__global__ void resident(Board board, unsigned steps) {
  for (unsigned step = 0; step < steps; ++step) {
    make_step(board, board.words, gridDim.x, blockIdx.x, threadIdx.x == 0,
              step);
    cooperative_groups::this_grid().sync();
  }
}

// Each thread has words, in shared memory.
__global__ void in_one_block(Board board, unsigned steps) {
  __shared__ volatile unsigned words[2 * 1024];
  words[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned step = 0; step < steps; ++step) {
    make_step(board, words, blockDim.x, threadIdx.x, true, step);
    __syncthreads();
  }
}

class Chains {
 public:
  Chains(int gpu, int blocks, int threads)
      : blocks_(blocks),
        threads_(threads),
        stream_(gpu),
        words_(gpu, 2 * blocks),
        wrong_(gpu, 1) {
    wrong_.set_to_zero();
  }

  /// Prints a line for each way.
  void measure(double work, double cycles_of_us) {
    work_ = work;
    cycles_ = static_cast<long long>(work * cycles_of_us);
    const auto stream = [&] {
      launch_all(launched<false>, launch_traditional);
    };
    const auto early = [&] { launch_all(launched<true>, launch_programmatic); };
    time("traditional_launch", stream);
    time("programmatic_launch", early);
    time_graph("graph_launch", stream);
    if (CUDART_VERSION >= 12030) time_graph("graph_programmatic", early);
    time("launch_and_wait", [&] {
      launch_all(launched<false>, [](const KernelCall& call, cudaStream_t in) {
        const cudaError_t error = launch_traditional(call, in);
        return error == cudaSuccess ? cudaStreamSynchronize(in) : error;
      });
    });
    time("steps_grid_sync",
         [&] { launch(resident, launch_cooperative, kSteps); });
    if (blocks_ == 1) {
      time("in_use_blocksync",
           [&] { launch(in_one_block, launch_traditional, kSteps); });
    }
  }

  /// What the SM does in a microsecond.
  double cycles_of_us() {
    const auto milliseconds_of = [&](long long cycles) {
      cycles_ = cycles;
      return milliseconds(
          [&] { launch(launched<false>, launch_traditional, 0); });
    };
    constexpr long long kCycles = 20000000;
    milliseconds_of(kCycles);
    const double once = milliseconds_of(kCycles);
    return kCycles / 1e3 / (milliseconds_of(2 * kCycles) - once);
  }

 private:
  using Kernel = void (*)(Board, unsigned);
  using Launch = cudaError_t (*)(const KernelCall&, cudaStream_t);

  // number: of the step, or of all
  void launch(Kernel kernel, Launch call, unsigned number) {
    Board board = {words_.get(), wrong_.get(), cycles_};
    void* arguments[] = {&board, &number};
    CUDA_CHECK(call({reinterpret_cast<const void*>(kernel), dim3(blocks_),
                     dim3(threads_), arguments},
                    stream_.get()));
  }

  void launch_all(Kernel kernel, Launch call) {
    for (unsigned step = 0; step < kSteps; ++step) launch(kernel, call, step);
  }

  template <class Run>
  void time_graph(const char* way, Run run) {
    GraphExec graph(Graph(stream_.get(), run));
    graph.upload(stream_.get());
    time(way, [&] { graph.launch(stream_.get()); });
  }

  /// Of what run() launches.
  template <class Run>
  double milliseconds(Run run) {
    words_.set_to_zero();
    return 1e-6 * events_ns([&] { return run(), cudaSuccess; }, stream_.get());
  }

  template <class Run>
  void time(const char* way, Run run) {
    std::vector<double> found;
    for (int chain = 0; chain < kWarmUps + kChains; ++chain) {
      const double ms = milliseconds(run);
      if (chain >= kWarmUps) found.push_back(1e3 * ms / kSteps);
    }
    if (wrong_.read()[0] != 0) {
      throw std::runtime_error(std::string(way) + " does not order its steps");
    }
    std::printf("%s\t%d\t%d\t%g\t%.3f\n", way, blocks_, threads_, work_,
                median_of(found));
  }

  int blocks_, threads_;
  double work_ = 0;  // us
  long long cycles_ = 0;
  Stream stream_;
  DeviceBuffer<unsigned> words_, wrong_;
};

int run() {
  std::vector<Gpu> gpus = find_gpus();
  if (launches_wait_for_kernels() || gpus[0].major < 9) return kSkipped;
  prepare_gpus(gpus);
  const int gpu = gpus[0].index, sms = gpus[0].sm_count;
  std::printf("# gpu[name=\"%s\"]\nway\tblk\tthrd\twork\tstep\n",
              gpus[0].name.c_str());
  const double cycles = Chains(gpu, 1, 32).cycles_of_us();
  for (const auto& [blocks, threads] :
       {std::pair(sms, 256), std::pair(sms, 1024), std::pair(sms / 2, 128),
        std::pair(4 * sms, 128), std::pair(16, 64), std::pair(1, 256)}) {
    Chains chains(gpu, blocks, threads);
    for (const double work : {0.5, 1.5, 4.0, 12.0, 40.0}) {
      chains.measure(work, cycles);
    }
  }
  return 0;
}

[[maybe_unused]] const bool kAdded =
    add_gpu_test("dependent_steps", [](const Words&) { return run(); });

}  // namespace
}  // namespace syncbench::dependent_steps
