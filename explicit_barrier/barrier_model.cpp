#include "explicit_barrier/barrier_model.hpp"

#include <algorithm>
#include <cmath>

namespace syncbench::explicit_barrier {
namespace {

BarrierSteps operator+(const BarrierSteps& one, const BarrierSteps& other) {
  return {one.block + other.block, one.order + other.order,
          one.arrival + other.arrival, one.poll + other.poll,
          one.message + other.message};
}

// NaN where `value` is. What noise makes of nothing is not below it.
double at_least(double least, double value) {
  return value < least ? least : value;
}

// Whether the method is `name` or its ordered form.
bool is(const Row& row, const std::string& name) {
  return row.method == name || row.method == name + "_ordered";
}

}  // namespace

// A barrier's shape, and what its steps take there: NaN where not measured.
class BarrierModel::Shape {
 public:
  Shape(const BarrierModel& model, const Row& row)
      : model_(model), row_(row), late_(row.late > 0) {}

  BarrierSteps steps() const {
    if (row_.gpus > 1) {
      if (is(row_, "peer_grid_sync")) return of_peer_grid();
      if (is(row_, "all_to_all_flags")) return between_grids(1);
      // Over the link: a load, a compare-and-swap, where the first GPU comes
      // between another, a poll. If one is late, the first two, or its own
      // and a poll.
      if (is(row_, "peer_cas")) return between_grids(late_ ? 2 : 4);
    } else {
      if (is(row_, "peer_grid_sync")) return of_peer_grid();
      if (is(row_, "grid_sync")) return of_grid_sync(late_);
      if (is(row_, "xiao_feng_lock")) return of_lock();
      if (is(row_, "xiao_feng_flags") || is(row_, "sorensen_flags")) {
        return of_flags();
      }
      if (is(row_, "sense_reversing")) return of_last();
    }
    return {std::nan("")};
  }

 private:
  double step(const char* method, int blocks, int threads = 32,
              int gpus = 1) const {
    const auto found =
        model_.nanoseconds_.find({method, gpus, blocks, threads});
    return found == model_.nanoseconds_.end() ? std::nan("") : found->second;
  }

  // One message, or operation that returns, and what order adds to it. With a
  // block on each SM, pairs do not wait for each other.
  double message() const { return step("ping_pong", model_.sms_) / 2; }
  double order() const {
    return at_least(0, step("ping_pong_ordered", model_.sms_) / 2 - message());
  }
  double peer_message() const {
    return step("ping_pong_peer", model_.sms_, 32, row_.gpus) / 2;
  }
  double peer_order() const {
    return at_least(
        0, step("ping_pong_peer_ordered", model_.sms_, 32, row_.gpus) / 2 -
               peer_message());
  }
  double block() const {
    return step("all_block_sync", row_.blocks, row_.threads);
  }
  double additions(int blocks) const { return step("one_counter", blocks); }
  // A poll of each block among their additions, beside these: as often as
  // many blocks get one. With few, most is the way of one poll.
  double polls_among(int blocks) const {
    const double each = step("one_counter_read", model_.most_) / model_.most_;
    return at_least(0, blocks * each - additions(blocks));
  }
  // One poll of a word that others have just written.
  double fresh() const {
    return at_least(
        0, step("one_counter_read", model_.sms_) - additions(model_.sms_));
  }
  double turn(int blocks) const { return step("one_word", blocks); }
  // What one waits for the polls of the others.
  double queue() const {
    return at_least(0, turn(row_.blocks) - turn(model_.sms_));
  }

  // All blocks poll one word: the word waits behind their polls, and then a
  // poll behind the others. The slowest poll has just missed it, half a turn
  // before the mean.
  double polled() const { return 2 * queue() + turn(row_.blocks) / 2; }

  // All blocks add to a counter and poll it at once. The polls among the
  // additions are all polls until the last addition.
  BarrierSteps of_lock() const {
    const double orders = row_.method == "xiao_feng_lock" ? 0 : order();
    BarrierSteps steps = {2 * block(), orders, 0, polled(), message()};
    if (!late_) {
      steps.arrival = additions(row_.blocks);
      steps.poll = 2 * queue() + polls_among(row_.blocks);
    }
    return steps;
  }

  // A block polls when its addition has returned: those that come first, among
  // the additions of the others.
  BarrierSteps of_grid_sync(bool late) const {
    BarrierSteps steps = {2 * block(), order(), 0, polled(), message()};
    if (!late) {
      steps.arrival = additions(row_.blocks);
      const double among = 1 - message() / steps.arrival;
      steps.poll =
          2 * queue() + at_least(fresh(), among * polls_among(row_.blocks));
    }
    return steps;
  }

  // A thread of the leader reads several flags one after the other and then
  // answers as many.
  BarrierSteps of_flags() const {
    const double orders = row_.method == "xiao_feng_flags" ? 0 : order();
    const int reads = (row_.blocks + row_.threads - 1) / row_.threads;
    BarrierSteps steps = {3 * block(), (reads + 1) * orders,
                          (reads - 1) * fresh(), fresh() / 2, 2 * message()};
    if (!late_) return steps;
    // Either the leader is late, or another block: then all other flags have
    // been read, if it is late enough.
    const double left = steps.sum() - row_.late / row_.mhz * 1e3;
    steps.order -= orders;
    steps.message = message();
    const double others = steps.block + steps.order + steps.message;
    steps.poll = 0;
    steps.arrival = (reads * fresh() + at_least(fresh(), left - others)) / 2;
    return steps;
  }

