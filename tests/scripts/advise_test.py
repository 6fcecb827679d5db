"""Tests of advise.py on made-up rows, and its error on the recorded ones."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import advise
from parts import tsv
from reporting.steps_model import LADDER, NEEDS, NEEDS_OF_GPUS, Rows, Steps, Sums, percentile
from reporting.words_model import Words

HEADER = "method GPUCount rep blk thrd idea(wkld) reads m(step) s(step) m(seam) s(seam) n med(step)"
GPU = '# gpu[index=0 name="Made up" sms=256]'
MOST_OFF, MOST_OFF_OF_GPUS = 0.15, 0.25  # at the 95th percentile


def of_machine(kind, gpus=1):
    """The recorded files of a machine."""
    found = [Path(str(path).replace("h200", kind)) for path in advise.recorded(gpus)]
    return [path for path in found if path.exists()]


def planted(pace, seams):
    """Rows of ways that follow the model exactly; seams: {blocks: ns}"""
    for method, factor in (("traditional_launch", 2), ("steps_grid_sync", 1)):
        for blocks, seam in seams.items():
            for work in (0, 1000, 5000, 20000):
                step = max(pace * factor, seam * factor + work)
                yield (method, 1, 50, blocks, 256, work, 1, step, 1, step - work, 1, 10, step)


class AdviseTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.file = Path(temporary.name) / "ImplicitBarrier.tsv"

    def write(self, rows, title=LADDER, header=HEADER, name="ImplicitBarrier.tsv"):
        lines = [GPU, f"# {title}", *("\t".join(map(str, row)) for row in (header.split(), *rows))]
        (self.file.parent / name).write_text("\n".join([*lines, f"# end[rows={len(lines) - 3}]", ""]))

    def advise(self, *arguments):
        return subprocess.run([ROOT / "scripts/advise.py", *map(str, arguments)],
                              capture_output=True, text=True)

    def rows(self, *arguments):
        done = self.advise(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        comments, table = ([line for line in done.stdout.splitlines() if (line[0] == "#") == said]
                           for said in (True, False))
        names, *rows = (line.split("\t") for line in table)
        return comments, [dict(zip(names, row)) for row in rows]

    def test_what_is_planted_comes_back(self):
        self.write(planted(3000, {1: 1000, 16: 2000, 256: 3000}))
        comments, rows = self.rows("--work", 2, "--blocks", 64, "--steps", 500, self.file)
        self.assertIn(f"# error[rows=steps percent=0.0 cases=16]: {self.file}", comments)
        self.assertIn("# fastest: steps_grid_sync", comments)
        # 64 blocks are half of the way from 16 to 256.
        first, second = rows
        self.assertEqual((first["way"], first["us(step)"], first["ms(all)"], first["share(%)"]),
                         ("steps_grid_sync", "4.50", "2.250", "56"))
        self.assertEqual(first["us(under 5%)"], "48")  # 19 times 2.5
        self.assertEqual((second["way"], second["us(step)"]), ("traditional_launch", "7.00"))
        # Steps without work come as fast as the host launches.
        _, rows = self.rows("--work", 0, self.file, "--blocks", 1)
        self.assertEqual([row["us(step)"] for row in rows], ["3.00", "6.00"])

    def test_a_folder_is_read_too(self):
        self.write(planted(3000, {1: 1000, 16: 2000, 256: 3000}))
        self.assertEqual(self.advise("--work", 2, self.file.parent).stdout,
                         self.advise("--work", 2, self.file).stdout)

    def test_barriers_of_other_shapes(self):
        self.write(planted(3000, {1: 1000, 256: 3000}))
        self.write([("grid_sync", 1, 256 * per_sm, threads, cost) for per_sm, threads, cost in (
            (1, 256, 1000), (4, 64, 1700))], "grid latency", "method GPUcount blk thrd med(avginstru)",
            "BenchmarkInterSM.tsv")
        for blocks, threads, step in ((1024, 64, 5.7), (800, 50, 5.7), (256, 256, 5.0)):
            comments, rows = self.rows("--work", 2, "--blocks", blocks, "--threads", threads,
                                       self.file.parent)
            self.assertEqual([(row["way"], float(row["us(step)"])) for row in rows],
                             sorted([("steps_grid_sync", step), ("traditional_launch", 8.0)],
                                    key=lambda way: way[1]))
            self.assertEqual(sum("not measured in this shape" in line for line in comments), threads != 256)
        _, rows = self.rows("--work", 2, "--blocks", 1024, self.file.parent)
        self.assertEqual([row["way"] for row in rows], ["traditional_launch"])

    def test_several_gpus(self):
        self.write([("events_to_all", 2, 256, 1024, 10000, 4000)], "between GPUs",
                   "method GPUCount blk thrd idea(wkld) med(turns)")
        self.write([("peer_grid_sync", 2, 256, 256, 2000)], "multi-GPU latency",
                   "method GPUcount blk thrd med(avginstru)", "BenchmarkInterSM.tsv")
        _, rows = self.rows("--work", 20, "--gpus", 2, self.file.parent)
        self.assertEqual([(row["way"], row["us(step)"], row["us(low)"]) for row in rows],
                         [("peer_grid_sync", "22.00", "nan"), ("events_to_all", "24.00", "nan")])
        # Launches of less work have no rows.
        _, rows = self.rows("--work", 5, "--gpus", 2, self.file.parent)
        self.assertEqual([row["way"] for row in rows], ["peer_grid_sync"])

    def of_barriers(self, gpus, title, costs):
        """Rows of barriers of 256 blocks of 256 threads. costs: {method: ns}"""
        self.write([(method, gpus, 256, 256, cost) for method, cost in costs.items()], title,
                   "method GPUcount blk thrd med(avginstru)", "BenchmarkInterSM.tsv")

    def test_words_of_one_gpu(self):
        self.write(planted(3000, {1: 1000, 256: 3000}))
        self.of_barriers(1, "grid latency", {
            "grid_sync": 900, "in_use_grid_sync": 1000, "in_use_4_grid_sync": 1300})
        threads = 256 * 256
        for words, step in ((1, 5.0), (threads, 5.0), (threads + 1, 5.1), (3 * threads, 5.2),
                            (4 * threads, 5.3)):
            comments, rows = self.rows("--work", 2, "--words", words, self.file.parent)
            self.assertEqual([(row["way"], float(row["us(step)"])) for row in rows],
                             [("steps_grid_sync", step), ("traditional_launch", step + 3)])
            # One word from none and four: 1000 of 900 and 1300; there is no other barrier.
            self.assertIn("# error[rows=words percent=0.0 cases=1]: "
                          f"{self.file.parent / 'BenchmarkInterSM.tsv'}", comments)
        done = self.advise("--work", 2, "--words", 4 * threads + 1, self.file.parent)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no rows of such steps, 5 words a thread", done.stderr)

    def test_words_of_several_gpus(self):
        name = self.file.parent / "BenchmarkInterSM.tsv"
        self.of_barriers(2, "multi-GPU latency", {
            "peer_grid_sync": 2000, "in_use_peer_grid_sync": 3000, "in_use_4_peer_grid_sync": 4500})
        text = name.read_text().replace("# end[rows=3]\n", "")
        name.write_text(text + "\n".join(["# exchange", "method\tGPUcount\tbytes\tmed(avginstru)", *(
            f"exchange_ll_8\t2\t{size}\t{cost}" for size, cost in ((8, 800), (64, 890), (512, 1000))),
            "# end[rows=6]", ""]))
        for words, expected in ((1, {"exchange_ll_8": 5.8, "peer_grid_sync": 8.0}),
                                (128, {"exchange_ll_8": 6.0, "peer_grid_sync": 8.0}),
                                (129, {"peer_grid_sync": 8.0}),
                                (256 * 256 * 3, {"peer_grid_sync": 9.0})):
            comments, rows = self.rows("--work", 5, "--gpus", 2, "--words", words, name)
            self.assertEqual({row["way"]: float(row["us(step)"]) for row in rows}, expected)
            # 64 bytes from 8 and 512: 900 of 890; one word from none and four: 2625 of 3000.
            self.assertIn(f"# error[rows=exchanges percent=1.1 cases=1]: {name}", comments)
            self.assertIn(f"# error[rows=words percent=12.5 cases=1]: {name}", comments)

    def test_error_on_recorded_words(self):
        for gpus, cases, most in ((1, 104, 0.2), (2, 26, 0.25)):
            words = Words(Steps(Rows(advise.recorded(2))), gpus)
            error, found = percentile(words.errors_of_words())
            self.assertEqual(found, cases)
            self.assertLess(error, most)
        error, found = percentile(words.errors_of_exchanges())
        self.assertEqual(found, 12)
        self.assertLess(error, 0.1)

    def test_error_on_time_steps_is_said(self):
        for gpus in (1, 2):
            comments, _ = self.rows("--work", 50, "--gpus", gpus)
            said, = (line for line in comments if "rows=Stencil" in line)
            self.assertRegex(said, rf"cases=[1-9]\d+\]: results/stencil/h200x{gpus}.tsv$")
        self.write(planted(3000, {1: 1000, 256: 3000}))
        comments, _ = self.rows("--work", 2, self.file)
        self.assertFalse(any("rows=Stencil" in line for line in comments))

    def test_what_is_left_out_is_said(self):
        comments, _ = self.rows("--work", 5, "--gpus", 2)
        self.assertTrue(any(line.startswith("# no rows of such steps: ") and "events_to_all" in line
                            for line in comments), comments)
        comments, _ = self.rows("--work", 5, "--threads", 512)
        self.assertTrue(any("steps_data_flag" in line for line in comments), comments)

    def test_rounds_of_the_shape_that_is_asked(self):
        steps = Steps(Rows(advise.recorded(2)))
        for shape, expected in (((1, 32), ("1", "32")), ((132, 256), ("132", "1024"))):
            for row in steps.rounds(2, *shape).values():
                self.assertEqual((row["blk"], row["thrd"]), expected)

    def test_sums_without_what_they_are_predicted_from(self):
        self.write(planted(3000, {1: 1000, 256: 3000}))
        self.write([("implicit", "float", 1, 1 << 20, 200)], "one GPU",
                   "method type GPUcount bytes med(GB/s)", "Reduction.tsv")
        comments, _ = self.rows("--work", 2, self.file.parent)
        self.assertFalse(any("rows=sums" in line for line in comments))

    def test_error_on_recorded_rows(self):
        for kind in ("h200", "h100"):
            steps = Steps(Rows(of_machine(kind)))
            self.assertEqual({method for method, _ in steps.measured}, set(NEEDS))
            for errors in (steps.errors_of_steps(), Sums(steps).errors_on_one()):
                error, cases = percentile(errors)
                self.assertGreater(cases, 100)
                self.assertLess(error, MOST_OFF, kind)

    def test_error_on_recorded_rows_of_several_gpus(self):
        for gpus in (2, 4):
            steps = Steps(Rows(advise.recorded(gpus)))
            error, cases = percentile(Sums(steps).errors_on_several())
            self.assertGreater(cases, 25)
            self.assertLess(error, MOST_OFF_OF_GPUS, gpus)
        ways = Steps(Rows(advise.recorded(2))).ways_of_gpus(2, 132, 256, 32000)
        self.assertEqual(set(ways), set(NEEDS_OF_GPUS))

    def test_bad_usage(self):
        self.write(planted(3000, {1: 1000, 256: 3000}))
        simulated, headless = (self.file.parent / name for name in ("simulated.tsv", "headless.tsv"))
        simulated.write_text(f"{tsv.SIMULATED}\n{self.file.read_text()}")
        headless.write_text(self.file.read_text().replace(f"{GPU}\n", ""))
        for arguments, message in (
                (("--work", 1, simulated), "simulated rows"), (("--work", 1, headless), "how many SMs"),
                ((), "--work"), (("--work", "fast"), "must be a number from 0"),
                (("--work", "nan"), "must be a number from 0"),
                (("--work", 1, "--threads", 1025, self.file), "at most 1024"),
                (("--work", 1, "--gpus", 2, "--no-reads"), "only of one GPU"),
                (("--work", 1, "--words", 9, "--no-reads"), "not with --no-reads"),
                (("--work", 1, "--words", 0), "must be a whole number from 1"),
                (("--work", 1, "--gpus", 3, self.file), "no rows of such steps"),
                (("--work", 1, self.file.parent / "none"), "none"),
                (("--work", 1, ROOT / "results/fences/h200x1.tsv"), "no rows of such steps")):
            done = self.advise(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
