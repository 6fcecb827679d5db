// A kernel a step: what orders the steps is between launches.
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "stencil/field_ways.hpp"
#include "stencil/slab_step.cuh"
#include "ways/one_gpu.hpp"
#include "ways/several_gpus.hpp"

namespace syncbench::stencil {
namespace {

template <int kDimensions>
__global__ void __launch_bounds__(1024) field_step(const Slab slab, int step) {
  step_in_memory<kDimensions>(slab, step, blockIdx.x);
}

// May begin while the step before runs, and waits for its end.
template <int kDimensions>
__global__ void __launch_bounds__(1024)
    programmatic_field_step(const Slab slab, int step) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  step_in_memory<kDimensions>(slab, step, blockIdx.x);
}

const void* programmatic_kernel(const Field& field) {
  return field.shape().dimensions == 2
             ? reinterpret_cast<const void*>(programmatic_field_step<2>)
             : reinterpret_cast<const void*>(programmatic_field_step<3>);
}

KernelCall call(const Field& field, const void* kernel, void** arguments) {
  return {kernel, dim3(field.grid().blocks), dim3(field.grid().threads),
          arguments};
}

/// A kernel a step, launched by a way.
class LaunchedSteps : public FieldSteps {
 public:
  LaunchedSteps(const Field& field, const void* kernel, ways::Maker make)
      : device_(field.gpus()[0].index),
        pool_(device_numbers(field.gpus()), 1),
        numbers_(kMostSteps),
        arguments_(numbers_.size() * field.gpu_count()) {
    std::iota(numbers_.begin(), numbers_.end(), 0);
    ways::Steps steps = {{}, numbers_};
    auto arguments = arguments_.begin();
    for (int& number : numbers_) {
      steps.kinds.emplace_back();
      for (int rank = 0; rank < field.gpu_count(); ++rank) {
        *arguments = {const_cast<Slab*>(&field.slab(rank)), &number};
        steps.kinds.back().push_back(
            call(field, kernel, (arguments++)->data()));
      }
    }
    const DeviceGuard guard(device_);
    way_ = make(pool_, field.gpus(), steps);
  }

  double run(int steps) override {
    if (steps > kMostSteps) throw std::logic_error("too many steps");
    const DeviceGuard guard(device_);
    return way_->run(steps).total;
  }

 private:
  int device_;
  ways::StreamPool pool_;
  std::vector<int> numbers_;  // of all steps
  std::vector<std::array<void*, 2>> arguments_;
  std::unique_ptr<ways::Way> way_;
};

/// The host launches a step on all GPUs, waits for all, and copies the halos.
class WaitedSteps : public FieldSteps {
 public:
  explicit WaitedSteps(const Field& field)
      : field_(field), streams_(make_streams(device_numbers(field.gpus()))) {
    for (int rank = 0; rank < gpus(); ++rank) {
      slabs_.push_back(field.slab(rank).without_stores());
    }
  }

  double run(int steps) override {
    const DeviceGuard guard(device(0));
    const auto start = HostClock::now();
    for (int step = 0; step < steps; ++step) {
      for (int rank = 0; rank < gpus(); ++rank) {
        CUDA_CHECK(cudaSetDevice(device(rank)));
        void* arguments[] = {&slabs_[rank], &step};
        CUDA_CHECK(launch_traditional(
            call(field_, field_step_kernel(field_), arguments), stream(rank)));
      }
      wait();
      for (int rank = 0; rank + 1 < gpus(); ++rank) copy_halos(rank, step);
      wait();
    }
    return elapsed_ns(start, HostClock::now());
  }

 private:
  int gpus() const { return field_.gpu_count(); }
  int device(int rank) const { return field_.gpus()[rank].index; }
  cudaStream_t stream(int rank) const { return streams_[rank].get(); }

  void wait() const {
    for (int rank = 0; rank < gpus(); ++rank) {
      CUDA_CHECK(cudaStreamSynchronize(stream(rank)));
    }
  }

  // Between a GPU and the next one, after a step.
  void copy_halos(int rank, int step) const {
    const Slab &one = slabs_[rank], &next = slabs_[rank + 1];
    const int copy = (step + 1) % 2;
    copy_layer(rank + 1, next.at(copy, 0), rank, one.at(copy, one.layers));
    copy_layer(rank, one.at(copy, one.layers + 1), rank + 1, next.at(copy, 1));
  }

