"""What barriers cost in a few lines, for README and terminals."""

import textwrap
from collections import namedtuple

from parts.tables import right_aligned
from reporting.estimates import shape, short_name
from reporting.headline import (inside_an_sm, launch, multi_grid_of, nothing_known, of_grids,
                                of_table)
from reporting.names import legend

# find(run): reporting.headline.Found or None; study(study, gpu): its text, None where it has no
# number of the same shape and number of GPUs.
Row = namedtuple("Row", "label unit find study", defaults=[nothing_known])


def grid_sync(blocks, threads):
    return Row(f"1 GPU: `grid_sync`, {shape(blocks, threads)}", "ns",
               of_grids("grid latency", "grid_sync", blocks, threads))


def peer_grid_sync(gpus):
    return Row(f"{gpus} GPUs: `peer_grid_sync`, {shape(1, 1024)}", "ns",
               of_grids("multi-GPU latency", "peer_grid_sync", 1, 1024, gpus))


ROWS = (
    Row("Warp: `tile_sync`, 32 lanes", "cycles",
        inside_an_sm("warp latency", method="tile_sync", thrd="32", tile="32")),
    Row("Block: `blocksync`, 32 threads", "cycles",
        inside_an_sm("block latency", method="blocksync", thrd="32"),
        of_table("II", "latency_cycles", type="block")),
    Row("Cluster: `cluster_sync`, 2 x 32", "cycles",
        inside_an_sm("group latency", method="cluster_sync", blk="2", thrd="32")),
    grid_sync(1, 1024), grid_sync(32, 64),
    peer_grid_sync(2),
    *(Row(f"2 GPUs: `{method}`, {shape(1, 1024)}, CUDA 11, 12", "ns",
          of_grids("multi-GPU latency", method, 1, 1024, 2), study)
      for method, study in (("multi_grid_sync", nothing_known),
                            ("multi_grid_sync_no_peer", multi_grid_of(2, 1, 1024)))),
    peer_grid_sync(4),
    Row(f"1 GPU: `traditional_launch`, {shape(1, 1024)}, ten streams", "ns",
        launch("traditional_launch")),
    *(Row(f"1 GPU: `{method}`, {shape(1, 1024)}, one stream", "ns",
          launch(method, title="one stream")) for method in ("graph_launch", "programmatic_launch")))


def method_of(found):
    """What a line is of, by the Founds of the runs."""
    return next(one.row["method"] for one in found if one)


def lines(runs):
    """For a terminal: a column for each run."""
    rows, methods = [], []
    for row in ROWS:
        found = [row.find(run) for run in runs]
        if any(found):
            methods.append(method_of(found))
            rows.append((f"{row.label.replace('`', '')}, {row.unit}", *(
                one.estimate.text() or "-" if one else "-" for one in found)))
    yield from right_aligned([("What a barrier costs", *(
        f"{run.gpus} {short_name(run)}" for run in runs)), *rows] if rows else [])
    yield from textwrap.wrap(legend(methods).replace("`", ""), 98, initial_indent="  ",
                             subsequent_indent="  ")
