"""What the names of methods stand for in CUDA: the one list for tables, figures and README."""

# Method -> a part of what --list says of it; what stands between ` is code.
CUDA = {
    "traditional_launch": "`kernel<<<...>>>()`",
    "cooperative_launch": "`cudaLaunchCooperativeKernel`",
    "multi_cooperative_launch": "`cuLaunchCooperativeKernelMultiDevice`",
    "single_omp_traditional_launch": "launch, device synchronize, OpenMP barrier",
    "graph_launch": "a graph of all the kernels",
    "graph_programmatic": "a graph of programmatic_launch",
    "programmatic_launch": "programmatic launch",
    "tile_sync": "`sync()` of a warp tile",
    "tile_shufl": "`shfl_down()` in a warp tile",
    "coales_sync": "`sync()` of 1 to 32 coalesced threads",
    "coales_shufl": "`shfl_down()` among 1 to 32 coalesced threads",
    "syncwarp": "`__syncwarp()`",
    "blocksync": "`__syncthreads()`",
    "syncthreads_count": "`__syncthreads_count()`",
    "syncthreads_and": "`__syncthreads_and()`",
    "syncthreads_or": "`__syncthreads_or()`",
    "named_barrier": "`barrier.sync`",
    "split_barrier": "`bar.sync` for one half of a block, `bar.arrive` for the other",
    "mbarrier": "`mbarrier.arrive` and `try_wait`",
    "mbarrier_parity": "the same, `try_wait.parity`",
    "cuda_barrier": "`cuda::barrier::arrive_and_wait()`",
    "cluster_sync": "`barrier.cluster`",
    "cluster_relaxed": "`barrier.cluster`, `arrive.relaxed`: no memory order",
    "cluster_split": "`barrier.cluster`, 64 float additions between arrive and wait",
    "cluster_exchange": "store to the next block's shared memory, `barrier.cluster`, load",
    "shared_add": "`atomicAdd()`",
    "grid_sync": "`grid_group::sync()`",
    "semaphore": "two blocks take turns by a semaphore in global memory, there and back",
    "named_semaphore": "the same of half of each block",
    "peer_grid_sync": "this suite's barrier over peer memory",
    "multi_grid_sync": "`multi_grid_group::sync()`",
    "multi_grid_sync_no_peer": "`multi_grid_group::sync()`"}


def legend(methods):
    """A sentence, of each method once."""
    known = [f"`{method}` is {CUDA[method]}" for method in dict.fromkeys(methods)
             if method in CUDA]
    return f"In CUDA, {'; '.join(known)}." if known else ""


def legend_of_words(methods):
    """The same of a table of the study. methods: {what it calls a method: the method}"""
    return "In the rows and in CUDA, " + "; ".join(
        f"{word} is `{method}`, {CUDA[method]}" for word, method in methods.items()) + "."
