// The CUDA runtime's functions that the programs call, on the pretended node.
// The library takes the place of libcudart.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <set>
#include <string>
#include <vector>

#include "stand_in_gpu/faults.hpp"
#include "stand_in_gpu/node.hpp"
#include "stand_in_gpu/scenario.hpp"
#include "stand_in_gpu/virtual_clock.hpp"

namespace stand_in {
namespace {

thread_local cudaError_t last = cudaSuccess;

double varied(double nanoseconds) {
  if (scenario().host_noise == 0) return nanoseconds;
  thread_local unsigned state = 12345 +
                                7919 * static_cast<unsigned>(scenario().seed) +
                                104729 * static_cast<unsigned>(process() + 1);
  state = state * 1664525u + 1013904223u;
  return nanoseconds * (1 + scenario().host_noise * (state / 2147483648. - 1));
}

// A call: fails, or spends the host's time and does what body() does.
template <class Body>
cudaError_t call(const char* name, double nanoseconds, Body body,
                 const void* from = __builtin_return_address(0)) {
  const cudaError_t planned = failure_of(name, from);
  if (planned != cudaSuccess) return last = planned;
  host_spends(varied(nanoseconds));
  const cudaError_t error = body();
  if (error != cudaSuccess) last = error;
  return error;
}

template <class Body>
cudaError_t call(const char* name, Body body,
                 const void* from = __builtin_return_address(0)) {
  return call(name, scenario().call, body, from);
}

// A call that gives something back: also one that fails, because nobody can do
// it again. So whatever has failed, there are neither leaks nor double frees.
template <class Body>
cudaError_t giving_back(const char* name, Body body,
                        const void* from = __builtin_return_address(0)) {
  const cudaError_t planned = failure_of(name, from);
  host_spends(varied(scenario().call));
  const cudaError_t error = body();
  if (planned == cudaSuccess && error == cudaSuccess) return cudaSuccess;
  return last = planned != cudaSuccess ? planned : error;
}

constexpr const char* kFirstLine =
    "# simulated: no GPU has done this, the costs are made up\n";

// Whether this is a process of Pitfalls, whose output the one that has started
// it reads: the variable ends in that one's number.
bool is_case_of_pitfalls() {
  const char* mark = std::getenv("SYNCBENCH_PITFALL");
  const char* parent = mark == nullptr ? nullptr : std::strrchr(mark, ':');
  return parent != nullptr && std::atoi(parent + 1) == getppid();
}

// What a program says first.
void say_simulated() {
  static const bool said = [] {
    if (is_case_of_pitfalls()) return false;
    return write(STDOUT_FILENO, kFirstLine, std::strlen(kFirstLine)) > 0;
  }();
  (void)said;
}

bool is_gpu(int device) { return device >= 0 && device < gpu_count(); }

bool can_access(int device, int peer) {
  const std::string& how = scenario().peer;
  if (how == "all") return device != peer;
  if (how == "none") return false;
  const int half = gpu_count() / 2;
  return device != peer && (device < half) == (peer < half);
}

std::set<std::pair<int, int>>& accesses() {
  static auto& all = *new std::set<std::pair<int, int>>;
  return all;
}

int attribute(cudaDeviceAttr which) {
  switch (which) {
    case cudaDevAttrMultiProcessorCount:
      return static_cast<int>(scenario().sms);
    case cudaDevAttrComputeCapabilityMajor:
      return static_cast<int>(scenario().capability) / 10;
    case cudaDevAttrComputeCapabilityMinor:
      return static_cast<int>(scenario().capability) % 10;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return static_cast<int>(scenario().threads_per_sm);
    case cudaDevAttrMemoryClockRate:
      return static_cast<int>(scenario().memory_khz);
    case cudaDevAttrGlobalMemoryBusWidth:
      return static_cast<int>(scenario().bus_bits);
    case cudaDevAttrL2CacheSize:
      return static_cast<int>(scenario().l2_kib) * 1024;
    case cudaDevAttrMaxGridDimX:
      return 0x7fffffff;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return 49152;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return 232448;
    case cudaDevAttrMaxThreadsPerBlock:
      return 1024;
    case cudaDevAttrWarpSize:
      return 32;
    default:
      complain("an attribute of a device that is not known: " +
               std::to_string(which));
      return -1;
  }
}

// The newest code that the GPU can run.
int code_version() {
  int newest = static_cast<int>(scenario().code);
  if (newest > 0) return newest;
  for (const int version : {ARCHITECTURES}) {
    if (version <= scenario().capability) newest = std::max(newest, version);
  }
  return newest;
}

Launch launch_of(const void* function, dim3 grid, dim3 block, void** arguments,
                 LaunchKind kind, int device, int gpus = 1) {
  return {function, kernel_name(function), grid, block, arguments, device, kind,
          gpus};
}

cudaError_t queue(const void* function, dim3 grid, dim3 block, void** arguments,
                  LaunchKind kind, cudaStream_t stream) {
  if (kernel_name(function).empty()) return cudaErrorInvalidDeviceFunction;
  return queue_kernel(
      launch_of(function, grid, block, arguments, kind, current_gpu()), stream);
}

LaunchKind kind_of(const cudaLaunchConfig_t& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const auto& attribute = config.attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative &&
        attribute.val.cooperative != 0) {
      return LaunchKind::kCooperative;
    }
    if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization) {
      return LaunchKind::kProgrammatic;
    }
  }
  return LaunchKind::kTraditional;
}

