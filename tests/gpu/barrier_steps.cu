// The steps that barriers of blocks are made of, with no kernel, memory
// operation or clock of BenchmarkInterSM, which times them by the CPU's clock
// and two lengths. Here one launch is enough: each block reads the clock of its
// SM round many steps, the slowest block counts, and a long span of the GPU's
// timer tells how long a cycle is.
//
// Under a header, a line for each step and shape: nanoseconds of one step, the
// median over places of memory, the least and the most of them, and the clock.
// barrier_steps_test.py compares them with the rows of BenchmarkInterSM.
//
// No wait takes longer than 2 s: a block gives up, and the program ends with an
// error.
#define _CCCL_ATOMIC_UNSAFE_AUTOMATIC_STORAGE  // no word is a local variable
#include <algorithm>
#include <cstdio>
#include <cuda/atomic>
#include <deque>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/launch.hpp"
#include "common/peer_access.hpp"
#include "common/statistics.hpp"
#include "tests/gpu/gpu_test.hpp"

namespace syncbench {
namespace {

using Word = unsigned long long;

constexpr int kApart = 32;                         // words: 256 bytes
constexpr long long kPatienceCycles = 4000000000;  // 2 s
constexpr long long kGaveUp = -1;
constexpr int kPlaces = 15;  // latency depends on where words lie
constexpr int kPeerPlaces = 45;
constexpr int kWarmUps = 64, kTrips = 1024;
constexpr int kUses = 16384;  // of one word, by the blocks of an SM together

// Not clock64(), which compilers may read before a wait has ended.
__device__ long long sm_cycles() {
  long long cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}
__device__ long long timer_ns() {
  long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
  return ns;
}

// Who plays in a launch. Blocks from 0 on begin, one for each pair; those
// behind them answer. A word lies where it is awaited.
struct Pairs {
  Word *of_first, *of_second;  // kApart words for each pair
  int firsts, seconds;         // blocks of this launch
};

template <cuda::thread_scope kScope, bool kOrdered>
struct Messages {
  static __device__ void send(Word& to, Word number) {
    cuda::atomic_ref<Word, kScope>(to).store(
        number,
        kOrdered ? cuda::memory_order_release : cuda::memory_order_relaxed);
  }
  // Until the word is `number`; false if that takes too long from `start` on.
  // The clock is read rarely, so that polls follow each other closely.
  static __device__ bool await(Word& word, Word number, long long start) {
    do {
#pragma unroll 1
      for (int polls = 0; polls < 256; ++polls) {
        if (poll(word) >= number) return true;
      }
    } while (sm_cycles() - start < kPatienceCycles);
    return false;
  }
  static __device__ Word poll(Word& word) {
    return cuda::atomic_ref<Word, kScope>(word).load(
        kOrdered ? cuda::memory_order_acquire : cuda::memory_order_relaxed);
  }
};

// Words there and back, so many times after some that warm up. Cycles of each
// block that plays.
template <cuda::thread_scope kScope, bool kOrdered>
__global__ void play(Pairs pairs, int warm_ups, int trips, long long* cycles) {
  using Message = Messages<kScope, kOrdered>;
  const int block = blockIdx.x;
  const bool begins = block < pairs.firsts;
  const int pair = begins ? block : block - pairs.firsts;
  if (threadIdx.x > 0 || (!begins && pair >= pairs.seconds)) return;
  Word* const first = pairs.of_first + kApart * pair;
  Word* const second = pairs.of_second + kApart * pair;
  const long long start = sm_cycles();
  long long begin = start;
  for (int trip = 1; trip <= warm_ups + trips; ++trip) {
    if (begins) Message::send(*second, trip);
    if (!Message::await(begins ? *first : *second, trip, start)) {
      cycles[block] = kGaveUp;
      return;
    }
    if (!begins) Message::send(*first, trip);
    if (trip == warm_ups) begin = sm_cycles();
  }
  cycles[block] = sm_cycles() - begin;
}

// A thread of each block adds to the same word, or reads it, or both in turn.
// A read ends before the next use of the word, for the address depends on it,
// and the last one before the clock is read.
template <bool kAdds, bool kReads>
__global__ void use_word(Word* word, int uses, long long* cycles) {
  if (threadIdx.x > 0) return;
  Word none = 0;  // bytes, which the compiler does not know
  const long long begin = sm_cycles();
#pragma unroll 8
  for (int i = 0; i < uses; ++i) {
    Word* const at =
        reinterpret_cast<Word*>(reinterpret_cast<char*>(word) + none);
    if (kAdds) atomicAdd(at, Word{1});
    if (!kReads) continue;
    none = Messages<cuda::thread_scope_device, false>::poll(*at);
    if (kAdds) none >>= 63;
  }
  // Behind all additions of this thread.
  if (!kReads) none = atomicAdd(word, Word{0}) >> 63;
  if (none != 0) {
    cycles[blockIdx.x] = kGaveUp;
    return;
  }
  cycles[blockIdx.x] = sm_cycles() - begin;
}

__global__ void __launch_bounds__(1024) meet(int times, long long* cycles) {
  __syncthreads();
  const long long begin = sm_cycles();
#pragma unroll 16
  for (int i = 0; i < times; ++i) __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = sm_cycles() - begin;
}

// One thread: cycles and nanoseconds of the same span.
__global__ void compare_clocks(long long least_cycles, long long* span) {
  const long long ns = timer_ns(), begin = sm_cycles();
  while (sm_cycles() - begin < least_cycles) {
  }
  span[0] = sm_cycles() - begin;
  span[1] = timer_ns() - ns;
}

// What a GPU has for these kernels.
struct Side {
  Side(int gpu, int blocks)
      : gpu(gpu),
        words_of_place(kApart * (2 * blocks + 1)),
        stream(gpu),
        words(gpu, std::size_t{kPeerPlaces} * words_of_place),
        cycles(gpu, blocks) {}

