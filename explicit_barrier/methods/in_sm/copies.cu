// Asynchronous copies between global and shared memory: what starts them, and
// what waits for them.
#include "explicit_barrier/methods/places.cuh"
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

/// A copy of 16 bytes to 16 KiB; the column `tile` is that size. Words of
/// global memory are 0, and in the L2 cache after the first copy. They
/// overwrite words that are not 0, and the last one is read.
struct Copy : Method {
  static constexpr void describe(About& about) {
    about.trips = 16;
    about.groups = Sizes{16, PlacesInTurn::kBytes, 4};
    about.repeats = 4;
    about.expected = [](const Position&, const Values&) { return 0u; };
  }
  static constexpr long long global_words(long long) {
    return PlacesInTurn::kWords;
  }
  PlacesInTurn places;
  struct alignas(128) Shared {
    unsigned words[4096];
    unsigned long long barrier;
  };
  static __device__ void start(Shared& shared, const Position& position) {
    for (unsigned i = position.thread; i < 4096; i += position.threads) {
      shared.words[i] = 1;
    }
  }
};

/// cp.async of 16 bytes a lane, past L1, as often as it takes; a commit and a
/// wait for the group. The next copy's address depends on what this one brings.
template <int kBytes>
struct CopyAsync : Copy {
  static constexpr void describe(About& about) {
    Copy::describe(about);
    about.operation(
        Scope::kWarp, "copy_async",
        "cp.async of a warp to shared memory, commit_group and wait_group");
    about.caution =
        "16 for each lane that takes part, from L2; with a load of the last "
        "word, which gives the next address";
    about.tile = "bytes";
    about.first_architecture = 80;
    about.groups = Sizes{kBytes, kBytes};
    const int addresses = about.architecture >= 100 ? kRounds : 0;
    about.code = ExpectedCode(R"(LDGSTS\S*\.128 .*)", kRounds)
                     .others(2 + (CUDART_VERSION < 13000 ? 30 + kRounds
                                                         : 18 + addresses))
                     .also("LDGDEPBAR")
                     .also(R"(DEPBAR\.LE SB0, 0x0)")
                     .also(R"(LDS .*)");
  }
  static constexpr int kRounds = (kBytes + 511) / 512;
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return position.thread % 32 * 16 < kBytes;
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    const unsigned at = here.thread * 16;
    const char* from = places.next(here.global) + (value >> 31) + at;
    const unsigned to = shared_address(here.shared.words) + at;
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
      asm volatile(
          "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + 512 * round),
          "l"(from + 512 * round)
          : "memory");
    }
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
    asm volatile("ld.shared.u32 %0, [%1];"
                 : "=r"(value)
                 : "r"(to + 512 * (kRounds - 1))
                 : "memory");
    return value;
  }
};

/// One thread's copies of the bulk kind.
struct BulkCopy : Copy {
  static constexpr void describe(About& about) {
    Copy::describe(about);
    about.first_architecture = 90;
    about.first_toolkit = 12000;
  }
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return position.thread == 0;
  }
  static __device__ void start(Shared& shared, const Position& position) {
    Copy::start(shared, position);
    asm volatile("fence.proxy.async;" ::: "memory");
    if (position.thread > 0) return;
    asm volatile(
        "mbarrier.init.shared.b64 [%0], 1;\n"
        "fence.mbarrier_init.release.cluster;" ::"r"(
            shared_address(&shared.barrier))
        : "memory");
  }
};

// The block's own shared memory: older toolkits know a cluster's only, for
// which an sm_120 calls a function.
#if CUDART_VERSION >= 12080
#define DESTINATION "shared::cta"
#else
#define DESTINATION "shared::cluster"
#endif

/// In: an mbarrier that expects the bytes, the copy, and polls until they are
/// there. The compiler puts the copy into a loop over the active lanes.
struct BulkIn : BulkCopy {
  static constexpr void describe(About& about) {
    BulkCopy::describe(about);
    about.operation(Scope::kWarp, "bulk_copy_in",
                    "cp.async.bulk of a thread to shared memory, waited for by "
                    "an mbarrier (expect_tx)");
    about.caution = "in L2 before; with a load of the last word";
    about.tile = "bytes";
    about.code = ExpectedCode(R"(SYNCS\.ARRIVE\.TRANS64 .*)")
                     .others(CUDART_VERSION < 13000      ? 26
                             : about.architecture >= 100 ? 20
                                                         : 18)
                     .also(R"(UBLKCP\.S\.G .*)")
                     .also(R"(LDS .*)");
  }
  // What is copied does not depend on the value; the wait puts one behind the
  // other.
  __device__ unsigned operator()(unsigned, Here<Shared>& here) {
    const unsigned barrier = shared_address(&here.shared.barrier);
    asm volatile(
        "{\n .reg .pred done;\n .reg .b64 state;\n"
        " mbarrier.arrive.expect_tx.shared.b64 state, [%0], %3;\n"
        " cp.async.bulk." DESTINATION
        ".global.mbarrier::complete_tx::bytes"
        " [%1], [%2], %3, [%0];\n"
        "poll:\n mbarrier.try_wait.shared.b64 done, [%0], state;\n"
        " @!done bra poll;\n}" ::"r"(barrier),
        "r"(shared_address(here.shared.words)), "l"(places.next(here.global)),
        "r"(here.group)
        : "memory");
    return static_cast<volatile unsigned*>(
        here.shared.words)[here.group / 4 - 1];
  }
};

/// Out: a store to the source, the fence that lets the copy see it, the copy, a
/// commit and a wait. The wait ends when all is written; with kRead, when the
/// source has been read. Without the store the compiler lets the next copy
/// overtake the wait.
template <bool kRead>
struct BulkOut : BulkCopy {
  static constexpr void describe(About& about) {
    BulkCopy::describe(about);
    about.operation(
        Scope::kWarp, kRead ? "bulk_copy_out_read" : "bulk_copy_out",
        kRead ? "the same, wait_group.read: until the source has been read"
              : "cp.async.bulk to global memory, commit_group and wait_group");
    about.caution =
        kRead ? "with a store to the source and a fence before"
              : "with a store to the source and a fence before; the bytes may "
                "still be on their way, others see them after a fence";
    about.tile = "bytes";
    about.code = ExpectedCode(R"(UBLKCP\.G\.S .*)")
                     .others(CUDART_VERSION < 13000 ? 17 : 11)
                     .also(R"(UTMACMDFLUSH.*)")
                     .also(R"(DEPBAR\.LE SB0, 0x0)")
                     .also(R"(STS .*)")
                     .also(R"(FENCE\.VIEW\.ASYNC.*)");
    about.expected = as_before;
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    static_cast<volatile unsigned*>(here.shared.words)[0] = value;
    asm volatile(
        "fence.proxy.async.shared::cta;\n"
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
        "cp.async.bulk.commit_group;" ::"l"(places.next(here.global)),
        "r"(shared_address(here.shared.words)), "r"(here.group)
        : "memory");
    if constexpr (kRead) {
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    } else {
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    return value;
  }
};

std::vector<MethodEntry> list_copies() {
  return entries<CopyAsync<16>, CopyAsync<64>, CopyAsync<256>, CopyAsync<1024>,
                 CopyAsync<4096>, CopyAsync<16384>, BulkIn, BulkOut<false>,
                 BulkOut<true>>();
}

}  // namespace syncbench::explicit_barrier
