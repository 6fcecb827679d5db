// Semaphores in global memory, with which blocks take turns.
#include "common/bounded_wait.cuh"
#include "explicit_barrier/timed_kernel.cuh"
#include "peer_grid_barrier/scoped_memory.cuh"

namespace syncbench::explicit_barrier {

/// Blocks 2k and 2k + 1 take turns: an operation waits for the turn and hands
/// it over. It takes as long as the turn needs to the partner and back.
/// One thread of a block waits (acquire) and hands over (release), GPU scope;
/// the others meet it at a barrier once it has the turn, and once more when all
/// are done. A block without a partner has no part in it.
///
/// State: one word a pair, 256 bytes apart, that counts the turns.
template <class Meeting>
struct Semaphore : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kGrid, Meeting::kName, Meeting::kText);
    about.caution = "of the slowest pair of blocks, where all end together";
    about.first_architecture = 70;
    about.repeats = 8;
    about.attributes = LaunchAttributes{true};
    const bool tight = CUDART_VERSION >= 13000 && about.architecture >= 90;
    const int more = about.architecture >= 100 ? 1 : 0;
    about.code = ExpectedCode(Meeting::kInstruction, 2)
                     .others(tight ? Meeting::kOthers + more : 41)
                     .proof(Proof::kTurn);
  }
  static constexpr long long global_words(long long threads) { return threads; }
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return (position.block ^ 1) < position.blocks &&
           position.thread < Meeting::participants(position.threads);
  }
  __device__ explicit Semaphore(Here<>& here)
      : turns(here.global + here.block / 2 * 32) {}
  __device__ unsigned operator()(unsigned value, Here<>& here) const {
    if (here.thread == 0) {
      poll_or_trap(
          [&] { return Memory::load_acquire(turns) % 2 == here.block % 2; });
    }
    Meeting::meet(here);
    Meeting::meet(here);  // what only one block may do goes between the two
    if (here.thread == 0) Memory::add_release(turns, 1);
    return value;
  }
  using Memory = peer_grid::global::Gpu;
  unsigned long long* turns;
};

/// All threads of the block.
struct BlockMeets {
  static constexpr const char *kName = "semaphore",
                              *kText =
                                  "two blocks take turns by a semaphore "
                                  "in global memory, there and back",
                              *kInstruction = R"(BAR\.SYNC\S* 0x0)";
  static constexpr int kOthers = 28;
  static constexpr __host__ __device__ unsigned participants(unsigned threads) {
    return threads;
  }
  static __device__ void meet(const Position&) { __syncthreads(); }
};

/// The first half of the block, a warp at least; the others need not know.
struct HalfMeets {
  static constexpr const char *kName = "named_semaphore",
                              *kText =
                                  "the same of half of each block, which "
                                  "meets at a named barrier",
                              *kInstruction = R"(BAR\.SYNC\S* 0x1, U?R\d+)";
  static constexpr int kOthers = 31;
  static constexpr __host__ __device__ unsigned participants(unsigned threads) {
    return threads < 64 ? 32 : threads / 2;
  }
  static __device__ void meet(const Position& position) {
    asm volatile("barrier.sync 1, %0;" ::"r"(participants(position.threads))
                 : "memory");
  }
};

std::vector<MethodEntry> list_semaphore() {
  return entries<Semaphore<BlockMeets>, Semaphore<HalfMeets>>();
}

}  // namespace syncbench::explicit_barrier
