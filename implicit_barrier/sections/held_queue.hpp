// One point of the section `held queue`: a method whose launches queue up, with
// the kernels that both clocks need.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "implicit_barrier/held_launch.hpp"
#include "implicit_barrier/sections/fusion.hpp"

namespace syncbench::implicit_barrier {

/// Nanoseconds. `cpu` and `timer`, by the two clocks: Eq. 6 of spinning
/// kernels, of null ones the cost of one more launch. `gap`: from the end of a
/// kernel that notes it to the begin of the next; NaN of null kernels.
class HeldPoint {
 public:
  /// Kernels that spin for point.work_ns on an SM clock of `mhz`; null kernels
  /// where that is 0. `times` has room for lead and repeats of `point`.
  HeldPoint(const LaunchMethodInfo& method, const StreamPool& pool,
            const std::vector<Gpu>& gpus, const Point& point, double mhz,
            Gate& gate, TimesOfKernels& times)
      : point_(point),
        times_(times),
        lead_ns_(spins() ? 1e3 * kRecordLeadCycles / mhz : 0),
        cycles_(cycles_in(point.work_ns, mhz)),
        one_(spins() ? method.kernels->spin : method.kernels->null, point, 1,
             cycles_),
        all_(method.kernels->spin, point, point.repeats, cycles_),
        noting_one_(method.kernels->noting, point, 1, cycles_),
        noting_all_(method.kernels->noting, point, point.repeats, cycles_) {
    const auto make = [&](const std::vector<KernelCall>& calls,
                          const std::vector<int>& order = {0}) {
      ways::Steps steps;
      for (const KernelCall& call : calls) {
        steps.kinds.emplace_back(gpus.size(), call);
      }
      steps.order = order;
      return std::make_unique<Queue>(method.make(pool, gpus, steps), gate);
    };
    single_ = make({one_.call()});
    fused_ = make({all_.call()});
    // All spin, one that notes it follows the lead, another the last.
    std::vector<int> order(kernels_between(), 0);
    order[point.lead] = order.back() = 1;
    between_ = make({one_.call(), noting_one_.call()}, order);
    noting_ = make({noting_one_.call()});
    noting_fused_ = make({noting_all_.call()});
  }

  Sample take() {
    const Sample launches =
        take_separate(single_->held, point_.repeats, point_.lead);
    const double fused =
        spins() ? fused_->held.run(1).total : launches.at("one");
    Sample sample;
    sample["cpu"] = (launches.at("separate") - fused) / (point_.repeats - 1);
    const double period = period_ns();
    sample["timer"] = spins() ? period - unit_ns() : period;
    // unit_ns() comes last: what its kernels noted is still there.
    sample["gap"] = spins() ? read(point_.lead, point_.repeats).gap : kNan;
    return sample;
  }

 private:
  // Launches behind held streams.
  struct Queue {
    Queue(std::unique_ptr<Way> made, Gate& gate)
        : way(std::move(made)),
          held(dynamic_cast<ways::QueuedWay&>(*way), gate) {}

    std::unique_ptr<Way> way;
    HeldLaunch held;
  };

  int kernels_between() const { return point_.lead + point_.repeats + 1; }
  bool spins() const { return point_.work_ns > 0; }

  void note(Queue& kernels, int repeats) {
    times_.begin();
    kernels.held.run(repeats);
  }
  NotedTimes read(int skipped, int kernels) const {
    return times_.read(point_.gpus, skipped, kernels, point_.blocks, lead_ns_);
  }

  // Time per kernel. Writing times delays a kernel's end, so only the first of
  // `repeats` and the one after the last do it.
  double period_ns() {
    note(*between_, kernels_between());
    return read(0, 2).period / point_.repeats;
  }

  // Leaves the times of a series of noting kernels in memory.
  double unit_ns() {
    note(*noting_fused_, 1);
    const double all_ns = read(0, 1).length;
    note(*noting_, point_.lead + point_.repeats);
    return (all_ns - read(point_.lead, point_.repeats).length) /
           (point_.repeats - 1);
  }

  Point point_;
  TimesOfKernels& times_;
  double lead_ns_;
  long long cycles_;
  UnitCall one_, all_, noting_one_, noting_all_;
  std::unique_ptr<Queue> single_, fused_, between_, noting_, noting_fused_;
};

}  // namespace syncbench::implicit_barrier
