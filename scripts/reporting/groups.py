"""The groups of rows that agree alike between runs. Rows inside an SM hardly ever differ, so a
share of all rows says little of the others."""

import functools
from fnmatch import fnmatchcase

# Group -> its programs, patterns of its methods. A row is of the first group that it fits.
# With clusters and fences are all accesses beyond the SM.
GROUPS = {
    "sums": (("Reduction",), ("*",)),
    "launches": (("ImplicitBarrier",), ("*",)),
    "time steps": (("Stencil",), ("*",)),
    "libraries": (("Libraries",), ("*",)),
    "several GPUs": (("BenchmarkInterSM", "TestRepeat"), ("*peer_grid_sync", "multi_grid_*")),
    "grid": (("BenchmarkInterSM", "TestRepeat"), ("*grid_sync", "*semaphore")),
    "clusters and fences": (("BenchmarkIntraSM", "TestRepeat"), (
        "*cluster_*", "distributed_load", "threadfence*", "fence_*", "*_acquire_*", "*_release_*",
        "atom_acq_rel_*", "global_*", "copy_async", "bulk_copy_*")),
    "in an SM": (("BenchmarkIntraSM", "TestRepeat"), ("*",))}
NAMES = tuple(reversed(GROUPS))  # as pages show them


@functools.lru_cache(maxsize=None)
def group_of(file, method):
    """Of a row in this file, of either toolkit; it has a mean."""
    program = file.split(".")[0]
    return next((name for name, (programs, methods) in GROUPS.items() if program in programs
                 and any(fnmatchcase(method, pattern) for pattern in methods)),
                "grid")  # a method of BenchmarkInterSM that no pattern knows
