// The order in which work in streams is done, and how long it takes.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "stand_in_gpu/node_state.hpp"
#include "stand_in_gpu/scenario.hpp"
#include "stand_in_gpu/virtual_clock.hpp"

namespace stand_in {
namespace {

double draw(int device) {
  return std::normal_distribution<double>()(node().gpus[device].random);
}

// How many times as long as planted a kernel takes that begins now.
double factor_of(int device, unsigned threads, double start, double* more) {
  double factor = 1 + scenario().drift * start * 1e-9;
  const double noisy = scenario().noise_threads;
  if (scenario().noise > 0 && (noisy < 0 || threads == noisy)) {
    factor *= 1 + scenario().noise * draw(device);
  }
  if (device == static_cast<int>(scenario().slow_gpu)) {
    factor *= scenario().slow_by;
  }
  *more = 0;
  if (scenario().outliers > 0) {
    std::uniform_real_distribution<double> part(0, 1);
    if (part(node().gpus[device].random) < scenario().outliers) {
      *more = scenario().outlier;
    }
  }
  return std::max(factor, 0.01);
}

double ready_time(const StreamState& stream, const Work& work) {
  return std::max(work.submitted, stream.end + work.gap);
}

// Runs the first work of a stream; false where it waits for something.
bool run_first(StreamState& stream, bool waited_for);

// Gets a stream as far as `work`; false where something before it waits.
bool bring_to(StreamState& stream, const Work* work, bool waited_for) {
  while (!stream.work.empty() && &stream.work.front() != work) {
    if (!run_first(stream, waited_for)) return false;
  }
  return !stream.work.empty();
}

double start_of(StreamState& stream, Work& work, bool waited_for) {
  double start = ready_time(stream, work);
  if (!work.meeting) return start;
  if (!work.meeting->complete()) return -1;
  for (const auto& [other, theirs] : work.meeting->members) {
    if (!bring_to(*other, theirs, waited_for)) return -1;
  }
  for (const auto& [other, theirs] : work.meeting->members) {
    start = std::max(start, ready_time(*other, *theirs));
  }
  return start;
}

void finish(StreamState& stream, double start, const Ended& ended) {
  stream.end = start + ended.nanoseconds;
  stream.work.pop_front();
  if (stream.work.empty()) node().busy.erase(&stream);
  if (ended.error != cudaSuccess) node().error = ended.error;
}

Ended run_model(const StreamState& stream, const Work& work, double start,
                bool waited_for, bool abandoned) {
  double more = 0;
  const Running running = {
      stream.device, start,
      work.kernel ? factor_of(stream.device, work.threads, start, &more) : 1,
      host_now(), waited_for};
  if (!scenario().hang.empty() &&
      work.name.find(scenario().hang) != std::string::npos) {
    for (;;) pause();
  }
  try {
    Ended ended =
        abandoned ? work.model.abandoned(running) : work.model.run(running);
    ended.nanoseconds += more;
    return ended;
  } catch (const Failed& failed) {
    return {0, failed.error};
  }
}

bool run_first(StreamState& stream, bool waited_for) {
  Work& work = stream.work.front();
  const double start = start_of(stream, work, waited_for);
  if (start < 0) return false;
  if (!work.meeting) {
    const Ended ended = run_model(stream, work, start, waited_for, false);
    if (ended.blocked) return false;
    finish(stream, start, ended);
    return true;
  }
  const auto meeting = work.meeting;
  std::vector<Ended> ends;
  for (const auto& [other, theirs] : meeting->members) {
    ends.push_back(run_model(*other, *theirs, start, waited_for, false));
    if (ends.back().blocked) return false;
  }
  double end = start;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    StreamState& other = *meeting->members[i].first;
    finish(other, start, ends[i]);
    end = std::max(end, other.end);
  }
  for (const auto& [other, theirs] : meeting->members) other->end = end;
  return true;
}

bool launches_block() {
  const char* given = std::getenv("CUDA_LAUNCH_BLOCKING");
  return given != nullptr && std::strcmp(given, "0") != 0;
}

}  // namespace

void run_all() {
  bool ran = true;
  while (ran && node().error == cudaSuccess) {
    ran = false;
    const std::set<StreamState*> busy = node().busy;
    for (StreamState* stream : busy) {
      while (node().error == cudaSuccess && !stream->work.empty() &&
             run_first(*stream, false)) {
        ran = true;
      }
    }
  }
}

void drain(Lock& lock, StreamState& stream) {
  using namespace std::chrono_literals;
  for (;;) {
    run_all();
    if (stream.work.empty() || node().error != cudaSuccess) return;
    Work& first = stream.work.front();
    if (!first.meeting || first.meeting->complete()) {
      if (run_first(stream, true)) continue;
      if (stream.work.empty()) return;
    }
    // Not by the steady clock, which is the virtual one. In parts: a machine
    // that stood still meanwhile has not waited.
    bool changed = false;
    const bool never = node().call_failed || launches_block();
    for (int part = 0; !changed && part < (never ? 1 : 100); ++part) {
      const auto until = std::chrono::system_clock::now() + 200ms;
      changed =
          node().changed.wait_until(lock, until) == std::cv_status::no_timeout;
    }
    if (changed) continue;
    // Another thread may have done it meanwhile.
    if (stream.work.empty() || &stream.work.front() != &first) continue;
    if (!first.model.abandoned) {
      complain("a kernel waits for ever: " + first.name);
      node().error = cudaErrorLaunchTimeout;
      return;
    }
    const double start = ready_time(stream, first);
    finish(stream, start, run_model(stream, first, start, true, true));
  }
}

double drain_gpu(Lock& lock, int device) {
  std::vector<StreamState*> all = {&node().gpus[device].legacy,
                                   &node().gpus[device].per_thread};
  const std::set<StreamState*>& made = node().gpus[device].made;
  all.insert(all.end(), made.begin(), made.end());
  double end = 0;
  for (StreamState* stream : all) {
    drain(lock, *stream);
    end = std::max(end, stream->end);
  }
  return end;
}

cudaError_t result_of_wait(double end) {
  if (node().error != cudaSuccess) return node().error;
  host_waits_until(end + scenario().notice);
  return cudaSuccess;
}

cudaError_t after_launch(Lock& lock, StreamState& stream) {
  if (!launches_block()) return cudaSuccess;
  drain(lock, stream);
  return result_of_wait(stream.end);
}

double Running::ghz() const {
  const Scenario& planted = scenario();
  const auto since = [&](double s) { return s >= 0 && start >= s * 1e9; };
  const bool slow = since(planted.halve_at) && !since(planted.full_at) &&
                    (planted.halve_gpu < 0 || planted.halve_gpu == device);
  return planted.ghz * (slow ? 0.5 : 1);
}

long long Running::cycles(double after) const {
  return std::llround((start + after) * ghz()) + 1'000'000'000;
}

long long Running::timer(double after) const {
  const double tick = scenario().tick;
  const double now = start + after + 1e6 * (device + 1);
  return static_cast<long long>(std::floor(now / tick) * tick);
}

}  // namespace stand_in
