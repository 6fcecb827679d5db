"""GPU test: runs one executable at few samples and checks every row.

usage: rows_test.py EXECUTABLE
"""
import math
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import reduction_rows  # noqa: E402
from parts import environment, suite, tsv  # noqa: E402

NULL = ("method GPUCount rep blk thrd m(clk) s(clk) m(sync) s(sync) m(laun) "
        "s(laun) m(ttl) s(ttl) m(avelaun) s(avelaun) m(addl) s(addl)").split()
SHAPE = "method GPUCount rep blk thrd idea(wkld) ".split()
FUSION = SHAPE + "m(wkld) s(wkld) m(ovh) s(ovh)".split()
HELD = SHAPE + "m(cpu) s(cpu) m(timer) s(timer) m(gap) s(gap)".split()
STREAMS = SHAPE + "stream m(ovh) s(ovh) min(ovh) max(ovh) s_stream(ovh) s_process(ovh)".split()
GRAPHS = SHAPE[:-1] + ("m(node) s(node) m(seam) s(seam) m(inst) s(inst) m(upload) s(upload) "
                       "m(first) s(first) m(call) s(call) m(update) s(update)").split()
STEPS = SHAPE + "reads m(step) s(step) m(seam) s(seam)".split()
ROUNDS = SHAPE + "m(late) s(late) m(turns) s(turns) m(held) s(held)".split()
LATENCY = "method GPUcount rep blk thrd m(ave_cycle) s(ave_cycle)".split()
THROUGHPUT = "method GPUcount rep blk thrd tile m(ttl_latency) m(thrput)".split()
GRID = ("method GPUcount basicrep moredrep blk thrd m(basic_ttl) s(basic_ttl) "
        "m(more_ttl) s(more_ttl) m(avginstru) s(avginstr)").split()
EXCHANGE = GRID[:6] + ["bytes"] + GRID[6:]
LATE = "method GPUcount blk thrd late".split()
NO_WAIT = ("one_counter", "one_counter_read", "one_word", "all_block_sync")  # for another block
REPEAT = ("method rep blk thrd tile m(cycle) s(cycle) m(ns) s(ns) "
          "m(ave_cycle) s(ave_cycle)").split()
FIELD = ("method GPUcount cells width rows layers steps blk thrd m(step) s(step) GB/s sync "
         "right nodes processes").split()
UNORDERED = ("none", "none_tile")  # of Stencil: their results are wrong
EXPECTED = {
    "ImplicitBarrier": {"null kernel": NULL, "sleep kernel": FUSION,
                        "workload test": NULL + ["idea(wkld)"], "sleep instruction": FUSION,
                        "one stream": FUSION, "graphs": GRAPHS, "dependent steps": STEPS,
                        "streams": STREAMS, "held queue": HELD, "between GPUs": ROUNDS},
    "BenchmarkIntraSM": {"block latency": LATENCY,
                         "warp latency": LATENCY + ["tile"],
                         "throughput": THROUGHPUT,
                         "group latency": LATENCY + ["tile"],
                         "one late": LATE + ["m(exit_cycle)", "s(exit_cycle)"]},
    "TestRepeat": {"repeats": REPEAT, "method validation": REPEAT},
    "BenchmarkInterSM": {"grid latency": GRID, "multi-GPU latency": GRID,
                         "exchange": EXCHANGE,
                         "one late": LATE + ["m(exit)", "s(exit)"]},
    "Reduction": reduction_rows.HEADERS,
    "Stencil": {"time steps 2D": FIELD, "time steps 3D": FIELD},
}
LIMITS = {"Reduction": reduction_rows.OPTIONS, "Stencil": ("--max-bytes", "256M"),
          "ImplicitBarrier": ("--processes", "4"), "BenchmarkInterSM": ("--blocks-per-sm", "1,2")}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def check_finite(section):
    """Every number is finite, but `addl` of a single launch, `gap` of null
    kernels and what some rows of Reduction lack."""
    for row in section.rows:
        for column, cell in row.items():
            if column in tsv.NAMES or math.isfinite(float(cell)):
                continue
            if section.title in reduction_rows.HEADERS:
                assert reduction_rows.may_be_nan(section, row, column), (column, row)
                continue
            unordered = row["method"] in UNORDERED and column in ("sync", "right")
            single = row.get("rep") == "1" and column.split("(")[-1] == "addl)"
            null_gap = row.get("idea(wkld)") == "0" and "gap)" in column
            only = row.get("stream") not in (None, "created") and column == "s_stream(ovh)"
            lone = row.get("rep") == "1000" and "seam)" in column
            waits = row["method"] == "single_omp_traditional_launch" and "held)" in column
            assert unordered or single or null_gap or only or lone or waits, f"{section.title}: {column} is {cell} in {row}"


