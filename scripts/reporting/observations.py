"""Table VIII of the study for a run: which of its observations still hold, from rows alone."""

import tsv
from reporting.evidence import Evidence, NotMeasured, is_less
from reporting.figures import Line, Table, source_of

HANGS = "no progress"
AFFECTS = 1.1  # by this factor or more
MANY_GPUS = 6  # from which on the study's multi-grid barrier is slow (Figures 8 and 9)
SMALL_GROUPS = ("part_syncwarp", "part_tile_sync", "part_coales_sync", "part_blocksync")
FORMS = ("exits early", "stays and skips")  # in which a part of a group does not come


def holds(*parts):
    """The verdict of several tests."""
    if all(parts):
        return "holds"
    return "holds in part" if any(parts) else "does not hold"


def us(value):
    """Of ns."""
    return f"{value.mean / 1e3:.2f} us"


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
    verdicts, texts = [], []
    for kind in ("double", "float", "int"):
        tile, shuffle = (rows.value("Reduction", "warp level", "ave_cycle", method=method,
                                    type=kind) for method in ("tile", "tile_shuffle"))
        verdicts.append(is_less(shuffle, tile))
        texts.append(f"{shuffle.mean:g} and {tile.mean:g} of {kind}")
    return holds(*verdicts), ("cycles of a sum of 32 by shuffles of a tile and by its barrier: "
                              + ", ".join(texts))


def block_warps(rows):
    one, all_ = (rows.value("BenchmarkIntraSM", "block latency", "ave_cycle", method="blocksync",
                            thrd=threads).mean for threads in ("32", "1024"))
    return holds(all_ >= AFFECTS * one), f"{one:g} cycles with 1 warp, {all_:g} with 32"


def grid_blocks(rows):
    one, blocks, threads = (rows.grid_sync(*shape) for shape in ((1, 32), (32, 32), (1, 1024)))
    return holds(blocks.mean >= AFFECTS * threads.mean), (
        f"from {us(one)} at 1 block/SM of 32 threads to {us(blocks)} with 32 blocks/SM, to "
        f"{us(threads)} with 1024 threads")


def grid_two_blocks(rows):
    slowest = max((rows.grid_sync(blocks, threads) for blocks in (1, 2) for threads in (32, 1024)),
                  key=lambda value: value.mean)
    one_launch = rows.launch("traditional_launch", 1)
    return holds(slowest.mean - one_launch.mean <= 2500), (
        f"at most {us(slowest)} up to 2 blocks/SM, one more launch {us(one_launch)} "
        "(the study accepts 2.5 us more)")


def outcomes(rows, file, methods):
    """method -> outcomes of FORMS"""
    return {method: [rows.row(file, "partial groups", method=method, form=form)["outcome"]
                     for form in FORMS] for method in methods}


def hanging(found):
    return [outcome.startswith(HANGS) for both in found.values() for outcome in both]


def listed(found):
    return f"a part {' / '.join(FORMS)}: " + "; ".join(
        f"{method}: {' / '.join(both)}" for method, both in found.items())


def hangs_alone(rows, file, methods):
    """The study's "only": these hang, and of a warp or a block a part does no harm."""
    found = outcomes(rows, file, methods)
    smaller = outcomes(rows, "Pitfalls", SMALL_GROUPS)
    return holds(*hanging(found), not any(hanging(smaller))), listed({**found, **smaller})


def grid_part(rows):
    return hangs_alone(rows, "Pitfalls", ["part_grid_sync"])


def gpus_part(rows):
    file = next((file for file in tsv.PITFALLS if rows.run.section(
        file, "partial groups").find(method="part_multi_grid_gpus")), None)
    if file is None:
        raise NotMeasured("no row of Pitfalls, partial groups: part_multi_grid_gpus (it needs two "
                          "GPUs and a toolkit before CUDA 13)")
    return hangs_alone(rows, file, ("part_multi_grid_blocks", "part_multi_grid_gpus"))


def gpus_both(rows):
    verdicts, texts = [], []
    for file, method, gpus, judges in rows.gpus():
        of = rows.shapes(file, method, gpus, (1, 32), (32, 32), (1, 1024))
        if judges:
            verdicts += [of[shape] >= AFFECTS * of[1, 32] for shape in ((32, 32), (1, 1024))]
        texts.append(f"{method} on {gpus} GPUs: {of[1, 32]:.2f} us at 1 block/SM of 32 threads, "
                     f"{of[32, 32]:.2f} with 32 blocks/SM, {of[1, 1024]:.2f} with 1024 threads")
    return holds(*verdicts), "; ".join(texts)


def ratios(of):
    """The slowest of up to 8 blocks/SM and 1024 threads/SM, as a multiple of the fastest shape
    and of the slowest one."""
    worst = max(value for (blocks, threads), value in of.items()
                if blocks <= 8 and blocks * threads <= 1024)
    return worst / min(of.values()), worst / max(of.values())


