"""Table VIII of the study for a run: which of its observations still hold, from rows alone.

Each judge takes Evidence and gives (verdict, what the rows say, the rule in brackets).
"""

from parts import tsv
from reporting.evidence import Evidence, NotMeasured, faster_sums, is_less
from reporting.estimates import Line, Table, shape
from reporting.section_claims import ALIKE, CLAIMS, HIDDEN, OPEN, STEADY

# This suite's choice, for the study has no such numbers: an influence is one by this factor or
# more, and so many GPUs are many, as the study's multi-grid barrier has a step there (Figure 8).
AFFECTS = 1.1
MANY_GPUS = 6
SMALL_GROUPS = ("part_syncwarp", "part_tile_sync", "part_coales_sync", "part_blocksync")
WIDTHS = (0.07, 0.24, 0.075, 0.575)
FORMS = ("exits early", "stays and skips")  # in which a part of a group does not come


def holds(*parts):
    """The verdict of several tests."""
    if all(parts):
        return "holds"
    return "holds in part" if any(parts) else "does not hold"


def holds_if(rule):
    return f" (holds if {rule})"


def us(value):
    """Of ns."""
    return f"{value.mean / 1e3:.2f} µs"


def warp_holds(rows):
    section = rows.run.section("Pitfalls", "warp barrier verdict")
    tried = [row for row in section.rows if row["method"] != "no_sync"]
    if not tried:
        raise NotMeasured("no row of Pitfalls, warp barrier verdict")
    held = [row["method"] for row in tried if row["blocks"] == "1"]
    verdict = "works here" if len(held) == len(tried) else "does not work here"
    return verdict, (f"{len(held)} of {len(tried)} make all lanes wait: "
                     f"{', '.join(held) or 'none'}"), " (works if all do)"


def warp_shuffle(rows):
    verdicts, texts = [], []
    for kind in ("double", "float", "int"):
        tile, shuffle = (rows.value("Reduction", "warp level", "ave_cycle", method=method,
                                    type=kind) for method in ("tile", "tile_shuffle"))
        verdicts.append(is_less(shuffle, tile))
        texts.append(f"{shuffle.mean:g} and {tile.mean:g} of {kind}")
    return holds(*verdicts), ("cycles of a sum of 32 by shuffles of a tile and by its barrier: "
                              + ", ".join(texts)), holds_if("shuffles take less of each type")


def block_warps(rows):
    one, all_ = (rows.value("BenchmarkIntraSM", "block latency", "ave_cycle", method="blocksync",
                            thrd=threads).mean for threads in ("32", "1024"))
    return (holds(all_ >= AFFECTS * one), f"{one:g} cycles with 1 warp, {all_:g} with 32",
            holds_if(f"that is {AFFECTS:g} times as long or more"))


def grid_blocks(rows):
    one, blocks, threads = (rows.grid_sync(*of) for of in ((1, 32), (32, 32), (1, 1024)))
    return holds(blocks.mean >= AFFECTS * threads.mean), (
        f"from {us(one)} at {shape(1, 32)} to {us(blocks)} at {shape(32, 32)}, to {us(threads)} at "
        f"{shape(1, 1024)}"), holds_if(
            f"the blocks make it {AFFECTS:g} times as long as the threads do, or more")


def grid_two_blocks(rows):
    slowest = max((rows.grid_sync(blocks, threads) for blocks in (1, 2) for threads in (32, 1024)),
                  key=lambda value: value.mean)
    one_launch = rows.launch("traditional_launch", 1)
    accepted = rows.study.number("VIII", "more_us", id="grid_two_blocks")
    return (holds(slowest.mean - one_launch.mean <= 1e3 * accepted),
            f"at most {us(slowest)} up to 2 blocks per SM, traditional_launch {us(one_launch)}",
            holds_if(f"it is at most {accepted:g} µs more, as the study accepts"))


def outcomes(rows, file, methods):
    """method -> outcomes of FORMS"""
    return {method: [rows.row(file, "partial groups", method=method, form=form)["outcome"]
                     for form in FORMS] for method in methods}


