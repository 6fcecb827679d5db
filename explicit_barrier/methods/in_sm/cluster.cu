// Barriers of a thread block cluster and what they are for: distributed shared
// memory. sm_90 and later.
#include "explicit_barrier/methods/in_use_of_blocks.cuh"
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

/// Launched as clusters of `group` blocks.
struct Clustered : Method {
  static constexpr void describe(About& about) {
    about.first_architecture = 90;
    about.trips = 4;
    about.repeats = 16;
    about.groups = Sizes{2, 16, 2};
    about.attributes = [](int group) { return LaunchAttributes{false, group}; };
  }
};

/// The fence of an arrival that is a release.
constexpr const char* kRelease = R"(MEMBAR\.ALL\.GPU)";

/// A barrier of the cluster. A block that was launched without a cluster waits
/// at a BAR instead.
constexpr ExpectedCode cluster_barrier(int others,
                                       const char* fence = kRelease) {
  const int older = CUDART_VERSION < 13000 ? 2 : 0;
  return ExpectedCode(R"(UCGABAR_WAIT|BAR\.SYNC\S* 0x0)")
      .others(others + older)
      .paths(2)
      .also("UCGABAR_WAIT")
      .also(fence);
}

__device__ inline void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
}
__device__ inline void cluster_wait() {
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

/// All threads of a cluster arrive and wait.
struct ClusterSync : Clustered {
  static constexpr void describe(About& about) {
    Clustered::describe(about);
    about.barrier(Scope::kCluster, "cluster_sync",
                  "barrier.cluster of 2 to 16 blocks");
    about.late = true;
    about.code = cluster_barrier(9);
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    cluster_arrive();
    cluster_wait();
    return value;
  }
};

/// The same in a kernel with __cluster_dims__, as most kernels have it whose
/// clusters are all of one size. Its code has no other path.
template <int kBlocks>
struct ClusterSyncDims : ClusterSync {
  static constexpr void describe(About& about) {
    ClusterSync::describe(about);
    about.barrier(Scope::kCluster, "cluster_sync_dims",
                  "barrier.cluster in a kernel with __cluster_dims__");
    about.set = Set::kEvidence;
    about.first_toolkit = 12000;
    about.cluster_dims = kBlocks;
    about.groups = Sizes{kBlocks, kBlocks};
    about.attributes = LaunchAttributes{false, kBlocks, false, true};
    about.code = ExpectedCode(R"(UCGABAR_WAIT)").others(9).also(kRelease);
  }
};

/// cluster_sync in a kernel that initialises an mbarrier, as most kernels with
/// clusters do: for these CUDA 13 compiles the release to one more fence.
struct ClusterSyncMbarrier : ClusterSync {
  static constexpr void describe(About& about) {
    ClusterSync::describe(about);
    about.barrier(Scope::kCluster, "cluster_sync_mbarrier",
                  "barrier.cluster in a kernel that has an mbarrier");
    about.first_toolkit = 12000;
    about.set = Set::kEvidence;
    about.code = cluster_barrier(10);
  }
  struct Shared {
    unsigned long long mbarrier;
  };
  static __device__ void start(Shared& shared, const Position& position) {
    if (position.thread != 0) return;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(
                     shared_address(&shared.mbarrier))
                 : "memory");
  }
  template <class Here>
  __device__ unsigned operator()(unsigned value, Here&) const {
    cluster_arrive();
    cluster_wait();
    return value;
  }
};

/// In use. The arrival is a release, which takes longer after stores.
template <int kWords>
struct ClusterInUse : InUse<ClusterSync, kWords, OnThisGpu> {
  static constexpr void describe(About& about) {
    ClusterInUse::InUse::describe(about);
    about.operation(
        Scope::kCluster,
        kWords == 1 ? "in_use_cluster_sync" : "in_use_4_cluster_sync",
        kWords == 1 ? "a word stored to global memory, barrier.cluster, a "
                      "neighbour's read"
                    : "the same with four words");
    about.set = kWords == 1 ? Set::kToday : Set::kEvidence;
    about.code = cluster_barrier(9 + 24 + 8 * kWords);
  }
};

/// The same without memory order: who arrives has not made its stores visible.
struct ClusterRelaxed : Clustered {
  static constexpr void describe(About& about) {
    Clustered::describe(about);
    about.barrier(Scope::kCluster, "cluster_relaxed",
                  "barrier.cluster, arrive.relaxed: no memory order");
    about.first_toolkit = 12000;
    about.late = true;
    about.code = cluster_barrier(6, "");
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    cluster_wait();
    return value;
  }
};

