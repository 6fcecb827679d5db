// One of the processes of ImplicitBarrier that measure. Writes records
// (points.hpp), and comments as every program.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/measuring_run.hpp"
#include "implicit_barrier/held_point.hpp"
#include "implicit_barrier/launch_methods.hpp"
#include "implicit_barrier/measure.hpp"
#include "implicit_barrier/points.hpp"
#include "implicit_barrier/section.hpp"
#include "implicit_barrier/unit_call.hpp"

namespace syncbench {

class MeasuringProcess {
 public:
  /// One of so many `processes`.
  MeasuringProcess(const ProgramInfo& info, const Options& options,
                   int processes, LineWriter& out)
      : run_(info, options, out),
        pool_(device_numbers(run_.gpus())),
        filling_{run_.gpu().sm_count, 1024} {
    run_.out().comment(
        "processes: " + std::to_string(processes) +
        ", one after the other; the samples are those of each; " +
        std::to_string(StreamPool::kStreams) + " streams in turn");
    run_.out().comment(std::string("multi_cooperative_launch: ") +
                       MultiDeviceLaunch::kApi);
  }

  void run() {
    run_.measure([this] { sections(); });
  }

 private:
  void sections() {
    null_section();
    fusion_section(kFusionSection, Counts::kEach, spin_kernel, cycles_in);
    workload_section();
    held_section();
    if (!std::all_of(run_.gpus().begin(), run_.gpus().end(), has_sleep)) return;
    grid_section();
    fusion_section(kSleepSection, Counts::kOneAndAll, sleep_kernel,
                   [](double unit_ns, double) {
                     return static_cast<long long>(unit_ns / kSleepNs);
                   });
  }

  using Gpus = std::vector<Gpu>;
  using Info = LaunchMethodInfo;

  // Asks the code, not the GPU: made from PTX for an older one, the sleep
  // kernel is empty on any GPU.
  static bool has_sleep(const Gpu& gpu) {
    const DeviceGuard guard(gpu.index);
    cudaFuncAttributes attributes = {};
    CUDA_CHECK(cudaFuncGetAttributes(
        &attributes, reinterpret_cast<const void*>(sleep_kernel)));
    return attributes.ptxVersion >= kSleepVersion;
  }

  // On how many GPUs a section has multi-GPU methods.
  enum class Counts { kEach, kOneAndAll, kAll };

  bool has_count(Counts counts, int count) const {
    const bool all = count == static_cast<int>(run_.gpus().size());
    return all || counts == Counts::kEach ||
           (counts == Counts::kOneAndAll && count == 1);
  }

  // Calls visit(method, GPUs, point) for every wanted method and the given
  // shapes, blocks x threads.
  template <class Visitor>
  void for_each_point(const Section& section, Counts counts,
                      const std::vector<std::pair<int, int>>& shapes,
                      Visitor visit) {
    const Gpus& all = run_.gpus();
    for (const Info& method : launch_methods()) {
      if (!run_.options().wants(method.name)) continue;
      const int most = method.multi_gpu ? static_cast<int>(all.size()) : 1;
      for (int count = 1; count <= most; ++count) {
        if (method.multi_gpu && !has_count(counts, count)) continue;
        for (const auto& [blocks, threads] : shapes) {
          const Point point = {section.name(), method.name, count,
                               kManyLaunches,  blocks,      threads};
          visit(method, Gpus(all.begin(), all.begin() + count), point);
        }
      }
    }
  }

  void add_launches(Section& section, const Info& method, const Gpus& gpus,
                    const Point& point, std::shared_ptr<UnitCall> call) {
    section.add(point, [&]() -> Take {
      std::shared_ptr<LaunchMethod> launch =
          method.make(pool_, gpus, call->call());
      return [launch, call, repeats = point.repeats](NamedSamples& samples) {
        take_launches(*launch, repeats, samples);
      };
    });
  }

  void null_section() {
    Section section(run_, pool_, kNullSection);
    for_each_point(
        section, Counts::kEach, {smallest_, filling_},
        [&](const Info& method, const Gpus& gpus, const Point& point) {
          add_launches(section, method, gpus, point,
                       std::make_shared<UnitCall>(null_kernel, point, 0, 0));
        });
    section.measure();
  }

