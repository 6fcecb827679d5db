#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "common/cuda_resources.hpp"
#include "common/launch.hpp"
#include "explicit_barrier/latency.hpp"
#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/sm_windows.hpp"
#include "reduction/elements.hpp"
#include "reduction/sections.hpp"
#include "reduction/shared_sums.hpp"

namespace syncbench::reduction {

using explicit_barrier::check_order;
using explicit_barrier::find_method;
using explicit_barrier::measure_latency;
using explicit_barrier::sample_lengths;
using explicit_barrier::TimedLaunch;
using explicit_barrier::WarpRecord;

namespace {

constexpr const char* kLoop = "shared_loop";
constexpr const char* kSum = "shared_sum";
constexpr const char* kSwitch = "switch_point";
constexpr const char* kLoopTitle =
    "shared memory: bandwidth, latency, concurrency";
constexpr const char* kSumTitle = "sums in shared memory";
constexpr const char* kSwitchTitle = "switching points";

constexpr int kThreads[] = {1, 32, 1024};

// Steps of the tree from as many partial sums as `more` has threads to as many
// as `basic` has: 32 to 1, 1,024 to 32.
constexpr int kSteps = 5;

// The sizes at which sums are compared: 1, 2, ... kMostValues values by one
// thread and by a warp; 1, 2, ... KiB (kCoarse bytes) by a warp and by a block.
constexpr int kMostValues = 64;
constexpr int kCoarse = 1024;

Row model_row(const char* what, const char* type) {
  return Row("what is measured", what)
      .label("type", "", "type of the values", type);
}

// Of one block, and of so many bytes of values.
Row labels_of(const char* what, const char* type, int threads, int bytes) {
  return model_row(what, type)
      .label("thrd", "", "threads, of one block", threads)
      .label("bytes", "B", "bytes of values", bytes);
}

// Of Table III: `cycles` of a pass over them, `latency` of a step of the loop.
Row loop_row(const char* type, int threads, int bytes,
             const Summary& cycles = {}, double latency = kNan,
             double mhz = kNan, Set set = {}) {
  const double bandwidth = bytes / cycles.mean;
  return labels_of(kLoop, type, threads, bytes)
      .mean_stddev("cycle", "cycles", "a pass over them", cycles)
      .real("bandwidth", "B/cycle", "bytes / m(cycle)", bandwidth)
      .real("latency", "cycles",
            "a step of the loop: bytes of a value / bandwidth of 1 thread",
            latency)
      .real("concurrency", "B", "latency * bandwidth (Eq. 1)",
            latency * bandwidth, 1)
      .stats("cycle", "cycles", cycles)
      .clock(mhz)
      .set(set);
}

Row sum_row(const char* type, int threads, int bytes,
            const Summary& cycles = {}, double mhz = kNan, Set set = {}) {
  return labels_of(kSum, type, threads, bytes)
      .mean_stddev("cycle", "cycles", "values there to sum there", cycles)
      .stats("cycle", "cycles", cycles)
      .clock(mhz)
      .set(set);
}

// Of Table IV, without what follows from rates and T_sync. `cost`: what `sync`,
// the T_sync, is.
Row switch_row(const char* type, int basic, int more, const char* cost,
               const Summary& sync = {}, double measured = kNan,
               double mhz = kNan, Set set = {}) {
  return model_row(kSwitch, type)
      .label("basic", "threads", "that need not synchronize", basic)
      .label("more", "threads", "that have to", more)
      .label("cost", "", "T_sync: 5 barriers alone, or 5 steps in use", cost)
      .mean_stddev("sync", "cycles", "T_sync", sync)
      .real("measured", "B",
            "from here on `more` was faster; sizes a value or 1 KiB apart",
            measured, 1)
      .stats("sync", "cycles", sync)
      .clock(mhz)
      .set(set);
}

// Runs the kernels of one type on one GPU, the current one. Every sum is
// compared with the right one.
class SharedSums {
 public:
  SharedSums(const SharedSumKernels& kernels, int device)
      : kernels_(kernels),
        stream_(device),
        records_(device, kMostSharedThreads / 32),
        sums_(device, kMostSharedThreads),
        result_(device, 2) {
    records_.set_to_zero();
    sums_.set_to_zero();
  }

  const char* type() const { return kernels_.type; }
  int value_bytes() const { return kernels_.value_bytes; }

