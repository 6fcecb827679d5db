// What happens when only a part of a group synchronizes (study, section
// VIII-B): the kernel and its launches, the same for every level.
#pragma once

#include <string>
#include <vector>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "common/errors.hpp"
#include "common/launch.hpp"
#include "common/peer_access.hpp"
#include "pitfalls/child.hpp"
#include "pitfalls/spin.cuh"

namespace syncbench::pitfalls {

constexpr int kLaunches = 10;  // of each form

/// Where the threads of all GPUs say how far they are.
struct Board {
  unsigned* arrived;  // threads that will call the barrier next
  unsigned* passed;   // threads behind it
  unsigned* early;    // of these, by path, those that came out too early
  unsigned members;   // threads that come
  Form form;
};

/// Where a thread is, and all that there are.
struct Here {
  int gpu, gpus;
};

/// What a group supplies; its own names hide these. A thread of the group makes
/// it before the missing part leaves.
struct PartialGroup {
  struct Argument {};
  __device__ PartialGroup(const Argument&, Form) {}

  static constexpr LaunchAttributes kAttributes = {};
  static constexpr int kFirstArchitecture = 60;
  /// The part alone may synchronize, in the way that sync(true) does it. Else
  /// nothing is missing in the form that is allowed.
  static constexpr bool kPartIsAllowed = false;
  /// One launch call for all GPUs.
  static constexpr bool kMultiDevice = false;
  /// It holds lanes that come by paths of their own.
  static constexpr bool kHoldsPaths = false;
  /// Threads for which comes(), of so many on each GPU.
  static constexpr int part_of(int gpus, int threads) {
    return gpus * threads / 2;
  }
  /// Called by those that come, when the missing part has left.
  __device__ void part_comes(bool /*allowed*/) {}
  // static constexpr int kBlocks, kThreads;    of the grid of each GPU
  // __device__ static bool comes(Here here);
  // __device__ void sync(bool allowed);
};

/// Whether a part of the group is missing.
template <class Group>
__host__ __device__ constexpr bool in_part(Form form) {
  return form == Form::kExits || form == Form::kStays ||
         (form == Form::kAllowed && Group::kPartIsAllowed);
}

/// Comes to the barrier after so many cycles. kPath keeps the compiler from
/// making one path of two.
template <int kPath, class Group>
__device__ void come(const Board& board, Group& group, int cycles) {
  spin(cycles);
  __threadfence_system();
  atomicAdd_system(board.arrived, 1u);
  group.sync(board.form == Form::kAllowed);
  if (read_now(board.arrived) < board.members) {
    atomicAdd_system(board.early + kPath, 1u);
  }
  __threadfence_system();
  atomicAdd_system(board.passed, 1u);
}

constexpr int kLate = 100000, kInTime = 20000;  // cycles

// The missing part is gone, or elsewhere, before the first comes; the last
// comes late, to show a barrier that does not wait. A warp waits for a late
// lane on its own path without a barrier.
template <class Group>
__global__ void part_synchronizes(Board board, Here here,
                                  typename Group::Argument argument) {
  Group group(argument, board.form);
  if (in_part<Group>(board.form) && !Group::comes(here)) {
    if (board.form == Form::kStays) {
      spin_until([&] { return read_now(board.passed) >= board.members; });
    }
    return;
  }
  group.part_comes(board.form == Form::kAllowed);
  const bool late = threadIdx.x == 0 && blockIdx.x == 0;
  if constexpr (Group::kHoldsPaths) {
    if (late) {
      come<0>(board, group, kLate);
    } else {
      come<1>(board, group, kInTime);
    }
  } else {
    come<0>(board, group, late ? kLate : kInTime);
  }
}

/// The launches of one form on all GPUs of `child`, with blocks of
/// Group::kThreads; `arguments`: one a GPU.
template <class Group>
class PartialLaunches {
 public:
  PartialLaunches(Child& child, Form form, int blocks,
                  std::vector<typename Group::Argument> arguments)
      : devices_(child.devices()),
        streams_(make_streams(devices_)),
        counts_(devices_[0], 4),
        arguments_(std::move(arguments)) {
    const int gpus = static_cast<int>(devices_.size());
    for (int gpu = 0; gpu < gpus; ++gpu) here_.push_back({gpu, gpus});
    const int threads = blocks * Group::kThreads;
    const int members =
        in_part<Group>(form) ? Group::part_of(gpus, threads) : gpus * threads;
    board_ = {counts_.get(), counts_.get() + 1, counts_.get() + 2,
              static_cast<unsigned>(members), form};
    for (int gpu = 0; gpu < gpus; ++gpu) {
      pointers_.push_back({&board_, &here_[gpu], &arguments_[gpu]});
    }
    for (int gpu = 0; gpu < gpus; ++gpu) {
      calls_.push_back(
          {reinterpret_cast<const void*>(&part_synchronizes<Group>),
           dim3(blocks), dim3(Group::kThreads), pointers_[gpu].data()});
    }
  }

  /// Launches once and waits; true where no thread came out early.
  bool run(Child& child) {
    counts_.set_to_zero();
    const Watchdog watchdog = child.launch();
    if constexpr (Group::kMultiDevice) {
      CUDA_CHECK(
          MultiDeviceLaunch(calls_, devices_, stream_handles(streams_))());
    } else {
      for (std::size_t i = 0; i < devices_.size(); ++i) {
        const DeviceGuard guard(devices_[i]);
        CUDA_CHECK(syncbench::launch(calls_[i], streams_[i].get(),
                                     Group::kAttributes));
      }
    }
    for (const Stream& stream : streams_) {
      CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    }
    const std::vector<unsigned> counts = counts_.read();
    return counts[2] + counts[3] == 0;
  }

 private:
  std::vector<int> devices_;
  std::vector<Stream> streams_;
  DeviceBuffer<unsigned> counts_;
  std::vector<typename Group::Argument> arguments_;
  std::vector<Here> here_;
  Board board_;
  std::vector<std::vector<void*>> pointers_;
  std::vector<KernelCall> calls_;
};

/// One form, kLaunches times.
template <class Group>
void run_partial(Child& child, Form form, int blocks,
                 std::vector<typename Group::Argument> arguments) {
  PartialLaunches<Group> launches(child, form, blocks, std::move(arguments));
  bool right = true;
  for (int i = 0; i < kLaunches; ++i) right &= launches.run(child);
  child.result({right ? "completed" : "wrong result"});
}

/// Throws where the GPUs cannot run the group's kernel.
template <class Group>
void require_gpus(const Child& child) {
  child.require_architecture(Group::kFirstArchitecture);
  for (const Gpu& gpu : child.gpus()) {
    if (Group::kAttributes.cooperative && !gpu.cooperative_launch) {
      throw CannotMeasure("no-cooperative-launch",
                          "no cooperative launch on this GPU");
    }
  }
  if (child.gpus().size() > 1 && !enable_peer_access(child.devices())) {
    throw CannotMeasure("no-peer-access", "no peer access between these GPUs");
  }
}

template <class Group>
void run_partial_group(Child& child, Form form) {
  require_gpus<Group>(child);
  run_partial<Group>(
      child, form, Group::kBlocks,
      std::vector<typename Group::Argument>(child.gpus().size()));
}

/// A case with both ways to be missing, and the control.
template <class Group>
Case partial_case(const char* name, const char* text, int fewest_gpus = 1) {
  return {name,
          text,
          Section::kPartialGroup,
          {Form::kExits, Form::kStays, Form::kAllowed},
          fewest_gpus,
          &run_partial_group<Group>,
          1,
          false,
          Set::kStudy};
}

}  // namespace syncbench::pitfalls
