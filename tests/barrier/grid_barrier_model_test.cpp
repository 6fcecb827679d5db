// Which grid barriers of the literature hold in every order of their threads'
// steps, and how those fail that do not. barrier_model.hpp explains the memory.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "barrier_explorer.hpp"
#include "barrier_programs.hpp"
#include "explicit_barrier/grid_barriers/exchange_protocols.hpp"
#include "explicit_barrier/grid_barriers/node_protocols.hpp"
#include "explicit_barrier/grid_barriers/protocols.hpp"

namespace barrier_model {
namespace {

constexpr const char* kHangs = "waits for ever";
constexpr const char* kEarly = "passes early";
constexpr const char* kWrong = "gives up";  // an exchange with wrong data

enum class Order { kNone, kFences, kReleaseAcquire };  // as on a GPU

/// What the barriers run on here.
template <Order kOrder>
struct GridMachine {
  using Count = unsigned;
  Script* script;
  const Thread* self;

  unsigned thread() const { return self->lane; }
  unsigned threads() const { return self->lanes; }
  unsigned block() const { return self->block; }
  unsigned blocks() const { return self->blocks; }
  unsigned clusters() const { return self->blocks / self->cluster; }
  bool leads_cluster() const {
    return self->block % self->cluster == 0 && self->lane == 0;
  }
  unsigned sms() const { return 1; }
  void sync_block() { script->perform({Operation::kSyncBlock}); }
  void sync_block_between() { sync_block(); }
  void arrive_cluster() {
    script->perform({Operation::kArriveCluster, nullptr, 0, true});
  }
  void wait_cluster() {
    script->perform({Operation::kWaitCluster, nullptr, 0, true});
  }
  unsigned load(const unsigned* at) {
    return script->perform({Operation::kLoad, at});
  }
  void set(unsigned* at, unsigned value) {
    script->perform({Operation::kStore, at, value});
  }
  void store(unsigned* at, unsigned value) {
    if (kOrder != Order::kNone) script->perform({Operation::kFenceGpu});
    set(at, value);
  }
  void arrive(unsigned* at, unsigned value) {
    script->perform({Operation::kAdd, at, value, kOrder != Order::kNone});
  }
  unsigned fetch_add(unsigned* at, unsigned value) {
    return script->perform(
               {Operation::kFetchAdd, at, value, kOrder != Order::kNone}) -
           value;
  }
  template <class Done>
  void wait(const unsigned* at, Done done) {
    script->perform({Operation::kWait, at, 0, kOrder == Order::kReleaseAcquire,
                     false, done});
  }
};

using Ordered = GridMachine<Order::kReleaseAcquire>;
using Fences = GridMachine<Order::kFences>;
using Unordered = GridMachine<Order::kNone>;

/// At a barrier of one GPU.
template <class Barrier, class Machine>
class GridPrograms : public BarrierPrograms<Barrier, Machine> {
 public:
  explicit GridPrograms(const Scenario& scenario)
      : BarrierPrograms<Barrier, Machine>(scenario),
        words_(Barrier::words(scenario.launches[0].blocks)) {}

  std::vector<const unsigned*> words() const override {
    std::vector<const unsigned*> words;
    for (const unsigned& word : words_) words.push_back(&word);
    return words;
  }

 private:
  Barrier barrier_of(const Thread&) override { return Barrier(words_.data()); }