  void copy_layer(int rank, float* to, int other, const float* from) const {
    const std::size_t bytes = sizeof(float) * slabs_[rank].layer;
    CUDA_CHECK(cudaMemcpyPeerAsync(to, device(rank), from, device(other), bytes,
                                   stream(rank)));
  }

  const Field& field_;
  std::vector<Stream> streams_;
  std::vector<Slab> slabs_;
};

template <ways::Maker kMake>
std::unique_ptr<FieldSteps> make_launched(const Field& field) {
  return std::make_unique<LaunchedSteps>(field, field_step_kernel(field),
                                         kMake);
}

template <ways::Maker kMake>
std::unique_ptr<FieldSteps> make_programmatic(const Field& field) {
  return std::make_unique<LaunchedSteps>(field, programmatic_kernel(field),
                                         kMake);
}

/// Where kernels store halos into the memory of other GPUs.
template <ways::Maker kMake>
std::unique_ptr<FieldSteps> make_storing(const Field& field) {
  field.require_stores();
  return make_launched<kMake>(field);
}

std::unique_ptr<FieldSteps> make_multi_device(const Field& field) {
  field.require_stores();
  require_resident(field, field_step_kernel(field), 0);
  return make_launched<ways::make_multi_device>(field);
}

}  // namespace

const void* field_step_kernel(const Field& field) {
  return field.shape().dimensions == 2
             ? reinterpret_cast<const void*>(field_step<2>)
             : reinterpret_cast<const void*>(field_step<3>);
}

std::unique_ptr<FieldSteps> reference_steps(const Field& field) {
  if (field.team().processes() > 1) return make_mpi_steps(field);
  return std::make_unique<WaitedSteps>(field);
}

std::vector<FieldWay> launched_field_ways() {
  using namespace ways;
  using Gpus = FieldWay::Gpus;
  constexpr FieldForm kMemory = FieldForm::kMemory;
  return {
      {"traditional_launch", "a kernel a step in one stream", Gpus::kOne,
       kMemory, true,
       make_launched<make_on_one_gpu<StreamWay, kTraditionalApi>>},
      {"graph_launch", "the same, one graph of all steps", Gpus::kOne, kMemory,
       true, make_launched<make_on_one_gpu<GraphWay, kTraditionalApi>>},
      {"programmatic_launch",
       "each kernel lets the next begin, then waits for the one before",
       Gpus::kOne, kMemory, true,
       make_programmatic<make_on_one_gpu<StreamWay, kProgrammaticApi>>},
      {"graph_programmatic", "the same, one graph of all steps", Gpus::kOne,
       kMemory, true, make_programmatic<make_programmatic_graph>},
      {"single_omp_traditional_launch",
       "a thread a GPU: a step, device synchronize, OpenMP barrier", Gpus::kAny,
       kMemory, true, make_storing<make_threads>},
      {"events_to_neighbors",
       "a stream a GPU; each waits for events of the GPUs beside it",
       Gpus::kSeveral, kMemory, true,
       make_storing<make_enqueued<events_of_neighbors>>},
      {"graph_of_gpus", "the same, one graph of all steps", Gpus::kSeveral,
       kMemory, true,
       make_storing<make_enqueued<events_of_neighbors, GraphOfGpus>>},
      {"multi_cooperative_launch", "one launch on all GPUs a step",
       Gpus::kSeveral, kMemory, true, stencil::make_multi_device},
#ifdef SYNCBENCH_NCCL
      {"nccl_send_recv",
       "a thread or a process a GPU: a step, then ncclSend and ncclRecv of "
       "halos",
       Gpus::kSeveral, kMemory, true, make_nccl_steps, FieldWay::In::kBoth},
#endif
#ifdef SYNCBENCH_MPI
      {"mpi_send_recv",
       "a process a GPU: a step, halos to pinned host memory, MPI_Isend and "
       "MPI_Irecv, and back",
       Gpus::kSeveral, kMemory, true, make_mpi_steps, FieldWay::In::kProcesses},
#endif
  };
}

}  // namespace syncbench::stencil
