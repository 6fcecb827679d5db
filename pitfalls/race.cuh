// Races: how often a kernel without a barrier or a fence gives a wrong result,
// and the same kernel with it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "common/errors.hpp"
#include "common/peer_access.hpp"
#include "pitfalls/child.hpp"
#include "pitfalls/spin.cuh"

namespace syncbench::pitfalls {

/// Before, there is no memory model by which the right forms would be right,
/// and lanes of two branches cannot wait for each other.
constexpr int kRaceArchitecture = 70;

/// A cell for every try, not 0 where its result is wrong.
class Tries {
 public:
  Tries(int device, int count) : device_(device), wrong_(device, count) {
    clear();
  }
  void clear() {
    const DeviceGuard guard(device_);
    wrong_.set_to_zero();
  }
  unsigned* wrong() const { return wrong_.get(); }

  /// Tells the parent how many were wrong.
  void report(Child& child) const {
    const std::vector<unsigned> cells = wrong_.read();
    const auto right = std::count(cells.begin(), cells.end(), 0u);
    child.result(
        {std::to_string(cells.size()), std::to_string(cells.size() - right)});
  }

 private:
  int device_;
  DeviceBuffer<unsigned> wrong_;
};

/// Blocks of even numbers write and those of odd ones read, or the grid does
/// one of both.
enum class Role { kBoth, kWriters, kReaders };

/// The GPUs of a case, with access to each other's memory.
inline std::vector<int> devices_with_access(const Child& child) {
  std::vector<int> devices = child.devices();
  if (devices.size() > 1 && !enable_peer_access(devices)) {
    throw CannotMeasure("no-peer-access", "no peer access between these GPUs");
  }
  return devices;
}

/// Launches so many blocks of writers on the first GPU and of readers on the
/// last, and waits for them. start(role, blocks, stream) launches a grid.
template <class Start>
void launch_both(Child& child, const std::vector<int>& devices,
                 const std::vector<Stream>& streams, int blocks, Start start) {
  const auto start_on = [&](std::size_t gpu, Role role, int count) {
    const DeviceGuard guard(devices[gpu]);
    start(role, count, streams[gpu].get());
    CUDA_CHECK(cudaGetLastError());
  };
  const Watchdog watchdog = child.launch();
  if (devices.size() == 1) {
    start_on(0, Role::kBoth, 2 * blocks);
  } else {
    start_on(devices.size() - 1, Role::kReaders, blocks);
    start_on(0, Role::kWriters, blocks);
  }
  for (const Stream& stream : streams) {
    CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  }
}

/// A race on GPU 0, or on all where it takes at least two.
inline Case race(const char* name, const char* text, int fewest_gpus,
                 void (*run)(Child&, Form)) {
  return {name,        text, Section::kRace, {Form::kWrong, Form::kRight},
          fewest_gpus, run};
}

}  // namespace syncbench::pitfalls