  std::vector<unsigned> words_;
};

Scenario scenario_of(unsigned blocks, unsigned threads, int rounds,
                     int launches = 1) {
  Scenario scenario = {1, {}};
  for (int i = 0; i < launches; ++i) {
    scenario.launches.push_back({Meeting::kFlat, blocks, threads, rounds});
  }
  return scenario;
}

void holds(const char* name, Programs&& programs) {
  std::size_t states = 0;
  ASSERT_NO_THROW(states = explore(programs)) << name;
  std::printf("%s: %zu states\n", name, states);
  EXPECT_GT(states, 1u);
}

void fails(const char* name, const std::string& why, Programs&& programs) {
  try {
    explore(programs);
    ADD_FAILURE() << name << ": not found";
  } catch (const Broken& broken) {
    const std::string text = broken.what();
    std::printf("%s: %s\n", name, text.c_str());
    EXPECT_EQ(text.compare(0, why.size(), why), 0) << text;
  }
}

template <template <class> class Barrier>
void holds(const char* name, const Scenario& scenario) {
  holds(name, GridPrograms<Barrier<Ordered>, Ordered>(scenario));
}

/// Of blocks with one thread, with two, and in launches that follow each other.
template <template <class> class Barrier>
void holds(const char* name) {
  for (unsigned blocks = 2; blocks <= 3; ++blocks) {
    holds<Barrier>(name, scenario_of(blocks, 1, 3));
  }
  holds<Barrier>(name, scenario_of(2, 2, 2));
  holds<Barrier>(name, scenario_of(2, 1, 2, 2));
}

template <class Barrier, class Machine>
void fails(const char* name, const std::string& why, const Scenario& scenario) {
  fails(name, why, GridPrograms<Barrier, Machine>(scenario));
}

using grid_barriers::ClusterFirstBarrier;
using grid_barriers::FlagBarrier;
using grid_barriers::LockBarrier;
using grid_barriers::RaisedFlagBarrier;
using grid_barriers::SenseBarrier;
template <class Machine>
using Lock = LockBarrier<Machine>;
template <class Machine>
using Flags = FlagBarrier<Machine>;

TEST(GridBarrierModel, HoldWithReleaseAndAcquire) {
  holds<Lock>("xiao_feng_lock_ordered");
  holds<Flags>("xiao_feng_flags_ordered");
  holds<RaisedFlagBarrier>("sorensen_flags");
  holds<SenseBarrier>("sense_reversing_ordered");
  holds<SenseBarrier>("sense_reversing_ordered, a group", scenario_of(5, 1, 2));
}

TEST(GridBarrierModel, PublishedOrderLetsThreadsReadWhatIsOld) {
  const Scenario two = scenario_of(2, 1, 1);
  fails<Lock<Unordered>, Unordered>("xiao_feng_lock", kEarly, two);
  fails<Flags<Unordered>, Unordered>("xiao_feng_flags", kEarly, two);
  fails<RaisedFlagBarrier<Fences>, Fences>("cub_grid_barrier", kEarly, two);
  fails<SenseBarrier<Fences>, Fences>("sense_reversing", kEarly, two);
}

// As published, a block waits for one value of the counter, which the next
// arrival of another block takes away.
TEST(GridBarrierModel, LockThatWaitsForEqualityHangs) {
  fails<LockBarrier<Ordered, grid_barriers::Equal>, Ordered>(
      "xiao_feng_lock that waits for equality", kHangs, scenario_of(2, 1, 2));
}

// As published, thread 0 arrives for its block before the others have come.
TEST(GridBarrierModel, FlagsWithoutTheBlocksBarrierArriveEarly) {
  fails<FlagBarrier<Ordered, false>, Ordered>(
      "xiao_feng_flags without a block barrier", kEarly, scenario_of(2, 2, 1));
}

/// Clusters of two blocks.
Scenario scenario_of_clusters(unsigned clusters, unsigned threads, int rounds,
                              int launches = 1) {
  Scenario scenario = scenario_of(2 * clusters, threads, rounds, launches);
  for (Launch& launch : scenario.launches) launch.cluster = 2;
  return scenario;
}

TEST(GridBarrierModel, ClusterFirstHolds) {
  for (const Scenario& scenario :
       {scenario_of_clusters(1, 2, 3), scenario_of_clusters(2, 1, 4),
        scenario_of_clusters(4, 1, 2), scenario_of_clusters(3, 2, 2),
        scenario_of_clusters(2, 2, 3), scenario_of_clusters(3, 1, 3),
        scenario_of_clusters(2, 1, 2, 2)}) {
    holds<ClusterFirstBarrier>("cluster_first", scenario);
  }
}

struct RelaxedClusterArrival : Ordered {
  void arrive_cluster() { script->perform({Operation::kArriveCluster}); }
};

struct RelaxedClusterWait : Ordered {
  void wait_cluster() { script->perform({Operation::kWaitCluster}); }
};

TEST(GridBarrierModel, ClusterFirstWithAFaultPassesEarly) {
  const Scenario two = scenario_of_clusters(2, 1, 1);
  fails<ClusterFirstBarrier<RelaxedClusterArrival>, RelaxedClusterArrival>(
      "cluster_first, relaxed arrival", kEarly, two);
  fails<ClusterFirstBarrier<RelaxedClusterWait>, RelaxedClusterWait>(
      "cluster_first, relaxed wait", kEarly, two);
  fails<ClusterFirstBarrier<Unordered>, Unordered>(
      "cluster_first, relaxed counter", kEarly, two);
}

/// What barriers of several GPUs run on here. Each GPU has one block, whose
/// barrier is that of the grid.
template <bool kOrdered>
struct NodeMachine {
  Script* script;
  const Thread* self;