/// Work of its own between arrive and wait: a chain of float additions of a 0,
/// which an unsplit barrier would add to its own time.
struct ClusterSplit : Clustered {
  static constexpr void describe(About& about) {
    Clustered::describe(about);
    about.barrier(
        Scope::kCluster, "cluster_split",
        "barrier.cluster, 64 float additions between arrive and wait");
    about.repeats = 4;
    about.code = cluster_barrier(9 + kAdditions);
  }
  static constexpr int kAdditions = 64;
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    float sum = __uint_as_float(value);
    cluster_arrive();
    for (int i = 0; i < kAdditions; ++i) {
      asm volatile("add.f32 %0, %0, %1;" : "+f"(sum) : "f"(zero));
    }
    cluster_wait();
    return __float_as_uint(sum);
  }
  float zero = static_cast<float>(threadIdx.y);
};

/// Who touches another block's shared memory: that block has to be there, so
/// all meet before the first operation and after the last.
struct NextBlock : Clustered {
  /// Where the next block has what is `shared` here.
  static __device__ unsigned* in_next(const unsigned* shared,
                                      const Position& position) {
    unsigned* address;
    asm("mapa.u64 %0, %1, %2;"
        : "=l"(address)
        : "l"(shared), "r"((position.block + 1) % position.group));
    return address;
  }
  /// A thread's word goes to the next but so many places of a block.
  static __host__ __device__ unsigned distance(const Position& position) {
    return 1 + position.block % position.group;
  }
  /// The word that the thread gets of block `block` of its cluster.
  static unsigned sent_by(unsigned block, const Position& position,
                          const Values& before) {
    Position sender = position;
    sender.block = position.block / position.group * position.group + block;
    sender.thread = (position.thread + position.threads - distance(sender)) %
                    position.threads;
    return before(sender);
  }
  struct Together {
    __device__ Together() { cluster_arrive(), cluster_wait(); }
    __device__ ~Together() { cluster_arrive(), cluster_wait(); }
  } together;
};

/// A load from the next block's shared memory, there and back. Each word says
/// which one is to be read next; what it says depends on whose it is.
struct DistributedLoad : NextBlock {
  static constexpr void describe(About& about) {
    NextBlock::describe(about);
    about.operation(Scope::kCluster, "distributed_load",
                    "load from another block's shared memory");
    about.code = ExpectedCode(R"(LD\.E .*)").others(1).proof(Proof::kChain);
    about.expected = [](const Position& position, const Values& before) {
      Position word = position;
      word.thread = before(position) - position.group;
      return of_block(word, position.block + 1);
    };
  }
  struct Shared {
    unsigned next[1024 + 16];  // by value
  };
  static __device__ void start(Shared& shared, const Position& position) {
    shared.next[start_value(position)] = of_block(position, position.block);
  }
  static __host__ __device__ unsigned of_block(const Position& position,
                                               unsigned block) {
    return (position.thread + 1 + block % position.group) % position.threads +
           position.group;
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) const {
    const unsigned* next = in_next(here.shared.next, here) + value;
    asm volatile("ld.u32 %0, [%1];" : "=r"(value) : "l"(next) : "memory");
    return value;
  }
};

/// In use: a store to the next block's shared memory, the barrier, a load of
/// what the block before has stored here, at a distance that depends on its
/// place in the cluster. Stores go to two places in turn, so that none
/// overwrites what is still to be read.
template <bool kWithBarrier>
struct ClusterExchange : NextBlock {
  static constexpr void describe(About& about) {
    NextBlock::describe(about);
    about.operation(
        Scope::kCluster,
        kWithBarrier ? "cluster_exchange" : "cluster_exchange_unmet",
        kWithBarrier
            ? "store to the next block's shared memory, barrier.cluster, load"
            : "the same without the barrier");
    about.checked = kWithBarrier;
    about.meets_too = kWithBarrier;
    about.trips = kWithBarrier ? 4 : 32;  // until stores queue up
    about.repeats = 8;
    about.code = kWithBarrier
                     ? cluster_barrier(11)
                     : ExpectedCode(R"(ST\.E .*)").others(2).also(R"(LDS .*)");
    about.expected = [](const Position& position, const Values& before) {
      return sent_by((position.block + position.group - 1) % position.group,
                     position, before);
    };
  }
  struct Shared {
    unsigned words[2][1024];
  };
  static __device__ void start(Shared& shared, const Position& position) {
    shared.words[0][position.thread] = shared.words[1][position.thread] = 0;
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    unsigned* words = here.shared.words[0];
    unsigned* to = in_next(words + to_thread, here);
    asm volatile("st.u32 [%0], %1;" ::"l"(to + side), "r"(value) : "memory");
    if (kWithBarrier) cluster_arrive(), cluster_wait();
    value = static_cast<volatile unsigned*>(words)[here.thread + side];
    side ^= 1024;
    return value;
  }
  __device__ explicit ClusterExchange(Here<Shared>& here)
      : to_thread((here.thread + distance(here)) % here.threads) {}
  unsigned to_thread, side = 0;
};