// How long the call of such a launch takes.
double cost_of(LaunchKind kind) {
  return kind == LaunchKind::kCooperative ? scenario().call_cooperative
                                          : scenario().call_traditional;
}

CUresult loading_mode(CUmoduleLoadingMode* mode) {
  *mode = loads_lazily() ? CU_MODULE_LAZY_LOADING : CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}

#if CUDART_VERSION >= 13000
CUresult launch_on_devices(CUDA_LAUNCH_PARAMS* list, unsigned count, unsigned) {
  const auto body = [&] {
    std::vector<Launch> launches;
    std::vector<cudaStream_t> streams;
    for (unsigned i = 0; i < count; ++i) {
      const CUDA_LAUNCH_PARAMS& one = list[i];
      const auto stream = reinterpret_cast<cudaStream_t>(one.hStream);
      launches.push_back(
          launch_of(reinterpret_cast<const void*>(one.function),
                    dim3(one.gridDimX, one.gridDimY, one.gridDimZ),
                    dim3(one.blockDimX, one.blockDimY, one.blockDimZ),
                    one.kernelParams, LaunchKind::kMultiDevice,
                    gpu_of_stream(stream), static_cast<int>(count)));
      streams.push_back(stream);
    }
    return queue_kernels(launches, streams);
  };
  return static_cast<CUresult>(call("cuLaunchCooperativeKernelMultiDevice",
                                    count * scenario().call_multi_device, body,
                                    __builtin_return_address(0)));
}
#endif

