// One shape of a method, ready to be launched: its kernels' memory, arguments
// and streams, on one GPU or on several.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/gpu_threads.hpp"
#include "common/launch.hpp"
#include "common/table.hpp"
#include "explicit_barrier/arguments.hpp"
#include "explicit_barrier/method_entry.hpp"

namespace syncbench::explicit_barrier {

/// Of the results of one operation.
struct Rightness {
  unsigned right = 0, checked = 0;
};

/// Cycles by which a warp is late: until then all others are at the barrier.
inline constexpr int kLateCycles = 20000;

class TimedLaunch {
 public:
  /// On `gpus`, the first of which is current. CannotMeasure where they cannot
  /// run this; std::runtime_error where operations have a wrong result, or
  /// one of a barrier does not wait for all.
  TimedLaunch(const MethodEntry& method, const std::vector<Gpu>& gpus,
              const Shape& shape);
  TimedLaunch(const TimedLaunch&) = delete;

  /// Nanoseconds by the CPU's clock from before the first to after the end of
  /// the last of `launches` launches, in one queue, of a kernel that makes
  /// `trips` round a straight line of `in_line` operations.
  double run_lines(int in_line, const Trips& trips, int launches = 1);

  /// The same of a kernel that makes `repeats` operations, all of them timed, a
  /// multiple of the straight line that the method asks for.
  double run(int repeats, int launches = 1);

  /// Mean cycles, of `count` operations to which one warp comes kLateCycles
  /// late, from then until another one is out. By the method's late_kernel.
  double run_late(int count);

  /// Records of the last launch on the first GPU, of the warps that took part.
  /// std::runtime_error where they cannot be.
  std::vector<WarpRecord> records() const;

  /// All records of the last launch on the first GPU, in its memory.
  const DeviceBuffer<WarpRecord>& device_records() const {
    return per_gpu_[0].records;
  }

  /// What the kernel of GPU `rank` gets as the method's argument.
  void* argument(int rank) const { return host_arguments_.of_rank.at(rank); }

  /// How many results of one operation are right, and a remark on it; none for
  /// a method whose must be.
  const Rightness& right_results() const { return results_; }
  Remark rightness() const;

  int device() const { return gpus_[0].index; }
  const MethodEntry& method() const { return method_; }
  const Shape& shape() const { return shape_; }

 private:
  // A GPU's part: memory, stream and arguments, which point into it.
  struct PerGpu {
    PerGpu(int device, TimedLaunch& launch, void* argument);
    PerGpu(const PerGpu&) = delete;

    Stream stream;
    DeviceBuffer<WarpRecord> records;
    DeviceBuffer<unsigned long long> global;
    // Not in host memory: once a kernel has read that, fences take longer.
    DeviceBuffer<LateWarps> late_warps;
    WarpRecord* records_address = records.get();
    unsigned* results_address = nullptr;
    unsigned long long* global_address = global.get();
    void* arguments[7];
  };

  long long threads() const {
    return static_cast<long long>(shape_.blocks) * shape_.threads;
  }

  // Launches kernel_ on all GPUs, as run_lines() does.
  double run_kernel(int launches);

  KernelCall call_of(PerGpu& gpu) const;
  CallResult run_share(int rank, int launches);
  double run_alone(int rank, int launches);
  double run_threads(int launches);
  double run_multi_device(int launches);

  // A kernel's first launch on a GPU may allocate memory, which waits for the
  // GPUs that can access it; one that waits for this GPU would never end. So
  // each is launched once beforehand, with nothing to synchronize.
  void launch_alone();

  // CannotMeasure where no cluster of this shape fits on the GPU.
  void require_fit();
  // Launches late_kernel or meeting_kernel, with these of each GPU.
  void run_with_late(const void* kernel, int count,
                     const std::vector<LateWarps>& late_warps);
  // Makes so many operations and compares what the last returns in each thread.
  void check_results(int operations);
  // Lets a warp come late to each of some barriers: no other may be out before.
  void check_meeting();
  // Of each GPU, the warps that come late to check_meeting().
  std::vector<LateWarps> late_in_rounds(unsigned* has_come) const;

  MethodEntry method_;
  std::vector<Gpu> gpus_;
  Shape shape_;
  Trips trips_ = {};
  const void* kernel_ = nullptr;
  Arguments host_arguments_;
  Rightness results_;
  AskedApi multi_device_{MultiDeviceLaunch::kApi};
  std::deque<PerGpu> per_gpu_;  // which never moves its elements
  std::optional<GpuThreads> threads_;
};

/// Where thread `index` of a grid is, one block behind the other.
Position position_of(const Shape& shape, unsigned index);

/// What each thread of a GPU has after so many operations in a row.
std::vector<unsigned> expected_values(const MethodEntry& method,
                                      const Shape& shape, int operations);

/// Most blocks of `threads` threads of a method's kernels that one SM of the
/// current GPU holds at once; of a cooperative launch in clusters, the mean of
/// all SMs.
int blocks_that_fit(const MethodEntry& method, int in_line, int threads);

}  // namespace syncbench::explicit_barrier
