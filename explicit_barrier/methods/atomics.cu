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
  static constexpr About kAbout = Operation::kAbouts[kInShared];
  static constexpr ExpectedCode expected_code(int) {
    return {Operation::kInstructions[kInShared], 1,
            Operation::kOthers + (kInShared ? 0 : 5), Proof::kChain};
  }
  static constexpr int repeats(int) { return 16; }
  static constexpr int kTrips = kInShared ? 1 : 4;
  static constexpr int throughput_repeats(int group) {
    return Operation::kThroughput && kInShared && group == 1 ? 256 : 0;
  }
  static constexpr double kThroughputLimit = 1. / 32;  // a word once a cycle
  static constexpr Sizes groups(int) { return {1, 32, 32}; }
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
  static unsigned expected(const Position& position, const Values&) {
    return word_of(position);
  }
  static constexpr int kMostChecked =
      1;  // of words as before_check() fills them
  // If the compiler knew that all lanes take one word, it would sum in the warp
  // and add once.
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return Operation::of(words_at(here, places) + word_of(here), value >> 31);
  }
  PlacesInTurn places;
};

/// What the operations share: their scope and how they are timed.
constexpr About atomic(const char* name, const char* text) {
  return {name,   text, Scope::kWarp, Window::kOperation, "with a shift each",
          "words"};
}

struct Add {
  static constexpr About kAbouts[] = {
      atomic("global_add", "atomicAdd() on 1 or 32 words of global memory"),
      atomic("shared_add", "atomicAdd() on 1 or 32 words of shared memory")};
  static constexpr const char* kInstructions[] = {R"(ATOMG?\.E\.ADD\..*)",
                                                  R"(ATOMS\.ADD .*)"};
  static constexpr int kOthers = 1;
  static constexpr bool kThroughput = true;
  static __device__ unsigned of(unsigned* word, unsigned zero) {
    return atomicAdd(word, zero);
  }
};

struct Max {
  static constexpr About kAbouts[] = {
      atomic("global_max", "atomicMax() on 1 or 32 words of global memory"),
      atomic("shared_max", "atomicMax() on 1 or 32 words of shared memory")};
  static constexpr const char* kInstructions[] = {R"(ATOMG?\.E\.MAX\..*)",
                                                  R"(ATOMS\.MAX .*)"};
  static constexpr int kOthers = 1;
  static constexpr bool kThroughput = false;
  static __device__ unsigned of(unsigned* word, unsigned zero) {
    return atomicMax(word, zero);
  }
};

struct Exchange {
  static constexpr About kAbouts[] = {
      atomic("global_exchange",
             "atomicExch() on 1 or 32 words of global "
             "memory"),
      atomic("shared_exchange",
             "atomicExch() on 1 or 32 words of shared "
             "memory")};
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
  static constexpr About kAbouts[] = {
      atomic("global_cas", "atomicCAS() on 1 or 32 words of global memory"),
      atomic("shared_cas", "atomicCAS() on 1 or 32 words of shared memory")};
  static constexpr const char* kInstructions[] = {R"(ATOMG?\.E\.CAS\..*)",
                                                  R"(ATOMS\.CAS .*)"};
  static constexpr int kOthers = 2;
  static constexpr bool kThroughput = false;
  static __device__ unsigned of(unsigned* word, unsigned zero) {
    return atomicCAS(word, zero, zero);
  }
};

std::vector<MethodEntry> atomic_methods() {
  return entries<Atomic<Add, true>, Atomic<Max, true>, Atomic<Exchange, true>,
                 Atomic<CompareAndSwap, true>, Atomic<Add, false>,
                 Atomic<Max, false>, Atomic<Exchange, false>,
                 Atomic<CompareAndSwap, false>>();
}

}  // namespace syncbench::explicit_barrier
