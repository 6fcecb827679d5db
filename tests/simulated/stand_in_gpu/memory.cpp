// Memory of the pretended node: allocations, copies, and variables of programs.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "stand_in_gpu/node.hpp"
#include "stand_in_gpu/node_state.hpp"
#include "stand_in_gpu/scenario.hpp"

namespace stand_in {
namespace {

long long new_version() {
  static long long last = 0;
  return ++last;
}

char* place_of(const void* symbol, std::size_t bytes, std::size_t offset) {
  const auto found = node().variables.find(symbol);
  if (found == node().variables.end()) return nullptr;
  auto& place = found->second.of_gpu.at(current_gpu());
  return offset + bytes > place.size() ? nullptr : place.data() + offset;
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

void* variable(int device, std::size_t size) {
  for (auto& [symbol, variable] : node().variables) {
    if (variable.size == size) return variable.of_gpu.at(device).data();
  }
  complain("no variable of so many bytes");
  return nullptr;
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

cudaError_t free_memory(std::size_t* free, std::size_t* total) {
  const Lock lock(node().mutex);
  *total = static_cast<std::size_t>(scenario().memory_mib * (1 << 20));
  *free = *total - node().gpus[current_gpu()].used;
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
  // From memory of the host that CUDA has not allocated: once it is staged, the
  // call returns.
  node().gpus[current_gpu()].arriving = allocation_of(from, bytes) == nullptr;
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
  node().gpus[current_gpu()].arriving = true;
  std::memset(to, byte, bytes);
  return cudaSuccess;
}

void add_variable(const void* symbol, std::size_t size) {
  node().variables[symbol] = {
      size, std::vector<std::vector<char>>(node().gpus.size(),
                                           std::vector<char>(size))};
}

cudaError_t write_variable(const void* symbol, const void* from,
                           std::size_t bytes, std::size_t offset) {
  const Lock lock(node().mutex);
  char* to = place_of(symbol, bytes, offset);
  if (to == nullptr) return cudaErrorInvalidSymbol;
  node().gpus[current_gpu()].arriving = true;
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

}  // namespace stand_in
