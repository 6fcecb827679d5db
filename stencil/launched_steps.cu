// A kernel a step: what orders the steps is between launches.
#include <array>
#include <string>
#include <utility>

#include "common/gpu_threads.hpp"
#include "common/graphs.hpp"
#include "stencil/field_ways.hpp"
#include "stencil/slab_step.cuh"

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

/// A stream a GPU, and the launch of one step there.
class LaunchedSteps : public FieldSteps {
 protected:
  LaunchedSteps(const Field& field, const void* kernel)
      : field_(field),
        kernel_(kernel),
        streams_(make_streams(device_numbers(field.gpus()))) {}

  int gpus() const { return field_.gpu_count(); }
  int device(int rank) const { return field_.gpus()[rank].index; }
  cudaStream_t stream(int rank) const { return streams_[rank].get(); }

  /// By the thread whose GPU is current.
  cudaError_t launch_step(int rank, int step, const LaunchApi& api) const {
    return launch_step(rank, field_.slab(rank), step, api);
  }
  cudaError_t launch_step(int rank, const Slab& slab, int step,
                          const LaunchApi& api) const {
    void* arguments[] = {const_cast<Slab*>(&slab), &step};
    return api.launch({kernel_, dim3(field_.grid().blocks),
                       dim3(field_.grid().threads), arguments},
                      stream(rank));
  }

  const void* kernel() const { return kernel_; }

 private:
  const Field& field_;
  const void* kernel_;
  std::vector<Stream> streams_;
};

/// All steps in one stream of one GPU.
template <const LaunchApi& kApi>
class StreamSteps : public LaunchedSteps {
 public:
  explicit StreamSteps(const Field& field)
      : LaunchedSteps(field, &kApi == &kProgrammaticApi
                                 ? programmatic_kernel(field)
                                 : field_step_kernel(field)) {
    if (&kApi == &kProgrammaticApi && code_version(kernel()) < 90) {
      throw CannotMeasure(
          "no-programmatic-launch",
          "no programmatic launch before compute capability 9.0");
    }
  }

  double run(int steps) override {
    const DeviceGuard guard(device(0));
    const auto start = HostClock::now();
    launch_all(steps);
    CUDA_CHECK(cudaStreamSynchronize(stream(0)));
    return elapsed_ns(start, HostClock::now());
  }

 protected:
  virtual void launch_all(int steps) { enqueue(steps); }

  void enqueue(int steps) const {
    for (int step = 0; step < steps; ++step) {
      check_cuda(launch_step(0, step, kApi), kApi.name, __FILE__, __LINE__);
    }
  }
};

/// The same as a graph.
template <const LaunchApi& kApi>
class GraphSteps : public StreamSteps<kApi> {
 public:
  explicit GraphSteps(const Field& field) : StreamSteps<kApi>(field) {
    if (&kApi == &kProgrammaticApi && CUDART_VERSION < 12030) {
      throw CannotMeasure("toolkit",
                          "programmatic launches in graphs need CUDA 12.3");
    }
  }

  void prepare(int steps) override {
    const DeviceGuard guard(this->device(0));
    graphs_.prepare(steps, this->stream(0), [&] {
      return Graph(this->stream(0), [&] { this->enqueue(steps); });
    });
  }

 private:
  void launch_all(int steps) override {
    graphs_.launch(steps, this->stream(0));
  }

  PreparedGraphs graphs_;
};

/// One thread launches on all GPUs; a GPU's stream waits for an event of each
/// GPU beside it, recorded after the step before.
class EventSteps : public LaunchedSteps {
 public:
  explicit EventSteps(const Field& field)
      : LaunchedSteps(field, field_step_kernel(field)) {
    for (auto& events : of_step_) events = make_events();
  }

  double run(int steps) override {
    const DeviceGuard guard(device(0));
    const auto start = HostClock::now();
    launch_all(steps);
    for (int rank = 0; rank < gpus(); ++rank) {
      CUDA_CHECK(cudaStreamSynchronize(stream(rank)));
    }
    return elapsed_ns(start, HostClock::now());
  }

 protected:
  virtual void launch_all(int steps) { enqueue(steps); }

  // An event is recorded again two steps later, when all waits for the earlier
  // record have been called.
  void enqueue(int steps) const {
    for (int step = 0; step < steps; ++step) {
      for (int rank = 0; rank < gpus(); ++rank) {
        CUDA_CHECK(cudaSetDevice(device(rank)));
        if (step > 0) {
          if (rank > 0) wait_for(rank - 1, step - 1, rank);
          if (rank + 1 < gpus()) wait_for(rank + 1, step - 1, rank);
        }
        CUDA_CHECK(launch_step(rank, step, kTraditionalApi));
        if (step + 1 < steps) {
          CUDA_CHECK(
              cudaEventRecord(of_step_[step % 2][rank].get(), stream(rank)));
        }
      }
    }
  }

  std::vector<Event> make_events() const {
    std::vector<Event> events;
    for (int rank = 0; rank < gpus(); ++rank) {
      const DeviceGuard guard(device(rank));
      events.emplace_back();
    }
    return events;
  }

 private:
  void wait_for(int other, int step, int rank) const {
    CUDA_CHECK(
        cudaStreamWaitEvent(stream(rank), of_step_[step % 2][other].get(), 0));
  }

  std::array<std::vector<Event>, 2> of_step_;
};

/// The same as one graph.
class GraphOfGpuSteps : public EventSteps {
 public:
  explicit GraphOfGpuSteps(const Field& field)
      : EventSteps(field), joins_(make_events()) {}

