"""What has become of the study's conclusions, by the judges of the report's Table VIII and some
more."""

from pages.recorded import heading
from parts.suite import OLDER
from reporting.evidence import Evidence, NotMeasured
from reporting.observations import JUDGES
from reporting.section_claims import (BROKEN, CLAIMS, HOLDS, OPEN, OVER, alike, compared, of_cases,
                                      sums_alike, sums_by_launches, throughput, us)
from reporting.sheets import markdown_table
from reporting.study import Study
from reporting.study_tables import SUMMED
from reporting.switch_model import predicted

VERDICTS = {"holds": HOLDS, "works here": HOLDS, "holds in part": BROKEN, "does not hold": OVER,
            "does not work here": OVER, "not measured": OPEN}
WORST_FIRST = (OPEN, OVER, BROKEN, HOLDS)  # of a conclusion with two judges


def figure_8(study, gpus, *shapes):
    """µs on V100, of (blocks per SM, threads)."""
    rows = {(row["gpus"], row["blocks_per_SM"], row["threads"]): row["latency_us"]
            for row in study.figures["8"]}
    return ", ".join(rows[(gpus, *shape)] for shape in shapes)


def block_cycles(study):
    one = study.value("II", "latency_cycles", gpu="V100", type="block")
    five = study.number("IV", "sync_cycles", gpu="V100", basic="32")
    return f"{one} and {five / 5:g} cycles"  # Table IV: of five barriers


def sums_in_a_warp(study):
    return " and ".join(study.value("V", "latency_cycles", gpu="V100", sum=name)
                        for name in ("tile shuffle", "tile")) + " cycles of double"


def limits(study):
    return " and ".join(f"{study.number('VIII', column, id='gpus_acceptable'):g} times"
                        for column in ("times_fastest", "times_slowest"))


# Of Table VIII's: section, what it says, its numbers, judges. Where it has no numbers in its
# text, which picture has them.
OF_TABLE_8 = (
    ("V-B", "Block barriers take longer with more warps", block_cycles, ("block_warps",)),
    ("V-C", "Blocks per SM move the grid barrier more than threads do",
     lambda study: "Figure 5, a picture", ("grid_blocks",)),
    ("V-C", "A grid barrier is acceptable with up to 2 blocks per SM",
     lambda study: f"at most {study.number('VIII', 'more_us', id='grid_two_blocks'):g} µs more than a launch",
     ("grid_two_blocks",)),
    ("VI-C", "Blocks and warps both move the multi-grid barrier",
     lambda study: f"2 GPUs: {figure_8(study, '2', ('1', '32'), ('32', '32'), ('1', '1024'))} µs",
     ("gpus_both",)),
    ("VI-C", "With 8 blocks and 1024 threads per SM at most, it is within 2 times the fastest and "
     "half of the slowest", limits, ("gpus_acceptable",)),
    ("VI-D", "CPU threads are slightly faster than the multi-grid barrier on many GPUs",
     lambda study: f"8 GPUs: barrier {figure_8(study, '8', ('1', '1024'))} µs, about 16 µs more",
     ("implicit_gpus",)),
    ("VII-C", "Shuffles sum 32 values fastest", sums_in_a_warp, ("warp_shuffle",)),
    ("VII-E", "Sums on several GPUs are slightly faster by CPU threads than by the multi-grid "
     "barrier", lambda study: "Figure 16, a picture", ("implicit_few_steps",)),
    ("VIII-A, B", "Warp barriers make lanes wait since Volta; only parts of grids that skip a "
     "barrier hang", lambda study: "Figure 18, a picture", ("warp_holds", "grid_part")))


def tile_size(rows):
    """Of the older toolkit: a newer one leaves nothing of this barrier."""
    one, half = (rows.in_a_warp("tile_sync", tile, OLDER).mean for tile in ("1", "16"))
    known = rows.study.value("II", "latency_cycles", gpu="V100", type="tile")
    return HOLDS if alike(one, half) else OVER, f"{known} cycles for every size", (
        f"CUDA 11.8: {one:.0f} cycles for 1 lane, {half:.0f} for 16; CUDA 13.0: nothing is left")


def whole_coalesced(rows):
    whole, half = (rows.in_a_warp("coales_sync", tile, OLDER) for tile in ("32", "16"))
    known = (rows.study.value("II", "latency_cycles", gpu="V100", type="coalesced", group=group)
             for group in ("32", "1-31"))
    return of_cases([compared(whole, half)]), "{} and {} cycles".format(*known), (
        f"CUDA 11.8: {whole.mean:.0f} and {half.mean:.0f}; CUDA 13.0: nothing is left")


