// Time by CUDA events.
#pragma once

#include "common/check.hpp"
#include "common/cuda_resources.hpp"

namespace syncbench {

/// Nanoseconds between two events in a stream, round what launch() puts there.
template <class Launch>
double events_ns(Launch launch, cudaStream_t stream = nullptr) {
  const Event begin(cudaEventDefault), end(cudaEventDefault);
  CUDA_CHECK(cudaEventRecord(begin.get(), stream));
  CUDA_CHECK(launch());
  CUDA_CHECK(cudaEventRecord(end.get(), stream));
  CUDA_CHECK(cudaEventSynchronize(end.get()));
  float milliseconds = 0;
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
  return 1e6 * milliseconds;
}

}  // namespace syncbench
