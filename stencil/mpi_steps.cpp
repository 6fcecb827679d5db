// A kernel a step, whose halos MPI carries to the other processes by way of
// host memory: this works with any MPI.
#include <vector>

#include "common/cuda_resources.hpp"
#include "stencil/field_ways.hpp"

namespace syncbench::stencil {

using libraries::wait_for;

namespace {

/// The one GPU of this process.
class MpiSteps : public FieldSteps {
 public:
  explicit MpiSteps(const Field& field)
      : field_(field),
        slab_(field.slab(0).without_stores()),
        stream_(field.gpus()[0].index),
        layers_(4 * static_cast<std::size_t>(slab_.layer)) {}

  double run(int steps) override {
    return field_.team().run([&](int) {
      CallResult result;
      for (int step = 0; step < steps && result.code == cudaSuccess; ++step) {
        void* arguments[] = {&slab_, &step};
        result.note(launch_traditional(
                        {field_step_kernel(field_), dim3(field_.grid().blocks),
                         dim3(field_.grid().threads), arguments},
                        stream_.get()),
                    kTraditionalApi.name);
        if (step + 1 < steps) exchange((step + 1) % 2, result);
      }
      wait_for(stream_.get(), result);
      if (result.code == cudaSuccess) field_.team().meet();
      return result;
    });
  }

 private:
  // The halos of one copy, with the processes before and after.
  void exchange(int copy, CallResult& result) {
    Team& team = field_.team();
    const std::size_t bytes = sizeof(float) * slab_.layer;
    std::vector<libraries::mpi::Message> messages;
    std::vector<float*> halos;
    const auto add = [&](int other, int sent, int halo) {
      float* out = layers_.get() + 2 * messages.size() * slab_.layer;
      result.note(cudaMemcpyAsync(out, slab_.at(copy, sent), bytes,
                                  cudaMemcpyDeviceToHost, stream_.get()),
                  "cudaMemcpyAsync");
      messages.push_back({other, out, out + slab_.layer, bytes});
      halos.push_back(slab_.at(copy, halo));
    };
    if (team.rank() > 0) add(team.rank() - 1, 1, 0);
    if (team.rank() + 1 < team.processes()) {
      add(team.rank() + 1, slab_.layers, slab_.layers + 1);
    }
    wait_for(stream_.get(), result);
    if (result.code != cudaSuccess) return;
    team.end_all_if_it_fails([&] { libraries::mpi::exchange(messages); });
    for (std::size_t i = 0; i < halos.size(); ++i) {
      result.note(cudaMemcpyAsync(halos[i], messages[i].received, bytes,
                                  cudaMemcpyHostToDevice, stream_.get()),
                  "cudaMemcpyAsync");
    }
  }

  const Field& field_;
  Slab slab_;
  Stream stream_;
  PinnedArray<float> layers_;  // sent and received, of both sides
};

}  // namespace

std::unique_ptr<FieldSteps> make_mpi_steps(const Field& field) {
  return make_steps<MpiSteps>(field);
}

}  // namespace syncbench::stencil
