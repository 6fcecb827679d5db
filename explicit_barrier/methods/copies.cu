// Asynchronous copies between global and shared memory: what starts them, and
// what waits for them.
#include "explicit_barrier/methods/places.cuh"
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

/// A copy of 16 bytes to 16 KiB; the column `tile` is that size. Words of
/// global memory are 0, and in the L2 cache after the first copy. They
/// overwrite words that are not 0, and the last one is read.
struct Copy : Method {
  static constexpr Sizes groups(int) { return {16, PlacesInTurn::kBytes, 4}; }
  static constexpr int repeats(int) { return 4; }
  static constexpr int kTrips = 16;
  static constexpr int kMostInLine = 16;
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
  static unsigned expected(const Position&, const Values&) { return 0; }
};

/// cp.async of 16 bytes a lane, past L1, as often as it takes; a commit and a
/// wait for the group. The next copy's address depends on what this one brings.
template <int kBytes>
struct CopyAsync : Copy {
  static constexpr About kAbout = {
      "copy_async",
      "cp.async of a warp to shared memory, "
      "commit_group and wait_group",
      Scope::kWarp,
      Window::kOperation,
      "16 for each lane that takes part, from L2; with a load of the last "
      "word, which gives the next address",
      "bytes"};
  static constexpr int kFirstArchitecture = 80;
  static constexpr int kRounds = (kBytes + 511) / 512;
  static constexpr ExpectedCode expected_code(int architecture) {
    const int addresses = architecture >= 100 ? kRounds : 0;
    return {R"(LDGSTS\S*\.128 .*)",
            kRounds,
            2 + (CUDART_VERSION < 13000 ? 30 + kRounds : 18 + addresses),
            Proof::kEach,
            1,
            {{"LDGDEPBAR", R"(DEPBAR\.LE SB0, 0x0)", R"(LDS .*)"}}};
  }
  static constexpr Sizes groups(int) { return {kBytes, kBytes}; }
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
  static constexpr int kFirstArchitecture = 90;
  static constexpr int kFirstToolkit = 12000;
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
  static constexpr About kAbout = {
      "bulk_copy_in",
      "cp.async.bulk of a thread to shared memory, waited "
      "for by an mbarrier (expect_tx)",
      Scope::kWarp,
      Window::kOperation,
      "in L2 before; with a load of the last word",
      "bytes"};
  static constexpr ExpectedCode expected_code(int architecture) {
    return {R"(SYNCS\.ARRIVE\.TRANS64 .*)",
            1,
            CUDART_VERSION < 13000 ? 26
            : architecture >= 100  ? 20
                                   : 18,
            Proof::kEach,
            1,
            {{R"(UBLKCP\.S\.G .*)", R"(LDS .*)"}}};
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
  static constexpr About kAbout = {
      kRead ? "bulk_copy_out_read" : "bulk_copy_out",
      kRead ? "the same, wait_group.read: until the source has been read"
            : "cp.async.bulk to global memory, commit_group and wait_group",
      Scope::kWarp,
      Window::kOperation,
      kRead ? "with a store to the source and a fence before"
            : "with a store to the source and a fence before; the bytes may "
              "still be on their way, others see them after a fence",
      "bytes"};
  static constexpr ExpectedCode expected_code(int) {
    return {R"(UBLKCP\.G\.S .*)",
            1,
            CUDART_VERSION < 13000 ? 17 : 11,
            Proof::kEach,
            1,
            {{R"(UTMACMDFLUSH.*)", R"(DEPBAR\.LE SB0, 0x0)", R"(STS .*)",
              R"(FENCE\.VIEW\.ASYNC.*)"}}};
  }
  static unsigned expected(const Position& position, const Values& before) {
    return before(position);
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

std::vector<MethodEntry> copy_methods() {
  return entries<CopyAsync<16>, CopyAsync<64>, CopyAsync<256>, CopyAsync<1024>,
                 CopyAsync<4096>, CopyAsync<16384>, BulkIn, BulkOut<false>,
                 BulkOut<true>>();
}

}  // namespace syncbench::explicit_barrier
