// One point of the section `held queue`: a method whose launches queue up, with
// the kernels that both clocks need.
#pragma once

#include <memory>
#include <vector>

#include "implicit_barrier/held_launch.hpp"
#include "implicit_barrier/sections/fusion.hpp"

namespace syncbench {

/// Nanoseconds. `cpu` and `timer`, by the two clocks: Eq. 6 of spinning
/// kernels, of null ones the cost of one more launch. `gap`: from the end of a
/// kernel that notes it to the begin of the next; NaN of null kernels.
struct HeldSample {
  double cpu, timer, gap;
};

class HeldPoint {
 public:
  /// Kernels that spin for point.work_ns on an SM clock of `mhz`; null kernels
  /// where that is 0. `times` has room for point.repeats kernels.
  HeldPoint(const LaunchMethodInfo& method, const StreamPool& pool,
            const std::vector<Gpu>& gpus, const Point& point, double mhz,
            Gate& gate, const TimesOfKernels& times)
      : point_(point),
        times_(times),
        lead_ns_(spins() ? 1e3 * kRecordLeadCycles / mhz : 0) {
    const auto make = [&](UnitKernel kernel, int units) {
      return std::make_unique<Queue>(method, pool, gpus, gate, point, kernel,
                                     units, cycles_in(point.work_ns, mhz));
    };
    using Kernels = UnitKernels;
    single_ = spins() ? make(&Kernels::spin, 1) : make(&Kernels::null, 0);
    fused_ = make(&Kernels::spin, point.repeats);
    noting_ = make(&Kernels::noting, 1);
    noting_fused_ = make(&Kernels::noting, point.repeats);
  }

  HeldSample take() {
    const FusionSample launches =
        take_separate(single_->held, point_.repeats, point_.lead);
    const double fused = spins() ? fused_->held.run(1).total : launches.one;
    HeldSample sample = {};
    sample.cpu = (launches.separate - fused) / (point_.repeats - 1);
    const double period = period_ns();
    sample.timer = spins() ? period - unit_ns() : period;
    // unit_ns() comes last: what its kernels noted is still there.
    sample.gap = spins() ? read(point_.repeats).gap : kNan;
    return sample;
  }

 private:
  // A method bound to a kernel, launched behind held streams.
  struct Queue {
    Queue(const LaunchMethodInfo& method, const StreamPool& pool,
          const std::vector<Gpu>& gpus, Gate& gate, const Point& point,
          UnitKernel kernel, int units, long long cycles)
        : call(method.kernels->*kernel, point, units, cycles),
          queue(method.make_queued(pool, gpus, call.call())),
          held(*queue, gate) {}

    UnitCall call;
    std::unique_ptr<QueuedLaunch> queue;
    HeldLaunch held;
  };

  bool spins() const { return point_.work_ns > 0; }

  NotedTimes read(int kernels) const {
    return times_.read(point_.gpus, kernels, point_.blocks, lead_ns_);
  }

  void note(int number) {
    *noting_->call.number() = number;
    noting_->queue->launch(1);
  }

  // From begin to begin of kernels that note nothing, between two that do: to
  // write its times makes a kernel end later. One of `repeats` is such a one.
  double period_ns() {
    noting_->held.run_queue([this] {
      single_->queue->launch(point_.lead);
      note(0);
      single_->queue->launch(point_.repeats - 1);
      note(1);
    });
    return read(2).period / point_.repeats;
  }

  // Leaves the times of a series of noting kernels in memory.
  double unit_ns() {
    noting_fused_->held.run(1);
    const double all_ns = read(1).length;
    noting_->held.run_queue([this] {
      // Those before count for nothing: note(0) below overwrites their times.
      for (int i = 0; i < point_.lead; ++i) note(0);
      for (int i = 0; i < point_.repeats; ++i) note(i);
    });
    return (all_ns - read(point_.repeats).length) / (point_.repeats - 1);
  }

  Point point_;
  const TimesOfKernels& times_;
  double lead_ns_;
  std::unique_ptr<Queue> single_, fused_, noting_, noting_fused_;
};

}  // namespace syncbench