  Word* place(int number) const {
    return words.get() + std::size_t(number) * words_of_place;
  }

  // Nothing has come to this place, and no block has run.
  void clear(int number) {
    const DeviceGuard guard(gpu);
    CUDA_CHECK(cudaMemset(place(number), 0, words_of_place * sizeof(Word)));
    cycles.set_to_zero();  // when it returns, both are done
  }

  template <class... Parameters, class... Values>
  void launch(void (*kernel)(Parameters...), int blocks, int threads,
              Values... values) const {
    static_assert((std::is_same_v<Parameters, Values> && ...));
    const DeviceGuard guard(gpu);
    void* arguments[] = {&values...};
    CUDA_CHECK(launch_cooperative({reinterpret_cast<const void*>(kernel),
                                   dim3(blocks), dim3(threads), arguments},
                                  stream.get()));
  }

  void finish() const { CUDA_CHECK(cudaStreamSynchronize(stream.get())); }

  int gpu, words_of_place;
  Stream stream;
  DeviceBuffer<Word> words;
  DeviceBuffer<long long> cycles;
};

// The most cycles of the first `count` blocks, if none has given up.
double slowest(const Side& side, const std::string& step, int count) {
  const std::vector<long long> cycles = side.cycles.read();
  const auto last = cycles.begin() + count;
  const auto lost = std::count(cycles.begin(), cycles.end(), kGaveUp);
  if (lost == 0 && *std::min_element(cycles.begin(), last) > 0) {
    return static_cast<double>(*std::max_element(cycles.begin(), last));
  }
  const auto first = std::find(cycles.begin(), cycles.end(), kGaveUp);
  throw std::runtime_error(
      step + ", GPU " + std::to_string(side.gpu) + ": " + std::to_string(lost) +
      " blocks have given up, from block " +
      std::to_string(first - cycles.begin()) + " on, and " +
      std::to_string(std::count(cycles.begin(), last, 0)) + " of " +
      std::to_string(count) + " have not run");
}

class Steps {
 public:
  explicit Steps(const std::vector<Gpu>& gpus)
      : sms_(gpus[0].sm_count), span_(gpus[0].index, 2) {
    for (const Gpu& gpu : gpus) sides_.emplace_back(gpu.index, 32 * sms_);
    for (int i = 0; i < 10; ++i) read_mhz();  // until the GPU is awake
    std::puts("method\tGPUcount\tblk\tthrd\tns\tleast\tmost\tmhz");
  }

  void run() {
    constexpr auto kDevice = cuda::thread_scope_device;
    constexpr auto kSystem = cuda::thread_scope_system;
    ping_pong("ping_pong", play<kDevice, false>);
    ping_pong("ping_pong_ordered", play<kDevice, true>);
    for (const int per_sm : {1, 8, 32}) {
      one_word("one_counter", use_word<true, false>, per_sm, 1);
      one_word("one_counter_read", use_word<true, true>, per_sm, 1);
      one_word("one_word", use_word<false, true>, per_sm, 0);
    }
    for (const int threads : {32, 1024}) all_block_sync(threads);
    if (sides_.size() == 1) return;
    peer_ping_pong("ping_pong_peer", play<kSystem, false>);
    peer_ping_pong("ping_pong_peer_ordered", play<kSystem, true>);
  }

 private:
  using Play = void (*)(Pairs, int, int, long long*);
  using UseWord = void (*)(Word*, int, long long*);

