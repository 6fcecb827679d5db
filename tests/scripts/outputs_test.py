"""What scripts make of made-up rows is as in outputs.golden, letter by letter; what they make of
recorded runs, and a report beyond its page and some tables, has the sums that stand there.

  outputs_test.py --renew   writes that anew: look at the difference before you keep it
"""

import hashlib
import shutil
import sys
import unittest
from pathlib import Path

from html_page import Page
from made_up_rows import ENVIRONMENT, ROWS, ROWS_BEFORE13, ended, section
from report_support import ReportCase
from scripts_support import ROOT

from parts import tsv  # from scripts/, which scripts_support has put on the path

GOLDEN = Path(__file__).with_name("outputs.golden")
HERE = ENVIRONMENT + "driver\tmine\ncuda_toolkit\t13.0\ncuda_toolkit_before13\t11.8\n"
HERE += "sm_clock_application\t1000 MHz\n"
# Rows before others: of more shapes and kinds, wrong, less than nothing, no dearer than without.
MORE = (
    ("grid_sync\t1\t1\t9\t4224", "grid_sync 1 1 9 132 1024 1090.250 0.750 100 0.100",
     "grid_sync 1 1 9 132 64 -3.000 0.750 100 0.100", "grid_sync 1 1 9 264 32 1180.000 9.000 100 1.000"),
    ("cub\tfloat\t1\t8589934592", "read_limit float 1 8589934592 1 0 4600.000 9.000 2.000 0.500 1 9 1.000",
     "implicit float 1 2097152 1 0 400.000 9.000 2.000 0.500 0 9 1.000"),
    ("nccl_lsa_grid", "nccl_graph_unregistered 1 1 2 4 nan nan 5100.000 20.500 60 5.250",
     "nccl_graph_unregistered 1 1 2 8 nan nan 5000.000 20.500 60 5.250",
     "nccl_graph_registered 1 1 2 8 nan nan 2300.000 20.500 60 5.250",
     "peer_grid_sync 1 1 2 nan 132 1024 4444.000 20.500 60 5.250",
     "nccl_lsa_grid 1 2 2 nan 132 1024 3100.000 20.500 60 5.250",
     "mpi_launch 2 4 4 nan 132 1024 12000.000 20.500 60 5.250"),
    ("tile_sync\t1\t64\t1\t32\t1.000", "in_use_branches 1 64 1 32 9.000 0.000 32 100 0.000",
     "in_use_branches_none 1 64 1 32 9.000 0.000 32 100 0.000"))
THROUGHPUT = section(
    "throughput", "method rep blk thrd tile m(ttl_latency) m(thrput) m(diff_latency) m(diff_thrput)",
    "blocksync 8 132 32 32 80.0 0.9 40.0 1.8", "blocksync 8 264 32 32 90.0 0.8 45.0 0.7").replace(
        "blocksync", "# section[main=diff_thrput chosen=rep]\nblocksync", 1) + (
        "# note[above-limit limit=1.00000] blocksync blk=132: x\n# note[repeats] blocksync blk=132: x\n")
# What differs in the run that is recorded.
OTHERS = (("8420.000\t0.750", "7000.000\t0.750"), ("2175.500", "4175.500"), ("64.000", "64.100"),
          ("lost_updates\tright\t1000\t0", "lost_updates\tright\t1000\t1"))
LONG_NAME = "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"
OTHER_COMMIT = "# program[name=BenchmarkInterSM version=0.2.0 commit=other toolkit=13.0]\n"
COMMANDS = {"summary": ("summary.py", "here"), "csv": ("summary.py", "--csv", "here"),
            "short": ("summary.py", "--short", "here", "h200x2"),
            "compare": ("compare.py", "here", "h200x2"),
            "compare_all": ("compare.py", "h200x2", "here", "--all", "--allow", "50"),
            "check": ("check.py", "here", "--against", "h200x2"),
            "summary of few rows": ("summary.py", "few"), "compare few rows": ("compare.py", "few", "few"),
            "summary of simulated rows": ("summary.py", "simulated", "--simulated"),
            "advice": ("advise.py", "--work", "5"),
            "advice on one block": ("advise.py", "--work", "3", "--blocks", "1", "--threads", "1000"),
            "advice on an H100": ("advise.py", "--work", "5", "--gpu", "H100"),
            "advice on 2 GPUs": ("advise.py", "--work", "1", "--gpus", "2"),
            "advice on 4 GPUs": ("advise.py", "--work", "50", "--gpus", "4")}
