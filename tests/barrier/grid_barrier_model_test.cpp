// Which grid barriers of the literature hold in every order of their threads'
// steps, and how those fail that do not. barrier_model.hpp explains the memory.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "barrier_explorer.hpp"
#include "barrier_programs.hpp"
#include "explicit_barrier/grid_barriers/protocols.hpp"

namespace barrier_model {
namespace {

constexpr const char* kHangs = "waits for ever";
constexpr const char* kEarly = "passes early";

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
  unsigned sms() const { return 1; }
  void sync_block() { script->perform({Operation::kSyncBlock}); }
  void sync_block_between() { sync_block(); }
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

/// The threads of a scenario at a barrier of one GPU.
template <class Barrier, class Machine>
class GridPrograms : public Programs {
 public:
  explicit GridPrograms(const Scenario& scenario)
      : Programs(scenario),
        words_(Barrier::words(scenario.launches[0].blocks)) {}

  std::vector<const unsigned*> words() const override {
    std::vector<const unsigned*> words;
    for (const unsigned& word : words_) words.push_back(&word);
    return words;
  }

 private:
  struct Own {
    Barrier barrier;
    bool knows;
  };
  static_assert(std::is_trivially_copyable_v<Own>);

  Variables variables_of(const Thread&) override {
    return bytes_of(Barrier(words_.data()), false);
  }
  void sync(const Thread& thread, Script& script,
            Variables& variables) override {
    Own own = {Barrier(nullptr), false};
    std::memcpy(static_cast<void*>(&own), variables.data(), sizeof own);
    const Machine machine = {&script, &thread};
    if (!own.knows) own.barrier.learn(machine);
    own.barrier.sync(machine);
    variables = bytes_of(own.barrier, true);
  }
  static Variables bytes_of(const Barrier& barrier, bool knows) {
    alignas(Own) char bytes[sizeof(Own)] = {};  // padding too
    new (bytes) Own{barrier, knows};
    return {bytes, sizeof bytes};
  }

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

template <template <class> class Barrier>
void holds(const char* name, const Scenario& scenario) {
  GridPrograms<Barrier<Ordered>, Ordered> programs(scenario);
  std::size_t states = 0;
  ASSERT_NO_THROW(states = explore(programs)) << name;
  std::printf("%s: %zu states\n", name, states);
  EXPECT_GT(states, 1u);
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
  GridPrograms<Barrier, Machine> programs(scenario);
  try {
    explore(programs);
    ADD_FAILURE() << name << ": not found";
  } catch (const Broken& broken) {
    const std::string text = broken.what();
    std::printf("%s: %s\n", name, text.c_str());
    EXPECT_EQ(text.compare(0, why.size(), why), 0) << text;
  }
}

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

/// The last to come sets the counter back to zero, for which all others wait:
/// the fault of cuML issue 458 and of TileLang before its pull request 2319.
template <class Machine>
class CounterSetBack {
 public:
  static constexpr long long words(long long) { return 1; }
  explicit CounterSetBack(unsigned* words) : came_(words) {}
  void learn(Machine) {}
  void sync(Machine machine) {
    if (machine.fetch_add(came_, 1) + 1 == machine.blocks()) {
      machine.store(came_, 0u);
    } else {
      machine.wait(came_, grid_barriers::Equal<unsigned>{0});
    }
  }

 private:
  unsigned* came_;
};

TEST(GridBarrierModel, CounterThatIsSetBackHangs) {
  fails<CounterSetBack<Ordered>, Ordered>("a counter that is set back", kHangs,
                                          scenario_of(2, 1, 2));
}

}  // namespace
}  // namespace barrier_model