def model(rows):
    loops = rows.run.section("Reduction", "shared memory")
    found = [(predicted(loops, row).bytes, float(row["measured"])) for row in (
        rows.row("Reduction", "switching points", type=SUMMED, basic=basic, cost="barriers")
        for basic in ("1", "32"))]
    return HOLDS if all(alike(*sizes) for sizes in found) else BROKEN, "they are correct", "; ".join(
        "{:,.0f} B predicted, {:,.0f} measured".format(*sizes) for sizes in found)


def older_alike(rows):
    verdict, theirs, ours = sums_alike(rows, ("tile", "coalesced"), OLDER)
    return verdict, theirs, f"CUDA 11.8: {ours}"


def null_kernels(rows):
    null = rows.value("ImplicitBarrier", "null kernel", "addl", method="traditional_launch",
                      GPUCount="1", rep="128", thrd="1024")
    return of_cases([compared(rows.launch("traditional_launch", 1), null)]), "about 3 µs", (
        f"{us(null)} µs")


def clocks_agree(rows):
    cycles = [rows.value("TestRepeat", "method validation", "ave_cycle", method="float_add", rep=rep).mean
              for rep in ("512", "1048576")]
    return HOLDS if max(cycles) < 1.01 * min(cycles) else BROKEN, "4 cycles by both", (
        "{:.3f} cycles by the SM's clock, {:.3f} by the CPU's".format(*cycles))


def beside_cub(rows):
    sums, cub = (rows.sums("Reduction", "one GPU", method, 1) for method in ("implicit", "cub"))
    size = max(sums.keys() & cub.keys())
    rates = sums[size].mean, cub[size].mean
    return HOLDS if alike(*rates) else BROKEN, "Figure 15, a picture", (
        "{:.0f} beside {:.0f} GB/s at {} GiB".format(*rates, size >> 30))


# Beside those of the report: section, what it says, judge.
MORE = (("V-A", "The size of a tile changes neither latency nor throughput", tile_size),
        ("V-A", "A coalesced group is fastest with all 32 lanes", whole_coalesced),
        ("V-A", "The throughput of the shuffle is near the guide's",
         lambda rows: throughput(rows, "shuffle of a tile", "tile_shufl")),
        ("VII-B", "The model predicts from which size more threads pay", model),
        ("VII-C", "With an older toolkit, sums with tile and coalesced barriers cost the same", older_alike),
        ("VII-D", "Sums of 1 GiB and more by launches are faster",
         lambda rows: sums_by_launches(rows, 2 ** 30)),
        ("VII-D", "Sums by launches are comparable to CUB", beside_cub),
        ("IX-B", "With null kernels the overhead is larger", null_kernels),
        ("IX-D", "The CPU's clock is as good as the GPU's", clocks_agree))


def judged_by(ids):
    """A judge like those of CLAIMS, of several of Table VIII."""
    def judge(rows):
        found = [JUDGES[name](rows) for name in ids]
        verdicts = [VERDICTS[verdict] for verdict, *_ in found]
        return min(verdicts, key=WORST_FIRST.index), "", "; ".join(text for _, text, _ in found)
    return judge


def judged(runs):
    """(section, what the study says, its numbers, {verdict: [(run, the study's numbers, those of
    the run)]})"""
    study = Study()
    known = [(section, text, said, judged_by(ids)) for section, text, said, ids in OF_TABLE_8]
    known += [(section, text, None, judge) for section, text, judge in (*CLAIMS, *MORE)]
    numerals = ("IV", "V", "VI", "VII", "VIII", "IX")
    for section, text, said, judge in sorted(known, key=lambda one: (
            numerals.index(one[0].partition("-")[0]), one[0])):
        found = {}
        for run in sorted(runs, key=lambda run: -run.gpus):
            try:
                verdict, theirs, ours = judge(Evidence(run, study))
                found.setdefault(verdict, []).append((run, theirs, ours))
            except NotMeasured:
                pass
        measured = {verdict: of for verdict, of in found.items() if verdict != OPEN}
        yield section, text, said and said(study), measured or found or {OPEN: []}


def machines(of):
    return ", ".join(dict.fromkeys(heading(run) for run, *_ in of)) or "–"


def verdicts(runs):
    """A line for each conclusion that does not hold in all runs; where runs differ, their verdicts."""
    return markdown_table(["Section", "The study", "Here"], 3, [
        [section, text, "; ".join(verdict + f" ({machines(of)})" * (len(found) > 1)
                                  for verdict, of in found.items())]
        for section, text, _, found in judged(runs) if set(found) != {"holds"}])


def conclusions(runs):
    """A line for each conclusion and verdict, with the numbers of the first run that gives it."""
    return markdown_table(
        ["Section", "The study", "Here", "Its numbers (V100)", "Numbers here", "GPUs"], 6,
        [[section, text, verdict, said or (of[0][1] if of else "–"), of[0][2] if of else "–", machines(of)]
         for section, text, said, found in judged(runs) for verdict, of in found.items()])
