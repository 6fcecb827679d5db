"""Tests of the tables that pages show of the recorded rows, against the rows read anew."""

import unittest

from report_headline_test import NAMES
from report_support import RECORDED, rows_of, table_below
from scripts_support import ROOT

LIBRARY = "explicit_barrier/peer_grid_barrier/README.md"
# What README's rows are of: file, section, cells (blk: for each SM); the study's numbers; folder,
# section and method of the same in use.
IN_SM, ACROSS_SMS, LAUNCHES = "BenchmarkIntraSM", "BenchmarkInterSM", "ImplicitBarrier"
ROWS = (
    (IN_SM, "warp latency", {"method": "tile_sync", "thrd": "32", "tile": "32"}, None, None),
    (IN_SM, "block latency", {"method": "blocksync", "thrd": "32"}, "22, 218",
     ("fences", "group latency", "in_use_blocksync")),
    (IN_SM, "group latency", {"method": "cluster_sync", "blk": "2", "thrd": "32"}, None,
     ("fences", "group latency", "in_use_cluster_sync")),
    *((ACROSS_SMS, "grid latency", {"method": "grid_sync", "blk": blocks, "thrd": threads}, None,
       ("grid_barriers", "grid latency", "in_use_grid_sync"))
      for blocks, threads in ((1, "1024"), (32, "64"))),
    *((ACROSS_SMS + older, "multi-GPU latency", {"method": method, "blk": 1, "thrd": "1024",
                                                 "GPUcount": gpus}, study, None)
      for gpus, older, method, study in (
          ("2", "", "peer_grid_sync", None),
          ("2", ".before13", "multi_grid_sync", None),
          ("2", ".before13", "multi_grid_sync_no_peer", "12410, 8440"),
          ("4", "", "peer_grid_sync", None))),
    (LAUNCHES, "sleep kernel", {"method": "traditional_launch", "GPUCount": "1", "blk": 1,
                                "thrd": "1024"}, None, None))
MEANS = {IN_SM: "m(ave_cycle)", ACROSS_SMS: "m(avginstru)", LAUNCHES: "m(ovh)"}
SMS = 132  # of all recorded machines


def row_of(folder, file, title, cells):
    cells = {column: str(SMS * text) if isinstance(text, int) else text
             for column, text in cells.items()}
    rows = [row for row in rows_of(folder, file, title)
            if all(row[column] == text for column, text in cells.items())]
    return rows[0] if rows else None


