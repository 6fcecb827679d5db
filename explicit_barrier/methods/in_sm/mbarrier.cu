// Barrier objects in shared memory: threads of a block arrive, then wait for
// the phase to end.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
#include <cuda/barrier>
#endif

#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

// Since sm_90 there is a wait that suspends the thread for a while.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define WAIT "mbarrier.try_wait"
#else
#define WAIT "mbarrier.test_wait"
#endif

struct BarrierObject : Method {
  static constexpr void describe(About& about) {
    about.first_architecture = 80;
    about.trips = 16;
    about.repeats = 8;
    about.code = ExpectedCode(R"((SYNCS|ATOMS)\.ARRIVE.*)")
                     .others(about.architecture >= 90 ? 2 : 8);
  }
  struct Shared {
    unsigned long long barrier;
  };
  static __device__ void start(Shared& shared, const Position& position) {
    if (position.thread > 0) return;
    asm volatile(
        "mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&shared)),
        "r"(position.threads));
  }
  // Its address is made once, else while the clock of a late warp runs.
  template <class Here>
  __device__ explicit BarrierObject(Here& here)
      : address(shared_address(&here.shared)) {
    asm volatile("" : "+r"(address));
  }
  unsigned address;
};

/// Every thread arrives, which gives a token of the phase, and polls with it.
struct Mbarrier : BarrierObject {
  static constexpr void describe(About& about) {
    BarrierObject::describe(about);
    about.barrier(
        Scope::kBlock, "mbarrier",
        "mbarrier.arrive and try_wait of a block (test_wait before sm_90)");
    about.late = true;
  }
  using BarrierObject::BarrierObject;
  __device__ unsigned operator()(unsigned value, Here<Shared>&) const {
    asm volatile(
        "{\n .reg .pred done;\n .reg .b64 state;\n"
        " mbarrier.arrive.shared.b64 state, [%0];\n"
        "poll:\n " WAIT
        ".shared.b64 done, [%0], state;\n"
        " @!done bra poll;\n}" ::"r"(address)
        : "memory");
    return value;
  }
};

/// The same without a token: each thread counts the phases, odd or even.
struct MbarrierParity : BarrierObject {
  static constexpr void describe(About& about) {
    BarrierObject::describe(about);
    about.barrier(Scope::kBlock, "mbarrier_parity",
                  "the same, try_wait.parity");
  }
  using BarrierObject::BarrierObject;
  __device__ unsigned operator()(unsigned value, Here<Shared>&) {
    asm volatile(
        "{\n .reg .pred done;\n .reg .b64 state;\n"
        " mbarrier.arrive.shared.b64 state, [%0];\n"
        "poll:\n " WAIT
        ".parity.shared.b64 done, [%0], %1;\n"
        " @!done bra poll;\n}" ::"r"(address),
        "r"(parity)
        : "memory");
    parity ^= 1;
    return value;
  }
  unsigned parity = 0;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
using LibraryBarrier = cuda::barrier<cuda::thread_scope_block>;
#else
struct LibraryBarrier;  // needs sm_70
#endif

/// libcu++'s object: an mbarrier. On older GPUs it is an atomic counter, which
/// is not measured. Members are templates because its type is not known there.
struct CudaBarrier : Method {
  static constexpr void describe(About& about) {
    about.barrier(Scope::kBlock, "cuda_barrier",
                  "cuda::barrier::arrive_and_wait() of a block");
    about.first_architecture = 80;
    about.trips = 64;
    about.late = true;
    about.repeats = 2;  // of many, each takes longer
    const int others = CUDART_VERSION < 13000     ? 60
                       : about.architecture >= 90 ? 26
                                                  : 36;  // most in the waiting
    about.code = ExpectedCode(R"((SYNCS|ATOMS)\.ARRIVE.*)").others(others);
  }
  struct Shared {
    unsigned long long storage;
  };
  template <class Barrier = LibraryBarrier>
  static __device__ Barrier& barrier(Shared& shared) {
    static_assert(sizeof(Barrier) == sizeof shared);
    return reinterpret_cast<Barrier&>(shared);
  }
  template <class = void>
  static __device__ void start(Shared& shared, const Position& position) {
    if (position.thread == 0) init(&barrier(shared), position.threads);
  }
  template <class State>
  __device__ unsigned operator()(unsigned value, State& here) const {
    barrier(here.shared).arrive_and_wait();
    return value;
  }
};

/// In use: every thread writes to shared memory, meets the others and reads
/// what the next thread wrote. Two buffers in turn: one that is written again
/// has been read by all, as the barrier of the other has passed since.
template <class Barrier>
struct BarrierInUse : Barrier {
  static constexpr bool kIsLibrary = std::is_same_v<Barrier, CudaBarrier>;
  static constexpr void describe(About& about) {
    Barrier::describe(about);
    about.operation(
        Scope::kBlock, kIsLibrary ? "in_use_cuda_barrier" : "in_use_mbarrier",
        kIsLibrary ? "shared memory written, cuda::barrier, a neighbour's read"
                   : "shared memory written, mbarrier, a neighbour's read");
    about.first_toolkit = 12000;
    about.meets_too = true;
    about.code.most_others += 12;
    about.code.also(R"(STS\b.*)");
    if (about.architecture >= 90) about.code.also(R"(LDS\b.*)");  // else polls
    about.expected = [](const Position& position, const Values& before) {
      return before.of_thread(position,
                              (position.thread + 1) % position.threads);
    };
  }
  struct Shared {
    typename Barrier::Shared barrier;
    unsigned values[2][1024];
  };
  static __device__ void start(Shared& shared, const Position& position) {
    Barrier::start(shared.barrier, position);
  }
  using Barrier::Barrier;
  // Volatile, for the compiler might keep values in registers.
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    volatile unsigned* values = here.shared.values[turn];
    turn ^= 1;
    values[here.thread] = value;
    Here<typename Barrier::Shared> at_barrier = {
        static_cast<Position>(here), here.shared.barrier, here.global, {}};
    Barrier::operator()(value, at_barrier);
    return values[(here.thread + 1) % here.threads];
  }
  unsigned turn = 0;
};

std::vector<MethodEntry> list_mbarrier() {
  return entries<Mbarrier, MbarrierParity, CudaBarrier, BarrierInUse<Mbarrier>,
                 BarrierInUse<CudaBarrier>>();
}

}  // namespace syncbench::explicit_barrier
