// A process that runs one form of one case.
#pragma once

#include <string>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/devices.hpp"
#include "pitfalls/case.hpp"

namespace syncbench {
class LineWriter;
struct Options;
}  // namespace syncbench

namespace syncbench::pitfalls {

struct Task;

/// Ends the kernels of its process, by a trap, when they run longer than any
/// parent allows. So even a process that nobody kills leaves the GPU.
class Watchdog {
 public:
  explicit Watchdog(const std::vector<int>& devices);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

 private:
  void end();

  std::vector<Stream> streams_;
  PinnedValue<int> over_;
};

/// What a case is given.
class Child {
 public:
  Child(const Options& options, LineWriter& out, std::vector<Gpu> gpus);

  const std::vector<Gpu>& gpus() const { return gpus_; }
  std::vector<int> devices() const { return device_numbers(gpus_); }
  int tries() const { return tries_; }  ///< of a race

  /// Throws CannotMeasure where a GPU is older: 70 is compute capability 7.0.
  void require_architecture(int first) const;

  /// To be called before each launch: the parent's limit begins. What it
  /// returns has to go before memory of the GPUs does, which waits for kernels.
  [[nodiscard]] Watchdog launch();

  /// Cells of the case's row behind its name and form.
  void result(const std::vector<std::string>& cells);

  /// One of several rows of the case in its other table.
  void row(const std::vector<std::string>& cells);

  /// A comment beside the row.
  void note(const std::string& text);

 private:
  void line(const char* first, const std::vector<std::string>& cells);

  LineWriter& out_;
  std::vector<Gpu> gpus_;
  int tries_;
};

/// Runs the task in this process: lines on `out`.
void run_task(const Task& task, const Options& options, LineWriter& out);

}  // namespace syncbench::pitfalls
