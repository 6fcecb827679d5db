"""Tests of check.py and its verdict: healthy machines are normal, planted faults are found."""

import contextlib
import copy
import functools
import io
import itertools
import re
import tarfile
import unittest
from types import SimpleNamespace
from unittest import mock

from made_up_rows import LIBRARY, ended
from made_up_rows import section as made_up_section
from report_support import copy_of
from scripts_support import ROOT, ScriptsTest

import check  # from scripts/, which scripts_support has put on the path
from parts import tsv
from pages import healthy_pairs
from reporting import bounds, normal, stale
from reporting.bounds import GROUP_NAMES as NAMES, group_of
from reporting.verdict import Verdict

TIME = re.compile(r"(m|s|med|ci95)\((?!clk)")
CAPPED = r"; warnings of an SM clock lowered for power: [1-9]\d*\n$"


@functools.lru_cache(maxsize=None)
def recorded_runs():
    return normal.recorded_runs(ROOT / "results")


def changed_run(name, change=None, programs=(), **environment):
    """A recorded run of another day, or these programs of it, changed in memory. change(program,
    section, cells by column) may change the cells of each row, or take all: then the row is not there."""
    run = copy.copy(next(run for run in recorded_runs() if run.path.name == name))
    run.environment = {**run.environment, "date_utc": "later", **environment}
    run.files = {file: changed_output(file.split(".")[0], output, change)
                 for file, output in run.files.items() if not programs or file.split(".")[0] in programs}
    return run


def changed_output(program, output, change):
    result = copy.copy(output)
    result[:] = map(copy.copy, output)
    for section in result:
        rows = [tsv.Row(row, row.values(), row.where, row.section) for row in section.rows]
        for cells in rows if change else ():
            change(program, section.title, cells)
        section.rows = [row for row in rows if row]
    return result


def scaled(cells, factor):
    """Its times, and all that belongs to them."""
    for column, text in cells.items():
        if TIME.match(column) and re.fullmatch(r"-?[\d.]+", text):
            cells[column] = "{:.{}f}".format(float(text) * factor, len(text.partition(".")[2]))


def each(do, program=None, title=None, **where):
    """A change of the rows that have one of these cells, of a program's or of a section's."""
    def change(file, section, cells):
        if program in (None, file) and title in (None, section) and all(
                cells.get(column) in values for column, values in where.items()):
            do(cells)
    return change


def slower(factor, *of, **where):
    return each(lambda cells: scaled(cells, factor), *of, **where)


def lost(title, **where):
    return each(dict.clear, None, title, **where)


def given(**new):
    """In columns that the row has."""
    return lambda cells: cells.update({name: new[name] for name in new.keys() & cells.keys()})


def wrong_steps(cells):
    """Of a size that nobody has recorded."""
    cells.update(right="0", cells=str(int(cells["cells"]) + 4))


def at_clock(mhz, factor, of_cycles=False):
    """A row whose times are so many times as long, cycles only on request."""
    def do(cells):
        if cells.get("clock", "nan") != "nan":
            cells["clock"] = mhz
            if of_cycles or "cycle" not in "".join(cells):
                scaled(cells, factor)
    return do


def noisy(cells):
    """Its interval reaches the recorded means, its median does not."""
    scaled(cells, 3)
    cells["ci95(avginstru)"] = "9999.000"


def busy(factor):
    """Of a host that widens means. Medians tell whether more is wrong."""
    def do(cells):
        scaled(cells, factor)
        for column, text in cells.items():
            if column.startswith(("m(", "ci95(")) and text != "nan":
                cells[column] = f"{float(text) * (1.3 if column[0] == 'm' else 900):.3f}"
    return do


def without_value(cells):
    cells.update({column: "nan" for column in cells if TIME.match(column)})


GRID = {"title": "grid latency", "method": ("grid_sync",)}
OF_GRID = "grid_sync (BenchmarkInterSM, grid latency): "
HOST = {"title": "workload test", "method": ("single_omp_traditional_launch",)}


