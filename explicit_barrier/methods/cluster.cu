// Barriers of a thread block cluster, sm_90 and later.
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench {

/// All threads of a cluster arrive and wait.
struct ClusterSync : Method {
  static constexpr About kAbout = {"cluster_sync",
                                   "barrier.cluster of 2 to 16 blocks",
                                   Scope::kCluster, Window::kBarrier};
  // A block that was launched without a cluster waits at a BAR instead.
  static constexpr Work work(int) {
    return {R"(UCGABAR_WAIT|BAR\.SYNC\S* 0x0)", 1, 9, Proof::kEach, 2};
  }
  static constexpr int kFirstArchitecture = 90;
  static constexpr Sizes groups(int) { return {2, 16, 2}; }
  static constexpr LaunchAttributes attributes(int group) {
    return {false, group};
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    asm volatile(
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::
            : "memory");
    return value;
  }
};

std::vector<MethodEntry> cluster_methods() { return entries<ClusterSync>(); }

}  // namespace syncbench
