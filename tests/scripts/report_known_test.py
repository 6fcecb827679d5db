"""Tests of what report.py says beside the numbers: known causes, warnings."""

import unittest
from collections import Counter
from types import SimpleNamespace

from report_support import RECORDED
from scripts_support import ROOT, ScriptsTest

from parts import means, tsv  # from scripts/, which scripts_support has put on the path
from reporting import known_spread, run_warnings
from reporting.known_spread import Known
from reporting.normal import Judged


def moved(file, title, method, change, row=()):
    """A row that has moved by so many percent; method: "name", or "name on GPUs blocks"."""
    method, _, shape = method.partition(" on ")
    cells = {"method": method, **dict(zip(("gpus", "blk"), shape.split())), **dict(row)}
    key = (file, title, *(cells.get(name, "nan") for name in means.KEYS[1:]))
    value = means.Value(100.0, 0.1, "100.000")
    return Judged(key, "ave_cycle", value, Cells(row), 0, 0, change,
                  "slower" if change > 0 else "faster")


class Cells(dict):
    where = "a row"


H200 = {"gpu": "NVIDIA H200", "gpu_count": "2", "cuda_toolkit": "13.0", "sm_clock_application": "1980 MHz"}
INTRA, INTER, REPEAT, LAUNCH = ("BenchmarkIntraSM", "BenchmarkInterSM", "TestRepeat",
                                "ImplicitBarrier")
# file, section, method, percent, what a recorded run's environment has instead: causes
CASES = (
    (INTER, "grid latency", "grid_sync", 8.4, {}, ["grid barrier by GPU"]),
    (INTER, "grid latency", "grid_sync", -8.4, {}, ["grid barrier by GPU"]),
    (INTER, "grid latency", "grid_sync", -8.5, {}, []),
    (INTER, "grid latency", "named_semaphore", 2.5, {}, ["grid barrier by GPU"]),
    (INTER, "grid latency", "grid_sync", -7.1, {"sm_clock_application": "1855 MHz"},
     ["clock", "grid barrier by GPU"]),
    (INTER, "grid latency", "grid_sync", 7.1, {"sm_clock_application": "1855 MHz"},
     ["grid barrier by GPU"]),
    (INTER, "grid latency", "new", -9, {"sm_clock_application": "1855 MHz"}, []),
    (INTER, "grid latency", "new", 13, {"sm_clock_application": "2240 MHz"}, ["clock"]),
    (INTER, "grid latency", "new", 13, {"sm_clock_application": "unknown"}, []),
    (REPEAT, "repeats", "grid_sync", 22, {}, ["grid barrier in TestRepeat"]),
    (REPEAT + ".before13", "repeats", "semaphore", -12, {}, ["grid barrier in TestRepeat"]),
    (REPEAT, "repeats", "named_semaphore", 24, {}, []),
    (INTER, "multi-GPU latency", "peer_grid_sync on 1 16xSM", 11, {}, ["place"]),
    (INTER, "multi-GPU latency", "peer_grid_sync on 1 16xSM", 13, {}, []),
    (INTER, "multi-GPU latency", "peer_grid_sync on 1 16xSM", 4, {},
     ["grid barrier by GPU", "place"]),
    (INTER + ".before13", "multi-GPU latency", "multi_grid_sync on 2 2xSM", 11, {},
     ["multi-GPU barrier"]),
    (INTER + ".before13", "multi-GPU latency", "multi_grid_sync on 1 4xSM", 6.5, {}, []),
    (INTER + ".before13", "multi-GPU latency", "multi_grid_sync on 1 4xSM", 4.5, {},
     ["multi-GPU barrier"]),
    (INTER + ".before13", "multi-GPU latency", "multi_grid_sync_no_peer", 9, {},
     ["no access between GPUs"]),
    (INTER + ".before13", "multi-GPU latency", "multi_grid_sync_no_peer", 300, {}, []),
    (INTRA, "block latency", "blocksync", 9, {}, []),
    (INTRA, "block latency", "mbarrier", 29, {}, ["barrier objects"]),
    (INTRA, "block latency", "mbarrier", 200, {}, []),
    (INTRA, "warp latency", "coales_shufl", 9, {}, ["repeats"]),
    (INTRA, "group latency", "in_use_block_none", 9, {}, ["block without a barrier"]),
    (INTRA, "warp latency", "global_add", -32, {}, []),
    (REPEAT, "repeats", "global_add", 80, {}, []),
    (INTRA, "warp latency", "threadfence_system", 18, {}, ["system fence"]),
    (INTRA, "warp latency", "fence_sc_gpu_store", 40, {}, ["ordered access"]),
    (INTRA, "warp latency", "fence_sc_gpu_store", 42, {}, []),
    (INTRA, "warp latency", "fence_sc_sys_host", 250, {}, ["ordered access"]),
    (INTRA, "group latency", "in_use_4_cluster_sync", 11, {}, ["beyond the SM"]),
    (INTER, "multi-GPU latency", "in_use_peer_grid_sync on 1 1xSM", 13, {}, ["grid barrier by GPU"]),
    (LAUNCH, "dependent steps", "steps_counter", 46, {}, ["steps"]),
    (LAUNCH, "dependent steps", "steps_fused", 46, {}, []),
    (INTRA, "warp latency", "threadfence", 138, {}, []),
    (INTRA, "group latency", "cluster_exchange", 5.9, {}, ["beyond the SM"]),
    (INTRA, "group latency", "cluster_sync", 17.1, {}, []),
    (INTRA, "group latency", "cluster_relaxed", -18, {}, ["short steps of clusters"]),
    (LAUNCH, "sleep kernel", "traditional_launch", 7.9, {}, ["stream"]),
    (LAUNCH, "held queue", "multi_cooperative_launch", 9, {}, ["process"]),
    (LAUNCH, "held queue", "multi_cooperative_launch", 300, {}, []),
    (LAUNCH, "sleep kernel", "single_omp_traditional_launch", 25, {}, ["threads of the CPU"]),
    (LAUNCH, "null kernel", "traditional_launch", 58, {}, ["speed of the CPU"]),
    (LAUNCH, "null kernel", "traditional_launch", 300, {}, []),
    (LAUNCH, "sleep instruction", "traditional_launch", 33, {}, ["sleep"]),
    (LAUNCH, "sleep instruction", "traditional_launch", 90, {}, []),
    ("Reduction", "strong scaling", "nccl", 9, {"gpu_count": "1"}, []),
    (INTER, "one late", "xiao_feng_lock", -9.9, {}, ["late warp"]),
    (INTER, "one late", "xiao_feng_lock", -11, {}, []),
    ("Libraries", "barriers of libraries", "nccl_lsa_grid", 8.3, {}, ["libraries"]),
    ("Libraries", "barriers of libraries", "nccl_lsa_grid", 8.5, {}, []),
    ("Libraries.processes", "barriers of libraries", "nvshmem_sync_host", 64, {}, ["libraries"]),
    ("Libraries", "barriers of libraries", "nccl_all_reduce_unregistered", 66, {}, []),
    (LAUNCH, "sleep kernel", "cooperative_launch", 25, {}, []),
    (INTER, "grid latency", "a_new_method", 4, {"driver": "1"}, []))


