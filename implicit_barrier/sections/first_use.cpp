// Section `first use`: what the first launch of a kernel costs where kernels
// are loaded then.
#include <cstring>
#include <string>

#include "implicit_barrier/section.hpp"

namespace syncbench::implicit_barrier {
namespace {

/// Nanoseconds from the call of a launch to the end of its kernel.
struct FirstSample {
  double module, kernel, later;
};

struct FirstRow : PointRow {
  using Sample = FirstSample;
  using PointRow::PointRow;
  FirstRow(const Point& point, const Measured<Sample>& measured)
      : PointRow(point, measured),
        module(summarize_processes(measured.of(&Sample::module))),
        kernel(summarize_processes(measured.of(&Sample::kernel))),
        later(summarize_processes(measured.of(&Sample::later))) {}
  Summary module = {}, kernel = {}, later = {};
};

Columns<FirstRow> first_columns(bool stats) {
  using Row = FirstRow;
  return quantity_columns<Row>(
      shape_columns<Row>(),
      {{"module", "launch and end of the first kernel of a module",
        &Row::module},
       {"kernel", "the same of another kernel of that module", &Row::kernel},
       {"later", "the same of the first, again", &Row::later}},
      stats);
}

class FirstUse : public SectionOf<FirstRow> {
 public:
  explicit FirstUse(Printing& printing)
      : SectionOf(printing, "first use",
                  "of empty kernels, in " + std::to_string(kLazyProcesses) +
                      " processes that load a kernel when it is first launched "
                      "(CUDA_MODULE_LOADING=LAZY, the default since CUDA 12); "
                      "a process has one first use",
                  first_columns) {}

  bool loads_lazily() const override { return true; }

 private:
  void plan(Measuring& measuring, PointsInTurn<Sample>& points) override {
    constexpr const char* kMethod = "traditional_launch";
    if (!measuring.run.options().wants(kMethod)) return;
    Point point;
    point.method = kMethod;
    point.repeats = 1;
    point.blocks = 1;
    point.threads = 32;
    points.measure_once(point, [&]() -> Sample {
      if (std::strcmp(kernel_loading(), "lazily") != 0) {
        throw CannotMeasure("no-lazy-loading",
                            "the driver does not say that it loads kernels "
                            "lazily");
      }
      const StreamPool& pool = measuring.pool;
      return {once(pool, first_of_module), once(pool, second_of_module),
              once(pool, first_of_module)};
    });
  }

  static double once(const StreamPool& pool, void (*kernel)()) {
    SingleGpuLaunch launch(
        kTraditionalApi, pool,
        {{{reinterpret_cast<const void*>(kernel), dim3(1), dim3(32)}}});
    return launch.run(1).total;
  }

  void print(const Point& point, const Measured<Sample>& measured) override {
    table().row({point, measured});
  }

  bool is_second() const override { return true; }
};

[[maybe_unused]] const bool kFirstUseAdded = add_section<FirstUse>(90);

}  // namespace
}  // namespace syncbench::implicit_barrier
