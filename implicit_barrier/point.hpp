// What a row of ImplicitBarrier is of: as a kernel to launch, by name, and how
// long its series of launches is.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/launch.hpp"
#include "common/process_samples.hpp"
#include "common/sets.hpp"
#include "common/table.hpp"

namespace syncbench::implicit_barrier {

/// A kernel's blocks and threads of a block.
struct LaunchShape {
  int blocks, threads;
};

/// What was launched.
struct Point {
  std::string method;
  int gpus = 1;
  int repeats = kAny;
  int blocks = 0;           ///< on each GPU
  int threads = 0;          ///< of a block
  int work_ns = 0;          ///< of each kernel
  int lead = 0;             ///< launches in the queue before those that count
  int reads = 0;            ///< words that a block reads of another
  Set set = Set::kStudy;    ///< of its row
  const char* stream = "";  ///< its kind, of rows that have one

  /// What was launched but for its length and work, alike in all sections.
  auto key() const { return std::tuple(method, gpus, blocks, threads); }
  std::string shape() const {
    return method + " on " + std::to_string(gpus) + " GPUs, " +
           std::to_string(blocks) + " x " + std::to_string(threads);
  }

  /// For Record::point.
  Labels labels() const {
    Labels labels = {{"method", method},
                     {"set", std::to_string(static_cast<int>(set))}};
    for (const auto& [name, number] : kNumbers) {
      labels[name] = std::to_string(this->*number);
    }
    return labels;
  }

  /// The reverse. std::logic_error where one is missing or no number.
  static Point of(const Labels& labels) {
    Point point;
    point.method = labels.at("method");
    point.set = static_cast<Set>(std::stoi(labels.at("set")));
    for (const auto& [name, number] : kNumbers) {
      point.*number = std::stoi(labels.at(name));
    }
    return point;
  }

 private:
  static constexpr std::pair<const char*, int Point::*> kNumbers[] = {
      {"gpus", &Point::gpus},       {"rep", &Point::repeats},
      {"blk", &Point::blocks},      {"thrd", &Point::threads},
      {"work_ns", &Point::work_ns}, {"lead", &Point::lead},
      {"reads", &Point::reads}};
};

/// Launches before each sample, in its streams. Other points were measured in
/// between.
inline constexpr int kWarmUpLaunches = 2;

/// Launches of a series, at most.
inline constexpr int kManyLaunches = 128;

/// Launches in 1.3 ms, each of 8 us a GPU or, if longer, its work: a power of
/// two from 8 to kManyLaunches. So long kernels are launched less often.
inline int repeats_of(const Point& point) {
  constexpr int kFewest = 8;
  constexpr double kBudgetNs = 1.3e6;
  const double each_ns = std::max(point.work_ns, 8000 * point.gpus);
  int repeats = kManyLaunches;
  while (repeats > kFewest && repeats * each_ns > kBudgetNs) repeats /= 2;
  return repeats;
}

/// The unit of work, the same in every run. It should be longer than a launch
/// call, to hide it; a comment says where it is not. On eight GPUs the study
/// needed 250 us.
inline int unit_ns_of(int gpus) {
  return gpus == 1 ? 10000 : 4000 * gpus * std::max(4, gpus);
}

/// Sets repeats and lead of a point of kernel fusion. On several GPUs the first
/// multi-device launches of a series differ from later ones, so they lead.
inline void choose_lengths(bool queues, Point& point) {
  const bool steady_later = queues && point.gpus > 1;
  point.repeats = steady_later ? 48 : repeats_of(point);
  point.lead = steady_later ? 16 : 0;
}

/// Cycles of an SM clock of `mhz` in `nanoseconds`.
inline long long cycles_in(double nanoseconds, double mhz) {
  return std::llround(nanoseconds * mhz / 1000);
}

/// A kernel of (units, amount), or of neither.
inline KernelCall unit_call(const void* kernel, const Point& point, int units,
                            long long amount) {
  return call_with(kernel, dim3(point.blocks), dim3(point.threads), units,
                   amount);
}

}  // namespace syncbench::implicit_barrier
