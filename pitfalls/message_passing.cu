// A litmus test: one thread writes data and then a flag, another reads the flag
// and at once the data. Is the flag ever new and the data old? Both loads are
// on their way together, unless an order keeps them apart, and many pairs of
// threads send messages at the same time.
#include <stdexcept>

#include "pitfalls/race.cuh"

namespace syncbench::pitfalls::messages {
namespace {

/// Of whom an order is made: threads of a block, of a GPU, of all GPUs.
enum class Of { kBlock, kGpu, kSystem };

template <Of kOf>
__device__ void store_relaxed(unsigned* word, unsigned value) {
  if constexpr (kOf == Of::kGpu) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value)
                 : "memory");
  } else {
    asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(word), "r"(value)
                 : "memory");
  }
}
template <Of kOf>
__device__ unsigned load_relaxed(const unsigned* word) {
  unsigned value;
  if constexpr (kOf == Of::kGpu) {
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(word)
                 : "memory");
  } else {
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(word)
                 : "memory");
  }
  return value;
}

/// Accesses that are seen by all of kReach, in no order.
template <Of kReach>
struct Relaxed {
  static constexpr bool kRight = false;
  static constexpr const char* kName = "relaxed";
  static __device__ void write(unsigned* word, unsigned value) {
    store_relaxed<kReach>(word, value);
  }
  static __device__ unsigned read(const unsigned* word) {
    return load_relaxed<kReach>(word);
  }
  static __device__ void fence() {}
  static __device__ void write_flag(unsigned* word, unsigned value) {
    store_relaxed<kReach>(word, value);
  }
  static __device__ unsigned read_flag(const unsigned* word) {
    return load_relaxed<kReach>(word);
  }
};

/// Data that L1 may keep. That shows on every GPU.
template <Of kReach>
struct Plain : Relaxed<kReach> {
  static constexpr const char* kName = "plain";
  static __device__ void write(unsigned* word, unsigned value) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
  }
  static __device__ unsigned read(const unsigned* word) {
    unsigned value;
    asm volatile("ld.global.ca.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(word)
                 : "memory");
    return value;
  }
};

/// The flag is released and acquired.
template <Of kReach>
struct ReleaseAcquire : Relaxed<kReach> {
  static constexpr bool kRight = true;
  static constexpr const char* kName = "release_acquire";
  static __device__ void write_flag(unsigned* word, unsigned value) {
    if constexpr (kReach == Of::kGpu) {
      asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value)
                   : "memory");
    } else {
      asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(word), "r"(value)
                   : "memory");
    }
  }
  static __device__ unsigned read_flag(const unsigned* word) {
    unsigned value;
    if constexpr (kReach == Of::kGpu) {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                   : "=r"(value)
                   : "l"(word)
                   : "memory");
    } else {
      asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
                   : "=r"(value)
                   : "l"(word)
                   : "memory");
    }
    return value;
  }
};

/// A fence on both sides, for the threads of kOf: right if these are all.
template <Of kReach, Of kOf>
struct AcquireReleaseFence : Relaxed<kReach> {
  static constexpr bool kRight = kReach == kOf;
  static constexpr const char* kName = kOf == Of::kBlock ? "fence_acq_rel_cta"
                                       : kOf == Of::kGpu ? "fence_acq_rel_gpu"
                                                         : "fence_acq_rel_sys";
  static __device__ void fence() {
    if (kOf == Of::kBlock) asm volatile("fence.acq_rel.cta;" ::: "memory");
    if (kOf == Of::kGpu) asm volatile("fence.acq_rel.gpu;" ::: "memory");
    if (kOf == Of::kSystem) asm volatile("fence.acq_rel.sys;" ::: "memory");
  }
};

template <Of kReach>
struct ConsistentFence : Relaxed<kReach> {
  static constexpr bool kRight = true;
  static constexpr const char* kName =
      kReach == Of::kGpu ? "fence_sc_gpu" : "fence_sc_sys";
  static __device__ void fence() {
    if (kReach == Of::kGpu) asm volatile("fence.sc.gpu;" ::: "memory");
    if (kReach == Of::kSystem) asm volatile("fence.sc.sys;" ::: "memory");
  }
};

/// Words of a pair, each kApart from that of the next pair. The reader answers
/// each message, and only then comes the next one.
struct Words {
  unsigned *data, *flag, *answer;
};
constexpr unsigned kApart = 32;

/// A pair is lane 0 of a warp of a writing block and of a reading block.
constexpr unsigned kPairsOfBlock = 32;

/// What a reader has seen.
struct Seen {
  unsigned long long messages, stale;
};

template <class Order>
__device__ void send(const Words& words, unsigned first, unsigned count) {
  for (unsigned message = first; message < first + count; ++message) {
    Order::write(words.data, message);
    Order::fence();
    Order::write_flag(words.flag, message);
    if (!spin_until([&] { return read_now(words.answer) == message; })) return;
  }
}

template <class Order>
__device__ void receive(const Words& words, unsigned first, unsigned count,
                        Seen& seen) {
  for (unsigned message = first; message < first + count; ++message) {
    unsigned data;
    const bool came = spin_until([&] {
      const unsigned flag = Order::read_flag(words.flag);
      Order::fence();
      data = Order::read(words.data);
      return flag == message;
    });
    if (!came) return;
    ++seen.messages;
    seen.stale += data < message;
    write_now(words.answer, message);
  }
}

