// Fences and ordered accesses, by what is pending when they are made. Rows of a
// fence with nothing pending are of a state in which useful code is never.
#include <array>
#include <string_view>

#include "common/cuda_resources.hpp"
#include "common/errors.hpp"
#include "common/peer_access.hpp"
#include "explicit_barrier/arguments.hpp"
#include "explicit_barrier/methods/places.cuh"
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench {

// A text of two parts, for names.
constexpr std::array<char, 128> joined(std::string_view first,
                                       std::string_view second) {
  std::array<char, 128> text = {};
  std::size_t at = 0;
  for (const char c : first) text[at++] = c;
  for (const char c : second) text[at++] = c;
  return text;
}

// Instructions, each for the lane's own word, which holds 0. All but loads and
// fences for a block begin with MEMBAR; loads end with CCTL, which forgets what
// the SM has cached. The last arguments are the Work.
#define SYNCBENCH_FENCE(Type, name, ptx, architecture, ...)                   \
  struct Type {                                                               \
    static constexpr const char* kName = name;                                \
    static constexpr int kFirstArchitecture = architecture;                   \
    static constexpr Work kWork = {__VA_ARGS__};                              \
    [[maybe_unused]] static __device__ unsigned make(unsigned*, unsigned v) { \
      asm volatile(ptx ";" ::: "memory");                                     \
      return v;                                                               \
    }                                                                         \
  }
SYNCBENCH_FENCE(FenceCta, "fence_acq_rel_cta", "fence.acq_rel.cta", 70,
                R"(MEMBAR\.\w+\.CTA.*)");
SYNCBENCH_FENCE(FenceCluster, "fence_acq_rel_cluster", "fence.acq_rel.cluster",
                90, R"(MEMBAR\.\w+\.GPU.*)");
SYNCBENCH_FENCE(FenceGpu, "fence_acq_rel_gpu", "fence.acq_rel.gpu", 70,
                R"(MEMBAR\.\w+\.GPU.*)");
SYNCBENCH_FENCE(FenceSys, "fence_acq_rel_sys", "fence.acq_rel.sys", 70,
                R"(MEMBAR\.\w+\.SYS.*)");
SYNCBENCH_FENCE(ConsistentCta, "fence_sc_cta", "fence.sc.cta", 70,
                R"(MEMBAR\.SC\.CTA.*)");
SYNCBENCH_FENCE(ConsistentGpu, "fence_sc_gpu", "fence.sc.gpu", 70,
                R"(MEMBAR\.SC\.GPU.*)");
SYNCBENCH_FENCE(ConsistentSys, "fence_sc_sys", "fence.sc.sys", 70,
                R"(MEMBAR\.SC\.SYS.*)");
// Between ordinary accesses and those of the copy engine.
SYNCBENCH_FENCE(ProxyFence, "fence_proxy_async", "fence.proxy.async", 90,
                R"(FENCE\.VIEW\.ASYNC.*)");
#undef SYNCBENCH_FENCE

// With a result, which is added to the value.
#define SYNCBENCH_READ(Type, name, ptx, ...)                      \
  struct Type {                                                   \
    static constexpr const char* kName = name;                    \
    static constexpr int kFirstArchitecture = 70;                 \
    static constexpr Work kWork = {__VA_ARGS__, 2};               \
    static __device__ unsigned make(unsigned* word, unsigned v) { \
      unsigned found;                                             \
      asm volatile(ptx ";" : "=r"(found) : "l"(word) : "memory"); \
      return v + found;                                           \
    }                                                             \
  }
#define SYNCBENCH_WRITE(Type, name, ptx, ...)                     \
  struct Type {                                                   \
    static constexpr const char* kName = name;                    \
    static constexpr int kFirstArchitecture = 70;                 \
    static constexpr Work kWork = {__VA_ARGS__, 2};               \
    static __device__ unsigned make(unsigned* word, unsigned v) { \
      asm volatile(ptx ";" ::"l"(word) : "memory");               \
      return v;                                                   \
    }                                                             \
  }
// For the threads of the GPU, of the node.
SYNCBENCH_READ(LoadGpu, "load_acquire_gpu",
               "ld.acquire.gpu.global.u32 %0, [%1]",
               R"(LDG?\.E\S*\.STRONG\.GPU .*|CCTL\.IVALL.*)");
SYNCBENCH_READ(LoadSys, "load_acquire_sys",
               "ld.acquire.sys.global.u32 %0, [%1]",
               R"(LDG?\.E\S*\.STRONG\.SYS .*|CCTL\.IVALL.*)");
SYNCBENCH_READ(AtomicGpu, "atom_acq_rel_gpu",
               "atom.acq_rel.gpu.global.add.u32 %0, [%1], 0",
               R"(MEMBAR\.\w+\.GPU.*|ATOMG?\.E\S*\.STRONG\.GPU .*)");
SYNCBENCH_READ(AtomicSys, "atom_acq_rel_sys",
               "atom.acq_rel.sys.global.add.u32 %0, [%1], 0",
               R"(MEMBAR\.\w+\.SYS.*|ATOMG?\.E\S*\.STRONG\.SYS .*)");
SYNCBENCH_WRITE(StoreGpu, "store_release_gpu",
                "st.release.gpu.global.u32 [%0], 0",
                R"(MEMBAR\.\w+\.GPU.*|STG?\.E\S*\.STRONG\.GPU .*)");
SYNCBENCH_WRITE(StoreSys, "store_release_sys",
                "st.release.sys.global.u32 [%0], 0",
                R"(MEMBAR\.\w+\.SYS.*|STG?\.E\S*\.STRONG\.SYS .*)");
SYNCBENCH_WRITE(AddGpu, "red_release_gpu",
                "red.release.gpu.global.add.u32 [%0], 0",
                R"(MEMBAR\.\w+\.GPU.*|(RED|ATOM)G?\.E\S*\.STRONG\.GPU .*)");
SYNCBENCH_WRITE(AddSys, "red_release_sys",
                "red.release.sys.global.add.u32 [%0], 0",
                R"(MEMBAR\.\w+\.SYS.*|(RED|ATOM)G?\.E\S*\.STRONG\.SYS .*)");
#undef SYNCBENCH_READ
#undef SYNCBENCH_WRITE

// What is pending: a store of every lane before each operation.
struct Nothing {
  static constexpr const char *kName = "", *kText = "with nothing stored";
};
struct OnePlace {
  static constexpr const char *kName = "_store",
                              *kText = "after a store, always to one place";
};
struct ManyPlaces {
  static constexpr const char *kName = "_stores",
                              *kText = "after a store, to 64 places in turn";
};
struct ToHost {
  static constexpr const char *kName = "_host",
                              *kText = "after a store to host memory";
};
struct ToPeer {
  static constexpr const char *kName = "_peer",
                              *kText = "after a store to another GPU";
};

// Where lanes of a warp store that is not this GPU.
struct Far {
  unsigned* words;
};

template <class Operation, class Pending>
struct Ordered : Method {
  static constexpr bool kFar =
      std::is_same_v<Pending, ToHost> || std::is_same_v<Pending, ToPeer>;
  static constexpr auto kName = joined(Operation::kName, Pending::kName);
  static constexpr auto kText =
      joined("PTX instruction of this name, ", Pending::kText);
  static constexpr About kAbout = {
      kName.data(), kText.data(), Scope::kWarp, Window::kOperation,
      std::is_same_v<Pending, Nothing> ? "" : "the stores are in the row"};
  static constexpr int kFirstArchitecture = Operation::kFirstArchitecture;
  static constexpr int kFirstToolkit = 12000;
  static constexpr bool kInTestRepeat = false;
  static constexpr int repeats(int) { return 2; }
  static constexpr int kTrips = 32;  // all places in turn
  static constexpr Work work(int) {
    Work work = Operation::kWork;
    work.others = 48;
    return work;
  }
  static constexpr long long global_words(long long) {
    return 2 * PlacesInTurn::kWords;  // for the operation, for stores
  }
  using Argument = Far;
  using Local = Far;
  static Arguments make_arguments(const std::vector<int>& devices, int blocks);

  template <class Here>
  __device__ unsigned operator()(unsigned value, Here& here) {
    const unsigned lane = here.thread % 32;
    unsigned* words = reinterpret_cast<unsigned*>(places.next(here.global));
    unsigned* stored = words + 2 * PlacesInTurn::kWords;
    if (std::is_same_v<Pending, OnePlace>) {
      stored =
          reinterpret_cast<unsigned*>(here.global) + 2 * PlacesInTurn::kWords;
    }
    if (kFar) stored = here.local.words;
    if (!std::is_same_v<Pending, Nothing>) store(stored + lane, value);
    return Operation::make(words + lane, value);
  }
  static __device__ void store(unsigned* word, unsigned value) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
  }
  PlacesInTurn places;
};

