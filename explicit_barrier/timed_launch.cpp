#include "explicit_barrier/timed_launch.hpp"

#include <errno.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <utility>

#include "common/check.hpp"
#include "common/errors.hpp"
#include "common/program.hpp"
#include "common/time_limit.hpp"
#include "common/timing.hpp"
#include "explicit_barrier/sm_windows.hpp"

namespace syncbench::explicit_barrier {
namespace {

constexpr int kCheckSeconds = 60;  // of a check, which takes milliseconds
// Most threads of a grid whose operations in a row are checked, too: of larger
// ones that takes long.
constexpr int kMostThreadsInRow = 1 << 13;

/// Clusters that the current GPU holds at once; 0 of a size that it refuses.
int active_clusters(const void* kernel, int threads,
                    const LaunchAttributes& attributes) {
  const LaunchConfig config({nullptr, dim3(attributes.cluster), dim3(threads)},
                            nullptr, attributes);
  int clusters = 0;
  const cudaError_t found =
      cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
  if (found == cudaErrorInvalidClusterSize) {
    cudaGetLastError();
  } else {
    check_asked(found, "cudaOccupancyMaxActiveClusters", __FILE__, __LINE__);
  }
  return clusters;
}

}  // namespace

int blocks_that_fit(const MethodEntry& method, int in_line, int threads) {
  int blocks = 0, device = 0, major = 0, sms = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, method.kernel(in_line), threads, 0));
  const LaunchAttributes attributes = method.attributes(32);
  if (!attributes.cooperative || attributes.cluster == 0) return blocks;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor,
                                    device));
  CUDA_CHECK(
      cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  if (10 * major < method.first_architecture) return blocks;  // said elsewhere
  return std::min(blocks,
                  active_clusters(method.kernel(in_line), threads, attributes) *
                      attributes.cluster / sms);
}

TimedLaunch::PerGpu::PerGpu(int device, TimedLaunch& launch, void* argument)
    : stream(device),
      records(device, static_cast<std::size_t>(launch.shape_.blocks) *
                          ((launch.shape_.threads + 31) / 32)),
      global(device, static_cast<std::size_t>(
                         launch.method_.global_words(launch.threads()))),
      late_warps(device, launch.method_.meeting_kernel != nullptr ? 1 : 0),
      arguments{&launch.trips_.count,
                &launch.trips_.first_timed,
                &launch.shape_.group,
                &records_address,
                &results_address,
                &global_address,
                argument} {
  global.set_to_zero();
}

TimedLaunch::TimedLaunch(const MethodEntry& method,
                         const std::vector<Gpu>& gpus, const Shape& shape)
    : method_(method), gpus_(gpus), shape_(shape) {
  if (10 * gpus[0].major + gpus[0].minor < method.first_architecture) {
    throw CannotMeasure("architecture",
                        "it needs compute capability " +
                            std::to_string(method.first_architecture / 10) +
                            ".0 or later");
  }
  if (CUDART_VERSION < method.first_toolkit) {
    throw CannotMeasure("toolkit",
                        "it needs CUDA " +
                            std::to_string(method.first_toolkit / 1000) +
                            " or later to compile");
  }
  require_fit();
  host_arguments_ = method.make_arguments(device_numbers(gpus), shape.blocks);
  for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
    per_gpu_.emplace_back(gpus[rank].index, *this,
                          host_arguments_.of_rank[rank]);
  }
  if (gpus.size() > 1 && !method.multi_device) {
    threads_.emplace(gpus);
    launch_alone();
  }
  // Larger grids are for throughput; what they run has been checked in others.
  if (threads() > 1 << 20) return;
  const TimeLimit limit(
      error_line(program_invocation_short_name,
                 std::string(method.name) + ", " +
                     std::to_string(shape.blocks) + " x " +
                     std::to_string(shape.threads) +
                     ": the check before a row has not ended within " +
                     std::to_string(kCheckSeconds) + " s"),
      kCheckSeconds);
  check_results(1);
  if (threads() <= kMostThreadsInRow) check_results(method_.most_checked);
  if (method_.meeting_kernel != nullptr) check_meeting();
}