  unsigned thread() const { return self->lane; }
  unsigned threads() const { return self->lanes; }
  unsigned block() const { return 0; }
  void sync_grid() { script->perform({Operation::kSyncBlock}); }
  unsigned load(const unsigned* at) {
    return script->perform({Operation::kLoad, at});
  }
  void store(unsigned* at, unsigned value) {
    if (kOrdered) script->perform({Operation::kFenceSystem});
    script->perform({Operation::kStore, at, value});
  }
  void add_one_by_cas(unsigned* at) {
    script->perform({Operation::kFetchAdd, at, 1, kOrdered, true});
  }
  template <class Done>
  void wait(const unsigned* at, Done done) {
    script->perform({Operation::kWait, at, 0, kOrdered, true, done});
  }
};

using grid_barriers::line;
using grid_barriers::NodeEnd;

template <template <class> class Between, class Machine>
struct NodeBarrier {
  NodeEnd end;
  Between<Machine> between;
  void learn(Machine machine) { between.learn(machine, end); }
  void sync(Machine machine) { sync_node(between, machine); }
};

/// At a barrier of several GPUs.
template <template <class> class Between, class Machine>
class NodePrograms
    : public BarrierPrograms<NodeBarrier<Between, Machine>, Machine> {
 public:
  explicit NodePrograms(const Scenario& scenario)
      : BarrierPrograms<NodeBarrier<Between, Machine>, Machine>(scenario),
        gpus_(scenario.gpus),
        words_(std::size_t{grid_barriers::kNodeLine} * gpus_ * (gpus_ + 1)) {
    end_.gpus = gpus_;
    end_.host = line(words_.data(), gpus_ * gpus_);
    for (unsigned gpu = 0; gpu < gpus_; ++gpu) {
      end_.of_gpu[gpu] = line(words_.data(), gpu * gpus_);
    }
  }

  // The first of each line.
  std::vector<const unsigned*> words() const override {
    std::vector<const unsigned*> words;
    for (unsigned i = 0; i < gpus_ * (gpus_ + 1); ++i) {
      words.push_back(words_.data() +
                      std::size_t{grid_barriers::kNodeLine} * i);
    }
    return words;
  }

 private:
  NodeBarrier<Between, Machine> barrier_of(const Thread& thread) override {
    NodeEnd end = end_;
    end.rank = thread.gpu;
    return {end, {}};
  }

  unsigned gpus_;
  std::vector<unsigned> words_;
  NodeEnd end_ = {};
};

Scenario scenario_of_gpus(int gpus, unsigned threads, int rounds,
                          int launches = 1) {
  Scenario scenario = scenario_of(1, threads, rounds, launches);
  scenario.gpus = gpus;
  return scenario;
}

template <template <class> class Between>
void node_holds(const char* name) {
  for (const Scenario& scenario :
       {scenario_of_gpus(2, 2, 3), scenario_of_gpus(3, 3, 2),
        scenario_of_gpus(2, 3, 2), scenario_of_gpus(2, 2, 2, 2)}) {
    holds(name, NodePrograms<Between, NodeMachine<true>>(scenario));
  }
}

template <template <class> class Between>
void node_passes_early(const char* name) {
  fails(name, kEarly,
        NodePrograms<Between, NodeMachine<false>>(scenario_of_gpus(2, 2, 1)));
}

TEST(NodeBarrierModel, HoldWithReleaseAndAcquire) {
  node_holds<grid_barriers::HostFlags>("host_flags_ordered");
  node_holds<grid_barriers::AllToAllFlags>("all_to_all_flags_ordered");
  node_holds<grid_barriers::PeerCas>("peer_cas_ordered");
}

TEST(NodeBarrierModel, WithoutOrderThreadsReadWhatIsOld) {
  node_passes_early<grid_barriers::HostFlags>("host_flags");
  node_passes_early<grid_barriers::AllToAllFlags>("all_to_all_flags");
  node_passes_early<grid_barriers::PeerCas>("peer_cas");
}

/// What exchanges run on here. Each GPU has one block.
template <bool kOrdered>
struct ExchangeMachine : NodeMachine<kOrdered> {
  using Data = unsigned;
  using Packet = unsigned;
  static constexpr unsigned kMostElements = 3;

