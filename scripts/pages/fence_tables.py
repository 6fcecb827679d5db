"""What docs/fences.md shows of results/fences: lines of Markdown, made from rows of
BenchmarkIntraSM. Numbers are medians in cycles, of each machine."""

import functools

from parts import tsv
from reporting.sheets import coded, markdown_table
from reporting.study import FOLDER

MACHINES = ("h200x2", "h100x2")
PENDING = {"": "nothing", "_host_read": "nothing, host memory was read",
           "_store": "a store, one place", "_stores": "a store, 64 places in turn",
           "_other_warp": "another warp stores", "_host": "a store, host memory",
           "_peer": "a store, another GPU"}
OPCODES = ("MEMBAR", "ERRBAR", "CCTL")  # that are counted
# (method, the same in use, blocks, threads)
BARRIERS = (*((method, used, "1", threads) for method, used in (
                ("blocksync", "in_use_blocksync"), ("named_barrier_constant", "in_use_named_barrier"),
                ("mbarrier", "in_use_mbarrier"), ("cuda_barrier", "in_use_cuda_barrier"))
              for threads in ("64", "1024")),
            *((method, used, blocks, threads) for method, used in (
                ("cluster_sync", "in_use_cluster_sync"), ("cluster_sync_dims", ""),
                ("cluster_sync_mbarrier", ""), ("cluster_relaxed", ""))
              for blocks, threads in (("2", "32"), ("2", "1024"), ("16", "1024"))),
            *((method, "", "2", threads) for method in ("remote_arrive", "store_async")
              for threads in ("32", "1024")))


@functools.lru_cache(maxsize=None)
def rows_of(machine):
    """{(late or not, method, blocks, threads): median}"""
    found = {}
    for section in tsv.read(FOLDER.parent / "fences" / f"{machine}.tsv"):
        late = section.title == "one late"
        column = "med(exit_cycle)" if late else "med(ave_cycle)"
        for row in section.rows if column in section.header else ():
            found[late, row["method"], row["blk"], row["thrd"]] = float(row[column])
    return found


def cell(*key):
    texts = [f"{rows_of(machine)[key]:.0f}" for machine in MACHINES if key in rows_of(machine)]
    return " / ".join(texts) or "–"


@functools.lru_cache(maxsize=None)
def instructions():
    """{fence or ordered access: how many of each of OPCODES it is on sm_90, CUDA 13.0}"""
    path = FOLDER.parent / "fences" / "instructions.tsv"
    found = {row["method"]: [row[opcode] for opcode in OPCODES]
             for row in tsv.read_table(path.read_bytes(), path)}
    return {method: counts for method, counts in found.items() if f"{method}_store" in found}


def of_fence(fence, kind):
    return False, fence + kind, "1", "64" if kind == "_other_warp" else "32"


def fences(_runs):
    """Each instruction by what is pending."""
    return markdown_table(
        ["Instruction", ", ".join(OPCODES), *PENDING.values()], 2,
        [[coded(f"`{fence}`"), ", ".join(counts),
          *(cell(*of_fence(fence, kind)) for kind in PENDING)]
         for fence, counts in instructions().items()
         if of_fence(fence, "") in rows_of(MACHINES[0])])


def states(_runs):
    """Why a fence has two numbers."""
    alone, beside = (f"{rows_of(MACHINES[0])[of_fence('fence_acq_rel_gpu', kind)]:.0f}"
                     for kind in ("", "_other_warp"))
    yield (f"`fence_acq_rel_gpu` is `__threadfence()`. It takes {alone} cycles on an H200 where no warp "
           f"of the SM stores,")
    yield (f"and {beside} where another warp does. Both are right, but few programs have the first "
           "state.")


def barriers(_runs):
    """All arrive at once, one comes late, in use."""
    return markdown_table(
        ["Barrier", "Blocks x threads", "all at once", "one late", "in use"], 2,
        [[coded(f"`{method}`"), f"{blocks} x {threads}", cell(False, method, blocks, threads),
          cell(True, method, blocks, threads), cell(False, used, blocks, threads)]
         for method, used, blocks, threads in BARRIERS])
