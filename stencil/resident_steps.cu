// One kernel of all steps: what orders them is a barrier inside it.
#include <array>
#include <optional>
#include <string>

#include "common/check.hpp"
#include "common/cooperative_barriers.cuh"
#include "explicit_barrier/grid_barriers/gpu_machine.cuh"
#include "explicit_barrier/grid_barriers/protocols.hpp"
#include "libraries/processes.hpp"
#include "libraries/team_barriers.cuh"
#include "peer_grid_barrier/barrier.cuh"
#include "stencil/field_ways.hpp"
#include "stencil/slab_step.cuh"
#include "ways/several_gpus.hpp"

namespace syncbench::stencil {

using libraries::ClosedTogether;
using libraries::make_together;
using libraries::TeamBarriers;
using libraries::wait_for;

namespace {

/// Each block computes the same part of the field in all steps.
struct SamePart {
  __device__ static unsigned part() { return blockIdx.x; }
};

/// Memory has no order. Without a counter, a block takes another's part in each
/// step: where blocks wait for each other, each begins a step with an empty L1
/// cache, and here it has nothing in it that it needs. With a counter all
/// blocks meet: so they stay together and share rows in the L2 cache.
class NoOrder {
 public:
  struct Argument {
    unsigned* counter;  // null, or as LockBarrier wants it
    unsigned stride;    // from part to part
  };

  __device__ explicit NoOrder(const Argument& argument)
      : meets_(argument.counter != nullptr),
        stride_(argument.stride),
        part_(blockIdx.x),
        barrier_(argument.counter) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
    if (meets_) barrier_.learn(Machine());
#endif
  }

  __device__ unsigned part() const { return part_; }

  __device__ void sync() {
    part_ += stride_;
    if (part_ >= gridDim.x) part_ -= gridDim.x;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
    if (meets_) {
      barrier_.sync(Machine());
      return;
    }
#endif
    __syncthreads();
  }

 private:
  using Machine = grid_barriers::GpuMachine<grid_barriers::Order::kNone>;

  bool meets_;
  unsigned stride_;
  unsigned part_;
  grid_barriers::LockBarrier<Machine> barrier_;
};

/// A block waits for no other.
struct OwnBlock : SamePart {
  struct Argument {};
  __device__ explicit OwnBlock(const Argument&) {}
  __device__ void sync() { __syncthreads(); }
};

/// All blocks meet.
template <class Barrier>
struct Meeting : SamePart {
  using Argument = typename Barrier::End;
  __device__ explicit Meeting(const Argument& end) : barrier(end) {}
  __device__ void sync() { barrier.sync(); }
  Barrier barrier;
};
using GridSync = Meeting<GridBarrier>;
using PeerGridSync = Meeting<peer_grid::Barrier>;

template <class Between, int kDimensions, FieldForm kForm>
__global__ void __launch_bounds__(1024)
    field_steps(const Slab slab, int steps,
                const typename Between::Argument argument) {
  Between between(argument);
  if constexpr (kForm == FieldForm::kMemory) {
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      step_in_memory<kDimensions>(slab, step, between.part());
      if (step + 1 < steps) between.sync();
    }
  } else {
    extern __shared__ float4 shared[];
    Tile<kDimensions> tile(slab, reinterpret_cast<float*>(shared));
    tile.load(slab);
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      tile.step(slab, step);
      if (step + 1 < steps) between.sync();
    }
    tile.store(slab, steps);
  }
}

template <class Between, FieldForm kForm>
const void* kernel_of(const Field& field) {
  return field.shape().dimensions == 2
             ? reinterpret_cast<const void*>(field_steps<Between, 2, kForm>)
             : reinterpret_cast<const void*>(field_steps<Between, 3, kForm>);
}

/// A kernel a GPU, with these arguments of its kernel.
template <class Between, FieldForm kForm>
class ResidentSteps : public FieldSteps {
 public:
  explicit ResidentSteps(const Field& field)
      : field_(field),
        kernel_(kernel_of<Between, kForm>(field)),
        shared_bytes_(kForm == FieldForm::kTile
                          ? static_cast<std::size_t>(
                                tile_bytes(field.shape(), field.grid().blocks))
                          : 0),
        streams_(make_streams(device_numbers(field.gpus()))) {
    require_resident(field, kernel_, shared_bytes_);
  }

