// One shape of a method, ready to be launched: its kernels' memory, arguments
// and streams, on one GPU or on several.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "common/errors.hpp"
#include "common/gpu_threads.hpp"
#include "common/launch.hpp"
#include "explicit_barrier/arguments.hpp"
#include "explicit_barrier/method_entry.hpp"

namespace syncbench {

/// Blocks and threads of a kernel on each GPU, and the group of the method.
struct Shape {
  int blocks;
  int threads;
  int group;
};

class TimedLaunch {
 public:
  /// On `gpus`, the first of which is current. CannotMeasure where they cannot
  /// run this; std::runtime_error where one operation has a wrong result.
  TimedLaunch(const MethodEntry& method, const std::vector<Gpu>& gpus,
              const Shape& shape)
      : method_(method), gpus_(gpus), shape_(shape) {
    if (10 * gpus[0].major + gpus[0].minor < method.first_architecture) {
      throw CannotMeasure("it needs compute capability " +
                          std::to_string(method.first_architecture / 10) +
                          ".0 or later");
    }
    if (CUDART_VERSION < method.first_toolkit) {
      throw CannotMeasure("it needs CUDA " +
                          std::to_string(method.first_toolkit / 1000) +
                          " or later to compile");
    }
    require_fit();
    host_arguments_ = method.make_arguments(device_numbers(gpus), shape.blocks);
    for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
      shares_.emplace_back(gpus[rank].index, *this,
                           host_arguments_.of_rank[rank]);
    }
    if (gpus.size() > 1 && !method.multi_device) {
      threads_.emplace(gpus);
      launch_alone();
    }
    check_results();
  }
  TimedLaunch(const TimedLaunch&) = delete;

  /// Nanoseconds by the CPU's clock from before the first to after the end of
  /// the last of `launches` launches, in one queue, of a kernel that makes
  /// `trips` round a straight line of `in_line` operations.
  double run_lines(int in_line, const Trips& trips, int launches = 1) {
    kernel_ = method_.kernel(in_line);
    trips_ = trips;
    try {
      return method_.multi_device ? run_multi_device(launches)
             : threads_           ? run_threads(launches)
                                  : run_alone(0, launches);
    } catch (const CudaError& error) {
      const std::optional<std::string> failure = host_arguments_.failure();
      if (!failure) throw;
      throw std::runtime_error(*failure + "\n" + error.what());
    }
  }

  /// The same of a kernel that makes `repeats` operations, all of them timed, a
  /// multiple of the straight line that the method asks for.
  double run(int repeats, int launches = 1) {
    const int in_line = method_.repeats(shape_.group);
    if (repeats % in_line != 0) {
      throw std::invalid_argument(std::to_string(repeats) + " repeats of " +
                                  method_.name + " are no whole trips of " +
                                  std::to_string(in_line));
    }
    return run_lines(in_line, {repeats / in_line, 0}, launches);
  }

  /// Records of the last launch on the first GPU, of the warps that took part.
  std::vector<WarpRecord> records() const {
    std::vector<WarpRecord> host = shares_[0].records.read();
    host.erase(std::remove_if(host.begin(), host.end(),
                              [](const WarpRecord& r) { return r.end == 0; }),
               host.end());
    return host;
  }

  /// All records of the last launch on the first GPU, in its memory.
  const DeviceBuffer<WarpRecord>& device_records() const {
    return shares_[0].records;
  }

  /// What the kernel of GPU `rank` gets as the method's argument.
  void* argument(int rank) const { return host_arguments_.of_rank.at(rank); }

  /// How many results of one operation are right, in words; empty for a method
  /// that has to be.
  const std::string& rightness() const { return rightness_; }

  int device() const { return gpus_[0].index; }
  const MethodEntry& method() const { return method_; }
  const Shape& shape() const { return shape_; }

 private:
  // A GPU's part: memory, stream and arguments, which point into it.
  struct Share {
    Share(int device, TimedLaunch& launch, void* argument)
        : stream(device),
          records(device, static_cast<std::size_t>(launch.shape_.blocks) *
                              ((launch.shape_.threads + 31) / 32)),
          global(device, static_cast<std::size_t>(
                             launch.method_.global_words(launch.threads()))),
          arguments{&launch.trips_.count,
                    &launch.trips_.first_timed,
                    &launch.shape_.group,
                    &records_address,
                    &results_address,
                    &global_address,
                    argument} {
      global.set_to_zero();
    }
    Share(const Share&) = delete;

    Stream stream;
    DeviceBuffer<WarpRecord> records;
    DeviceBuffer<unsigned long long> global;
    WarpRecord* records_address = records.get();
    unsigned* results_address = nullptr;
    unsigned long long* global_address = global.get();
    void* arguments[7];
  };

  long long threads() const {
    return static_cast<long long>(shape_.blocks) * shape_.threads;
  }

  KernelCall call_of(Share& share) const {
    return {kernel_, dim3(shape_.blocks), dim3(shape_.threads),
            share.arguments};
  }

