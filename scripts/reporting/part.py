"""A run with all that report.py says of it."""

from pathlib import Path

from parts import suite, tsv
from reporting.barrier_steps import lines_of_tsv
from reporting.charts import charts_of
from reporting.headline_sheets import headline_sheet
from reporting.known_spread import Known
from reporting.observations import table_8, table_8b
from reporting.run_warnings import warned
from reporting.study_tables import MAKERS
from reporting.verdict import Verdict


class Part:
    """tables: I to VIII b; observations: of table_8() and table_8b(); verdict: of
    class Verdict, which explains what is taken from it; charts: of charts.charts_of(); headline: a Sheet."""

    def __init__(self, run, study, recorded, name):
        self.run, self.name = run, name
        summaries, observations = zip(table_8(run, study), table_8b(run, study))
        self.observations = sum(observations, [])
        self.tables = [*(make(run, study) for make in MAKERS), *summaries]
        self.verdict = found = Verdict(run, recorded)
        self.recorded = found.runs
        self.normal, self.lacking, self.outcomes = found.rows, found.lacking, found.outcomes
        self.moved, self.known = found.moved, Known(run, found.runs, found.moved)
        self.warned = warned(run)
        self.barrier_steps = list(lines_of_tsv(run))
        self.charts = charts_of(run, study)
        self.headline = headline_sheet(self, study, self.recorded)

    def path_of(self, chart):
        """Of its files, without the ending."""
        return Path("figures") / self.name / chart.name

    def pictured(self):
        """(chart, path) of the charts that the run has anything of."""
        return [(chart, self.path_of(chart))
                for chart in self.charts if chart.measured()]

    def absent(self):
        """What the folder lacks, a text each; nothing of a run of some methods."""
        if "methods" in self.run.environment:
            return
        for file in tsv.FILES:
            if file not in self.run.files and file.split(".")[0] not in suite.LATER:
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
            return "There is no recorded run of this kind of GPU to compare with."
        measured = " They were measured, this run is simulated." * self.run.simulated
        return f"Compared with the recorded runs of the same kind of GPU: {names}.{measured}"
