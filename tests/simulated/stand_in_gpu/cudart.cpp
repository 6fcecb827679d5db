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

template <class Body>
cudaError_t result_of(Body body) {
  try {
    return body();
  } catch (const Failed& failed) {
    return failed.error;
  }
}

// A call: fails, or spends the host's time and does what body() does.
template <class Body>
cudaError_t call(const char* name, double nanoseconds, Body body,
                 const void* from = __builtin_return_address(0)) {
  const cudaError_t planned = failure_of(name, from);
  if (planned != cudaSuccess) return last = planned;
  host_spends(varied(nanoseconds));
  const cudaError_t error = result_of(body);
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
  const cudaError_t error = result_of(body);
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

template <class T>
cudaError_t answer(T* to, T value) {
  *to = value;
  return cudaSuccess;
}

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

// A function that is one call: its name, parameters and what it returns. The
// last two spend other time, and give something back.
#define CALL(name, parameters, ...)                  \
  cudaError_t name parameters {                      \
    return call(#name, [&] { return __VA_ARGS__; }); \
  }
#define CALL_OF(cost, name, parameters, ...)                          \
  cudaError_t name parameters {                                       \
    return call(#name, scenario().cost, [&] { return __VA_ARGS__; }); \
  }
#define GIVES_BACK(name, parameters, ...)                   \
  cudaError_t name parameters {                             \
    return giving_back(#name, [&] { return __VA_ARGS__; }); \
  }

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
char __cudaInitModule(void**) { return 0; }  // of managed variables
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
CALL(cudaGetFuncBySymbol, (cudaFunction_t * function, const void* symbol),
     answer(function,
            reinterpret_cast<cudaFunction_t>(const_cast<void*>(symbol))))

// Devices.

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 0;
  return call("cudaGetDeviceCount", [&] {
    say_simulated();
    *count = gpu_count();
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
  });
}
CALL(cudaGetDevice, (int* device), answer(device, current_gpu()))
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
CALL(cudaSetDeviceFlags, (unsigned), cudaSuccess)
CALL(cudaGetDeviceFlags, (unsigned* flags),
     answer(flags, unsigned{cudaDeviceScheduleSpin}))
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
CALL(cudaDriverGetVersion, (int* version),
     answer(version, static_cast<int>(scenario().driver)))
CALL(cudaRuntimeGetVersion, (int* version), answer(version, CUDART_VERSION))
#if CUDART_VERSION >= 13000
CALL(cudaGetDriverEntryPointByVersion,
     (const char* name, void** entry, unsigned, unsigned long long,
      cudaDriverEntryPointQueryResult* found),
     entry_point(name, entry, found))
#elif CUDART_VERSION >= 12000
CALL(cudaGetDriverEntryPoint,
     (const char* name, void** entry, unsigned long long,
      cudaDriverEntryPointQueryResult* found),
     entry_point(name, entry, found))
#else
CALL(cudaGetDriverEntryPoint,
     (const char* name, void** entry, unsigned long long),
     entry_point(name, entry))
#endif

// Memory.

CALL(cudaMalloc, (void** address, size_t bytes),
     allocate(address, bytes, false))
GIVES_BACK(cudaFree, (void* address), (start_clock(), release(address, false)))
CALL(cudaHostAlloc, (void** address, size_t bytes, unsigned),
     allocate(address, bytes, true))
GIVES_BACK(cudaFreeHost, (void* address), release(address, true))
CALL(cudaIpcGetMemHandle, (cudaIpcMemHandle_t * handle, void* address),
     share_memory(handle, address))
CALL(cudaIpcOpenMemHandle,
     (void** address, cudaIpcMemHandle_t handle, unsigned),
     scenario().peer == "none" ? cudaErrorPeerAccessUnsupported
                               : open_shared_memory(address, handle))
GIVES_BACK(cudaIpcCloseMemHandle, (void* address), close_shared_memory(address))
CALL(cudaMemGetInfo, (size_t * free, size_t* total), free_memory(free, total))
CALL_OF(call_copy, cudaMemcpy,
        (void* to, const void* from, size_t bytes, cudaMemcpyKind),
        copy_now(to, from, bytes))
CALL(cudaMemcpyAsync,
     (void* to, const void* from, size_t bytes, cudaMemcpyKind,
      cudaStream_t stream),
     queue_copy(to, from, bytes, stream, false))
CALL(cudaMemcpyPeerAsync,
     (void* to, int, const void* from, int, size_t bytes, cudaStream_t stream),
     queue_copy(to, from, bytes, stream, true))
CALL_OF(call_copy, cudaMemcpyToSymbol,
        (const void* symbol, const void* from, size_t bytes, size_t offset,
         cudaMemcpyKind),
        write_variable(symbol, from, bytes, offset))
CALL_OF(call_copy, cudaMemcpyFromSymbol,
        (void* to, const void* symbol, size_t bytes, size_t offset,
         cudaMemcpyKind),
        read_variable(to, symbol, bytes, offset))
CALL(cudaMemset, (void* to, int byte, size_t bytes), set_now(to, byte, bytes))

// Streams and events.

CALL(cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned),
     create_stream(stream))
GIVES_BACK(cudaStreamDestroy, (cudaStream_t stream), destroy_stream(stream))
CALL_OF(call_synchronize, cudaStreamSynchronize, (cudaStream_t stream),
        wait_for_stream(stream))
CALL_OF(call_synchronize, cudaDeviceSynchronize, (), wait_for_gpu())
CALL(cudaEventCreate, (cudaEvent_t * event), create_event(event))
CALL(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned),
     create_event(event))
CALL(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned),
     queue_wait(stream, event))
