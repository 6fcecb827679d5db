// Kernels that last, with their arguments; what the measurements launch.
#pragma once

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/launch.hpp"
#include "implicit_barrier/kernels.hpp"
#include "implicit_barrier/launch_methods.hpp"
#include "implicit_barrier/measure.hpp"
#include "implicit_barrier/points.hpp"

namespace syncbench {

/// Cycles of an SM clock of `mhz` in `nanoseconds`.
inline long long cycles_in(double nanoseconds, double mhz) {
  return std::llround(nanoseconds * mhz / 1000);
}

/// A kernel of (units, amount, number), or of fewer of these, with its
/// arguments, ready to be launched.
class UnitCall {
 public:
  template <class Kernel>
  UnitCall(Kernel kernel, const Point& point, int units, long long amount)
      : units_(units), amount_(amount) {
    call_.kernel = reinterpret_cast<const void*>(kernel);
    call_.grid = dim3(point.blocks);
    call_.block = dim3(point.threads);
    call_.arguments = arguments_;
  }
  UnitCall(const UnitCall&) = delete;
  UnitCall& operator=(const UnitCall&) = delete;

  const KernelCall& call() const { return call_; }
  int* number() { return &number_; }  ///< read at each launch

 private:
  int units_;
  long long amount_;
  int number_ = 0;
  void* arguments_[3] = {&units_, &amount_, &number_};
  KernelCall call_;
};

/// Kernel fusion of one point: launches of one unit, and of all in one kernel.
class FusionPair {
 public:
  template <class Kernel>
  FusionPair(const LaunchMethodInfo& method, const StreamPool& pool,
             const std::vector<Gpu>& gpus, const Point& point, Kernel kernel,
             long long amount)
      : repeats_(point.repeats),
        lead_(point.lead),
        one_(kernel, point, 1, amount),
        all_(kernel, point, point.repeats, amount),
        single_(method.make(pool, gpus, one_.call())),
        fused_(method.make(pool, gpus, all_.call())) {}

  void take(NamedSamples& samples) {
    take_fusion(*single_, *fused_, repeats_, lead_, samples);
  }

 private:
  int repeats_, lead_;
  UnitCall one_, all_;
  std::unique_ptr<LaunchMethod> single_, fused_;
};

/// What the sleep instruction takes on a GPU.
class SleepTimer {
 public:
  static constexpr int kSleeps = 8;

  explicit SleepTimer(const Gpu& gpu)
      : cycles_(gpu.index, 1), stream_(gpu.index) {}

  /// Mean cycles of kSleeps sleeps one after the other.
  double cycles_of(int asked_ns) {
    int sleeps = kSleeps;
    long long* address = cycles_.get();
    void* arguments[] = {&asked_ns, &sleeps, &address};
    CUDA_CHECK(
        launch_traditional({reinterpret_cast<const void*>(sleep_grid_kernel),
                            dim3(1), dim3(32), arguments},
                           stream_.get()));
    long long cycles = 0;
    CUDA_CHECK(cudaMemcpyAsync(&cycles, cycles_.get(), sizeof cycles,
                               cudaMemcpyDeviceToHost, stream_.get()));
    CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
    if (cycles <= 0) {
      throw std::runtime_error("sleeps took " + std::to_string(cycles) +
                               " cycles, which cannot be");
    }
    return static_cast<double>(cycles) / kSleeps;
  }

 private:
  DeviceBuffer<long long> cycles_;
  Stream stream_;
};

}  // namespace syncbench