def close(left, right):
    return abs(left - right) <= 0.002 + 1e-5 * abs(right)


def shape_key(row):
    return tuple(row[name] for name in ("method", "GPUCount", "blk", "thrd"))


def check_null(rows, points):
    one = {}
    for row in rows:
        value = {name: float(cell) for name, cell in row.items()
                 if name not in tsv.NAMES}
        assert close(value["m(avelaun)"], value["m(laun)"] / value["rep"]), row
        assert 0 < value["m(laun)"] < value["m(ttl)"], row
        if row["rep"] == "1":
            one[shape_key(row)] = value["m(ttl)"]
        else:
            additional = ((value["m(ttl)"] - one[shape_key(row)]) /
                          (value["rep"] - 1))
            assert close(value["m(addl)"], additional), row
    assert ([shape_key(row) + (row["rep"],) for row in rows] ==
            [point + (rep,) for point in points for rep in ("1", "128")])


def check_held(sections):
    """Behind held streams the launches cost about what kernel fusion says: few
    samples, so coarsely, by medians (a stall of the host moves a mean), which
    --stats shows. launch_gap_test looks closely."""
    fusion = {shape_key(row): float(row["med(ovh)"])
              for row in sections["sleep kernel"].rows}
    for row in sections["held queue"].rows:
        assert min(float(row[c]) for c in ("med(cpu)", "med(timer)")) > 100, row
        if row["idea(wkld)"] == "0":
            continue
        for column in ("med(cpu)", "med(timer)"):
            ratio = float(row[column]) / fusion[shape_key(row)]
            assert 0.7 < ratio < 1.4, (ratio, row)


def check_streams(rows, points, study):
    assert ([(*shape_key(row), row["stream"]) for row in rows] ==
            [(*point, stream) for point in points for stream in ("default", "per_thread", "created")])
    for row in rows:
        least, most = float(row["min(ovh)"]), float(row["max(ovh)"])
        assert least <= most < 10000, row
        median = level(row, "ovh")  # of all samples, in pairs of others than the levels'
        assert 0.95 * least <= median <= 1.05 * most, row
        assert median > 150 and (least > 300 or row["method"] not in study), row


def check_implicit(sections, gpus, sms, groups):
    launched = [method for method in groups
                if any(row["method"] == method for row in sections["null kernel"].rows)]
    others = {row["method"] for title in ("dependent steps", "between GPUs") if title in sections
              for row in sections[title].rows}
    known = {method for method, group in groups.items()
             if gpus > 1 or group != "gpus" or method in launched}
    assert set(launched) | others == known, (launched, others, known)
    points = [(method, str(count), blocks, threads)
              for method in launched
              for count in range(1, (gpus if groups[method].startswith("gpus") else 1) + 1)
              for blocks, threads in (("1", "32"), (str(sms), "1024"))]
    one_and_all = [point for point in points if int(point[1]) in (1, gpus)]

    def with_word(word):
        return {method for method in launched if word in groups[method].split("-")}

    def of(methods, among=points):
        return [point for point in among if point[0] in methods]

    study = with_word("all")  # in all sections
    broad = study | with_word("most")
    check_null(sections["null kernel"].rows, points)
    alone = [point for point in of(set(launched) - with_word("slowing"))
             if not groups[point[0]].startswith("gpus")]
    for title, expected in (("sleep kernel", points), ("one stream", alone),
                            ("sleep instruction", of(study, one_and_all))):
        if title not in sections:
            continue
        assert [shape_key(row) for row in sections[title].rows] == expected, title
        for row in sections[title].rows:
            ratio = float(row["m(wkld)"]) / float(row["idea(wkld)"])
            assert (0.5 < ratio < 2 if title == "sleep instruction"
                    else 0.98 < ratio < 1.05), row
    queued = of(set(launched) - with_word("waiting"), one_and_all)
    assert ([shape_key(row) for row in sections["held queue"].rows] ==
            [point for point in queued for _ in range(2 if point[0] in broad else 1)])
    check_held(sections)
    check_streams(sections["streams"].rows,
                  [point for point in of(broad) if not groups[point[0]].startswith("gpus")], study)
    assert len(sections["workload test"].rows) == len(broad) * 9 * 2
    for row in sections["dependent steps"].rows:
        assert float(row["m(step)"]) > 50 + float(row["idea(wkld)"]), row


