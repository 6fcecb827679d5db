// A kernel a step: what orders the steps is between launches.
#include <array>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cuda_resources.hpp"
#include "stencil/field_ways.hpp"
#include "stencil/slab_step.cuh"
#include "ways/one_gpu.hpp"
#include "ways/several_gpus.hpp"
#ifdef SYNCBENCH_NCCL
#include "libraries/nccl_group.hpp"
#endif

namespace syncbench::stencil {

using libraries::wait_for;

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

// A kernel that makes one step of a Slab: its arguments are that, and the
// number of the step.
const void* step_kernel(const Field& field) {
  return field.shape().dimensions == 2
             ? reinterpret_cast<const void*>(field_step<2>)
             : reinterpret_cast<const void*>(field_step<3>);
}

const void* programmatic_kernel(const Field& field) {
  return field.shape().dimensions == 2
             ? reinterpret_cast<const void*>(programmatic_field_step<2>)
             : reinterpret_cast<const void*>(programmatic_field_step<3>);
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
        steps.kinds.back().push_back(field.call(kernel, (arguments++)->data()));
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

/// A kernel a step, which stores nothing on other GPUs: something else carries
/// the halos there.
class CarriedSteps : public FieldSteps {
 protected:
  explicit CarriedSteps(const Field& field) : field_(field) {
    for (int rank = 0; rank < field.gpu_count(); ++rank) {
      slabs_.push_back(field.slab(rank).without_stores());
    }
  }

  cudaError_t launch_step(int rank, int step, cudaStream_t stream) {
    void* arguments[] = {&slabs_[rank], &step};
    return launch_traditional(field_.call(step_kernel(field_), arguments),
                              stream);
  }

  /// Calls swap(other, sent, halo) of the GPUs before and after one of this
  /// process: their numbers, and the layers that they get and give.
  template <class Swap>
  void for_neighbors(int rank, Swap swap) const {
    const Team& team = field_.team();
    const int number = team.first() + rank, last = slabs_[rank].layers;
    if (number > 0) swap(number - 1, 1, 0);
    if (number + 1 < team.total()) swap(number + 1, last, last + 1);
  }

  const Field& field_;
  std::vector<Slab> slabs_;
};

/// The host launches a step on all GPUs, waits for all, and copies the halos.
class WaitedSteps : public CarriedSteps {
 public:
  explicit WaitedSteps(const Field& field)
      : CarriedSteps(field),
        streams_(make_streams(device_numbers(field.gpus()))) {}

  double run(int steps) override {
    const DeviceGuard guard(device(0));
    const auto start = HostClock::now();
    for (int step = 0; step < steps; ++step) {
      for (int rank = 0; rank < field_.gpu_count(); ++rank) {
        CUDA_CHECK(cudaSetDevice(device(rank)));
        CUDA_CHECK(launch_step(rank, step, streams_[rank].get()));
      }
      wait();
      for (int rank = 0; rank + 1 < field_.gpu_count(); ++rank) {
        copy_halos(rank, step);
      }
      wait();
    }
    return elapsed_ns(start, HostClock::now());
  }

 private:
  int device(int rank) const { return field_.gpus()[rank].index; }

  void wait() const {
    for (const Stream& stream : streams_) {
      CUDA_CHECK(cudaStreamSynchronize(stream.get()));
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
                                   streams_[rank].get()));
  }

  std::vector<Stream> streams_;
};

/// MPI carries the halos of the one GPU of this process by way of host memory:
/// this works with any MPI.
class MpiSteps : public CarriedSteps {
 public:
  explicit MpiSteps(const Field& field)
      : CarriedSteps(field),
        stream_(field.gpus()[0].index),
        layers_(4 * static_cast<std::size_t>(slabs_[0].layer)) {}

