"""What each chart of report.py has to show, for report_charts_test.py: every number is that of
its row, and none is missing."""

import math
from collections import Counter

from report_support import cells_at, rows_of
from scripts_support import ROOT

SMS = 132  # of all of them
CYCLES = ("m(ave_cycle)", "s(ave_cycle)")
NS = ("m(avginstru)", "s(avginstr)")
WITHOUT = {"in_use_tile": "in_use_none", "in_use_syncwarp": "in_use_none",
           "in_use_coalesced": "in_use_none", "in_use_blocksync": "in_use_block_none",
           "in_use_named_barrier": "in_use_block_none",
           "cluster_exchange": "cluster_exchange_unmet"}  # the same without its barrier
LEVELS = {"warp latency": "warp", "block latency": "block", "group latency": ("block", "cluster"),
          "grid latency": "one GPU"}


def sources(folder, text):
    """(file, section, cells) of each row that a number comes from."""
    for source in text.split("; "):
        file, title, line = source.split(", ")
        yield file, title, cells_at(folder / file, int(line[len("line "):]))


def shape(cells):
    """blocks per SM, threads"""
    return str(int(cells["blk"]) // SMS), cells["thrd"]


class ChartChecks:
    """check_NAME of each chart, of a TestCase. rows: of the chart's file, as dicts."""

    def check_study(self, chart, rows):
        """The study's numbers beside the run's."""
        self.assertEqual(len(rows), {"figure_7": 2 * 26, "figure_8": 5 * 26,
                                     "figure_9": 5 * 3}.get(chart, 0))
        for row in rows:
            file, line = row["source"].split(", line ")
            lines = (ROOT / "results" / file).read_text().splitlines()
            cells = dict(zip(lines[0].split("\t"), lines[int(line) - 1].split("\t")))
            self.assertEqual(float(row["value"]), float(cells["latency_us"]))
            shape_ = (cells["blocks_per_SM"], cells["threads"])
            if chart == "figure_9":
                self.assertEqual((row["x"], row["series"]), (
                    cells["gpus"], "{}, {} per SM x {}".format(
                        "multi_grid_sync_no_peer", *shape_)))
            else:
                self.assertEqual((row["series"], row["x"]), shape_)
                self.assertTrue(row["panel"].startswith(f"{cells['gpu']}, {cells['gpus']} GPU"))

    def each(self, name, rows, columns, factor=1.0):
        """(row, file, section, cells) of rows that are one number of their source each."""
        folder = ROOT / "results" / name
        for row in rows:
            (file, title, cells), = sources(folder, row["source"])
            for shown, column in zip(("value", "spread"), columns):
                if column:
                    self.assertAlmostEqual(float(row[shown]), float(cells[column]) * factor,
                                           delta=1e-8 * abs(float(row[shown])))
            yield row, file, title, cells

    def check_figure_4(self, name, rows):
        expected = {(str(int(cells["blk"]) // SMS * int(cells["thrd"]) // 32), cells["thrd"]): cells
                    for cells in rows_of(name, "BenchmarkIntraSM", "throughput")
                    if cells["method"] == "blocksync"}
        self.assertEqual(len(rows), 2 * len(expected))
        for row in rows:
            cells = expected[row["x"], row["series"].split()[0]]
            column, count = ("diff_latency", int(cells["rep"])) if row["unit"] == "cycles" else (
                "diff_thrput", 1)  # m(thrput) is nan there
            self.assertTrue(row["panel"].startswith(f"m({column})"))
            for shown, what in (("value", "m"), ("spread", "ci95")):
                self.assertAlmostEqual(float(row[shown]), float(cells[f"{what}({column})"]) / count,
                                       places=5)

    def check_heat(self, name, rows, shown):
        """shown: (method, GPUs) -> whether this figure has a panel of it"""
        counted = Counter()
        for row, file, title, cells in self.each(name, rows, NS, 1e-3):
            self.assertEqual((row["series"], row["x"]), shape(cells))
            gpus = cells["GPUcount"]
            self.assertIn(f"{gpus} GPU" if gpus != "1" or title != "grid latency" else "grid_sync",
                          row["panel"])
            counted[file, title, cells["method"], gpus] += 1
        expected = Counter(
            (f"{file}.tsv", title, cells["method"], cells["GPUcount"])
            for file in ("BenchmarkInterSM", "BenchmarkInterSM.before13")
            for title in ("grid latency", "multi-GPU latency") for cells in rows_of(
                name, file, title) if shown(cells["method"], int(cells["GPUcount"])))
        self.assertEqual(counted, expected)

    def check_figure_5(self, name, rows):
        self.check_heat(name, rows, lambda method, gpus: method == "grid_sync")

    def check_figure_7(self, name, rows):
        self.check_heat(name, rows, lambda method, gpus: (method, gpus) in (
            ("multi_grid_sync", 1), ("multi_grid_sync_no_peer", 2)))

    def check_figure_8(self, name, rows):
        """What Figure 7 does not have."""
        self.check_heat(name, rows, lambda method, gpus: gpus in {  # here is none of 5
            "multi_grid_sync_no_peer": (4,), "multi_grid_sync": (2, 4),
            "peer_grid_sync": (1, 2, 4)}.get(method, ()))

    def check_figure_9(self, name, rows):
        seen = Counter()
        for row in rows:
            launch = "ImplicitBarrier" in row["source"]
            (_, _, _, cells), = self.each(name, [row], ("m(ovh)", "s(ovh)") if launch else NS, 1e-3)
            self.assertEqual(row["x"], cells["GPUCount" if launch else "GPUcount"])
            self.assertEqual(row["series"], "{}, {} per SM x {}".format(
                cells["method"], *shape(cells)))
            seen[row["series"]] += 1
        for series, count in seen.items():  # all counts of GPUs
            self.assertEqual(count, int(name[-1]) - ("no_peer" in series), series)
        self.assertEqual(len(seen), 2 + 2 * 3)

    def check_sums(self, name, rows, x, base):
        """Rates, and percent of a method at the same x; how many."""
        rates = {}
        for row in rows:
            used = list(sources(ROOT / "results" / name, row["source"]))
            cells = used[0][2]
            self.assertEqual((cells["method"], cells["type"], cells["right"]),
                             (row["series"], "float", "1" if row["series"] != "read_limit"
                              else cells["right"]))
            self.assertEqual((row["x"], row["unit"]), (
                cells[x], "GB/s" if len(used) == 1 else f"percent of {base}"))
            value, spread = float(cells["m(GB/s)"]), float(cells["s(GB/s)"])
            if len(used) > 1:
                self.assertEqual((used[1][2]["method"], used[1][2][x]), (base, cells[x]))
                whole = float(used[1][2]["m(GB/s)"])
                spread = 100 * math.sqrt((spread / whole) ** 2 + (
                    value * float(used[1][2]["s(GB/s)"]) / whole ** 2) ** 2)
                value = 100 * value / whole
            self.assertAlmostEqual(float(row["value"]), value, places=4)
            self.assertAlmostEqual(float(row["spread"]), spread, places=4)
            rates.setdefault(used[0][1], Counter())[len(used)] += 1
        return rates

    def check_figure_15(self, name, rows):
        found = rows_of(name, "Reduction", "one GPU")
        sizes = {cells["bytes"] for cells in found if cells["method"] == "implicit"}
        self.assertEqual(self.check_sums(name, rows, "bytes", "read_limit"), {
            "one GPU": {1: 7 * len(sizes), 2: 6 * len(sizes)}})

    def check_figure_16(self, name, rows):
        gpus = int(name[-1])
        self.assertEqual(self.check_sums(name, rows, "GPUcount", "implicit_multi"), {
            title: {1: gpus, 2: 3 * gpus} for title in ("strong scaling", "weak scaling")})
        for row in rows:
            _, title, cells = next(sources(ROOT / "results" / name, row["source"]))
            largest = max(int(other["bytes"]) for other in rows_of(name, "Reduction", title)
                          if other["GPUcount"] == cells["GPUcount"])
            self.assertEqual((int(cells["bytes"]), row["panel"].split(":")[0]), (largest, title))

    def check_figure_18(self, name, rows):
        self.assertEqual(len(rows), 4 * 32)
        for row, _, _, cells in self.each(name, rows, ()):
            column = {"before the barrier": "start", "behind it": "end"}[row["series"]]
            self.assertEqual((row["panel"].split(":")[0], row["x"], float(row["value"])),
                             (cells["method"], cells["lane"], float(cells[column])))

    def check_block_barriers(self, name, rows):
        found = Counter()
        for row, _, title, cells in self.each(name, rows, CYCLES):
            self.assertEqual((row["series"], row["x"]), (cells["method"], cells["thrd"]))
            self.assertEqual(cells.get("tile", cells["thrd"]), cells["thrd"])
            found[title] += 1
        self.assertEqual(found, {"block latency": 5 * 32, "group latency": 5})

    def check_clusters(self, name, rows):
        self.assertEqual(len(rows), 3 * 4 * 6)
        for row, _, _, cells in self.each(name, rows, CYCLES):
            self.assertEqual((row["panel"], row["series"], row["x"]),
                             (cells["method"], cells["blk"], cells["thrd"]))

    def check_atomics(self, name, rows):
        self.assertEqual(len(rows), 4 * 4 + 6)
        for row, _, _, cells in self.each(name, rows, CYCLES):
            memory, operation = cells["method"].split("_")
            self.assertEqual(row["series"].split()[:2], [f"{memory},", cells["tile"]])
            self.assertEqual(row["x"], cells["thrd"] if "shared_add" in row["panel"]
                             else operation)

    def check_barriers(self, name, rows):
        """ns of each, with what stands in its label."""
        levels = Counter()
        for row in rows:
            level, label = row["x"].split(": ", 1)
            levels[level] += 1
            used = list(sources(ROOT / "results" / name, row["source"]))
            file, title, cells = used[0]
            if "m(ave_cycle)" in cells:
                self.assertIn(level, LEVELS[title])
                cycles = [float(part["m(ave_cycle)"]) for _, _, part in used]
                spread = sum(float(part["s(ave_cycle)"]) ** 2 for _, _, part in used) ** 0.5
                value = cycles[0] - sum(cycles[1:])
                self.assertAlmostEqual(float(row["value"]), value * 1e3 / float(cells["clock"]),
                                       places=5)
                self.assertAlmostEqual(float(row["spread"]), spread * 1e3 / float(cells["clock"]),
                                       places=5)
                self.assertEqual([part["method"] for _, _, part in used[1:]],
                                 [WITHOUT[cells["method"]]] if cells["method"] in WITHOUT else [])
                for _, _, part in used[1:]:
                    self.assertEqual((part["thrd"], part["tile"]), (cells["thrd"], cells["tile"]))
                self.assertGreater(value, 3.5)  # something waits
                shown = cells.get("tile", cells["thrd"])
                self.assertIn(f" {shown} ", f" {label} ".replace("lanes", " "))
            else:
                mean, deviation = ("m(ovh)", "s(ovh)") if "m(ovh)" in cells else NS
                self.assertEqual(float(row["value"]), float(cells[mean]))
                self.assertEqual(float(row["spread"]), float(cells[deviation]))
                self.assertIn("{} per SM x {}".format(*shape(cells)), label)
                gpus = cells.get("GPUcount", cells.get("GPUCount"))
                self.assertEqual(gpus, name[-1] if level == "all GPUs" else "1")
            method = cells["method"]
            if method in WITHOUT:  # a difference, which no row has the name of
                method = f"added_{method.removeprefix('in_use_')}"
            self.assertEqual(label.split(", ")[0], method)
        self.assertEqual(levels, {"warp": 7, "block": 13, "cluster": 5, "one GPU": 10,
                                  **({"all GPUs": 5} if int(name[-1]) > 1 else {})})