/// Nothing of the warp's own is pending, but another warp of the block stores
/// until the last operation has ended, to 64 places in turn. The row is of the
/// first warp alone, by its own clock.
template <class Operation>
struct BesideStores : Ordered<Operation, Nothing> {
  using Base = Ordered<Operation, Nothing>;
  static constexpr auto kName = joined(Operation::kName, "_other_warp");
  static constexpr auto kText =
      joined("PTX instruction of this name, ", "while another warp stores");
  static constexpr About kAbout = {kName.data(), kText.data(), Scope::kBlock,
                                   Window::kOperation};
  static constexpr bool fits(int threads) { return threads == 64; }
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return position.thread < 32;
  }
  struct Shared {
    unsigned ended;
  };
  static __device__ void start(Shared& shared, const Position&) {
    shared.ended = 0;
  }
  template <class Here>
  static __device__ void meanwhile(Here& here) {
    const volatile unsigned& ended = here.shared.ended;
    PlacesInTurn places;
    for (unsigned value = 0; ended == 0; ++value) {
      unsigned* words = reinterpret_cast<unsigned*>(places.next(here.global));
      Base::store(words + 2 * PlacesInTurn::kWords + here.thread % 32, value);
    }
  }
  template <class Here>
  __device__ explicit BesideStores(const Here& here) : shared(here.shared) {}
  __device__ ~BesideStores() {
    *static_cast<volatile unsigned*>(&shared.ended) = 1;
  }
  Shared& shared;
};

