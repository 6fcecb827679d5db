// Fences and ordered accesses, by what is pending when they are made. Useful
// code never has a fence with nothing pending.
#include <array>
#include <string_view>
#include <tuple>

#include "common/cuda_resources.hpp"
#include "common/errors.hpp"
#include "common/peer_access.hpp"
#include "explicit_barrier/arguments.hpp"
#include "explicit_barrier/methods/places.cuh"
#include "explicit_barrier/timed_kernel.cuh"
#include "peer_grid_barrier/scoped_memory.cuh"

namespace syncbench::explicit_barrier {

// A text of several parts, for names.
template <class... Parts>
constexpr std::array<char, 128> joined(const Parts&... parts) {
  std::array<char, 128> text = {};
  std::size_t at = 0;
  const auto append = [&](std::string_view part) {
    for (const char c : part) text[at++] = c;
  };
  (append(parts), ...);
  return text;
}

// Whom an instruction orders for, and its names in PTX and in machine code.
// That of a cluster is compiled as that of the GPU.
template <int kOf>
struct Reach {
  using Memory = std::tuple_element_t<
      kOf, std::tuple<peer_grid::global::Block, peer_grid::global::Cluster,
                      peer_grid::global::Gpu, peer_grid::global::System>>;
  static constexpr int kFirstArchitecture = kOf == 1 ? 90 : 70;
  static constexpr const char* kName =
      std::array{"cta", "cluster", "gpu", "sys"}[kOf];
  static constexpr const char* kMachineName =
      std::array{"CTA", "GPU", "GPU", "SYS"}[kOf];
  static constexpr const char* kAccess =
      std::array{"(SM|CTA)", "GPU", "GPU", "SYS"}[kOf];
  static constexpr auto kRelease = joined(R"(MEMBAR\.ALL\.)", kMachineName);
  static constexpr const char* kAcquire = kOf == 0 ? "" : R"(CCTL\.IVALL)";
};
using OfCta = Reach<0>;
using OfCluster = Reach<1>;
using OfGpu = Reach<2>;
using OfSystem = Reach<3>;

// Instructions, each for the lane's own word, which holds 0. What they return
// is added to the lane's value. All but loads begin with MEMBAR; loads and
// additions that return what was there end with CCTL, which forgets what the SM
// has cached, unless they are for the block.
template <class Of>
struct FenceAcqRel {
  static constexpr int kFirstArchitecture = Of::kFirstArchitecture;
  static constexpr auto kName = joined("fence_acq_rel_", Of::kName);
  static constexpr ExpectedCode kExpectedCode =
      ExpectedCode(Of::kRelease.data()).also(Of::kAcquire);
  [[maybe_unused]] static __device__ unsigned make(unsigned*) {
    Of::Memory::fence_acq_rel();
    return 0;
  }
};

template <class Of>
struct FenceSc {
  static constexpr int kFirstArchitecture = Of::kFirstArchitecture;
  static constexpr auto kName = joined("fence_sc_", Of::kName);
  static constexpr auto kPattern = joined(R"(MEMBAR\.SC\.)", Of::kMachineName);
  static constexpr ExpectedCode kExpectedCode =
      ExpectedCode(kPattern.data()).also(Of::kAcquire);
  [[maybe_unused]] static __device__ unsigned make(unsigned*) {
    Of::Memory::fence_sc();
    return 0;
  }
};

// Between ordinary accesses and those of the copy engine.
struct ProxyFence {
  static constexpr int kFirstArchitecture = 90;
  static constexpr auto kName = joined("fence_proxy_async");
  static constexpr ExpectedCode kExpectedCode = R"(FENCE\.VIEW\.ASYNC.*)";
  [[maybe_unused]] static __device__ unsigned make(unsigned*) {
    asm volatile("fence.proxy.async;" ::: "memory");
    return 0;
  }
};

template <class Of>
struct LoadAcquire {
  static constexpr int kFirstArchitecture = Of::kFirstArchitecture;
  static constexpr auto kName = joined("load_acquire_", Of::kName);
  static constexpr auto kPattern =
      joined(R"(LDG?\.E\S*\.STRONG\.)", Of::kAccess, " .*");
  static constexpr ExpectedCode kExpectedCode =
      ExpectedCode(kPattern.data()).also(Of::kAcquire);
  static __device__ unsigned make(unsigned* word) {
    return Of::Memory::load_acquire(word);
  }
};

template <class Of>
struct AtomAcqRel {
  static constexpr int kFirstArchitecture = Of::kFirstArchitecture;
  static constexpr auto kName = joined("atom_acq_rel_", Of::kName);
  static constexpr auto kPattern =
      joined(R"(ATOMG?\.E\S*\.STRONG\.)", Of::kAccess, " .*");
  static constexpr ExpectedCode kExpectedCode = ExpectedCode(kPattern.data())
                                                    .also(Of::kAcquire)
                                                    .also(Of::kRelease.data());
  static __device__ unsigned make(unsigned* word) {
    return Of::Memory::fetch_add_acq_rel(word, 0);
  }
};

template <class Of>
struct StoreRelease {
  static constexpr int kFirstArchitecture = Of::kFirstArchitecture;
  static constexpr auto kName = joined("store_release_", Of::kName);
  static constexpr auto kPattern =
      joined(R"(STG?\.E\S*\.STRONG\.)", Of::kAccess, " .*");
  static constexpr ExpectedCode kExpectedCode =
      ExpectedCode(kPattern.data()).also(Of::kRelease.data());
  static __device__ unsigned make(unsigned* word) {
    Of::Memory::store_release(word, 0);
    return 0;
  }
};

template <class Of>
struct RedRelease {
  static constexpr int kFirstArchitecture = Of::kFirstArchitecture;
  static constexpr auto kName = joined("red_release_", Of::kName);
  static constexpr auto kPattern =
      joined(R"((RED|ATOM)G?\.E\S*\.STRONG\.)", Of::kAccess, " .*");
  static constexpr ExpectedCode kExpectedCode =
      ExpectedCode(kPattern.data()).also(Of::kRelease.data());
  static __device__ unsigned make(unsigned* word) {
    Of::Memory::add_release(word, 0);
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

template <class Operation, class Pending>
struct Ordered : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, kName.data(), Pending::kText);
    about.instruction = Operation::kName.data();
    if (kStores) about.caution = "the stores are in the row";
    about.set = Set::kEvidence;
    about.first_architecture = Operation::kFirstArchitecture;
    about.first_toolkit = 12000;
    about.trips = 32;  // all places in turn
    about.repeats = 2;
    about.make_arguments = make_arguments;
    about.code = Operation::kExpectedCode;
    about.code.others(48);
    if (kStores) about.code.also(R"(STG\.E(?!\S*STRONG).*)");
  }
  static constexpr bool kStores = !std::is_same_v<Pending, Nothing>;
  static constexpr bool kFar =
      std::is_same_v<Pending, ToHost> || std::is_same_v<Pending, ToPeer>;
  static constexpr auto kName = joined(Operation::kName.data(), Pending::kName);
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
    if (kStores) store(stored + lane, value);
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
  static constexpr auto kName = joined(Operation::kName.data(), "_other_warp");
  static constexpr void describe(About& about) {
    Base::describe(about);
    about.operation(Scope::kBlock, kName.data(), "while another warp stores");
    about.instruction = Operation::kName.data();
    about.fits = [](int threads) { return threads == 64; };
  }
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
  using Base = Ordered<Operation, Nothing>;
  static constexpr auto kName = joined(Operation::kName.data(), "_host_read");
  static constexpr void describe(About& about) {
    Base::describe(about);
    about.operation(Scope::kWarp, kName.data(),
                    "nothing stored, in a kernel that has read host memory");
    about.instruction = Operation::kName.data();
    about.make_arguments = make_arguments;
  }
  static Arguments make_arguments(const std::vector<int>& devices, int blocks) {
    return Ordered<Operation, ToHost>::make_arguments(devices, blocks);
  }
  template <class Here>
  __device__ explicit AfterHostRead(const Here& here) {
    [[maybe_unused]] const unsigned read =
        *static_cast<const volatile unsigned*>(here.local.words);
  }
};

