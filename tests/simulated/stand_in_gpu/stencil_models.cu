// Kernels of Stencil. Small fields are really stepped, so that a wrong argument
// leads to a wrong result. Of large ones the first cell of each layer is, as if
// those beside it in its layer were the same: that takes less time, and still
// tells how many steps were made, and on which GPU. The first steps are also
// made of what the layers depend on that the host compares.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "stand_in_gpu/model.hpp"
#include "stand_in_gpu/peer_meeting.cuh"
#include "stand_in_gpu/scenario.hpp"
#include "stencil/field.hpp"
#include "stencil/relax.hpp"

namespace stand_in {
namespace {

using syncbench::stencil::digest_of;
using syncbench::stencil::first_value;
using syncbench::stencil::kHostSteps;
using syncbench::stencil::relaxed;
using syncbench::stencil::Slab;

constexpr int kSmallLayer = 128;  // of a field that is all stepped

// The bytes of all these cells are written or read.
double moving(double cells) {
  return scenario().null + 4 * cells / scenario().bandwidth;
}

bool is_large(const Slab& slab) { return slab.layer > kSmallLayer; }

void need_all(const Slab& slab) {
  const std::size_t layer = slab.layer;
  for (int copy = 0; copy < 2; ++copy) {
    need(slab.copies[copy], layer * (slab.layers + 2), "a field");
    for (float* halo : {slab.halo_before[copy], slab.halo_after[copy]}) {
      if (halo != nullptr) need(halo, layer, "a halo");
    }
  }
}

// What is at the sides of a layer stays as it is.
void step_layer(const Slab& slab, int dimensions, const float* from,
                float* to) {
  const int layer = slab.layer, width = slab.width;
  const int side = dimensions == 3 ? width : 0;
  std::memcpy(to, from, sizeof(float) * layer);
  for (int row = side; row < layer - side; row += width) {
    for (int at = row + 1; at < row + width - 1; ++at) {
      const float* cell = from + at;
      to[at] =
          dimensions == 2
              ? relaxed(cell[0], cell[-1], cell[1], cell[-layer], cell[layer])
              : relaxed(cell[0], cell[-1], cell[1], cell[-width], cell[width],
                        cell[-layer], cell[layer]);
    }
  }
}

// Index of the cell that fill_cells began with, by where that is.
std::map<const float*, unsigned long long> first_index;

// All cells of this layer of a large field are right after so many steps.
bool is_whole(const Slab& slab, int number, int steps) {
  const auto layers = syncbench::stencil::compared_layers(slab.layers);
  return std::any_of(layers.begin(), layers.end(), [&](int compared) {
    return std::abs(number - compared) <= kHostSteps - steps;
  });
}

void fill_whole_layers(const Slab& slab) {
  for (int number = 0; number <= slab.layers + 1; ++number) {
    if (!is_whole(slab, number, 0)) continue;
    const auto begin = static_cast<long long>(number) * slab.layer;
    const auto first = first_index.at(slab.copies[0]) + begin;
    for (int i = 0; i < slab.layer; ++i) {
      slab.copies[0][begin + i] = first_value(first + i);
    }
  }
}

// `stays`: by a kernel of several steps.
void step_slab(const Slab& slab, int dimensions, int step, bool stays) {
  const std::string& bad = scenario().bad;
  const bool large = is_large(slab), half = large && bad == "half";
  const bool forgets =
      step == 10 && (bad == "steps" || (large && stays && bad == "staying"));
  const int to = (step + 1) % 2;
  if (large && step == 0) fill_whole_layers(slab);
  for (int number = 1; number <= slab.layers / (half ? 2 : 1); ++number) {
    const auto begin = static_cast<long long>(number) * slab.layer;
    const float* from = slab.copies[step % 2] + begin;
    float* target = slab.copies[to] + begin;
    const bool whole = !large || is_whole(slab, number, step + 1);
    const int cells = whole ? slab.layer : 1;
    if (forgets) {
      std::memcpy(target, from, sizeof(float) * cells);
    } else if (whole) {
      step_layer(slab, dimensions, from, target);
    } else {
      *target =
          relaxed(*from, *from, *from, from[-slab.layer], from[slab.layer]);
    }
    const auto copy_to = [&](float* halo) {
      if (halo != nullptr) std::memcpy(halo, target, sizeof(float) * cells);
    };
    if (number == 1) copy_to(slab.halo_before[to]);
    if (number == slab.layers) copy_to(slab.halo_after[to]);
  }
}

double time_of_step(const Slab& slab) {
  return 2 * moving(static_cast<double>(slab.layer) * slab.layers) -
         2 * scenario().null;
}

int dimensions_of(const Launch& launch) {
  return launch.is("2>(") || launch.is(", 2, ") ? 2 : 3;
}

Model one_step(const Launch& launch) {
  const auto slab = launch.argument<Slab>(0);
  const auto step = launch.argument<int>(1);
  const int dimensions = dimensions_of(launch);
  return {[=](const Running& running) -> Ended {
    need_all(slab);
    step_slab(slab, dimensions, step, false);
    return {running.factor * (scenario().null + time_of_step(slab))};
  }};
}

// A kernel of one process among several.
Ended steps_of_process(const Slab& slab, int steps, int dimensions,
                       const ProcessMeeting& others, double nanoseconds) {
  for (int step = 0; step < steps; ++step) {
    step_slab(slab, dimensions, step, true);
    if (step + 1 < steps && !others.sync()) return kNobodyCame;
  }
  return {nanoseconds};
}

// The kernels of several GPUs start together, and are run one after the other:
// the last one makes the steps of all.
Model all_steps(const Launch& launch) {
  static std::map<const void*, std::vector<Slab>> arrived;
  const auto slab = launch.argument<Slab>(0);
  const auto steps = launch.argument<int>(1);
  const int dimensions = dimensions_of(launch);
  Model model;
  int members = 1;
  bool meets = true;
  if (launch.kind != LaunchKind::kMultiDevice &&
      launch.kind != LaunchKind::kCooperative) {
    complain("its blocks are not sure to run together: " + launch.name);
  }
  unsigned* counter = nullptr;
  if (launch.is("NoOrder") || launch.is("OwnBlock")) {
    meets = false;
    if (launch.is("NoOrder")) counter = launch.argument<unsigned*>(2);
  } else if (launch.is("peer_grid::BasicBarrier<")) {
    const auto end = launch.argument<peer_grid::BarrierEnd>(2);
    if (launch.blocks() != end.end.blocks) {
      complain("field_steps: its barrier is of another number of blocks");
    }
    if (is_of_processes(end)) {
      const double time = scenario().null + steps * time_of_step(slab) +
                          (steps - 1) * barrier_time(end.end.gpus);
      const ProcessMeeting others = process_meeting(end);
      model.run = [=](const Running& running) -> Ended {
        need_all(slab);
        return steps_of_process(slab, steps, dimensions, others,
                                running.factor * time);
      };
      return model;
    }
    meet_peers(end, model);
    members = model.members;
  } else if (launch.is("MultiGridBarrier")) {
    members = launch.gpus;
  }
  const double between = meets ? barrier_time(members) : 0;
  const void* meeting = model.meeting;
  model.run = [=](const Running& running) -> Ended {
    need_all(slab);
    if (counter != nullptr) need(counter, 2, "a counter");
    std::vector<Slab>& slabs = arrived[meeting];
    slabs.push_back(slab);
    if (static_cast<int>(slabs.size()) == members) {
      for (int step = 0; step < steps; ++step) {
        for (const Slab& one : slabs) step_slab(one, dimensions, step, true);
      }
      slabs.clear();
    }
    return {running.factor * (scenario().null + steps * time_of_step(slab) +
                              (steps - 1) * between)};
  };
  return model;
}

// Of so many cells, every n-th is looked at: the first of each layer is among
// them, and all are where the field is small.
long long stride_of(long long count) {
  return count > 1 << 20 ? 1024 : count > 1 << 17 ? 16 : 1;
}

Model fill(const Launch& launch) {
  auto* cells = launch.argument<float*>(0);
  const auto first = launch.argument<unsigned long long>(1);
  const auto count = launch.argument<long long>(2);
  return {[=](const Running& running) -> Ended {
    need(cells, count, "fill_cells");
    // Of a large field the first step fills what else is looked at.
    first_index[cells] = first;
    for (long long i = 0; i < count; i += stride_of(count)) {
      cells[i] = first_value(first + i);
    }
    return {running.factor * moving(static_cast<double>(count))};
  }};
}

Model digest(const Launch& launch) {
  const auto* cells = launch.argument<const float*>(0);
  const auto first = launch.argument<unsigned long long>(1);
  const auto count = launch.argument<long long>(2);
  auto* sum = launch.argument<unsigned long long*>(3);
  return {[=](const Running& running) -> Ended {
    need(cells, count, "digest_cells");
    need(sum, 1, "a digest");
    for (long long i = 0; i < count; i += stride_of(count)) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, cells + i, sizeof bits);
      *sum += digest_of(first + i, bits);
    }
    return {running.factor * moving(static_cast<double>(count))};
  }};
}

std::optional<Model> model_of(const Launch& launch) {
  if (launch.is("::fill_cells(")) return fill(launch);
  if (launch.is("::digest_cells(")) return digest(launch);
  if (launch.is("::field_step<") || launch.is("::programmatic_field_step<")) {
    return one_step(launch);
  }
  if (launch.is("::field_steps<")) return all_steps(launch);
  return std::nullopt;
}

[[maybe_unused]] const bool kAdded = add_models(model_of);

}  // namespace
}  // namespace stand_in
