// The comment lines at the top of an output: what measured.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/devices.hpp"
#include "common/options.hpp"
#include "common/sm_clock.hpp"
#include "common/table.hpp"

namespace syncbench {

/// An executable built for other architectures than the node's has no code for
/// its GPUs: NoDeviceError that says what to build.
void require_code_for(const std::vector<Gpu>& gpus);

/// The program with its version and --samples, then the driver and compilers.
void write_programs(LineWriter& out, const ProgramInfo& info,
                    const Options& options);

/// What names a GPU: `index=... name=... sms=... capability=...`.
std::string gpu_text(const Gpu& gpu);

/// The GPUs used, of `found` visible ones, each with its clock by probes[i].
/// `access`: each to the memory of every other.
void write_gpus(LineWriter& out, const std::vector<Gpu>& gpus,
                std::vector<SmClockProbe>& probes, std::size_t found,
                bool access);

}  // namespace syncbench
