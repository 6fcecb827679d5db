"""What has become of the study's conclusions: the table of docs/study.md, by the judges of the
report's Table VIII."""

from reporting.estimates import short_name
from reporting.evidence import Evidence, NotMeasured
from reporting.observations import JUDGES
from reporting.section_claims import BROKEN, CLAIMS, HOLDS, OPEN, OVER
from reporting.sheets import markdown_table
from reporting.study import Study

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


def judged_by(ids):
    """A judge like those of CLAIMS, of several of Table VIII."""
    def judge(rows):
        found = [JUDGES[name](rows) for name in ids]
        verdicts = [VERDICTS[verdict] for verdict, *_ in found]
        return min(verdicts, key=WORST_FIRST.index), "", "; ".join(text for _, text, _ in found)
    return judge


def order(section):
    numerals = ("IV", "V", "VI", "VII", "VIII", "IX")
    number, _, letter = section.partition("-")
    return numerals.index(number), letter


def conclusions(runs):
    """A line for each conclusion and verdict, with the numbers of the first run that gives it."""
    study = Study()
    known = [(section, text, said, judged_by(ids)) for section, text, said, ids in OF_TABLE_8]
    known += [(section, text, None, judge) for section, text, judge in CLAIMS]
    rows = []
    for section, text, said, judge in sorted(known, key=lambda one: order(one[0])):
        found = {}  # verdict -> [(run, the study's numbers, those of the run)]
        for run in sorted(runs, key=lambda run: -run.gpus):
            try:
                verdict, theirs, ours = judge(Evidence(run, study, judging_only=True))
                found.setdefault(verdict, []).append((run, theirs, ours))
            except NotMeasured:
                pass
        measured = {verdict: of for verdict, of in found.items() if verdict != OPEN}
        for verdict, of in (measured or found or {OPEN: []}).items():
            theirs, ours = of[0][1:] if of else ("–", "–")
            rows.append([section, text, verdict, said(study) if said else theirs, ours, ", ".join(
                dict.fromkeys(f"{run.gpus} {short_name(run)}" for run, *_ in of)) or "–"])
    return markdown_table(["Section", "The study", "Here", "Its numbers (V100)", "Numbers here",
                           "GPUs"], 6, rows)
