"""Tests of report.py's headline numbers, against the rows read anew."""

import math
import unittest

from html_page import Page
from made_up_rows import ENVIRONMENT, GRID, LATENCY, SUM, section
from report_support import RECORDED, ReportCase, rows_of, table_below
from scripts_support import ROOT
from parts import tsv  # from scripts/, which scripts_support has put on the path
from reporting.conclusions import conclusions

MACHINES = "**What a barrier costs, by machine.**"
NAMES = ("1 H100", "1 H200", "2 H200", "4 H200")
# What the study prints: its Tables II, I and VI, and Figures 8 (V100) and 7 (P100), in us, each
# of as many GPUs.
STUDY = {"block_1024": ("84", "427"),
         "tile_sync": ("14", "1"), "tile_shuffle": ("22", "31"), "block_32": ("22", "218"),
         "multi_grid_sync_1": ("7340", "2500"), "multi_grid_sync_no_peer_2": ("12410", "8440"),
         "launch": ("1081", "–"), "sum": ("865.40", "592.40")}
CYCLES, NS, RATE = (("m(ave_cycle)", "s(ave_cycle)"), ("m(avginstru)", "s(avginstr)"),
                    ("m(GB/s)", "s(GB/s)"))
LAUNCH = ("m(ovh)", "s(ovh)")
# name -> file, section, cells of the row (SMs, GPUs: the run's), columns; in the order of the page
EXPECTED = {
    "tile_sync": ("BenchmarkIntraSM", "warp latency",
                  {"method": "tile_sync", "thrd": "32", "tile": "32"}, CYCLES),
    "tile_shuffle": ("BenchmarkIntraSM", "warp latency",
                     {"method": "tile_shufl", "thrd": "32", "tile": "32"}, CYCLES),
    "block_32": ("BenchmarkIntraSM", "block latency", {"method": "blocksync", "thrd": "32"},
                 CYCLES),
    "block_1024": ("BenchmarkIntraSM", "block latency", {"method": "blocksync", "thrd": "1024"},
                   CYCLES),
    "cluster": ("BenchmarkIntraSM", "group latency",
                {"method": "cluster_sync", "blk": "2", "thrd": "32"}, CYCLES),
    **{f"grid_{blocks}x{threads}": ("BenchmarkInterSM", "grid latency", {
        "method": "grid_sync", "blk": blocks, "thrd": str(threads)}, NS)
       for blocks, threads in ((1, 32), (1, 1024), (32, 64))},
    "launch": ("ImplicitBarrier", "sleep kernel", {
        "method": "traditional_launch", "GPUCount": "1", "thrd": "1024"}, LAUNCH),
    **{name: ("ImplicitBarrier", "one stream", {
        "method": f"{name}_launch", "GPUCount": "1", "thrd": "1024"}, LAUNCH)
       for name in ("graph", "programmatic")},
    **{name: row for gpus in "124" for name, row in {
        f"peer_grid_sync_{gpus}": ("BenchmarkInterSM", "multi-GPU latency", {
            "method": "peer_grid_sync", "blk": 1, "thrd": "1024", "GPUcount": gpus}, NS),
        f"multi_grid_sync_{gpus}": ("BenchmarkInterSM.before13", "multi-GPU latency", {
            "method": "multi_grid_sync", "blk": 1, "thrd": "1024", "GPUcount": gpus}, NS),
        **({f"multi_grid_sync_no_peer_{gpus}": ("BenchmarkInterSM.before13", "multi-GPU latency", {
            "method": "multi_grid_sync_no_peer", "blk": 1, "thrd": "1024", "GPUcount": gpus}, NS)}
           if gpus != "1" else {}),
        f"cpu_{gpus}": ("ImplicitBarrier", "sleep kernel", {
            "method": "single_omp_traditional_launch", "GPUCount": gpus, "thrd": "1024"},
            LAUNCH)}.items()},
    "sum": ("Reduction", "one GPU", {"type": "float"}, RATE),
    "sum_share": ("Reduction", "one GPU", {"type": "float"}, RATE)}


