// Methods that do not do what they say, for machine_code_gate_test.py: each
// claims the machine code of a real one.
//
// usage: faulty_methods --machine-code ARCHITECTURE
#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>

#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench {

/// Each warp meets itself, not its block.
struct WarpsApart : Method {
  static constexpr About kAbout = {"blocksync", "", Scope::kBlock,
                                   Window::kBarrier};
  static Work work(int architecture) {
    return find_method("blocksync").work(architecture);
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    asm volatile("barrier.sync 1, 32;" ::: "memory");
    return value;
  }
};

/// Does something else as well.
struct ShuffleAndMultiply : Method {
  static constexpr About kAbout = {"tile_shufl", "", Scope::kWarp,
                                   Window::kOperation};
  static Work work(int architecture) {
    return find_method("tile_shufl").work(architecture);
  }
  __device__ unsigned operator()(unsigned value, Here<>& here) const {
    value = __shfl_down_sync(0xffffffffu, value, 1);
    return value * (value * here.group);
  }
};

/// Builds its group again each time, for all have as many threads.
struct GroupEachTime : Method {
  static constexpr About kAbout = {"coales_shufl", "", Scope::kWarp,
                                   Window::kOperation};
  static Work work(int architecture) {
    return find_method("coales_shufl").work(architecture);
  }
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return first_lanes(position);
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    const auto again = cooperative_groups::coalesced_threads();
    return group.shfl_down(value, 1 + again.size() - group.size());
  }
  cooperative_groups::coalesced_group group =
      cooperative_groups::coalesced_threads();
};

}  // namespace syncbench

int main(int argc, char** argv) {
  using namespace syncbench;
  if (argc != 3) return 2;
  std::puts(
      machine_code_of(entries<WarpsApart, ShuffleAndMultiply, GroupEachTime>(),
                      std::atoi(argv[2]))
          .c_str());
}