struct FarMemory {
  std::vector<DeviceBuffer<unsigned>> peer;
  PinnedValue<std::array<unsigned, 32>> host;
  Far far = {nullptr};
};

template <class Operation, class Pending>
Arguments Ordered<Operation, Pending>::make_arguments(
    const std::vector<int>& devices, int) {
  auto memory = std::make_shared<FarMemory>();
  if (std::is_same_v<Pending, ToHost>) {
    memory->far.words = memory->host->data();
  }
  if (std::is_same_v<Pending, ToPeer>) {
    int count = 0;
    CUDA_CHECK(cudaGetDeviceCount(&count));
    const int peer = devices[0] == 0 ? 1 : 0;
    if (count < 2 || !enable_peer_access(devices[0], peer)) {
      throw CannotMeasure("one-gpu",
                          "it stores to another GPU, and there is none");
    }
    memory->peer.emplace_back(peer, 32);
    memory->far.words = memory->peer[0].get();
  }
  Arguments arguments;
  arguments.of_rank.assign(devices.size(), &memory->far);
  arguments.failure = [memory] { return std::nullopt; };
  return arguments;
}

template <class... Operations>
std::vector<MethodEntry> in_all_states() {
  std::vector<MethodEntry> methods;
  for (const std::vector<MethodEntry>& states :
       {entries<Ordered<Operations, Nothing>, Ordered<Operations, OnePlace>,
                Ordered<Operations, ManyPlaces>, Ordered<Operations, ToHost>,
                Ordered<Operations, ToPeer>, BesideStores<Operations>>()...}) {
    methods.insert(methods.end(), states.begin(), states.end());
  }
  return methods;
}

std::vector<MethodEntry> order_methods() {
  return in_all_states<FenceCta, FenceCluster, FenceGpu, FenceSys,
                       ConsistentCta, ConsistentGpu, ConsistentSys, ProxyFence,
                       LoadGpu, LoadSys, StoreGpu, StoreSys, AddGpu, AddSys,
                       AtomicGpu, AtomicSys>();
}

}  // namespace syncbench
