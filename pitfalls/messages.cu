// A flag that is seen before the data it announces, in global memory and in
// that of another GPU. Every access is a single instruction of the program's
// order (volatile, or inline PTX), so that the order is lost in the hardware.
#include <stdexcept>

#include "peer_grid_barrier/scoped_memory.cuh"
#include "pitfalls/race.cuh"

namespace syncbench::pitfalls {
namespace {

/// Blocks of even numbers write and those of odd ones read, or the grid does
/// one of both.
enum class Role { kBoth, kWriters, kReaders };

/// The pair of blocks that this one is of, and whether it is its writer.
struct Place {
  unsigned pair;
  bool writes;
};
__device__ Place place_of(Role role) {
  const bool both = role == Role::kBoth;
  return {both ? blockIdx.x / 2 : blockIdx.x,
          both ? blockIdx.x % 2 == 0 : role == Role::kWriters};
}

// Launches so many blocks of writers on the first GPU and of readers on the
// last, and waits for them. start(role, blocks, stream) launches a grid.
template <class Start>
void launch_pairs(Child& child, const std::vector<Stream>& streams, int blocks,
                  Start start) {
  const std::vector<int> devices = child.devices();
  const auto start_on = [&](std::size_t gpu, Role role, int count) {
    const DeviceGuard guard(devices[gpu]);
    start(role, count, streams[gpu].get());
    CUDA_CHECK(cudaGetLastError());
  };
  const Watchdog watchdog = child.launch();
  if (devices.size() == 1) {
    start_on(0, Role::kBoth, 2 * blocks);
  } else {
    start_on(devices.size() - 1, Role::kReaders, blocks);
    start_on(0, Role::kWriters, blocks);
  }
  wait_for(streams);
}

// A load that L1 may serve.
__device__ unsigned read_cached(const unsigned* address) {
  unsigned value;
  asm volatile("ld.global.ca.u32 %0, [%1];"
               : "=r"(value)
               : "l"(address)
               : "memory");
  return value;
}

// Races: a message a try.

/// What a try's writer and reader share: data of a lane each, and a flag, all
/// kApart words from each other.
struct Mail {
  unsigned *data, *flag;
};
constexpr unsigned kWords = 32, kApart = 1024;

template <bool kCached>
__device__ unsigned read_data(const unsigned* address) {
  return kCached ? read_cached(address) : read_now(address);
}

template <bool kRight>
__device__ void send(const Mail& mail, unsigned lane) {
  spin(40000);  // until the reader has looked at the old data
  write_now(mail.data + lane * kApart, lane + 1);
  if constexpr (kRight) {
    __threadfence_system();
    __syncwarp();
  }
  if (lane == 0) write_now(mail.flag, 1);
}

template <bool kRight, bool kCached>
__device__ bool receive_wrong(const Mail& mail, unsigned lane) {
  const unsigned* data = mail.data + lane * kApart;
  // The old value: L1 may have it from now on. An unused load would be dropped.
  const unsigned before = read_data<kCached>(data);
  const bool known = before == 0 || before == lane + 1;
  const bool came = spin_until([&] { return read_now(mail.flag) != 0; });
  if constexpr (kRight) __threadfence_system();
  return !came || !known || read_data<kCached>(data) != lane + 1;
}

template <bool kRight, bool kCached>
__global__ void exchange(Mail first, Role role, unsigned first_try,
                         unsigned* wrong) {
  const Place place = place_of(role);
  const Mail mail = {first.data + place.pair * kWords * kApart,
                     first.flag + place.pair * kApart};
  if (place.writes) {
    send<kRight>(mail, threadIdx.x);
  } else if (receive_wrong<kRight, kCached>(mail, threadIdx.x)) {
    wrong[first_try + place.pair] = 1;
  }
}

/// Tries of one launch: all of its blocks are resident.
constexpr int kTogether = 64;

// Launches of kTogether tries. The data has the longer way to go: it is beside
// the reader, the flag beside the writer.
template <bool kCached>
void run_exchange(Child& child, Form form) {
  child.require_architecture(kRaceArchitecture);
  child.require_peer_access();
  const int writer = child.devices().front(), reader = child.devices().back();
  DeviceBuffer<unsigned> data(reader, kTogether * kWords * kApart);
  DeviceBuffer<unsigned> flags(writer, kTogether * kApart);
  const std::vector<Stream> streams = make_streams(child.devices());
  const auto wrong = cells_of_tries(child, reader);
  const auto kernel =
      form == Form::kRight ? exchange<true, kCached> : exchange<false, kCached>;
  for (int done = 0; done < child.tries(); done += kTogether) {
    clear(data, reader);
    clear(flags, writer);
    launch_pairs(child, streams, std::min(kTogether, child.tries() - done),
                 [&](Role role, int blocks, cudaStream_t stream) {
                   kernel<<<blocks, kWords, 0, stream>>>(
                       Mail{data.get(), flags.get()}, role, done, wrong.get());
                 });
  }
  report_tries(child, form, wrong);
}

// A litmus test: one thread writes data and then a flag, another reads the flag
// and at once the data. Is the flag ever new and the data old? Both loads are
// on their way together, unless an order keeps them apart, and many pairs of
// threads send messages at the same time.

namespace scopes = peer_grid::global;

// An order is how data and flag are accessed, and a fence between on both
// sides.

/// Accesses that are seen by all threads of a scope, in no order.
template <class Scope>
struct Relaxed {
  static __device__ void write(unsigned* word, unsigned value) {
    Scope::store_relaxed(word, value);
  }
  static __device__ unsigned read(const unsigned* word) {
    return Scope::load_relaxed(word);
  }
};

/// Words that L1 may keep. That shows on every GPU.
struct Plain {
  static __device__ void write(unsigned* word, unsigned value) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
  }
  static __device__ unsigned read(const unsigned* word) {
    return read_cached(word);
  }
};

template <class Scope>
struct ReleaseAcquire {
  static __device__ void write(unsigned* word, unsigned value) {
    Scope::store_release(word, value);
  }
  static __device__ unsigned read(const unsigned* word) {
    return Scope::load_acquire(word);
  }
};

struct NoFence {
  static __device__ void fence() {}
};
/// For the threads of its scope: right if these are all that take part.
template <class Scope>
struct AcquireReleaseFence {
  static __device__ void fence() { Scope::fence_acq_rel(); }
};
template <class Scope>
struct ConsistentFence {
  static __device__ void fence() { Scope::fence_sc(); }
};

/// Words of a pair of threads, each kPairsApart from that of the next pair. The
/// reader answers each message, and only then comes the next one.
struct Words {
  unsigned *data, *flag, *answer;
};
constexpr unsigned kPairsApart = 32;

/// A pair is lane 0 of a warp of a writing block and of a reading block.
constexpr unsigned kPairsOfBlock = 32;

/// What a reader has seen.
struct Seen {
  unsigned long long messages, stale;
};

template <class Data, class Flag, class Fence>
__device__ void send_all(const Words& words, unsigned first, unsigned count) {
  for (unsigned message = first; message < first + count; ++message) {
    Data::write(words.data, message);
    Fence::fence();
    Flag::write(words.flag, message);
    if (!spin_until([&] { return read_now(words.answer) == message; })) return;
  }
}

template <class Data, class Flag, class Fence>
__device__ void receive_all(const Words& words, unsigned first, unsigned count,
                            Seen& seen) {
  for (unsigned message = first; message < first + count; ++message) {
    unsigned data;
    const bool came = spin_until([&] {
      const unsigned flag = Flag::read(words.flag);
      Fence::fence();
      data = Data::read(words.data);
      return flag == message;
    });
    if (!came) return;
    ++seen.messages;
    seen.stale += data < message;
    write_now(words.answer, message);
  }
}

/// Messages have numbers from `first` on. `seen`: one a pair.
template <class Data, class Flag, class Fence>
__global__ void __launch_bounds__(32 * kPairsOfBlock)
    pass_messages(Words all, Role role, unsigned first, unsigned count,
                  Seen* seen) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  if (threadIdx.x % 32 != 0) return;
  const Place place = place_of(role);
  const unsigned pair = place.pair * kPairsOfBlock + threadIdx.x / 32;
  const Words words = {all.data + pair * kPairsApart,
                       all.flag + pair * kPairsApart,
                       all.answer + pair * kPairsApart};
  if (place.writes) {
    send_all<Data, Flag, Fence>(words, first, count);
  } else {
    Seen now = {0, 0};
    receive_all<Data, Flag, Fence>(words, first, count, now);
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
struct Exchange {
  explicit Exchange(Child& of)
      : child(of),
        writer(child.devices().front()),
        reader(child.devices().back()),
        blocks(std::max(1, child.gpus()[0].sm_count / 2)),
        data(reader, pairs * kPairsApart),
        flags(writer, pairs * kPairsApart),
        answers(writer, pairs * kPairsApart),
        seen(reader, pairs),
        streams(make_streams(child.devices())) {}

  /// All messages in one order, and a row of them.
  template <class Data, class Flag, class Fence>
  void pass(const std::string& name, Form form) {
    clear(data, reader);
    clear(flags, writer);
    clear(answers, writer);
    clear(seen, reader);
    const unsigned long long wanted = kMessagesOfTry * child.tries();
    const unsigned long long each = (wanted - 1) / pairs + 1;
    for (unsigned long long done = 0; done < each; done += kMostMessages) {
      const auto count =
          std::min<unsigned long long>(kMostMessages, each - done);
      launch_pairs(child, streams, blocks,
                   [&](Role role, int grid, cudaStream_t stream) {
                     pass_messages<Data, Flag, Fence>
                         <<<grid, 32 * kPairsOfBlock, 0, stream>>>(
                             Words{data.get(), flags.get(), answers.get()},
                             role, done + 1, count, seen.get());
                   });
    }
    Seen all = {0, 0};
    for (const Seen& one : seen.read()) {
      all.messages += one.messages;
      all.stale += one.stale;
    }
    if (all.messages != each * pairs) {
      throw std::runtime_error(std::to_string(each * pairs - all.messages) +
                               " messages have not come");
    }
    child.row({name, name_of(form), std::to_string(all.messages),
               std::to_string(all.stale)});
    if (form == Form::kRight && all.stale > 0) {
      child.wrong(name + ": stale data behind a new flag");
    }
    if (name == "plain" && all.stale == 0) {  // the test sees nothing
      child.wrong(name + ": no stale data without an order");
    }
  }

  Child& child;
  int writer, reader;  // GPUs
  int blocks;
  std::size_t pairs = blocks * kPairsOfBlock;
  DeviceBuffer<unsigned> data, flags, answers;
  DeviceBuffer<Seen> seen;
  std::vector<Stream> streams;
};

// A fence for the threads of TooFew alone is too little.
template <class Scope, class TooFew>
void run_messages(Child& child, const std::string& scope,
                  const std::string& too_few) {
  child.require_architecture(kRaceArchitecture);
  child.require_peer_access();
  Exchange exchange(child);
  using InScope = Relaxed<Scope>;
  exchange.pass<Plain, InScope, NoFence>("plain", Form::kWrong);
  exchange.pass<InScope, InScope, NoFence>("relaxed", Form::kWrong);
  exchange.pass<InScope, InScope, AcquireReleaseFence<TooFew>>(
      "fence_acq_rel_" + too_few, Form::kWrong);
  exchange.pass<InScope, ReleaseAcquire<Scope>, NoFence>("release_acquire",
                                                         Form::kRight);
  exchange.pass<InScope, InScope, AcquireReleaseFence<Scope>>(
      "fence_acq_rel_" + scope, Form::kRight);
  exchange.pass<InScope, InScope, ConsistentFence<Scope>>("fence_sc_" + scope,
                                                          Form::kRight);
  child.result({"completed"});
}
void run_on_gpu(Child& child, Form) {
  run_messages<scopes::Gpu, scopes::Block>(child, "gpu", "cta");
}
void run_between_gpus(Child& child, Form) {
  run_messages<scopes::System, scopes::Gpu>(child, "sys", "gpu");
}

[[maybe_unused]] const bool kRacesAdded = add_cases(
    __FILE__, Section::kRace,
    {{"flag_in_global_memory", Set::kToday, run_exchange<true>,
      "race: data, then a flag for another block that has the old data in "
      "L1; right: a fence on both sides"},
     {"volatile_flag_and_data", Set::kToday, run_exchange<false>,
      "race: the same, all of it volatile and not in L1"},
     {"flag_in_peer_memory", Set::kToday, run_exchange<true>,
      "race: data, then a flag for another GPU that has the old data in "
      "L1; right: a fence on both sides",
      2},
     {"volatile_flag_in_peer_memory", Set::kToday, run_exchange<false>,
      "race: the same, all of it volatile and not in L1", 2}});

[[maybe_unused]] const bool kLitmusAdded =
    add_cases(__FILE__, Section::kLitmus,
              {{"message_passing", Set::kToday, run_on_gpu,
                "litmus test: data, then a flag, for another block"},
               {"message_passing_to_peer", Set::kToday, run_between_gpus,
                "litmus test: data, then a flag, for another GPU", 2}});

}  // namespace
}  // namespace syncbench::pitfalls
