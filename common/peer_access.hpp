// Access of GPUs to each other's memory, which some barriers use unasked.
#pragma once

#include <vector>

namespace syncbench {

/// Switches on the access of `device` to the memory of `peer`; false where
/// there is none.
bool enable_peer_access(int device, int peer);

/// The same for all pairs; false where one of them lacks it.
bool enable_peer_access(const std::vector<int>& devices);

/// Switches it off between all pairs.
void disable_peer_access(const std::vector<int>& devices);

}  // namespace syncbench
