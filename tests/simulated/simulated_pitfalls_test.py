"""Pitfalls on simulated GPUs: its tables are those of real ones, and each planted fault ends it
with the line and the exit code that it documents.

usage: simulated_pitfalls_test.py FOLDER_OF_EXECUTABLES
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests/gpu")]
from parts import tsv  # noqa: E402
from pitfalls_test import in_session  # noqa: E402

EXECUTABLE = sys.argv.pop(1) + "/Pitfalls" if len(sys.argv) > 1 else sys.exit(__doc__)
TRIES, RATE = 1000, 0.75  # of races
HANGS = "no progress within 1 s"
LIMIT = 600  # seconds
# Cases that no recorded run has yet: a new one is named here until a GPU has run it.
NOT_RECORDED = {"message_passing", "message_passing_to_peer"}
GAVE_UP, SKIPPED = r"note\[failure\] (.*)", r"skipped\[[^]]*\] (.*)"


class Output:
    def __init__(self, data, name):
        self.text = data.decode()
        self._sections = {section.title: section for section in tsv.parse(data, name)}

    def has(self, title):
        return title in self._sections

    def rows(self, title):
        """By method, and by lane or form where there are such."""
        if not self.has(title):
            return {}
        return {(row["method"], *(row[word] for word in ("lane", "form") if word in row)):
                dict(row) for row in self._sections[title].rows}

    def column(self, title, column):
        return [row[column] for row in self.rows(title).values()]

    def messages(self):
        return [tuple(row.values()) for row in self._sections["message passing"].rows]

    def comments(self, pattern):
        return re.findall("^# " + pattern, self.text, re.MULTILINE)


class Run:
    """A run that has started; all of them wait at the same time."""

    def __init__(self, *methods, gpus=1, **planted):
        words = {"gpus": gpus, "sms": 8, "race_rate": RATE, **planted}
        given = " ".join(f"{key}={value}" for key, value in words.items())
        arguments = ["--method", ",".join(methods)] if methods else []
        self._process = subprocess.Popen(
            [EXECUTABLE, str(gpus), "--all", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=dict(os.environ, STAND_IN=given),
            start_new_session=True)
        self.pid = self._process.pid

    def end(self):
        """Waits for it; its exit code, errors and output, the last without its first line."""
        out, errors = self._process.communicate(timeout=LIMIT)
        self.first_line, _, rest = out.partition(b"\n")
        return self._process.returncode, errors.decode(), Output(rest, EXECUTABLE)


def messages(method, too_few, fence, consistent, stale):
    """Rows of a litmus test: pairs of half as many blocks as SMs, of 32 warps."""
    pairs, each = 4 * 32, 10000 * TRIES // (4 * 32)
    orders = (("plain", "wrong"), ("relaxed", "wrong"), (too_few, "wrong"),
              ("release_acquire", "right"), (fence, "right"), (consistent, "right"))
    return [(method, *order, str(pairs * each),
             str(pairs * (int(each * part) if part < 1 else part)))
            for order, part in zip(orders, stale)]


def recorded(folder, name):
    path = ROOT / "results" / folder / name
    return Output(path.read_bytes(), path)


def setUpModule():
    global WHOLE, PLANTED, FOLDER
    FOLDER = tempfile.TemporaryDirectory()
    WHOLE = {gpus: Run(gpus=gpus) for gpus in (1, 2, 4, 8)}
    PLANTED = {
        "no peers": Run("part_peer_grid_gpus", "flag_in_peer_memory", gpus=2, peer="none"),
        "old": Run("redux_add", "part_cluster_sync", capability=75, code=75),
        "group passes": Run("part_blocksync", "part_blocksync_lanes", lets_pass="::BlockSync>"),
        "warp passes": Run("tile_sync", "syncwarp", lets_pass="::TileSync>"),
        "control holds": Run("no_sync", "part_no_sync", holds="::NoSync>"),
        "right block": Run("lost_updates", "flag_in_shared_memory", right_is_wrong="LostUpdates"),
        "right fence": Run("flag_in_peer_memory", gpus=2, right_is_wrong="exchange<true"),
        "wrong lane": Run("vote_ballot", right_is_wrong="::Vote>"),
        "right order": Run("message_passing", right_is_wrong="::ConsistentFence<"),
        "right scope": Run("message_passing_to_peer", gpus=2, peer="all", right_is_wrong="::AcquireReleaseFence<"),
        "no order shows": Run("message_passing", race_rate=0),
        "no races": Run("lost_updates", "flag_in_global_memory", race_rate=0),
        "group hangs": Run("part_mbarrier", "lost_updates", hang="::Mbarrier>"),
        "warp hangs": Run("syncwarp", "match_any", hang="::WarpSync>"),
        "crash": Run("part_no_sync", "lost_updates", fail_call="HostAlloc", fail_at=1,
                     fail_mode="abort"),
        "sick": Run("part_syncwarp", "part_named_barrier", "lost_updates", gpus=2,
                    sick="::NamedBarrier>", sick_file=FOLDER.name + "/sick")}


def tearDownModule():
    FOLDER.cleanup()


class OneGpu(unittest.TestCase):
    """A run of all cases, beside one that a real GPU has done."""

    maxDiff = None
    gpus, folder = 1, "h200x1"

    @classmethod
    def setUpClass(cls):
        cls.run_of_all = WHOLE[cls.gpus]
        cls.code, cls.errors, cls.ours = cls.run_of_all.end()
        cls.theirs = recorded(cls.folder, "Pitfalls.tsv")
        cls.older = recorded(cls.folder, "Pitfalls.before13.tsv")

    def check_rows(self, title, theirs=None):
        """A build with an older toolkit has also the cases that are gone."""
        theirs, older = theirs or self.theirs.rows(title), self.older.rows(title)
        self.assertFalse(NOT_RECORDED & {key[0] for key in theirs}, "is recorded by now")
        ours = {key: row for key, row in self.ours.rows(title).items() if key[0] not in NOT_RECORDED}
        self.assertEqual(ours, {**theirs, **{key: older[key] for key in ours if key in older}},
                         "a new case? see NOT_RECORDED")

    def recorded_cases(self, pattern):
        """Our comments of cases that recorded runs have."""
        return [text for text in self.ours.comments(pattern)
                if re.match(r"\w*", text)[0] not in NOT_RECORDED]

    def test_code_and_first_line(self):
        told = [line for line in self.errors.splitlines()
                if not line.startswith("Pitfalls: not measured: ")]
        self.assertEqual((self.code, told), (0, []))
        self.assertIn(b"# simulated", self.run_of_all.first_line)
        self.assertNotIn("simulated", self.ours.text)
        self.assertEqual(len(self.ours.comments('(gpu.index=. name="NVIDIA H200" sms=8)')), self.gpus)

    def test_verdicts(self):
        self.check_rows("warp barrier verdict")

    def test_lanes_are_as_the_verdicts_say(self):
        lanes = self.ours.rows("warp barrier")
        self.assertEqual({key for key in lanes if key[0] not in NOT_RECORDED},
                         self.theirs.rows("warp barrier").keys())
        for (method,), verdict in self.ours.rows("warp barrier verdict").items():
            starts, ends = ([int(row[column]) for row in lanes.values()
                             if row["method"] == method] for column in ("start", "end"))
            self.assertEqual(str(int(min(ends) >= max(starts))), verdict["blocks"], method)

    def test_outcomes(self):
        self.check_rows("partial groups")

    def test_why_barriers_gave_up(self):
        self.assertEqual(self.recorded_cases(GAVE_UP), self.theirs.comments(GAVE_UP))

    def test_races(self):
        planted = {"wrong": str(int(RATE * TRIES)), "right": "0"}
        self.check_rows("races", {key: {**row, "wrong": planted[row["form"]]}
                                  for key, row in self.theirs.rows("races").items()})

    def test_what_needs_more_gpus(self):
        ours = [text for text in self.recorded_cases(SKIPPED) if "multi_grid" not in text]
        self.assertEqual(ours, self.theirs.comments(SKIPPED))

    def test_messages(self):
        """Which are not on record."""
        methods = ("message_passing", "message_passing_to_peer")[:self.gpus]
        orders = {"message_passing": ("fence_acq_rel_cta", "fence_acq_rel_gpu", "fence_sc_gpu"),
                  "message_passing_to_peer":
                      ("fence_acq_rel_gpu", "fence_acq_rel_sys", "fence_sc_sys")}
        self.assertEqual(self.ours.messages(), [
            row for method in methods for row in messages(
                method, *orders[method], stale=(RATE, RATE, RATE, 0, 0, 0))])
        self.assertEqual("message_passing_to_peer: needs 2 GPUs, 1 used"
                         in self.ours.comments(SKIPPED), self.gpus == 1)


class TwoGpus(OneGpu):
    gpus, folder = 2, "h200x2"


class FourGpus(OneGpu):
    gpus, folder = 4, "h200x4"


class EightGpus(OneGpu):
    """Which are not on record: rows as of four."""

    gpus, folder = 8, "h200x4"

    def test_why_barriers_gave_up(self):
        first_missing = [re.sub("for GPU 2$", "for GPU 4", text)
                         for text in self.theirs.comments(GAVE_UP)]
        self.assertEqual(self.recorded_cases(GAVE_UP), first_missing)


class PlantedTest(unittest.TestCase):
    """What goes wrong, and what an error it is."""

    def expect(self, name, code, *errors):
        ended, said, output = PLANTED[name].end()
        self.assertEqual(ended, code, said)
        told = [line for line in said.splitlines() if ": not measured: " not in line]
        self.assertEqual(len(told), int(code != 0), said)
        for text in errors:
            self.assertIn(text, said)
        return output, said

    def test_gpus_that_cannot_have_a_case(self):
        why = ": no peer access between these GPUs"
        keys = [f"part_peer_grid_gpus form={form}" for form in (
            '"exits early"', '"stays and skips"', '"as allowed"')] + [
            f"flag_in_peer_memory form={form}" for form in ("wrong", "right")]
        output, _ = self.expect("no peers", 4, keys[0] + why)
        self.assertEqual(output.comments(SKIPPED), [key + why for key in keys])
        output, _ = self.expect("old", 4, 'redux_add form="each in its branch": needs compute '
                                "capability 8.0")
        self.assertEqual(len(output.comments(SKIPPED)), 4)

    def test_a_group_whose_barrier_lets_threads_pass(self):
        output, _ = self.expect("group passes", 1, "part_blocksync as allowed: wrong result")
        self.assertEqual(output.column("partial groups", "outcome"),
                         ["wrong result"] * 3 + ["completed", HANGS, "completed"])

    def test_a_warp_that_is_not_held_is_a_result(self):
        output, _ = self.expect("warp passes", 0)
        self.assertEqual(output.column("warp barrier verdict", "held"), ["0", "100"])
        self.assertEqual(output.column("warp barrier verdict", "blocks"), ["0", "1"])

    def test_a_control_that_holds(self):
        self.expect("control holds", 1, "no_sync each in its branch: held without a barrier",
                    "part_no_sync: completed without a barrier; "
                    "part_no_sync: completed without a barrier")

    def test_a_right_form_that_is_wrong(self):
        output, said = self.expect("right block", 1,
                                   "lost_updates right: wrong with its barriers and fences")
        self.assertNotIn("flag_in_shared_memory", said)
        self.assertEqual(output.column("races", "wrong"), ["750", "1", "750", "0"])
        output, _ = self.expect("right fence", 1,
                                "flag_in_peer_memory right: wrong with its barriers and fences")
        self.assertEqual(output.column("races", "wrong"), ["750", "1"])

    def test_stale_data_in_order(self):
        output, said = self.expect("right order", 1, "message_passing fence_sc_gpu: stale data "
                                   "behind a new flag")
        self.assertEqual(said.count("stale"), 1)
        self.assertEqual([row[-1] for row in output.messages()][3:], ["0", "0", "128"])
        _, said = self.expect("right scope", 1, "message_passing_to_peer fence_acq_rel_sys: stale")
        self.assertEqual(said.count("stale"), 1)

    def test_a_litmus_test_that_sees_nothing(self):
        output, _ = self.expect("no order shows", 1,
                                "message_passing plain: no stale data without an order")
        self.assertEqual({row[-1] for row in output.messages()}, {"0"})

    def test_a_race_that_does_not_show_is_a_result(self):
        output, _ = self.expect("no races", 0)
        self.assertEqual(output.column("races", "wrong"), ["0"] * 4)

    def test_a_wrong_value_of_a_lane(self):
        """Whatever the exit code: the row says so."""
        _, _, output = PLANTED["wrong lane"].end()
        self.assertEqual(output.column("warp barrier verdict", "wrong"), ["100"])

    def test_what_is_allowed_and_hangs(self):
        output, _ = self.expect("group hangs", 1, "part_mbarrier as allowed: " + HANGS)
        self.assertEqual(output.column("partial groups", "outcome"), [HANGS] * 3)
        self.assertEqual(output.column("races", "wrong"), ["750", "0"])  # it goes on
        output, _ = self.expect("warp hangs", 1, "syncwarp each in its branch: " + HANGS)
        self.assertEqual(output.column("warp barrier verdict", "method"), ["match_any"])

    def test_a_process_that_crashes(self):
        output, _ = self.expect("crash", 1, "part_no_sync: error signal 6 without a barrier",
                                "lost_updates right: error signal 6")
        self.assertEqual(output.column("partial groups", "outcome"), ["error signal 6"] * 2)

    def test_a_gpu_that_does_not_recover(self):
        output, _ = self.expect("sick", 1, "after part_named_barrier exits early the GPU does "
                                "not recover: exit code 1, ")
        self.assertEqual(output.column("partial groups", "form"),
                         ["exits early", "stays and skips", "as allowed", "exits early"])
        self.assertFalse(output.has("races"))


class WatchdogTest(unittest.TestCase):
    def test_a_kernel_that_nobody_kills_ends(self):
        """The parent is stopped while its first case hangs."""
        run = Run("part_grid_sync")
        latest = time.monotonic() + LIMIT
        while len(in_session(run.pid)) < 2:
            self.assertLess(time.monotonic(), latest)
            time.sleep(0.01)
        start = time.monotonic()
        os.kill(run.pid, signal.SIGSTOP)
        try:
            while len(in_session(run.pid)) == 2 and time.monotonic() < start + LIMIT:
                time.sleep(0.1)
        finally:
            os.kill(run.pid, signal.SIGCONT)
        seconds = time.monotonic() - start
        _, _, output = run.end()
        self.assertEqual(output.column("partial groups", "outcome"),
                         ["error cudaErrorLaunchFailure", HANGS, "completed"])
        self.assertGreater(seconds, 5)  # twice the longest spin is 6 s


if __name__ == "__main__":
    unittest.main()