def check_intra(sections, sms, listed):
    block = sections["block latency"]
    threads_of = {}
    for row in block.rows:
        threads_of.setdefault(row["method"], []).append(int(row["thrd"]))
    assert threads_of["blocksync"] == list(range(32, 1025, 32))
    for method, threads in threads_of.items():
        usual = [64] if method.endswith("_other_warp") else threads_of["blocksync"]
        assert threads == usual, (method, threads)
    assert all(float(row["m(ave_cycle)"]) > 4 for row in block.rows
               if not row["method"].endswith("_other_warp"))
    warp = sections["warp latency"].rows
    measured = {row["method"] for title in sections if title.endswith("latency")
                for row in sections[title].rows}
    skipped = {said.method for section in sections.values()
               for said in section.annotations if said.kind == "skipped"}
    assert measured | skipped == set(listed), (measured, skipped, listed)
    tiles, groups = {}, {}
    for row in warp:
        if row["thrd"] == "32":
            tiles.setdefault(row["method"], []).append(int(row["tile"]))
        groups.setdefault((row["method"], row["tile"]), []).append(int(row["thrd"]))
    fixed = [1, 2, 4, 8, 16, 32]
    assert tiles["tile_sync"] == tiles["tile_shufl"] == fixed, tiles
    assert tiles["coales_sync"] == tiles["coales_shufl"] == list(range(1, 33)), tiles
    assert all(len(set(sizes)) == len(sizes) for sizes in tiles.values()), tiles
    assert all(threads in ([32], [32, 64, 128, 256, 512, 1024])
               for threads in groups.values()), groups
    for group in (("tile_shufl", "32"), ("coales_shufl", "16"), ("coales_shufl", "32")):
        assert len(groups[group]) == 6, (group, groups[group])
    shuffles = [float(r["m(ave_cycle)"]) for r in warp if r["method"] == "tile_shufl"]
    assert all(5 < value < 100 for value in shuffles), shuffles
    late = sections["one late"].rows
    assert {row["method"] for row in late} >= {"blocksync", "mbarrier"}, late
    assert all(10 < float(row["m(exit_cycle)"]) < 2000 for row in late), late
    # A branch between the clock's reads would add about as much as this barrier takes.
    least = min(float(row["m(exit_cycle)"]) for row in late if row["method"] == "blocksync")
    assert least < 40, least
    throughput = sections["throughput"]
    shapes = {}
    for row in throughput.rows:  # no SM issues more than 4 warps a cycle
        shapes.setdefault((row["method"], row["tile"]), []).append((row["blk"], row["thrd"]))
        limit = 1 if row["method"].endswith("shufl") else 4  # nor shuffles more than 32 lanes
        assert 0 < float(row["m(thrput)"]) <= limit, row
        above = float(row["m(diff_thrput)"]) > limit
        assert not above or throughput.said_of(row, "above-limit"), row
        warps = int(row["blk"]) / sms * int(row["thrd"]) / 32
        for time, rate in (("m(ttl_latency)", "m(thrput)"), ("m(diff_latency)", "m(diff_thrput)")):
            total = float(row[rate]) * float(row[time])
            assert abs(total / (warps * int(row["rep"])) - 1) < 1e-2, row
    assert all(len(set(points)) == 7 * 6 for points in shapes.values()), shapes
    assert {group for group, threads in groups.items() if len(threads) > 1} <= set(shapes)
    assert {("blocksync", "32"), ("tile_sync", "32"), ("coales_sync", "16")} <= set(shapes)