  double run(int steps) override {
    return field_.team().run([&](int) {
      CallResult result;
      for (int step = 0; step < steps && result.code == cudaSuccess; ++step) {
        result.note(launch_step(0, step, stream_.get()), kTraditionalApi.name);
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
    const Slab& slab = slabs_[0];
    const std::size_t bytes = sizeof(float) * slab.layer;
    std::vector<libraries::mpi::Message> messages;
    std::vector<float*> halos;
    for_neighbors(0, [&](int other, int sent, int halo) {
      float* out = layers_.get() + 2 * messages.size() * slab.layer;
      result.note(cudaMemcpyAsync(out, slab.at(copy, sent), bytes,
                                  cudaMemcpyDeviceToHost, stream_.get()),
                  "cudaMemcpyAsync");
      messages.push_back({other, out, out + slab.layer, bytes});
      halos.push_back(slab.at(copy, halo));
    });
    wait_for(stream_.get(), result);
    if (result.code != cudaSuccess) return;
    field_.team().end_all_if_it_fails(
        [&] { libraries::mpi::exchange(messages); });
    for (std::size_t i = 0; i < halos.size(); ++i) {
      result.note(cudaMemcpyAsync(halos[i], messages[i].received, bytes,
                                  cudaMemcpyHostToDevice, stream_.get()),
                  "cudaMemcpyAsync");
    }
  }

  Stream stream_;
  PinnedArray<float> layers_;  // sent and received, of both sides
};

#ifdef SYNCBENCH_NCCL

/// A thread, or a process, a GPU. NCCL's sends and receives wait in the stream
/// for the step before them, and the next step for them. They wait for each
/// other without end: Team::run() ends the program where one fails.
class NcclSteps : public CarriedSteps {
 public:
  explicit NcclSteps(const Field& field)
      : CarriedSteps(field),
        group_(field.team().kept<libraries::NcclGroup>()) {}

  double run(int steps) override {
    return group_.run(
        "ncclSend and ncclRecv",
        [&](int rank, CallResult& result) { return make(rank, steps, result); },
        true);
  }

 private:
  ncclResult_t make(int rank, int steps, CallResult& result) {
    ncclResult_t sent = ncclSuccess;
    for (int step = 0;
         step < steps && result.code == cudaSuccess && sent == ncclSuccess;
         ++step) {
      result.note(launch_step(rank, step, group_.stream(rank)),
                  kTraditionalApi.name);
      if (step + 1 < steps) sent = exchange(rank, (step + 1) % 2);
    }
    return sent;
  }

  // The halos of one copy. Returns the first failure.
  ncclResult_t exchange(int rank, int copy) const {
    const Slab& slab = slabs_[rank];
    const auto cells = static_cast<std::size_t>(slab.layer);
    const ncclComm_t own = group_.communicator(rank);
    const cudaStream_t stream = group_.stream(rank);
    ncclResult_t first = ncclGroupStart();
    const auto keep = [&](ncclResult_t result) {
      if (first == ncclSuccess) first = result;
    };
    for_neighbors(rank, [&](int other, int sent, int halo) {
      keep(ncclSend(slab.at(copy, sent), cells, ncclFloat, other, own, stream));
      keep(ncclRecv(slab.at(copy, halo), cells, ncclFloat, other, own, stream));
    });
    keep(ncclGroupEnd());
    return first;
  }

  libraries::NcclGroup& group_;
};

constexpr auto kMakeNccl = make_steps<NcclSteps>;
#else
constexpr decltype(FieldWay::make) kMakeNccl = nullptr;
#endif

#ifdef SYNCBENCH_MPI
constexpr auto kMakeMpi = make_steps<MpiSteps>;
#else
constexpr decltype(FieldWay::make) kMakeMpi = nullptr;
#endif

template <ways::Maker kMake>
std::unique_ptr<FieldSteps> make_launched(const Field& field) {
  return std::make_unique<LaunchedSteps>(field, step_kernel(field), kMake);
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
  require_resident(field, step_kernel(field), 0);
  return make_launched<ways::make_multi_device>(field);
}

}  // namespace

std::unique_ptr<FieldSteps> reference_steps(const Field& field) {
  if (field.team().processes() > 1) return make_steps<MpiSteps>(field);
  return make_steps<WaitedSteps>(field);
}

std::vector<FieldWay> launched_field_ways() {
  using namespace ways;
  using Gpus = FieldWay::Gpus;
  using In = FieldWay::In;
  constexpr FieldForm kMemory = FieldForm::kMemory;
  const auto lacks = [](const char* library) -> Remark {
    return {"library", std::string(library) +
                           " was not found when this program was configured"};
  };
  return {
      {"traditional_launch", "a kernel a step in one stream", Gpus::kOne,
       make_launched<make_on_one_gpu<StreamWay, kTraditionalApi>>},
      {"graph_launch", "the same, one graph of all steps", Gpus::kOne,
       make_launched<make_on_one_gpu<GraphWay, kTraditionalApi>>},
      {"programmatic_launch",
       "each kernel lets the next begin, then waits for the one before",
       Gpus::kOne,
       make_programmatic<make_on_one_gpu<StreamWay, kProgrammaticApi>>},
      {"graph_programmatic", "the same, one graph of all steps", Gpus::kOne,
       make_programmatic<make_programmatic_graph>},
      {"single_omp_traditional_launch",
       "a thread a GPU: a step, device synchronize, OpenMP barrier", Gpus::kAny,
       make_storing<make_threads>},
      {"events_to_neighbors",
       "a stream a GPU; each waits for events of the GPUs beside it",
       Gpus::kSeveral, make_storing<make_enqueued<events_of_neighbors>>},
      {"graph_of_gpus", "the same, one graph of all steps", Gpus::kSeveral,
       make_storing<make_enqueued<events_of_neighbors, GraphOfGpus>>},
      {"multi_cooperative_launch", "one launch on all GPUs a step",
       Gpus::kSeveral, stencil::make_multi_device},
      {"nccl_send_recv",
       "a thread or a process a GPU: a step, then ncclSend and ncclRecv of "
       "halos",
       Gpus::kSeveral, kMakeNccl, kMemory, In::kBoth, /*orders=*/true,
       lacks("NCCL")},
      {"mpi_send_recv",
       "a process a GPU: a step, halos to pinned host memory, MPI_Isend and "
       "MPI_Irecv, and back",
       Gpus::kSeveral, kMakeMpi, kMemory, In::kProcesses, /*orders=*/true,
       lacks("MPI")}};
}

}  // namespace syncbench::stencil
