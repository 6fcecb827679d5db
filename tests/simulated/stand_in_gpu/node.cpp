#include "stand_in_gpu/node.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stand_in_gpu/node_state.hpp"
#include "stand_in_gpu/scenario.hpp"
#include "stand_in_gpu/virtual_clock.hpp"

namespace stand_in {
namespace {

bool is_held(const StreamState& stream) {
  return !stream.work.empty() &&
         stream.work.front().name.find("::hold_kernel(") != std::string::npos;
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
  check_arrived(stream);
  const StreamState*& first = node().gpus[stream.device].first;
  if (first == nullptr) first = &stream;
  Work work = work_of(launch, *model, gap_of(launch, stream));
  work.meeting = together;
  push_work(stream, std::move(work));
  node().changed.notify_all();
  return cudaSuccess;
}

void push(StreamState& stream, std::function<Ended(const Running&)> run) {
  Work work;
  work.submitted = host_now();
  work.model.run = std::move(run);
  stream.work.push_back(std::move(work));
  node().busy.insert(&stream);
}

}  // namespace

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

StreamState& stream_of(cudaStream_t stream) {
  Gpu& gpu = node().gpus[current_gpu()];
  if (stream == nullptr || stream == cudaStreamLegacy) return gpu.legacy;
  if (stream == cudaStreamPerThread) return gpu.per_thread;
  return state_of(node().streams, stream, "a stream");
}

EventState& event_of(cudaEvent_t event) {
  return state_of(node().events, event, "an event");
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
         (first ? costs.first_stream : 1) *
         (1 + scenario().stream_level * level) *
         (1 + scenario().process_level * std::max(process(), 0));
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

void push_work(StreamState& stream, Work work) {
  const Model& model = work.model;
  if (!work.meeting && model.meeting != nullptr && model.members > 1) {
    const int turn = node().launches[{model.meeting, model.rank}]++;
    auto& known = node().meetings[{model.meeting, turn}];
    work.meeting = known.lock();
    if (!work.meeting) {
      work.meeting = std::make_shared<Meeting>();
      work.meeting->size = model.members;
      known = work.meeting;
    }
  }
  stream.work.push_back(std::move(work));
  node().busy.insert(&stream);
  Work& pushed = stream.work.back();
  if (pushed.meeting) pushed.meeting->members.emplace_back(&stream, &pushed);
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

void complain(const std::string& what) {
  std::fprintf(stderr, "stand-in: misuse: %s\n", what.c_str());
}

void check_arrived(const StreamState& stream) {
  const Gpu& gpu = node().gpus[stream.device];
  if (gpu.arriving && &stream != &gpu.legacy) {
    complain("a kernel may begin before a copy to its GPU has arrived");
  }
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
  for (Gpu& gpu : node().gpus) gpu.arriving = false;  // it may be the wait
  node().changed.notify_all();
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
  StreamState* found = &stream_of(stream);
  run_all();
  node().streams.erase(found);
  node().gpus[found->device].made.erase(found);
  node().busy.erase(found);
  delete found;
  return cudaSuccess;
}

int gpu_of_stream(cudaStream_t stream) {
  const Lock lock(node().mutex);
  return stream_of(stream).device;
}

cudaError_t create_event(cudaEvent_t* event) {
  const Lock lock(node().mutex);
  *event = reinterpret_cast<cudaEvent_t>(
      *node().events.insert(new EventState).first);
  return cudaSuccess;
}

cudaError_t destroy_event(cudaEvent_t event) {
  const Lock lock(node().mutex);
  EventState* found = &event_of(event);
  run_all();
  node().events.erase(found);
  delete found;
  return cudaSuccess;
}

cudaError_t queue_kernel(const Launch& launch, cudaStream_t stream) {
  Lock lock(node().mutex);
  load(launch.function);
  StreamState& into = stream_of(stream);
  const cudaError_t error = push_kernel(launch, into, nullptr);
  return error != cudaSuccess ? error : after_launch(lock, into);
}

cudaError_t queue_kernels(const std::vector<Launch>& launches,
                          const std::vector<cudaStream_t>& streams) {
  Lock lock(node().mutex);
  const auto together = std::make_shared<Meeting>();
  together->size = static_cast<int>(launches.size());
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const cudaError_t error =
        push_kernel(launches[i], stream_of(streams[i]), together);
    if (error != cudaSuccess) return error;
  }
  return after_launch(lock, stream_of(streams[0]));
}

cudaError_t queue_copy(void* to, const void* from, std::size_t bytes,
                       cudaStream_t stream, bool between_gpus) {
  Lock lock(node().mutex);
  StreamState& into = stream_of(stream);
  if (between_gpus && !(inside(to, bytes, "a copy between GPUs") &&
                        inside(from, bytes, "a copy between GPUs"))) {
    return cudaErrorInvalidValue;
  }
  push(into, [=](const Running&) -> Ended {
    copy(to, from, bytes);
    return {scenario().call_copy};
  });
  // As CUDA documents: a copy to memory that it has not allocated is done when
  // the call returns. (That the host has waited shows in the next wait.)
  if (allocation_of(to, bytes) == nullptr) drain(lock, into);
  return cudaSuccess;
}

cudaError_t queue_event(cudaEvent_t event, cudaStream_t stream) {
  Lock lock(node().mutex);
  StreamState& into = stream_of(stream);
  EventState& state = event_of(event);
  state.captured = into.captured;
  if (into.captured) {
    GraphNode record = {into.lane, into.device};
    record.records = &state;
    into.captured->push_back(record);
  } else {
    push_record(into, state, scenario().event);
  }
  return cudaSuccess;
}

cudaError_t queue_wait(cudaStream_t stream, cudaEvent_t event) {
  Lock lock(node().mutex);
  StreamState& into = stream_of(stream);
  EventState& state = event_of(event);
  if (const auto graph = state.captured.lock()) {
    if (!into.captured) {  // the stream joins
      int lanes = 0;
      for (const GraphNode& one : *graph) lanes = std::max(lanes, one.lane + 1);
      into.captured = graph;
      into.lane = lanes;
    }
    GraphNode wait = {into.lane, into.device};
    wait.waits = &state;
    graph->push_back(wait);
  } else {
    push_wait(into, state);
  }
  return cudaSuccess;
}

cudaError_t queue_memory_operation(cudaStream_t stream, unsigned* address,
                                   unsigned value, bool writes) {
  Lock lock(node().mutex);
  StreamState& into = stream_of(stream);
  if (!inside(address, sizeof *address, "a stream's memory operation")) {
    return cudaErrorInvalidValue;
  }
  push(into, [=](const Running& running) -> Ended {
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

cudaError_t wait_for_stream(cudaStream_t stream) {
  Lock lock(node().mutex);
  StreamState& found = stream_of(stream);
  drain(lock, found);
  Gpu& gpu = node().gpus[found.device];
  if (&found == &gpu.legacy) gpu.arriving = false;
  return result_of_wait(found.end);
}

cudaError_t wait_for_gpu() {
  Lock lock(node().mutex);
  node().gpus[current_gpu()].arriving = false;
  return result_of_wait(drain_gpu(lock, current_gpu()));
}

cudaError_t wait_for_event(cudaEvent_t event) {
  Lock lock(node().mutex);
  const EventState& state = event_of(event);
  run_all();
  if (node().error == cudaSuccess && state.queued()) {
    complain("an event that never comes");
    return cudaErrorLaunchTimeout;
  }
  return result_of_wait(state.time);
}

cudaError_t query_event(cudaEvent_t event) {
  Lock lock(node().mutex);
  const EventState& state = event_of(event);
  run_all();
  if (node().error != cudaSuccess) return node().error;
  return state.queued() || state.time > host_now() ? cudaErrorNotReady
                                                   : cudaSuccess;
}

cudaError_t elapsed(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  Lock lock(node().mutex);
  const double begin = event_of(from).time, end = event_of(to).time;
  if (begin < 0 || end < 0) return cudaErrorInvalidResourceHandle;
  *milliseconds = static_cast<float>((end - begin) * 1e-6);
  return cudaSuccess;
}

int resident_blocks(unsigned threads) {
  return std::min(static_cast<int>(scenario().blocks_per_sm),
                  static_cast<int>(scenario().threads_per_sm) /
                      static_cast<int>(std::max(threads, 1u)));
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
