#include "common/cuda_resources.hpp"
#include "libraries/method.hpp"

namespace syncbench::libraries {
__global__ void null_kernel() {}

namespace {

Session barrier(Team& team, Lengths) {
  return {[&team](const CallShape&) -> Point {
    return [&team](int operations) {
      return team.run([&](int) {
        for (int i = 0; i < operations; ++i) team.barrier();
        return CallResult();
      });
    };
  }};
}

Session around_launch(Team& team, Lengths) {
  return {[&team](const CallShape& shape) -> Point {
    const auto stream = std::make_shared<Stream>(team.gpus()[0].index);
    const KernelCall call =
        shape.call(reinterpret_cast<const void*>(null_kernel));
    return [&team, stream, call](int operations) {
      return team.run([&](int) {
        CallResult result;
        for (int i = 0; i < operations; ++i) {
          result.note(launch_traditional(call, stream->get()),
                      kTraditionalApi.name);
          result.note(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
          team.barrier();
        }
        return result;
      });
    };
  }};
}

}  // namespace

LibraryPart mpi_part() {
  return {mpi::version,
          {{"mpi_barrier", barrier}, {"mpi_launch", around_launch}}};
}

}  // namespace syncbench::libraries
