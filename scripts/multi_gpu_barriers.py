#!/usr/bin/env python3
"""The multi-GPU barriers of a results folder side by side (Figure 9 of the study).

Tab-separated, a row for each GPU count, mean nanoseconds; what was not measured is nan:
  multi_cooperative_launch, single_omp_traditional_launch at 1 x 32 and 1 block per SM x 1024
      one more launch that is also a barrier, by kernel fusion (m(ovh))
  multi_grid_sync, the same without peer access between the GPUs, peer_grid_sync at BxT
      one barrier of B blocks per SM of T threads (m(avginstru)): 1x32 is the fastest
      case, 32x64 the slowest, 1x1024 a general one
run.sh writes this to multi_gpu_barriers.tsv. That of a simulated run begins with "# simulated".
"""

import command_line
import tsv

LAUNCHES = ("multi_cooperative_launch", "single_omp_traditional_launch")
BARRIERS = ("multi_grid_sync", "multi_grid_sync_no_peer", "peer_grid_sync")
LAUNCH_SHAPES = {"32": "1 block x32", "1024": "1x1024"}  # by threads of a block
SHAPES = ((1, 32), (32, 64), (1, 1024))  # blocks per SM, threads


def figures(run):
    """(column, GPUs) -> text of the mean"""
    found = {}
    for row in run.section("ImplicitBarrier", "sleep kernel").rows:
        if row["method"] in LAUNCHES and row["thrd"] in LAUNCH_SHAPES:
            column = f"{row['method']} {LAUNCH_SHAPES[row['thrd']]}"
            found[column, row.whole("GPUCount")] = row["m(ovh)"]
    for file in tsv.GRID_FILES:
        for row in run.section(file, "multi-GPU latency").rows:
            for blocks, threads in SHAPES:
                if (row.whole("blk"), row.whole("thrd")) == (blocks * run.sms, threads):
                    column = f"{row['method']} {blocks}x{threads}"
                    found[column, row.whole("GPUcount")] = row["m(avginstru)"]
    return found


def lines(run):
    found = figures(run)
    columns = [*(f"{name} {shape}" for name in LAUNCHES for shape in LAUNCH_SHAPES.values()),
               *(f"{name} {blocks}x{threads}"
                 for name in BARRIERS for blocks, threads in SHAPES)]
    yield from [tsv.SIMULATED] * run.simulated
    yield "\t".join(("GPUCount", *columns))
    for gpus in range(1, max((gpus for _, gpus in found), default=0) + 1):
        yield "\t".join((str(gpus), *(found.get((column, gpus), "nan") for column in columns)))


if __name__ == "__main__":
    command_line.main_of_folder(lines, __doc__, "multi_gpu_barriers.py")