  double run(int steps) override {
    const auto body = [&](int rank) {
      CallResult result;
      typename Between::Argument argument = argument_of(rank);
      void* arguments[] = {const_cast<Slab*>(&field_.slab(rank)), &steps,
                           &argument};
      const cudaStream_t stream = streams_[rank].get();
      result.note(launch_cooperative(call(arguments), stream),
                  kCooperativeApi.name);
      wait_for(stream, result);
      if (result.code == cudaSuccess) field_.team().meet();
      return result;
    };
    return field_.team().run(body, [this] { return failure(); });
  }

 protected:
  const Field& field() const { return field_; }
  KernelCall call(void** arguments) const {
    return field_.call(kernel_, arguments, shared_bytes_);
  }

 private:
  virtual typename Between::Argument argument_of(int /*rank*/) const {
    return {};
  }
  // What the barrier says of a kernel that has ended with an error.
  virtual std::optional<std::string> failure() const { return {}; }

  const Field& field_;
  const void* kernel_;
  std::size_t shared_bytes_;
  std::vector<Stream> streams_;
};

/// With no order. Blocks of a GPU meet where both copies of the field are
/// larger than its L2 cache.
class UnorderedSteps : public ResidentSteps<NoOrder, FieldForm::kMemory> {
 public:
  explicit UnorderedSteps(const Field& field)
      : ResidentSteps<NoOrder, FieldForm::kMemory>(field) {
    for (const Gpu& gpu : field.gpus()) {
      int l2 = 0;
      CUDA_CHECK(
          cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, gpu.index));
      const bool meets = field.shape().bytes() > l2;
      counters_.emplace_back(gpu.index, meets ? Barrier::words(0) : 0);
      if (meets) counters_.back().set_to_zero();
    }
  }

 private:
  using Barrier = grid_barriers::LockBarrier<
      grid_barriers::GpuMachine<grid_barriers::Order::kNone>>;

  NoOrder::Argument argument_of(int rank) const override {
    unsigned* const counter = counters_[rank].get();
    const int stride =
        counter == nullptr ? part_stride(field().grid().blocks) : 0;
    return {counter, static_cast<unsigned>(stride)};
  }

  std::vector<DeviceBuffer<unsigned>> counters_;
};

/// With this suite's barrier of all GPUs, which may be of several processes.
template <FieldForm kForm>
class PeerGridSteps : public ResidentSteps<PeerGridSync, kForm> {
 public:
  explicit PeerGridSteps(const Field& field)
      : ResidentSteps<PeerGridSync, kForm>(field),
        barriers_(field.team()),
        ends_(barriers_->ends(field.grid().blocks)) {}

 private:
  peer_grid::BarrierEnd argument_of(int rank) const override {
    return ends_.at(rank);
  }
  std::optional<std::string> failure() const override {
    return barriers_->failure();
  }

  ClosedTogether<TeamBarriers> barriers_;
  std::vector<peer_grid::BarrierEnd> ends_;
};

// Processes first agree that their kernels fit: all make the barrier, or none.
template <FieldForm kForm>
std::unique_ptr<FieldSteps> make_peer_grid_steps(const Field& field) {
  using Fitting = ResidentSteps<PeerGridSync, kForm>;
  field.require_stores();
  make_together([&] { return std::make_unique<Fitting>(field); });
  return make_steps<PeerGridSteps<kForm>>(field);
}

#if CUDART_VERSION < 13000

using MultiGridSync = Meeting<MultiGridBarrier>;

/// One call launches on all GPUs.
template <FieldForm kForm>
class MultiGridSteps : public ResidentSteps<MultiGridSync, kForm> {
 public:
  explicit MultiGridSteps(const Field& field)
      : ResidentSteps<MultiGridSync, kForm>(field),
        pool_(device_numbers(field.gpus()), 1),
        arguments_(field.gpu_count()) {
    std::vector<KernelCall> calls;
    for (int rank = 0; rank < field.gpu_count(); ++rank) {
      arguments_[rank] = {const_cast<Slab*>(&field.slab(rank)), &steps_,
                          &none_};
      calls.push_back(this->call(arguments_[rank].data()));
    }
    launch_.emplace(pool_, ways::Steps{{calls}});
  }

  double run(int steps) override {
    const DeviceGuard guard(this->field().gpus()[0].index);
    steps_ = steps;
    return launch_->run(1).total;
  }

