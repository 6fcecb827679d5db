#include "stand_in_gpu/node.hpp"

#include <cxxabi.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <vector>

#include "stand_in_gpu/scenario.hpp"
#include "stand_in_gpu/virtual_clock.hpp"

namespace stand_in {
namespace {

struct StreamState;
struct Work;

// Kernels of several GPUs that start together.
struct Meeting {
  std::vector<std::pair<StreamState*, Work*>> members;
  int size = 1;
  bool complete() const { return static_cast<int>(members.size()) == size; }
};

// Something in a stream.
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

// What a graph has of a stream that it was captured from: a kernel, or an event
// that is recorded or waited for there.
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

// When something has reached a number, of the last numbers.
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
  // By meeting and rank how many launches there were; the meetings by number.
  std::map<std::pair<const void*, int>, int> launches;
  std::map<std::pair<const void*, int>, std::weak_ptr<Meeting>> meetings;
  std::vector<Provider> providers;
  cudaError_t error = cudaSuccess;
  bool call_failed = false;
};

Node& node() {
  static Node& only = *[] {
    auto* made = new Node;  // never freed: programs use it until they end
    made->gpus.resize(static_cast<std::size_t>(scenario().gpus));
    for (std::size_t i = 0; i < made->gpus.size(); ++i) {
      made->gpus[i].legacy.device = static_cast<int>(i);
      made->gpus[i].per_thread.device = static_cast<int>(i);
      made->gpus[i].random.seed(static_cast<unsigned long>(
          1000 * scenario().seed + 64 * (process() + 1) + i));
    }
    return made;
  }();
  return only;
}

using Lock = std::unique_lock<std::mutex>;

StreamState* stream_of(cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy) {
    return &node().gpus[current_gpu()].legacy;
  }
  if (stream == cudaStreamPerThread) {
    return &node().gpus[current_gpu()].per_thread;
  }
  auto* found = reinterpret_cast<StreamState*>(stream);
  if (node().streams.count(found) == 0) {
    complain("a stream that there is not");
    return nullptr;
  }
  return found;
}

EventState* event_of(cudaEvent_t event) {
  auto* found = reinterpret_cast<EventState*>(event);
  if (node().events.count(found) == 0) {
    complain("an event that there is not");
    return nullptr;
  }
  return found;
}

// The state behind a handle, if it is one of `all`.
template <class State, class Handle>
State* state_of(const std::set<State*>& all, Handle handle, const char* what) {
  auto* found = reinterpret_cast<State*>(handle);
  if (all.count(found) != 0) return found;
  complain(std::string(what) + " that there is not");
  return nullptr;
}

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
  Ended ended =
      abandoned ? work.model.abandoned(running) : work.model.run(running);
  ended.nanoseconds += more;
  return ended;
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

// Does all that can be done on all GPUs.
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

bool launches_block() {
  const char* given = std::getenv("CUDA_LAUNCH_BLOCKING");
  return given != nullptr && std::strcmp(given, "0") != 0;
}

// Until the work of a stream is done. What waits for a kernel of another GPU
// waits for the thread that launches it, in real time, unless that cannot come:
// it may have failed, or wait for a kernel that it has launched before.
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
    // Not by the steady clock, which is the virtual one.
    const bool never = node().call_failed || launches_block();
    const auto until = std::chrono::system_clock::now() + (never ? 200ms : 20s);
    if (node().changed.wait_until(lock, until) == std::cv_status::no_timeout) {
      continue;
    }
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

// Until a GPU has done its work; when that is.
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

// What this process has drawn for the gaps of such launches, as a part of them.
double drawn_level(const Launch& launch) {
  if (scenario().process_spread == 0) return 0;
  const std::string key = launch.name + " " + std::to_string(launch.blocks()) +
                          " " + std::to_string(launch.gpus) + " " +
                          std::to_string(static_cast<int>(launch.kind)) + " " +
                          std::to_string(process()) + " " +
                          std::to_string(scenario().seed);
  std::mt19937_64 random(std::hash<std::string>{}(key));
  return scenario().process_spread * std::normal_distribution<double>()(random);
}

