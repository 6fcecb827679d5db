"""Tests of report.py as a whole, on recorded and on made-up folders."""

import html
import math
import re
import shutil
import subprocess
import unittest

import in_process
from html_page import Page
from made_up_rows import ENVIRONMENT, ROWS
from report_support import NO_SUMS, RECORDED, ReportCase, cells_at, numbers_of, part_of
from scripts_support import ROOT

from reporting.sheets import coded, literal  # scripts_support has put scripts/ on the path


# (table, quantity) -> column of the mean, of the spread; Table III is computed.
COLUMNS = {
    ("I", "Launch overhead"): ("m(ovh)", "s(ovh)"),
    ("I", "Kernel total latency of a null kernel"): ("m(ttl)", "s(ttl)"),
    ("II", "Latency"): ("m(ave_cycle)", "s(ave_cycle)"),
    ("II", "Throughput m(diff_thrput)"): ("m(diff_thrput)", None),
    ("IV", "Sync latency"): ("m(sync)", "s(sync)"), ("IV", "Nl"): ("Nl", None),
    ("IV", "Nm"): ("Nm", None), ("V", "Latency"): ("m(ave_cycle)", "s(ave_cycle)"),
    ("VI", "Bandwidth"): ("m(GB/s)", "s(GB/s)")}
METHODS = {"volatile & tile": "volatile_tile", "coalesced": "coa", "tile shuffle": "tile_shuffle",
           "coalesced shuffle": "coa_shuffle", "grid sync": "grid_sync", "CUB": "cub"}


def rendered(text):
    """What is seen of a line of Markdown, code in <>; an error where any of it is markup."""
    seen = re.sub("`([^`]*)`", r"\1", text) if text.startswith("`") else text
    code = len(seen) != len(text)
    if code:
        end = text.index("`", 1)
        return f"<{text[1:end]}>" + rendered_alone(text[end + 1:], False)
    return rendered_alone(text, True)


def rendered_alone(text, first):
    plain = re.sub(r"\\([!-/:-@\[-`{-~])", "", text)
    if re.search(r"[`*\[\]|<>~$\\]|(?<![^\W_])_|_(?![^\W_])|&(?!amp;|lt;|gt;)", plain) or (
            first and re.match(r"[-+](?= |$)|-+$|=+$|#|\d+[.)](?= |$)", text)):
        raise AssertionError(f"markup: {text}")
    return html.unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text))


def is_doubted(lines, number, cells):
    """Whether a comment of its section warns of the row, or says that it depends on the repeat
    count."""
    heads = [at for at, line in enumerate(lines) if line.startswith("method\t")] + [len(lines)]
    first = max(at for at in heads if at < number)
    for line in lines[first:min(at for at in heads if at > first)]:
        said = re.match(r"# (?:warning\[[^]]*\]|note\[repeats[^]]*\]) (\w+)((?: \S+=\S+)*): ", line)
        if said and said[1] == cells["method"] and all(
                cells[column] == cell for column, cell in (
                    pair.split("=") for pair in said[2].split())):
            return True
    return False


