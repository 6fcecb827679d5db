// The pretended node: memory, streams and the order in which things happen on
// the GPUs. Work is done when the host waits for it, in the order of streams.
// All functions may be called by several threads.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "stand_in_gpu/model.hpp"

namespace stand_in {

int gpu_count();

/// The calling thread's GPU.
int& current_gpu();

/// Whether any of the first GPUs has access to the memory of another one.
bool has_peer_access(int gpus);

/// The error of a kernel, which all calls return from then on.
cudaError_t poisoned();
void poison(cudaError_t error);

/// Tells those that wait for kernels of other GPUs that a call has failed: they
/// may never come.
void note_failed_call();

cudaError_t allocate(void** address, std::size_t bytes, bool on_host);
cudaError_t release(void* address, bool on_host);
/// Memory of a GPU that other processes of the node open, too.
cudaError_t share_memory(cudaIpcMemHandle_t* handle, const void* address);
cudaError_t open_shared_memory(void** address,
                               const cudaIpcMemHandle_t& handle);
cudaError_t close_shared_memory(void* address);
cudaError_t free_memory(std::size_t* free, std::size_t* total);

cudaError_t create_stream(cudaStream_t* stream);
cudaError_t destroy_stream(cudaStream_t stream);
int gpu_of_stream(cudaStream_t stream);
cudaError_t create_event(cudaEvent_t* event);
cudaError_t destroy_event(cudaEvent_t event);

/// Queues work. That of `kind` has been called by now.
cudaError_t queue_kernel(const Launch& launch, cudaStream_t stream);
cudaError_t queue_kernels(const std::vector<Launch>& launches,
                          const std::vector<cudaStream_t>& streams);
cudaError_t queue_copy(void* to, const void* from, std::size_t bytes,
                       cudaStream_t stream, bool between_gpus);
cudaError_t queue_event(cudaEvent_t event, cudaStream_t stream);
cudaError_t queue_wait(cudaStream_t stream, cudaEvent_t event);

/// The stream writes a word, or waits until it is as large.
cudaError_t queue_memory_operation(cudaStream_t stream, unsigned* address,
                                   unsigned value, bool writes);

/// Launches into a stream make a graph, from begin_capture() to end_capture().
cudaError_t begin_capture(cudaStream_t stream);
cudaError_t end_capture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t destroy_graph(cudaGraph_t graph);
cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph);
cudaError_t update_graph(cudaGraphExec_t exec, cudaGraph_t graph);
cudaError_t destroy_graph_exec(cudaGraphExec_t exec);
cudaError_t upload_graph(cudaGraphExec_t exec);
cudaError_t queue_graph(cudaGraphExec_t exec, cudaStream_t stream);

/// Waits for a stream, for all of the current GPU, for an event.
cudaError_t wait_for_stream(cudaStream_t stream);
cudaError_t wait_for_gpu();
cudaError_t wait_for_event(cudaEvent_t event);
cudaError_t query_event(cudaEvent_t event);
cudaError_t elapsed(float* milliseconds, cudaEvent_t from, cudaEvent_t to);

/// Writes memory once the legacy default stream is done.
cudaError_t copy_now(void* to, const void* from, std::size_t bytes);
cudaError_t set_now(void* to, int byte, std::size_t bytes);

/// Blocks of so many threads that an SM holds.
int resident_blocks(unsigned threads);

void add_variable(const void* symbol, std::size_t size);
cudaError_t write_variable(const void* symbol, const void* from,
                           std::size_t bytes, std::size_t offset);
cudaError_t read_variable(void* to, const void* symbol, std::size_t bytes,
                          std::size_t offset);
void add_kernel(const void* module, const void* function, const char* mangled);
/// Whether a kernel, and its module, are loaded when they are first launched.
bool loads_lazily();
/// Empty: there is none.
const std::string& kernel_name(const void* function);

/// Complains of what has not been given back.
void check_leaks();

}  // namespace stand_in