CUresult stream_memory_operations(CUstream stream, unsigned count,
                                  CUstreamBatchMemOpParams* all, unsigned) {
  const auto body = [&] {
    for (unsigned i = 0; i < count; ++i) {
      const auto& one = all[i].writeValue;  // waitValue has the same members
      unsigned* address = nullptr;
      std::memcpy(&address, &one.address, sizeof address);
      const cudaError_t error = queue_memory_operation(
          reinterpret_cast<cudaStream_t>(stream), address, one.value,
          one.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32);
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  };
  return static_cast<CUresult>(call("cuStreamBatchMemOp", body));
}

cudaError_t entry_point(const char* name, void** entry) {
  *entry = nullptr;
  if (std::strcmp(name, "cuStreamBatchMemOp") == 0 &&
      scenario().stream_memory != 0) {
    *entry = reinterpret_cast<void*>(stream_memory_operations);
  }
  if (std::strcmp(name, "cuModuleGetLoadingMode") == 0) {
    *entry = reinterpret_cast<void*>(loading_mode);
  }
#if CUDART_VERSION >= 13000
  if (std::strcmp(name, "cuLaunchCooperativeKernelMultiDevice") == 0 &&
      scenario().multi_device != 0) {
    *entry = reinterpret_cast<void*>(launch_on_devices);
  }
#endif
  return cudaSuccess;
}

#if CUDART_VERSION >= 12000
cudaError_t entry_point(const char* name, void** entry,
                        cudaDriverEntryPointQueryResult* found) {
  const cudaError_t error = entry_point(name, entry);
  if (found != nullptr) {
    *found = *entry == nullptr ? cudaDriverEntryPointSymbolNotFound
                               : cudaDriverEntryPointSuccess;
  }
  return error;
}
#endif

struct Pushed {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
};
thread_local Pushed pushed;

}  // namespace

bool has_peer_access(int gpus) {
  return std::any_of(accesses().begin(), accesses().end(),
                     [gpus](const auto& pair) {
                       return std::max(pair.first, pair.second) < gpus;
                     });
}

}  // namespace stand_in

using namespace stand_in;

extern "C" {

// What compiled code calls by itself.

void** __cudaRegisterFatBinary(void*) {
  static std::list<void*> handles;
  static const bool once = std::atexit(check_leaks) == 0;
  (void)once;
  return &handles.emplace_back(nullptr);
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void** module, const char* function, char*,
                            const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  add_kernel(module, function, name);
}
void __cudaRegisterVar(void**, char* symbol, char*, const char*, int,
                       size_t size, int, int) {
  add_variable(symbol, size);
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     CUstream_st* stream) {
  pushed = {grid, block, shared, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared,
                                       void* stream) {
  *grid = pushed.grid;
  *block = pushed.block;
  *shared = pushed.shared;
  *static_cast<cudaStream_t*>(stream) = pushed.stream;
  return cudaSuccess;
}
#if CUDART_VERSION >= 12000
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                               void** arguments, size_t, cudaStream_t stream) {
  return call("kernel<<<>>>", cost_of(LaunchKind::kTraditional), [&] {
    return queue(reinterpret_cast<const void*>(kernel), grid, block, arguments,
                 LaunchKind::kTraditional, stream);
  });
}
#endif

// Launches.

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block,
                             void** arguments, size_t, cudaStream_t stream) {
  return call("cudaLaunchKernel", cost_of(LaunchKind::kTraditional), [&] {
    return queue(function, grid, block, arguments, LaunchKind::kTraditional,
                 stream);
  });
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid,
                                        dim3 block, void** arguments, size_t,
                                        cudaStream_t stream) {
  return call("cudaLaunchCooperativeKernel", cost_of(LaunchKind::kCooperative),
              [&] {
                return queue(function, grid, block, arguments,
                             LaunchKind::kCooperative, stream);
              });
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config,
                                const void* function, void** arguments) {
  const LaunchKind kind = kind_of(*config);
  return call("cudaLaunchKernelExC", cost_of(kind), [&] {
    return queue(function, config->gridDim, config->blockDim, arguments, kind,
                 config->stream);
  });
}
#if CUDART_VERSION < 13000
cudaError_t cudaLaunchCooperativeKernelMultiDevice(cudaLaunchParams* list,
                                                   unsigned count, unsigned) {
  return call("cudaLaunchCooperativeKernelMultiDevice",
              count * scenario().call_multi_device, [&] {
                std::vector<Launch> launches;
                std::vector<cudaStream_t> streams;
                for (unsigned i = 0; i < count; ++i) {
                  launches.push_back(launch_of(
                      list[i].func, list[i].gridDim, list[i].blockDim,
                      list[i].args, LaunchKind::kMultiDevice,
                      gpu_of_stream(list[i].stream), static_cast<int>(count)));
                  streams.push_back(list[i].stream);
                }
                return queue_kernels(launches, streams);
              });
}
#endif
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  return call("cudaGetFuncBySymbol", [&] {
    *function = reinterpret_cast<cudaFunction_t>(const_cast<void*>(symbol));
    return cudaSuccess;
  });
}