  // Cycles in which `threads` threads add up `bytes` of values `passes` times,
  // each thread its own share: from the first warp to begin to the last to end,
  // after one pass more.
  double loop_cycles(int threads, int bytes, int passes) {
    unsigned count = bytes / value_bytes(), stride = threads;
    WarpRecord* records = records_.get();
    double* sums = sums_.get();
    void* arguments[] = {&count, &stride, &passes, &records, &sums};
    launch(kernels_.loop, threads, arguments);
    const std::vector<double> found = sums_.read();
    check(std::accumulate(found.begin(), found.begin() + threads, 0.), threads,
          bytes, passes + 1);
    const std::vector<WarpRecord> warps = records_.read();
    long long first = warps[0].start, last = warps[0].end;
    for (int warp = 0; warp < (threads + 31) / 32; ++warp) {
      check_order(warps[warp].start, warps[warp].end);
      first = std::min(first, warps[warp].start);
      last = std::max(last, warps[warp].end);
    }
    return static_cast<double>(last - first);
  }

  // Cycles from a barrier, when the values are there, until thread 0 has stored
  // their sum, by its clock; the last of four sums.
  double sum_cycles(int threads, int bytes) {
    unsigned count = bytes / value_bytes(), stride = threads;
    int trips = 4;
    double* result = result_.get();
    void* arguments[] = {&count, &stride, &trips, &result};
    launch(threads == 1    ? kernels_.thread
           : threads == 32 ? kernels_.warp
                           : kernels_.block,
           threads, arguments);
    const std::vector<double> found = result_.read();
    check(found[0], threads, bytes, 1);
    if (found[1] > 0) return found[1];
    throw std::runtime_error("a sum took " + std::to_string(found[1]) +
                             " cycles, which cannot be");
  }

 private:
  void launch(const void* kernel, int threads, void** arguments) {
    CUDA_CHECK(launch_traditional({kernel, dim3(1), dim3(threads), arguments},
                                  stream_.get()));
    CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
  }

  void check(double sum, int threads, int bytes, int times) const {
    double right = 0;
    for (int i = 0; i < bytes / value_bytes(); ++i) right += shared_value_at(i);
    right *= times;
    if (sum == right) return;
    throw std::runtime_error(
        "the sum of " + std::to_string(bytes) + " bytes of " + type() + " by " +
        std::to_string(threads) + " threads is " + std::to_string(sum) +
        ", which should be " + std::to_string(right));
  }

  SharedSumKernels kernels_;
  Stream stream_;
  DeviceBuffer<WarpRecord> records_;
  DeviceBuffer<double> sums_;    // of each thread
  DeviceBuffer<double> result_;  // the sum, and the cycles that it took
};

using Curve = std::map<int, Summary>;  // cycles by bytes

class Model {
 public:
  Model(MeasuringRun& run, const SumOptions& sums)
      : run_(run),
        loop_table_(run.out(), kLoopTitle, loop_row("", 0, 0)),
        sum_table_(run.out(), kSumTitle, sum_row("", 0, 0)),
        switch_table_(run.out(), kSwitchTitle, switch_row("", 0, 0, "")) {
    for (const SharedSumKernels& kernels : shared_sum_kernels()) {
      if (!sums.measures_type(kernels.type, kShownModel, run.options())) {
        continue;
      }
      types_.push_back(
          {std::make_unique<SharedSums>(kernels, run.gpu().index), {}});
    }
  }

  void run() {
    const Options& options = run_.options();
    const bool switches = options.wants(kSwitch, Set::kStudy);
    if (options.wants(kLoop, Set::kStudy)) {
      run_.begin_section(kLoop);
      for (Type& type : types_) measure_loops(type);
    }
    if (switches || options.wants(kSum, Set::kStudy)) {
      run_.begin_section(kSum);
      for (Type& type : types_) measure_sums(type);
    }
    if (switches) {
      run_.begin_section(kSwitch);
      const Summary warp = five("tile_shufl", 32),
                    block = five("blocksync", 1024);
      for (Type& type : types_) {
        switch_rows(type, 1, 32, warp);
        switch_rows(type, 32, 1024, block);
      }
    }
  }

 private:
  struct Type {
    std::unique_ptr<SharedSums> sums;
    std::map<int, Curve> curves;  // by threads
  };

  static Set set_of(const Type& type) {
    return type.sums->type() == std::string(kShownModel) ? Set::kStudy
                                                         : Set::kEvidence;
  }

  // Passes over 32 KiB, of which each thread gets whole rounds of the loop,
  // more of them for more threads; the difference of two numbers.
  void measure_loops(Type& type) {
    constexpr int kBytes = 32 * 1024;
    double latency = kNan;
    for (const int threads : kThreads) {
      const int passes = threads == 1 ? 1 : threads == 32 ? 8 : 64;
      const char* name = type.sums->type();
      const RowKey key = loop_row(name, threads, kBytes).key();
      run_.show(key);
      const auto cycles = sample_lengths(
          {passes, 2 * passes}, run_.options().samples, [&](int count) {
            return type.sums->loop_cycles(threads, kBytes, count);
          });
      const Summary pass = difference(cycles[1], cycles[0], passes);
      const double rate = kBytes / pass.mean;
      if (threads == 1) latency = type.sums->value_bytes() / rate;
      loop_table_.row(loop_row(name, threads, kBytes, pass, latency,
                               run_.clock_mhz(), set_of(type)));
      run_.check_row(key, pass);
    }
  }

