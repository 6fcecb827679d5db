// Adds a launch method to an ImplicitBarrier, for chained_launches_test.py:
// each launch is a chain of two kernels, and both are its own where nothing is
// to do.
#include <optional>

#include "implicit_barrier/launch_methods.hpp"
#include "stand_in_gpu/model.hpp"
#include "stand_in_gpu/scenario.hpp"

namespace syncbench::implicit_barrier {
namespace {

__global__ void first_of_chain() {}
__global__ void own_null() {}

const UnitKernels& own_kernels() {
  static const UnitKernels kernels = [] {
    UnitKernels own = unit_kernels();
    own.null = reinterpret_cast<const void*>(own_null);
    return own;
  }();
  return kernels;
}

// So each step is two.
class ChainedWay : public ways::StreamWay {
 public:
  using StreamWay::StreamWay;
  void launch(int count) override { StreamWay::launch(2 * count); }
};

std::unique_ptr<Way> make_chain(const StreamPool& pool, const std::vector<Gpu>&,
                                const ways::Steps& steps) {
  const KernelCall first = {reinterpret_cast<const void*>(first_of_chain),
                            dim3(1), dim3(32)};
  ways::Steps both = {steps.kinds, {}};
  both.kinds.push_back({first});
  for (const int kind : steps.order) {
    both.order.push_back(static_cast<int>(steps.kinds.size()));
    both.order.push_back(kind);
  }
  return std::make_unique<ChainedWay>(kTraditionalApi, pool, both);
}

// So many times as long as an empty kernel.
stand_in::Model lasts(double times) {
  return {[=](const stand_in::Running& running) -> stand_in::Ended {
    return {running.factor * times * stand_in::scenario().null};
  }};
}

std::optional<stand_in::Model> model_of(const stand_in::Launch& launch) {
  if (launch.is("::first_of_chain(")) return lasts(2);
  if (launch.is("::own_null(")) return lasts(3);
  return std::nullopt;
}

[[maybe_unused]] const bool kAdded =
    add_launch_method(LaunchMethodInfo{
        "chained_launch", "two kernels on one GPU", false, make_chain}
                          .of(own_kernels())
                          .in(Breadth::kAll)) &&
    stand_in::add_models(model_of);

}  // namespace
}  // namespace syncbench::implicit_barrier