/// Messages have numbers from `first` on. `seen`: one a pair.
template <class Order>
__global__ void __launch_bounds__(32 * kPairsOfBlock)
    pass_messages(Words all, Role role, unsigned first, unsigned count,
                  Seen* seen) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  if (threadIdx.x % 32 != 0) return;
  const bool both = role == Role::kBoth;
  const unsigned block = both ? blockIdx.x / 2 : blockIdx.x;
  const bool writes = both ? blockIdx.x % 2 == 0 : role == Role::kWriters;
  const unsigned pair = block * kPairsOfBlock + threadIdx.x / 32;
  const Words words = {all.data + pair * kApart, all.flag + pair * kApart,
                       all.answer + pair * kApart};
  if (writes) {
    send<Order>(words, first, count);
  } else {
    Seen now = {0, 0};
    receive<Order>(words, first, count, now);
    seen[pair].messages += now.messages;
    seen[pair].stale += now.stale;
  }
#endif
}

/// Messages of a pair in one launch, which has to end within T.
constexpr unsigned kMostMessages = 1000;
/// So many messages for each try of a race that was asked for.
constexpr unsigned long long kMessagesOfTry = 10000;

// Data is beside the readers, flags and answers are beside the writers.
class Exchange {
 public:
  explicit Exchange(Child& child)
      : child_(child),
        devices_(devices_with_access(child)),
        blocks_(std::max(1, child.gpus()[0].sm_count / 2)),
        data_(devices_.back(), words()),
        flags_(devices_.front(), words()),
        answers_(devices_.front(), words()),
        seen_(devices_.back(), static_cast<std::size_t>(pairs())),
        streams_(make_streams(devices_)) {}

  /// All messages in one order, and a row of them.
  template <class Order>
  void pass() {
    clear(data_, devices_.back());
    clear(flags_, devices_.front());
    clear(answers_, devices_.front());
    clear(seen_, devices_.back());
    const unsigned long long wanted = kMessagesOfTry * child_.tries();
    const unsigned long long each = (wanted - 1) / pairs() + 1;
    for (unsigned long long done = 0; done < each; done += kMostMessages) {
      launch<Order>(static_cast<unsigned>(done) + 1,
                    static_cast<unsigned>(std::min<unsigned long long>(
                        kMostMessages, each - done)));
    }
    Seen all = {0, 0};
    for (const Seen& one : seen_.read()) {
      all.messages += one.messages;
      all.stale += one.stale;
    }
    if (all.messages != each * pairs()) {
      throw std::runtime_error(std::to_string(each * pairs() - all.messages) +
                               " messages have not come");
    }
    child_.row({Order::kName,
                name_of(Order::kRight ? Form::kRight : Form::kWrong),
                std::to_string(all.messages), std::to_string(all.stale)});
  }

 private:
  unsigned pairs() const { return blocks_ * kPairsOfBlock; }
  std::size_t words() const { return std::size_t{pairs()} * kApart; }

  template <class T>
  static void clear(DeviceBuffer<T>& buffer, int device) {
    const DeviceGuard guard(device);
    buffer.set_to_zero();
  }

  template <class Order>
  void launch(unsigned first, unsigned count) {
    const Words words = {data_.get(), flags_.get(), answers_.get()};
    launch_both(child_, devices_, streams_, blocks_,
                [&](Role role, int blocks, cudaStream_t stream) {
                  pass_messages<Order>
                      <<<blocks, 32 * kPairsOfBlock, 0, stream>>>(
                          words, role, first, count, seen_.get());
                });
  }

  Child& child_;
  std::vector<int> devices_;
  int blocks_;
  DeviceBuffer<unsigned> data_, flags_, answers_;
  DeviceBuffer<Seen> seen_;
  std::vector<Stream> streams_;
};

// `kTooFew`: a fence for these alone is too little.
template <Of kReach, Of kTooFew>
void run_messages(Child& child, Form) {
  child.require_architecture(kRaceArchitecture);
  Exchange exchange(child);
  exchange.pass<Plain<kReach>>();
  exchange.pass<Relaxed<kReach>>();
  exchange.pass<AcquireReleaseFence<kReach, kTooFew>>();
  exchange.pass<ReleaseAcquire<kReach>>();
  exchange.pass<AcquireReleaseFence<kReach, kReach>>();
  exchange.pass<ConsistentFence<kReach>>();
  child.result({"completed"});
}

}  // namespace

}  // namespace syncbench::pitfalls::messages

namespace syncbench::pitfalls {

std::vector<Case> message_passing_cases() {
  using messages::Of;
  using messages::run_messages;
  return {{"message_passing",
           "litmus test: data, then a flag, for another block",
           Section::kLitmus,
           {Form::kAllowed},
           1,
           &run_messages<Of::kGpu, Of::kBlock>},
          {"message_passing_to_peer",
           "litmus test: data, then a flag, for another GPU",
           Section::kLitmus,
           {Form::kAllowed},
           2,
           &run_messages<Of::kSystem, Of::kGpu>}};
}

}  // namespace syncbench::pitfalls
