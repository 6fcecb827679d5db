// What the pretended node consists of, for the sources that act on it. They
// hold its mutex.
#pragma once

#include <cuda_runtime_api.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stand_in_gpu/model.hpp"

namespace stand_in {

struct StreamState;
struct Work;

/// Kernels of several GPUs that start together.
struct Meeting {
  std::vector<std::pair<StreamState*, Work*>> members;
  int size = 1;
  bool complete() const { return static_cast<int>(members.size()) == size; }
};

/// Something in a stream.
struct Work {
  double submitted = 0;  // when the GPU has got it
  double gap = 0;        // to what is before it in the stream
  bool kernel = false;
  unsigned threads = 0;  // of its blocks
  Model model;
  std::shared_ptr<Meeting> meeting;
  std::string name;
};

struct EventState;

/// What a graph has of a stream that it was captured from: a kernel, or an
/// event that is recorded or waited for there.
struct GraphNode {
  int lane = 0;  // the stream, by when it came into the graph
  int device = 0;
  Launch launch = {};  // its arguments are gone
  Model model = {};
  const EventState* records = nullptr;
  const EventState* waits = nullptr;
};
using Nodes = std::vector<GraphNode>;

struct StreamState {
  int device = 0;
  int number = 0;  // of those that its GPU has had
  std::deque<Work> work;
  double end = 0;                   // of what has been done
  std::shared_ptr<Nodes> captured;  // while launches make a graph
  int lane = 0;                     // there
};

/// When something has reached a number, of the last numbers.
class Reached {
 public:
  void note(long long number, double time) {
    constexpr std::size_t kMost = 4096;
    times_[number] = time;
    if (times_.size() > kMost) times_.erase(times_.begin());
  }
  double time_of(long long number) const {
    const auto found = times_.lower_bound(number);
    return found == times_.end() ? -1 : found->second;
  }

 private:
  std::map<long long, double> times_;
};

struct EventState {
  double time = -1;
  long long asked = 0, done = 0;  // records
  Reached reached;
  bool queued() const { return done < asked; }
  std::weak_ptr<Nodes> captured;  // recorded there
};

struct GraphExecState {
  Nodes nodes;
  bool uploaded = false;
  std::map<int, StreamState> lanes =
      {};  // but the first, which is launched into
  std::map<const EventState*, EventState> events = {};
};

struct Allocation {
  std::size_t bytes;
  int device;  // -1: on the host
  long long version;
  int file = -1;         // whose pages it is, where processes can share it
  bool foreign = false;  // of another process
};

struct Gpu {
  StreamState legacy, per_thread;
  std::set<StreamState*> made;
  int streams = 0;                     // made so far
  const StreamState* first = nullptr;  // that got a kernel
  std::size_t used = 0;
  std::mt19937_64 random;
  /// What the legacy stream writes may still be on its way: no other stream
  /// waits for it.
  bool arriving = false;
};

struct Node {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Gpu> gpus;
  std::map<char*, Allocation> memory;
  std::set<StreamState*> streams;
  std::set<StreamState*> busy;  // those with work, default streams too
  std::set<EventState*> events;
  std::map<const unsigned*, Reached> written;  // by streams
  std::set<Nodes*> graphs;
  std::set<GraphExecState*> graph_execs;
  std::map<const void*, std::string> kernels;
  std::map<const void*, const void*> modules;  // of kernels
  std::set<const void*> loaded;                // kernels and modules
  struct Variable {
    std::size_t size;
    std::vector<std::vector<char>> of_gpu;
  };
  std::map<const void*, Variable> variables;
  /// By meeting and rank how many launches there were; the meetings by number.
  std::map<std::pair<const void*, int>, int> launches;
  std::map<std::pair<const void*, int>, std::weak_ptr<Meeting>> meetings;
  std::vector<Provider> providers;
  cudaError_t error = cudaSuccess;
  bool call_failed = false;
};

/// The only one; never freed.
Node& node();

using Lock = std::unique_lock<std::mutex>;

/// The state behind a handle. Where there is none, the call fails.
StreamState& stream_of(cudaStream_t stream);
EventState& event_of(cudaEvent_t event);
/// The same of one of `all`.
template <class State, class Handle>
State& state_of(const std::set<State*>& all, Handle handle, const char* what) {
  auto* found = reinterpret_cast<State*>(handle);
  if (all.count(found) != 0) return *found;
  complain(std::string(what) + " that there is not");
  throw Failed{cudaErrorInvalidResourceHandle};
}

/// The time before a kernel in a stream, and the kernel as work of one.
double gap_of(const Launch& launch, const StreamState& stream);
Work work_of(const Launch& launch, const Model& model, double gap);
/// Puts a kernel into a stream, and into the meeting of its model.
void push_work(StreamState& stream, Work work);
void push_record(StreamState& stream, EventState& event, double cost);
void push_wait(StreamState& stream, EventState& event);
/// Where launches wait for their kernels, waits.
cudaError_t after_launch(Lock& lock, StreamState& stream);

/// Complains where a kernel may begin before all that it reads has arrived.
void check_arrived(const StreamState& stream);

/// Does all that can be done on all GPUs.
void run_all();
/// Until the work of a stream is done. What waits for a kernel of another GPU
/// waits for the thread that launches it, in real time, unless that cannot
/// come: it may have failed, or wait for a kernel that it has launched before.
void drain(Lock& lock, StreamState& stream);
/// Until a GPU has done its work; when that is.
double drain_gpu(Lock& lock, int device);
/// The host learns of it.
cudaError_t result_of_wait(double end);

/// Where so many bytes from an address lie; nullptr: in none.
Allocation* allocation_of(const void* address, std::size_t bytes);
void copy(void* to, const void* from, std::size_t bytes);

}  // namespace stand_in