  void prepare(int steps) override {
    const DeviceGuard guard(device(0));
    graphs_.prepare(steps, stream(0), [&] { return capture(steps); });
  }

 private:
  // The other streams join the capture of the first, and come back to it.
  Graph capture(int steps) const {
    return Graph(stream(0), [&] {
      CUDA_CHECK(cudaEventRecord(joins_[0].get(), stream(0)));
      for (int rank = 1; rank < gpus(); ++rank) {
        CUDA_CHECK(cudaStreamWaitEvent(stream(rank), joins_[0].get(), 0));
      }
      enqueue(steps);
      for (int rank = 1; rank < gpus(); ++rank) {
        CUDA_CHECK(cudaSetDevice(device(rank)));
        CUDA_CHECK(cudaEventRecord(joins_[rank].get(), stream(rank)));
        CUDA_CHECK(cudaStreamWaitEvent(stream(0), joins_[rank].get(), 0));
      }
      CUDA_CHECK(cudaSetDevice(device(0)));
    });
  }

  void launch_all(int steps) override { graphs_.launch(steps, stream(0)); }

  std::vector<Event> joins_;
  PreparedGraphs graphs_;
};

/// A thread a GPU launches, waits for its GPU, and meets the others.
class ThreadSteps : public LaunchedSteps {
 public:
  explicit ThreadSteps(const Field& field)
      : LaunchedSteps(field, field_step_kernel(field)),
        threads_(field.gpus()) {}

  double run(int steps) override {
    return threads_.run([&](int rank) {
      CallResult result;
      for (int step = 0; step < steps; ++step) {
        result.note(launch_step(rank, step, kTraditionalApi),
                    kTraditionalApi.name);
        result.note(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
#pragma omp barrier
      }
      return result;
    });
  }

 private:
  GpuThreads threads_;
};

/// The host launches a step on all GPUs, waits for all, and copies the halos.
class WaitedSteps : public LaunchedSteps {
 public:
  explicit WaitedSteps(const Field& field)
      : LaunchedSteps(field, field_step_kernel(field)) {
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
        CUDA_CHECK(launch_step(rank, slabs_[rank], step, kTraditionalApi));
      }
      wait();
      for (int rank = 0; rank + 1 < gpus(); ++rank) copy_halos(rank, step);
      wait();
    }
    return elapsed_ns(start, HostClock::now());
  }

 private:
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

  std::vector<Slab> slabs_;
};

/// One cooperative launch on all GPUs a step.
class MultiDeviceSteps : public LaunchedSteps {
 public:
  explicit MultiDeviceSteps(const Field& field)
      : LaunchedSteps(field, field_step_kernel(field)) {
    require_resident(field, kernel(), 0);
    for (int rank = 0; rank < gpus(); ++rank) {
      arguments_.push_back({const_cast<Slab*>(&field.slab(rank)), &step_});
    }
    std::vector<KernelCall> calls;
    std::vector<cudaStream_t> streams;
    for (int rank = 0; rank < gpus(); ++rank) {
      calls.push_back({kernel(), dim3(field.grid().blocks),
                       dim3(field.grid().threads), arguments_[rank].data()});
      streams.push_back(stream(rank));
    }
    launch_ = std::make_unique<MultiDeviceLaunch>(
        calls, device_numbers(field.gpus()), streams);
  }

  double run(int steps) override {
    const DeviceGuard guard(device(0));
    const auto start = HostClock::now();
    for (step_ = 0; step_ < steps; ++step_) {
      api_.check((*launch_)(), __FILE__, __LINE__);
    }
    for (int rank = 0; rank < gpus(); ++rank) {
      CUDA_CHECK(cudaStreamSynchronize(stream(rank)));
    }
    return elapsed_ns(start, HostClock::now());
  }

 private:
  int step_ = 0;  // that the next launch is of
  std::vector<std::array<void*, 2>> arguments_;
  AskedApi api_{MultiDeviceLaunch::kApi};
  std::unique_ptr<MultiDeviceLaunch> launch_;
};

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
  using Gpus = FieldWay::Gpus;
  constexpr FieldForm kMemory = FieldForm::kMemory;
  return {
      {"traditional_launch", "a kernel a step in one stream", Gpus::kOne,
       kMemory, true, make_steps<StreamSteps<kTraditionalApi>>},
      {"graph_launch", "the same, one graph of all steps", Gpus::kOne, kMemory,
       true, make_steps<GraphSteps<kTraditionalApi>>},
      {"programmatic_launch",
       "each kernel lets the next begin, then waits for the one before",
       Gpus::kOne, kMemory, true, make_steps<StreamSteps<kProgrammaticApi>>},
      {"graph_programmatic", "the same, one graph of all steps", Gpus::kOne,
       kMemory, true, make_steps<GraphSteps<kProgrammaticApi>>},
      {"single_omp_traditional_launch",
       "a thread a GPU: a step, device synchronize, OpenMP barrier", Gpus::kAny,
       kMemory, true, make_storing<ThreadSteps>},
      {"events_to_neighbors",
       "a stream a GPU; each waits for events of the GPUs beside it",
       Gpus::kSeveral, kMemory, true, make_storing<EventSteps>},
      {"graph_of_gpus", "the same, one graph of all steps", Gpus::kSeveral,
       kMemory, true, make_storing<GraphOfGpuSteps>},
      {"multi_cooperative_launch", "one launch on all GPUs a step",
       Gpus::kSeveral, kMemory, true, make_storing<MultiDeviceSteps>},
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
