"""What pages show of fences, rows of BenchmarkIntraSM: medians in cycles, of the run with most
GPUs of each kind."""

from pages import recorded
from pages.recorded import beside, code, largest, median, rows
from reporting.sheets import markdown_table

FILE = "BenchmarkIntraSM"
PENDING = {"": "nothing", "_host_read": "nothing, host memory was read",
           "_store": "a store, one place", "_stores": "a store, 64 places in turn",
           "_other_warp": "another warp stores", "_host": "a store, host memory",
           "_peer": "a store, another GPU"}
ORDERED = ("fence_", "atom_", "red_", "store_", "load_")  # begin the names of what orders memory
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


def cell(runs, method, blocks, threads, column="ave_cycle"):
    """Of each run the number of the last such row that has one."""
    found = [[median(row, column) for row in rows(run, FILE, method=method, blk=blocks, thrd=threads)
              if f"med({column})" in row] for run in runs]
    return beside([numbers[-1] for numbers in found if numbers])


def of_fence(runs, fence, kind):
    return cell(runs, fence + kind, "1", "64" if kind == "_other_warp" else "32")


def machines(runs):
    return recorded.machines(largest(runs))


def fences(runs):
    """Each instruction, or ordered access, by what is pending."""
    runs = largest(runs)
    methods = [row["method"] for row in rows(runs[0], FILE)]
    found = dict.fromkeys(method.removesuffix(kind) for method in methods if method.startswith(ORDERED)
                          for kind in filter(None, PENDING) if method.endswith(kind))
    return markdown_table(["Instruction", *PENDING.values()], 1, [
        [code(fence), *(of_fence(runs, fence, kind) for kind in PENDING)] for fence in found])


def states(runs):
    """Why a fence has two numbers."""
    alone, beside_it = (of_fence(largest(runs)[:1], "fence_acq_rel_gpu", kind)
                        for kind in ("", "_other_warp"))
    yield (f"`fence_acq_rel_gpu` is `__threadfence()`. It takes {alone} cycles on an H200 where no warp "
           f"of the SM stores,")
    yield (f"and {beside_it} where another warp does. Both are right, but few programs have the first "
           "state.")


def barriers(runs):
    """All arrive at once, one comes late, in use."""
    runs = largest(runs)
    return markdown_table(
        ["Barrier", "Blocks x threads", "all at once", "one late", "in use"], 2,
        [[code(method), f"{blocks} x {threads}", cell(runs, method, blocks, threads),
          cell(runs, method, blocks, threads, "exit_cycle"), cell(runs, used, blocks, threads)]
         for method, used, blocks, threads in BARRIERS])