def with_heads(run, old, new, files=None):
    """A run whose files, or these, say something else of what measured."""
    for name in files or run.files:
        path = run.path / f"{name}.tsv"
        head = path.read_text().partition("\nmethod\t")[0] + "\n"
        run.files[name].annotations = tsv.parse(re.sub(old, new, head).encode(), path).annotations
    return run


class CheckTest(ScriptsTest):
    def check(self, run, code):
        """What check.py says of a run, or of a folder. code: None for any."""
        if not isinstance(run, tsv.Run):
            run = tsv.Run(run)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            found = check.show([("", Verdict(run, recorded_runs()), [])])
        self.assertIn(found, (0, 1, 2, 4) if code is None else (code,), said.getvalue())
        return said.getvalue()

    def test_recorded_runs_are_normal(self):
        """Those of other numbers and kinds of GPUs are in outputs.golden."""
        self.assertRegex(self.check(ROOT / "results/h200x2", 0),
                         r"^normal: [\d,]+ rows judged, \d+ not, for no recorded run has precise ones, "
                         r"or their code has changed since \(peer_grid_sync\)\n$")

    def check_changes(self, name, *cases):
        """cases: a change of a recorded run, the exit code, what is said."""
        for change, code, said in cases:
            with self.subTest(said=said):
                self.assertIn(said, self.check(changed_run(name, change), code))

    def test_wrong_results_lost_rows_and_clocks(self):
        self.check_changes(
            "h200x2", (None, 0, "normal: "),
            (each(wrong_steps, "Stencil", right=("1",)), 2, "broken: 152 wrong results (Stencil)"),
            (lost("time steps 2D", GPUcount=("2",)), 1, "rows are missing (Stencil, time steps 2D)"))
        self.check_changes(
            "h200x1",
            (each(given(right="0"), method=("grid_sync",), right=("1",)), 2,
             "broken: 48 wrong results (Reduction)"),
            (each(given(wrong="9"), "Pitfalls", form=("right",)), 2,
             "broken: 8 right programs have wrong results (Pitfalls): lost_updates"),
            (each(given(outcome="no progress within 1 s"), "Pitfalls", method=("part_grid_sync",),
                  form=("as allowed",)), 1, "look: 1 right programs do not end as recorded "
             "(Pitfalls): part_grid_sync: no progress within 1 s"),
            (lost(**GRID), 1,
             "look: 26 rows are missing (BenchmarkInterSM, grid latency): grid_sync"),
            (each(at_clock("1410.0", 1980 / 1410)), 2,
             "broken: SM clock 1,410 MHz, recorded 1,980 MHz\n"),
            # It explains no times that are as much longer.
            (each(at_clock("990.0", 2, of_cycles=True), "BenchmarkInterSM"), 2,
             "broken: SM clock 990 MHz (BenchmarkInterSM"))

    def test_few_rows_and_busy_hosts(self):
        self.check_changes(
            "h200x1", (slower(10, blk=("2112", "4224"), **GRID), 2, "broken: " + OF_GRID),
            (slower(10, blk=("4224",), **GRID), 1, f"look: {OF_GRID}866% slower (2 of 26 "),
            (slower(1.5, blk=("4224",), **GRID), 1, f"look: {OF_GRID}45% slower (2 of 26 "),
            (slower(1.1, blk=("4224",), **GRID), 0, "normal: "),
            (slower(1.25, blk=("4224",), **GRID), 1, f"look: {OF_GRID}21% slower (2 of 26 "),
            (slower(1.27, blk=("4224",), thrd=("32",), **GRID), 0, "normal: "),
            (slower(1.35, blk=("4224",), thrd=("32",), **GRID), 1,
             f"look: {OF_GRID}30% slower (1 of 26 "),
            (slower(1.22, title="warp latency", method=("atom_acq_rel_gpu",)), 1,
             "look: atom_acq_rel_gpu (BenchmarkIntraSM"),
            (each(noisy, blk=("132", "264"), **GRID), 2,
             f"broken: {OF_GRID}193% slower (12 of 26 rows)"),
            (each(without_value, title="grid latency", blk=("132",)), 1,
             f"look: {OF_GRID}6 of 26 rows have no value"),
            (each(busy(1), **HOST), 0, "normal: "), (each(busy(1.2), **HOST), 1, "look: "),
            (each(busy(1.5), **HOST), 2, "broken: "))

    def test_an_archive_of_other_places(self):
        """Nothing is written outside of the folder that it is unpacked in."""
        (self.project / "results").mkdir()
        outside = self.folder / "outside"
        for name in (str(outside), "../outside", "healthy_runs/../../outside"):
            with tarfile.open(self.project / "results/healthy_runs.tar.xz", "w:xz") as archive:
                archive.addfile(tarfile.TarInfo(name))
            self.assert_refused(self.script("pages/healthy_pairs.py"), 2, f"{name} is no file of ")
            self.assertFalse(outside.exists())

    def test_single_rows_that_cannot_be(self):
        run = changed_run("h200x1")
        rows = {row["method"]: row for row in run.files["BenchmarkIntraSM"][0].find_all(thrd="64")}
        cells = (("m(ave_cycle)", "nan"), ("m(ave_cycle)", "0.000"), ("m(ave_cycle)", "-1000.000"),
                 ("med(ave_cycle)", "-1.000"), ("s(ave_cycle)", "nan"), ("n", "0"), ("n", "nan"),
                 ("clock", "0.0"))
        for (column, cell), method in zip(cells, rows):
            rows[method][column] = cell
        said = self.check(run, 1)
        for _, method in zip(cells, rows):
            self.assertRegex(said, rf"look: {method} \(BenchmarkIntraSM, block latency\): 1 of \d+ "
                             "rows have no value, or one that cannot be")

    def test_libraries_are_judged_by_the_same_version(self):
        run = changed_run("h200x2", slower(3, "Libraries", method=("nccl_lsa_grid", "peer_grid_sync")))
        del run.files["Libraries.processes"]
        for judged in (("nccl_lsa_grid", "peer_grid_sync"), ("peer_grid_sync",)):
            found = self.check(run, 2)
            self.assertCountEqual(judged, re.findall(
                r"broken: (\w+) \(Libraries, barriers of libraries\)", found))
            run.files["Libraries"].annotations = [
                one for one in run.files["Libraries"].annotations
                if one.values.get("name") != "NCCL"]

    def test_libraries_that_nobody_has_recorded(self):
        """Nobody else has these nodes and processes; that is no fault."""
        def rows(nodes, gpus):
            return made_up_section(
                "barriers of libraries", LIBRARY, f"nccl_graph_unregistered {nodes} {gpus} {gpus} 8 "
                "nan nan 6100.250 20.500 60 5.250")

        folder = copy_of("h200x2", self.folder / "run")
        (folder / "Libraries.nodes.tsv").write_text(ended(rows(2, 4)))
        self.assertRegex(self.check(folder, 0), r"^normal: .* rows judged, \d+ not, ")
        (folder / "Libraries.nodes.tsv").write_text(ended(rows(1, 4)))
        self.assert_refused(self.script("check.py", folder), 3, "'4' GPUs, but")

    def test_scaled_rows_of_each_group_are_found(self):
        for name, groups in (("h200x1", [name for name in NAMES if name != "libraries"]),
                             ("h200x2", ["several GPUs", "libraries"])):
            for group in groups:
                less = 1.2 if group == "sums" else 1.1  # recorded ones differ more
                for factor in (1, 1.5, less, 1 / less, 1 / 1.5):
                    def change(program, _section, cells):
                        if program != "Pitfalls" and group_of(program, cells["method"]) == group:
                            scaled(cells, factor)
                    run = changed_run(name, change, bounds.GROUPS[group][0])
                    verdict = Verdict(run, recorded_runs(), partial=True)
                    with self.subTest(run=name, group=group, factor=factor):
                        broken = factor == 1.5 and group not in ("sums", "libraries")
                        self.assertIn(verdict.level, ("normal",) if factor == 1 else
                                      ("look", "broken")[broken:])

    def test_rows_that_no_run_has(self):
        """They are counted. Where most of a file are such, it is not normal."""
        def renamed(cells):
            cells["method"] = "new_" + cells["method"]
        for where, code in (({"method": ("grid_sync",)}, 0), ({}, 4)):  # all
            change = each(renamed, "BenchmarkInterSM", **where)
            output = self.check(changed_run("h200x1", change, methods="some"), code)
            self.assertRegex(output, r"rows judged, [\d,]+ not, for no recorded run has precise ones" + CAPPED)
            self.assertEqual("rows are not judged, as no recorded run has them (BenchmarkInterSM)"
                             in output, code == 4)

    def test_what_heads_say(self):
        of_two = slower(1.2, "BenchmarkInterSM", GPUcount=("2",))
        for name, old, new, code, fault in (
                ("h200x2", "index=1 (.*) clock=19[0-9]+", r"index=1 \1 clock=1410", 2,
                 "broken: GPU 1: SM clock 1,410 MHz, recorded 1,980 MHz\n"),
                ("h200x2", "index=1 (.*) clock=19[0-9]+", r"index=1 \1 clock=1900", 1,
                 "look: GPU 1: SM clock 1,900 MHz"),
                ("h200x2", "peer_access=yes", "peer_access=no", 2,
                 "broken: no access between all pairs of GPUs"),
                ("h200x1", "clock=1980", "clock=1410", 2,
                 "broken: SM clock 1,410 MHz, recorded 1,980 MHz\n")):
            run = changed_run(name, of_two if name == "h200x2" else None)
            with_heads(run, old, new)
            self.assertIn(fault, self.check(run, code))
        for old, new, what in ((r"commit=\w+", "commit=0123456", "commit"),
                               ("toolkit=13.0", "toolkit=12.4", "toolkit"),
                               ("version=1.0.0", "version=9.9.9", "version")):
            self.assertIn(f"look: of another {what} than the run: TestRepeat.tsv\n", self.check(
                with_heads(changed_run("h200x1"), old, new, ["TestRepeat"]), 1))

    def test_one_slow_gpu_of_four(self):
        change = slower(1.3, "BenchmarkInterSM", GPUcount=("4",))
        output = self.check(changed_run("h200x4", change), 2)
        self.assertIn("on 4 GPUs: 3", output)
        self.assertNotIn("on 3 GPUs", output)

    def test_a_second_process(self):
        folder = copy_of("h200x1", self.folder / "run")
        path = folder / "BenchmarkInterSM.tsv"
        text, warning = path.read_text(), "# warning[shared-gpu gpu=0 processes=1]: busy\n"
        for warned in (warning + text, ended(text + warning)):
            path.write_text(warned)
            self.assertIn("look: another process used a GPU (BenchmarkInterSM)",
                          self.check(folder, 1))

    def test_a_row_at_a_low_clock(self):
        """It is told, and no reference."""
        folder = copy_of("h200x1", self.folder / "run")
        path, row = folder / "Reduction.tsv", "implicit\tdouble\t1\t1048576\t"
        lines = path.read_text().split("\n")
        at = next(i for i, line in enumerate(lines) if line.startswith(row))
        lines.insert(at + 1, "# warning[slow-clock gpu=0 mhz=1005 full=1980 attempts=3 "
                     "reasons=sw-power-cap] implicit type=double GPUcount=1 bytes=1048576: slow")
        path.write_text("\n".join(lines))
        self.assertIn("look: the SM clock was low for some rows, at each attempt (Reduction)",
                      self.check(folder, 1))
        run = tsv.Run(ROOT / "results/h200x1")
        self.assertEqual([(key[2], key[3]) for key in self.not_recorded(run, tsv.Run(folder))],
                         [("implicit", "1")])
        # Not lower than healthy GPUs go: a note.
        path.write_text("\n".join(lines).replace("mhz=1005", "mhz=1780"))
        self.assertRegex(self.check(folder, 0), r"^normal: .*" + CAPPED)

    @staticmethod
    def not_recorded(run, other):
        """Keys of rows that a run would judge, and another does not."""
        unknown = ([one.key for one in normal.judged(run, [reference]) if one.verdict == "not recorded"]
                   for reference in (run, other))
        capped, found = unknown
        return [key for key in found if key not in capped]

    def test_a_row_whose_clock_is_low(self):
        """It is no reference, though the program did not say so."""
        for share, told in ((0.995, []), (0.985, ["implicit"])):
            def change(_program, section, cells, share=share):
                if (section, cells["method"], cells.get("type"), cells.get("bytes")) == (
                        "one GPU", "implicit", "double", "1048576"):
                    cells["clock"] = f"{1980 * share:.1f}"
            unknown = self.not_recorded(changed_run("h200x1"), changed_run("h200x1", change))
            self.assertEqual([key[2] for key in unknown], told)

    def test_rows_of_sets_that_were_not_measured(self):
        """Recorded runs have all sets, a run of a user's the default ones."""
        for name, method, code in (("h200x1", "", 0), ("h200x1", "graph_launch", 1), ("h200x2", "", 0),
                                   ("h200x2", "peer_grid_sync", 1)):
            def change(_program, _section, cells, method=method):
                if cells.get("set") == "evidence" or cells["method"] == method:
                    cells.clear()
            run = with_heads(changed_run(name, change), ",evidence]", "]")
            for name in [name for name in run.files if name.endswith(".processes")]:
                del run.files[name], run.environment["seconds_" + name]
            self.assertEqual("rows are missing" in self.check(run, code), code == 1)

    def test_more_gpus_than_recorded(self):
        """A program may measure all alone, or each number of them, of this kind or another."""
        def change(_program, _section, cells):
            column = "GPUCount" if "GPUCount" in cells else "GPUcount"
            if cells.get(column) == "2":
                cells[column] = "3"
        for environment in ({}, {"gpu": "NVIDIA B200"}):
            run = changed_run("h200x2", change, gpu_count="3", **environment)
            run.gpus = 3
            self.assertNotIn("no rows on 3", self.check(run, None))
            self.assertNotIn("(Stencil)", "".join(line for line in self.check(run, None).splitlines()
                                                  if "no rows on" in line))

    def test_missing_files(self):
        run = changed_run("h200x1")
        for name in [name for name in run.files if name.endswith(".before13")]:
            del run.files[name]
        self.assertIn("look: Pitfalls.before13.tsv is missing", self.check(run, 1))
        for key in [key for key in run.environment if key.endswith("before13")]:
            del run.environment[key]
        self.assertNotIn("is missing", self.check(run, None))
        run = changed_run("h200x1")
        run.files["BenchmarkInterSM"] = tsv.Output()
        self.assertIn("look: BenchmarkInterSM.tsv has no rows", self.check(run, 1))
        run = changed_run("h200x2")
        del run.files["Stencil"]
        self.assertIn("look: Stencil.tsv is missing", self.check(run, 1))
        run = changed_run("h200x1")
        run.partial = True
        self.assertIn("look: the run goes on, or it was interrupted", self.check(run, 1))

    def test_a_section_that_is_lost(self):
        """The last line of its file names it: look, whatever GPU it is."""
        def check(code, change=None, sections="grid latency", **environment):
            run = changed_run("h200x1", change, **environment)
            output = run.files["BenchmarkInterSM"]
            output.end = output.end._replace(values={"sections": sections})
            if not change:
                output[:] = [one for one in output if one.title != "grid latency"]
            return self.check(run, code)

        told = "look: sections are missing (BenchmarkInterSM): grid latency"
        self.assertIn(told, check(1))
        self.assertIn(told, check(1, gpu="NVIDIA B200"))
        self.assertNotIn("missing", check(0, sections=""))  # of a program that has no such section
        self.assertIn("rows are missing (BenchmarkInterSM, grid latency)",
                      check(1, lost("grid latency")))

    def test_rows_of_several_gpus_that_are_lost(self):
        """On a node whose number of GPUs nobody has recorded, and of a kind that nobody has."""
        def alone(_program, _section, cells):
            if cells.get("GPUcount", cells.get("GPUCount", "1")) != "1":
                cells.clear()
        for environment in ({"gpu_count": "8"}, {"gpu_count": "8", "gpu": "NVIDIA B200"}):
            run = changed_run("h200x2", alone, **environment)
            run.gpus = 8
            self.assertIn("look: no rows on 2, 3, 4, 5, 6, 7, 8 GPUs (BenchmarkInterSM): "
                          "all_to_all_flags, all_to_all_flags_ordered, exchange_acknowledged and others",
                          self.check(run, 1))
        run = changed_run("h200x2")
        self.assertIn("look: 2 GPUs were used, 1 are named", self.check(with_heads(
            run, r"\n# gpu\[index=1 [^\n]*", "", ["BenchmarkInterSM"]), 1))

    def test_another_toolkit(self):
        """Only what no toolkit moves is judged."""
        for method, title, code in (("blocksync", "block latency", 4),
                                    ("traditional_launch", "null kernel", 2),
                                    ("grid_sync", "grid latency", 2)):
            run = changed_run("h200x1", slower(9, title=title, method=(method,)), cuda_toolkit="12.9",
                              cuda_toolkit_before13="12.4")
            for old, new, older in (("13.0", "12.9", False), ("11.8", "12.4", True)):
                with_heads(run, f"toolkit={old}", f"toolkit={new}",
                           [name for name in run.files if ("." in name) == older])
            output = self.check(run, code)
            self.assertIn("unknown: compiled by CUDA 12.9, the recorded runs by 11.8 and 13.0: ",
                          output)
            self.assertEqual(f"broken: {method}" in output, code == 2, output)

    def test_releases_are_no_decimals(self):
        """12.10 is not 12.1, and later than 12.9."""
        folders = [copy_of("h200x1", self.folder / release, cuda_toolkit=release)
                   for release in ("12.10", "12.1", "12.9")]
        for path in (path for folder in folders for path in folder.glob("[!e]*[!3].tsv")):
            path.write_text(path.read_text().replace("toolkit=13.0", f"toolkit={path.parent.name}"))
        mine, *others = folders
        done = self.script("check.py", mine, *(f"--against={other}" for other in others))
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("compiled by CUDA 12.10, the recorded runs by 11.8 and 12.1 and 12.9: ",
                      done.stdout)

    def test_an_earlier_version_judges_what_this_one_has_not_measured(self):
        runs = {run.path.name: run for run in recorded_runs()}
        recorded = {str(row.key): str(row) for row in normal.judged(runs["h200x1"], [runs["h200x2"]])}
        for row in normal.judged(runs["h200x1"], [runs["h200x2"], runs["h200x4"]]):
            if "'not recorded'" not in recorded[str(row.key)]:
                self.assertEqual(str(row), recorded[str(row.key)])
        of_four = [row.verdict for row in normal.judged(changed_run("h200x4"), recorded_runs())
                   if row.row.get("GPUcount") == "4"]
        self.assertIn("same", of_four)

    def test_stale_rows_are_not_judged(self):
        """Rows recorded before the code of their method changed; the last line names it."""
        run = with_heads(changed_run("h200x1", slower(9, "BenchmarkIntraSM", method=("vote_any", "blocksync"))),
                         "commit=[^ ]+", "commit=0123456789ab")
        self.assertIn("broken: vote_any", self.check(run, 2))
        commits = {other.files["BenchmarkIntraSM"].program("commit") for other in recorded_runs()}
        table = [{"rows": "timed", "method": "vote_any", "toolkit": "any", "stale": ",".join(commits)}]
        self.addCleanup(stale._stale.cache_clear)
        stale._stale.cache_clear()
        with mock.patch.object(stale, "read", lambda: table):
            output = self.check(run, 2)
        self.assertNotIn("broken: vote_any", output)
        self.assertIn("broken: blocksync", output)
        self.assertIn("or their code has changed since (vote_any)", output)

    def test_failures(self):
        for arguments in (["--bad"], [self.folder / "none"], ["--build", self.folder]):
            done = self.execute([str(ROOT / "scripts/check.py"), *map(str, arguments)])
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertTrue(done.stderr.startswith("check.py: "))


