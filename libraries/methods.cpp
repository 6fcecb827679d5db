#include "common/cuda_resources.hpp"
#include "common/errors.hpp"
#include "libraries/method.hpp"
#include "libraries/processes.hpp"

namespace syncbench::libraries {
namespace {

std::vector<CallShape> no_shape(const Gpu&) { return {CallShape()}; }

// One number of each GPU, and up to 32 KB of them.
std::vector<CallShape> sizes(const Gpu&) {
  std::vector<CallShape> shapes;
  for (const int bytes : {4, 8, 32, 128, 512, 2048, 8192, 32768}) {
    shapes.push_back({bytes, -1, -1});
  }
  return shapes;
}

std::vector<CallShape> one_block(const Gpu&) {
  return {{-1, 1, 32}, {-1, 1, 1024}};
}

std::vector<CallShape> grids(const Gpu& gpu) {
  const int sms = gpu.sm_count;
  return {{-1, sms, 32}, {-1, sms, 1024}, {-1, 32 * sms, 64}};
}

// In kernels as many as BenchmarkInterSM has; calls fewer, because a queue
// holds about 1,000 and each call is slower.
constexpr Lengths kInKernel = {100, 900}, kCalls = {10, 90};

std::vector<Library> make_libraries() {
  return {
      {"peer_grid_barrier",
       false,
       peer_grid_part(),
       {{"peer_grid_sync",
         "this suite's barrier of all blocks of all GPUs of a node, by CUDA "
         "IPC "
         "between processes",
         grids, kInKernel}}},
      {"NCCL",
       false,
       nccl_part(),
       {{"nccl_all_reduce_unregistered",
         "ncclAllReduce() of floats, many in a row in a stream; NCCL does not "
         "know the buffers before",
         sizes, kCalls},
        {"nccl_graph_unregistered", "the same, in a CUDA graph", sizes, kCalls},
        {"nccl_graph_registered",
         "the same, with buffers registered as symmetric windows, which NCCL "
         "uses where it can (ncclCommWindowRegister())",
         sizes, kCalls},
        {"nccl_lsa_block",
         "ncclLsaBarrierSession::sync() in a kernel: each block with those of "
         "the same number on the other GPUs",
         grids, kInKernel},
        {"nccl_lsa_grid",
         "all blocks of all GPUs: grid.sync(), the same of one block, "
         "grid.sync()",
         grids, kInKernel}}},
      {"NVSHMEM",
       true,
       nvshmem_part(),
       {{"nvshmem_sync_block",
         "nvshmemx_sync_all_block() in a kernel of one block", one_block,
         kInKernel},
        {"nvshmem_barrier_block",
         "nvshmemx_barrier_all_block() in a kernel of one block", one_block,
         kInKernel},
        {"nvshmem_sync_grid",
         "all blocks of all GPUs: grid.sync(), nvshmemx_sync_all_block() of "
         "one "
         "block, grid.sync()",
         grids, kInKernel},
        {"nvshmem_barrier_grid", "the same with nvshmemx_barrier_all_block()",
         grids, kInKernel},
        {"nvshmem_sync_stream",
         "nvshmemx_team_sync_on_stream() of all, many in a row in a stream",
         no_shape, kCalls},
        {"nvshmem_barrier_stream",
         "nvshmemx_barrier_on_stream() of all, many in a row in a stream",
         no_shape, kCalls},
        {"nvshmem_sync_host", "nvshmem_team_sync() of all, by the CPU threads",
         no_shape, kCalls},
        {"nvshmem_barrier_host", "nvshmem_barrier() of all, by the CPU threads",
         no_shape, kCalls}}},
      {"MPI",
       true,
       mpi_part(),
       {{"mpi_barrier", "MPI_Barrier() of processes with a GPU each", no_shape,
         kInKernel},
        {"mpi_launch",
         "a kernel launch, cudaDeviceSynchronize() and MPI_Barrier()",
         [](const Gpu& gpu) {
           return std::vector<CallShape>{{-1, gpu.sm_count, 1024}};
         },
         kCalls}}}};
}

}  // namespace

const std::vector<Library>& all_libraries() {
  static const std::vector<Library> all = make_libraries();
  return all;
}

void require_room(const void* kernel, const CallShape& shape, const Gpu& gpu) {
  make_together([&] {
    const DeviceGuard guard(gpu.index);
    int held = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&held, kernel,
                                                             shape.threads, 0));
    if (shape.blocks > held * gpu.sm_count) {
      const std::string text = std::to_string(held);
      throw CannotMeasure("does-not-fit holds=" + text,
                          "an SM holds " + text + " blocks of this size");
    }
    return held;
  });
}

}  // namespace syncbench::libraries
