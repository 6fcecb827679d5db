// Barriers of all blocks of one GPU (study, section V-C).
#include <cooperative_groups.h>

#include "explicit_barrier/methods/in_use_of_blocks.cuh"
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

/// Cooperative groups' grid barrier: every block adds to one counter (release,
/// GPU scope) and polls it (acquire).
struct GridSync : Method {
  static constexpr void describe(About& about) {
    about.barrier(Scope::kGrid, "grid_sync",
                  "grid_group::sync() of 1 to 32 blocks per SM");
    about.set = about.between = Set::kStudy;
    about.late = true;
    about.repeats = 8;
    // The cost differs between launches, so a sample is the mean of several.
    // They are in one queue: only at its end can a host that stalls matter.
    about.launches = [](int blocks_per_sm, int) {
      const int launches = 100 / blocks_per_sm;
      return launches < 3 ? 3 : launches > 16 ? 16 : launches;
    };
    about.attributes = LaunchAttributes{true};
    // The code is shortest with CUDA 13, longest with CUDA 12 for older GPUs.
    const int others = about.architecture >= 90 && CUDART_VERSION >= 13000 ? 28
                       : about.architecture < 80 && CUDART_VERSION / 1000 == 12
                           ? 41
                           : 38;
    about.code = ExpectedCode().others(others).proof(Proof::kBarrier);
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    group.sync();
    return value;
  }
  cooperative_groups::grid_group group = cooperative_groups::this_grid();
};

/// In use. A fence takes longer after stores.
template <int kWords>
struct GridInUse : InUse<GridSync, kWords, OnThisGpu> {
  static constexpr void describe(About& about) {
    GridInUse::InUse::describe(about);
    about.operation(
        Scope::kGrid, kWords == 1 ? "in_use_grid_sync" : "in_use_4_grid_sync",
        kWords == 1 ? "a word stored, grid_group::sync(), a neighbour's read"
                    : "the same with four words");
    about.set = kWords == 1 ? Set::kToday : Set::kEvidence;
    about.between = Set::kEvidence;
    about.launches = 3;
    about.code.most_others += 24 + 8 * kWords;
  }
};

std::vector<MethodEntry> list_grid() {
  return entries<GridSync, GridInUse<1>, GridInUse<4>>();
}

}  // namespace syncbench::explicit_barrier
