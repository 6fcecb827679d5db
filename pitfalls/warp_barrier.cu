// Does what synchronizes a warp hold its lanes, where each is in a branch of
// its own (study, Figures 17 and 18)?
#include <cooperative_groups.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "pitfalls/child.cuh"

namespace syncbench::pitfalls {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned kAllLanes = 0xffffffff;
constexpr int kLanes = 32;
constexpr int kTries = 100;

/// What a lane has seen.
struct Seen {
  long long start, end;  // of its SM's clock
  unsigned value;        // that it got from the others
};

// What the lanes synchronize by. They make it together and call it with their
// numbers, and what they get is right if it is expected(lane).

/// Control: nothing holds the lanes.
struct NoSync {
  static unsigned expected(unsigned lane) { return lane; }
  __device__ unsigned operator()(unsigned lane) const { return lane; }
};

struct TileSync : NoSync {
  cg::thread_block_tile<kLanes> tile =
      cg::tiled_partition<kLanes>(cg::this_thread_block());
  __device__ unsigned operator()(unsigned lane) const {
    tile.sync();
    return lane;
  }
};

struct CoalescedSync : NoSync {
  cg::coalesced_group group = cg::coalesced_threads();
  __device__ unsigned operator()(unsigned lane) const {
    group.sync();
    return lane;
  }
};

struct WarpSync : NoSync {
  __device__ unsigned operator()(unsigned lane) const {
    __syncwarp();
    return lane;
  }
};

struct TileShuffle : TileSync {
  static unsigned expected(unsigned lane) { return (lane + 1) % kLanes; }
  __device__ unsigned operator()(unsigned lane) const {
    return tile.shfl(lane, (lane + 1) % kLanes);
  }
};

struct CoalescedShuffle : CoalescedSync {
  static unsigned expected(unsigned lane) { return (lane + 1) % kLanes; }
  __device__ unsigned operator()(unsigned lane) const {
    return group.shfl(lane, (lane + 1) % kLanes);
  }
};

/// One bit a lane: those of odd numbers.
struct Vote {
  static unsigned expected(unsigned) { return 0xaaaaaaaa; }
  __device__ unsigned operator()(unsigned lane) const {
    return __ballot_sync(kAllLanes, lane % 2);
  }
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
/// The lanes with the same value: those of a group of four.
struct Match {
  static unsigned expected(unsigned lane) { return 0xfu << lane / 4 * 4; }
  __device__ unsigned operator()(unsigned lane) const {
    return __match_any_sync(kAllLanes, lane / 4);
  }
};
#else
struct Match : NoSync {};  // needs sm_70
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
struct Redux {
  static unsigned expected(unsigned) { return kLanes * (kLanes - 1) / 2; }
  __device__ unsigned operator()(unsigned lane) const {
    return __reduce_add_sync(kAllLanes, lane);
  }
};
#else
struct Redux : NoSync {};  // needs sm_80
#endif

// Figure 17: if (lane == 0) {...} else if (lane == 1) {...} ... The lane's
// number is a constant in its branch, so that no two branches are the same
// code.
template <int kLane, class Sync>
__device__ void branch(const Sync& sync, Seen* seen) {
  if (threadIdx.x == kLane) {
    // Not the constant: CUDA 11.8 makes a vote of one a constant too.
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    const long long start = read_sm_clock();
    const unsigned value = sync(lane);
    const long long end = read_sm_clock();
    seen[kLane] = {start, end, value};
  } else if constexpr (kLane + 1 < kLanes) {
    branch<kLane + 1>(sync, seen);
  }
}

template <class Sync>
__global__ void each_in_its_branch(Seen* seen) {
  const Sync sync{};
  branch<0>(sync, seen);
}

// Whether every end comes after every start, as a barrier has it.
bool blocked(const std::vector<Seen>& seen) {
  long long last_start = seen[0].start, first_end = seen[0].end;
  for (const Seen& lane : seen) {
    if (lane.end < lane.start) {
      throw std::runtime_error(
          "a lane ended before it began, by its SM's clock");
    }
    last_start = std::max(last_start, lane.start);
    first_end = std::min(first_end, lane.end);
  }
  return first_end >= last_start;
}

template <class Sync, int kFirstArchitecture = 0>
void check_warp_barrier(Child& child, Form) {
  child.require_architecture(kFirstArchitecture);
  const int device = child.devices()[0];
  const Stream stream(device);
  const DeviceBuffer<Seen> memory(device, kLanes);
  std::vector<Seen> seen;
  int held = 0, wrong = 0;
  for (int i = 0; i < kTries; ++i) {
    const Watchdog watchdog = child.launch();
    each_in_its_branch<Sync><<<1, kLanes, 0, stream.get()>>>(memory.get());
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    seen = memory.read();
    held += blocked(seen);
    for (int lane = 0; lane < kLanes; ++lane) {
      wrong += seen[lane].value != Sync::expected(lane);
    }
  }
  long long first = seen[0].start;
  for (const Seen& lane : seen) first = std::min(first, lane.start);
  for (int lane = 0; lane < kLanes; ++lane) {  // cycles since the first start
    child.row({std::to_string(lane), std::to_string(seen[lane].start - first),
               std::to_string(seen[lane].end - first)});
  }
  if (std::is_same_v<Sync, NoSync> && held == kTries) {
    child.wrong("each in its branch: held without a barrier");
  }
  child.result({std::to_string(held == kTries), std::to_string(kTries),
                std::to_string(held), std::to_string(wrong)});
}

[[maybe_unused]] const bool kAdded = add_cases(
    __FILE__, Section::kWarpBarrier,
    {{"no_sync", Set::kStudy, check_warp_barrier<NoSync>,
      "control: no synchronization"},
     {"tile_sync", Set::kStudy, check_warp_barrier<TileSync>,
      "sync() of a tile of 32 threads"},
     {"coales_sync", Set::kStudy, check_warp_barrier<CoalescedSync>,
      "sync() of 32 coalesced threads"},
     {"syncwarp", Set::kStudy, check_warp_barrier<WarpSync>, "__syncwarp()"},
     {"tile_shufl", Set::kStudy, check_warp_barrier<TileShuffle>,
      "shfl() of a tile of 32 threads"},
     {"coales_shufl", Set::kStudy, check_warp_barrier<CoalescedShuffle>,
      "shfl() of 32 coalesced threads"},
     {"vote_ballot", Set::kEvidence, check_warp_barrier<Vote>,
      "__ballot_sync()"},
     {"match_any", Set::kEvidence, check_warp_barrier<Match, 70>,
      "__match_any_sync()"},
     {"redux_add", Set::kEvidence, check_warp_barrier<Redux, 80>,
      "__reduce_add_sync()"}});

}  // namespace
}  // namespace syncbench::pitfalls