// Devices.

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 0;
  return call("cudaGetDeviceCount", [&] {
    say_simulated();
    *count = gpu_count();
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
  });
}
cudaError_t cudaGetDevice(int* device) {
  return call("cudaGetDevice", [&] {
    *device = current_gpu();
    return cudaSuccess;
  });
}
cudaError_t cudaSetDevice(int device) {
  return call("cudaSetDevice", [&] {
    if (!is_gpu(device)) return cudaErrorInvalidDevice;
    start_clock();
    current_gpu() = device;
    return cudaSuccess;
  });
}
#if CUDART_VERSION >= 12000
cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return call("cudaInitDevice", [&] {
    start_clock();
    return is_gpu(device) ? cudaSuccess : cudaErrorInvalidDevice;
  });
}
#endif
cudaError_t cudaSetDeviceFlags(unsigned) {
  return call("cudaSetDeviceFlags", [] { return cudaSuccess; });
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return call("cudaGetDeviceFlags", [&] {
    *flags = cudaDeviceScheduleSpin;
    return cudaSuccess;
  });
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call("cudaGetDeviceProperties", [&] {
    if (!is_gpu(device)) return cudaErrorInvalidDevice;
    std::memset(properties, 0, sizeof *properties);
    std::snprintf(properties->name, sizeof properties->name, "%s",
                  scenario().name.c_str());
    properties->multiProcessorCount = attribute(cudaDevAttrMultiProcessorCount);
    properties->major = attribute(cudaDevAttrComputeCapabilityMajor);
    properties->minor = attribute(cudaDevAttrComputeCapabilityMinor);
    properties->cooperativeLaunch = static_cast<int>(scenario().cooperative);
    properties->totalGlobalMem = static_cast<std::size_t>(scenario().memory_mib)
                                 << 20;
    properties->l2CacheSize = attribute(cudaDevAttrL2CacheSize);
    properties->memoryBusWidth = attribute(cudaDevAttrGlobalMemoryBusWidth);
    properties->maxThreadsPerMultiProcessor =
        attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
    properties->warpSize = 32;
    properties->sharedMemPerBlock = 49152;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which,
                                   int device) {
  return call("cudaDeviceGetAttribute", [&] {
    if (!is_gpu(device)) return cudaErrorInvalidDevice;
    *value = attribute(which);
    return *value < 0 ? cudaErrorInvalidValue : cudaSuccess;
  });
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int size, int device) {
  return call("cudaDeviceGetPCIBusId", [&] {
    if (!is_gpu(device)) return cudaErrorInvalidDevice;
    std::snprintf(id, static_cast<std::size_t>(size), "FFFF:%02X:00.0",
                  static_cast<unsigned>(device));
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call("cudaDeviceCanAccessPeer", [&] {
    if (!is_gpu(device) || !is_gpu(peer)) return cudaErrorInvalidDevice;
    *can = can_access(device, peer);
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return call("cudaDeviceEnablePeerAccess", [&] {
    if (!can_access(current_gpu(), peer)) {
      return cudaErrorPeerAccessUnsupported;
    }
    return accesses().insert({current_gpu(), peer}).second
               ? cudaSuccess
               : cudaErrorPeerAccessAlreadyEnabled;
  });
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call("cudaDeviceDisablePeerAccess", [&] {
    return accesses().erase({current_gpu(), peer}) == 1
               ? cudaSuccess
               : cudaErrorPeerAccessNotEnabled;
  });
}
cudaError_t cudaDriverGetVersion(int* version) {
  return call("cudaDriverGetVersion", [&] {
    *version = static_cast<int>(scenario().driver);
    return cudaSuccess;
  });
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return call("cudaRuntimeGetVersion", [&] {
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}
#if CUDART_VERSION >= 13000
cudaError_t cudaGetDriverEntryPointByVersion(
    const char* name, void** entry, unsigned, unsigned long long,
    cudaDriverEntryPointQueryResult* found) {
  return call("cudaGetDriverEntryPointByVersion",
              [&] { return entry_point(name, entry, found); });
}
#elif CUDART_VERSION >= 12000
cudaError_t cudaGetDriverEntryPoint(const char* name, void** entry,
                                    unsigned long long,
                                    cudaDriverEntryPointQueryResult* found) {
  return call("cudaGetDriverEntryPoint",
              [&] { return entry_point(name, entry, found); });
}
#else
cudaError_t cudaGetDriverEntryPoint(const char* name, void** entry,
                                    unsigned long long) {
  return call("cudaGetDriverEntryPoint",
              [&] { return entry_point(name, entry); });
}
#endif

// Memory.

cudaError_t cudaMalloc(void** address, size_t bytes) {
  return call("cudaMalloc", [&] { return allocate(address, bytes, false); });
}
cudaError_t cudaFree(void* address) {
  return giving_back("cudaFree", [&] {
    start_clock();
    return release(address, false);
  });
}
cudaError_t cudaHostAlloc(void** address, size_t bytes, unsigned) {
  return call("cudaHostAlloc", [&] { return allocate(address, bytes, true); });
}
cudaError_t cudaFreeHost(void* address) {
  return giving_back("cudaFreeHost", [&] { return release(address, true); });
}
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* address) {
  return call("cudaIpcGetMemHandle",
              [&] { return share_memory(handle, address); });
}
cudaError_t cudaIpcOpenMemHandle(void** address, cudaIpcMemHandle_t handle,
                                 unsigned) {
  return call("cudaIpcOpenMemHandle", [&] {
    if (scenario().peer == "none") return cudaErrorPeerAccessUnsupported;
    return open_shared_memory(address, handle);
  });
}
cudaError_t cudaIpcCloseMemHandle(void* address) {
  return giving_back("cudaIpcCloseMemHandle",
                     [&] { return close_shared_memory(address); });
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call("cudaMemGetInfo", [&] {
    free_memory(free, total);
    return cudaSuccess;
  });
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes,
                       cudaMemcpyKind) {
  return call("cudaMemcpy", scenario().call_copy,
              [&] { return copy_now(to, from, bytes); });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                            cudaMemcpyKind, cudaStream_t stream) {
  return call("cudaMemcpyAsync",
              [&] { return queue_copy(to, from, bytes, stream, false); });
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int,
                                size_t bytes, cudaStream_t stream) {
  return call("cudaMemcpyPeerAsync",
              [&] { return queue_copy(to, from, bytes, stream, true); });
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from,
                               size_t bytes, size_t offset, cudaMemcpyKind) {
  return call("cudaMemcpyToSymbol", scenario().call_copy,
              [&] { return write_variable(symbol, from, bytes, offset); });
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes,
                                 size_t offset, cudaMemcpyKind) {
  return call("cudaMemcpyFromSymbol", scenario().call_copy,
              [&] { return read_variable(to, symbol, bytes, offset); });
}
cudaError_t cudaMemset(void* to, int byte, size_t bytes) {
  return call("cudaMemset", [&] { return set_now(to, byte, bytes); });
}

// Streams and events.

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return call("cudaStreamCreateWithFlags",
              [&] { return create_stream(stream); });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return giving_back("cudaStreamDestroy",
                     [&] { return destroy_stream(stream); });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call("cudaStreamSynchronize", scenario().call_synchronize,
              [&] { return wait_for_stream(stream); });
}
cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", scenario().call_synchronize,
              [] { return wait_for_gpu(); });
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return call("cudaEventCreate", [&] { return create_event(event); });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return call("cudaEventCreateWithFlags", [&] { return create_event(event); });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned) {
  return call("cudaStreamWaitEvent", [&] { return queue_wait(stream, event); });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return giving_back("cudaEventDestroy", [&] { return destroy_event(event); });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call("cudaEventRecord", [&] { return queue_event(event, stream); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call("cudaEventSynchronize", scenario().call_synchronize,
              [&] { return wait_for_event(event); });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call("cudaEventQuery", [&] { return query_event(event); });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from,
                                 cudaEvent_t to) {
  return call("cudaEventElapsedTime",
              [&] { return elapsed(milliseconds, from, to); });
}

// Graphs.

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  return call("cudaStreamBeginCapture", [&] { return begin_capture(stream); });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call("cudaStreamEndCapture",
              [&] { return end_capture(stream, graph); });
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec,
                                          cudaGraph_t graph,
                                          unsigned long long) {
  return call("cudaGraphInstantiateWithFlags",
              [&] { return instantiate(exec, graph); });
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t) {
  return call("cudaGraphUpload", [&] { return upload_graph(exec); });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call("cudaGraphLaunch", scenario().call_graph,
              [&] { return queue_graph(exec, stream); });
}
#if CUDART_VERSION >= 12000
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo*) {
#else
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphNode_t*, cudaGraphExecUpdateResult*) {
#endif
  return call("cudaGraphExecUpdate", [&] { return update_graph(exec, graph); });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return giving_back("cudaGraphDestroy", [&] { return destroy_graph(graph); });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return giving_back("cudaGraphExecDestroy",
                     [&] { return destroy_graph_exec(exec); });
}

// Kernels.

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                  const void* function) {
  return call("cudaFuncGetAttributes", [&] {
    if (kernel_name(function).empty()) return cudaErrorInvalidDeviceFunction;
    std::memset(attributes, 0, sizeof *attributes);
    attributes->ptxVersion = attributes->binaryVersion = code_version();
    if (code_version() == 0) return cudaErrorNoKernelImageForDevice;
    attributes->maxThreadsPerBlock = 1024;
    return cudaSuccess;
  });
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return call("cudaFuncSetAttribute", [] { return cudaSuccess; });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                          const void*,
                                                          int threads, size_t) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&] {
    *blocks = resident_blocks(static_cast<unsigned>(threads));
    return cudaSuccess;
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void*, int threads, size_t, unsigned) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", [&] {
    *blocks = resident_blocks(static_cast<unsigned>(threads));
    return cudaSuccess;
  });
}
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void*,
                                           const cudaLaunchConfig_t* config) {
  return call("cudaOccupancyMaxActiveClusters", [&] {
    // The grid is one cluster.
    *clusters = attribute(cudaDevAttrMultiProcessorCount) /
                static_cast<int>(config->gridDim.x) *
                resident_blocks(config->blockDim.x);
    return cudaSuccess;
  });
}

// Errors.

cudaError_t cudaGetLastError() {
  const cudaError_t error = poisoned() != cudaSuccess ? poisoned() : last;
  last = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError() {
  return poisoned() != cudaSuccess ? poisoned() : last;
}
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorNoDevice:
      return "cudaErrorNoDevice";
    case cudaErrorIllegalAddress:
      return "cudaErrorIllegalAddress";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
    case cudaErrorLaunchTimeout:
      return "cudaErrorLaunchTimeout";
    case cudaErrorCooperativeLaunchTooLarge:
      return "cudaErrorCooperativeLaunchTooLarge";
    case cudaErrorNotSupported:
      return "cudaErrorNotSupported";
    case cudaErrorUnknown:
      return "cudaErrorUnknown";
    default:
      thread_local char name[32];
      std::snprintf(name, sizeof name, "cudaError%d", static_cast<int>(error));
      return name;
  }
}
const char* cudaGetErrorString(cudaError_t error) {
  thread_local char text[64];
  std::snprintf(text, sizeof text, "pretended error %d",
                static_cast<int>(error));
  return text;
}

}  // extern "C"
