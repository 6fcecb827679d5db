// A kernel a step, whose halos NCCL carries to the other GPUs.
#include "libraries/nccl_group.hpp"
#include "stencil/field_ways.hpp"

namespace syncbench::stencil {

using libraries::NcclGroup;
namespace {

/// A thread, or a process, a GPU. NCCL's sends and receives wait in the stream
/// for the step before them, and the next step for them. They wait for each
/// other without end: Team::run() ends the program where one fails.
class NcclSteps : public FieldSteps {
 public:
  explicit NcclSteps(const Field& field)
      : field_(field), group_(field.team().kept<NcclGroup>()) {}

  double run(int steps) override {
    return group_.run(
        "ncclSend and ncclRecv",
        [&](int rank, CallResult& result) { return make(rank, steps, result); },
        true);
  }

 private:
  ncclResult_t make(int rank, int steps, CallResult& result) const {
    ncclResult_t sent = ncclSuccess;
    Slab slab = field_.slab(rank).without_stores();
    for (int step = 0;
         step < steps && result.code == cudaSuccess && sent == ncclSuccess;
         ++step) {
      void* arguments[] = {&slab, &step};
      result.note(launch_traditional(
                      {field_step_kernel(field_), dim3(field_.grid().blocks),
                       dim3(field_.grid().threads), arguments},
                      group_.stream(rank)),
                  kTraditionalApi.name);
      if (step + 1 < steps) sent = exchange(rank, slab, (step + 1) % 2);
    }
    return sent;
  }

  // The halos of one copy, with the GPUs before and after.
  ncclResult_t exchange(int rank, const Slab& slab, int copy) const {
    const int number = field_.team().first() + rank;
    ncclResult_t result = ncclGroupStart();
    const auto swap = [&](int other, int sent, int halo) {
      const ncclComm_t own = group_.communicator(rank);
      const cudaStream_t stream = group_.stream(rank);
      const auto cells = static_cast<std::size_t>(slab.layer);
      keep(result,
           ncclSend(slab.at(copy, sent), cells, ncclFloat, other, own, stream));
      keep(result,
           ncclRecv(slab.at(copy, halo), cells, ncclFloat, other, own, stream));
    };
    if (number > 0) swap(number - 1, 1, 0);
    if (number + 1 < field_.team().total()) {
      swap(number + 1, slab.layers, slab.layers + 1);
    }
    keep(result, ncclGroupEnd());
    return result;
  }

  // The first failure.
  static void keep(ncclResult_t& first, ncclResult_t result) {
    if (first == ncclSuccess) first = result;
  }

  const Field& field_;
  NcclGroup& group_;
};

}  // namespace

std::unique_ptr<FieldSteps> make_nccl_steps(const Field& field) {
  return make_steps<NcclSteps>(field);
}

}  // namespace syncbench::stencil