GIVES_BACK(cudaEventDestroy, (cudaEvent_t event), destroy_event(event))
CALL(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream),
     queue_event(event, stream))
CALL_OF(call_synchronize, cudaEventSynchronize, (cudaEvent_t event),
        wait_for_event(event))
CALL(cudaEventQuery, (cudaEvent_t event), query_event(event))
CALL(cudaEventElapsedTime,
     (float* milliseconds, cudaEvent_t from, cudaEvent_t to),
     elapsed(milliseconds, from, to))

// Graphs.

CALL(cudaStreamBeginCapture, (cudaStream_t stream, cudaStreamCaptureMode),
     begin_capture(stream))
CALL(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t* graph),
     end_capture(stream, graph))
CALL(cudaGraphInstantiateWithFlags,
     (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long),
     instantiate(exec, graph))
CALL(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t), upload_graph(exec))
CALL_OF(call_graph, cudaGraphLaunch,
        (cudaGraphExec_t exec, cudaStream_t stream), queue_graph(exec, stream))
#if CUDART_VERSION >= 12000
CALL(cudaGraphExecUpdate,
     (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo*),
     update_graph(exec, graph))
#else
CALL(cudaGraphExecUpdate,
     (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t*,
      cudaGraphExecUpdateResult*),
     update_graph(exec, graph))
#endif
GIVES_BACK(cudaGraphDestroy, (cudaGraph_t graph), destroy_graph(graph))
GIVES_BACK(cudaGraphExecDestroy, (cudaGraphExec_t exec),
           destroy_graph_exec(exec))

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
CALL(cudaFuncSetAttribute, (const void*, cudaFuncAttribute, int), cudaSuccess)
CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
     (int* blocks, const void*, int threads, size_t),
     answer(blocks, resident_blocks(static_cast<unsigned>(threads))))
CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
     (int* blocks, const void*, int threads, size_t, unsigned),
     answer(blocks, resident_blocks(static_cast<unsigned>(threads))))
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
#define NAME(known) \
  if (error == known) return #known
  NAME(cudaSuccess);
  NAME(cudaErrorInvalidValue);
  NAME(cudaErrorMemoryAllocation);
  NAME(cudaErrorNoDevice);
  NAME(cudaErrorIllegalAddress);
  NAME(cudaErrorLaunchFailure);
  NAME(cudaErrorLaunchTimeout);
  NAME(cudaErrorCooperativeLaunchTooLarge);
  NAME(cudaErrorNotSupported);
  NAME(cudaErrorUnknown);
  thread_local char name[32];
  std::snprintf(name, sizeof name, "cudaError%d", static_cast<int>(error));
  return name;
}
const char* cudaGetErrorString(cudaError_t error) {
  thread_local char text[64];
  std::snprintf(text, sizeof text, "pretended error %d",
                static_cast<int>(error));
  return text;
}

}  // extern "C"
