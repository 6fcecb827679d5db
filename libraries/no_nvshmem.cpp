#include "libraries/method.hpp"

namespace syncbench::libraries {

LibraryPart nvshmem_part() { return {}; }

}  // namespace syncbench::libraries