# Of recorded runs, in results/.
RECORDED = {"summary": ("summary.py", "h200x2"), "check": ("check.py", "h200x1"),
            "check of more GPUs": ("check.py", "before/h200x4"), "check of another kind": ("check.py", "h100x1"),
            "compare": ("compare.py", "h200x1", "h200x2", "--all"),
            "compare kinds": ("compare.py", "h200x1", "h100x1")}
SHOWN = ("report.md", "tables/here/headline.tex", "tables/here/table_2.tex", "tables/here/table_8.tex",
         "tables/here/normal.tsv", "figures/here/figure_8.tsv",
         "figures/here/figure_9.tsv", "figures/here/barriers.tsv",
         "figures/here/figure_4.tsv", "figures/here/figure_5.tsv", "figures/here/figure_15.tsv")


def sum_of(text):
    return hashlib.sha256(text.encode()).hexdigest()[:8]


class OutputsTest(ReportCase):
    def outputs(self):
        """{name: text}"""
        rows = {**ROWS, **{f"{name}.before13": text for name, text in ROWS_BEFORE13.items()},
                "environment": HERE}
        for before, *new in MORE:
            new = "".join("\t".join(row.split()) + "\n" for row in new)
            rows = {name: text.replace(before, new + before, 1) for name, text in rows.items()}
        rows["BenchmarkIntraSM"] += THROUGHPUT
        self.write_run(self.folder / "here", rows)
        for old, new in OTHERS:
            rows = {name: text.replace(old, new) for name, text in rows.items()}
        self.write_run(self.folder / "h200x2", {**rows, "environment": HERE.replace("mine", "its")})
        few = {"ImplicitBarrier": ROWS["ImplicitBarrier"], "environment": ENVIRONMENT,
               "BenchmarkInterSM": OTHER_COMMIT + ended(ROWS["BenchmarkInterSM"].split("# multi-GPU")[0])}
        self.write_run(self.folder / "few", {
            name: text.replace("NVIDIA H200", LONG_NAME) for name, text in few.items()}, only=True)
        self.write_run(self.folder / "simulated", {
            name: f"{tsv.SIMULATED}\n{text}" for name, text in ROWS.items()})
        found = {name: self.said(*command) for name, command in COMMANDS.items()}
        self.report(self.folder / "here", recorded=self.folder)
        found.update((name, (self.out / name).read_text()) for name in SHOWN)
        found["others"] = self.sums(SHOWN)
        for name, *options in (("few",), ("simulated", "--simulated")):
            shutil.rmtree(self.out)
            self.report(self.folder / name, recorded=self.folder, options=options)
            found[f"report of {name}"] = self.sums()
        shutil.rmtree(self.out)
        for name in ("h100x1", "h200x2"):
            self.report(ROOT / "results" / name, recorded=self.folder)
        found["recorded"] = self.sums() + "".join(
            f"{sum_of(self.said(script, *(one if one[0] == '-' else ROOT / 'results' / one for one in rest)))}"
            f"  {name}\n" for name, (script, *rest) in RECORDED.items())
        return {name: text.replace(str(self.folder), "FOLDER") for name, text in found.items()}

    def said(self, script, *arguments):
        done = self.script(script, *arguments)
        return f"{done.stdout}{done.stderr}exit code {done.returncode}\n".replace(str(ROOT), "ROOT")

    def sums(self, shown=()):
        """A line a page, a table, and a chart's numbers; pages and tables are well formed."""
        Page((self.out / "report.html").read_text())
        for path in self.out.glob("tables/*/*.tex"):
            self.check_tex(path.read_text())
        return "".join(
            f"{sum_of(path.read_text().replace(str(self.folder), 'FOLDER'))}  {path.relative_to(self.out)}\n"
            for path in sorted(self.out.rglob("*")) if path.suffix in (".html", ".md", ".tex", ".tsv")
            and str(path.relative_to(self.out)) not in shown)

    def test_golden(self):
        found = "".join(f"==== {name}\n{text}" for name, text in self.outputs().items())
        if "--renew" in sys.argv:
            GOLDEN.write_text(found)
        self.maxDiff = None
        self.assertEqual(GOLDEN.read_text().splitlines(), found.splitlines())


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "--renew"])
