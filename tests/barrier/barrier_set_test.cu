// When the set of the multi-GPU barrier waits for its GPUs and frees memory. A
// peer's kernel may write to the memory of a GPU that is done, so all have to
// be waited for before anything is freed. On GPUs another order hardly shows;
// here the library calls functions that note what they are called for.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <utility>

namespace noted {

int current = 0;    // device
std::string calls;  // "wait 0, free, "
std::set<void*> allocated;
bool cuda_works = true;

cudaError_t result() { return cuda_works ? cudaSuccess : cudaErrorUnknown; }

cudaError_t get_device(int* device) {
  *device = current;
  return cudaSuccess;
}
cudaError_t set_device(int device) {
  current = device;
  return cudaSuccess;
}
cudaError_t synchronize() {
  calls += "wait " + std::to_string(current) + ", ";
  return result();
}
cudaError_t get_properties(cudaDeviceProp* properties, int) {
  std::memset(properties, 0, sizeof *properties);
  properties->major = 9;
  properties->multiProcessorCount = 132;
  return cudaSuccess;
}
cudaError_t can_access(int* can, int, int) {
  *can = 1;
  return cudaSuccess;
}
cudaError_t enable_access(int, unsigned) { return cudaSuccess; }
template <class T>
cudaError_t allocate(T** memory, std::size_t size, unsigned = 0) {
  *memory = static_cast<T*>(std::calloc(1, size));
  allocated.insert(*memory);
  return cudaSuccess;
}
cudaError_t release(void* memory) {
  calls += "free, ";
  allocated.erase(memory);
  std::free(memory);
  return result();
}
cudaError_t copy(void* to, const void* from, std::size_t size, cudaMemcpyKind) {
  std::memcpy(to, from, size);
  return cudaSuccess;
}

}  // namespace noted

#undef cudaGetDeviceProperties  // a macro of CUDA 12
#define cudaGetDevice noted::get_device
#define cudaSetDevice noted::set_device
#define cudaDeviceSynchronize noted::synchronize
#define cudaGetDeviceProperties noted::get_properties
#define cudaDeviceCanAccessPeer noted::can_access
#define cudaDeviceEnablePeerAccess noted::enable_access
#define cudaMalloc noted::allocate
#define cudaHostAlloc noted::allocate
#define cudaFree noted::release
#define cudaFreeHost noted::release
#define cudaMemcpy noted::copy
#include "peer_grid_barrier/barrier_set.cuh"

namespace {

using noted::calls;
using noted::current;

int failures = 0;

// Whether these calls have been made since the last look.
void expect(const char* what, const std::string& expected) {
  const bool right = calls == expected && current == 5;
  std::printf("%s: %s%s\n", what, calls.c_str(), right ? "" : "FAILED");
  if (!right) ++failures;
  calls.clear();
}

int run() {
  using peer_grid::BarrierSet;
  current = 5;  // has to be so after each call
  const std::string all = "wait 3, wait 4, free, free, free, ";
  {
    BarrierSet set({3, 4}), other({4, 3});
    calls.clear();
    BarrierSet moved = std::move(set);
    expect("moved", "");
    moved = std::move(other);
    expect("assigned", all);
    BarrierSet& same = moved;
    moved = std::move(same);
    expect("assigned to itself", "");
    set = std::move(moved);
    expect("assigned to a moved one", "");
    if (set.for_blocks(8).size() != 2 || !moved.for_blocks(8).empty())
      ++failures;
    set = BarrierSet({3, 4});
    calls.erase(0, calls.find("wait 4, wait 3"));  // the constructor's
    expect("assigned a new one", "wait 4, wait 3, free, free, free, ");
  }
  expect("destroyed", all);
  {
    const BarrierSet set({3, 4});
    calls.clear();
    noted::cuda_works = false;
  }
  noted::cuda_works = true;
  expect("destroyed after an error", all);
  try {
    const BarrierSet set({3, 3});
    ++failures;
  } catch (const peer_grid::CannotJoin&) {
    expect("refused", "");
  }
  if (!noted::allocated.empty()) ++failures;
  std::printf("%s\n", failures == 0 ? "passed" : "FAILED");
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main() { return run(); }