class HealthyPairsTest(ScriptsTest):
    def test_recorded_verdicts(self):
        """results/healthy_pairs.tsv is of these runs and bounds: three pairs are judged again,
        and one run beside the recorded ones."""
        path = ROOT / "results/healthy_pairs.tsv"
        rows = tsv.read_table(tsv.read_bytes(path), path)
        recorded = [run for run in recorded_runs() if not normal.is_before(run)]
        archived = list(map(tsv.Run, healthy_pairs.unpacked(self.folder)))
        runs = {run.path.name: run for run in (*recorded, *archived)}
        pairs = [(row["run"], row["against"]) for row in rows]
        self.assertCountEqual(pairs, [
            *((one, other) for one, other in itertools.permutations(runs, 2)
              if runs[one].environment["gpu"] == runs[other].environment["gpu"]),
            *((run.path.name, healthy_pairs.RECORDED) for run in archived)])
        self.assertEqual({name[:4] for name, _ in pairs}, {"h100", "h200"})
        for one, other in (("h200x1", "h200x2"), ("h100x2_a", "h100x2"), ("h100x1_a", "h100x1"),
                           ("h200x2_a", healthy_pairs.RECORDED)):
            row = next(row for row in rows if (row["run"], row["against"]) == (one, other))
            others = [runs[other]] if other in runs else normal.references(runs[one], recorded)
            runs[one].again = healthy_pairs.again(runs[one], others, runs.values())
            verdict = Verdict(runs[one], others, partial=True, chosen=True)
            self.assertEqual((row["rows"], row["verdict"]), (str(verdict.judged), verdict.level))
            # No change between them is larger than bounds.tsv has.
            for run in others:
                for group, percent in healthy_pairs.largest_changes((runs[one], run)).items():
                    self.assertLessEqual(percent, bounds.read().known[group] + 0.1, group)

    def test_what_measured_a_machine_again(self):
        def run(minute, gpus="1", again=None):
            return SimpleNamespace(again=again, environment={
                "gpu": "A", "gpu_count": gpus, "date_utc": f"2026-01-01T00:{minute:02}:00Z"})

        mine, other, near, far = run(0), run(29), run(30), run(31)
        for runs, others, expected in (([mine, far, run(1, "2")], [], None), ([other, near], [], other),
                                       ([near, other], [other], near)):
            self.assertIs(healthy_pairs.again(mine, others, runs), expected)
        self.assertIs(healthy_pairs.again(run(0, again=far), [], [near]), far)

    def test_held_out_bounds(self):
        """They come from the pairs without the run."""
        changes = {("a", "b"): {1: 10.0}, ("a", "c"): {1: 30.0, 2: 20.0}, ("b", "d"): {1: 20.0}}
        self.assertEqual(healthy_pairs.widest(changes, ["c"]), {1: (2, 20.0)})


if __name__ == "__main__":
    unittest.main()
