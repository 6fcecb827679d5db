#include "common/peer_access.hpp"

#include "common/check.hpp"
#include "common/cuda_resources.hpp"

namespace syncbench {
namespace {

// Calls visit(device, peer) for every ordered pair of different devices.
template <class Visitor>
void for_each_pair(const std::vector<int>& devices, Visitor visit) {
  for (const int device : devices) {
    for (const int peer : devices) {
      if (peer != device) visit(device, peer);
    }
  }
}

// Throws unless a call has succeeded, or has failed with `already`: it was done
// before.
void check_access(cudaError_t error, cudaError_t already, const char* call) {
  if (error != already) return check_cuda(error, call, __FILE__, __LINE__);
  cudaGetLastError();
}

}  // namespace

bool enable_peer_access(int device, int peer) {
  int can_access = 0;
  CUDA_CHECK(cudaDeviceCanAccessPeer(&can_access, device, peer));
  if (!can_access) return false;
  const DeviceGuard guard(device);
  check_access(cudaDeviceEnablePeerAccess(peer, 0),
               cudaErrorPeerAccessAlreadyEnabled, "cudaDeviceEnablePeerAccess");
  return true;
}

bool enable_peer_access(const std::vector<int>& devices) {
  bool all = true;
  for_each_pair(devices, [&all](int device, int peer) {
    all = enable_peer_access(device, peer) && all;
  });
  return all;
}

void disable_peer_access(const std::vector<int>& devices) {
  for_each_pair(devices, [](int device, int peer) {
    const DeviceGuard guard(device);
    check_access(cudaDeviceDisablePeerAccess(peer),
                 cudaErrorPeerAccessNotEnabled, "cudaDeviceDisablePeerAccess");
  });
}

}  // namespace syncbench
