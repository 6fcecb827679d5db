// Kernels that launch their own graph again, and the way that launches it. They
// are compiled separately, as calls of the device runtime have to be.
#pragma once

#include <memory>
#include <vector>

#include "implicit_barrier/kernels.hpp"
#include "ways/way.hpp"

namespace syncbench::implicit_barrier {

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

/// Of the kernel of step 0, which launches that of all others.
std::unique_ptr<ways::Way> make_device_graph(const ways::StreamPool& pool,
                                             const std::vector<Gpu>& gpus,
                                             const ways::Steps& steps);

}  // namespace syncbench::implicit_barrier
