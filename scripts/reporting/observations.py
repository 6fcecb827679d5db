"""Table VIII of the study for a run: which of its observations still hold, from rows alone."""

import tsv
from reporting.figures import Line, Table, source_of

HANGS = "no progress"
AFFECTS = 1.1  # by this factor or more


class NotMeasured(Exception):
    """Which rows are missing."""


class Rows:
    """A run's rows by what they are of, and a note of which were used."""

    def __init__(self, run):
        self.run, self.sources = run, []

    def number(self, file, title, column, **cells):
        section = self.run.section(file, title)
        row = section.find(**cells)
        if row is None or row[column] == "nan":
            what = ", ".join(f"{key} {cell}" for key, cell in cells.items())
            raise NotMeasured(f"no row of {file}, {title}: {what}")
        self.sources.append(source_of(section, row))
        return float(row[column])

    def outcome(self, file, method, form):
        section = self.run.section(file, "partial groups")
        row = section.find(method=method, form=form)
        if row is None:
            raise NotMeasured(f"no row of {file}, partial groups: {method}, {form}")
        self.sources.append(source_of(section, row))
        return row["outcome"]

    def grid_sync(self, blocks, threads):
        """us"""
        return self.number("BenchmarkInterSM", "grid latency", "m(avginstru)", method="grid_sync",
                           blk=str(blocks * self.run.sms), thrd=str(threads)) / 1e3

    def gpus(self):
        """(file, method, GPUs, judges) of the barriers of all GPUs of the run; at least two.
        judges: whether the study's observations are judged by it: by multi_grid_sync, which the
        study had, and by this suite's own where that was not measured."""
        found = []
        for file, method in (("BenchmarkInterSM", "peer_grid_sync"),
                             ("BenchmarkInterSM.cuda11", "multi_grid_sync"),
                             ("BenchmarkInterSM", "multi_grid_sync")):
            rows = self.run.section(file, "multi-GPU latency").find_all(method=method)
            counts = [int(row["GPUcount"]) for row in rows]
            if max(counts, default=1) > 1:
                found.append((file, method, max(counts)))
        if not found:
            raise NotMeasured("no barrier of several GPUs was measured")
        studied = any(method == "multi_grid_sync" for _, method, _ in found)
        return [(file, method, gpus, method == "multi_grid_sync" or not studied)
                for file, method, gpus in found]

    def shapes(self, file, method, gpus, *needed):
        """(blocks per SM, threads) -> us, of a barrier of so many GPUs; needed: shapes."""
        section = self.run.section(file, "multi-GPU latency")
        rows = section.find_all(method=method, GPUcount=str(gpus))
        self.sources += [source_of(section, row) for row in rows]
        us = {(int(row["blk"]) // self.run.sms, int(row["thrd"])): float(
            row["m(avginstru)"]) / 1e3 for row in rows}
        if not us.keys() >= set(needed):
            raise NotMeasured(f"not all shapes of {method} on {gpus} GPUs")
        return us


def holds(*parts):
    """The verdict of several tests."""
    if all(parts):
        return "holds"
    return "holds in part" if any(parts) else "does not hold"


def warp_holds(rows):
    section = rows.run.section("Pitfalls", "warp barrier verdict")
    tried = [row for row in section.rows if row["method"] != "no_sync"]
    if not tried:
        raise NotMeasured("no row of Pitfalls, warp barrier verdict")
    rows.sources += [source_of(section, row) for row in tried]
    held = [row["method"] for row in tried if row["blocks"] == "1"]
    verdict = "works here" if len(held) == len(tried) else "does not work here"
    return verdict, f"{len(held)} of {len(tried)} make all lanes wait: {', '.join(held) or 'none'}"


def warp_shuffle(rows):
    tile, shuffle = (rows.number("Reduction", "warp level", "m(ave_cycle)", method=method,
                                 type="double") for method in ("tile", "tile_shuffle"))
    return holds(shuffle < tile), (f"sum of 32 doubles: {shuffle:g} cycles by shuffles of a tile, "
                                   f"{tile:g} by its barrier")


def block_warps(rows):
    one, all_ = (rows.number("BenchmarkIntraSM", "block latency", "m(ave_cycle)",
                             method="blocksync", thrd=threads) for threads in ("32", "1024"))
    return holds(all_ >= AFFECTS * one), f"{one:g} cycles with 1 warp, {all_:g} with 32"


def grid_blocks(rows):
    one, blocks, threads = (rows.grid_sync(*shape) for shape in ((1, 32), (32, 32), (1, 1024)))
    return holds(blocks > threads), (f"from {one:.2f} us at 1 block/SM of 32 threads to "
                                     f"{blocks:.2f} with 32 blocks/SM, to {threads:.2f} with "
                                     "1024 threads")


def launch(rows, method, gpus):
    return rows.number("ImplicitBarrier", "sleep kernel", "m(ovh)", method=method,
                       GPUCount=str(gpus), thrd="1024") / 1e3


def grid_two_blocks(rows):
    slowest = max(rows.grid_sync(blocks, threads) for blocks in (1, 2) for threads in (32, 1024))
    one_launch = launch(rows, "traditional_launch", 1)
    return holds(slowest - one_launch <= 2.5), (
        f"at most {slowest:.2f} us up to 2 blocks/SM, one more launch {one_launch:.2f} us "
        "(the study accepts 2.5 us more)")


