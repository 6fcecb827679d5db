// Is the nccl.h that was found the one that is included? other_nccl/ has
// another.
#include <nccl.h>

int nccl_version_of_header() { return NCCL_VERSION_CODE; }
