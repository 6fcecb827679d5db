// Atomic operations.
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench {

/// atomicAdd() of every lane to the same word of shared memory. Were that known
/// to the compiler, it would sum up in the warp first and add once.
struct SharedAdd : Method {
  static constexpr About kAbout = {"shared_add",
                                   "atomicAdd() of all lanes to one word of "
                                   "shared memory",
                                   Scope::kWarp, Window::kOperation};
  static constexpr Work work(int) {
    return {R"(ATOMS\.ADD .*)", 1, 2, Proof::kChain};
  }
  static constexpr int repeats(int) { return 16; }
  static constexpr int throughput_repeats(int) { return 256; }
  struct Shared {
    unsigned words[2];
  };
  static __device__ void start(Shared& shared, const Place& place) {
    if (place.thread == 0) shared.words[0] = 5;
  }
  static unsigned expected(const Place&) { return 5; }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) const {
    const unsigned zero = value >> 31;
    return atomicAdd(&here.shared.words[zero], zero);
  }
};

std::vector<MethodEntry> atomic_methods() { return entries<SharedAdd>(); }

}  // namespace syncbench