/// Pairs of blocks whose threads wait for those of the other block at an
/// mbarrier of their own. Two of them in turn: nobody arrives at one again
/// before all threads here have left it.
struct Pairs : NextBlock {
  static constexpr void describe(About& about) {
    NextBlock::describe(about);
    about.first_toolkit = 12010;
    about.repeats = 8;
    about.groups = Sizes{2, 2};
  }
  static __device__ void start_barriers(unsigned long long* barriers,
                                        const Position& position,
                                        unsigned arrivals) {
    if (position.thread > 1) return;
    asm volatile(
        "mbarrier.init.shared.b64 [%0], %1;\n"
        "fence.mbarrier_init.release.cluster;" ::"r"(
            shared_address(barriers + position.thread)),
        "r"(arrivals)
        : "memory");
  }
  // The address of what is at `address` here in the other block.
  static __device__ unsigned in_other(unsigned address,
                                      const Position& position) {
    unsigned other;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(other)
        : "r"(address), "r"((position.block + 1) % position.group));
    return other;
  }
  static __device__ void wait(unsigned barrier, unsigned parity) {
    asm volatile(
        "{\n .reg .pred done;\npoll:\n"
        " mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], "
        "%1;\n @!done bra poll;\n}" ::"r"(barrier),
        "r"(parity)
        : "memory");
  }
  // Of the operation that is made next: which of the two, and its phase.
  unsigned turn = 0;
  __device__ unsigned which() const { return turn & 1; }
  __device__ unsigned parity() const { return turn >> 1 & 1; }
};

/// Every thread arrives at the other block's mbarrier.
struct RemoteArrive : Pairs {
  static constexpr void describe(About& about) {
    Pairs::describe(about);
    about.operation(Scope::kCluster, "remote_arrive",
                    "mbarrier.arrive (release) at the other block's mbarrier, "
                    "try_wait at the own one, of clusters of 2 blocks");
    about.code = ExpectedCode(R"(SYNCS\.ARRIVE\.TRANS64\.RED.*)")
                     .others(20)
                     .also(kRelease);
  }
  struct Shared {
    unsigned long long barriers[2];
  };
  static __device__ void start(Shared& shared, const Position& position) {
    start_barriers(shared.barriers, position, position.threads);
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    const unsigned own = shared_address(here.shared.barriers + which());
    asm volatile(
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
            in_other(own, here))
        : "memory");
    wait(own, parity());
    ++turn;
    return value;
  }
};

/// Every thread sends a word to the other block, and waits until all words of
/// that one are here. Each thread's goes to the next but as many places as
/// depend on its block.
struct StoreAsync : Pairs {
  static constexpr void describe(About& about) {
    Pairs::describe(about);
    about.operation(Scope::kCluster, "store_async",
                    "st.async of a word to the other block, waited for at an "
                    "mbarrier there, of clusters of 2 blocks");
    about.code = ExpectedCode(R"(STAS .*)").others(26);
    about.expected = [](const Position& position, const Values& before) {
      return sent_by((position.block + 1) % position.group, position, before);
    };
  }
  struct Shared {
    unsigned long long barriers[2];
    unsigned words[2][1024];
  };
  static __device__ void start(Shared& shared, const Position& position) {
    start_barriers(shared.barriers, position, 1);
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    const unsigned own = shared_address(here.shared.barriers + which());
    volatile unsigned* words = here.shared.words[which()];
    if (here.thread == 0) {
      asm volatile(
          "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(own),
          "r"(static_cast<unsigned>(sizeof value) * here.threads)
          : "memory");
    }
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], "
        "%1, [%2];" ::"r"(
            in_other(shared_address(here.shared.words[which()] + to), here)),
        "r"(value), "r"(in_other(own, here))
        : "memory");
    wait(own, parity());
    ++turn;
    return words[here.thread];
  }
  __device__ explicit StoreAsync(Here<Shared>& here)
      : to((here.thread + distance(here)) % here.threads) {}
  unsigned to;
};

std::vector<MethodEntry> list_cluster() {
  return entries<ClusterSync, ClusterSyncDims<2>, ClusterSyncDims<4>,
                 ClusterSyncDims<8>, ClusterSyncDims<16>, ClusterSyncMbarrier,
                 ClusterInUse<1>, ClusterInUse<4>, ClusterRelaxed, ClusterSplit,
                 DistributedLoad, ClusterExchange<true>, ClusterExchange<false>,
                 RemoteArrive, StoreAsync>();
}

}  // namespace syncbench::explicit_barrier