def expected(folder, name):
    """(lines, value, spread, SM clock or None) that a headline number has to have."""
    file, title, cells, (mean, spread) = EXPECTED[name]
    cells = {column: str(132 * text) if text in (1, 32) else text
             for column, text in cells.items()}
    rows = [row for row in rows_of(folder, file, title) if all(
        row[column] == text for column, text in cells.items())]
    if name.startswith("sum"):
        largest = max((int(row["bytes"]) for row in rows), default=0)
        rows = sorted((row for row in rows if int(row["bytes"]) == largest),
                      key=lambda row: float(row[mean]))
        limit = [row for row in rows if row["method"] == "read_limit"]
        rows = [row for row in rows if row not in limit][-1:]
    if name == "sum_share" and rows:
        sides = [float(row[mean]) for row in rows + limit]
        parts = [float(row[spread]) / float(row[mean]) for row in rows + limit]
        share = 100 * sides[0] / sides[1]
        return [row.line for row in rows + limit], share, share * math.hypot(*parts), None
    if not rows:
        return None
    row, = rows
    return [row.line], float(row[mean]), float(row[spread]), float(row["clock"])


class HeadlineTest(ReportCase):
    def test_recorded_machines(self):
        runs = self.report(*(ROOT / "results" / name for name in RECORDED))
        page = (self.out / "report.html").read_text()
        self.assertIn(f"<b>{MACHINES.strip('*')}</b>", page)
        for name in ("headline", "table_2"):  # what the names mean, not folded
            shown = page.split(f'id="tables-h200x1-{name}"')[1].split("</figure>")[0]
            self.assertIn("</code>", shown.split('<p class="notes">In ')[1].split("<details")[0])
        shown = Page(page).cells
        table = table_below(self.page, MACHINES)
        self.assertEqual(table[0][2:], [*NAMES, "V100", "P100"])
        self.assertEqual([row["name"] for row in self.summary["machines"]], list(EXPECTED))
        self.check_tex((self.out / "tables/machines.tex").read_text())
        for column, (folder, run) in enumerate(runs.items(), 2):
            alone = table_below(self.page[self.page.index(f"\n## {folder}\n"):], "costs here")
            lines = {line["name"]: (line, mine) for line, mine in zip(run["headline"], alone[1:])}
            self.assertEqual(list(lines), [name for name in EXPECTED if name[-2:] not in (
                "_2", "_4") or name[-1] == folder[-1]])  # of one GPU, and of all that it has
            for known, cells in zip(self.summary["machines"], table[1:]):
                label = cells[0].replace("`", "")
                self.assertEqual(known["label"], label)
                if known["name"][-2:] in ("_1", "_2", "_4"):
                    gpus = known["name"][-1]
                    self.assertTrue(label.startswith(f"{gpus} GPU{'s' * (gpus > '1')}: "), label)
                if known["name"] not in lines:
                    self.check_other_count(known, folder, cells[column])
                    continue
                line, mine = lines[known["name"]]
                self.assertEqual(label, line["label"])
                self.assertEqual(tuple(cells[6:]), STUDY.get(line["name"], ("–", "–")))
                self.assertEqual(cells[6:], mine[-2:])
                text = self.check_value(ROOT / "results" / folder, line)
                self.assertEqual(known["machines"].get(folder), line["here"])
                self.assertEqual((cells[column], mine[2]), (text, text), (folder, line["name"]))
                if line["here"]:
                    where = "; ".join("{file}, {section}, line {line}".format(**source)
                                      for source in line["here"]["sources"])
                    self.assertIn([where, text], shown)
                    self.check_converted(line["here"], mine[3])
                beside = dict(zip(alone[0][4:-3], mine[4:-3]))
                self.assertLessEqual(line["recorded"].keys(), beside.keys())
                for other, text in beside.items():
                    value = {**line, "here": line["recorded"].get(other)}
                    self.assertEqual(self.check_value(ROOT / "results" / other, value), text)
        self.check_verdicts(runs)

    def check_other_count(self, known, folder, text):
        """Of fewer GPUs than the run has, or of more."""
        here = known["machines"].get(folder)
        self.assertEqual(text, here["text"] if here else "–")
        self.check_value(ROOT / "results" / folder, {"name": known["name"], "here": here})

    def check_converted(self, here, text):
        """It has four digits, and none behind the spread's second."""
        if here["converted"]:
            known, (number, unit) = here["converted"]["value"], text.split()
            self.assertEqual(unit, here["converted"]["unit"])
            spread = here["spread"] * known / here["value"]
            place = max(math.floor(math.log10(spread)) - 1 if spread else -9,
                        math.floor(math.log10(known)) - 3)
            self.assertEqual(number, f"{round(known, -place):.{max(0, -place)}f}")

    def check_value(self, folder, line):
        """It is that of its rows; the text of its cell."""
        known = expected(folder, line["name"])
        here = line["here"]
        self.assertEqual(known is None, here is None, (folder.name, line["name"]))
        if known is None:
            return "–"
        lines, value, spread, clock = known
        self.assertEqual([source["line"] for source in here["sources"]], lines)
        self.assertEqual({source["file"] for source in here["sources"]},
                         {f"{EXPECTED[line['name']][0]}.tsv"})
        if here["nothing_waits"]:
            self.assertEqual((here["value"], here["spread"]), (None, None))
        else:
            self.assertAlmostEqual(here["value"], value)
            self.assertAlmostEqual(here["spread"], spread)
        if clock is None or here["nothing_waits"] or here["unit"] == "GB/s":
            self.assertIsNone(here["converted"])
        else:
            factor = {"cycles": 1000 / clock, "ns": clock / 1000}[here["unit"]]
            self.assertAlmostEqual(here["converted"]["value"], value * factor)
            self.assertEqual((here["converted"]["unit"], here["converted"]["SM_clock_MHz"]),
                             ({"cycles": "ns", "ns": "cycles"}[here["unit"]], clock))
        if here["nothing_waits"]:
            self.assertEqual((here["text"], value < 3.5), ("none", True))
        else:  # within the digits shown
            texts = here["text"].rstrip("!").split(" ± ")
            step = 10.0 ** -max(len(text.partition(".")[2]) or len(text.rstrip("0")) - len(text)
                                for text in texts)
            self.assertLessEqual(abs(float(texts[0]) - value), 0.5001 * step)
        return here["text"]

    def check_verdicts(self, runs):
        """Beside recorded runs it is what normal.tsv says of the row."""
        seen = set()
        for folder, run in runs.items():
            lines = (self.out / f"tables/{folder}/normal.tsv").read_text().splitlines()
            head = lines[0].split("\t")
            normal = {(row["file"] + ".tsv", row["line"]): row for row in (
                dict(zip(head, line.split("\t"))) for line in lines[1:])}
            for line in run["headline"]:
                verdict = line["beside_recorded"]
                if not line["here"] or line["here"]["nothing_waits"] or line["name"] == "sum_share":
                    self.assertEqual(verdict, "–")
                    continue
                source = line["here"]["sources"][0]
                row = normal[source["file"], str(source["line"])]
                word = row["verdict"]
                seen.add(word)
                self.assertEqual(verdict, {
                    "not recorded": "–", "same": "same", "unclear": "unclear"}.get(
                    word, f"{abs(float(row['change_percent'])):.1f}% {word}"))
        self.assertLessEqual({"same", "slower", "faster", "not recorded"}, seen)

    def test_a_run_of_few_rows(self):
        """No clock, no barrier, a wrong sum, a warning; nothing to compare with."""
        run = self.write_run(self.folder / "run", {
            "environment": ENVIRONMENT + "driver\t1.2\n",
            "BenchmarkIntraSM": section(
                "warp latency", LATENCY, "tile_sync 1 64 1 32 1.000 0.000 32 100 0.000",
                "tile_shufl 1 64 1 32 23.500 0.000 16 100 0.000") + "# note[nothing-waits below=3.5] tile_sync: x\n",
            "BenchmarkInterSM": section(
                "grid latency", GRID + " clock",
                "grid_sync 1 1 9 132 32 1000.000 250.000 9 1.0 1500.0")
            + "# warning[spread] grid_sync GPUcount=1 blk=132 thrd=32: the spread is far\n",
            "ImplicitBarrier": None,
            "Reduction": section("one GPU", SUM, *(
                f"{method} float 1 1048576 1 0 {rate} 1.000 2.000 0.500 {right} 9 1.000"
                for method, rate, right in (("cub", "90.000", 1), ("nosync", "95.000", 0),
                                            ("read_limit", "100.000", "nan"))))}, only=True)
        lines = {line["name"]: line for line in
                 self.report(run, recorded=self.folder)["run"]["headline"]}
        table = {row[0]: row[2:] for row in table_below(self.page, "What a barrier costs here")}
        self.assertEqual(table["Warp: `tile_sync`, 32 lanes"], ["none", "–", "14", "1"])
        self.assertEqual(table["Warp: `tile_shufl`, 32 lanes"][:2], ["–", "–"])  # of 16 threads
        self.assertEqual(table["1 GPU: `grid_sync`, 1 per SM x 32"],
                         ["1000 ± 250!", "1500 cycles", "–", "–"])
        self.assertIn("* The run warns (!) of 1 GPU: grid_sync, 1 per SM x 32, here: "
                      "the spread is far.\n", self.page)
        self.assertEqual(table["Best sum of the largest array of float"][0], "90.0 ± 1.0")
        self.assertIn("* Best sum of the largest array of float, here: cub, 1 MiB.\n", self.page)
        self.assertEqual(lines["sum_share"]["here"]["value"], 90)
        self.assertEqual(lines["grid_1x1024"]["here"], None)
        self.assertFalse((self.out / "tables/machines.tex").exists())
        self.assertNotIn(MACHINES, self.page)
        self.check_tex((self.out / "tables/run/headline.tex").read_text())

    def test_sums_without_a_rate(self):
        """Of these none is the best, wherever they stand."""
        for last, text in (("nan", "–"), ("90.000", "90.0 ± 1.0")):
            run = self.write_run(self.folder / "run", {"Reduction": section(
                "one GPU", SUM, *(
                    f"{method} float 1 1048576 1 0 {rate} 1.000 2.000 0.500 1 9 1.000"
                    for method, rate in (("implicit", "nan"), ("cub", last),
                                         ("read_limit", "100.000"))))})
            self.report(run, recorded=self.folder)
            table = {row[0]: row[2] for row in table_below(self.page, "What a barrier costs here")}
            self.assertEqual(table["Best sum of the largest array of float"], text)
            self.assertEqual("* Best sum of the largest array of float, here: " in self.page,
                             text != "–")

    def test_columns_of_the_same_kind_have_their_folders_names(self):
        names = ("a", "b")
        for name in names:
            self.write_run(self.folder / name)
        self.report(*(self.folder / name for name in names), recorded=self.folder)
        self.assertEqual(table_below(self.page, MACHINES)[0][2:4], ["2 H200 (a)", "2 H200 (b)"])
        of_both = [self.out / name for name in ("tables/machines.tex", "figures/machines.tsv")]
        self.assertTrue(all(path.exists() for path in of_both))
        self.report(self.folder / "a", recorded=self.folder)
        self.assertFalse(any(path.exists() for path in of_both))


class ConclusionsTest(ReportCase):
    def test_the_dearest_shape_counts(self):
        """A launch of 1081 ns beside barriers of 1 and of 2 blocks per SM."""
        for costs, where in (
                ((1000, 1080, 1080), "at every shape that was measured (1,080 ns beside 1,081 ns with"),
                ((1000, 1080, 1500), "up to 1 block per SM (1,080 ns beside 1,081 ns with"),
                ((1000, 1500, 1500), "only at some shapes with 1 block per SM (1,500 ns beside"),
                ((1500, 1500, 1600), "at no shape that was measured (1,500 ns beside")):
            rows = (f"grid_sync 1 1 9 {132 * blocks} {threads} {cost}.000 0.250 100 0.100"
                    for (blocks, threads), cost in zip(((1, 32), (1, 1024), (2, 32)), costs))
            run = self.write_run(self.folder / "run", {
                "BenchmarkInterSM": section("grid latency", GRID, *rows)})
            said, = conclusions(tsv.Run(run))
            self.assertIn("grid_sync costs less than traditional_launch " + where, said)


if __name__ == "__main__":
    unittest.main()
