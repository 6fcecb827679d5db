// Fences: what it takes until a thread's stores are ordered for others.
#include "explicit_barrier/methods/places.cuh"
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

/// A fence behind kStores stores of every lane, each to a word of its own in
/// global memory. It costs more after a store of any warp of the SM since the
/// last fence, even long after; order.cu has what can be pending. The column
/// `tile` is the number of stores.
template <class Fence, int kStores>
struct Fenced : Method {
  static constexpr void describe(About &about) {
    about.operation(Scope::kWarp, Fence::kName, Fence::kText);
    about.caution = "the stores are in the row";
    about.tile = "stores of each lane before the fence";
    about.trips = 8;
    about.repeats = 8;
    about.groups = Sizes{kStores, kStores};
    const int addresses = kStores == 0 ? 0 : about.architecture >= 100 ? 7 : 4;
    const int others = Fence::kOthers + addresses;
    about.code = ExpectedCode(Fence::kFence).others(others);
    if (kStores > 0) {
      about.code = ExpectedCode(R"(STG\.E(?!\S*STRONG).*)", kStores)
                       .others(others + 1)
                       .also(Fence::kFence);
    }
  }
  static constexpr long long global_words(long long) {
    return PlacesInTurn::kWords;
  }
  __device__ unsigned operator()(unsigned value, Here<> &here) {
    auto *word = reinterpret_cast<unsigned *>(places.next(here.global));
    for (int i = 0; i < kStores; ++i) word[32 * i + here.thread % 32] = value;
    Fence::make();
    return value;
  }
  PlacesInTurn places;
};

struct BlockFence {
  static constexpr const char *kName = "threadfence_block",
                              *kText = "__threadfence_block() after stores",
                              *kFence = R"(MEMBAR\.SC\.CTA)";
  static constexpr int kOthers = CUDART_VERSION < 13000 ? 1 : 0;
  static __device__ void make() { __threadfence_block(); }
};

struct GpuFence {
  static constexpr const char *kName = "threadfence",
                              *kText = "__threadfence() after stores",
                              *kFence = R"(MEMBAR\.SC\.GPU)";
  static constexpr int kOthers = CUDART_VERSION < 13000 ? 4 : 3;
  static __device__ void make() { __threadfence(); }
};

struct SystemFence {
  static constexpr const char *kName = "threadfence_system",
                              *kText = "__threadfence_system() after stores",
                              *kFence = R"(MEMBAR\.SC\.SYS)";
  static constexpr int kOthers = CUDART_VERSION < 13000 ? 4 : 3;
  static __device__ void make() { __threadfence_system(); }
};

std::vector<MethodEntry> list_memory_order() {
  return entries<
      Fenced<BlockFence, 0>, Fenced<BlockFence, 1>, Fenced<BlockFence, 8>,
      Fenced<GpuFence, 0>, Fenced<GpuFence, 1>, Fenced<GpuFence, 8>,
      Fenced<SystemFence, 0>, Fenced<SystemFence, 1>, Fenced<SystemFence, 8>>();
}

}  // namespace syncbench::explicit_barrier