def partial(rows, file, methods):
    found = {(method, form): rows.outcome(file, method, form) for method in methods
             for form in ("exits early", "stays and skips")}
    return holds(*(outcome.startswith(HANGS) for outcome in found.values())), "; ".join(
        f"{method}, {form}: {outcome}" for (method, form), outcome in found.items())


def grid_part(rows):
    return partial(rows, "Pitfalls", ["part_grid_sync"])


def gpus_part(rows):
    names = ["part_multi_grid_blocks", "part_multi_grid_gpus"]
    file = next((file for file in tsv.PITFALLS if any(
        row["method"] in names for row in rows.run.section(file, "partial groups").rows)), None)
    if file is None:
        raise NotMeasured("no row of Pitfalls, partial groups, of a multi-grid (it needs a "
                          "toolkit before CUDA 13)")
    present = {row["method"] for row in rows.run.section(file, "partial groups").rows}
    return partial(rows, file, [name for name in names if name in present])


def gpus_both(rows):
    verdicts, texts = [], []
    for file, method, gpus, judges in rows.gpus():
        us = rows.shapes(file, method, gpus, (1, 32), (32, 32), (1, 1024))
        if judges:
            verdicts += [us[shape] >= AFFECTS * us[1, 32] for shape in ((32, 32), (1, 1024))]
        texts.append(f"{method} on {gpus} GPUs: {us[1, 32]:.2f} us at 1 block/SM of 32 threads, "
                     f"{us[32, 32]:.2f} with 32 blocks/SM, {us[1, 1024]:.2f} with 1024 threads")
    return holds(*verdicts), "; ".join(texts)


def gpus_acceptable(rows):
    verdicts, texts = [], []
    for file, method, gpus, judges in rows.gpus():
        us = rows.shapes(file, method, gpus, (1, 32), (32, 64))
        worst = max(value for (blocks, threads), value in us.items()
                    if blocks <= 8 and blocks * threads <= 1024)
        if judges:
            verdicts += [worst <= 2 * us[1, 32], 2 * worst <= us[32, 64]]
        texts.append(f"{method} on {gpus} GPUs: there at most {worst:.2f} us, the fastest "
                     f"{us[1, 32]:.2f}, the slowest {us[32, 64]:.2f}")
    return holds(*verdicts), "; ".join(texts) + (
        " (the study: at most 2 times the fastest, at most half of the slowest)")


def implicit_one_gpu(rows):
    one_launch, barrier = launch(rows, "traditional_launch", 1), rows.grid_sync(1, 1024)
    verdicts = [one_launch < barrier]
    text = f"one more launch {one_launch:.2f} us, grid_sync at 1 x 1024 {barrier:.2f} us"
    section = rows.run.section("Reduction", "one GPU")
    rates = {method: {int(row["bytes"]): row
                      for row in section.find_all(method=method, type="float")}
             for method in ("implicit", "grid_sync")}
    sizes = sorted(set(rates["implicit"]) & set(rates["grid_sync"]))
    if sizes:
        rows.sources += [source_of(section, of[size]) for of in rates.values() for size in sizes]
        faster = [size for size in sizes if float(rates["implicit"][size]["m(GB/s)"])
                  > float(rates["grid_sync"][size]["m(GB/s)"])]
        verdicts += [size in faster for size in sizes]
        text += f"; sums of float: implicit is faster at {len(faster)} of {len(sizes)} sizes"
    return holds(*verdicts), text


def implicit_gpus(rows):
    verdicts, texts = [], []
    for file, method, gpus, _ in rows.gpus():
        barrier = rows.shapes(file, method, gpus).get((1, 1024))
        if barrier is None:
            raise NotMeasured(f"{method} on {gpus} GPUs at 1 x 1024")
        cpu = launch(rows, "single_omp_traditional_launch", gpus)
        verdicts.append(cpu < barrier)
        texts.append(f"on {gpus} GPUs at 1 x 1024: CPU threads {cpu:.2f} us, {method} "
                     f"{barrier:.2f} us")
    return holds(*verdicts), "; ".join(texts)


def programmability(rows):
    return "not measured", "no row can tell"


# By the names that results/ipdps20/table_8.tsv has for them.
JUDGES = {judge.__name__: judge for judge in (
    warp_holds, warp_shuffle, block_warps, grid_blocks, grid_two_blocks, grid_part, gpus_both,
    gpus_acceptable, gpus_part, implicit_one_gpu, implicit_gpus, programmability)}


def table_8(run, study):
    """The table, and for each observation (id, verdict, text, sources)."""
    table = Table("VIII", "Summary of observations, and whether they hold here",
                  ["About", "The study", "Here", "By these rows"], widths=(0.1, 0.3, 0.1, 0.4))
    judged = []
    for known in study.tables["VIII"]:
        rows = Rows(run)
        try:
            verdict, text = JUDGES[known["id"]](rows)
        except NotMeasured as missing:
            verdict, text = "not measured", str(missing)
        table.lines.append(Line((known["about"], known["observation"], verdict, text)))
        judged.append((known["id"], verdict, text, rows.sources))
    table.notes.append(f"An influence is one by a factor of {AFFECTS:g} or more. Each verdict is "
                       "computed from the rows of this run.")
    return table, judged
