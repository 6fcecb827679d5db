// The host part of the multi-GPU barrier, and what stands in for the few CUDA
// calls that it makes: it notes who allocates, opens and frees what, and when.
// A process may be a thread of the test.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace noted {

struct Allocation {
  int owner;  // rank
  std::size_t size;
};

thread_local int self = 0;            // rank of the process
thread_local int current = 0;         // its device
thread_local bool is_broken = false;  // its work ends with an error
std::mutex mutex;
std::string calls;  // "wait 0, free, ": of devices, of memory
std::map<void*, Allocation> allocated;         // on a GPU
std::set<void*> host;                          // allocations
std::set<std::pair<int, const void*>> opened;  // by whom
std::string problems;
std::map<int, std::string> fails;  // rank -> the call that does
int other_kind = -1;               // rank with another GPU

// Whether a call works.
cudaError_t call(const char* name) {
  const auto planned = fails.find(self);
  const bool bad = planned != fails.end() && planned->second == name;
  return bad ? cudaErrorUnknown : cudaSuccess;
}
void expect(bool right, const char* problem) {
  if (!right) problems += std::string(problem) + "; ";
}

cudaError_t get_device(int* device) {
  *device = current;
  return cudaSuccess;
}
cudaError_t set_device(int device) {
  current = device;
  return call("cudaSetDevice");
}
cudaError_t synchronize() {
  const std::lock_guard<std::mutex> lock(mutex);
  calls += "wait " + std::to_string(current) + ", ";
  return is_broken ? cudaErrorUnknown : call("cudaDeviceSynchronize");
}
cudaError_t get_properties(cudaDeviceProp* properties, int) {
  std::memset(properties, 0, sizeof *properties);
  properties->major = 9;
  properties->multiProcessorCount = self == other_kind ? 114 : 132;
  return call("cudaGetDeviceProperties");
}
cudaError_t get_bus(char* bus, int size, int device) {
  std::snprintf(bus, size, "0000:0%d:00.0", device);
  return call("cudaDeviceGetPCIBusId");
}
cudaError_t can_access(int* can, int, int) {
  *can = 1;
  return cudaSuccess;
}
cudaError_t enable_access(int, unsigned) { return cudaSuccess; }

template <class T>
cudaError_t allocate(T** memory, std::size_t size) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (call("cudaMalloc") != cudaSuccess) return cudaErrorUnknown;
  *memory = static_cast<T*>(std::malloc(size));
  allocated[*memory] = {self, size};
  return cudaSuccess;
}
template <class T>
cudaError_t allocate_host(T** memory, std::size_t size, unsigned) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (call("cudaHostAlloc") != cudaSuccess) return cudaErrorUnknown;
  *memory = static_cast<T*>(std::calloc(1, size));
  host.insert(*memory);
  return cudaSuccess;
}
cudaError_t release(void* memory) {
  const std::lock_guard<std::mutex> lock(mutex);
  calls += "free, ";
  for (const auto& [rank, of] : opened) {
    expect(of != memory, "freed while it is open");
  }
  expect(allocated.erase(memory) == 1, "freed twice");
  std::free(memory);
  return is_broken ? cudaErrorUnknown : cudaSuccess;
}
cudaError_t release_host(void* memory) {
  const std::lock_guard<std::mutex> lock(mutex);
  calls += "free, ";
  expect(host.erase(memory) == 1, "freed twice");
  std::free(memory);
  return cudaSuccess;
}
cudaError_t clear(void* memory, int value, std::size_t size) {
  std::memset(memory, value, size);
  return call("cudaMemset");
}
cudaError_t copy(void* to, const void* from, std::size_t size, cudaMemcpyKind) {
  std::memcpy(to, from, size);
  return cudaSuccess;
}

cudaError_t get_handle(cudaIpcMemHandle_t* handle, void* memory) {
  const std::lock_guard<std::mutex> lock(mutex);
  expect(allocated.at(memory).size % (2 << 20) == 0,
         "its handle shares other memory");
  std::memcpy(handle, &memory, sizeof memory);
  return call("cudaIpcGetMemHandle");
}
cudaError_t open_handle(void** memory, cudaIpcMemHandle_t handle,
                        unsigned flags) {
  const std::lock_guard<std::mutex> lock(mutex);
  expect(flags == cudaIpcMemLazyEnablePeerAccess, "opened without access");
  expect(current == self + 1, "opened on another device");
  if (call("cudaIpcOpenMemHandle") != cudaSuccess) return cudaErrorUnknown;
  std::memcpy(memory, &handle, sizeof *memory);
  const auto found = allocated.find(*memory);
  expect(found != allocated.end() && found->second.owner != self,
         "opens its own");
  expect(opened.insert({self, *memory}).second, "opened twice");
  return cudaSuccess;
}
cudaError_t close_handle(void* memory) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (call("cudaIpcCloseMemHandle") != cudaSuccess) return cudaErrorUnknown;
  expect(opened.erase({self, memory}) == 1, "closed without being open");
  return cudaSuccess;
}

}  // namespace noted

#undef cudaGetDeviceProperties  // a macro of CUDA 12
#define cudaGetDevice noted::get_device
#define cudaSetDevice noted::set_device
#define cudaDeviceSynchronize noted::synchronize
#define cudaGetDeviceProperties noted::get_properties
#define cudaDeviceGetPCIBusId noted::get_bus
#define cudaDeviceCanAccessPeer noted::can_access
#define cudaDeviceEnablePeerAccess noted::enable_access
#define cudaMalloc noted::allocate
#define cudaHostAlloc noted::allocate_host
#define cudaFree noted::release
#define cudaFreeHost noted::release_host
#define cudaMemset noted::clear
#define cudaMemcpy noted::copy
#define cudaIpcGetMemHandle noted::get_handle
#define cudaIpcOpenMemHandle noted::open_handle
#define cudaIpcCloseMemHandle noted::close_handle
#include "peer_grid_barrier/process_barrier_set.cuh"
