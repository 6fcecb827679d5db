"""Tests of report.py and of the study's own numbers that it shows."""

import unittest

from scripts_support import ROOT, ScriptsTest

import tsv  # from scripts/, which scripts_support has put on the path
from report_study import FOLDER, GPUS, Study


class StudyTest(ScriptsTest):
    """A number that was copied wrongly breaks what the study says of the others."""

    def near(self, value, expected):
        self.assertLess(abs(float(value) / expected - 1), 0.025)

    def test_tables_agree_by_the_equations(self):
        study = Study()
        rates = {(row["gpu"], row["threads"]): row for row in study.tables["III"]}
        for row in rates.values():  # Equation 1
            self.near(row["concurrency_B"],
                      float(row["bandwidth_B_per_cycle"]) * float(row["latency_cycles"]))
        for row in study.tables["IV"]:
            basic, more = (rates[row["gpu"], row[name]] for name in ("basic", "more"))
            sync, slow, fast = (float(text) for text in (
                row["sync_cycles"], basic["bandwidth_B_per_cycle"], more["bandwidth_B_per_cycle"]))
            self.near(row["Nl_B"], sync * slow * fast / (fast - slow))  # Equation 5
            self.near(row["Nm_B"], (float(basic["latency_cycles"]) + sync) * slow)  # Equation 4
            # Five times the barrier of Table II: of a warp the shuffle, of a block 32 warps of it.
            if row["more"] == "32":
                self.near(row["sync_cycles"], 5 * float(study.value(
                    "II", "latency_cycles", type="shuffle of a tile", gpu=row["gpu"])))

    def test_every_table_has_what_the_study_has(self):
        study = Study()
        self.assertEqual([len(rows) for rows in study.tables.values()],
                         [3, 12, 8, 4, 14, 10, 2, 12])
        for name in ("II", "III", "IV", "V", "VI", "VII"):
            count = {gpu: sum(row["gpu"] == gpu for row in study.tables[name]) for gpu in GPUS}
            self.assertEqual(count["V100"], count["P100"], name)
        for sum_ in ("implicit", "grid sync", "CUB", "CUDA sample"):  # no sum is faster than it can
            for gpu in GPUS:
                self.assertLess(float(study.value("VI", "GB_per_s", sum=sum_, gpu=gpu)),
                                float(study.value("VI", "GB_per_s", sum="theory", gpu=gpu)))
        self.assertIsNone(study.value("II", "reference_thread_op_per_cycle", type="tile"))
        self.assertIsNone(study.value("I", "overhead_ns", gpu="P100"))

    def test_it_is_no_run(self):
        with self.assertRaisesRegex(tsv.TsvError, "is not a results folder"):
            tsv.Run(FOLDER)
        self.assertEqual(FOLDER, ROOT / "results" / "ipdps20")

    def test_a_row_without_source_is_refused(self):
        for path in FOLDER.iterdir():
            (self.folder / path.name).write_bytes(path.read_bytes())
        path = self.folder / "table_1.tsv"
        path.write_text(path.read_text().replace("10248\tTable I", "10248\t"))
        with self.assertRaisesRegex(tsv.TsvError, "table_1.tsv, line 3: no source"):
            Study(self.folder)


if __name__ == "__main__":
    unittest.main()
