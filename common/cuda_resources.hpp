// Streams and memory that free themselves. Move-only.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/check.hpp"

namespace syncbench {

/// Makes `device` current for the calling thread until the end of the scope. If
/// the one before cannot be made current again, the next guard throws. Each row
/// needs one, so none is of the wrong GPU.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) {
    throw_kept_failure();
    CUDA_CHECK(cudaGetDevice(&previous_));
    CUDA_CHECK(cudaSetDevice(device));
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() { KEEP_FAILURE(cudaSetDevice(previous_)); }

 private:
  int previous_ = 0;
};

/// Gives back what CUDA has made.
struct Destroy {
  void operator()(cudaStream_t stream) const {
    KEEP_FAILURE(cudaStreamDestroy(stream));
  }
  void operator()(cudaEvent_t event) const {
    KEEP_FAILURE(cudaEventDestroy(event));
  }
  void operator()(cudaGraph_t graph) const {
    KEEP_FAILURE(cudaGraphDestroy(graph));
  }
  void operator()(cudaGraphExec_t exec) const {
    KEEP_FAILURE(cudaGraphExecDestroy(exec));
  }
};
template <class Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy>;

/// A stream of one device that does not wait for the legacy default stream.
class Stream {
 public:
  explicit Stream(int device) {
    DeviceGuard guard(device);
    cudaStream_t stream = nullptr;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    stream_.reset(stream);
  }

  cudaStream_t get() const { return stream_.get(); }

 private:
  Owned<cudaStream_t> stream_;
};

/// One stream on each device.
inline std::vector<Stream> make_streams(const std::vector<int>& devices) {
  std::vector<Stream> streams;
  for (const int device : devices) streams.emplace_back(device);
  return streams;
}

inline std::vector<cudaStream_t> stream_handles(
    const std::vector<Stream>& streams) {
  std::vector<cudaStream_t> handles;
  for (const Stream& stream : streams) handles.push_back(stream.get());
  return handles;
}

/// An event of the current GPU, without times unless `flags` say otherwise.
class Event {
 public:
  explicit Event(unsigned flags = cudaEventDisableTiming) {
    cudaEvent_t event = nullptr;
    CUDA_CHECK(cudaEventCreateWithFlags(&event, flags));
    event_.reset(event);
  }

  cudaEvent_t get() const { return event_.get(); }

 private:
  Owned<cudaEvent_t> event_;
};

/// Gives back what cudaMalloc() gave.
struct CudaFree {
  void operator()(void* data) const { KEEP_FAILURE(cudaFree(data)); }
};

/// `size` values of type T in the memory of a GPU, not initialized; none is a
/// null pointer.
template <class T, class Free = CudaFree>
class DeviceBuffer {
 public:
  DeviceBuffer(int device, std::size_t size) : size_(size) {
    if (size == 0) return;
    const DeviceGuard guard(device);
    T* data = nullptr;
    CUDA_CHECK(cudaMalloc(&data, size * sizeof(T)));
    data_.reset(data);
  }
  /// Takes over memory of another allocator.
  DeviceBuffer(std::unique_ptr<T, Free> data, std::size_t size)
      : data_(std::move(data)), size_(size) {}

  T* get() const { return data_.get(); }
  std::size_t size() const { return size_; }

  void set_to_zero() { set_bytes(0); }

  /// Overwrites the values, so that nobody takes them for later ones.
  void spoil() { set_bytes(0xff); }

  /// As many values as it has; they have arrived when it returns.
  void write(const std::vector<T>& values) {
    CUDA_CHECK(cudaMemcpy(get(), values.data(), size_ * sizeof(T),
                          cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));
  }

  /// All values, once work in the legacy default stream is done.
  std::vector<T> read() const {
    std::vector<T> host(size_);
    if (size_ > 0) {
      CUDA_CHECK(cudaMemcpy(host.data(), get(), size_ * sizeof(T),
                            cudaMemcpyDeviceToHost));
    }
    return host;
  }

 private:
  void set_bytes(int byte) {
    if (size_ == 0) return;
    CUDA_CHECK(cudaMemset(get(), byte, size_ * sizeof(T)));
    CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));
  }

  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
};

/// `size` values of type T in pinned host memory that all GPUs can access, not
/// initialized.
template <class T>
class PinnedArray {
 public:
  explicit PinnedArray(std::size_t size) {
    T* values = nullptr;
    CUDA_CHECK(cudaHostAlloc(&values, size * sizeof(T),
                             cudaHostAllocPortable | cudaHostAllocMapped));
    values_.reset(values);
  }

  T* get() const { return values_.get(); }

 private:
  struct Free {
    void operator()(T* values) const { KEEP_FAILURE(cudaFreeHost(values)); }
  };
  std::unique_ptr<T, Free> values_;
};

/// One such value.
template <class T>
class PinnedValue : public PinnedArray<T> {
 public:
  PinnedValue() : PinnedArray<T>(1) {}
  T* operator->() const { return this->get(); }
};

}  // namespace syncbench
