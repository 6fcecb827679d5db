"""Table VIII of the study for a run: which of its observations still hold, from rows alone."""

import tsv
from reporting.evidence import Evidence, NotMeasured, is_less
from reporting.figures import Line, Table, source_of

HANGS = "no progress"
AFFECTS = 1.1  # by this factor or more
MANY_GPUS = 6  # from which on the study's multi-grid barrier is slow (Figures 8 and 9)


def holds(*parts):
    """The verdict of several tests."""
    if all(parts):
        return "holds"
    return "holds in part" if any(parts) else "does not hold"


def us(mean):
    """Of ns."""
    return f"{mean.value / 1e3:.2f} us"


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
    tile, shuffle = (rows.mean("Reduction", "warp level", "ave_cycle", method=method,
                               type="double") for method in ("tile", "tile_shuffle"))
    return holds(is_less(shuffle, tile)), (
        f"sum of 32 doubles: {shuffle.value:g} cycles by shuffles of a tile, "
        f"{tile.value:g} by its barrier")


def block_warps(rows):
    one, all_ = (rows.mean("BenchmarkIntraSM", "block latency", "ave_cycle", method="blocksync",
                           thrd=threads).value for threads in ("32", "1024"))
    return holds(all_ >= AFFECTS * one), f"{one:g} cycles with 1 warp, {all_:g} with 32"


def grid_blocks(rows):
    one, blocks, threads = (rows.grid_sync(*shape) for shape in ((1, 32), (32, 32), (1, 1024)))
    return holds(is_less(threads, blocks)), (
        f"from {us(one)} at 1 block/SM of 32 threads to {us(blocks)} with 32 blocks/SM, to "
        f"{us(threads)} with 1024 threads")


def grid_two_blocks(rows):
    slowest = max(rows.grid_sync(blocks, threads) for blocks in (1, 2) for threads in (32, 1024))
    one_launch = rows.launch("traditional_launch", 1)
    return holds(slowest.value - one_launch.value <= 2500), (
        f"at most {us(slowest)} up to 2 blocks/SM, one more launch {us(one_launch)} "
        "(the study accepts 2.5 us more)")


def partial(rows, file, methods):
    found = {(method, form): rows.row(file, "partial groups", method=method, form=form)["outcome"]
             for method in methods for form in ("exits early", "stays and skips")}
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
    return worst / of[1, 32], worst / of[32, 64]


def gpus_acceptable(rows):
    verdicts, texts = [], []
    for file, method, gpus, judges in rows.gpus():
        of_fastest, of_slowest = ratios(rows.shapes(file, method, gpus, (1, 32), (32, 64)))
        if judges:
            verdicts += [of_fastest <= 2, of_slowest <= 0.5]
        texts.append(f"{method} on {gpus} GPUs: at most {of_fastest:.2f} times the fastest and "
                     f"{of_slowest:.2f} times the slowest")
    known = rows.studied_shapes(gpus)
    if known:
        texts.append("the study's own V100s, {} GPUs: {:.2f} and {:.2f}".format(
            gpus, *ratios(known)))
    return holds(*verdicts), "; ".join(texts) + " (the study says at most 2 and 0.5)"


def faster_sums(one, other, what):
    """(whether some are faster, and each not slower, sentence) of the sizes that both have."""
    sizes = one.keys() & other.keys()
    faster = sum(is_less(other[size], one[size]) for size in sizes)
    slower = [is_less(one[size], other[size]) for size in sizes]
    return [faster > 0, *(not each for each in slower)], (
        f"{what}: faster at {faster} of {len(sizes)} sizes, slower at {sum(slower)}")


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
    verdicts, texts = [], []
    for file, method, gpus, judges in rows.gpus():
        barrier = rows.mean(file, "multi-GPU latency", "avginstru", method=method,
                            GPUcount=str(gpus), blk=str(rows.run.sms), thrd="1024")
        cpu = rows.launch("single_omp_traditional_launch", gpus)
        if judges:
            verdicts.append(is_less(cpu, barrier))
        texts.append(f"on {gpus} GPUs at 1 x 1024: CPU threads {us(cpu)}, {method} {us(barrier)}")
    text = "; ".join(texts)
    if gpus < MANY_GPUS:
        return "not measured", f"{MANY_GPUS} GPUs are many to the study; {text}"
    return holds(*verdicts), text


def implicit_few_steps(rows):
    """A sum of an array on several GPUs has one barrier of them all."""
    verdicts, texts = [], []
    for file, method, gpus, judges in rows.gpus():
        implicit = rows.sums("Reduction", "strong scaling", "implicit_multi", gpus)
        explicit = rows.sums(file.replace("BenchmarkInterSM", "Reduction"), "strong scaling",
                             method[:-len("_sync")], gpus)
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
                  ["About", "The study", "Here", "By these rows"], widths=(0.1, 0.3, 0.1, 0.4))
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
