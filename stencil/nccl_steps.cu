// A kernel a step, whose halos NCCL carries to the other GPUs.
#include <nccl.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/gpu_threads.hpp"
#include "stencil/field_ways.hpp"

namespace syncbench {
namespace {

// One of each GPU. They take a second to make, and so are kept until the
// program ends.
const std::vector<ncclComm_t>& communicators_of(
    const std::vector<int>& devices) {
  static auto& made = *new std::map<std::vector<int>, std::vector<ncclComm_t>>;
  std::vector<ncclComm_t>& of_devices = made[devices];
  if (!of_devices.empty()) return of_devices;
  std::vector<ncclComm_t> handles(devices.size());
  const ncclResult_t result = ncclCommInitAll(
      handles.data(), static_cast<int>(devices.size()), devices.data());
  if (result != ncclSuccess) {
    throw CannotMeasure("nccl", ncclGetErrorString(result));
  }
  return of_devices = handles;
}

/// A thread a GPU. NCCL's sends and receives wait in the stream for the step
/// before them, and the next step for them.
class NcclSteps : public FieldSteps {
 public:
  explicit NcclSteps(const Field& field)
      : field_(field),
        threads_(field.gpus()),
        streams_(make_streams(device_numbers(field.gpus()))),
        communicators_(communicators_of(device_numbers(field.gpus()))),
        results_(field.gpus().size(), ncclSuccess) {}

  double run(int steps) override {
    const double time = threads_.run([&](int rank) {
      CallResult result;
      Slab slab = field_.slab(rank).without_stores();
      const cudaStream_t stream = streams_[rank].get();
      for (int step = 0; step < steps; ++step) {
        void* arguments[] = {&slab, &step};
        result.note(launch_traditional(
                        {field_step_kernel(field_), dim3(field_.grid().blocks),
                         dim3(field_.grid().threads), arguments},
                        stream),
                    kTraditionalApi.name);
        if (step + 1 < steps) exchange(rank, slab, (step + 1) % 2, stream);
      }
      result.note(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
#pragma omp barrier
      return result;
    });
    for (const ncclResult_t result : results_) {
      if (result == ncclSuccess) continue;
      throw std::runtime_error(std::string("ncclSend and ncclRecv: ") +
                               ncclGetErrorString(result));
    }
    return time;
  }

 private:
  // The halos of one copy, with the GPUs before and after.
  void exchange(int rank, const Slab& slab, int copy, cudaStream_t stream) {
    const auto layer = static_cast<std::size_t>(slab.layer);
    note(rank, ncclGroupStart());
    if (rank > 0) {
      swap_layers(rank, rank - 1, slab.at(copy, 1), slab.at(copy, 0), layer,
                  stream);
    }
    if (rank + 1 < field_.gpu_count()) {
      swap_layers(rank, rank + 1, slab.at(copy, slab.layers),
                  slab.at(copy, slab.layers + 1), layer, stream);
    }
    note(rank, ncclGroupEnd());
  }

  void swap_layers(int rank, int other, const float* sent, float* received,
                   std::size_t cells, cudaStream_t stream) {
    const ncclComm_t own = communicators_[rank];
    note(rank, ncclSend(sent, cells, ncclFloat, other, own, stream));
    note(rank, ncclRecv(received, cells, ncclFloat, other, own, stream));
  }

  // Keeps the first failure.
  void note(int rank, ncclResult_t result) {
    if (results_[rank] == ncclSuccess) results_[rank] = result;
  }

  const Field& field_;
  GpuThreads threads_;
  std::vector<Stream> streams_;
  const std::vector<ncclComm_t>& communicators_;
  std::vector<ncclResult_t> results_;
};

}  // namespace

std::unique_ptr<FieldSteps> make_nccl_steps(const Field& field) {
  return make_steps<NcclSteps>(field);
}

}  // namespace syncbench
