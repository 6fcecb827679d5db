// A section being measured: all its points in turn, a sample each, so that the
// samples of every point are spread over the whole section.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/child_processes.hpp"
#include "common/errors.hpp"
#include "common/interrupt.hpp"
#include "common/measuring_run.hpp"
#include "implicit_barrier/held_queue.hpp"
#include "implicit_barrier/points.hpp"
#include "implicit_barrier/stream_pool.hpp"

namespace syncbench {

/// Takes one sample of everything that a point has.
using Take = std::function<void(NamedSamples&)>;

class Section {
 public:
  Section(MeasuringRun& run, StreamPool& pool, std::string name)
      : run_(run), pool_(pool), name_(std::move(name)) {
    run_.begin_section(name_);
    mhz_ = run_.clock_mhz();
  }

  const std::string& name() const { return name_; }
  double mhz() const { return mhz_; }  ///< SM clock of GPU 0 at its beginning

  /// Adds what `make() -> Take` makes. A point that this GPU, driver or tool
  /// does not support is a record with the reason.
  template <class Make>
  void add(const Point& point, Make make) {
    try {
      run_.measure_at([&] { return name_of(point); },
                      [&] {
                        Task task = {point, make(), {}};
                        take(task);
                        tasks_.push_back(std::move(task));
                      });
    } catch (const CannotMeasure& error) {
      skip(point, {error.tag, error.what()});
    } catch (const HoldExpired& error) {
      skip(point, {"hold-expired", error.what()});
    }
  }

  void skip(const Point& point, const Remark& reason) {
    run_.show(name_);
    run_.out().line(record_text({point, {}, reason}));
  }

  /// Measures and writes the records. What add() has taken, and rounds until 50
  /// ms were spent, warm up the path through the host and do not count. Each
  /// process goes on with the stream where the one before it ended.
  void measure() {
    constexpr double kWarmUpNs = 5e7;
    while (!tasks_.empty() && spent_ns_ < kWarmUpNs) take_all();
    for (Task& task : tasks_) task.samples.clear();
    const int samples = run_.options().samples;
    // Both have limits: it is below 2^30.
    const int first = process_number() * samples;
    for (int i = 0; i < samples; ++i) {
      pool_.turn_to(first + i);
      take_all();
    }
    const double mhz = run_.clock_mhz();
    for (Task& task : tasks_) {
      task.samples["mhz"] = {mhz};
      run_.out().line(record_text({task.point, task.samples, {}}));
    }
  }

 private:
  struct Task {
    Point point;
    Take take;
    NamedSamples samples;
  };

  std::string name_of(const Point& point) const {
    return name_ + ", " + point.name() + ", " + std::to_string(point.work_ns) +
           " ns";
  }

  void take(Task& task) {
    const auto start = HostClock::now();
    task.take(task.samples);
    spent_ns_ += elapsed_ns(start, HostClock::now());
  }

  void take_all() {
    for (Task& task : tasks_) {
      check_interrupt();
      run_.measure_at([&] { return name_of(task.point); }, [&] { take(task); });
    }
  }

  MeasuringRun& run_;
  StreamPool& pool_;
  std::string name_;
  std::vector<Task> tasks_;
  double mhz_ = kNan;
  double spent_ns_ = 0;  // on samples
};

}  // namespace syncbench