void TimedLaunch::require_fit() {
  const LaunchAttributes attributes = method_.attributes(shape_.group);
  if (attributes.cluster == 0) return;
  std::vector<const void*> kernels = method_.kernels;  // some null
  kernels.insert(kernels.end(), {method_.late_kernel, method_.meeting_kernel});
  for (const void* kernel : kernels) {
    if (kernel == nullptr) continue;
    CUDA_ASK(cudaFuncSetAttribute(
        kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  }
  if (active_clusters(method_.kernels.back(), shape_.threads, attributes) ==
      0) {
    throw CannotMeasure("does-not-fit", "no cluster of " +
                                            std::to_string(attributes.cluster) +
                                            " such blocks fits");
  }
}

void TimedLaunch::launch_alone() {
  trips_ = {0, 0};
  for (const void* kernel :
       {method_.kernel(1), method_.kernel(method_.repeats(shape_.group)),
        method_.meeting_kernel, method_.late_kernel}) {
    if (kernel == nullptr) continue;
    kernel_ = kernel;
    for (std::size_t rank = 0; rank < gpus_.size(); ++rank) {
      const DeviceGuard guard(gpus_[rank].index);
      run_alone(static_cast<int>(rank), 1);
    }
  }
}

Position position_of(const Shape& shape, unsigned index) {
  const unsigned threads = shape.threads;
  return {index % threads, threads, index / threads,
          static_cast<unsigned>(shape.blocks),
          static_cast<unsigned>(shape.group)};
}

std::vector<unsigned> expected_values(const MethodEntry& method,
                                      const Shape& shape, int operations) {
  Values before;
  for (int thread = 0; thread < shape.blocks * shape.threads; ++thread) {
    before.of_threads.push_back(start_value(position_of(shape, thread)));
  }
  for (int i = 0; i < operations; ++i) {
    Values after = before;
    for (std::size_t thread = 0; thread < after.of_threads.size(); ++thread) {
      const Position position = position_of(shape, thread);
      if (!method.takes_part(position)) continue;
      after.of_threads[thread] = method.expected(position, before);
    }
    before = std::move(after);
  }
  return before.of_threads;
}

void TimedLaunch::check_results(int operations) {
  const std::vector<unsigned> wanted =
      expected_values(method_, shape_, operations);
  std::deque<DeviceBuffer<unsigned>> results;
  for (std::size_t rank = 0; rank < gpus_.size(); ++rank) {
    results.emplace_back(gpus_[rank].index, threads());
    per_gpu_[rank].results_address = results.back().get();
  }
  run_lines(1, {operations, 0});
  records();  // which have to be possible, too
  for (std::size_t rank = 0; rank < gpus_.size(); ++rank) {
    const std::vector<unsigned> found = results[rank].read();
    for (unsigned i = 0; i < found.size(); ++i) {
      const Position position = position_of(shape_, i);
      if (!method_.takes_part(position) || !method_.has_result(position)) {
        continue;
      }
      if (operations == 1) {
        ++results_.checked;
        results_.right += found[i] == wanted[i];
      }
      if (found[i] == wanted[i] || !method_.checked) continue;
      throw std::runtime_error(
          std::string(method_.name) + " returns " + std::to_string(found[i]) +
          " in thread " + std::to_string(position.thread) + " of block " +
          std::to_string(position.block) + " after " +
          std::to_string(operations) + " operations, which should be " +
          std::to_string(wanted[i]));
    }
    per_gpu_[rank].results_address = nullptr;
    per_gpu_[rank].global.set_to_zero();  // before_check() may have written
  }
}

std::vector<LateWarps> TimedLaunch::late_in_rounds(unsigned* has_come) const {
  const int warps = (shape_.threads + 31) / 32;
  const unsigned blocks =
      blocks_that_meet(method_.scope, position_of(shape_, 0));
  std::vector<std::pair<std::size_t, int>> that_meet;  // GPU, LateWarps
  for (std::size_t rank = 0; rank < gpus_.size(); ++rank) {
    for (int warp = 0; warp < warps * static_cast<int>(blocks); ++warp) {
      const unsigned thread = warp / warps * shape_.threads + warp % warps * 32;
      if (method_.takes_part(position_of(shape_, thread))) {
        that_meet.emplace_back(rank, warp);
      }
    }
  }
  // The last, the first, then others in any order, alike in all runs.
  std::rotate(that_meet.begin(), that_meet.end() - 1, that_meet.end());
  const auto others = std::min<std::ptrdiff_t>(2, that_meet.size());
  std::shuffle(that_meet.begin() + others, that_meet.end(),
               std::minstd_rand(that_meet.size()));
  std::vector<LateWarps> late(gpus_.size());
  for (std::size_t rank = 0; rank < late.size(); ++rank) {
    late[rank].has_come = has_come;
    for (int round = 0; round < LateWarps::kRounds; ++round) {
      const auto& [on, warp] = that_meet[round % that_meet.size()];
      late[rank].in_round[round] = on == rank ? warp : -1;
    }
  }
  return late;
}

void TimedLaunch::check_meeting() {
  const unsigned blocks =
      blocks_that_meet(method_.scope, position_of(shape_, 0));
  const std::size_t flags =
      LateWarps::kRounds * (shape_.blocks / std::size_t{blocks});
  const auto run_with = [&](unsigned* has_come) {
    run_with_late(method_.meeting_kernel, 1, late_in_rounds(has_come));
  };
  // Where reading memory of the host takes longer than a warp is late, a faulty
  // barrier is not found.
  if (gpus_.size() == 1) {
    DeviceBuffer<unsigned> has_come(gpus_[0].index, flags);
    has_come.set_to_zero();
    run_with(has_come.get());
  } else {
    const PinnedArray<unsigned> has_come(flags);
    std::fill_n(has_come.get(), flags, 0);
    run_with(has_come.get());
  }
  for (const PerGpu& gpu : per_gpu_) {
    for (const WarpRecord& record : gpu.records.read()) {
      if (record.start == 0) continue;
      throw std::runtime_error(
          std::string(method_.name) +
          " lets a warp go on before another one has come to the barrier");
    }
  }
}

void TimedLaunch::run_with_late(const void* kernel, int count,
                                const std::vector<LateWarps>& late_warps) {
  for (std::size_t rank = 0; rank < per_gpu_.size(); ++rank) {
    PerGpu& gpu = per_gpu_[rank];
    gpu.late_warps.write({late_warps[rank]});
    gpu.results_address = reinterpret_cast<unsigned*>(gpu.late_warps.get());
  }
  kernel_ = kernel;
  trips_ = {count, kLateCycles};
  run_kernel(1);
  for (PerGpu& gpu : per_gpu_) gpu.results_address = nullptr;
}

double TimedLaunch::run_late(int count) {
  std::vector<LateWarps> late_warps(gpus_.size());
  late_warps.front().first = late_warps.back().last = true;
  run_with_late(method_.late_kernel, count, late_warps);
  unsigned cycles = 0;  // wraps, as those of the two warps do
  for (const PerGpu& gpu : per_gpu_) {
    for (const WarpRecord& record : gpu.records.read()) {
      cycles += static_cast<unsigned>(record.end - record.start);
    }
  }
  return static_cast<double>(static_cast<int>(cycles)) / count;
}

double TimedLaunch::run(int repeats, int launches) {
  const int in_line = method_.repeats(shape_.group);
  if (repeats % in_line != 0) {
    throw std::invalid_argument(std::to_string(repeats) + " repeats of " +
                                method_.name + " are no whole trips of " +
                                std::to_string(in_line));
  }
  return run_lines(in_line, {repeats / in_line, 0}, launches);
}

double TimedLaunch::run_lines(int in_line, const Trips& trips, int launches) {
  kernel_ = method_.kernel(in_line);
  trips_ = trips;
  return run_kernel(launches);
}

double TimedLaunch::run_kernel(int launches) {
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

double TimedLaunch::run_alone(int rank, int launches) {
  const auto start = HostClock::now();
  const CallResult result = run_share(rank, launches);
  const double total = elapsed_ns(start, HostClock::now());
  check_cuda(result.code, result.call, __FILE__, __LINE__);
  return total;
}

double TimedLaunch::run_threads(int launches) {
  return threads_->run([&](int rank) {
    const CallResult result = run_share(rank, launches);
#pragma omp barrier
    return result;
  });
}

double TimedLaunch::run_multi_device(int launches) {
  std::vector<KernelCall> calls;
  std::vector<cudaStream_t> streams;
  for (PerGpu& gpu : per_gpu_) {
    calls.push_back(call_of(gpu));
    streams.push_back(gpu.stream.get());
  }
  MultiDeviceLaunch launch(calls, device_numbers(gpus_), streams);
  const auto start = HostClock::now();
  for (int i = 0; i < launches; ++i) {
    multi_device_.check(launch(), __FILE__, __LINE__);
  }
  for (const cudaStream_t stream : streams) {
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  return elapsed_ns(start, HostClock::now());
}

CallResult TimedLaunch::run_share(int rank, int launches) {
  PerGpu& gpu = per_gpu_[rank];
  CallResult result;
  for (int i = 0; i < launches; ++i) {
    result.note(launch(call_of(gpu), gpu.stream.get(),
                       method_.attributes(shape_.group)),
                "cudaLaunchKernelExC");
  }
  result.note(cudaStreamSynchronize(gpu.stream.get()), "cudaStreamSynchronize");
  return result;
}

KernelCall TimedLaunch::call_of(PerGpu& gpu) const {
  return {kernel_, dim3(shape_.blocks), dim3(shape_.threads), gpu.arguments};
}

std::vector<WarpRecord> TimedLaunch::records() const {
  return of_those_that_took_part(per_gpu_[0].records.read());
}

Remark TimedLaunch::rightness() const {
  if (method_.checked) return {};
  const std::string right = std::to_string(results_.right),
                    checked = std::to_string(results_.checked);
  return {"results right=" + right + " checked=" + checked,
          "after one operation, " + right + " of " + checked +
              " results are right"};
}

}  // namespace syncbench::explicit_barrier
