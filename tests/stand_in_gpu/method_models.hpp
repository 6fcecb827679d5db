// The one model of the kernel that times any in-kernel method. What it returns
// is what the method's own struct expects.
#pragma once

#include "explicit_barrier/method_entry.hpp"
#include "stand_in_gpu/model.hpp"

namespace stand_in {

/// The model, where the launch is of one of these methods.
std::optional<Model> model_of_method(
    const Launch& launch, const std::vector<syncbench::MethodEntry>& methods);

}  // namespace stand_in
