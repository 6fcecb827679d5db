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

Nodes& nodes_of(cudaGraph_t graph) {
  return state_of(node().graphs, graph, "a graph");
}
GraphExecState& exec_of(cudaGraphExec_t exec) {
  return state_of(node().graph_execs, exec, "an executable graph");
}

}  // namespace

cudaError_t begin_capture(cudaStream_t stream) {
  const Lock lock(node().mutex);
  StreamState& found = stream_of(stream);
  if (&found == &node().gpus[current_gpu()].legacy) {
    return cudaErrorStreamCaptureUnsupported;
  }
  if (found.captured) return cudaErrorIllegalState;
  found.captured = std::make_shared<Nodes>();
  found.lane = 0;
  return cudaSuccess;
}

cudaError_t end_capture(cudaStream_t stream, cudaGraph_t* graph) {
  const Lock lock(node().mutex);
  const std::shared_ptr<Nodes> captured = stream_of(stream).captured;
  if (!captured) return cudaErrorIllegalState;
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
  Nodes* found = &nodes_of(graph);
  node().graphs.erase(found);
  delete found;
  return cudaSuccess;
}

cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph) {
  const Lock lock(node().mutex);
  const Nodes& found = nodes_of(graph);
  host_spends(scenario().instantiate_node * static_cast<double>(found.size()));
  auto* made = new GraphExecState;
  made->nodes = found;
  node().graph_execs.insert(made);
  *exec = reinterpret_cast<cudaGraphExec_t>(made);
  return cudaSuccess;
}

cudaError_t update_graph(cudaGraphExec_t exec, cudaGraph_t graph) {
  const Lock lock(node().mutex);
  const Nodes& found = nodes_of(graph);
  Nodes& nodes = exec_of(exec).nodes;
  if (found.size() != nodes.size()) return cudaErrorGraphExecUpdateFailure;
  host_spends(scenario().update_node * static_cast<double>(found.size()));
  nodes = found;
  return cudaSuccess;
}

cudaError_t destroy_graph_exec(cudaGraphExec_t exec) {
  const Lock lock(node().mutex);
  GraphExecState* state = &exec_of(exec);
  run_all();
  for (auto& [number, lane] : state->lanes) node().busy.erase(&lane);
  node().graph_execs.erase(state);
  delete state;
  return cudaSuccess;
}

cudaError_t upload_graph(cudaGraphExec_t exec) {
  const Lock lock(node().mutex);
  GraphExecState& state = exec_of(exec);
  if (!state.uploaded) {
    host_spends(scenario().upload_node *
                static_cast<double>(state.nodes.size()));
  }
  state.uploaded = true;
  return cudaSuccess;
}

cudaError_t queue_graph(cudaGraphExec_t exec, cudaStream_t stream) {
  upload_graph(exec);
  Lock lock(node().mutex);
  StreamState& into = stream_of(stream);
  GraphExecState& state = exec_of(exec);
  bool first = true;
  for (const GraphNode& one : state.nodes) {
    StreamState& lane = one.lane == 0 ? into : state.lanes[one.lane];
    lane.device = one.device;
    node().busy.insert(&lane);
    if (one.records != nullptr) {
      push_record(lane, state.events[one.records], 0);
    } else if (one.waits != nullptr) {
      push_wait(lane, state.events[one.waits]);
    } else {
      check_arrived(lane);
      const double gap = gap_of(one.launch, lane) * scenario().node_gap;
      push_work(lane, work_of(one.launch, one.model,
                              first ? scenario().gap_seam : gap));
      first = false;
    }
  }
  node().busy.insert(&into);
  node().changed.notify_all();
  return after_launch(lock, into);
}

}  // namespace stand_in