  template <class Kernel, class Amount>
  void fusion_section(const char* name, Counts counts, Kernel kernel,
                      Amount amount_of) {
    Section section(run_, pool_, name);
    for_each_point(section, counts, {smallest_, filling_},
                   [&](const Info& method, const Gpus& gpus, Point point) {
                     point.work_ns = unit_ns_of(point.gpus);
                     choose_lengths(method.queues, point);
                     section.add(point, [&]() -> Take {
                       const auto pair = std::make_shared<FusionPair>(
                           method, pool_, gpus, point, kernel,
                           amount_of(point.work_ns, section.mhz()));
                       return [pair](NamedSamples& samples) {
                         pair->take(samples);
                       };
                     });
                   });
    section.measure();
  }

  void workload_section() {
    Section section(run_, pool_, kWorkloadSection);
    for_each_point(section, Counts::kAll, {filling_},
                   [&](const Info& method, const Gpus& gpus, Point point) {
                     for (const int work_ns : {0, 2000, 4000, 8000, 16000,
                                               32000, 64000, 128000, 256000}) {
                       point.work_ns = work_ns;
                       point.repeats = repeats_of(point);
                       add_launches(section, method, gpus, point,
                                    std::make_shared<UnitCall>(
                                        spin_kernel, point, 1,
                                        cycles_in(work_ns, section.mhz())));
                     }
                   });
    section.measure();
  }

  // Why no stream can be held here; nothing where it can. Tools that watch
  // every launch may wait in it for the kernels before, and so for ever.
  Remark why_not_hold() {
    constexpr double kWatchedNs = 1e5;  // a launch and its wait take 8 us
    if (launches_wait_for_kernels()) {
      return {"launch-blocking", "CUDA_LAUNCH_BLOCKING is set"};
    }
    const UnitCall call(null_kernel, {"", "", 1, 1, 1, 32}, 0, 0);
    SingleGpuLaunch launch(launch_traditional, pool_, call.call());
    double least_ns = launch.run(1).total;
    for (int i = 0; i < 10; ++i) {
      least_ns = std::min(least_ns, launch.run(1).total);
    }
    if (least_ns < kWatchedNs) return {};
    const std::string us = format_number(least_ns / 1000, 0);
    return {"watched us=" + us,
            "a launch takes " + us + " us, as under a tool that watches each"};
  }

  void held_section() {
    Section section(run_, pool_, kHeldSection);
    Gate gate;
    const TimesOfKernels times(device_numbers(run_.gpus()), kManyLaunches,
                               run_.gpu().sm_count);
    const Remark reason = why_not_hold();
    for_each_point(
        section, Counts::kOneAndAll, {smallest_, filling_},
        [&](const Info& method, const Gpus& gpus, Point point) {
          if (!method.queues) return;
          for (const int work_ns : {0, unit_ns_of(point.gpus)}) {
            point.work_ns = work_ns;
            choose_lengths(method.queues, point);
            if (reason) {
              section.skip(point, reason);
              continue;
            }
            section.add(point, [&]() -> Take {
              const auto held = std::make_shared<HeldPoint>(
                  method, pool_, gpus, point, section.mhz(), gate, times);
              return [held](NamedSamples& samples) { held->take(samples); };
            });
          }
        });
    section.measure();
  }

  void grid_section() {
    Section section(run_, pool_, kGridSection);
    SleepTimer timer(run_.gpu());
    for (const int asked_ns :
         {200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000}) {
      const Point point = {section.name(), "nanosleep", 1, timer.kSleeps, 1, 32,
                           asked_ns};
      section.add(point, [&]() -> Take {
        return [&timer, asked_ns, mhz = section.mhz()](NamedSamples& samples) {
          samples["taken"].push_back(1e3 * timer.cycles_of(asked_ns) / mhz);
        };
      });
    }
    section.measure();
  }

  MeasuringRun run_;
  StreamPool pool_;
  const std::pair<int, int> smallest_ = {1, 32};  // kernels: blocks x threads
  const std::pair<int, int> filling_;             // all SMs
};

}  // namespace syncbench
