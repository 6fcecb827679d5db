// What the sections share in a measuring process: GPUs, streams, and how points
// are sampled in turn.
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/child_processes.hpp"
#include "common/cuda_resources.hpp"
#include "common/errors.hpp"
#include "common/interrupt.hpp"
#include "common/measuring_run.hpp"
#include "common/process_samples.hpp"
#include "implicit_barrier/held_launch.hpp"
#include "implicit_barrier/kernels.hpp"
#include "implicit_barrier/launch_methods.hpp"
#include "implicit_barrier/lengths.hpp"
#include "implicit_barrier/links.hpp"
#include "implicit_barrier/point.hpp"
#include "implicit_barrier/stream_pool.hpp"

namespace syncbench::implicit_barrier {

/// On how many GPUs a section has multi-GPU methods.
enum class Counts { kEach, kOneAndAll, kAll };

/// A kernel's blocks and threads of a block.
struct LaunchShape {
  int blocks, threads;
};

/// Whether all GPUs have a sleep instruction. Asks the code, not the GPU: made
/// from PTX for an older one, the sleep kernel is empty on any GPU.
inline bool have_sleep(const std::vector<Gpu>& gpus) {
  for (const Gpu& gpu : gpus) {
    const DeviceGuard guard(gpu.index);
    const auto* kernel = reinterpret_cast<const void*>(sleep_kernel);
    if (code_version(kernel) < kSleepVersion) return false;
  }
  return true;
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

  /// Calls visit(method, GPUs, point) for every wanted method that is as broad
  /// and the given shapes.
  template <class Visitor>
  void for_each_point(Breadth breadth, Counts counts,
                      const std::vector<LaunchShape>& shapes, Visitor visit) {
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
          Point point;
          point.method = method.name;
          point.gpus = count;
          point.repeats = kManyLaunches;
          point.blocks = shape.blocks;
          point.threads = shape.threads;
          point.set = method.set;
          visit(method, std::vector<Gpu>(all.begin(), all.begin() + count),
                point);
        }
      }
    }
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
      prove_order(method, pool, run.gpu());
      proved_.insert(name);
    }
  }
  /// Methods that have.
  std::size_t proved() const { return proved_.size(); }

 private:
  std::set<std::string> proved_;
};

/// All points of a section in turn, a sample each, so that the samples of every
/// point are spread over the whole section. take() returns a Sample.
template <class Sample>
class PointsInTurn {
 public:
  using Take = std::function<Sample()>;

  /// Of a section with this name and number, of this set.
  PointsInTurn(Measuring& measuring, const char* section, std::size_t number,
               Set set)
      : measuring_(measuring),
        run_(measuring.run),
        pool_(measuring.pool),
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

  /// Adds what `make() -> Take` makes, once the method's order is proved. A
  /// point that this GPU, driver or tool does not support is a record with the
  /// reason.
  template <class Make>
  void add(Point point, Make make) {
    point.set = std::max(point.set, set_);
    const StreamPool::Given guard(pool_, stream_);
    attempt(point, [&] {
      measuring_.prove(point.method);
      Task task = {point, make(), {}};
      take(task);
      tasks_.push_back(std::move(task));
    });
  }

  void skip(const Point& point, const Remark& reason) {
    run_.show(section_);
    run_.out().line(record_text({number_, point.text(), reason, kNan, {}}));
  }

  /// Measures and writes the records. Samples of add(), and of the first 25 ms,
  /// warm up the host and do not count. Each process starts at the stream where
  /// the last ended.
  void measure() {
    constexpr double kWarmUpNs = 2.5e7;
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
    for (const Task& task : tasks_) write(task.point, mhz, task.samples);
  }

 private:
  struct Task {
    Point point;
    Take take;
    std::vector<Sample> samples;
  };

  template <class Body>
  void attempt(const Point& point, Body body) {
    try {
      run_.measure_at([&] { return name_of(point); }, body);
    } catch (const CannotMeasure& error) {
      skip(point, {error.tag, error.what()});
    } catch (const HoldExpired& error) {
      skip(point, {"hold-expired", error.what()});
    }
  }

  void write(const Point& point, double mhz,
             const std::vector<Sample>& samples) {
    run_.out().line(
        record_text({number_, point.text(), {}, mhz, numbers_of(samples)}));
  }

  std::string name_of(const Point& point) const {
    return section_ + ", " + point.shape() + ", " +
           std::to_string(point.work_ns) + " ns";
  }

  void take(Task& task) {
    const StreamPool::Given guard(pool_, stream_);
    const auto start = HostClock::now();
    task.samples.push_back(task.take());
    spent_ns_ += elapsed_ns(start, HostClock::now());
  }

  void take_all() {
    for (Task& task : tasks_) {
      check_interrupt();
      run_.measure_at([&] { return name_of(task.point); }, [&] { take(task); });
    }
  }

  Measuring& measuring_;
  MeasuringRun& run_;
  StreamPool& pool_;
  std::string section_;
  std::size_t number_;
  Set set_;
  cudaStream_t stream_ = nullptr;
  std::vector<Task> tasks_;
  double mhz_ = kNan;
  double spent_ns_ = 0;  // on samples
};

}  // namespace syncbench::implicit_barrier
