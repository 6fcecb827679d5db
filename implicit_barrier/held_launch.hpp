// Launches queued behind held streams, so that the pace of the CPU does not
// count. Timed by the CPU from when the host lets the streams go, and by the
// GPU's timer in kernels that note it.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/errors.hpp"
#include "common/launch.hpp"
#include "common/timing.hpp"
#include "implicit_barrier/kernels.hpp"
#include "ways/way.hpp"

namespace syncbench::implicit_barrier {

/// A flag that streams of any GPU wait for.
class Gate {
 public:
  void close() {
    flags_->open = 0;
    flags_->expired = 0;
  }

  /// What comes later in the stream waits until open().
  void hold(int device, cudaStream_t stream) {
    const DeviceGuard guard(device);
    GateFlags* flags = flags_.get();
    void* arguments[] = {&flags};
    CUDA_CHECK(launch_traditional({reinterpret_cast<const void*>(hold_kernel),
                                   dim3(1), dim3(1), arguments},
                                  stream));
  }

  void open() { flags_->open = 1; }

  /// CannotMeasure when a stream has not waited for open().
  void check() const {
    if (flags_->expired == 0) return;
    throw CannotMeasure("hold-expired",
                        "launches wait for kernels here: a held stream was not "
                        "let go within 0.5 s");
  }

 private:
  PinnedValue<GateFlags> flags_;
};

/// Holds all launches of another way until the last is queued; the total is
/// from then to their end. Few launches: a call that finds the queue full waits
/// until the hold expires.
class HeldLaunch : public ways::Way {
 public:
  HeldLaunch(ways::QueuedWay& queue, Gate& gate) : queue_(queue), gate_(gate) {}

  ways::LaunchTimes run(int count) override {
    queue_.prepare(count);
    gate_.close();
    HostClock::time_point start, launched;
    try {
      for (int gpu = 0; gpu < queue_.gpus(); ++gpu) {
        const ways::StreamPool& pool = queue_.pool();
        gate_.hold(pool.device(gpu), pool.stream(gpu));
      }
      start = HostClock::now();
      queue_.launch(count);
      launched = HostClock::now();
    } catch (...) {
      gate_.open();  // before what the kernels need is given back
      throw;
    }
    gate_.open();
    queue_.wait();
    const auto end = HostClock::now();
    gate_.check();
    return {elapsed_ns(start, launched), elapsed_ns(launched, end)};
  }

  double idle_wait_ns() override { return queue_.idle_wait_ns(); }

 private:
  ways::QueuedWay& queue_;
  Gate& gate_;
};

/// Nanoseconds by the timer of a GPU; means where there are several kernels.
struct NotedTimes {
  double length;  ///< of a kernel, from its begin to the end of its first block
  double period;  ///< from the begin of a kernel to that of the next noted one
  double gap;     ///< from the end of its last block to the begin of that one
};

/// Throws where the timer read `later` after it had read `earlier`, or 0.
inline void check_noted(long long earlier, long long later) {
  if (0 < earlier && earlier <= later) return;
  throw std::runtime_error("a kernel noted " + std::to_string(later) +
                           " ns by the GPU's timer after " +
                           std::to_string(earlier) + ", which cannot be");
}

/// From times[kernel * blocks + block]; a block ends `lead_ns` after its
/// record. Of one kernel, period and gap are nan. Throws where the times cannot
/// be.
inline NotedTimes summarize_times(const std::vector<BlockTimes>& times,
                                  int kernels, int blocks, double lead_ns) {
  double gaps = 0, lengths = 0;
  for (int kernel = 0; kernel < kernels; ++kernel) {
    const BlockTimes* noted = &times[static_cast<std::size_t>(kernel) * blocks];
    check_noted(noted[0].begin, noted[0].end);
    lengths += static_cast<double>(noted[0].end - noted[0].begin) + lead_ns;
    if (kernel + 1 == kernels) break;
    check_noted(noted[0].begin, noted[blocks].begin);
    long long end = 0;
    for (int i = 0; i < blocks; ++i) end = std::max(end, noted[i].end);
    gaps += static_cast<double>(noted[blocks].begin - end) - lead_ns;
  }
  const double steps = kernels - 1;
  const BlockTimes& last =
      times[static_cast<std::size_t>(kernels - 1) * blocks];
  const long long begins = last.begin - times[0].begin;
  return {lengths / kernels, static_cast<double>(begins) / steps, gaps / steps};
}

/// Memory of each GPU for what noting kernels note.
class TimesOfKernels {
 public:
  TimesOfKernels(const std::vector<int>& devices, int most_kernels,
                 int most_blocks) {
    for (const int device : devices) {
      const DeviceGuard guard(device);
      on_.push_back(
          {device,
           {device, static_cast<std::size_t>(most_kernels) * most_blocks},
           {device, static_cast<std::size_t>(most_blocks)}});
      const NotedKernels noted = {on_.back().times.get(),
                                  on_.back().counts.get()};
      note_times_at(noted);
    }
  }

  /// The next kernel is the first.
  void begin() {
    for (OnGpu& gpu : on_) {
      const DeviceGuard guard(gpu.device);
      gpu.counts.set_to_zero();
    }
  }

  /// Means of what `kernels` kernels noted on the first `gpus` GPUs, after
  /// `skipped`.
  NotedTimes read(int gpus, int skipped, int kernels, int blocks,
                  double lead_ns) const {
    NotedTimes mean = {0, 0, 0};
    std::vector<BlockTimes> times(static_cast<std::size_t>(kernels) * blocks);
    for (int i = 0; i < gpus; ++i) {
      const DeviceGuard guard(on_[i].device);
      CUDA_CHECK(cudaMemcpy(
          times.data(),
          on_[i].times.get() + static_cast<std::size_t>(skipped) * blocks,
          times.size() * sizeof times[0], cudaMemcpyDeviceToHost));
      const NotedTimes noted = summarize_times(times, kernels, blocks, lead_ns);
      mean.length += noted.length / gpus;
      mean.period += noted.period / gpus;
      mean.gap += noted.gap / gpus;
    }
    return mean;
  }

 private:
  struct OnGpu {
    int device;
    DeviceBuffer<BlockTimes> times;
    DeviceBuffer<unsigned> counts;
  };
  std::vector<OnGpu> on_;
};

}  // namespace syncbench::implicit_barrier