bool is_held(const StreamState& stream) {
  return !stream.work.empty() &&
         stream.work.front().name.find("::hold_kernel(") != std::string::npos;
}

double gap_of(const Launch& launch, const StreamState& stream) {
  const Scenario& costs = scenario();
  const double gaps[] = {costs.gap_traditional, costs.gap_cooperative,
                         costs.gap_programmatic, costs.gap_multi_device};
  constexpr int kAlike = 32;  // streams made one after the other
  const int level = stream.number / kAlike;
  const double gap = gaps[static_cast<int>(launch.kind)];
  const bool first = node().gpus[stream.device].first == &stream;
  return gap * launch.gpus * (is_held(stream) ? costs.held_gap : 1) *
         (first ? costs.first_stream : 1) * (1 + drawn_level(launch)) *
         (1 + scenario().stream_level * level) *
         (1 + scenario().process_level * std::max(process(), 0));
}

// Of a kernel, and its module, what is not loaded yet.
void load(const void* function) {
  if (!loads_lazily()) return;
  const void* module = node().modules[function];
  if (node().loaded.insert(module).second) host_spends(scenario().load_module);
  if (node().loaded.insert(function).second) {
    host_spends(scenario().load_kernel);
  }
}

Work work_of(const Launch& launch, const Model& model, double gap) {
  Work work;
  work.submitted = host_now() + scenario().flight;
  work.gap = gap;
  work.kernel = true;
  work.threads = launch.threads();
  work.model = model;
  work.name = launch.name;
  return work;
}

cudaError_t push_kernel(const Launch& launch, StreamState& stream,
                        const std::shared_ptr<Meeting>& together) {
  if (launch.threads() == 0 || launch.threads() > 1024 ||
      launch.blocks() == 0) {
    return cudaErrorInvalidConfiguration;
  }
  if (stream.device != launch.device) {
    complain("a launch into a stream of another GPU");
    return cudaErrorInvalidResourceHandle;
  }
  const bool resident = launch.kind == LaunchKind::kCooperative ||
                        launch.kind == LaunchKind::kMultiDevice;
  if (resident && static_cast<int>(launch.blocks()) >
                      resident_blocks(launch.threads()) *
                          static_cast<int>(scenario().sms)) {
    return cudaErrorCooperativeLaunchTooLarge;
  }
  const auto model = find_model(launch);
  if (!model) {
    complain("no model of " + launch.name);
    return cudaErrorInvalidDeviceFunction;
  }
  if (stream.captured) {
    stream.captured->push_back({stream.lane, stream.device, launch, *model});
    return cudaSuccess;
  }
  const StreamState*& first = node().gpus[stream.device].first;
  if (first == nullptr) first = &stream;
  Work work = work_of(launch, *model, gap_of(launch, stream));
  work.meeting = together;
  if (!together && model->meeting != nullptr && model->members > 1) {
    const int turn = node().launches[{model->meeting, model->rank}]++;
    auto& known = node().meetings[{model->meeting, turn}];
    work.meeting = known.lock();
    if (!work.meeting) {
      work.meeting = std::make_shared<Meeting>();
      work.meeting->size = model->members;
      known = work.meeting;
    }
  }
  stream.work.push_back(std::move(work));
  node().busy.insert(&stream);
  if (stream.work.back().meeting) {
    stream.work.back().meeting->members.emplace_back(&stream,
                                                     &stream.work.back());
  }
  node().changed.notify_all();
  return cudaSuccess;
}

// Where launches wait for their kernels.
cudaError_t after_launch(Lock& lock, StreamState& stream) {
  if (!launches_block()) return cudaSuccess;
  drain(lock, stream);
  return result_of_wait(stream.end);
}