  unsigned blocks() const { return 1; }
  unsigned element() const { return this->self->lane; }
  void sync_block() { this->script->perform({Operation::kSyncBlock}); }
  static unsigned computed_here(unsigned value) { return value; }

  static Packet packet_of(unsigned number, Data data) {
    return number << 8 | data;
  }
  static unsigned number_of(Packet packet) { return packet >> 8; }
  Packet load_packet(const Packet* at) { return this->load(at); }
  void store_packet(Packet* at, Packet packet) { store_data(at, packet); }
  template <class Visit>
  void receive(const Packet* first, unsigned gpus, unsigned number,
               Visit visit) {
    for (unsigned gpu = 0; gpu < gpus; ++gpu) {
      const Packet packet = this->script->perform(
          {Operation::kReceive, first + std::size_t{gpu} * kMostElements, 0,
           false, true,
           [number](unsigned seen) { return number_of(seen) == number; }});
      visit(gpu, packet & 255);
    }
  }

  void store_data(Data* at, Data data) {
    this->script->perform({Operation::kStore, at, data});
  }
  template <class Visit>
  void load_all(const Data* first, unsigned gpus, Visit visit) {
    for (unsigned gpu = 0; gpu < gpus; ++gpu) {
      visit(gpu, this->load(first + std::size_t{gpu} * kMostElements));
    }
  }
  void store_for_block(unsigned* at, unsigned value) {
    if (kOrdered) {
      this->script->perform({Operation::kFenceSystem, nullptr, 0, true});
    }
    store_data(at, value);
  }
};

/// Exchanges of data that differ between GPUs, threads and rounds; it gives up
/// where it receives others.
template <class Protocol, class Machine>
struct Exchange {
  NodeEnd end;
  unsigned elements;
  Protocol protocol;
  unsigned round;

