// Sections `sleep kernel` and `sleep instruction`.
#include "implicit_barrier/sections/fusion.hpp"

#include <cmath>

#include "implicit_barrier/section.hpp"

namespace syncbench::implicit_barrier {
namespace {

class Fusion : public Section {
 protected:
  Fusion(Printing& printing, Set set, const char* name, const char* how)
      : Section(printing, set, name, how,
                {{{"wkld", "the unit, measured", Said::kMean},
                  {"ovh", "launch overhead (Eq. 6)", Said::kWarned}},
                 {work_label("the unit, ideally")}}) {}

  /// Units of kernel(units, amount_of(nanoseconds)) by the methods that are
  /// wanted(method).
  template <class Wanted, class Amount>
  static void add_all(Measuring& measuring, PointsInTurn& points,
                      Breadth breadth, Counts counts, Wanted wanted,
                      UnitKernel kernel, Amount amount_of) {
    measuring.for_each_point(breadth, counts, measuring.both_shapes(),
                             [&](const LaunchMethodInfo& method,
                                 const std::vector<Gpu>& gpus, Point point) {
                               if (!wanted(method)) return;
                               point.work_ns = unit_ns_of(point.gpus);
                               choose_lengths(method.queues(), point);
                               points.add(point, [&]() -> Take {
                                 const auto pair = std::make_shared<FusionPair>(
                                     method, measuring.pool, gpus, point,
                                     kernel, amount_of(point.work_ns));
                                 return [pair] { return pair->take(); };
                               });
                             });
  }

  static bool every_method(const LaunchMethodInfo&) { return true; }

  void print(const Point& point, const Measured& measured) override {
    const FusionResult result = fusion_result(measured, point.repeats);
    Section::print(point, measured, {result.unit, result.overhead},
                   pace_of(point, result));
    add_notes(point, result);
  }

  static Remark pace_of(const Point& point, const FusionResult& result) {
    if (result.hidden || !find_launch_method(point.method).queues()) return {};
    return {"not-hidden",
            "these launches do not hide behind the unit; m(ovh) is the pace of "
            "the host"};
  }

  virtual void add_notes(const Point& point, const FusionResult& result) = 0;
};

/// Before a process has used a second stream, or launched what takes another
/// path: from then on it launches more slowly, in all its streams.
class OneStream : public Fusion {
 public:
  explicit OneStream(Printing& printing)
      : Fusion(
            printing, Set::kToday, "one stream",
            "as sleep kernel, in the default stream, before the process uses "
            "others") {}

 private:
  void plan(Measuring& measuring, PointsInTurn& points) override {
    points.launch_into(cudaStreamLegacy);
    add_all(
        measuring, points, Breadth::kFew, Counts::kOneAndAll,
        [](const LaunchMethodInfo& method) { return !method.slows_process; },
        &UnitKernels::spin,
        [&](int unit_ns) { return cycles_in(unit_ns, points.mhz()); });
  }

  void add_notes(const Point&, const FusionResult&) override {}
  bool comes_first() const override { return true; }
};

class SleepKernel : public Fusion {
 public:
  explicit SleepKernel(Printing& printing)
      : Fusion(
            printing, Set::kStudy, "sleep kernel",
            "kernel fusion of units that spin on the SM clock, each of which "
            "hides launches") {}

 private:
  void plan(Measuring& measuring, PointsInTurn& points) override {
    add_all(measuring, points, Breadth::kFew, Counts::kEach, every_method,
            &UnitKernels::spin,
            [&](int unit_ns) { return cycles_in(unit_ns, points.mhz()); });
  }

  void add_notes(const Point& point, const FusionResult& result) override {
    printing().spin_overhead[point.key()] = result.overhead;
  }
};

/// Whether sleeps that took `taken_ns` each have ended on the grid of the
/// instruction, where there is one: on the power of two after what was asked.
bool ends_on_grid(double taken_ns) {
  constexpr double kGridNs = 1024;
  static_assert(kSleepNs < kGridNs && kGridNs < 2 * kSleepNs);
  const double off = std::abs(taken_ns / kGridNs - 1);
  return off < 0.03 && off < std::abs(taken_ns / kSleepNs - 1);
}

class SleepInstruction : public Fusion {
 public:
  explicit SleepInstruction(Printing& printing)
      : Fusion(printing, Set::kStudy, "sleep instruction",
               "kernel fusion of the study's units, sleeps of 1000 ns") {}

 private:
  void plan(Measuring& measuring, PointsInTurn& points) override {
    add_all(measuring, points, Breadth::kAll, Counts::kOneAndAll, every_method,
            &UnitKernels::sleep,
            [](int unit_ns) { return unit_ns / kSleepNs; });
  }

  bool exists(const Measuring& measuring) const override {
    return have_sleep(measuring.run.gpus());
  }

  void add_notes(const Point& point, const FusionResult& result) override {
    if (!ends_on_grid(kSleepNs * result.unit.mean / point.work_ns)) return;
    const auto spin = printing().spin_overhead.find(point.key());
    const bool known = spin != printing().spin_overhead.end();
    note(point, {"ends-on-grid",
                 "these kernels end on the grid of the sleep" +
                     (known ? "; m(ovh) with units that spin is " +
                                  format_number(spin->second.mean, 0) + " ns"
                            : "")});
  }
};

}  // namespace

Made sleep_kernel(Printing& printing) {
  return std::make_unique<SleepKernel>(printing);
}

Made sleep_instruction(Printing& printing) {
  return std::make_unique<SleepInstruction>(printing);
}

Made one_stream(Printing& printing) {
  return std::make_unique<OneStream>(printing);
}

}  // namespace syncbench::implicit_barrier