void push(StreamState& stream, std::function<Ended(const Running&)> run) {
  Work work;
  work.submitted = host_now();
  work.model.run = std::move(run);
  stream.work.push_back(std::move(work));
  node().busy.insert(&stream);
}

void push_record(StreamState& stream, EventState& event, double cost) {
  push(stream,
       [&event, cost, number = ++event.asked](const Running& running) -> Ended {
         event.time = running.start + cost;
         event.done = number;
         event.reached.note(number, event.time);
         return {cost};
       });
}

void push_wait(StreamState& stream, EventState& event) {
  push(stream, [&event, number = event.asked](const Running& running) -> Ended {
    if (event.done < number) return {0, cudaSuccess, true};
    const double time = event.reached.time_of(number);
    return {std::max(0., time - running.start) + scenario().event_wait};
  });
}

long long new_version() {
  static long long last = 0;
  return ++last;
}

Allocation* allocation_of(const void* address, std::size_t bytes) {
  auto* at = static_cast<char*>(const_cast<void*>(address));
  auto found = node().memory.upper_bound(at);
  if (found == node().memory.begin()) return nullptr;
  --found;
  const bool within = at + bytes <= found->first + found->second.bytes;
  return within ? &found->second : nullptr;
}

void copy(void* to, const void* from, std::size_t bytes) {
  if (Allocation* changed = allocation_of(to, bytes)) {
    changed->version = new_version();
  }
  std::memcpy(to, from, bytes);
}

constexpr std::size_t kSharedBlock = std::size_t{2} << 20;

// What a handle says of memory.
struct SharedMemory {
  int process, file;
  std::size_t bytes;
};

// The pages of a file, which gets so many if it is new; null where that fails.
char* map(int file, std::size_t bytes, bool is_new) {
  if (is_new && ftruncate(file, static_cast<off_t>(bytes)) != 0) return nullptr;
  void* made =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return made == MAP_FAILED ? nullptr : static_cast<char*>(made);
}

// Whoever meets in memory that is given back has done so.
template <class Counted>
void forget_meetings(Counted& of_meeting, const char* first,
                     std::size_t bytes) {
  constexpr int kFirst = std::numeric_limits<int>::min();
  of_meeting.erase(of_meeting.lower_bound({first, kFirst}),
                   of_meeting.lower_bound({first + bytes, kFirst}));
}

}  // namespace

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

bool add_models(Provider provider) {
  node().providers.push_back(provider);
  return true;
}

std::optional<Model> find_model(const Launch& launch) {
  for (const Provider provider : node().providers) {
    if (auto model = provider(launch)) return model;
  }
  return std::nullopt;
}

void* variable(int device, std::size_t size) {
  for (auto& [symbol, variable] : node().variables) {
    if (variable.size == size) return variable.of_gpu.at(device).data();
  }
  complain("no variable of so many bytes");
  return nullptr;
}

void complain(const std::string& what) {
  std::fprintf(stderr, "stand-in: misuse: %s\n", what.c_str());
}

bool inside(const void* address, std::size_t bytes, const char* whose) {
  if (allocation_of(address, bytes) != nullptr) return true;
  complain(std::string("out of bounds: ") + whose);
  return false;
}

bool inside(void* address, std::size_t bytes, const char* whose) {
  if (!inside(const_cast<const void*>(address), bytes, whose)) return false;
  allocation_of(address, bytes)->version = new_version();
  return true;
}

bool is_foreign(const void* address) {
  const Allocation* found = allocation_of(address, 0);
  return found != nullptr && found->foreign;
}

long long version_of(const void* address) {
  const Allocation* found = allocation_of(address, 0);
  return found == nullptr ? 0 : found->version;
}

int gpu_count() { return static_cast<int>(scenario().gpus); }

int& current_gpu() {
  thread_local int current = 0;
  return current;
}

cudaError_t poisoned() { return node().error; }
void poison(cudaError_t error) { node().error = error; }