  // Every number of values for one thread and a warp, every KiB for a warp and
  // a block.
  void measure_sums(Type& type) {
    const int fine = type.sums->value_bytes();
    for (const int threads : kThreads) {
      for (int n = 1; threads <= 32 && n <= kMostValues; ++n) {
        measure_sum(type, threads, n * fine);
      }
      for (int bytes = kCoarse; threads >= 32 && bytes <= kMostSharedBytes;
           bytes += kCoarse) {
        measure_sum(type, threads, bytes);
      }
    }
  }

  void measure_sum(Type& type, int threads, int bytes) {
    // They are many and steady: a fifth, five at least, of what is asked for.
    const int asked = run_.options().samples;
    const int samples = std::min(asked, std::max(5, asked / 5));
    const char* name = type.sums->type();
    const RowKey key = sum_row(name, threads, bytes).key();
    run_.show(key);
    const auto cycles = sample_lengths({bytes}, samples, [&](int size) {
      return type.sums->sum_cycles(threads, size);
    });
    type.curves[threads][bytes] = cycles[0];
    // Few sizes are shown; the others say where the curves cross.
    const bool shown = (bytes & (bytes - 1)) == 0;
    const Options& options = run_.options();
    if (options.wants(kSum, Set::kStudy) &&
        (shown || options.measures(Set::kEvidence))) {
      sum_table_.row(sum_row(name, threads, bytes, cycles[0], run_.clock_mhz(),
                             shown ? set_of(type) : Set::kEvidence));
      run_.check_row(key, cycles[0]);
    }
  }

  // The study's T_sync: five times what one of the suite's methods takes.
  Summary five(const char* method, int threads) {
    run_.show(std::string(kSwitch) + " " + method);
    TimedLaunch launch(find_method(method), {run_.gpu()}, {1, threads, 32});
    return per(measure_latency(launch, run_.options().samples).value,
               1. / kSteps);
  }

  void switch_rows(Type& type, int basic, int more, const Summary& barriers) {
    const Curve& few = type.curves.at(basic);
    const Curve& many = type.curves.at(more);
    const int bytes = type.sums->value_bytes();
    const char* name = type.sums->type();
    const double measured = measured_switch(few, many);
    // By Eq. 3, where each thread has one value: T_sync = T_more - T_basic.
    const Summary steps =
        difference(many.at(more * bytes), few.at(basic * bytes), 1);
    for (const auto& [cost, sync] :
         {std::pair("barriers", barriers), std::pair("steps", steps)}) {
      const Row row = switch_row(name, basic, more, cost, sync, measured,
                                 run_.clock_mhz(), set_of(type));
      switch_table_.row(row);
      run_.check_row(row.key(), sync);
    }
    if (std::isnan(measured)) {
      const std::string most = std::to_string(few.rbegin()->first);
      switch_table_.note(
          switch_row(name, basic, more, "").key(),
          {"never bytes=" + most,
           "more threads are not faster up to " + most + " bytes"});
    }
  }

  // The smallest size, of those that both curves have, from which on `many` is
  // faster; NaN: it is not at the largest.
  static double measured_switch(const Curve& few, const Curve& many) {
    double found = kNan;
    for (const auto& [bytes, cycles] : few) {
      if (many.count(bytes) == 0) continue;
      if (!(many.at(bytes).mean < cycles.mean)) {
        found = kNan;
      } else if (std::isnan(found)) {
        found = bytes;
      }
    }
    return found;
  }

  MeasuringRun& run_;
  Table loop_table_, sum_table_, switch_table_;
  std::vector<Type> types_;
};

}  // namespace

std::vector<MethodInfo> model_methods() {
  std::vector<MethodInfo> methods = {
      {kLoop,
       "the loop of Figure 10 over shared memory by 1, 32 and 1,024 "
       "threads"},
      {kSum, "sums in shared memory by 1, 32 and 1,024 threads"},
      {kSwitch,
       "sizes from which on more threads are faster; with shared_loop, the "
       "report predicts them"}};
  for (MethodInfo& method : methods) method.set = Set::kStudy;
  return methods;
}

void model_sections(MeasuringRun& run, const SumOptions& sums) {
  run.show("memory of the model's sections");
  Model(run, sums).run();
}

std::string describe_model() {
  return describe(kLoopTitle, loop_row("", 0, 0)) +
         describe(kSumTitle, sum_row("", 0, 0)) +
         describe(kSwitchTitle, switch_row("", 0, 0, ""));
}

}  // namespace syncbench::reduction
