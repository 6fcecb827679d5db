"""GPU test: runs one executable at few samples. Are its rows what a GPU can do? Which rows there are
and how they are made, tests on simulated GPUs say.

usage: rows_test.py EXECUTABLE
"""
import math
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from parts import environment, suite, tsv  # noqa: E402

OPTIONS = {"Reduction": ("--max-bytes", "64M"), "Stencil": ("--max-bytes", "256M"),
           "ImplicitBarrier": ("--processes", "4"), "BenchmarkInterSM": ("--blocks-per-sm", "1,2")}
NO_WAIT = ("one_counter", "one_counter_read", "one_word", "all_block_sync")  # for another block
UNORDERED = ("none", "none_tile")  # of Stencil: their results are wrong
# Of Reduction: they lack the barrier that they need; they sum nothing.
UNSAFE, BARE_SPEED = ("nosync", "volatile"), ("theory", "read_limit")


def level(row, name):
    """The median, which --stats shows: of three samples a stall of the host moves the mean."""
    return float(row[f"med({name})"])


def shape(row):
    return tuple(row[name] for name in ("method", "GPUCount", "blk", "thrd"))


def check_held(sections):
    """Behind held streams the launches cost about what kernel fusion says: few samples, so
    coarsely."""
    fusion = {shape(row): level(row, "ovh") for row in sections["sleep kernel"].rows}
    for row in sections["held queue"].rows:
        for clock in ("cpu", "timer"):
            assert level(row, clock) > 100, row
            ratio = level(row, clock) / fusion[shape(row)]
            assert row["idea(wkld)"] == "0" or 0.7 < ratio < 1.4, (ratio, row)


def check_implicit(sections):
    for row in sections["null kernel"].rows:
        assert 0 < float(row["m(laun)"]) < float(row["m(ttl)"]), row
    for title in ("sleep kernel", "one stream", "sleep instruction"):
        for row in sections[title].rows if title in sections else ():
            ratio = float(row["m(wkld)"]) / float(row["idea(wkld)"])
            assert (0.5 < ratio < 2 if title == "sleep instruction" else 0.98 < ratio < 1.05), row
    check_held(sections)
    for row in sections["streams"].rows:
        least, most = float(row["min(ovh)"]), float(row["max(ovh)"])
        # `min` is of one stream, so it may be lower by what samples differ.
        assert 0 < least and 150 < least + float(row["s(ovh)"]) and least <= most < 10000, row
        # Of all samples, in pairs of others than the levels'.
        assert 0.95 * least <= level(row, "ovh") <= 1.05 * most, row
    for row in sections["dependent steps"].rows:
        assert float(row["m(step)"]) > 50 + float(row["idea(wkld)"]), row


def check_intra(sections):
    for row in sections["block latency"].rows:
        assert row["method"].endswith("_other_warp") or float(row["m(ave_cycle)"]) > 4, row
    for row in sections["warp latency"].rows:
        assert row["method"] != "tile_shufl" or 5 < float(row["m(ave_cycle)"]) < 100, row
    late = sections["one late"].rows
    assert all(10 < float(row["m(exit_cycle)"]) < 2000 for row in late), late
    # A branch between the clock's reads would add about as much as this barrier takes.
    least = min(float(row["m(exit_cycle)"]) for row in late if row["method"] == "blocksync")
    assert least < 40, least
    for row in sections["throughput"].rows:  # no SM issues more than 4 warps a cycle
        limit = 1 if row["method"].endswith("shufl") else 4  # nor shuffles more than 32 lanes
        assert 0 < float(row["m(thrput)"]) <= limit, row


def check_late(late, together):
    """All wait but one: its barrier costs about as much as one to which all come at once, and not
    nothing. A cost that is not above the spread of its three samples tells nothing."""
    def key(row):
        return row["method"], row["GPUcount"], row["blk"], row["thrd"]

    costs = {key(row): level(row, "avginstru") for row in together
             if level(row, "avginstru") > 2 * float(row["s(avginstr)"])}
    ratios = [(level(row, "exit") / costs[key(row)], row) for row in late if key(row) in costs]
    assert len(ratios) > len(late) / 2, (len(ratios), len(late))
    for ratio, row in ratios:
        assert 0.1 < ratio < 2, (ratio, row)