void note_failed_call() {
  const Lock lock(node().mutex);
  node().call_failed = true;
  node().changed.notify_all();
}

cudaError_t allocate(void** address, std::size_t bytes, bool on_host) {
  const Lock lock(node().mutex);
  Gpu& gpu = node().gpus[current_gpu()];
  const auto total =
      static_cast<std::size_t>(scenario().memory_mib * (1 << 20));
  if (!on_host && gpu.used + bytes > total) return cudaErrorMemoryAllocation;
  // What is handed to other processes has whole blocks of 2 MiB of its own.
  const bool shared = !on_host && bytes > 0 && bytes % kSharedBlock == 0;
  const int file = shared ? memfd_create("stand-in", MFD_CLOEXEC) : -1;
  char* made =
      shared ? map(file, bytes, true)
             : static_cast<char*>(std::aligned_alloc(
                   512, (std::max<std::size_t>(bytes, 1) + 511) / 512 * 512));
  if (made == nullptr) return cudaErrorMemoryAllocation;
  std::memset(made, on_host ? 0 : 0xa5, std::min<std::size_t>(bytes, 1 << 22));
  if (!on_host) gpu.used += bytes;
  node().memory[made] = {bytes, on_host ? -1 : current_gpu(), new_version(),
                         file};
  *address = made;
  return cudaSuccess;
}

cudaError_t release(void* address, bool on_host) {
  Lock lock(node().mutex);
  if (address == nullptr) return cudaSuccess;
  const auto found = node().memory.find(static_cast<char*>(address));
  if (found == node().memory.end() || found->second.foreign ||
      (found->second.device < 0) != on_host) {
    complain("memory given back that is none, or is elsewhere");
    return cudaErrorInvalidValue;
  }
  // Work may use it until it ends, that of all GPUs what is on the host.
  const int device = found->second.device;
  for (int gpu = 0; gpu < gpu_count(); ++gpu) {
    if (on_host || gpu == device) drain_gpu(lock, gpu);
  }
  if (!on_host) node().gpus[device].used -= found->second.bytes;
  forget_meetings(node().launches, found->first, found->second.bytes);
  forget_meetings(node().meetings, found->first, found->second.bytes);
  if (found->second.file >= 0) {
    munmap(address, found->second.bytes);
    close(found->second.file);
  } else {
    std::free(address);
  }
  node().memory.erase(found);
  return cudaSuccess;
}

cudaError_t share_memory(cudaIpcMemHandle_t* handle, const void* address) {
  const Lock lock(node().mutex);
  const Allocation* found = allocation_of(address, 0);
  if (found == nullptr || found->file < 0) return cudaErrorInvalidValue;
  const SharedMemory shared = {getpid(), found->file, found->bytes};
  std::memset(handle, 0, sizeof *handle);
  std::memcpy(handle, &shared, sizeof shared);
  return cudaSuccess;
}