template <class Operation>
using Alone = Ordered<Operation, Nothing>;
template <class Operation>
using AfterStore = Ordered<Operation, OnePlace>;

template <class Operation>
std::vector<MethodEntry> in_all_states() {
  return entries<Alone<Operation>, AfterStore<Operation>,
                 Ordered<Operation, ManyPlaces>, Ordered<Operation, ToHost>,
                 Ordered<Operation, ToPeer>, BesideStores<Operation>>();
}

static std::vector<MethodEntry> all_of(
    const std::vector<std::vector<MethodEntry>>& lists) {
  std::vector<MethodEntry> methods;
  for (const auto& list : lists) {
    methods.insert(methods.end(), list.begin(), list.end());
  }
  return methods;
}

// Those of the GPU and of the system in all states, but for states that were
// equal to others. Of all else few states are left, to show where another GPU
// differs.
std::vector<MethodEntry> list_order() {
  return all_of({
      entries<AfterStore<FenceAcqRel<OfCta>>,
              AfterStore<FenceAcqRel<OfCluster>>>(),
      in_all_states<FenceAcqRel<OfGpu>>(),
      in_all_states<FenceAcqRel<OfSystem>>(),
      entries<AfterStore<FenceSc<OfGpu>>, AfterStore<FenceSc<OfSystem>>>(),
      entries<AfterStore<LoadAcquire<OfCta>>,
              AfterStore<LoadAcquire<OfCluster>>, Alone<LoadAcquire<OfGpu>>,
              AfterStore<LoadAcquire<OfGpu>>, Alone<LoadAcquire<OfSystem>>>(),
      entries<AfterStore<StoreRelease<OfCta>>,
              AfterStore<StoreRelease<OfCluster>>>(),
      in_all_states<StoreRelease<OfGpu>>(),
      in_all_states<StoreRelease<OfSystem>>(),
      entries<AfterStore<RedRelease<OfCluster>>,
              AfterStore<RedRelease<OfGpu>>>(),
      in_all_states<RedRelease<OfSystem>>(),
      entries<AfterStore<AtomAcqRel<OfCluster>>>(),
      in_all_states<AtomAcqRel<OfGpu>>(),
      in_all_states<AtomAcqRel<OfSystem>>(),
      entries<Alone<ProxyFence>, AfterStore<ProxyFence>>(),
      entries<AfterHostRead<FenceAcqRel<OfGpu>>,
              AfterHostRead<FenceAcqRel<OfSystem>>>(),
  });
}

}  // namespace syncbench::explicit_barrier
