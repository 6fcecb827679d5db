// main() of the GPU tests.
#pragma once

#include <cstdio>
#include <exception>

#include "common/devices.hpp"
#include "common/errors.hpp"
#include "peer_grid_barrier/barrier_set.cuh"

namespace syncbench {

inline constexpr int kSkipped = 77;  // CTest counts it as skipped

/// Runs `test() -> exit code` where there is a GPU.
template <class Test>
int gpu_test_main(Test test) {
  load_kernels_eagerly();
  try {
    find_gpus();
  } catch (const NoDeviceError& error) {
    std::printf("skipped: %s\n", error.what());
    return kSkipped;
  }
  try {
    return test();
  } catch (const peer_grid::CannotJoin& error) {
    std::printf("skipped: %s\n", error.what());
    return kSkipped;
  } catch (const std::exception& error) {
    std::printf("failed: %s\n", error.what());
    return 1;
  }
}

}  // namespace syncbench
