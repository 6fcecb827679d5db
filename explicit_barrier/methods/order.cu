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

// Instructions, each for the lane's own word, which holds 0. What they return
// is added to the lane's value. All but loads and fences for a block begin with
// MEMBAR; loads end with CCTL, which forgets what the SM has cached.
struct Instruction {
  static constexpr int kFirstArchitecture = 70;
};

struct FenceCta : Instruction {
  static constexpr const char* kName = "fence_acq_rel_cta";
  static constexpr Work kWork = {R"(MEMBAR\.\w+\.CTA.*)"};
  [[maybe_unused]] static __device__ unsigned make(unsigned*) {
    asm volatile("fence.acq_rel.cta;" ::: "memory");
    return 0;
  }
};

struct FenceCluster : Instruction {
  static constexpr const char* kName = "fence_acq_rel_cluster";
  static constexpr int kFirstArchitecture = 90;
  static constexpr Work kWork = {R"(MEMBAR\.\w+\.GPU.*)"};
  [[maybe_unused]] static __device__ unsigned make(unsigned*) {
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
    return 0;
  }
};

struct FenceGpu : Instruction {
  static constexpr const char* kName = "fence_acq_rel_gpu";
  static constexpr Work kWork = {R"(MEMBAR\.\w+\.GPU.*)"};
  [[maybe_unused]] static __device__ unsigned make(unsigned*) {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    return 0;
  }
};

struct FenceSys : Instruction {
  static constexpr const char* kName = "fence_acq_rel_sys";
  static constexpr Work kWork = {R"(MEMBAR\.\w+\.SYS.*)"};
  [[maybe_unused]] static __device__ unsigned make(unsigned*) {
    asm volatile("fence.acq_rel.sys;" ::: "memory");
    return 0;
  }
};

struct ConsistentCta : Instruction {
  static constexpr const char* kName = "fence_sc_cta";
  static constexpr Work kWork = {R"(MEMBAR\.SC\.CTA.*)"};
  [[maybe_unused]] static __device__ unsigned make(unsigned*) {
    asm volatile("fence.sc.cta;" ::: "memory");
    return 0;
  }
};

struct ConsistentGpu : Instruction {
  static constexpr const char* kName = "fence_sc_gpu";
  static constexpr Work kWork = {R"(MEMBAR\.SC\.GPU.*)"};
  [[maybe_unused]] static __device__ unsigned make(unsigned*) {
    asm volatile("fence.sc.gpu;" ::: "memory");
    return 0;
  }
};

struct ConsistentSys : Instruction {
  static constexpr const char* kName = "fence_sc_sys";
  static constexpr Work kWork = {R"(MEMBAR\.SC\.SYS.*)"};
  [[maybe_unused]] static __device__ unsigned make(unsigned*) {
    asm volatile("fence.sc.sys;" ::: "memory");
    return 0;
  }
};

// Between ordinary accesses and those of the copy engine.
struct ProxyFence : Instruction {
  static constexpr const char* kName = "fence_proxy_async";
  static constexpr int kFirstArchitecture = 90;
  static constexpr Work kWork = {R"(FENCE\.VIEW\.ASYNC.*)"};
  [[maybe_unused]] static __device__ unsigned make(unsigned*) {
    asm volatile("fence.proxy.async;" ::: "memory");
    return 0;
  }
};

struct LoadGpu : Instruction {
  static constexpr const char* kName = "load_acquire_gpu";
  static constexpr Work kWork = {R"(LDG?\.E\S*\.STRONG\.GPU .*|CCTL\.IVALL.*)",
                                 2};
  static __device__ unsigned make(unsigned* word) {
    unsigned found;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                 : "=r"(found)
                 : "l"(word)
                 : "memory");
    return found;
  }
};

struct LoadSys : Instruction {
  static constexpr const char* kName = "load_acquire_sys";
  static constexpr Work kWork = {R"(LDG?\.E\S*\.STRONG\.SYS .*|CCTL\.IVALL.*)",
                                 2};
  static __device__ unsigned make(unsigned* word) {
    unsigned found;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
                 : "=r"(found)
                 : "l"(word)
                 : "memory");
    return found;
  }
};

struct AtomicGpu : Instruction {
  static constexpr const char* kName = "atom_acq_rel_gpu";
  static constexpr Work kWork = {
      R"(MEMBAR\.\w+\.GPU.*|ATOMG?\.E\S*\.STRONG\.GPU .*)", 2};
  static __device__ unsigned make(unsigned* word) {
    unsigned found;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 0;"
                 : "=r"(found)
                 : "l"(word)
                 : "memory");
    return found;
  }
};

