// Atomic operations.
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench {

/// atomicAdd() of every lane to the same word of shared memory.
struct SharedAdd : Method {
  static constexpr About kAbout = {"shared_add",
                                   "atomicAdd() of all lanes to one word of "
                                   "shared memory",
                                   Scope::kWarp, Window::kOperation};
  static constexpr Work work(int) {
    return {R"(ATOMS\.ADD .*)", 1, 1, Proof::kChain};
  }
  static constexpr int repeats(int) { return 16; }
  static constexpr int throughput_repeats(int) { return 512; }
  struct Shared {
    unsigned word;
  };
  static __device__ void start(Shared& shared, const Place& place) {
    if (place.thread == 0) shared.word = 5;
  }
  static unsigned expected(const Place&) { return 5; }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) const {
    return atomicAdd(&here.shared.word, value >> 31);  // 0, which is not known
  }
};

std::vector<MethodEntry> atomic_methods() { return entries<SharedAdd>(); }

}  // namespace syncbench