def hanging(found):
    return [tsv.outcome_of(outcome)[0] == tsv.HANGS for both in found.values() for outcome in both]


def listed(found):
    """Methods of the same outcomes together."""
    alike = {}
    for method, both in found.items():
        alike.setdefault(" / ".join(both), []).append(method)
    return f"a part {' / '.join(FORMS)}: " + "; ".join(
        f"{both}: {', '.join(methods)}" for both, methods in alike.items())


def hangs_alone(rows, file, methods):
    """The study's "only": these hang, and of a warp or a block a part does no harm."""
    found = outcomes(rows, file, methods)
    smaller = outcomes(rows, "Pitfalls", SMALL_GROUPS)
    return holds(*hanging(found), not any(hanging(smaller))), listed({**found, **smaller}), (
        holds_if("the parts of grids hang either way, and those of a warp or a block never do"))


def grid_part(rows):
    return hangs_alone(rows, "Pitfalls", ("part_grid_sync",))


def gpus_part(rows):
    file = next((file for file in tsv.PITFALLS if rows.run.section(
        file, "partial groups").find_all(method="part_multi_grid_gpus")), None)
    if file is None:
        raise NotMeasured("no row of Pitfalls, partial groups: part_multi_grid_gpus (it needs two "
                          "GPUs and a toolkit before CUDA 13)")
    return hangs_alone(rows, file, ("part_multi_grid_blocks", "part_multi_grid_gpus"))


def gpus_both(rows):
    verdicts, texts = [], []
    for file, method, gpus in rows.gpus():
        of = rows.shapes(file, method, gpus, (1, 32), (32, 32), (1, 1024))
        verdicts += [of[more] >= AFFECTS * of[1, 32] for more in ((32, 32), (1, 1024))]
        texts.append(f"{method} on {gpus} GPUs: {of[1, 32]:.2f} µs at {shape(1, 32)}, "
                     f"{of[32, 32]:.2f} at {shape(32, 32)}, {of[1, 1024]:.2f} at {shape(1, 1024)}")
    return holds(*verdicts), "; ".join(texts), holds_if(
        f"both make it {AFFECTS:g} times as long or more")


def ratios(of):
    """The slowest of up to 8 blocks/SM and 1024 threads/SM, as a multiple of the fastest shape
    and of the slowest one."""
    worst = max(value for (blocks, threads), value in of.items()
                if blocks <= 8 and blocks * threads <= 1024)
    return worst / min(of.values()), worst / max(of.values())


def gpus_acceptable(rows):
    """With the study's limits, on every number of GPUs."""
    limits = [rows.study.number("VIII", column, id="gpus_acceptable")
              for column in ("times_fastest", "times_slowest")]
    known = map(max, zip(*map(ratios, rows.studied_shapes())))
    verdicts, texts = [], []
    for file, method, most in rows.gpus():
        for gpus in range(2, most + 1):
            found = ratios(rows.shapes(file, method, gpus, (1, 32), (32, 64)))
            verdicts += [ratio <= limit for ratio, limit in zip(found, limits)]
            texts.append("{} on {} GPUs: at most {:.2f} times the fastest and {:.2f} times the "
                         "slowest shape".format(method, gpus, *found))
    return holds(*verdicts), "; ".join(texts), holds_if(
        "at most {:g} and {:g}, as the study says; its own GPUs have up to {:.2f} and "
        "{:.2f}".format(*limits, *known))


def implicit_one_gpu(rows):
    one_launch, barrier = rows.launch("traditional_launch", 1), rows.grid_sync(1, 1024)
    verdicts = [is_less(one_launch, barrier)]
    text = f"traditional_launch {us(one_launch)}, grid_sync at {shape(1, 1024)} {us(barrier)}"
    rule = "the launch takes less"
    implicit, explicit = (rows.sums("Reduction", "one GPU", method, 1)
                          for method in ("implicit", "grid_sync"))
    if implicit.keys() & explicit.keys():
        parts, sentence = faster_sums(implicit, explicit, "sums by launches, not by grid_sync")
        verdicts += parts
        text += f"; {sentence}"
        rule += ", some sums are faster by launches and none slower"
    return holds(*verdicts), text, holds_if(rule)