cudaError_t open_shared_memory(void** address,
                               const cudaIpcMemHandle_t& handle) {
  const Lock lock(node().mutex);
  SharedMemory shared = {};
  std::memcpy(&shared, &handle, sizeof shared);
  if (shared.process == getpid()) return cudaErrorDeviceUninitialized;
  const std::string path = "/proc/" + std::to_string(shared.process) + "/fd/" +
                           std::to_string(shared.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return cudaErrorMapBufferObjectFailed;
  char* made = map(file, shared.bytes, false);
  close(file);
  if (made == nullptr) return cudaErrorMapBufferObjectFailed;
  node().memory[made] = {shared.bytes, current_gpu(), new_version(), -1, true};
  *address = made;
  return cudaSuccess;
}

cudaError_t close_shared_memory(void* address) {
  const Lock lock(node().mutex);
  const auto found = node().memory.find(static_cast<char*>(address));
  if (found == node().memory.end() || !found->second.foreign) {
    complain("memory of another process closed that is none");
    return cudaErrorInvalidValue;
  }
  munmap(address, found->second.bytes);
  node().memory.erase(found);
  return cudaSuccess;
}

void free_memory(std::size_t* free, std::size_t* total) {
  const Lock lock(node().mutex);
  *total = static_cast<std::size_t>(scenario().memory_mib * (1 << 20));
  *free = *total - node().gpus[current_gpu()].used;
}

cudaError_t create_stream(cudaStream_t* stream) {
  const Lock lock(node().mutex);
  auto* made = new StreamState;
  made->device = current_gpu();
  made->number = node().gpus[current_gpu()].streams++;
  node().streams.insert(made);
  node().gpus[made->device].made.insert(made);
  *stream = reinterpret_cast<cudaStream_t>(made);
  return cudaSuccess;
}

cudaError_t destroy_stream(cudaStream_t stream) {
  const Lock lock(node().mutex);
  StreamState* found = stream_of(stream);
  if (found == nullptr) return cudaErrorInvalidResourceHandle;
  run_all();
  node().streams.erase(found);
  node().gpus[found->device].made.erase(found);
  node().busy.erase(found);
  delete found;
  return cudaSuccess;
}

int gpu_of_stream(cudaStream_t stream) {
  const Lock lock(node().mutex);
  const StreamState* found = stream_of(stream);
  return found == nullptr ? -1 : found->device;
}

cudaError_t create_event(cudaEvent_t* event) {
  const Lock lock(node().mutex);
  auto* made = new EventState;
  node().events.insert(made);
  *event = reinterpret_cast<cudaEvent_t>(made);
  return cudaSuccess;
}

cudaError_t destroy_event(cudaEvent_t event) {
  const Lock lock(node().mutex);
  EventState* found = event_of(event);
  if (found == nullptr) return cudaErrorInvalidResourceHandle;
  run_all();
  node().events.erase(found);
  delete found;
  return cudaSuccess;
}

cudaError_t queue_kernel(const Launch& launch, cudaStream_t stream) {
  Lock lock(node().mutex);
  load(launch.function);
  StreamState* into = stream_of(stream);
  if (into == nullptr) return cudaErrorInvalidResourceHandle;
  const cudaError_t error = push_kernel(launch, *into, nullptr);
  return error != cudaSuccess ? error : after_launch(lock, *into);
}

cudaError_t queue_kernels(const std::vector<Launch>& launches,
                          const std::vector<cudaStream_t>& streams) {
  Lock lock(node().mutex);
  const auto together = std::make_shared<Meeting>();
  together->size = static_cast<int>(launches.size());
  for (std::size_t i = 0; i < launches.size(); ++i) {
    StreamState* into = stream_of(streams[i]);
    if (into == nullptr) return cudaErrorInvalidResourceHandle;
    const cudaError_t error = push_kernel(launches[i], *into, together);
    if (error != cudaSuccess) return error;
  }
  return after_launch(lock, *stream_of(streams[0]));
}

cudaError_t queue_copy(void* to, const void* from, std::size_t bytes,
                       cudaStream_t stream, bool between_gpus) {
  Lock lock(node().mutex);
  StreamState* into = stream_of(stream);
  if (into == nullptr) return cudaErrorInvalidResourceHandle;
  if (between_gpus && !(inside(to, bytes, "a copy between GPUs") &&
                        inside(from, bytes, "a copy between GPUs"))) {
    return cudaErrorInvalidValue;
  }
  push(*into, [=](const Running&) -> Ended {
    copy(to, from, bytes);
    return {scenario().call_copy};
  });
  // As CUDA documents: a copy to memory that it has not allocated is done when
  // the call returns. (That the host has waited shows in the next wait.)
  if (allocation_of(to, bytes) == nullptr) drain(lock, *into);
  return cudaSuccess;
}

cudaError_t queue_event(cudaEvent_t event, cudaStream_t stream) {
  Lock lock(node().mutex);
  StreamState* into = stream_of(stream);
  EventState* state = event_of(event);
  if (into == nullptr || state == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  state->captured = into->captured;
  if (into->captured) {
    GraphNode record = {into->lane, into->device};
    record.records = state;
    into->captured->push_back(record);
  } else {
    push_record(*into, *state, scenario().event);
  }
  return cudaSuccess;
}

cudaError_t queue_wait(cudaStream_t stream, cudaEvent_t event) {
  Lock lock(node().mutex);
  StreamState* into = stream_of(stream);
  EventState* state = event_of(event);
  if (into == nullptr || state == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  if (const auto graph = state->captured.lock()) {
    if (!into->captured) {  // the stream joins
      int lanes = 0;
      for (const GraphNode& one : *graph) lanes = std::max(lanes, one.lane + 1);
      into->captured = graph;
      into->lane = lanes;
    }
    GraphNode wait = {into->lane, into->device};
    wait.waits = state;
    graph->push_back(wait);
  } else {
    push_wait(*into, *state);
  }
  return cudaSuccess;
}

cudaError_t queue_memory_operation(cudaStream_t stream, unsigned* address,
                                   unsigned value, bool writes) {
  Lock lock(node().mutex);
  StreamState* into = stream_of(stream);
  if (into == nullptr) return cudaErrorInvalidResourceHandle;
  if (!inside(address, sizeof *address, "a stream's memory operation")) {
    return cudaErrorInvalidValue;
  }
  push(*into, [=](const Running& running) -> Ended {
    Reached& written = node().written[address];
    if (writes) {
      *address = value;
      written.note(value, running.start + scenario().event);
      return {scenario().event};
    }
    if (static_cast<int>(*address - value) < 0) return {0, cudaSuccess, true};
    const double time = written.time_of(value);
    return {std::max(0., time - running.start) + scenario().event_wait};
  });
  return cudaSuccess;
}

cudaError_t begin_capture(cudaStream_t stream) {
  const Lock lock(node().mutex);
  StreamState* found = stream_of(stream);
  if (found == nullptr) return cudaErrorInvalidResourceHandle;
  if (found == &node().gpus[current_gpu()].legacy) {
    return cudaErrorStreamCaptureUnsupported;
  }
  if (found->captured) return cudaErrorIllegalState;
  found->captured = std::make_shared<Nodes>();
  found->lane = 0;
  return cudaSuccess;
}

cudaError_t end_capture(cudaStream_t stream, cudaGraph_t* graph) {
  const Lock lock(node().mutex);
  StreamState* found = stream_of(stream);
  if (found == nullptr) return cudaErrorInvalidResourceHandle;
  if (!found->captured) return cudaErrorIllegalState;
  const std::shared_ptr<Nodes> captured = found->captured;
  auto* made = new Nodes(*captured);
  for (StreamState* stream : node().streams) {
    if (stream->captured == captured) stream->captured.reset();
  }
  node().graphs.insert(made);
  *graph = reinterpret_cast<cudaGraph_t>(made);
  return cudaSuccess;
}

cudaError_t destroy_graph(cudaGraph_t graph) {
  const Lock lock(node().mutex);
  Nodes* found = state_of(node().graphs, graph, "a graph");
  if (found == nullptr) return cudaErrorInvalidResourceHandle;
  node().graphs.erase(found);
  delete found;
  return cudaSuccess;
}

cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph) {
  const Lock lock(node().mutex);
  const Nodes* found = state_of(node().graphs, graph, "a graph");
  if (found == nullptr) return cudaErrorInvalidResourceHandle;
  host_spends(scenario().instantiate_node * static_cast<double>(found->size()));
  auto* made = new GraphExecState;
  made->nodes = *found;
  node().graph_execs.insert(made);
  *exec = reinterpret_cast<cudaGraphExec_t>(made);
  return cudaSuccess;
}

cudaError_t update_graph(cudaGraphExec_t exec, cudaGraph_t graph) {
  const Lock lock(node().mutex);
  const Nodes* found = state_of(node().graphs, graph, "a graph");
  GraphExecState* state =
      state_of(node().graph_execs, exec, "an executable graph");
  if (found == nullptr || state == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  if (found->size() != state->nodes.size()) {
    return cudaErrorGraphExecUpdateFailure;
  }
  host_spends(scenario().update_node * static_cast<double>(found->size()));
  state->nodes = *found;
  return cudaSuccess;
}

cudaError_t destroy_graph_exec(cudaGraphExec_t exec) {
  const Lock lock(node().mutex);
  GraphExecState* state =
      state_of(node().graph_execs, exec, "an executable graph");
  if (state == nullptr) return cudaErrorInvalidResourceHandle;
  run_all();
  for (auto& [number, lane] : state->lanes) node().busy.erase(&lane);
  node().graph_execs.erase(state);
  delete state;
  return cudaSuccess;
}

cudaError_t upload_graph(cudaGraphExec_t exec) {
  const Lock lock(node().mutex);
  GraphExecState* state =
      state_of(node().graph_execs, exec, "an executable graph");
  if (state == nullptr) return cudaErrorInvalidResourceHandle;
  if (!state->uploaded) {
    host_spends(scenario().upload_node *
                static_cast<double>(state->nodes.size()));
  }
  state->uploaded = true;
  return cudaSuccess;
}

cudaError_t queue_graph(cudaGraphExec_t exec, cudaStream_t stream) {
  const cudaError_t error = upload_graph(exec);
  if (error != cudaSuccess) return error;
  Lock lock(node().mutex);
  StreamState* into = stream_of(stream);
  GraphExecState* state =
      state_of(node().graph_execs, exec, "an executable graph");
  if (into == nullptr || state == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  bool first = true;
  for (const GraphNode& one : state->nodes) {
    StreamState& lane = one.lane == 0 ? *into : state->lanes[one.lane];
    lane.device = one.device;
    node().busy.insert(&lane);
    if (one.records != nullptr) {
      push_record(lane, state->events[one.records], 0);
    } else if (one.waits != nullptr) {
      push_wait(lane, state->events[one.waits]);
    } else {
      const double gap = gap_of(one.launch, lane) * scenario().node_gap;
      lane.work.push_back(
          work_of(one.launch, one.model, first ? scenario().gap_seam : gap));
      first = false;
    }
  }
  node().busy.insert(into);
  node().changed.notify_all();
  return after_launch(lock, *into);
}

cudaError_t wait_for_stream(cudaStream_t stream) {
  Lock lock(node().mutex);
  StreamState* found = stream_of(stream);
  if (found == nullptr) return cudaErrorInvalidResourceHandle;
  drain(lock, *found);
  return result_of_wait(found->end);
}

cudaError_t wait_for_gpu() {
  Lock lock(node().mutex);
  return result_of_wait(drain_gpu(lock, current_gpu()));
}

cudaError_t wait_for_event(cudaEvent_t event) {
  Lock lock(node().mutex);
  EventState* state = event_of(event);
  if (state == nullptr) return cudaErrorInvalidResourceHandle;
  run_all();
  if (node().error == cudaSuccess && state->queued()) {
    complain("an event that never comes");
    return cudaErrorLaunchTimeout;
  }
  return result_of_wait(state->time);
}

cudaError_t query_event(cudaEvent_t event) {
  Lock lock(node().mutex);
  EventState* state = event_of(event);
  if (state == nullptr) return cudaErrorInvalidResourceHandle;
  run_all();
  if (node().error != cudaSuccess) return node().error;
  return state->queued() || state->time > host_now() ? cudaErrorNotReady
                                                     : cudaSuccess;
}

cudaError_t elapsed(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  Lock lock(node().mutex);
  EventState *begin = event_of(from), *end = event_of(to);
  if (begin == nullptr || end == nullptr) return cudaErrorInvalidResourceHandle;
  if (begin->time < 0 || end->time < 0) return cudaErrorInvalidResourceHandle;
  *milliseconds = static_cast<float>((end->time - begin->time) * 1e-6);
  return cudaSuccess;
}

cudaError_t copy_now(void* to, const void* from, std::size_t bytes) {
  Lock lock(node().mutex);
  StreamState& legacy = node().gpus[current_gpu()].legacy;
  drain(lock, legacy);
  const cudaError_t error = result_of_wait(legacy.end);
  if (error != cudaSuccess) return error;
  if (allocation_of(from, bytes) == nullptr &&
      allocation_of(to, bytes) == nullptr) {
    complain("out of bounds: a copy");
    return cudaErrorInvalidValue;
  }
  copy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t set_now(void* to, int byte, std::size_t bytes) {
  Lock lock(node().mutex);
  StreamState& legacy = node().gpus[current_gpu()].legacy;
  drain(lock, legacy);
  const cudaError_t error = result_of_wait(legacy.end);
  if (error != cudaSuccess) return error;
  if (!inside(to, bytes, "cudaMemset")) return cudaErrorInvalidValue;
  std::memset(to, byte, bytes);
  return cudaSuccess;
}

int resident_blocks(unsigned threads) {
  return std::min(static_cast<int>(scenario().blocks_per_sm),
                  static_cast<int>(scenario().threads_per_sm) /
                      static_cast<int>(std::max(threads, 1u)));
}

void add_variable(const void* symbol, std::size_t size) {
  node().variables[symbol] = {
      size, std::vector<std::vector<char>>(node().gpus.size(),
                                           std::vector<char>(size))};
}

char* place_of(const void* symbol, std::size_t bytes, std::size_t offset) {
  const auto found = node().variables.find(symbol);
  if (found == node().variables.end()) return nullptr;
  auto& place = found->second.of_gpu.at(current_gpu());
  return offset + bytes > place.size() ? nullptr : place.data() + offset;
}

cudaError_t write_variable(const void* symbol, const void* from,
                           std::size_t bytes, std::size_t offset) {
  const Lock lock(node().mutex);
  char* to = place_of(symbol, bytes, offset);
  if (to == nullptr) return cudaErrorInvalidSymbol;
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t read_variable(void* to, const void* symbol, std::size_t bytes,
                          std::size_t offset) {
  const Lock lock(node().mutex);
  const char* from = place_of(symbol, bytes, offset);
  if (from == nullptr) return cudaErrorInvalidSymbol;
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

bool loads_lazily() {
  const char* given = std::getenv("CUDA_MODULE_LOADING");
  return given != nullptr && std::strcmp(given, "LAZY") == 0;
}

void add_kernel(const void* module, const void* function, const char* mangled) {
  // CUDA 11 puts the source's name before that of a kernel of this source
  // alone.
  const char* begin = std::strstr(mangled, "__Z");
  if (std::strncmp(mangled, "__nv_static_", 12) == 0 && begin != nullptr) {
    mangled = begin + 1;
  }
  int status = 0;
  char* name = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  node().kernels[function] = status == 0 ? name : mangled;
  node().modules[function] = module;
  std::free(name);
}

const std::string& kernel_name(const void* function) {
  static const std::string none;
  const auto found = node().kernels.find(function);
  return found == node().kernels.end() ? none : found->second;
}

void check_leaks() {
  const Lock lock(node().mutex);
  const auto memory = node().memory.size(), streams = node().streams.size(),
             events = node().events.size(),
             graphs = node().graphs.size() + node().graph_execs.size();
  if (memory + streams + events + graphs == 0) return;
  std::fprintf(stderr,
               "stand-in: leak: %zu allocations, %zu streams, %zu events, %zu "
               "graphs\n",
               memory, streams, events, graphs);
}

}  // namespace stand_in