  // Who completes the counter tells; with many blocks, first those of one SM.
  BarrierSteps of_last() const {
    const bool groups = row_.blocks > 4 * model_.sms_;
    BarrierSteps steps = {2 * block(), (groups ? 3 : 2) * order(), 0,
                          2 * queue(), (groups ? 3 : 2) * message()};
    if (!late_) {
      steps.arrival = groups ? additions(model_.sms_)
                             : at_least(0, additions(row_.blocks) - message());
      steps.poll = polled();
    }
    return steps;
  }

  // peer_grid_barrier/protocol.hpp, and barrier_set.cuh for who meets how.
  BarrierSteps of_peer_grid() const {
    constexpr int kLines = 32;  // of a leader
    const bool several = row_.gpus > 1;
    const bool leader = row_.blocks > (several ? 4 : 8) * model_.sms_;
    if (!leader && !several) {
      // Polls begin when the arrivals have landed.
      BarrierSteps steps = {2 * block(), order(), 0, polled(), message()};
      if (!late_) steps.arrival = additions(row_.blocks);
      return steps;
    }
    BarrierSteps steps = {2 * block(),
                          order() + (several ? peer_order() : order()), 0, 0,
                          message() + (several ? peer_message() : message())};
    if (leader) steps.poll = queue();
    if (!late_) {
      steps.poll += turn(model_.sms_) / 2;
      steps.arrival = leader ? additions(row_.blocks) / kLines
                             : at_least(0, additions(row_.blocks) - message());
    }
    return steps;
  }

  // A grid_sync before and one behind. One warp is late to the first.
  BarrierSteps between_grids(int messages) const {
    const bool ordered = row_.method.find("_ordered") != std::string::npos;
    return of_grid_sync(late_) + of_grid_sync(false) +
           BarrierSteps{0, ordered ? peer_order() : 0, 0, 0,
                        messages * peer_message()};
  }

  const BarrierModel& model_;
  const Row& row_;
  const bool late_;
};

BarrierModel::BarrierModel(int sms, const std::vector<Row>& rows) : sms_(sms) {
  for (const Row& row : rows) {
    if (row.late > 0) continue;
    if (row.method == "one_counter_read") most_ = std::max(most_, row.blocks);
    nanoseconds_[{row.method, row.gpus, row.blocks, row.threads}] =
        row.value.median;
  }
}

std::optional<BarrierSteps> BarrierModel::steps_of(const Row& row) const {
  const BarrierSteps steps = Shape(*this, row).steps();
  if (std::isnan(steps.sum())) return std::nullopt;
  return steps;
}

Columns<BarrierSum> barrier_sum_columns() {
  using Of = const BarrierSum&;
  const auto label = [](const char* name, const char* unit, const char* meaning,
                        int Row::*member) {
    return column<BarrierSum>(name, unit, meaning,
                              [member](Of of) { return of.row.*member; });
  };
  const auto step = [](const char* name, const char* meaning,
                       double BarrierSteps::*member) {
    return real_column<BarrierSum>(
        name, "ns", meaning, [member](Of of) { return of.steps.*member; });
  };
  return Columns<BarrierSum>{
             column<BarrierSum>("method", "", "synchronization method",
                                [](Of of) { return of.row.method; })} +
         labels<BarrierSum>(
             {label("GPUcount", "", "GPUs involved", &Row::gpus),
              label("blk", "blocks", "grid dimension", &Row::blocks),
              label("thrd", "threads", "block dimension", &Row::threads),
              label("late", "cycles",
                    "by which a warp comes after all others; 0: all come at "
                    "once",
                    &Row::late)}) +
         Columns<BarrierSum>{
             real_column<BarrierSum>("measured", "ns",
                                     "median of the barrier's row",
                                     [](Of of) { return of.row.value.median; }),
             real_column<BarrierSum>("sum", "ns",
                                     "of its steps: block, fences, arrivals, "
                                     "polls and words",
                                     [](Of of) { return of.steps.sum(); }),
             real_column<BarrierSum>(
                 "multiple", "", "measured / sum",
                 [](Of of) { return of.row.value.median / of.steps.sum(); }),
             step("block",
                  "the threads of a block meet, before they arrive and behind "
                  "the wait",
                  &BarrierSteps::block),
             step("fences", "what release and acquire add to words",
                  &BarrierSteps::order),
             step("arrivals",
                  "additions of all blocks, or reads of all flags, one after "
                  "the other",
                  &BarrierSteps::arrival),
             step("polls", "waits for other polls, or for the next poll",
                  &BarrierSteps::poll),
             step("words", "words on their way to other blocks or GPUs",
                  &BarrierSteps::message)};
}

}  // namespace syncbench::explicit_barrier
