#include "libraries/method.hpp"

namespace syncbench::libraries {

LibraryPart nccl_part() { return {}; }

}  // namespace syncbench::libraries
