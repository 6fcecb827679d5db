// The list of sections, one file each or two alike.
#pragma once

#include <memory>

#include "implicit_barrier/section.hpp"

namespace syncbench {

std::unique_ptr<Section> null_kernel_section(Printing& printing);
std::unique_ptr<Section> sleep_kernel_section(Printing& printing);
std::unique_ptr<Section> workload_section(Printing& printing);
std::unique_ptr<Section> held_queue_section(Printing& printing);
std::unique_ptr<Section> sleep_grid_section(Printing& printing);
std::unique_ptr<Section> sleep_instruction_section(Printing& printing);

}  // namespace syncbench
