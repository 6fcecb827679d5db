// How many threads an SM of the architecture that is compiled for holds.
#pragma once

namespace syncbench {

/// Blocks of 1,024 threads that an SM holds, for __launch_bounds__.
#if defined(__CUDA_ARCH__) &&                                               \
    (__CUDA_ARCH__ < 750 || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || \
     __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030)
inline constexpr int kFullBlocksPerSm = 2;  // SMs of 2,048 threads
#else
inline constexpr int kFullBlocksPerSm = 1;
#endif

}  // namespace syncbench