def check_inter(sections):
    rows = [row for title in ("grid latency", "multi-GPU latency") for row in sections[title].rows]
    check_late(sections["one late"].rows, rows)
    full = max(int(row["blk"]) * int(row["thrd"]) for row in rows)
    assert full // min(int(row["blk"]) for row in rows) in (1024, 1536, 2048), full
    for row in rows + (sections["exchange"].rows if "exchange" in sections else []):
        least = 1 if row["method"] in NO_WAIT else 300
        if row["method"] == "all_block_sync":
            least = -200  # its launches scatter by more than it costs
        # GPUs that poll the host's memory stall each other: a mean may be below its own interval.
        least -= float(row["ci95(avginstru)"])
        assert least < level(row, "avginstru") < 1e6, row


def check_repeat(sections, capability):
    by_sm, by_cpu = sections["method validation"].numbers("m(ave_cycle)")
    latency = 4 if capability >= 7 else 6
    for cycles in (by_sm, by_cpu):
        assert abs(cycles / latency - 1) < 0.005, (by_sm, by_cpu)


def check_reduction(sections):
    for section in sections.values():
        for row in section.rows:
            assert row.get("right", "1") in ("1", "nan") or row["method"] in UNSAFE, row
    for row in sections["warp level"].rows:
        assert 10 < float(row["m(ave_cycle)"]) < 5000, row
    loops = sections["shared memory"].rows
    for kind in {row["type"] for row in loops}:
        rates = [float(row["bandwidth"]) for row in loops if row["type"] == kind]
        assert 0 < rates[0] < rates[1] < rates[2], (kind, rates)
    best, theory = {}, None
    for row in sections["one GPU"].rows:
        rate = float(row["m(GB/s)"])
        theory = rate if row["method"] == "theory" else theory
        assert row["in_L2"] == "1" or rate < 1.05 * theory, (theory, row)
        if row["method"] not in BARE_SPEED and int(row["bytes"]) >= 2 ** 24:
            key = row["type"], row["bytes"], row["method"] == "cub"
            best[key] = max(rate, best.get(key, 0))
    for (kind, size, is_cub), rate in best.items():
        assert not is_cub or best[kind, size, False] >= 0.95 * rate, (kind, size, best)
    for title in {"one GPU", "strong scaling", "weak scaling"} & set(sections):
        for row in sections[title].rows:
            if row["method"] != "theory":  # by the GPU's events a short sum is much faster
                at_host = int(row["bytes"]) / float(row["m(host)"]) * 1e-3
                assert 0.5 * at_host < float(row["m(GB/s)"]) < 30 * at_host, row


def check_stencil(sections):
    """Results are right, and what orders steps costs time where fields are small."""
    for section in sections.values():
        least = min(int(row["cells"]) for row in section.rows)
        for row in section.rows:
            if row["method"] not in UNORDERED:
                assert row["right"] == "1", row
                assert int(row["cells"]) > least or float(row["sync"]) > 5, row


def check_methods(sections, groups, gpus):
    """Each has rows, or a comment says why not."""
    there = {one for section in sections.values() for one in (
        *(row["method"] for row in section.rows),
        *(said.method for said in section.annotations if said.kind == "skipped"))}
    missing = {name for name in set(groups) - there if gpus > 1 or groups[name] != "gpus"}
    assert not missing, missing


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    executable = sys.argv[1]
    name = os.path.basename(executable)
    devices = subprocess.run([executable, "--devices"], capture_output=True, text=True)
    if devices.returncode == 3:
        print("no usable CUDA device: skipped")
        return 77
    gpus = [line.split("\t") for line in devices.stdout.splitlines() if line[0].isdigit()]
    count = [str(len(gpus))] if suite.BY_NAME[name].takes_gpu_count else []
    done = subprocess.run([executable, "--all", "--stats", *count, "--samples", "3",
                           *OPTIONS.get(name, ())], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    sections = {section.title: section for section in tsv.parse(done.stdout.encode())}
    for section in sections.values():
        main_one = section.main and f"m({section.main})"
        for row in section.rows if main_one in section.header else ():
            single = row.get("rep") == "1" and section.main == "addl"
            assert single or math.isfinite(float(row[main_one])), row
    check_methods(sections, environment.groups_of(executable), len(gpus))
    {"ImplicitBarrier": lambda: check_implicit(sections),
     "BenchmarkIntraSM": lambda: check_intra(sections),
     "BenchmarkInterSM": lambda: check_inter(sections),
     "TestRepeat": lambda: check_repeat(sections, float(gpus[0][2])),
     "Reduction": lambda: check_reduction(sections),
     "Stencil": lambda: check_stencil(sections)}[name]()
    print(f"{name}: rows of {len(gpus)} GPU(s) are as they can be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