 private:
  ways::StreamPool pool_;
  int steps_ = 0;
  MultiGridBarrier::End none_;
  std::vector<std::array<void*, 3>> arguments_;
  std::optional<ways::MultiDeviceWay> launch_;
};

template <FieldForm kForm>
std::unique_ptr<FieldSteps> make_multi_grid_steps(const Field& field) {
  field.require_stores();
  return make_steps<MultiGridSteps<kForm>>(field);
}

template <FieldForm kForm>
constexpr auto kMakeMultiGrid = make_multi_grid_steps<kForm>;
#else
template <FieldForm>
constexpr decltype(FieldWay::make) kMakeMultiGrid = nullptr;
#endif

}  // namespace

void require_resident(const Field& field, const void* kernel,
                      std::size_t shared_bytes) {
  ways::require_cooperative(field.gpus());
  for (const Gpu& gpu : field.gpus()) {
    const DeviceGuard guard(gpu.index);
    int most = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(
        &most, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu.index));
    if (shared_bytes > static_cast<std::size_t>(most)) {
      throw CannotMeasure(
          "does-not-fit holds=" + std::to_string(most),
          "the tile of a block does not fit into its shared memory");
    }
    if (shared_bytes > 0) {
      CUDA_CHECK(cudaFuncSetAttribute(
          kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
          static_cast<int>(shared_bytes)));
    }
    int fit = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &fit, kernel, field.grid().threads, shared_bytes));
    if (fit * gpu.sm_count < field.grid().blocks) {
      throw CannotMeasure("does-not-fit holds=" + std::to_string(fit),
                          "its blocks do not fit on the GPU at once");
    }
  }
}

std::vector<FieldWay> resident_field_ways() {
  using Gpus = FieldWay::Gpus;
  using In = FieldWay::In;
  constexpr FieldForm kMemory = FieldForm::kMemory, kTile = FieldForm::kTile;
  const Remark removed = {"toolkit",
                          "CUDA 13 removed it; a build with CUDA 11 or 12 "
                          "measures it (cmake --preset before13)"};
  return {{"none",
           "one kernel of all steps without order; its results are wrong; in "
           "fields larger than the L2 cache all blocks meet after a step, in "
           "smaller ones each computes another part in each step",
           Gpus::kAny, make_steps<UnorderedSteps>, kMemory, In::kBoth,
           /*orders=*/false},
          {"none_tile",
           "no block waits for another; each block's tile stays in shared "
           "memory, and only what others read is in global memory, too",
           Gpus::kAny, make_steps<ResidentSteps<OwnBlock, kTile>>, kTile,
           In::kBoth, /*orders=*/false},
          {"grid_sync", "one kernel of all steps with grid_group::sync()",
           Gpus::kOne, make_steps<ResidentSteps<GridSync, kMemory>>},
          {"grid_sync_tile", "the same; tiles stay in shared memory",
           Gpus::kOne, make_steps<ResidentSteps<GridSync, kTile>>, kTile},
          {"peer_grid_sync",
           "one kernel a GPU with the barrier of peer_grid_barrier/, in one "
           "process or in one for each GPU",
           Gpus::kAny, make_peer_grid_steps<kMemory>, kMemory, In::kBoth},
          {"peer_grid_sync_tile", "the same; tiles stay in shared memory",
           Gpus::kAny, make_peer_grid_steps<kTile>, kTile, In::kBoth},
          {"multi_grid_sync", "one kernel a GPU with multi_grid_group::sync()",
           Gpus::kAny, kMakeMultiGrid<kMemory>, kMemory, In::kOneProcess,
           /*orders=*/true, removed},
          {"multi_grid_sync_tile", "the same; tiles stay in shared memory",
           Gpus::kAny, kMakeMultiGrid<kTile>, kTile, In::kOneProcess,
           /*orders=*/true, removed}};
}

namespace {

std::vector<FieldWay> ways_where(bool made) {
  std::vector<FieldWay> found;
  for (const auto list : {resident_field_ways, launched_field_ways}) {
    for (const FieldWay& way : list()) {
      if ((way.make != nullptr) == made) found.push_back(way);
    }
  }
  return found;
}

}  // namespace

std::vector<FieldWay> field_ways() { return ways_where(true); }
std::vector<FieldWay> missing_field_ways() { return ways_where(false); }

}  // namespace syncbench::stencil
