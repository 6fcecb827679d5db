// Exchanges of data between GPUs without a barrier: all-gather of `bytes` bytes
// of each GPU.
#include <cstdint>

#include "explicit_barrier/grid_barriers/exchange.cuh"
#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

using grid_barriers::ExchangeMachine;
using grid_barriers::NodeEnd;

/// Each thread with an element sends it to all GPUs, and compares those of all
/// GPUs with what they have to be: where all are, the value stays.
/// `Protocol` is of grid_barriers/exchange_protocols.hpp.
template <class Machine, class Protocol>
struct GpuExchange : Method {
  using Data = typename Machine::Data;
  static constexpr void describe(About& about) {
    about.first_architecture = 70;
    about.places = 5;  // as peer_grid_sync
    about.fewest_gpus = 2;
    about.bytes_of_thread = sizeof(Data);
    about.repeats = 4;
    about.launches = 2;
    about.groups = Sizes{8, static_cast<int>(grid_barriers::kMostBytes), 8};
    about.attributes = LaunchAttributes{true};
    about.make_arguments = make_arguments;
  }
  using Argument = NodeEnd;
  using Local = NodeEnd;
  static Arguments make_arguments(const std::vector<int>& devices, int blocks);

  template <class Here>
  __device__ explicit GpuExchange(Here& here) {
    protocol.learn(Machine(), here.local, here.group / int{sizeof(Data)});
  }
  template <class Here>
  __device__ unsigned operator()(unsigned value, Here& here) {
    const unsigned base = value + here.block;
    unsigned wrong = 0;
    protocol.exchange(Machine(), here.local, data_of(base + here.local.rank),
                      [&](unsigned gpu, Data found) {
                        const Data difference = found ^ data_of(base + gpu);
                        wrong |=
                            static_cast<unsigned>(difference) |
                            static_cast<unsigned>(
                                static_cast<std::uint64_t>(difference) >> 32);
                      });
    return value + wrong;
  }
  // The halves differ.
  static __device__ Data data_of(unsigned word) {
    return static_cast<Data>(static_cast<std::uint64_t>(~word) << 32 | word);
  }
  Protocol protocol;
};

template <class Machine, class Protocol>
Arguments GpuExchange<Machine, Protocol>::make_arguments(
    const std::vector<int>& devices, int blocks) {
  return grid_barriers::arguments_of_node(
      devices, true, grid_barriers::exchange_words(devices.size(), blocks));
}

using Flagged = ExchangeMachine<>;

/// Flag after data; two buffers.
struct ExchangeFlag
    : GpuExchange<Flagged, grid_barriers::FlaggedData<Flagged>> {
  using GpuExchange::GpuExchange;
  static constexpr void describe(About& about) {
    GpuExchange::describe(about);
    about.operation(
        Scope::kGpus, "exchange_flag",
        "stores to all GPUs, a flag by release, read by acquire; two buffers");
    about.code = ExpectedCode(R"(STG?\b.*STRONG\.SYS.*)")
                     .others(1000)
                     .proof(Proof::kBarrier);
  }
};

/// The same with one buffer.
struct ExchangeAcknowledged
    : GpuExchange<Flagged, grid_barriers::FlaggedData<Flagged, 1, true>> {
  using GpuExchange::GpuExchange;
  static constexpr void describe(About& about) {
    GpuExchange::describe(about);
    about.operation(
        Scope::kGpus, "exchange_acknowledged",
        "the same with one buffer: a second flag says that all is read");
    about.code = ExpectedCode(R"(STG?\b.*STRONG\.SYS.*)", 2)
                     .others(1000)
                     .proof(Proof::kParts);
  }
};

constexpr const char* kOrdersNothingElse =
    "it orders no other memory: a thread may read what one of another GPU had "
    "not yet stored before the exchange";

/// Data as flag, in words or pairs of words; two buffers.
template <class Packet>
struct ExchangeLl
    : GpuExchange<ExchangeMachine<Packet>,
                  grid_barriers::NumberedData<ExchangeMachine<Packet>>> {
  using Base =
      GpuExchange<ExchangeMachine<Packet>,
                  grid_barriers::NumberedData<ExchangeMachine<Packet>>>;
  using Base::Base;
  static constexpr bool kWide = sizeof(Packet) == 16;
  static constexpr void describe(About& about) {
    Base::describe(about);
    about.operation(
        Scope::kGpus, kWide ? "exchange_ll_16" : "exchange_ll_8",
        kWide ? "the same by stores of 16 bytes: two numbers, 8 bytes of data"
              : "stores of 8 bytes to all GPUs, a number and 4 bytes of data, "
                "polled (NCCL's LL); two buffers");
    about.caution = kOrdersNothingElse;
    about.code = ExpectedCode(kWide ? R"(STG?\b.*128.*STRONG\.SYS.*)"
                                    : R"(STG?\b.*64.*STRONG\.SYS.*)")
                     .others(1000)
                     .proof(Proof::kMessages);
  }
};

std::vector<MethodEntry> list_gpu_exchange() {
  return entries<ExchangeFlag, ExchangeAcknowledged,
                 ExchangeLl<grid_barriers::Packet8>,
                 ExchangeLl<grid_barriers::Packet16>>();
}

}  // namespace syncbench::explicit_barrier
