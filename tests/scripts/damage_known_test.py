"""What once broke a script, and what must not: each damage of a results folder by name."""

import gzip
import shutil
import subprocess
import unittest

from in_process import READERS, ReadersCase
from made_up_rows import ENVIRONMENT, ROWS
from scripts_support import ROOT

from parts import checksums, tsv  # from scripts/, which scripts_support has put on the path

SUM, GRID = ROWS["Reduction"], ROWS["BenchmarkInterSM"]


class KnownDamageTest(ReadersCase):
    def assert_all_refuse(self, run, *message, readers=READERS):
        for reader in readers:
            self.assert_refused(self.read(reader, run), 2, f"{reader}: ", *message)
        self.assertFalse(self.out.exists())

    def changed(self, file, old, new):
        text = ENVIRONMENT if file == "environment" else ROWS[file]
        self.assertIn(old, text)
        return self.write_run(self.folder / "run", {file: text.replace(old, new, 1)})

    def test_values_are_no_formats(self):
        for value in ("{x}", "{gpu.__class__.__mro__}", "{gpu:>3000000000}", "{0}", "%s", "%(gpu)s"):
            for key in ("cuda_toolkit_before13", "gpu", "driver", "suite_commit"):
                text = ENVIRONMENT.replace(f"{key}\t", "note\t") + f"{key}\t{value}\n"
                run = self.write_run(self.folder / "run", {
                    "environment": text, "ImplicitBarrier": ROWS["ImplicitBarrier"].replace(
                        "# gpu[", "# device[")})
                done = self.read("summary.py", run)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(value, done.stdout.splitlines()[0])
        self.report(run, recorded=self.folder)
        self.assertIn(value, self.page)

    def test_more_gpus_than_there_are(self):
        for count in ("3", "10000", "4000000000", "9" * 400):
            run = self.changed("BenchmarkInterSM", "peer_grid_sync\t2\t", f"peer_grid_sync\t{count}\t")
            self.assert_all_refuse(run, "BenchmarkInterSM.tsv, line 11, column GPUcount: '")
        for count in ("0", "-1", "²", "٢", "10000", "9" * 4301, "2.0", "nan", ""):
            self.assert_all_refuse(self.changed("environment", "gpu_count\t2", f"gpu_count\t{count}"),
                                   "environment.tsv: the number of GPUs is '")
        many = ENVIRONMENT.replace("gpu_count\t2", "gpu_count\t9999")
        run = self.write_run(self.folder / "run", {
            "environment": many, "BenchmarkInterSM": GRID.replace(
                "peer_grid_sync\t2\t", "peer_grid_sync\t9999\t")})
        for reader in READERS:
            self.assertEqual(self.read(reader, run).returncode, 0, reader)

    def test_numbers_that_are_none(self):
        for cell in ("9" * 309, "9" * 4301, "1" * 16, "1e999", "inf", "NaN", "0x1p3", "1_0", "²"):
            for file, old, where in (("BenchmarkInterSM", "1075.500", "line 4, column m(avginstru)"),
                                     ("BenchmarkInterSM", "\t132\t", "line 4, column blk"),
                                     ("Reduction", "1048576", "line 22, column bytes"),
                                     ("BenchmarkIntraSM", "\t1024\t", "line 5, column thrd")):
                run = self.changed(file, old, old.replace(old.strip("\t"), cell))
                self.assert_all_refuse(run, f"{file}.tsv, {where}: '{cell[:16]}", "is not a ",
                                       readers=READERS[:2])
            self.assert_all_refuse(self.changed("environment", "\t132", f"\t{cell}"),
                                   "environment.tsv: the number of SMs is '", readers=READERS[:1])
        text = GRID.replace("1 per SM x 32", "9" * 5000 + " per SM x 32")
        self.assertEqual(self.read("summary.py", self.write_run(
            self.folder / "run", {"BenchmarkInterSM": text})).returncode, 0)

    def test_numbers_that_cannot_be(self):
        for file, old, new, where in (
                ("BenchmarkInterSM", "\t132\t32", "\t0\t32", "line 4, column blk: '0' is less than 1"),
                ("BenchmarkInterSM", "0.250", "-0.250", "line 4, column s(avginstr): '-0.250' is less"),
                ("Pitfalls", "no_sync\t0\t0", "no_sync\tnan\t0", "line 3, column lane: 'nan' is not a"),
                ("Pitfalls", "no_sync\t0\t0", "<b>\t0\t0", "line 3, column method: '<b>' is not a "),
                ("Reduction", "1048576", "0", "line 22, column bytes: '0' is less than 1"),
                ("TestRepeat", "blocksync\t1\t", "blocksync\t0\t", "line 4, column rep: '0' is less")):
            self.assert_all_refuse(self.changed(file, old, new), f"{file}.tsv, {where}")

    def test_means_that_nobody_knows(self):
        for name in ("m(x)", "m({x})", "m(basic_ttl)"):
            run = self.changed("BenchmarkInterSM", "m(avginstru)", name)
            for reader in ("compare.py", "report.py"):
                self.assert_refused(self.read(reader, run), 2, "BenchmarkInterSM.tsv, line ")

    def test_other_formats(self):
        data = GRID.encode()
        for content, message in (
                (GRID.encode("utf-16"), "line 1: not text in UTF-8 (byte 1)"),
                (GRID.encode("utf-16-le"), "line 13: the last line is cut short"),
                (gzip.compress(data), "not text in UTF-8"), (bytes(999), "line 1: the last line is"),
                (data.replace(b"\n", b"\r"), "the last line is cut short"),
                (data.replace(b"grid_sync\t1", b"grid\x1bsync\t1", 1), "(character 5)"),
                (data.replace(b"\t", b","), "line 2: its columns are not separated by tabs"),
                (data + data, "line 14: a section grid latency stands twice"),
                (data + data[data.index(b"peer"):].split(b"\n")[0] + b"\n",
                 "line 13: the same point twice, as in line 10")):
            self.assert_all_refuse(self.write_run(self.folder / "run", {"BenchmarkInterSM": content}),
                                   "BenchmarkInterSM.tsv", message)
        for content in (b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n")):
            run = self.write_run(self.folder / "run", {"BenchmarkInterSM": content})
            self.assertEqual([one.rows for one in tsv.Run(run).files["BenchmarkInterSM"]],
                             [one.rows for one in tsv.parse(data)])
        for name in ("BenchmarkInterSM", "environment", "stderr"):
            run = self.write_run(self.folder / "run", {name: None})
            (run / f"{name}.{'log' if name == 'stderr' else 'tsv'}").mkdir()
            self.assert_all_refuse(run, "cannot read ", "it is no file of 64 MiB or less")

    def test_files_of_another_run(self):
        for changes, message in (
                ({"BenchmarkInterSM": "# program[name=TestRepeat]\n" + GRID},
                 "BenchmarkInterSM.tsv: these are rows of TestRepeat"),
                ({"environment": ENVIRONMENT.replace("H200", "H100")},
                 "ImplicitBarrier.tsv: these are rows of NVIDIA H200, and environment.tsv is of "),
                ({"environment": ENVIRONMENT + "gpu\tNVIDIA H200\n"},
                 "environment.tsv, line 6: gpu stands twice")):
            self.assert_all_refuse(self.write_run(self.folder / "run", changes), message)

    def test_names_of_folders(self):
        for name in ("a\nb", "a\x1b[31mb", "a\u202eb", "a\udcffb"):
            run = self.write_run(self.folder / name)
            self.assert_all_refuse(run, "the folder's name has a character that cannot be shown")
        for name in ("<script>", "{x}", "%s", "a|b", "$(touch x)", "..x", "[x](javascript:y)", "-x"):
            run = self.write_run(self.folder / name)
            self.report(run, recorded=self.folder / "none")
            self.assertNotIn("<script>", self.page + (self.out / "report.html").read_text())
            self.assertEqual({path.name for path in (self.out / "tables").iterdir()}, {name})
            shutil.rmtree(self.out)

    def test_damages_of_the_study(self):
        for file, old, new, message in (
                ("table_8", "grid_two_blocks", "grid_3_blocks", "nothing judges 'grid_3_blocks'"),
                ("table_2", "1.774", "1e774", "table_2.tsv, line 3, column throughput_sync"),
                ("figure_8", "\t1\t1\t32", "\t²\t1\t32", "figure_8.tsv, line 2, column gpus: '²'"),
                ("figure_8", "gpus\t", "gpu\t", "there is no column gpus"),
                ("table_2", None, None, "table_2.tsv: No such file")):
            (self.project / "results").unlink()
            study = self.project / "results/ipdps20"
            shutil.copytree(ROOT / "results/ipdps20", study)
            shutil.copy(ROOT / "results/bounds.tsv", study.parent)
            path = study / f"{file}.tsv"
            if old:
                self.assertIn(old, path.read_text())
                path.write_text(path.read_text().replace(old, new, 1))
            else:
                path.unlink()
            run = self.write_run(self.folder / "run")
            (study / checksums.NAME).unlink()
            done = self.script("report.py", run, "--recorded", self.folder / "none")
            self.assert_refused(done, 2, message)
            shutil.rmtree(self.project / "results")
            (self.project / "results").symlink_to(ROOT / "results")


class ChecksumsTest(ReadersCase):
    def test_recorded_folders(self):
        """sha256sum of GNU says the same of them."""
        for folder in sorted(path.parent for path in ROOT.glob("results/*/SHA256SUMS")):
            done = subprocess.run(["sha256sum", "--check", "--strict", "--quiet", checksums.NAME],
                                  cwd=folder, capture_output=True)
            self.assertEqual((done.returncode, done.stdout), (0, b""), folder)
            if folder.name != "ipdps20":
                self.assertTrue(tsv.Run(folder).checked)

    def test_every_flipped_bit_is_seen(self):
        run = self.write_run(self.folder / "run")
        checksums.write(run)
        self.assertTrue(tsv.Run(run).checked)
        path, data = run / "Pitfalls.tsv", ROWS["Pitfalls"].encode()
        for place in range(0, 8 * len(data), 13):
            damaged = bytearray(data)
            damaged[place // 8] ^= 1 << place % 8
            path.write_bytes(damaged)
            with self.assertRaisesRegex(tsv.TsvError, "Pitfalls.tsv"):
                tsv.Run(run)

    def test_what_is_said(self):
        run = self.write_run(self.folder / "run")
        self.assertIn("There is no SHA256SUMS: ", self.read("summary.py", run).stdout)
        self.report(run, recorded=self.folder)
        self.assertIn("There is no SHA256SUMS: ", self.page)
        self.assertIn("There is no SHA256SUMS: ", (self.out / "report.html").read_text())
        self.assertIn("There is no SHA256SUMS: ", self.read("compare.py", run).stdout)
        checksums.write(run)
        self.assertEqual([path.name for path in run.iterdir() if path.name.startswith(".")], [])
        self.report(run, recorded=self.folder)
        self.assertNotIn("SHA256SUMS", self.page)
        sums, path = run / "SHA256SUMS", run / "TestRepeat.tsv"
        good, rows = sums.read_text(), path.read_text()

        def refused(*message):
            for reader in ("summary.py", "report.py"):
                self.assert_refused(self.read(reader, run), 2, *message)

        path.write_text(rows.replace("30.000", "31.000"))
        refused("TestRepeat.tsv is not what was recorded: its sum is not that of SHA256SUMS")
        path.write_text(rows.replace("30.000", "3O.000"))
        refused("TestRepeat.tsv, line 4, column m(cycle): '3O.000' is not a number")
        path.unlink()
        refused("TestRepeat.tsv is missing, though SHA256SUMS has it")
        path.write_text(rows)
        (run / "stderr.log").write_text("x\n")
        refused("stderr.log is not in SHA256SUMS")
        (run / "stderr.log").unlink()
        for text, message in ((good[:-5], "the last line is cut short"), ("", "is not in SHA256SUMS"),
                              (good.replace("  ", " ", 1), "line 1: not a sum and the name"),
                              (good.replace("  ", "  ../", 1), "line 1: not a sum and the name"),
                              (good + good.splitlines(True)[0], "not a sum and the name of one more")):
            sums.write_text(text)
            refused("SHA256SUMS", message)
        sums.write_text(good)
        self.assertEqual(self.read("summary.py", run).returncode, 0)


if __name__ == "__main__":
    unittest.main()
