// Kernels that launch their own graph again. They are compiled separately, as
// calls of the device runtime have to be.
#pragma once

#include "implicit_barrier/kernels.hpp"

namespace syncbench::implicit_barrier {

/// First toolkit with graphs that kernels launch.
inline constexpr int kDeviceGraphToolkit = 12000;

/// What these kernels have in the memory of their GPU.
struct Relaunches {
  int left;   ///< launches to come
  int error;  ///< of a launch
};

/// For launch methods; `noting` is none.
const UnitKernels& relaunching_kernels();

/// Takes StepData. The number of its step is what each block has counted in
/// StepData::flags.
const void* relaunching_step();

/// From here on the kernel of the next graph launches it so many times more on
/// the current GPU.
void launch_again(int times);

/// Throws where a kernel could not, once all have ended.
void check_launched_again();

}  // namespace syncbench::implicit_barrier
