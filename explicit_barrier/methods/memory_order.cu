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
  static constexpr About kAbout = {Fence::kName,
                                   Fence::kText,
                                   Scope::kWarp,
                                   Window::kOperation,
                                   "the stores are in the row",
                                   "stores of each lane before the fence"};
  static constexpr ExpectedCode expected_code(int architecture) {
    const int addresses = kStores == 0 ? 0 : architecture >= 100 ? 7 : 4;
    const int others = Fence::kOthers + addresses;
    if (kStores == 0) return {Fence::kFence, 1, others};
    return {R"(STG\.E(?!\S*STRONG).*)", kStores, others + 1, Proof::kEach, 1,
            {{Fence::kFence}}};
  }
  static constexpr int repeats(int) { return 8; }
  static constexpr int kTrips = 8;
  static constexpr Sizes groups(int) { return {kStores, kStores}; }
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

std::vector<MethodEntry> memory_order_methods() {
  return entries<
      Fenced<BlockFence, 0>, Fenced<BlockFence, 1>, Fenced<BlockFence, 8>,
      Fenced<GpuFence, 0>, Fenced<GpuFence, 1>, Fenced<GpuFence, 8>,
      Fenced<SystemFence, 0>, Fenced<SystemFence, 1>, Fenced<SystemFence, 8>>();
}

}  // namespace syncbench::explicit_barrier