def gpus_acceptable(rows):
    """Beside what the study says and, as it goes beyond, beside its own GPUs."""
    known = [ratios(shapes) for shapes in rows.studied_shapes()]
    most, least = (max(limit, *side) for limit, side in zip((2, 0.5), zip(*known)))
    verdicts, texts = [], []
    for file, method, gpus, judges in rows.gpus():
        of_fastest, of_slowest = ratios(rows.shapes(file, method, gpus, (1, 32), (32, 64)))
        if judges:
            verdicts += [of_fastest <= most, of_slowest <= least]
        texts.append(f"{method} on {gpus} GPUs: at most {of_fastest:.2f} times the fastest and "
                     f"{of_slowest:.2f} times the slowest")
    return holds(*verdicts), "; ".join(texts) + (
        " (the study says at most 2 and 0.5, its own GPUs have up to {:.2f} and {:.2f})".format(
            *map(max, zip(*known))))


def times_as_fast(rates):
    """" (1.020 to 1.250 times as fast)": the range, "" of none."""
    if not rates:
        return ""
    shown = dict.fromkeys(f"{edge:.3f}" for edge in (min(rates), max(rates)))
    return f" ({' to '.join(shown)} times as fast)"


def faster_sums(one, other, what):
    """(whether some are faster, whether besides none is slower, and a sentence) of the sizes that
    both have."""
    sizes = one.keys() & other.keys()

    def rates_where(less, more):
        return [one[size].mean / other[size].mean for size in sizes
                if is_less(less[size], more[size])]

    faster, slower = rates_where(other, one), rates_where(one, other)
    return [bool(faster), bool(faster) and not slower], (
        f"{what}: faster at {len(faster)} of {len(sizes)} sizes{times_as_fast(faster)}, slower at "
        f"{len(slower)}{times_as_fast(slower)}")


def implicit_one_gpu(rows):
    one_launch, barrier = rows.launch("traditional_launch", 1), rows.grid_sync(1, 1024)
    verdicts = [is_less(one_launch, barrier)]
    text = f"one more launch {us(one_launch)}, grid_sync at 1 x 1024 {us(barrier)}"
    implicit, explicit = (rows.sums("Reduction", "one GPU", method, 1)
                          for method in ("implicit", "grid_sync"))
    if implicit.keys() & explicit.keys():
        parts, sentence = faster_sums(implicit, explicit, "sums by launches, not by grid_sync")
        verdicts += parts
        text += f"; {sentence}"
    return holds(*verdicts), text


def implicit_gpus(rows):
    verdicts, texts, barriers = [], [], rows.gpus()
    for file, method, gpus, judges in barriers:
        barrier = rows.value(file, "multi-GPU latency", "avginstru", method=method,
                             GPUcount=str(gpus), blk=str(rows.run.sms), thrd="1024")
        cpu = rows.launch("single_omp_traditional_launch", gpus)
        if judges:
            verdicts.append(is_less(cpu, barrier))
        texts.append(f"on {gpus} GPUs at 1 x 1024: CPU threads {us(cpu)}, {method} {us(barrier)}")
    text = "; ".join(texts)
    if max(gpus for _, _, gpus, _ in barriers) < MANY_GPUS:
        return "not measured", f"{MANY_GPUS} GPUs are many to the study; {text}"
    return holds(*verdicts), text


def implicit_few_steps(rows):
    """A sum of an array on several GPUs has one barrier of them all."""
    verdicts, texts = [], []
    for file, method, gpus, judges in rows.gpus():
        implicit = rows.sums("Reduction", "strong scaling", "implicit_multi", gpus)
        explicit = rows.sums(file.replace("BenchmarkInterSM", "Reduction"), "strong scaling",
                             method.removesuffix("_sync"), gpus)
        if not implicit.keys() & explicit.keys():
            continue
        parts, sentence = faster_sums(implicit, explicit,
                                      f"sums on {gpus} GPUs by CPU threads, not by {method}")
        if judges:
            verdicts += parts
        texts.append(sentence)
    if not verdicts:
        raise NotMeasured("no sums on all GPUs by CPU threads and by such a barrier")
    return holds(*verdicts), "; ".join(texts)


def programmability(rows):
    return "not measured", "no row can tell"


# By the names that results/ipdps20/table_8.tsv has for them.
JUDGES = {judge.__name__: judge for judge in (
    warp_holds, warp_shuffle, block_warps, grid_blocks, grid_two_blocks, grid_part, gpus_both,
    gpus_acceptable, gpus_part, implicit_one_gpu, implicit_gpus, implicit_few_steps,
    programmability)}


def table_8(run, study):
    """The table, and for each observation (id, verdict, text, sources)."""
    table = Table("VIII", "Summary of observations, and whether they hold here",
                  ["About", "The study", "Here", "By these rows"], widths=(0.09, 0.26, 0.09, 0.51))
    judged = []
    for known in study.tables["VIII"]:
        rows = Evidence(run, study)
        try:
            verdict, text = JUDGES[known["id"]](rows)
        except NotMeasured as missing:
            verdict, text = "not measured", str(missing)
        table.lines.append(Line((known["about"], known["observation"], verdict, text)))
        judged.append((known["id"], verdict, text, list(dict.fromkeys(rows.sources))))
    table.notes.append(f"An influence is one by a factor of {AFFECTS:g} or more. Each verdict is "
                       "computed from the rows of this run.")
    return table, judged