class ReportTest(ReportCase):
    def test_recorded_folders(self):
        self.seen = set()
        for name in RECORDED:
            self.report(ROOT / "results" / name)
            part = part_of(ROOT / "results" / name)
            measured = (ROOT / "results" / name / "Reduction.tsv").exists()
            tables = [table.number for table in part.tables if table.measured()]
            self.assertEqual(tables, [
                "I", "II", *["III", "IV", "V", "VI"] * measured, "VII", "VIII", "VIII b"])
            self.assertEqual(f"{name} has no " in self.errors, not measured)
            texts = sorted((self.out / "tables" / name).glob("*.tex"))
            self.assertEqual(len(texts), len(tables) + 1)  # and headline.tex
            for path in texts:
                self.check_tex(path.read_text())
                text, of = path.read_text(), path.stem.rpartition("_")[2]
                self.assertRegex(text, r"(?m)^\\caption\{.*, driver [\d.]+" + {
                    "headline": r", CUDA 13\.0 and 11\.8 \(all multi-grid barriers\)",
                    **dict.fromkeys("25789", "")}.get(of, r", CUDA 13\.0") + r", commit .*\}$")
                if of in "25":  # each column says its own
                    for gpu, toolkit in ((name[:4].upper(), "13.0"), (name[:4].upper(), "11.8"),
                                         ("V100", "10.0"), ("P100", "10.0")):
                        self.assertRegex(text, rf"\{{{gpu}\\\\CUDA\\\\{toolkit}\}}")
                notes = re.search(r"smallskip\\scriptsize\\raggedright (.*)", text)
                if notes:  # sentences, a symbol at the start of none
                    self.assertEqual(re.findall(r"(?:^|\. )(?=[^A-Z\d])\S+", notes[1]), [], path)
            self.check_numbers(name, part)
            shown = Page((self.out / "report.html").read_text()).cells
            for *_, estimate in numbers_of(part):
                self.assertIn([estimate.where(), estimate.text() or "–"], shown)
            self.assertEqual("There is no recorded run of this kind of GPU" in self.page, name == "h100x1")
        self.assertEqual(self.seen, {*COLUMNS, *(("III", name) for name in (
            "Bandwidth", "Latency", "Concurrency"))})
        self.assertIn(": the 95% interval of this row is ", self.page)
        for text in (self.page, *(path.read_text() for path in self.out.glob("tables/*/*.tex"))):
            self.assertNotIn("the row above", text)  # there it would be another
        self.compile_tex()

    def check_numbers(self, name, part):
        """Every number is that of its row, in the page too."""
        for table, labels, quantity, number in numbers_of(part):
            (file, _, line), = number.sources
            cells = cells_at(ROOT / "results" / name / file, line)
            self.seen.add((table, quantity.split(",")[0]))
            self.check_row(table, quantity, labels, cells)
            self.assertEqual(number.text().count("!"), bool(number.remarks) and not number.nothing)
            lines = (ROOT / "results" / name / file).read_text().splitlines()
            self.assertEqual(bool(number.remarks), is_doubted(lines, line, cells), number.where())
            self.assertEqual("CUDA" in quantity, table in ("II", "V"))
            self.assertEqual(quantity.endswith("CUDA 11.8"), "before13" in file)
            self.assertRegex(self.page, r"(?m)^\| " + re.escape(
                " | ".join(labels.values())) + r" \|.* " + re.escape(number.text() or "–") + r" \|")
            if table == "III":
                self.check_shared_memory(quantity, number, cells)
                continue
            mean, spread = COLUMNS[table, quantity.split(",")[0]]
            self.assertEqual(number.value, float(cells[mean]))
            if spread and cells[spread] != "nan":
                self.assertEqual(number.spread, float(cells[spread]))
            else:
                self.assertTrue(math.isnan(number.spread))

    def check_row(self, table, quantity, labels, cells):
        """The row is of what the labels say."""
        if table == "I":
            self.assertEqual(labels["Blocks x threads"],
                             {"1": "1 x 32", "132": "1 per SM x 1024"}[cells["blk"]])
            self.assertEqual(cells["thrd"], labels["Blocks x threads"].split()[-1])
            self.assertEqual((cells["GPUCount"], cells["method"].split("_")[0]), (
                "1", labels["Launch"].split()[-1].split("-")[0]))
            self.assertEqual(cells["rep"] == "1", quantity != "Launch overhead")
        elif table == "II":
            self.assertEqual(cells["method"][:5], {
                "block": "block", "tile": "tile_", "coalesced": "coale", "shuffle of a tile":
                "tile_", "shuffle of a coalesced group": "coale"}[labels["Type"]])
            self.assertEqual(cells["method"].endswith("shufl"), "shuffle" in labels["Type"])
            if quantity.startswith("Latency"):
                self.assertEqual(cells["thrd"], "32")
            if "tile" in cells:
                size, _, other = labels["Group size"].partition("; throughput of ")
                last = re.findall(r"\d+", size)[-1:] or ["32"]  # any, a warp
                self.assertEqual(cells["tile"], other if other and quantity.startswith("Throughput")
                                 else last[0], labels)
        else:
            self.assertEqual(cells["type"], "any" if labels.get("Sum") == "theory" else
                             "float" if table == "VI" else "double")
            name = labels.get("Sum", {"III": "shared_loop", "IV": "switch_point"}.get(table))
            self.assertEqual(cells["method"], METHODS.get(name, name))
            if table == "III":
                self.assertEqual(labels["Threads"], cells["thrd"])
            if table == "IV":
                self.assertEqual((labels["Threads"], labels["Cost taken from"]), (
                    f"{cells['more']} instead of {cells['basic']}", cells["cost"]))

    def check_shared_memory(self, quantity, number, cells):
        self.assertEqual(number.value, float(cells[quantity.lower()]))
        if quantity == "Bandwidth":
            self.assertAlmostEqual(number.value / (
                float(cells["bytes"]) / float(cells["m(cycle)"])), 1, places=2)
            self.assertAlmostEqual(number.spread / number.value,
                                   float(cells["s(cycle)"]) / float(cells["m(cycle)"]))

    def compile_tex(self):
        """All files in one document, where there is a LaTeX with the package."""
        compiler = shutil.which("pdflatex")
        if not compiler or subprocess.run(["kpsewhich", "booktabs.sty"],
                                          stdout=subprocess.DEVNULL, check=False).returncode:
            return
        paths = sorted(self.out.glob("tables/**/*.tex"))
        document = self.out / "all.tex"
        document.write_text("\\documentclass[twocolumn]{article}"
                            "\\usepackage{booktabs}\\begin{document}" + "".join(
                                f"\\input{{{path.relative_to(self.out)}}}\\clearpage "
                                for path in paths) + "\\end{document}")
        done = subprocess.run([compiler, "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
                              cwd=self.out, stdout=subprocess.PIPE, check=False)
        said = done.stdout.decode(errors="replace")
        self.assertEqual(done.returncode, 0, said[-2000:])
        self.assertEqual(re.findall(r"Overfull.*|.*too large.*", said), [])  # all fits on a page

    def test_tables_of_other_rows_are_removed(self):
        run, table = self.write_run(self.folder / "few"), self.out / "tables/few/table_6.tex"
        for changes in ({}, {"Reduction": None}):
            self.write_run(run, changes)
            self.report(run, recorded=self.folder)
            self.assertEqual(table.exists(), not changes)

    def test_without_the_columns_of_stats(self):
        run = self.folder / "h200x1"
        shutil.copytree(ROOT / "results" / "h200x1", run, ignore=NO_SUMS)
        for path in run.glob("*.tsv"):
            lines, kept = path.read_text().splitlines(), None
            for number, line in enumerate(lines):
                cells = line.split("\t")
                if cells[0] == "method":
                    kept = [place for place, name in enumerate(cells)
                            if not re.match(r"(n|med.*|ci95.*|clock)$", name)]
                if kept and not line.startswith("#"):
                    lines[number] = "\t".join(cells[place] for place in kept)
            path.write_text("\n".join(lines) + "\n")
        self.report(run)
        part = part_of(run)
        self.assertTrue(all(table.measured() for table in part.tables))
        rate, = (estimate for _, labels, quantity, estimate in numbers_of(part)
                 if quantity == "Throughput m(diff_thrput), CUDA 13.0" and labels["Type"] == "block")
        self.assertTrue(math.isnan(rate.spread))
        self.assertGreater(rate.value, 0)

    def test_one_gpu_and_the_default_folder(self):
        run = self.folder / "mine"
        shutil.copytree(ROOT / "results" / "h200x1", run, ignore=NO_SUMS)
        done = self.script("report.py", run)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\Areport.py: drawing mine\n"
                         r"(report.py: no pictures, because .*\n)?\Z")
        page = (run / "report" / "report.md").read_text()
        self.assertEqual(page.count("no barrier of several GPUs was measured"), 6)
        self.assertIn("same kind of GPU: h200x2, h200x4.\n", page)  # and not with itself

    def test_what_a_folder_says_is_no_markup(self):
        hostile = "<script>x</script> & | _"
        run = self.write_run(self.folder / "run", {
            "environment": ENVIRONMENT.replace("NVIDIA H200", hostile),
            "ImplicitBarrier": ROWS["ImplicitBarrier"].replace("NVIDIA H200", hostile)})
        self.report(run, recorded=self.folder)
        self.assertIn([None, hostile], Page((self.out / "report.html").read_text()).cells)
        self.check_tex((self.out / "tables/run/table_1.tex").read_text())

    def test_what_a_folder_says_is_no_markdown(self):
        names = ("<script>x</script>", "a|b", "`x`", "[x](javascript:y)", "*a* **b** _c_ __d__",
                 "~~x~~", "$x$", "&lt;", "\\", "#", "1. x", "10) x", "- x", "+ x", "---", "===",
                 "> x", "![x](y)", "peer_grid_sync", "C:\\x\\")
        for name in names:
            self.assertEqual(rendered(literal(name)), name)
            self.assertEqual(rendered(literal(coded("`a_b*`") + name)), f"<a_b*>{name}")
            warning = f"# warning[x]: this row: {name}\n"
            run = self.write_run(self.folder / "run", {
                "environment": ENVIRONMENT.replace("NVIDIA H200", name),
                "ImplicitBarrier": ROWS["ImplicitBarrier"].replace("NVIDIA H200", name) + warning})
            self.assertEqual(in_process.call(
                "report.py", run, "--out", self.out, "--recorded", self.folder).returncode, 0)
            page = (self.out / "report.md").read_text()
            self.assertIn("\n" + literal(f"{name} x 2, driver unknown"), page)
            self.assertIn(f"| gpu | {literal(name)} |", page)
            self.assertIn(literal(f"this row: {name}"), page)
            page = page.replace("](figures/", "")
            page = page.replace("`kernel<<<...>>>()`", "")
            self.assertNotIn("<", page)
            if name[0] in "[`*~!":
                self.assertNotRegex(page, rf"(?<!\\){re.escape(name)}")

    def test_what_is_damaged_is_refused(self):
        run = self.folder / "run"
        for file, text, message in (
                ("Reduction", ROWS["Reduction"][:-3], "the last line is cut short"),
                ("ImplicitBarrier", ROWS["ImplicitBarrier"].replace("7202.000", "72O2.000"),
                 "line 7, column m(ovh): '72O2.000' is not a number"),
                ("ImplicitBarrier", ROWS["ImplicitBarrier"].replace("s(ovh)", "s(o)"),
                 "there is no column s(ovh)")):
            self.write_run(run, {file: text})
            self.assert_refused(self.script("report.py", run, "--out", self.out), 2,
                                f"{file}.tsv, line ", message)
            self.assertFalse(self.out.exists())
        self.write_run(run)
        for arguments, code, message in (
                ((run, run), 2, "unrecognized arguments"), ((), 2, "required"),
                ((self.folder / "absent",), 2, "absent is not a folder"),
                ((run, "--out", self.log.parent / "a_file"), 1, "cannot write")):
            (self.folder / "a_file").touch()
            self.assert_refused(self.script("report.py", *arguments), code, message)


if __name__ == "__main__":
    unittest.main()