def implicit_gpus(rows):
    verdicts, texts, barriers = [], [], rows.gpus()
    for file, method, gpus in barriers:
        cpu = rows.launch("single_omp_traditional_launch", gpus)
        barrier = rows.barrier(file, method, gpus)
        verdicts.append(is_less(cpu, barrier))
        texts.append(f"on {gpus} GPUs at {shape(1, 1024)}: CPU threads {us(cpu)}, "
                     f"{method} {us(barrier)}")
    text, rule = "; ".join(texts), holds_if("CPU threads take less")
    if max(gpus for *_, gpus in barriers) < MANY_GPUS:
        return "not measured", f"many are {MANY_GPUS} GPUs or more; {text}", rule
    return holds(*verdicts), text, rule


def implicit_few_steps(rows):
    """A sum of an array on several GPUs has one barrier of them all."""
    verdicts, texts = [], []
    for file, method, gpus in rows.gpus(sums=True):
        implicit = rows.sums("Reduction", "strong scaling", "implicit_multi", gpus)
        explicit = rows.sums(file.replace("BenchmarkInterSM", "Reduction"), "strong scaling",
                             method.removesuffix("_sync"), gpus)
        what = f"sums on {gpus} GPUs by CPU threads, not by {method}"
        if not implicit.keys() & explicit.keys():
            raise NotMeasured(f"no {what}")
        parts, sentence = faster_sums(implicit, explicit, what)
        verdicts += parts
        texts.append(sentence)
    return holds(*verdicts), "; ".join(texts), holds_if(
        "some are faster by CPU threads and none slower")


# By the names that results/ipdps20/table_8.tsv has for them.
JUDGES = {judge.__name__: judge for judge in (
    warp_holds, warp_shuffle, block_warps, grid_blocks, grid_two_blocks, grid_part, gpus_both,
    gpus_acceptable, gpus_part, implicit_one_gpu, implicit_gpus, implicit_few_steps)}
JUDGES["programmability"] = lambda rows: ("not measured", "no row can tell", "")


def judged(run, study, table, known):
    """The table. known: (about, the study's words, judge, text of what else a judge gives, verdict where
    rows are missing) of each."""
    for about, words, judge, text_of, unknown in known:
        try:
            verdict, *texts = judge(Evidence(run, study))
            text = text_of(*texts)
        except NotMeasured as missing:
            verdict, text = unknown, str(missing)
        table.lines.append(Line((about, words, verdict, text)))
    return table


def table_8(run, study):
    table = Table("VIII", "Summary of observations, and whether they hold here",
                  ["About", "The study", "Here", "By these rows"], widths=WIDTHS)
    for known in study.tables["VIII"]:
        if known["id"] not in JUDGES:
            raise tsv.TsvError(f"{known.where}, column id: nothing judges '{known['id']}'")
    table.notes.append(
        "Each verdict is computed from the rows of this run, by the rule in brackets; in part: "
        "some of what the rule asks for is so. Less, faster and slower are by more than both 95% "
        f"intervals together. The factor of {AFFECTS:g} and the {MANY_GPUS} GPUs are this suite's "
        "choice; the other limits are the study's.")
    return judged(run, study, table, [
        (known["about"], known["observation"], JUDGES[known["id"]], "{}{}".format,
         "not measured") for known in study.tables["VIII"]])


def table_8b(run, study):
    """The same of what only sections of the study say."""
    table = Table("VIII b", "What sections of the study say, and whether it holds here",
                  ["Section", "The study", "Here", "By these rows"], widths=WIDTHS)
    table.notes.append(
        "The study has no such table. Turned over: in most cases the opposite is so; broken: in "
        "some it is not so; open: not measured. This suite's choice: alike costs differ by up to "
        f"{ALIKE:g} times, steady ones by {STEADY:g} times; a launch is hidden where it adds at "
        f"most {HIDDEN:g} times what it adds behind the longest kernels.")
    return judged(run, study, table, [
        (section, claim, judge, "the study: {}; here: {}".format, OPEN)
        for section, claim, judge in CLAIMS])