class CausesTest(ScriptsTest):
    def causes(self, row, *others):
        run, *recorded = (SimpleNamespace(environment=environment) for environment in (
            H200, *others))
        return [spread.name for spread in Known(run, recorded, [row]).spreads]

    def test_every_line_is_tried(self):
        seen = {name for *_, causes in CASES for name in causes} | {
            "host", "few places", "short sums", "middle sums", "long sums",
            "short sums on several GPUs"}
        self.assertEqual({spread.name for spread in known_spread.read()}, seen)
        for spread in known_spread.read():
            self.assertTrue(0 < spread.percent < 1000, spread.name)
            for path in (text for text in spread.evidence if "/" in text):
                self.assertTrue((ROOT / path).exists(), spread.name)

    def test_a_line_more(self):
        """That is all that a new cause takes. One that cannot be read is refused."""
        path = self.folder / "known_spread.tsv"
        text = known_spread.FILE.read_text()
        run = SimpleNamespace(environment=H200)
        new = "new\tTestRepeat\tany\tnew_*\tany\tgpus<=2\t3\tBecause.\tdocs\n"
        path.write_text(text + new)
        spread = known_spread.read(path)[-1]
        for method, change, expected in (
                ("new_one on 2", 3, True), ("new_one on 2", 3.2, False), ("other on 2", 3, False),
                ("new_one on 3", 3, False), ("new_one", 3, False)):
            row = moved(REPEAT, "repeats", method, change)
            self.assertEqual(spread.can_move(row, run, [run]), expected, (method, change))
        self.assertEqual((spread.rows(), spread.extent()), ("`new_*`; gpus: at most 2", "3%"))
        for number, (old, bad, message) in enumerate((
                ("gpus<=2", "gpu<=2", "column when: nobody knows 'gpu<=2'"),
                ("gpus<=2", "often", "column when: nobody knows 'often'"),
                ("gpus<=2", "gpus<=two", "column when: 'two' is not an amount"),
                ("gpus<=2", "bytes>=x", "column when: 'x' is not an amount"),
                ("gpus<=2", "bytes=x", "column when: 'x' is not an amount"),
                ("\t3\t", "\tthree\t", "column percent: 'three' is not a number above 0"),
                ("\t3\t", "\t-5\t", "column percent: '-5' is not a number above 0"),
                ("\t3\t", "\tnan\t", "column percent: 'nan' is not a number above 0"),
                ("\tany\tgpus", "\tup\tgpus", "column direction: nobody knows 'up'"),
                ("\tdocs", "", "8 cells, but 9 columns"))):
            path = self.folder / f"{number}.tsv"
            path.write_text(text + new.replace(old, bad))
            with self.assertRaisesRegex(tsv.TsvError, f"line {text.count(chr(10)) + 1}.*{message}"):
                known_spread.read(path)
        path = self.folder / "head.tsv"
        path.write_text(text.replace("evidence", "proof", 1))
        with self.assertRaisesRegex(tsv.TsvError, "line 2: the columns must be name, "):
            known_spread.read(path)

    def test_which_rows_each_moves(self):
        for file, title, method, change, other, causes in CASES:
            row = moved(file, title, method, change)
            self.assertEqual(self.causes(row, {**H200, **other}), causes, (file, method, change))

    def test_rows_are_looked_at(self):
        for change, median, causes in (
                (9, "92.100", []), (9, "91.600", ["host"]), (9, "89.000", ["host"]),
                (9, "87.900", []), (9, "nan", []), (-9, "89.000", [])):
            row = moved(INTER, "grid latency", "new", change, {"med(ave_cycle)": median})._replace(
                low=89.9, high=89.9)  # 88.1 to 91.7 are the same
            self.assertEqual(self.causes(row, H200), causes, (change, median))
        for method, size, change, causes in (
                ("cub", 2 ** 26, 15.9, ["short sums"]), ("cub", 2 ** 27, 4, ["middle sums"]),
                ("grid_sync", 2 ** 20, 12, ["short sums"]), ("grid_sync", 2 ** 20, 14, []),
                ("cub", 2 ** 31, 7.0, ["long sums"]), ("cub", 2 ** 31, 7.2, []),
                ("cub", 2 ** 20, 17, [])):
            row = moved("Reduction", "one GPU", method, change, {"bytes": str(size)})
            self.assertEqual(self.causes(row, H200), causes, (method, size))
        for repeats, change, causes in (("4", 120, ["few places"]), ("8", 120, []),
                                        ("8", 16, ["beyond the SM"])):
            row = moved(REPEAT, "repeats", "global_add", change, {"rep": repeats})
            self.assertEqual(self.causes(row, H200), causes, repeats)
        for size, change, causes in ((2 ** 29, 38, ["short sums on several GPUs"]),
                                     (2 ** 30, 38, [])):
            row = moved("Reduction", "strong scaling", "peer_grid", change, {"bytes": str(size)})
            self.assertEqual(self.causes(row, H200), causes, size)


class KnownTest(ScriptsTest):
    def test_warnings(self):
        """Every comment and every line of the log, once."""
        for name in RECORDED:
            run = tsv.Run(ROOT / "results" / name)
            found = Counter(run_warnings.warned(run))
            self.assertEqual(set(found.values()), {1})
            comments = [line for file in run.files for line in (
                run.path / f"{file}.tsv").read_text().splitlines()
                if line.startswith("# warning[")]
            self.assertEqual(len([one for one in found if one.file != "stderr.log"]),
                             len(comments))
            log = (run.path / "stderr.log").read_text().splitlines()
            heads = {comment[2:].split(": ")[0] for comment in comments}
            self.assertEqual([one.text for one in found if one.file == "stderr.log"], [
                line for line in log if line.split(": ")[1] not in heads])


if __name__ == "__main__":
    unittest.main()
