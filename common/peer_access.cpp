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

}  // namespace

bool enable_peer_access(int device, int peer) {
  int can_access = 0;
  CUDA_CHECK(cudaDeviceCanAccessPeer(&can_access, device, peer));
  if (!can_access) return false;
  const DeviceGuard guard(device);
  const cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
  if (error == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();
  } else {
    check_cuda(error, "cudaDeviceEnablePeerAccess", __FILE__, __LINE__);
  }
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
    const cudaError_t error = cudaDeviceDisablePeerAccess(peer);
    if (error == cudaErrorPeerAccessNotEnabled) {
      cudaGetLastError();
    } else {
      check_cuda(error, "cudaDeviceDisablePeerAccess", __FILE__, __LINE__);
    }
  });
}

}  // namespace syncbench
