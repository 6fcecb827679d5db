// Launch shapes of methods across SMs, as inter_sm.hpp measures them.
#pragma once

#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/gpu_threads.hpp"
#include "common/launch.hpp"
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench {

/// One GPU's share of a launch: the call, its arguments and their memory.
template <class Method, int kRepeats = Method::kRepeats>
class TimedCall {
 public:
  TimedCall(int device, int blocks, int threads,
            const MethodParameter<Method>& parameter = {})
      : buffer_(device,
                static_cast<std::size_t>(blocks) * ((threads + 31) / 32)),
        sink_buffer_(device, 1),
        records_(buffer_.get()),
        sink_(sink_buffer_.get()),
        parameter_(parameter) {
    call_.kernel =
        reinterpret_cast<const void*>(&timed_kernel<Method, kRepeats>);
    call_.grid = dim3(blocks);
    call_.block = dim3(threads);
    call_.arguments = arguments_;
  }
  TimedCall(const TimedCall&) = delete;  // arguments_ points into this object

  /// The call, which does `repeats` operations, all of them timed;
  /// std::invalid_argument where that is no multiple of kRepeats.
  const KernelCall& with_repeats(int repeats) {
    if (repeats % kRepeats != 0) {
      throw std::invalid_argument(std::to_string(repeats) + " repeats of " +
                                  Method::kName + " are no whole trips of " +
                                  std::to_string(kRepeats));
    }
    trips_ = repeats / kRepeats;
    first_timed_ = 0;
    return call_;
  }

  /// The call, which times the last of `trips` trips only.
  const KernelCall& with_last_of(int trips) {
    trips_ = trips;
    first_timed_ = trips - 1;
    return call_;
  }

  /// Threads of each warp that take part in methods that let the kernel choose.
  void set_active_lanes(int lanes) {
    active_lanes_ = static_cast<unsigned>(lanes);
  }

  /// Records of the last launch, one a warp, by the SMs' own clocks.
  std::vector<WarpRecord> read_records() const {
    std::vector<WarpRecord> host(buffer_.size());
    CUDA_CHECK(cudaMemcpy(host.data(), records_,
                          host.size() * sizeof(WarpRecord),
                          cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  DeviceBuffer<WarpRecord> buffer_;
  DeviceBuffer<unsigned> sink_buffer_;
  int trips_ = 0;
  int first_timed_ = 0;
  unsigned active_lanes_ = 32;
  WarpRecord* records_;
  unsigned* sink_;
  MethodParameter<Method> parameter_;
  void* arguments_[6] = {&trips_,   &first_timed_, &active_lanes_,
                         &records_, &sink_,        &parameter_};
  KernelCall call_;
};

/// A cooperative launch on one GPU, from this thread.
template <class Method, int kRepeats = Method::kRepeats>
class GridPoint {
 public:
  GridPoint(const Gpu& gpu, int blocks, int threads)
      : stream_(gpu.index), timed_(gpu.index, blocks, threads) {}

  double run(int repeats, int launches = 1) {
    const KernelCall& call = timed_.with_repeats(repeats);
    CallResult result;
    const auto start = HostClock::now();
    for (int launch = 0; launch < launches; ++launch) {
      result.note(launch_cooperative(call, stream_.get()),
                  "cooperative launch");
    }
    result.note(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
    const double total = elapsed_ns(start, HostClock::now());
    check_cuda(result.code, result.call, __FILE__, __LINE__);
    return total;
  }

  std::vector<WarpRecord> read_records() const { return timed_.read_records(); }

 private:
  Stream stream_;
  TimedCall<Method, kRepeats> timed_;
};

/// The shares of several GPUs; parameters[rank] goes to the kernel of rank.
template <class Method>
class TimedCalls {
 public:
  TimedCalls(const std::vector<Gpu>& gpus, int blocks, int threads,
             const std::vector<MethodParameter<Method>>& parameters) {
    for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
      calls_.emplace_back(gpus[rank].index, blocks, threads, parameters[rank]);
    }
  }

  std::vector<KernelCall> with_repeats(int repeats) {
    std::vector<KernelCall> calls;
    for (auto& timed : calls_) calls.push_back(timed.with_repeats(repeats));
    return calls;
  }

 private:
  std::deque<TimedCall<Method>> calls_;  // which never moves its elements
};

/// A cooperative launch on each of several GPUs, each from a thread of its own:
/// no kernel can keep another one from starting.
template <class Method>
class ThreadedGridPoint {
 public:
  ThreadedGridPoint(const std::vector<Gpu>& gpus, int blocks, int threads,
                    const std::vector<MethodParameter<Method>>& parameters)
      : threads_(gpus),
        streams_(make_streams(device_numbers(gpus))),
        timed_(gpus, blocks, threads, parameters) {
    // A kernel's first launch on a GPU may allocate memory, which waits for the
    // GPUs that can access it; one that waits for this GPU would never end. So
    // every kernel is launched once beforehand, with nothing to synchronize.
    const std::vector<KernelCall> calls = timed_.with_repeats(0);
    for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
      const DeviceGuard guard(gpus[rank].index);
      CUDA_CHECK(launch_cooperative(calls[rank], streams_[rank].get()));
      CUDA_CHECK(cudaStreamSynchronize(streams_[rank].get()));
    }
  }

  double run(int repeats, int launches = 1) {
    const std::vector<KernelCall> calls = timed_.with_repeats(repeats);
    return threads_.run([&](int rank) {
      CallResult result;
      cudaStream_t stream = streams_[rank].get();
      for (int launch = 0; launch < launches; ++launch) {
        result.note(launch_cooperative(calls[rank], stream),
                    "cooperative launch");
      }
      result.note(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
#pragma omp barrier
      return result;
    });
  }

 private:
  GpuThreads threads_;
  std::vector<Stream> streams_;
  TimedCalls<Method> timed_;
};

/// One multi-device cooperative launch on several GPUs, from this thread.
template <class Method>
class MultiDevicePoint {
 public:
  MultiDevicePoint(const std::vector<Gpu>& gpus, int blocks, int threads,
                   const std::vector<MethodParameter<Method>>& parameters)
      : streams_(make_streams(device_numbers(gpus))),
        timed_(gpus, blocks, threads, parameters),
        launch_(timed_.with_repeats(0), device_numbers(gpus),
                stream_handles(streams_)) {}

  double run(int repeats, int launches = 1) {
    timed_.with_repeats(repeats);
    const auto start = HostClock::now();
    for (int launch = 0; launch < launches; ++launch) CUDA_CHECK(launch_());
    for (const Stream& stream : streams_) {
      CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    }
    return elapsed_ns(start, HostClock::now());
  }

 private:
  std::vector<Stream> streams_;
  TimedCalls<Method> timed_;
  MultiDeviceLaunch launch_;
};

}  // namespace syncbench
