// What a barrier of all blocks takes: an estimate from its steps, one after the
// other, each measured alone in the same run by a method of
// methods/messages.cu. Nothing is fitted to rows of barriers.
//
// The eight methods that are read, as medians of nanoseconds:
//  * ping_pong, ping_pong_ordered: half of it is a word to another block;
//  * ping_pong_peer, ping_pong_peer_ordered: or to another GPU;
//  * one_counter: additions of all blocks to one word;
//  * one_counter_read: the same with a poll behind each, of few blocks and of
//    many;
//  * one_word: from a poll to the next, where all blocks poll one word;
//  * all_block_sync: the threads of a block meet.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "explicit_barrier/rows.hpp"

namespace syncbench::explicit_barrier {

/// The steps of a barrier, in nanoseconds.
struct BarrierSteps {
  double block = 0;    ///< threads of a block meet, before and behind
  double order = 0;    ///< what release and acquire add to words
  double arrival = 0;  ///< of all blocks, one after the other
  double poll = 0;     ///< polls that wait for others, or for the next turn
  double message = 0;  ///< words on their way

  double sum() const { return block + order + arrival + poll + message; }
};

/// A row of a barrier with its steps.
struct BarrierSum {
  Row row;
  BarrierSteps steps;
};

class BarrierModel {
 public:
  /// Of GPUs with so many SMs. `rows`: what a run has measured.
  BarrierModel(int sms, const std::vector<Row>& rows);

  /// Those of the barrier of `row`, to which a warp comes `late` cycles late.
  /// None where its protocol is not known here or a step was not measured.
  std::optional<BarrierSteps> steps_of(const Row& row) const;

 private:
  class Shape;

  int sms_, most_ = 0;  // blocks of the largest one_counter_read
  std::map<std::tuple<std::string, int, int, int>, double> nanoseconds_;
};

/// Of the section `sum of steps` of BenchmarkInterSM.
Columns<BarrierSum> barrier_sum_columns();

}  // namespace syncbench::explicit_barrier
