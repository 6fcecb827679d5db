#error "another nccl.h than the one that was found"
