// Section `sleep grid`: what a sleep takes.
#include <cmath>
#include <stdexcept>
#include <string>

#include "common/cuda_resources.hpp"
#include "implicit_barrier/kernels.hpp"
#include "implicit_barrier/section.hpp"

namespace syncbench::implicit_barrier {
namespace {

struct GridSample {
  double taken;  ///< nanoseconds of a sleep
};

struct GridRow : PointRow {
  using Sample = GridSample;
  using PointRow::PointRow;
  GridRow(const Point& point, const Measured<Sample>& measured)
      : PointRow(point, measured),
        taken(summarize_processes(measured.of(&Sample::taken))) {}
  Summary taken = {};
};

Columns<GridRow> grid_columns(bool stats) {
  using Row = GridRow;
  return quantity_columns<Row>(
      shape_columns<Row>() + work_column<Row>("asked of each sleep"),
      {{"wkld", "taken by each sleep", &Row::taken}}, stats);
}

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

/// The power of two that sleeps of `asked_ns` take, if that is what they do:
/// `taken_ns` within 3% of the next one, and nearer to it than to what was
/// asked for.
int grid_of_sleep(int asked_ns, double taken_ns) {
  int grid = 1;
  while (grid < asked_ns) grid *= 2;
  const double off = std::abs(taken_ns / grid - 1);
  return off < 0.03 && off < std::abs(taken_ns / asked_ns - 1) ? grid : 0;
}

class SleepGrid : public SectionOf<GridRow> {
 public:
  explicit SleepGrid(Printing& printing)
      : SectionOf(printing, "sleep grid",
                  "what sleeps one after the other take, by the SM clock",
                  grid_columns) {}

 private:
  bool exists(const Measuring& measuring) const override {
    return have_sleep(measuring.run.gpus());
  }

  void plan(Measuring& measuring, PointsInTurn<Sample>& points) override {
    const auto timer = std::make_shared<SleepTimer>(measuring.run.gpu());
    for (const int asked_ns :
         {200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000}) {
      const Point point = {"nanosleep", 1,  SleepTimer::kSleeps,
                           1,           32, asked_ns};
      points.add(point, [&]() -> PointsInTurn<Sample>::Take {
        return [timer, asked_ns, mhz = points.mhz()] {
          return GridSample{1e3 * timer->cycles_of(asked_ns) / mhz};
        };
      });
    }
  }

  void print(const Point& point, const Measured<Sample>& measured) override {
    const GridRow row(point, measured);
    table().row(row);
    const int grid = grid_of_sleep(row.work_ns, row.taken.mean);
    if (grid == 0) return;
    printing().sleeps_have_grid = true;
    table().note(table().key(row),
                 {"sleep-grid ns=" + std::to_string(grid),
                  "sleeps of " + std::to_string(row.work_ns) +
                      " ns end every " + std::to_string(grid) + " ns here"});
  }
};

[[maybe_unused]] const bool kSleepGridAdded = add_section<SleepGrid>(50);

}  // namespace
}  // namespace syncbench::implicit_barrier
