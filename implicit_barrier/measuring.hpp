// What the sections share in a measuring process: GPUs, streams, and how points
// are sampled in turn.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/child_processes.hpp"
#include "common/cuda_resources.hpp"
#include "common/errors.hpp"
#include "common/measuring_run.hpp"
#include "common/process_samples.hpp"
#include "implicit_barrier/held_launch.hpp"
#include "implicit_barrier/kernels.hpp"
#include "implicit_barrier/launch_methods.hpp"
#include "implicit_barrier/links.hpp"
#include "implicit_barrier/point.hpp"

namespace syncbench::implicit_barrier {

/// On how many GPUs a section has multi-GPU methods.
enum class Counts { kEach, kOneAndAll, kAll };

/// What a launch method launches, and on which GPUs.
struct LaunchPoint {
  const LaunchMethodInfo& method;
  std::vector<Gpu> gpus;
  Point point;
};

/// Whether all GPUs have a sleep instruction. Asks the code, not the GPU: made
/// from PTX for an older one, the sleep kernel is empty on any GPU.
inline bool have_sleep(const std::vector<Gpu>& gpus) {
  for (const Gpu& gpu : gpus) {
    const DeviceGuard guard(gpu.index);
    if (code_version(unit_kernels().sleep) < kSleepVersion) return false;
  }
  return true;
}

/// What takes the samples of a T made so, which it keeps.
template <class T, class... Arguments>
Take taker_of(Arguments&&... arguments) {
  return [t = std::make_shared<T>(std::forward<Arguments>(arguments)...)] {
    return t->take();
  };
}

struct Measuring {
  Measuring(const ProgramInfo& info, const Options& options, LineWriter& out)
      : run(info, options, out), pool(device_numbers(run.gpus())) {}

  MeasuringRun run;
  StreamPool pool;

  /// One warp, and a block of 1,024 threads on each SM.
  std::vector<LaunchShape> both_shapes() const {
    return {{1, 32}, filling_shape()};
  }
  LaunchShape filling_shape() const { return {run.gpu().sm_count, 1024}; }

  /// Of every wanted method that is as broad and the given shapes.
  std::vector<LaunchPoint> launch_points(
      Breadth breadth, Counts counts,
      const std::vector<LaunchShape>& shapes) const {
    std::vector<LaunchPoint> points;
    const std::vector<Gpu>& all = run.gpus();
    const int most = static_cast<int>(all.size());
    for (const LaunchMethodInfo& method : launch_methods()) {
      if (method.breadth < breadth) continue;
      if (!run.options().wants(method.name, method.set)) continue;
      for (int count = 1; count <= (method.multi_gpu ? most : 1); ++count) {
        const bool wanted = count == most || counts == Counts::kEach ||
                            (counts == Counts::kOneAndAll && count == 1);
        if (method.multi_gpu && !wanted) continue;
        for (const LaunchShape& shape : shapes) {
          Point point = {method.name, count, kManyLaunches, shape.blocks,
                         shape.threads};
          point.set = method.set;
          points.push_back({method, {all.begin(), all.begin() + count}, point});
        }
      }
    }
    return points;
  }

  /// Whether this process proves the order of launches; later ones time the
  /// same.
  static bool proves() { return process_number() <= 0; }

  /// The first time for this name, where it is a launch method's: it proves
  /// its order. CannotMeasure where it cannot be had here.
  void prove(const std::string& name) {
    if (!proves() || proved_.count(name) != 0) return;
    for (const LaunchMethodInfo& method : launch_methods()) {
      if (method.name != name) continue;
      prove_order(name, method.make, method.kernels->link, pool, {run.gpu()},
                  run.gpu().sm_count);
      proved_.insert(name);
    }
  }
  /// Methods that have.
  std::size_t proved() const { return proved_.size(); }

 private:
  std::set<std::string> proved_;
};

/// All points of a section in turn, a sample each, so that the samples of every
/// point are spread over the whole section.
class PointsInTurn {
 public:
  /// Of a section with this name and number, of this set.
  PointsInTurn(Measuring& measuring, const char* section, std::size_t number,
               Set set)
      : measuring_(measuring),
        run_(measuring.run),
        section_(section),
        number_(number),
        set_(set) {
    run_.begin_section(section_);
    mhz_ = run_.clock_mhz();
  }

  /// All points of a section launch into this stream, also when they are made;
  /// default: those of the pool.
  void launch_into(cudaStream_t stream) { stream_ = stream; }

  double mhz() const { return mhz_; }  ///< SM clock of GPU 0 at the beginning

  /// Adds what `make` makes, once the method's order is proved. A point that
  /// this GPU, driver or tool does not support is a record with the reason.
  void add(Point point, const std::function<Take()>& make) {
    point.set = std::max(point.set, set_);
    const StreamPool::Given guard(measuring_.pool, stream_);
    const std::string name = section_ + ", " + point.shape() + ", " +
                             std::to_string(point.work_ns) + " ns";
    try {
      run_.measure_at(name, [&] {
        measuring_.prove(point.method);
        const Take take = [this, name, take = make()] {
          return run_.measure_at(name, [&] { return timed(take); });
        };
        take();
        points_.push_back(point);
        timed_.push_back({take});
      });
    } catch (const CannotMeasure& error) {
      skip(point, {error.tag, error.what()});
    }
  }

  void skip(const Point& point, const Remark& reason) {
    run_.show(section_);
    run_.out().line(record_text({number_, point.labels(), reason}));
  }

  /// Measures and writes the records. Samples of add(), and of the first 25 ms,
  /// warm up the host and do not count. Each process starts at the stream where
  /// the last ended.
  void measure() {
    if (timed_.empty()) return;
    constexpr double kWarmUpNs = 2.5e7;
    while (spent_ns_ < kWarmUpNs) sample_in_turn(timed_, 1);
    const int samples = run_.options().samples;
    // Both have limits: it is below 2^30.
    int turn = process_number() * samples;
    timed_.insert(timed_.begin(), {[&] {
                    measuring_.pool.turn_to(turn++);
                    return Sample();
                  }});
    sample_in_turn(timed_, samples);
    const double mhz = run_.clock_mhz();
    for (std::size_t i = 0; i < points_.size(); ++i) {
      run_.out().line(record_text(
          {number_, points_[i].labels(), {}, mhz, timed_[i + 1].samples}));
    }
  }

 private:
  Sample timed(const Take& take) {
    const StreamPool::Given guard(measuring_.pool, stream_);
    const auto start = HostClock::now();
    Sample sample = take();
    spent_ns_ += elapsed_ns(start, HostClock::now());
    return sample;
  }

  Measuring& measuring_;
  MeasuringRun& run_;
  std::string section_;
  std::size_t number_;
  Set set_;
  cudaStream_t stream_ = nullptr;
  std::vector<Point> points_;
  std::vector<TimedPoint> timed_;  // of these
  double mhz_ = kNan;
  double spent_ns_ = 0;  // on samples
};

}  // namespace syncbench::implicit_barrier