class RecordedTablesTest(unittest.TestCase):
    def test_values_are_those_of_the_rows(self):
        head, *table = table_below((ROOT / "README.md").read_text(), "<!-- machines: ")
        heads = [f"[{name}](results/{folder})" for name, folder in zip(NAMES, RECORDED)]
        place = 1 + RECORDED.index("h200x1")
        self.assertEqual(head, ["Barrier, CUDA 13.0", "Unit", *heads[:place], "1 H200, in use",
                                *heads[place:], "Study: V100, P100"])
        self.assertEqual(len(table), len(ROWS))
        for cells, (file, title, wanted, study, used) in zip(table, ROWS):
            self.assertEqual(cells[-1], study or "–", cells[0])
            text = cells.pop(2 + place)
            if used:
                folder, section, method = used
                self.check(text, file, row_of(folder, "h200x1", section, {
                    **wanted, "method": method}))
            else:
                self.assertEqual(text, "–", cells[0])
            for folder, text in zip(RECORDED, cells[2:]):
                self.check(text, file, row_of(folder, file, title, wanted))

    def check(self, text, file, row):
        mean = MEANS[file.split(".")[0]]
        if row is None:
            self.assertEqual(text, "–")
        elif text != "none":
            value = float(text.split(" ±")[0].rstrip("!"))
            places = len(text.split(" ±")[0].rstrip("!").partition(".")[2])
            spread = float(row.get("s(avginstr)") or row[f"s{mean[1:]}"])
            self.assertAlmostEqual(value, float(row[mean]),
                                   delta=max(spread / 10, 0.5 * 10 ** -places))
        else:
            self.assertLess(float(row[mean]), 3.5)  # nothing waits

    def test_sample_is_of_the_recorded_lines(self):
        text = (ROOT / "README.md").read_text().split("<!-- sample: ")[1]
        shown = text.split("```")[1].splitlines()[1:]
        recorded = {" ".join(line.split()) for line in (
            ROOT / "results/h200x1/BenchmarkIntraSM.tsv").read_text().splitlines()}
        self.assertEqual(len(shown), 7)
        self.assertLessEqual({" ".join(line.split()) for line in shown}, recorded)

    def test_barriers_of_several_gpus(self):
        head, *table = table_below((ROOT / LIBRARY).read_text(), "<!-- barriers: ")
        self.assertEqual(head[3:], ["1 GPU", "2 GPUs", "3 GPUs", "4 GPUs"])
        self.assertEqual(len(table), 11)
        for label, toolkit, shape, *cells in table:
            file, title, count = ACROSS_SMS, "multi-GPU latency", "GPUcount"
            if "launch" in label:
                file, title, count = LAUNCHES, "sleep kernel", "GPUCount"
            elif "multi_grid" in label:
                file += ".before13"
            self.assertEqual(toolkit, "11.8" if "before13" in file else "13.0")
            method = ("multi_grid_sync_no_peer" if "without" in label else
                      label.strip("`"))
            blocks, threads = shape.split(" per SM x ")
            for gpus, cell in zip("1234", cells):
                row = row_of("h200x4", file, title, {
                    "method": method, "blk": int(blocks), "thrd": threads, count: gpus})
                mean = row and row["m(ovh)" if file == LAUNCHES else "m(avginstru)"]
                self.assertEqual(cell, f"{float(mean) / 1e3:.2f}" if row else "–")

    def test_warp_barriers(self):
        (_, _, *tiles), *table = self.table("limits", "warp")
        for method, toolkit, *cells in table:
            file = IN_SM + ".before13" * ("11" in toolkit)
            for tile, cell in zip(tiles, cells):
                row = row_of("h200x1", file, "warp latency", {
                    "method": method.strip("`"), "thrd": "32", "tile": tile})
                cycles = row and float(row["m(ave_cycle)"])
                self.assertEqual(cell, "–" if row is None else "none" if cycles < 3.5
                                 else f"{cycles:.0f}", (method, toolkit, tile))

    def test_sums(self):
        head, *table = self.table("reduction", "sizes")
        for method, *cells in table:
            row = row_of("h200x1", "Reduction", "one GPU", {
                "method": method.strip("`"), "type": "float", "bytes": str(2 ** 35)})
            self.assertEqual((head[-1], cells[-1]), ("32 GiB", f"{float(row['m(GB/s)']):.0f}"))
        _, *table = self.table("reduction", "gpus")
        for size, method, *cells in table:
            number, unit = size.split()
            file = "Reduction" + ".before13" * ("multi_grid" in method)
            for gpus, cell in zip("1234", cells):
                row = row_of("h200x4", file, "strong scaling", {
                    "method": method.strip("`"), "type": "float", "GPUcount": gpus,
                    "bytes": str(int(number) * {"MiB": 2 ** 20, "GiB": 2 ** 30}[unit])})
                self.assertEqual(cell.rstrip("!"), f"{float(row['med(host)']):.1f}")
        _, *table = self.table("reduction", "warp")
        row = row_of("h200x1", "Reduction.before13", "warp level", {"method": "coa", "type": "float"})
        self.assertIn(f"{float(row['m(ave_cycle)']):.1f}",
                      next(cells[4] for cells in table if cells[0] == "`coa`"))
        _, *table = self.table("reduction", "switch")
        for kind, threads, cost, sync, predicted, measured in table:
            more, basic = threads.split(" instead of ")
            row = row_of("h200x1", "Reduction", "switching points", {
                "type": kind, "more": more, "basic": basic, "cost": cost})
            self.assertEqual([sync, predicted, measured], [
                f"{float(row[name]):.0f}" for name in ("m(sync)", "predicted", "measured")])

    def test_pitfalls(self):
        _, *table = self.table("pitfalls", "partial")
        outcomes = {(cells[0].strip("`"), form): cell for cells in table for form, cell in zip(
            ("exits early", "stays and skips", "as allowed"), cells[1:])}
        _, *table = self.table("pitfalls", "races")
        wrong = {(cells[0].strip("`"), form): cell for cells in table for form, cell in zip(
            ("wrong", "right"), cells[2:])}
        seen = 0
        for folder in RECORDED:
            for file in ("Pitfalls", "Pitfalls.before13"):
                for row in rows_of(folder, file, "partial groups"):
                    shown = outcomes.get((row["method"], row["form"]))
                    if shown is not None:
                        self.assertIn(row["outcome"].replace("error ", ""), shown.replace("`", ""))
                        seen += 1
            for row in rows_of(folder, "Pitfalls", "races"):
                low, _, high = wrong[row["method"], row["form"]].partition(" to ")
                self.assertTrue(int(low) <= int(row["wrong"]) <= int(high or low), row)
        self.assertGreater(seen, 100)

    def test_differences(self):
        _, *table = self.table("limits", "differences")
        shown = {(cells[0], cells[1].strip("`")): cells[2:] for cells in table}
        changes = []
        for one, other in (("h200x1", "h200x2"), ("h200x1", "h200x4"), ("h200x2", "h200x4")):
            for row in rows_of(one, ACROSS_SMS, "grid latency"):
                if row["method"] == "grid_sync":
                    mean, there = (float(found["m(avginstru)"]) for found in (row, row_of(
                        other, ACROSS_SMS, "grid latency", {
                            key: row[key] for key in ("method", "blk", "thrd", "GPUcount")})))
                    changes.append(100 * abs(there - mean) / mean)
        count, half, _, largest = shown[ACROSS_SMS, "grid_sync"]
        self.assertEqual((count, largest), (str(len(changes)), f"{max(changes):.1f}%"))
        self.assertEqual(half, f"{sorted(changes)[len(changes) // 2 - 1]:.1f}%")

    def test_fastest_grid_barriers(self):
        _, *table = self.table("grid_barriers", "fastest")
        ordered = ("grid_sync", "xiao_feng_lock_ordered", "xiao_feng_flags_ordered", "sorensen_flags",
                   "sense_reversing_ordered", "cluster_first", "peer_grid_sync",
                   "cub_grid_barrier_ordered")
        names, savings = set(), []
        for machine in ("h200x1", "h100x1"):
            exits = {}  # threads -> {method: ns}, of one block per SM
            for row in (row for file in (machine, f"{machine}.before13")
                        for row in rows_of("grid_barriers", file, "one late")):
                if row["method"] in ordered and row["blk"] == str(SMS):
                    exits.setdefault(row["thrd"], {})[row["method"]] = float(row["med(exit)"])
            for found in exits.values():
                names.add(min(found, key=found.get))
                savings.append(100 - 100 * min(found.values()) / found["grid_sync"])
        self.assertEqual(table[0], ["1", *table[0][1:3], (
            f"`{names.pop()}`: {min(savings):.0f} to {max(savings):.0f}%")])
        self.assertEqual(names, set())

    def test_ladder(self):
        _, *table = self.table("launches", "ladder")
        for way, blocks in (("`steps_grid_sync`", SMS), ("`steps_cluster_sync`, 8 blocks", 8)):
            cells = next(cells for cells in table if cells[0] == way)
            for work, cell in zip(("0", "1000", "5000", "20000"), cells[1:]):
                rows = [next(row for row in rows_of("launches", machine, "dependent steps") if (
                    row["method"], row["blk"], row["thrd"], row["idea(wkld)"], row["reads"]) == (
                        way.split("`")[1], str(blocks), "256", work, "1"))
                        for machine in ("h100x1", "h200x1", "h200x2")]
                self.assertEqual(cell.replace(" !", ""), " / ".join(
                    f"{float(row['med(step)']):.0f}" for row in rows))

    @staticmethod
    def table(page, name):
        return table_below((ROOT / f"docs/{page}.md").read_text(), f"<!-- {name}: ")


if __name__ == "__main__":
    unittest.main()
