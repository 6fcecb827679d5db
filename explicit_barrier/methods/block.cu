// Barriers of one thread block (study, section V-B).
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench {

/// __syncthreads(): all threads of the block.
struct BlockSync : Method {
  static constexpr About kAbout = {"blocksync", "__syncthreads() of a block",
                                   Scope::kBlock, Window::kBarrier};
  static constexpr Work work(int) { return {R"(BAR\.(SYNC|RED)\S* 0x0)"}; }
  static constexpr int throughput_repeats(int) { return 8192; }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    __syncthreads();
    return value;
  }
};

/// A barrier of the first threads of a block: its half, and all of it.
struct NamedBarrier : Method {
  static constexpr About kAbout = {"named_barrier",
                                   "barrier.sync of half a block and of all",
                                   Scope::kBlock, Window::kBarrier};
  static constexpr Work work(int) { return {R"(BAR\.SYNC\S* 0x1, U?R\d+)"}; }
  static constexpr bool fits(int threads) { return threads >= 64; }
  static constexpr Sizes groups(int n) { return {n / 2, n, 2}; }
  static constexpr __host__ __device__ bool takes_part(const Place& place) {
    return place.thread < place.group;
  }
  __device__ unsigned operator()(unsigned value, Here<>& here) const {
    asm volatile("barrier.sync 1, %0;" ::"r"(here.group) : "memory");
    return value;
  }
};

/// A barrier object in shared memory: every thread arrives and polls.
struct Mbarrier : Method {
  static constexpr About kAbout = {"mbarrier",
                                   "mbarrier.arrive and test_wait of a block",
                                   Scope::kBlock, Window::kBarrier};
  static constexpr Work work(int architecture) {
    return {R"((SYNCS|ATOMS)\.ARRIVE.*)", 1, architecture >= 90 ? 2 : 7};
  }
  static constexpr int kFirstArchitecture = 80;
  static constexpr int repeats(int) { return 16; }
  struct Shared {
    unsigned long long barrier;
  };
  static __device__ void start(Shared& shared, const Place& place) {
    if (place.thread > 0) return;
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(&shared)),
                 "r"(place.threads));
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) const {
    asm volatile(
        "{\n .reg .pred done;\n .reg .b64 state;\n"
        " mbarrier.arrive.shared.b64 state, [%0];\n"
        "poll:\n mbarrier.test_wait.shared.b64 done, [%0], state;\n"
        " @!done bra poll;\n}" ::"r"(
            (unsigned)__cvta_generic_to_shared(&here.shared))
        : "memory");
    return value;
  }
};

std::vector<MethodEntry> block_methods() {
  return entries<BlockSync, NamedBarrier, Mbarrier>();
}

}  // namespace syncbench
