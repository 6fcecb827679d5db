// Exchanges of data between several GPUs without a barrier (all-gather: each
// sends its part to all, and reads the parts of all), without the machine that
// they run on, as protocols.hpp. A sum of what is read makes a one-shot
// all-reduce of it.
//
// Nothing orders a GPU's next part behind what others still read, but that it
// has read their parts itself. So parts lie in two buffers that take turns:
//  * A sends part n + 2 after it has read part n + 1 of B,
//  * which B has sent after it has read part n of A, in the same buffer.
// With one buffer A's part n + 1 overwrites part n before B has read it (reset
// race), unless B acknowledges that it has.
//
// Each thread of a GPU has one element of its GPU's part. Threads that have the
// same one on all GPUs deal with each other (data as flag), or their blocks
// (flag after data). All make one exchange for the whole kernel, call learn()
// first, and exchange() equally often. Words are zero before the first kernel
// and left to the next, of the same shape, as they are.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "explicit_barrier/grid_barriers/node_protocols.hpp"

namespace grid_barriers {

/// Words of a GPU: lines for flags, of each block of each GPU, then for
/// acknowledgements, then elements.
__host__ __device__ constexpr std::size_t exchange_lines(unsigned gpus,
                                                         unsigned blocks) {
  return std::size_t{2} * gpus * blocks * kNodeLine;
}

/// The line that block `machine.block()` of GPU `from` writes.
template <class Machine>
__device__ unsigned* exchange_line(Machine machine, unsigned* words,
                                   unsigned gpus, bool acknowledges,
                                   unsigned from) {
  return line(
      words, (acknowledges * gpus + from) * machine.blocks() + machine.block());
}

/// of_gpu[gpu], without an index that would put all on the stack.
__device__ inline unsigned* words_of(const NodeEnd& end, unsigned gpu) {
  unsigned* words = end.of_gpu[0];
#pragma unroll
  for (unsigned i = 1; i < kMostGpus; ++i) {
    if (i == gpu) words = end.of_gpu[i];
  }
  return words;
}

/// Where the elements of a GPU lie, behind its lines: [buffer][GPU][element].
template <class Element, class Machine>
class Parts {
 public:
  Parts() = default;
  __device__ Parts(Machine machine, const NodeEnd& end)
      : first_(static_cast<unsigned>(
            exchange_lines(end.gpus, machine.blocks()) * sizeof(unsigned) +
            machine.element() * sizeof(Element))),
        of_buffer_(end.gpus * kOfGpu) {}

  /// Bytes from a GPU's words to the thread's element of the part of `gpu`.
  __device__ unsigned offset(unsigned buffer, unsigned gpu) const {
    return Machine::computed_here(first_ + buffer * of_buffer_ + gpu * kOfGpu);
  }
  __device__ static Element* at(unsigned* words, unsigned offset) {
    return reinterpret_cast<Element*>(reinterpret_cast<char*>(words) + offset);
  }

 private:
  static constexpr unsigned kOfGpu = Machine::kMostElements * sizeof(Element);
  unsigned first_ = 0, of_buffer_ = 0;
};

/// Data as flag (LL, "low latency", of NCCL): what is stored at once holds data
/// and the number of the exchange. Orders no other memory.
template <class Machine, unsigned kBuffers = 2>
class NumberedData {
 public:
  using Data = typename Machine::Data;
  using Packet = typename Machine::Packet;

  /// The thread has an element if it is among the first so many.
  __device__ void learn(Machine machine, const NodeEnd& end,
                        unsigned elements) {
    has_element_ = machine.element() < elements;
    parts_ = Parts<Packet, Machine>(machine, end);
    own_ = words_of(end, end.rank);
    if (!has_element_) return;
    for (unsigned buffer = 0; buffer < kBuffers; ++buffer) {
      const unsigned number = Machine::number_of(machine.load_packet(
          parts_.at(own_, parts_.offset(buffer, end.rank))));
      if (number > number_) number_ = number;
    }
  }