  double read_mhz() {
    first().launch(compare_clocks, 1, 1, 40000000LL, span_.get());
    first().finish();
    const std::vector<long long> span = span_.read();
    return 1e3 * static_cast<double>(span[0]) / static_cast<double>(span[1]);
  }

  // A row of what take(place) returns: cycles of so many steps.
  template <class Take>
  void row(const char* step, int gpus, int blocks, int threads, int places,
           int steps, Take take) {
    take(0);
    std::vector<double> cycles;
    for (int i = 0; i < places; ++i) cycles.push_back(take(i) / steps);
    const double mhz = read_mhz(), median = median_of(cycles);
    const auto [least, most] =
        std::minmax_element(cycles.begin(), cycles.end());
    std::printf("%s\t%d\t%d\t%d\t%.3f\t%.3f\t%.3f\t%.1f\n", step, gpus, blocks,
                threads, median * 1e3 / mhz, *least * 1e3 / mhz,
                *most * 1e3 / mhz, mhz);
    std::fflush(stdout);
  }

  void ping_pong(const char* step, Play kernel) {
    const int half = sms_ / 2;
    row(step, 1, sms_, 32, kPlaces, kTrips, [&](int place) {
      Side& side = first();
      side.clear(place);
      Word* const words = side.place(place);
      const Pairs pairs = {words, words + kApart * half, half, half};
      side.launch(kernel, sms_, 32, pairs, kWarmUps, kTrips, side.cycles.get());
      side.finish();
      return slowest(side, step, half);
    });
  }

  // A pair, of block 0 of both GPUs.
  void peer_ping_pong(const char* step, Play kernel) {
    row(step, 2, sms_, 32, kPeerPlaces, kTrips, [&](int place) {
      Side &one = sides_[0], &other = sides_[1];
      for (Side& side : sides_) {
        side.clear(place);
        // Alone, without a player: a first launch may wait for the other GPU.
        side.launch(kernel, sms_, 32, Pairs{}, 0, 0, side.cycles.get());
        side.finish();
      }
      Word* const of_one = one.place(place);
      Word* const of_other = other.place(place);
      one.launch(kernel, sms_, 32, Pairs{of_one, of_other, 1, 0}, kWarmUps,
                 kTrips, one.cycles.get());
      other.launch(kernel, sms_, 32, Pairs{of_one, of_other, 0, 1}, kWarmUps,
                   kTrips, other.cycles.get());
      for (const Side& side : sides_) side.finish();
      slowest(other, step, 1);
      return slowest(one, step, 1);
    });
  }

  // `added` by each use.
  void one_word(const char* step, UseWord kernel, int per_sm, int added) {
    int fit = 0;
    CUDA_CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, 32, 0));
    if (per_sm > fit) return;
    const int blocks = per_sm * sms_, uses = kUses / per_sm;
    row(step, 1, blocks, 32, kPlaces, uses, [&](int place) {
      Side& side = first();
      side.clear(place);
      side.launch(kernel, blocks, 32, side.place(place), uses,
                  side.cycles.get());
      side.finish();
      const double cycles = slowest(side, step, blocks);
      Word sum = 0;
      CUDA_CHECK(cudaMemcpy(&sum, side.place(place), sizeof sum,
                            cudaMemcpyDeviceToHost));
      const Word wanted = Word{1} * added * uses * blocks;
      if (sum == wanted) return cycles;
      throw std::runtime_error(std::string(step) + ": the word is " +
                               std::to_string(sum) + ", not " +
                               std::to_string(wanted));
    });
  }

  void all_block_sync(int threads) {
    row("all_block_sync", 1, sms_, threads, kPlaces, kUses, [&](int place) {
      Side& side = first();
      side.clear(place);
      side.launch(meet, sms_, threads, kUses, side.cycles.get());
      side.finish();
      return slowest(side, "all_block_sync", sms_);
    });
  }

  Side& first() { return sides_[0]; }

  int sms_;
  DeviceBuffer<long long> span_;  // cycles, nanoseconds
  std::deque<Side> sides_;        // of the first GPU, and of a second one
};

int run() {
  if (launches_wait_for_kernels()) return kSkipped;
  std::vector<Gpu> gpus = find_gpus();
  prepare_gpus(gpus);
  if (!gpus[0].cooperative_launch ||
      code_version(reinterpret_cast<const void*>(meet)) < 70) {
    return kSkipped;
  }
  gpus.resize(std::min<std::size_t>(gpus.size(), 2));
  if (gpus.size() == 2 && !enable_peer_access(device_numbers(gpus))) {
    gpus.pop_back();
  }
  Steps(gpus).run();
  return 0;
}

}  // namespace
}  // namespace syncbench

int main() { return syncbench::gpu_test_main(syncbench::run); }