  void learn(Machine machine) { protocol.learn(machine, end, elements); }
  void sync(Machine machine) {
    ++round;
    const auto data_of = [&](unsigned gpu) {
      return 64 * gpu + 16 * machine.thread() + machine.self->rounds_before +
             round;
    };
    protocol.exchange(machine, end, data_of(end.rank),
                      [&](unsigned gpu, unsigned found) {
                        if (found == data_of(gpu)) return;
                        machine.script->perform({Operation::kGiveUp});
                      });
  }
};

template <class Protocol, class Machine>
class ExchangePrograms
    : public BarrierPrograms<Exchange<Protocol, Machine>, Machine> {
 public:
  ExchangePrograms(const Scenario& scenario, unsigned elements)
      : BarrierPrograms<Exchange<Protocol, Machine>, Machine>(scenario),
        lines_(grid_barriers::exchange_lines(scenario.gpus, 1)),
        of_gpu_(lines_ +
                std::size_t{2} * scenario.gpus * Machine::kMostElements),
        words_(scenario.gpus * of_gpu_),
        elements_(elements) {
    end_.gpus = scenario.gpus;
    for (unsigned gpu = 0; gpu < end_.gpus; ++gpu) {
      end_.of_gpu[gpu] = words_.data() + gpu * of_gpu_;
    }
  }

  // The first of each line, and all elements.
  std::vector<const unsigned*> words() const override {
    std::vector<const unsigned*> words;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::size_t in_gpu = i % of_gpu_;
      if (in_gpu >= lines_ || in_gpu % grid_barriers::kNodeLine == 0) {
        words.push_back(words_.data() + i);
      }
    }
    return words;
  }

 private:
  Exchange<Protocol, Machine> barrier_of(const Thread& thread) override {
    NodeEnd end = end_;
    end.rank = thread.gpu;
    return {end, elements_, {}, 0};
  }

  std::size_t lines_, of_gpu_;
  std::vector<unsigned> words_;
  unsigned elements_;
  NodeEnd end_ = {};
};

Scenario without_order(Scenario scenario) {
  scenario.orders = false;
  return scenario;
}

using grid_barriers::FlaggedData;
using grid_barriers::NumberedData;
using InOrder = ExchangeMachine<true>;
using NoOrder = ExchangeMachine<false>;

// Two GPUs with an element and with two, launches that follow each other, three
// GPUs.
template <class Protocol>
void exchange_holds(const char* name) {
  const auto run = [name](const Scenario& scenario, unsigned elements) {
    holds(name, ExchangePrograms<Protocol, InOrder>(scenario, elements));
  };
  run(scenario_of_gpus(2, 2, 5), 1);
  run(scenario_of_gpus(2, 2, 3), 2);
  run(scenario_of_gpus(2, 2, 2, 2), 1);
  run(scenario_of_gpus(3, 3, 1), 1);
}

TEST(ExchangeModel, FlagAfterDataHoldsWithTwoBuffersOrAcknowledged) {
  exchange_holds<FlaggedData<InOrder>>("exchange_flag");
  exchange_holds<FlaggedData<InOrder, 1, true>>("exchange_acknowledged");
}

TEST(ExchangeModel, DataAsFlagHoldsWithTwoBuffers) {
  for (const Scenario& scenario :
       {scenario_of_gpus(2, 1, 6), scenario_of_gpus(3, 1, 4),
        scenario_of_gpus(2, 1, 2, 3)}) {
    holds("exchange_ll", ExchangePrograms<NumberedData<NoOrder>, NoOrder>(
                             without_order(scenario), 1));
  }
}

// The reset race: a GPU that is ahead overwrites what others still read.
TEST(ExchangeModel, OneBufferWithoutAcknowledgementFails) {
  const Scenario two = scenario_of_gpus(2, 2, 2);
  fails("flag after data, one buffer", kWrong,
        ExchangePrograms<FlaggedData<InOrder, 1>, InOrder>(two, 1));
  fails("data as flag, one buffer", kHangs,
        ExchangePrograms<NumberedData<NoOrder, 1>, NoOrder>(
            without_order(scenario_of_gpus(2, 1, 2)), 1));
}

TEST(ExchangeModel, FlagWithoutOrderFails) {
  fails("flag after data, without order", kWrong,
        ExchangePrograms<FlaggedData<NoOrder>, NoOrder>(
            without_order(scenario_of_gpus(2, 2, 1)), 1));
  fails("data as flag, of other memory", kEarly,
        ExchangePrograms<NumberedData<NoOrder>, NoOrder>(
            scenario_of_gpus(2, 1, 1), 1));
}

}  // namespace
}  // namespace barrier_model
