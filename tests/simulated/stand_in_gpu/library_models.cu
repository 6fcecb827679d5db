// The kernel of Libraries that is this suite's.
#include <unistd.h>

#include "stand_in_gpu/peer_meeting.cuh"
#include "stand_in_gpu/scenario.hpp"

namespace stand_in {
namespace {

std::optional<Model> model_of(const Launch& launch) {
  if (!launch.is("::peer_grid_kernel(")) return std::nullopt;
  const auto end = launch.argument<peer_grid::BarrierEnd>(0);
  const auto operations = launch.argument<int>(1);
  if (launch.kind != LaunchKind::kCooperative ||
      launch.blocks() != end.end.blocks) {
    complain("its barrier is of another launch: " + launch.name);
  }
  const double time = scenario().null + operations * barrier_time(end.end.gpus);
  Model model;
  if (is_of_processes(end)) {
    model.run = [=, others =
                        process_meeting(end)](const Running& running) -> Ended {
      for (int i = 0; i < operations; ++i) {
        if (!others.sync()) return kNobodyCame;
      }
      return {running.factor * time};
    };
    return model;
  }
  if (operations > 0) meet_peers(end, model);
  // A library's kernel, whose waits have no end.
  if (scenario().bad == "waits") {
    model.abandoned = [](const Running&) -> Ended {
      for (;;) pause();
    };
  }
  model.run = [=](const Running& running) -> Ended {
    return {running.factor * time};
  };
  return model;
}

[[maybe_unused]] const bool kAdded = add_models(model_of);

}  // namespace
}  // namespace stand_in
