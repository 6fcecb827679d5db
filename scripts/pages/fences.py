"""What pages show of results/fences, rows of BenchmarkIntraSM: medians in cycles, of
each machine."""

from pages.recorded import beside, code, median, rows, table_of
from reporting.sheets import markdown_table

FILES = ("fences/h200x2", "fences/h100x2")
PENDING = {"": "nothing", "_host_read": "nothing, host memory was read",
           "_store": "a store, one place", "_stores": "a store, 64 places in turn",
           "_other_warp": "another warp stores", "_host": "a store, host memory",
           "_peer": "a store, another GPU"}
OPCODES = ("MEMBAR", "ERRBAR", "CCTL")  # that are counted, on sm_90, CUDA 13.0
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


def cell(method, blocks, threads, column="ave_cycle", files=FILES):
    """Of each file the number of the last such row that has one."""
    found = [[median(row, column) for row in rows(name, method=method, blk=blocks, thrd=threads)
              if f"med({column})" in row] for name in files]
    return beside([numbers[-1] for numbers in found if numbers])


def of_fence(fence, kind, files=FILES):
    return cell(fence + kind, "1", "64" if kind == "_other_warp" else "32", files=files)


def fences(_runs):
    """Each instruction, or ordered access, by what is pending."""
    counts = {row["method"]: ", ".join(row[opcode] for opcode in OPCODES)
              for row in table_of("fences/instructions")}
    return markdown_table(
        ["Instruction", ", ".join(OPCODES), *PENDING.values()], 2,
        [[code(fence), count, *(of_fence(fence, kind) for kind in PENDING)]
         for fence, count in counts.items()
         if f"{fence}_store" in counts and rows(FILES[0], method=fence)])


def states(_runs):
    """Why a fence has two numbers."""
    alone, beside_it = (of_fence("fence_acq_rel_gpu", kind, FILES[:1])
                        for kind in ("", "_other_warp"))
    yield (f"`fence_acq_rel_gpu` is `__threadfence()`. It takes {alone} cycles on an H200 where no warp "
           f"of the SM stores,")
    yield (f"and {beside_it} where another warp does. Both are right, but few programs have the first "
           "state.")


def barriers(_runs):
    """All arrive at once, one comes late, in use."""
    return markdown_table(
        ["Barrier", "Blocks x threads", "all at once", "one late", "in use"], 2,
        [[code(method), f"{blocks} x {threads}", cell(method, blocks, threads),
          cell(method, blocks, threads, "exit_cycle"), cell(used, blocks, threads)]
         for method, used, blocks, threads in BARRIERS])