def level(row, name):
    """The median, which --stats shows: of three samples a stall of the host moves the mean."""
    return float(row[f"med({name})"])


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


def check_inter(sections, gpus):
    multi = sections["multi-GPU latency"].rows
    counts = {int(r["GPUcount"]) for r in multi if r["method"] == "peer_grid_sync"}
    assert counts == set(range(1, gpus + 1)), counts
    rows = sections["grid latency"].rows
    assert len(rows) >= 15
    check_late(sections["one late"].rows, rows + multi)
    full = max(int(r["blk"]) * int(r["thrd"]) for r in rows)
    blocks = min(int(r["blk"]) for r in rows)
    assert full // blocks in (1024, 1536, 2048), "a full SM was not measured"
    exchanges = sections["exchange"].rows if gpus > 1 else []
    for row in rows + multi + exchanges:
        least = 1 if row["method"] in NO_WAIT else 300
        if row["method"] == "all_block_sync":
            least = -200  # its launches scatter by more than it costs
        # GPUs that poll the host's memory stall each other: a mean may be below its own interval.
        least -= float(row["ci95(avginstru)"])
        assert least < level(row, "avginstru") < 1e6, row
        mean = ((float(row["m(more_ttl)"]) - float(row["m(basic_ttl)"])) /
                (int(row["moredrep"]) - int(row["basicrep"])))
        printed = float(row["m(avginstru)"])
        assert abs(mean - printed) < 0.001 + 1e-4 * abs(printed), row  # three decimals


def check_repeat(sections, capability, listed):
    series = {}
    half = 0
    for row in sections["repeats"].rows:
        each = (float(row["m(cycle)"]) - half) / (int(row["rep"]) / 2)
        half = float(row["m(cycle)"])
        key = row["method"], row["blk"], row["thrd"], row["tile"]
        series.setdefault(key, []).append(int(row["rep"]))
        if row["rep"] == "128" and each < 3.5:
            assert sections["repeats"].said_of(row, "nothing-waits"), row
    assert all(reps == [2 ** k for k in range(8)] for reps in series.values())
    skipped = {said.method for said in sections["repeats"].annotations if said.kind == "skipped"}
    assert {key[0] for key in series} | skipped | {"float_add"} == set(listed), series
    assert not 9 <= capability < 12 or not skipped - {"multi_grid_sync"}, skipped
    by_sm, by_cpu = sections["method validation"].numbers("m(ave_cycle)")
    assert abs(by_sm / by_cpu - 1) < 0.005, (by_sm, by_cpu)
    latency = 4 if capability >= 7 else 6
    assert abs(by_sm / latency - 1) < 0.005, by_sm
    assert abs(by_cpu / latency - 1) < 0.005, by_cpu


def check_stencil(sections, gpus, sms, groups):
    """Every method has a row of each size and number of GPUs that it is for, or a comment says why
    not; results are right, and what orders steps costs time where fields are small."""
    counts = sorted({1, gpus, *(2 ** n for n in range(10) if 2 ** n < gpus)})
    of_several = ("events_to_neighbors", "graph_of_gpus", "multi_cooperative_launch",
                  "nccl_send_recv")
    for section in sections.values():
        cells = sorted({int(row["cells"]) for row in section.rows})
        most = 6 if section.title.endswith("2D") else 5
        assert most - 1 <= len(cells) <= most, cells  # the largest shape can be too large
        assert all(row["blk"] == str(sms) and row["thrd"] == "1024" for row in section.rows)
        assert all(int(row["width"]) * int(row["rows"]) * int(row["layers"]) == int(row["cells"])
                   for row in section.rows)
        found = {(row["method"], int(row["GPUcount"]), int(row["cells"])) for row in section.rows}
        skipped = {(said.method, int(said.cells.get("GPUcount", 0)), int(said.cells.get("cells", 0)))
                   for said in section.annotations if said.kind == "skipped"}
        for method, group in groups.items():
            if method == "mpi_send_recv":
                assert (method, 0, 0) in skipped
                continue
            for count in counts:
                if (group == "grid" and count > 1) or (method in of_several and count == 1):
                    continue
                for size in cells:
                    assert ((method, count, size) in found or (method, count, size) in skipped
                            or (method, count, 0) in skipped), (section.title, method, count, size)
        for row in section.rows:
            assert row["method"] in UNORDERED or row["right"] == "1", row
            if row["method"] not in UNORDERED and int(row["cells"]) == cells[0]:
                assert float(row["sync"]) > 5, row


