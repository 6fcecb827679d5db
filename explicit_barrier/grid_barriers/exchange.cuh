// What the exchanges of exchange_protocols.hpp run on: threads of several GPUs
// (sm_70 and later).
#pragma once

#include "explicit_barrier/grid_barriers/exchange_protocols.hpp"
#include "explicit_barrier/grid_barriers/node.cuh"

namespace grid_barriers {

inline constexpr unsigned kMostBytes = 1 << 15;  ///< of a part

/// 8 bytes at once: a number and 4 bytes of data.
struct Packet8 {
  using Data = unsigned;
  unsigned long long word;

  __device__ static Packet8 of(unsigned number, Data data) {
    return {static_cast<unsigned long long>(number) << 32 | data};
  }
  __device__ unsigned number() const {
    return static_cast<unsigned>(word >> 32);
  }
  /// 0 where it has this number.
  __device__ unsigned lacks(unsigned wanted) const { return number() ^ wanted; }
  __device__ Data data() const { return static_cast<unsigned>(word); }

  __device__ void store(Packet8* at) const {
    peer_grid::generic::System::store_relaxed(&at->word, word);
  }
  __device__ void load(const Packet8* at) {
    word = peer_grid::generic::System::load_relaxed(&at->word);
  }
};

/// 16 bytes by one instruction, of which each half is written at once and so
/// has the number: 8 bytes of data.
struct alignas(16) Packet16 {
  using Data = unsigned long long;
  Packet8 low, high;

  __device__ static Packet16 of(unsigned number, Data data) {
    return {Packet8::of(number, static_cast<unsigned>(data)),
            Packet8::of(number, static_cast<unsigned>(data >> 32))};
  }
  __device__ unsigned number() const { return low.number(); }
  __device__ unsigned lacks(unsigned wanted) const {
    return low.lacks(wanted) | high.lacks(wanted);
  }
  __device__ Data data() const {
    return static_cast<Data>(high.data()) << 32 | low.data();
  }

  __device__ void store(Packet16* at) const {
    asm volatile("st.relaxed.sys.v2.u64 [%0], {%1, %2};" ::"l"(at),
                 "l"(low.word), "l"(high.word)
                 : "memory");
  }
  __device__ void load(const Packet16* at) {
    asm volatile("ld.relaxed.sys.v2.u64 {%0, %1}, [%2];"
                 : "=l"(low.word), "=l"(high.word)
                 : "l"(at)
                 : "memory");
  }
};

/// A thread with one element. Data without a number are 8 bytes.
template <class Packet_ = Packet16>
struct ExchangeMachine : NodeMachine<true> {
  using Packet = Packet_;
  using Data = typename Packet::Data;
  static constexpr unsigned kMostElements = kMostBytes / sizeof(Data);
  /// Loads that are on their way together.
  static constexpr unsigned kAtOnce = 4;

  __device__ static unsigned blocks() { return gridDim.x; }
  __device__ static unsigned element() {
    return blockIdx.x * blockDim.x + threadIdx.x;
  }
  __device__ static void sync_block() { __syncthreads(); }
  /// The same value, which the compiler does not keep for later: registers are
  /// few.
  __device__ static unsigned computed_here(unsigned value) {
    asm volatile("" : "+r"(value));
    return value;
  }

  __device__ static Packet packet_of(unsigned number, Data data) {
    return Packet::of(number, data);
  }
  __device__ static unsigned number_of(const Packet& packet) {
    return packet.number();
  }
  __device__ static Packet load_packet(const Packet* at) {
    Packet packet;
    packet.load(at);
    return packet;
  }
  __device__ static void store_packet(Packet* at, const Packet& packet) {
    packet.store(at);
  }
  /// visit(gpu, data) of `gpus` packets, kMostElements apart, once they have
  /// come.
  template <class Visit>
  __device__ static void receive(const Packet* first, unsigned gpus,
                                 unsigned number, Visit visit) {
    for (unsigned from = 0; from < gpus; from += kAtOnce) {
      Packet found[kAtOnce];
      unsigned missing = 1;
      for (unsigned polls = 0; missing != 0; ++polls) {
        if (polls == syncbench::kMostPolls) __trap();
#pragma unroll
        for (unsigned i = 0; i < kAtOnce; ++i) {
          if (from + i < gpus) found[i].load(first + i * kMostElements);
        }
        missing = 0;
#pragma unroll
        for (unsigned i = 0; i < kAtOnce; ++i) {
          if (from + i < gpus) missing |= found[i].lacks(number);
        }
      }
#pragma unroll
      for (unsigned i = 0; i < kAtOnce; ++i) {
        if (from + i < gpus) visit(from + i, found[i].data());
      }
      first += kAtOnce * kMostElements;
    }
  }

  __device__ static void store_data(Data* at, Data data) { *at = data; }
  /// visit(gpu, data) of `gpus` elements, kMostElements apart.
  template <class Visit>
  __device__ static void load_all(const Data* first, unsigned gpus,
                                  Visit visit) {
    for (unsigned from = 0; from < gpus; from += kAtOnce) {
      Data found[kAtOnce] = {};
#pragma unroll
      for (unsigned i = 0; i < kAtOnce; ++i) {
        if (from + i < gpus) found[i] = first[(from + i) * kMostElements];
      }
#pragma unroll
      for (unsigned i = 0; i < kAtOnce; ++i) {
        if (from + i < gpus) visit(from + i, found[i]);
      }
    }
  }
  /// Behind a barrier of the block, whose stores and loads it releases.
  __device__ static void store_for_block(unsigned* at, unsigned value) {
    store(at, value);
  }
};

/// Words of a GPU.
inline std::size_t exchange_words(unsigned gpus, unsigned blocks) {
  constexpr std::size_t kOfPart = 2 * kMostBytes / sizeof(unsigned);
  return exchange_lines(gpus, blocks) + std::size_t{2} * gpus * kOfPart;
}

}  // namespace grid_barriers