  CallResult run_share(int rank, int launches) {
    Share& share = shares_[rank];
    CallResult result;
    for (int i = 0; i < launches; ++i) {
      result.note(launch(call_of(share), share.stream.get(),
                         method_.attributes(shape_.group)),
                  "launch");
    }
    result.note(cudaStreamSynchronize(share.stream.get()),
                "cudaStreamSynchronize");
    return result;
  }

  double run_alone(int rank, int launches) {
    const auto start = HostClock::now();
    const CallResult result = run_share(rank, launches);
    const double total = elapsed_ns(start, HostClock::now());
    check_cuda(result.code, result.call, __FILE__, __LINE__);
    return total;
  }

  double run_threads(int launches) {
    return threads_->run([&](int rank) {
      const CallResult result = run_share(rank, launches);
#pragma omp barrier
      return result;
    });
  }

  double run_multi_device(int launches) {
    std::vector<KernelCall> calls;
    std::vector<cudaStream_t> streams;
    for (Share& share : shares_) {
      calls.push_back(call_of(share));
      streams.push_back(share.stream.get());
    }
    MultiDeviceLaunch launch(calls, device_numbers(gpus_), streams);
    const auto start = HostClock::now();
    for (int i = 0; i < launches; ++i) CUDA_CHECK(launch());
    for (const cudaStream_t stream : streams) {
      CUDA_CHECK(cudaStreamSynchronize(stream));
    }
    return elapsed_ns(start, HostClock::now());
  }

  // A kernel's first launch on a GPU may allocate memory, which waits for the
  // GPUs that can access it; one that waits for this GPU would never end. So
  // each is launched once beforehand, with nothing to synchronize.
  void launch_alone() {
    trips_ = {0, 0};
    for (const int in_line : {1, method_.repeats(shape_.group)}) {
      kernel_ = method_.kernel(in_line);
      for (std::size_t rank = 0; rank < gpus_.size(); ++rank) {
        const DeviceGuard guard(gpus_[rank].index);
        run_alone(static_cast<int>(rank), 1);
      }
    }
  }

  // CannotMeasure where no cluster of this shape fits on the GPU.
  void require_fit();
  // Makes one operation and compares what it returns in each thread.
  void check_results();

  MethodEntry method_;
  std::vector<Gpu> gpus_;
  Shape shape_;
  Trips trips_ = {};
  const void* kernel_ = nullptr;
  Arguments host_arguments_;
  std::string rightness_;
  std::deque<Share> shares_;  // which never moves its elements
  std::optional<GpuThreads> threads_;
};

inline void TimedLaunch::require_fit() {
  const LaunchAttributes attributes = method_.attributes(shape_.group);
  if (attributes.cluster == 0) return;
  for (const void* kernel : method_.kernels) {
    CUDA_CHECK(cudaFuncSetAttribute(
        kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  }
  const LaunchConfig config(
      {nullptr, dim3(shape_.blocks), dim3(shape_.threads)}, nullptr,
      attributes);
  int clusters = 0;
  const cudaError_t found = cudaOccupancyMaxActiveClusters(
      &clusters, method_.kernels.back(), &config);
  if (found == cudaErrorInvalidClusterSize) {
    cudaGetLastError();
  } else {
    CUDA_CHECK(found);
  }
  if (clusters == 0) {
    throw CannotMeasure("no cluster of " + std::to_string(attributes.cluster) +
                        " such blocks fits");
  }
}

inline void TimedLaunch::check_results() {
  // Larger grids are for throughput; what they run has been checked in others.
  if (threads() > 1 << 20) return;
  std::deque<DeviceBuffer<unsigned>> results;
  for (std::size_t rank = 0; rank < gpus_.size(); ++rank) {
    results.emplace_back(gpus_[rank].index, threads());
    shares_[rank].results_address = results.back().get();
  }
  run_lines(1, {1, 0});
  unsigned checked = 0, right = 0;
  for (std::size_t rank = 0; rank < gpus_.size(); ++rank) {
    const std::vector<unsigned> found = results[rank].read();
    const unsigned block = shape_.threads, grid = shape_.blocks;
    for (unsigned i = 0; i < block * grid; ++i) {
      const Place place = {i % block, block, i / block, grid,
                           static_cast<unsigned>(shape_.group)};
      if (!method_.takes_part(place)) continue;
      const unsigned wanted = method_.expected(place);
      ++checked;
      right += found[i] == wanted;
      if (found[i] == wanted || !method_.checked) continue;
      throw std::runtime_error(std::string(method_.name) + " returns " +
                               std::to_string(found[i]) + " in thread " +
                               std::to_string(place.thread) + " of block " +
                               std::to_string(place.block) +
                               ", which should be " + std::to_string(wanted));
    }
    shares_[rank].results_address = nullptr;
  }
  if (!method_.checked) {
    rightness_ = std::string(method_.name) + ": after one operation, " +
                 std::to_string(right) + " of " + std::to_string(checked) +
                 " results are right";
  }
}

/// Most blocks of `threads` threads of a method's kernels that one SM of the
/// current GPU holds at once.
inline int blocks_that_fit(const MethodEntry& method, int in_line,
                           int threads) {
  int blocks = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, method.kernel(in_line), threads, 0));
  return blocks;
}

}  // namespace syncbench