  /// visit(gpu, data) for each GPU's element, this one's too.
  template <class Visit>
  __device__ void exchange(Machine machine, const NodeEnd& end, Data data,
                           Visit visit) {
    if (!has_element_) return;
    ++number_;
    const unsigned buffer = number_ % kBuffers;
    const Packet packet = Machine::packet_of(number_, data);
    const unsigned to = parts_.offset(buffer, end.rank);
#pragma unroll  // with constant indices the pointers need no stack
    for (unsigned gpu = 0; gpu < kMostGpus; ++gpu) {
      if (gpu >= end.gpus) break;
      machine.store_packet(parts_.at(end.of_gpu[gpu], to), packet);
    }
    machine.receive(parts_.at(own_, parts_.offset(buffer, 0)), end.gpus,
                    number_, visit);
  }

 private:
  Parts<Packet, Machine> parts_;
  unsigned* own_ = nullptr;
  unsigned number_ = 0;
  bool has_element_ = false;
};

/// Flag after data: a block stores its elements, then a flag for each GPU, by
/// release. Where that is read, by acquire, the elements are there.
/// `kAcknowledged`: once it has read, it says so by a second flag, for which
/// the others wait before they store again: then one buffer is enough.
template <class Machine, unsigned kBuffers = 2, bool kAcknowledged = false>
class FlaggedData {
 public:
  using Data = typename Machine::Data;

  /// A block has as many threads as there are GPUs, or more.
  __device__ void learn(Machine machine, const NodeEnd& end,
                        unsigned elements) {
    has_element_ = machine.element() < elements;
    parts_ = Parts<Data, Machine>(machine, end);
    own_ = words_of(end, end.rank);
    number_ =
        machine.load(exchange_line(machine, own_, end.gpus, false, end.rank));
    const unsigned peer = machine.thread();
    if (peer >= end.gpus) return;
    unsigned* theirs = words_of(end, peer);
    const auto line_of = [&](unsigned* words, bool acknowledges,
                             unsigned from) {
      return exchange_line(machine, words, end.gpus, acknowledges, from);
    };
    set_ = line_of(theirs, false, end.rank);
    polled_ = line_of(own_, false, peer);
    acknowledges_ = line_of(theirs, true, end.rank);
    acknowledged_ = line_of(own_, true, peer);
  }

  /// visit(gpu, data) for each GPU's element, this one's too.
  template <class Visit>
  __device__ void exchange(Machine machine, const NodeEnd& end, Data data,
                           Visit visit) {
    if (kAcknowledged) {
      if (set_) machine.wait(acknowledged_, Reached<unsigned>{number_});
      machine.sync_block();
    }
    ++number_;
    const unsigned buffer = number_ % kBuffers;
    if (has_element_) {
      const unsigned to = parts_.offset(buffer, end.rank);
#pragma unroll  // as above
      for (unsigned gpu = 0; gpu < kMostGpus; ++gpu) {
        if (gpu >= end.gpus) break;
        machine.store_data(parts_.at(end.of_gpu[gpu], to), data);
      }
    }
    machine.sync_block();
    if (set_) {
      machine.store_for_block(set_, number_);
      machine.wait(polled_, Reached<unsigned>{number_});
    }
    machine.sync_block();
    if (has_element_) {
      machine.load_all(parts_.at(own_, parts_.offset(buffer, 0)), end.gpus,
                       visit);
    }
    if (kAcknowledged) {
      machine.sync_block();
      if (set_) machine.store_for_block(acknowledges_, number_);
    }
  }

 private:
  Parts<Data, Machine> parts_;
  unsigned *own_ = nullptr, *set_ = nullptr, *polled_ = nullptr,
           *acknowledges_ = nullptr, *acknowledged_ = nullptr;
  unsigned number_ = 0;
  bool has_element_ = false;
};

}  // namespace grid_barriers
