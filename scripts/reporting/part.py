"""A run with all that report.py says of it: its blocks of the pages."""

from pathlib import Path

from parts import tsv
from reporting import charts, normal, run_warnings
from reporting.page import AllRows, Box, Filed, Fold, Heading, Items, Picture, Text
from reporting.headline import conclusions, headline_sheet
from reporting.observations import table_8, table_8b
from reporting.sheets import Sheet
from reporting.study_tables import MAKERS
from reporting.verdict import Verdict

MOST_FAULTS = 10  # that a verdict shows
SAID = {"normal": "Normal: {:,} rows compared with the recorded runs, no fault found.",
        "look": "Look: something differs from the recorded runs.",
        "broken": "Broken: much is slower than recorded, or does not work.",
        "unknown": "Unknown: nothing is wrong, but there is too little to compare with."}


class Part:
    """tables: I to VIII b; verdict: of class Verdict, which explains what is taken from it; charts: of
    charts.charts_of(); headline: a Sheet."""

    def __init__(self, run, study, recorded):
        self.run, self.name = run, run.path.resolve().name
        self.tables = [make(run, study) for make in (*MAKERS, table_8, table_8b)]
        self.verdict = found = Verdict(run, recorded)
        self.recorded = found.runs
        self.normal, self.lacking = found.rows, found.lacking
        self.charts = charts.charts_of(run, study)
        self.headline = headline_sheet(self, study, self.recorded)

    def path_of(self, chart):
        """Of its files, without the ending."""
        return Path("figures") / self.name / chart.name

    def absent(self):
        """What the folder lacks, a text each; nothing of a run of some methods."""
        if "methods" in self.run.environment:
            return
        for file in tsv.FILES:
            if file not in self.run.files:
                yield f"{file}.tsv"
        for table in self.tables:
            if not table.measured():
                yield f"Table {table.number}"
        several = self.run.environment.get("gpu_count") != "1"
        for chart in self.charts:
            if not chart.measured() and (several or not chart.several):
                yield chart.label or f"chart of {chart.name.replace('_', ' ')}"

    def reference(self):
        """What the rows are compared with, in a sentence."""
        names = ", ".join(other.path.name for other in self.recorded)
        if not self.recorded:
            return ("A simulated run is not compared with recorded ones." if self.run.simulated else
                    "There is no recorded run of this kind of GPU to compare with.")
        return f"Compared with the recorded runs of the same kind of GPU: {names}."


def verdict_box(part):
    """What check.py says of the run."""
    found = part.verdict
    items = [fault.text for fault in found.faults[:MOST_FAULTS]]
    items += [f"and {len(found.faults) - MOST_FAULTS} more"] * (len(found.faults) > MOST_FAULTS)
    return Box(found.level, part.run.mark + SAID[found.level].format(found.judged), items,
               (f"{part.name}-normal", "Row by row"))


def filed(part, sheet, name):
    """Its title without what it was measured with, which the page says once."""
    gpu = part.run.environment.get("gpu", "unknown")
    sheet.title = sheet.title.partition(f". {gpu} x ")[0]
    return Filed(sheet, Path("tables") / part.name / name)


def run_blocks(part, pictures):
    """All that the pages say of a run."""
    run, name, mark, label = part.run, part.name, part.run.mark, part.run.environment.get("label")

    def fold(what, blocks, is_open=False):
        return Fold(mark + what, f"{name}-{what.split()[-1].rstrip('?').lower()}", list(blocks), is_open)

    yield Heading(2, mark + name + (f" ({label})" if label and label != name else ""), name)
    yield Text(" ".join((f"{run.about()}.", *run.doubts())))
    if run.partial:
        yield Text("An interrupted run: not everything was measured.", note=True)
    yield verdict_box(part)
    said = conclusions(run)
    if said:
        yield Items([mark + sentence for sentence in said])
    yield filed(part, part.headline, "headline")
    absent = list(part.absent())
    if absent:
        yield Text(f"Not in this run: {', '.join(absent)}.", note=True)
    yield fold("The study's tables", (
        filed(part, table.sheet(run), f"table_{place}")
        for place, table in enumerate(part.tables, 1) if table.measured()), True)
    yield fold("Figures", (
        *(Text(sentence, note=True) for sentence in charts.not_shown(part.charts, pictures)),
        *(Picture(chart, part.path_of(chart)) for chart in part.charts if chart.measured())), True)
    names = [name, *(other.path.name for other in part.recorded)]
    differences = Sheet(f"{mark}What differs between these machines", len(names) + 1, ["", *names],
                        rows=normal.environment_differences(run, part.recorded))
    yield fold("Is it normal?", [Text(part.reference()), *[differences] * bool(differences.rows)],
               True)
    yield fold("Warnings", [Text(f"{run_warnings.count(run)} in all."), Items(list(run_warnings.joined(run)))])
    yield fold("Environment", [Sheet(f"{mark}What {name} was measured with", 2, ("Key", "Value"),
                                     rows=run.environment.items())])
    head, *rows = [line.split("\t") for line in normal.lines_of_tsv(part)
                   if not line.startswith("#")]
    yield fold("All rows", [Text(normal.HOW), AllRows(head, rows, Path("tables") / name / "normal.tsv")])
