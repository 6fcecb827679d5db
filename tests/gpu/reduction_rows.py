"""What rows_test.py asks of Reduction's rows."""

import itertools

TYPES = ("int", "float", "double")
OPTIONS = ("--max-bytes", "64M")
ON_GPU = ("method type GPUcount bytes inputs in_L2 m(GB/s) s(GB/s) m(host) s(host) "
          "right").split()
ON_GPUS = "method type GPUcount bytes in_L2 m(GB/s) s(GB/s) m(host) s(host) right".split()
HEADERS = {
    "warp level": "method type rep m(ave_cycle) s(ave_cycle) right".split(),
    "shared memory": ("method type thrd bytes m(cycle) s(cycle) bandwidth latency "
                      "concurrency").split(),
    "sums in shared memory": "method type thrd bytes m(cycle) s(cycle)".split(),
    "switching points": ("method type basic more cost m(sync) s(sync) measured").split(),
    "one GPU": ON_GPU,
    "strong scaling": ON_GPUS,
    "weak scaling": ON_GPUS,  # of several GPUs only
}
# That lack the barrier that they need: the sum is what it happens to be.
UNSAFE = ("nosync", "volatile")
INT_ALONE = ("redux",)
BARE_SPEED = ("theory", "read_limit")  # they sum nothing


def may_be_nan(section, row, column):
    """Columns that some rows lack."""
    if section.title == "switching points":
        return column == "measured"  # more threads may never pay
    return row["method"] == "theory" or (column == "right" and row["method"] in BARE_SPEED)


def skipped(section, method, kind=None):
    """Whether the file says why rows of the method are not there, of all types or of one."""
    return any(said.kind == "skipped" and said.method == method and
               kind in (None, said.cells.get("type", kind)) for said in section.annotations)


def check_complete(sections, gpus, listed):
    """Each method has a row of each type, size and number of GPUs, or a comment says why not."""
    one_gpu = [2 ** n for n in range(20, 27)]
    several = [2 ** 20, 2 ** 24]
    counts = range(1, gpus + 1)
    expected = {  # what a row of each method has in these columns
        "warp level": ((), [()]),
        "shared memory": (("thrd",), [(1,), (32,), (1024,)]),
        "sums in shared memory": (("thrd",), [(1,), (32,), (1024,)]),
        "switching points": (("basic", "more", "cost"), [
            (*threads, cost) for threads in ((1, 32), (32, 1024))
            for cost in ("barriers", "steps")]),
        "one GPU": (("GPUcount", "bytes"), [(1, size) for size in one_gpu]),
        "strong scaling": (("GPUcount", "bytes"), itertools.product(counts, several)),
        "weak scaling": (("GPUcount", "bytes"), [
            (n, n * size) for n in counts for size in several])}
    found = {"theory"}
    for title, section in sections.items():
        columns, points = expected[title]
        points = {tuple(map(str, point)) for point in points}
        for method in listed:
            rows = [row for row in section.rows if row["method"] == method]
            if method == "theory" or not (rows or skipped(section, method)):
                continue
            found.add(method)
            for kind in ("int",) if method in INT_ALONE else TYPES:
                measured = [tuple(row[column] for column in columns)
                            for row in rows if row["type"] == kind]
                # Sums in shared memory are of many sizes, each number of threads of its own.
                assert title == "sums in shared memory" or len(set(measured)) == len(measured)
                missing = points - set(measured)
                assert set(measured) <= points, (title, method, kind, measured)
                assert not missing or skipped(section, method, kind), (
                    title, method, kind, missing)
    assert found == set(listed), found ^ set(listed)


def check_sums(section):
    for row in section.rows:
        if row["method"] not in BARE_SPEED:
            assert row["right"] == "1", row
        if row["method"] != "theory":  # by the GPU's events a short sum is much faster
            at_host = int(row["bytes"]) / float(row["m(host)"]) * 1e-3
            assert 0.5 * at_host < float(row["m(GB/s)"]) < 30 * at_host, row


def check_one_gpu(section):
    theory, = (float(row["m(GB/s)"]) for row in section.rows if row["method"] == "theory")
    best = {}
    for row in section.rows:
        rate = float(row["m(GB/s)"])
        assert row["in_L2"] == "1" or rate < 1.05 * theory, (theory, row)
        if row["method"] not in BARE_SPEED and int(row["bytes"]) >= 2 ** 24:
            key = row["type"], row["bytes"], row["method"] == "cub"
            best[key] = max(rate, best.get(key, 0))
    for (kind, size, is_cub), rate in best.items():
        assert not is_cub or best[kind, size, False] >= 0.95 * rate, (kind, size, best)
    assert any(is_cub for _, _, is_cub in best), best


def check_warp_level(section):
    for row in section.rows:
        assert row["right"] == "1" or row["method"] in UNSAFE, row
        assert 10 < float(row["m(ave_cycle)"]) < 5000, row


def check_loops(loops):
    for kind in TYPES:
        rates = [float(row["bandwidth"]) for row in loops.rows if row["type"] == kind]
        assert 0 < rates[0] < rates[1] < rates[2], (kind, rates)
    for row in loops.rows:
        product = float(row["m(cycle)"]) * float(row["bandwidth"]) / int(row["bytes"])
        assert abs(product - 1) < 0.01, row


def check_reduction(sections, gpus, listed):
    check_complete(sections, gpus, listed)
    check_warp_level(sections["warp level"])
    check_loops(sections["shared memory"])
    check_one_gpu(sections["one GPU"])
    for title in ("one GPU", "strong scaling", "weak scaling"):
        if title in sections:
            check_sums(sections[title])


def check_sizes(run, parse):
    """Sizes that cannot be are refused before anything is measured; odd ones are summed right.
    run(*arguments): as subprocess.run(); parse: tsv.parse."""
    for arguments, message in (
            (("--min-bytes", "7"), "no whole number of elements"),
            (("--min-bytes", "12"), "of type double"),
            (("--min-bytes", "2M", "--max-bytes", "1M"), "--min-bytes is more than --max-bytes"),
            (("--max-bytes", "1048576G"), "does not fit")):
        refused = run(*arguments)
        assert refused.returncode == 2 and message in refused.stderr, refused
        assert "\nmethod\t" not in refused.stdout, refused
    for size in (4, 12, 65540):
        odd = run("--type", "int,float", "--min-bytes", str(size), "--max-bytes", str(size),
                  "--method", "implicit,grid_sync,cub,two_pass_tree,implicit_multi,peer_grid", "--samples", "2")
        assert odd.returncode == 0, odd.stderr
        rows = [row for section in parse(odd.stdout.encode()) for row in section.rows]
        assert len(rows) >= 10 and {row["right"] for row in rows} == {"1"}, odd.stdout