def check_options(executable, count, gpus, listed, sms):
    too_many = run(executable, str(gpus + 1))
    assert too_many.returncode == 2, too_many.stderr
    if count:
        assert f"requested {gpus + 1} GPUs but only {gpus} w" in too_many.stderr
    one = run(executable, *["1"] * len(count), "--samples", "1", "--method", listed[0])
    assert one.returncode == 0 and "\tnan" in one.stdout, one.stderr
    for section in tsv.parse(one.stdout.encode()):  # without --stats
        assert section.header == EXPECTED[os.path.basename(executable)][section.title], section.header
    if os.path.basename(executable) == "BenchmarkInterSM":
        three = run(executable, "1", "--samples", "2", "--method", "grid_sync",
                    "--blocks-per-sm", "3")
        blocks = [row["blk"] for row in tsv.parse(three.stdout.encode())[0].rows]
        assert blocks and set(blocks) == {str(3 * sms)}, three
        # Skipped, so no success for who asked for it.
        named = "multi_grid_sync_no_peer" if gpus == 1 else "peer_grid_sync"
        if named in listed:
            skipped = subprocess.run(
                [executable, str(gpus), "--samples", "2", "--method", named],
                env=dict(os.environ, CUDA_LAUNCH_BLOCKING="1"),
                capture_output=True, text=True)
            assert skipped.returncode == 4, skipped


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    executable = sys.argv[1]
    name = os.path.basename(executable)
    devices = run(executable, "--devices")
    if devices.returncode == 3:
        print("no usable CUDA device: skipped")
        return 77
    assert devices.returncode == 0, devices.stderr
    groups = environment.groups_of(executable)
    listed = list(groups)
    rows = [line.split("\t") for line in devices.stdout.splitlines() if line[0].isdigit()]
    gpus = len(rows)
    sms = int(rows[0][3])
    expected = dict(EXPECTED[name])
    if min(float(row[2]) for row in rows) < 7:  # no sleep instruction
        expected.pop("sleep instruction", None)
    if gpus == 1:
        expected.pop("weak scaling", None)
        expected.pop("between GPUs", None)
        expected.pop("exchange", None)
    count = [str(gpus)] if suite.BY_NAME[name].takes_gpu_count else []
    result = run(executable, "--all", "--stats", *count, "--samples", "3", *LIMITS.get(name, ()))
    assert result.returncode == 0, result.stderr
    sections = {section.title: section for section in tsv.parse(result.stdout.encode())}
    assert list(sections) == list(expected), list(sections)
    for title, header in expected.items():
        found = sections[title].header
        assert found[:len(header)] == header and len(found) > len(header), (title, found)
        check_finite(sections[title])
    if name == "ImplicitBarrier":
        check_implicit(sections, gpus, sms, groups)
    elif name == "TestRepeat":
        check_repeat(sections, float(rows[0][2]), listed)
    elif name == "BenchmarkIntraSM":
        check_intra(sections, sms, listed)
    elif name == "Reduction":
        reduction_rows.check_reduction(sections, gpus, listed)
    elif name == "Stencil":
        check_stencil(sections, gpus, sms, groups)
    else:
        check_inter(sections, gpus)
    check_options(executable, count, gpus, listed, sms)
    if name == "Reduction":
        reduction_rows.check_sizes(lambda *arguments: run(executable, *arguments), tsv.parse)
    print(f"{name}: all rows as documented on {gpus} GPU(s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
