// Functions of the driver, looked up when the program runs: linked, it would
// not even start, and say why, on a machine without a driver.
#pragma once

namespace syncbench {

/// The driver's function of this name; nullptr where it has none. `version`:
/// of CUDA, in which its parameters are as the caller knows them.
void* find_driver_entry(const char* name, unsigned version);

}  // namespace syncbench
