// Atomic operations of a warp, in shared and in global memory.
#include <type_traits>

#include "explicit_barrier/methods/places.cuh"
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

/// An atomic operation of all lanes of a warp that returns what was there. One
/// address: all lanes take the same word. The column `tile` says how many.
///
/// Every word is 0 and stays so in any order of the lanes: each operand is a 0,
/// computed from the result before. That shift is part of the latency. Only for
/// the check each word is its number.
template <class Operation, bool kInShared>
struct Atomic : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, Operation::kNames[kInShared],
                    Operation::kTexts[kInShared]);
    about.caution = "with a shift each";
    about.tile = "words";
    about.trips = kInShared ? 1 : 4;
    about.throughput_limit = 1. / 32;  // a word once a cycle
    about.most_checked = 1;            // of words as before_check() fills them
    about.repeats = 16;
    about.throughput_repeats = [](int group) {
      return Operation::kThroughput && kInShared && group == 1 ? 256 : 0;
    };
    about.groups = Sizes{1, 32, 32};
    about.code = ExpectedCode(Operation::kInstructions[kInShared])
                     .others(Operation::kOthers + (kInShared ? 0 : 5))
                     .proof(Proof::kChain);
    about.expected = [](const Position& position, const Values&) {
      return word_of(position);
    };
  }
  struct Words {
    unsigned words[32];
  };
  using Shared = std::conditional_t<kInShared, Words, None>;
  static __device__ void start(Words& shared, const Position& position) {
    if (position.thread < 32) shared.words[position.thread] = 0;
  }
  static constexpr long long global_words(long long) {
    return kInShared ? 0 : PlacesInTurn::kWords;
  }
  static __host__ __device__ unsigned word_of(const Position& position) {
    return position.thread & (position.group - 1);
  }
  static __device__ unsigned* words_at(Here<Shared>& here,
                                       PlacesInTurn& places) {
    if constexpr (kInShared) {
      return here.shared.words;
    } else {
      return reinterpret_cast<unsigned*>(places.next(here.global));
    }
  }
  static __device__ void before_check(Here<Shared>& here) {
    PlacesInTurn places;  // the first of which the one operation takes
    if (here.thread < 32) words_at(here, places)[here.thread] = here.thread;
    __syncthreads();
  }
  // If the compiler knew that all lanes take one word, it would sum in the warp
  // and add once.
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return Operation::of(words_at(here, places) + word_of(here), value >> 31);
  }
  PlacesInTurn places;
};

struct Add {
  static constexpr const char
      *kNames[] = {"global_add", "shared_add"},
      *kTexts[] = {"atomicAdd() on 1 or 32 words of global memory",
                   "atomicAdd() on 1 or 32 words of shared memory"};
  static constexpr const char* kInstructions[] = {R"(ATOMG?\.E\.ADD\..*)",
                                                  R"(ATOMS\.ADD .*)"};
  static constexpr int kOthers = 1;
  static constexpr bool kThroughput = true;
  static __device__ unsigned of(unsigned* word, unsigned zero) {
    return atomicAdd(word, zero);
  }
};

struct Max {
  static constexpr const char
      *kNames[] = {"global_max", "shared_max"},
      *kTexts[] = {"atomicMax() on 1 or 32 words of global memory",
                   "atomicMax() on 1 or 32 words of shared memory"};
  static constexpr const char* kInstructions[] = {R"(ATOMG?\.E\.MAX\..*)",
                                                  R"(ATOMS\.MAX .*)"};
  static constexpr int kOthers = 1;
  static constexpr bool kThroughput = false;
  static __device__ unsigned of(unsigned* word, unsigned zero) {
    return atomicMax(word, zero);
  }
};

struct Exchange {
  static constexpr const char
      *kNames[] = {"global_exchange", "shared_exchange"},
      *kTexts[] = {"atomicExch() on 1 or 32 words of global memory",
                   "atomicExch() on 1 or 32 words of shared memory"};
  static constexpr const char* kInstructions[] = {R"(ATOMG?\.E\.EXCH\..*)",
                                                  R"(ATOMS\.EXCH .*)"};
  static constexpr int kOthers = 1;
  static constexpr bool kThroughput = false;
  static __device__ unsigned of(unsigned* word, unsigned zero) {
    return atomicExch(word, zero);
  }
};

/// It compares with a 0, so that each succeeds.
struct CompareAndSwap {
  static constexpr const char
      *kNames[] = {"global_cas", "shared_cas"},
      *kTexts[] = {"atomicCAS() on 1 or 32 words of global memory",
                   "atomicCAS() on 1 or 32 words of shared memory"};
  static constexpr const char* kInstructions[] = {R"(ATOMG?\.E\.CAS\..*)",
                                                  R"(ATOMS\.CAS .*)"};
  static constexpr int kOthers = 2;
  static constexpr bool kThroughput = false;
  static __device__ unsigned of(unsigned* word, unsigned zero) {
    return atomicCAS(word, zero, zero);
  }
};

std::vector<MethodEntry> list_atomics() {
  return entries<Atomic<Add, true>, Atomic<Max, true>, Atomic<Exchange, true>,
                 Atomic<CompareAndSwap, true>, Atomic<Add, false>,
                 Atomic<Max, false>, Atomic<Exchange, false>,
                 Atomic<CompareAndSwap, false>>();
}

}  // namespace syncbench::explicit_barrier