struct AtomicSys : Instruction {
  static constexpr const char* kName = "atom_acq_rel_sys";
  static constexpr Work kWork = {
      R"(MEMBAR\.\w+\.SYS.*|ATOMG?\.E\S*\.STRONG\.SYS .*)", 2};
  static __device__ unsigned make(unsigned* word) {
    unsigned found;
    asm volatile("atom.acq_rel.sys.global.add.u32 %0, [%1], 0;"
                 : "=r"(found)
                 : "l"(word)
                 : "memory");
    return found;
  }
};

struct StoreGpu : Instruction {
  static constexpr const char* kName = "store_release_gpu";
  static constexpr Work kWork = {
      R"(MEMBAR\.\w+\.GPU.*|STG?\.E\S*\.STRONG\.GPU .*)", 2};
  static __device__ unsigned make(unsigned* word) {
    asm volatile("st.release.gpu.global.u32 [%0], 0;" ::"l"(word) : "memory");
    return 0;
  }
};

struct StoreSys : Instruction {
  static constexpr const char* kName = "store_release_sys";
  static constexpr Work kWork = {
      R"(MEMBAR\.\w+\.SYS.*|STG?\.E\S*\.STRONG\.SYS .*)", 2};
  static __device__ unsigned make(unsigned* word) {
    asm volatile("st.release.sys.global.u32 [%0], 0;" ::"l"(word) : "memory");
    return 0;
  }
};

struct AddGpu : Instruction {
  static constexpr const char* kName = "red_release_gpu";
  static constexpr Work kWork = {
      R"(MEMBAR\.\w+\.GPU.*|(RED|ATOM)G?\.E\S*\.STRONG\.GPU .*)", 2};
  static __device__ unsigned make(unsigned* word) {
    asm volatile("red.release.gpu.global.add.u32 [%0], 0;" ::"l"(word)
                 : "memory");
    return 0;
  }
};

struct AddSys : Instruction {
  static constexpr const char* kName = "red_release_sys";
  static constexpr Work kWork = {
      R"(MEMBAR\.\w+\.SYS.*|(RED|ATOM)G?\.E\S*\.STRONG\.SYS .*)", 2};
  static __device__ unsigned make(unsigned* word) {
    asm volatile("red.release.sys.global.add.u32 [%0], 0;" ::"l"(word)
                 : "memory");
    return 0;
  }
};

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

// Of one of the instructions.
template <class Operation>
constexpr About about(const char* name, const char* pending, Scope scope,
                      const char* caution = "") {
  return {name,    pending, scope,           Window::kOperation,
          caution, "",      Operation::kName};
}

template <class Operation, class Pending>
struct Ordered : Method {
  static constexpr bool kFar =
      std::is_same_v<Pending, ToHost> || std::is_same_v<Pending, ToPeer>;
  static constexpr auto kName = joined(Operation::kName, Pending::kName);
  static constexpr About kAbout = about<Operation>(
      kName.data(), Pending::kText, Scope::kWarp,
      std::is_same_v<Pending, Nothing> ? "" : "the stores are in the row");
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
    return value + Operation::make(words + lane);
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
  static constexpr About kAbout = about<Operation>(
      kName.data(), "while another warp stores", Scope::kBlock);
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

/// Nothing is pending, but the kernel has read a word of host memory.
template <class Operation>
struct AfterHostRead : Ordered<Operation, Nothing> {
  static constexpr auto kName = joined(Operation::kName, "_host_read");
  static constexpr About kAbout = about<Operation>(
      kName.data(), "nothing stored, in a kernel that has read host memory",
      Scope::kWarp);
  static Arguments make_arguments(const std::vector<int>& devices, int blocks) {
    return Ordered<Operation, ToHost>::make_arguments(devices, blocks);
  }
  template <class Here>
  __device__ explicit AfterHostRead(const Here& here) {
    [[maybe_unused]] const unsigned read =
        *static_cast<const volatile unsigned*>(here.local.words);
  }
};

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
  std::vector<MethodEntry> methods =
      in_all_states<FenceCta, FenceCluster, FenceGpu, FenceSys, ConsistentCta,
                    ConsistentGpu, ConsistentSys, ProxyFence, LoadGpu, LoadSys,
                    StoreGpu, StoreSys, AddGpu, AddSys, AtomicGpu, AtomicSys>();
  for (const MethodEntry& method :
       entries<AfterHostRead<FenceGpu>, AfterHostRead<FenceSys>>()) {
    methods.push_back(method);
  }
  return methods;
}

}  // namespace syncbench
