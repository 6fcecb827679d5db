// The one model of the kernel that times any in-kernel method. What it returns
// is what the method's own struct expects.
#pragma once

#include "explicit_barrier/method_entry.hpp"
#include "stand_in_gpu/model.hpp"
#include "stand_in_gpu/peer_meeting.cuh"

namespace stand_in {

/// The model, where the launch is of one of these methods.
std::optional<Model> model_of_method(
    const Launch& launch,
    const std::vector<syncbench::explicit_barrier::MethodEntry>& methods);

/// Cycles of one operation of a method, as planted, in such a grid on each of
/// so many GPUs: its own, or those of an SM that can do no more.
double cycles_of(const syncbench::explicit_barrier::MethodEntry& method,
                 unsigned blocks, unsigned threads, int gpus = 1);

/// Makes a record one that cannot be, where that is planted.
void damage(syncbench::explicit_barrier::WarpRecord& record);

}  // namespace stand_in
