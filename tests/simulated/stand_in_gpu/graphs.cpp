// Graphs of the pretended node: captured from streams, and launched into one.
#include <memory>
#include <set>
#include <string>

#include "stand_in_gpu/node.hpp"
#include "stand_in_gpu/node_state.hpp"
#include "stand_in_gpu/scenario.hpp"
#include "stand_in_gpu/virtual_clock.hpp"

namespace stand_in {
namespace {

// The state behind a handle, if it is one of `all`.
template <class State, class Handle>
State* state_of(const std::set<State*>& all, Handle handle, const char* what) {
  auto* found = reinterpret_cast<State*>(handle);
  if (all.count(found) != 0) return found;
  complain(std::string(what) + " that there is not");
  return nullptr;
}

}  // namespace

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
      check_arrived(lane);
      const double gap = gap_of(one.launch, lane) * scenario().node_gap;
      push_work(lane, work_of(one.launch, one.model,
                              first ? scenario().gap_seam : gap));
      first = false;
    }
  }
  node().busy.insert(into);
  node().changed.notify_all();
  return after_launch(lock, *into);
}

}  // namespace stand_in
