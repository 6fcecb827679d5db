// Barriers of all blocks of one GPU (study, section V-C).
#include <cooperative_groups.h>

#include "explicit_barrier/methods/in_use_of_blocks.cuh"
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

/// Cooperative groups' grid barrier: every block adds to one counter (release,
/// GPU scope) and polls it (acquire).
struct GridSync : Method {
  static constexpr Set kSet = Set::kStudy;
  static constexpr Set kBetween = Set::kStudy;
  static constexpr About kAbout = {"grid_sync",
                                   "grid_group::sync() of 1 to 32 blocks per "
                                   "SM",
                                   Scope::kGrid, Window::kBarrier};
  static constexpr ExpectedCode expected_code(int architecture) {
    // The code is shortest with CUDA 13, longest with CUDA 12 for older GPUs.
    const int others = architecture >= 90 && CUDART_VERSION >= 13000      ? 28
                       : architecture < 80 && CUDART_VERSION / 1000 == 12 ? 41
                                                                          : 38;
    return {"", 1, others, Proof::kBarrier};
  }
  static constexpr int repeats(int) { return 8; }
  using Late = GridSync;
  // The cost differs between launches, so a sample is the mean of several. They
  // are in one queue: only at its end can a host that stalls matter.
  static constexpr int launches(int blocks_per_sm, int) {
    const int launches = 100 / blocks_per_sm;
    return launches < 3 ? 3 : launches > 16 ? 16 : launches;
  }
  static constexpr LaunchAttributes attributes(int) { return {true}; }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    group.sync();
    return value;
  }
  cooperative_groups::grid_group group = cooperative_groups::this_grid();
};

/// In use. A fence takes longer after stores.
template <int kWords>
struct GridInUse : InUse<GridSync, kWords, OnThisGpu> {
  static constexpr Set kSet = kWords == 1 ? Set::kToday : Set::kEvidence;
  static constexpr Set kBetween = Set::kEvidence;
  static constexpr About kAbout = {
      kWords == 1 ? "in_use_grid_sync" : "in_use_4_grid_sync",
      kWords == 1 ? "a word stored, grid_group::sync(), a neighbour's read"
                  : "the same with four words",
      Scope::kGrid, Window::kOperation};
  static constexpr ExpectedCode expected_code(int architecture) {
    ExpectedCode expected = GridSync::expected_code(architecture);
    expected.others += 24 + 8 * kWords;
    return expected;
  }
  static constexpr int launches(int, int) { return 3; }
};

std::vector<MethodEntry> grid_methods() {
  return entries<GridSync, GridInUse<1>, GridInUse<4>>();
}

}  // namespace syncbench::explicit_barrier
