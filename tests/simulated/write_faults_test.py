"""Each write to standard output fails once, or a signal comes in it: what is there is whole, and
the exit code says what happened.

usage: write_faults_test.py FOLDER    FOLDER holds the simulated programs
"""
import errno
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from at_once import AT_ONCE

FOLDER = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else sys.exit(__doc__)
LIBRARY = FOLDER / "libfaulty_writes.so"
FEW = ("BenchmarkInterSM", "1", "--blocks-per-sm", "1", "--samples", "2", "--method", "grid_sync")
PROCESSES = ("ImplicitBarrier", "1", "--processes", "2", "--samples", "2", "--method", "event_wait")


def run(command, stdout=None, **faults):
    """(exit code, what is in the file, stderr)"""
    environment = dict(os.environ, LD_LIBRARY_PATH=str(FOLDER), STAND_IN="gpus=1 sms=4",
                       # Where a build has sanitizers, what is preloaded comes before them.
                       ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0",
                       LD_PRELOAD=str(LIBRARY), **{key: str(int(n)) for key, n in faults.items()})
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run(
            [FOLDER / command[0], *command[1:]], env=environment, timeout=600,
            stdout=stdout or output, stderr=subprocess.PIPE, encoding="utf-8",
            # A background job ignores it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        output.seek(0)
        return done.returncode, output.read(), done.stderr


class WriteFaults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.whole = {command: run(command)[1] for command in (FEW, PROCESSES)}
        cls.lines = cls.whole[FEW].splitlines(keepends=True)

    def each(self, command=FEW, **faults):
        """(lines that stand before, what run() returns) of a fault in each write, until none is
        left: each line is one, but for the stand-in's."""
        count = self.whole[command].count("\n") - 1
        self.assertGreater(count, 10)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = list(pool.map(lambda n: run(command, WRITE_AT=n, **faults), range(1, count + 2)))
        self.assertEqual(found.pop(), (0, self.whole[command], ""))
        return enumerate(found, 1)

    def test_nothing_is_lost_where_a_write_is_interrupted_or_short(self):
        for command in (FEW, PROCESSES):
            for faults in (dict(WRITE_ERROR=errno.EINTR), dict(WRITE_HALF=1),
                           dict(WRITE_HALF=1, WRITE_ERROR=errno.EINTR)):
                for n, done in self.each(command, **faults):
                    self.assertEqual(done, (0, self.whole[command], ""), (command, faults, n))

    def test_rows_are_whole_where_a_write_fails(self):
        for faults in (dict(WRITE_ERROR=errno.ENOSPC), dict(WRITE_HALF=1, WRITE_ERROR=errno.EIO)):
            error = f"cannot write to standard output: {os.strerror(faults['WRITE_ERROR'])}\n"
            for n, done in self.each(**faults):
                self.assertEqual(done, (1, "".join(self.lines[:n]), f"{FEW[0]}: error: {error}"))

    def test_a_signal_in_any_write(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for error in (0, errno.EINTR):
                for n, (code, text, said) in self.each(WRITE_SIGNAL=number, WRITE_ERROR=error):
                    self.assertTrue(self.whole[FEW].startswith(text) and text[-1:] == "\n", text)
                    if n >= len(self.lines) - 2:  # behind the last sample
                        self.assertEqual((code, text), (0, self.whole[FEW]))
                        continue
                    self.assertEqual(code, 128 + number, (n, said))
                    self.assertNotIn("# end[", text)
                    self.assertEqual(said.count("error: interrupted; the rows written are whole"), 1)

    def test_a_reader_that_went_away(self):
        reader, writer = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, writer)
        code, _, said = run(FEW, writer)
        self.assertEqual((code, said), (1, f"{FEW[0]}: error: cannot write to standard output: "
                                        "Broken pipe\n"))

    def test_rows_that_do_not_reach_the_disk(self):
        for error, wanted in ((errno.EIO, 1), (errno.ENOSPC, 1), (errno.EINVAL, 0), (errno.EROFS, 0)):
            code, text, said = run(FEW, FSYNC_AT=1, FSYNC_ERROR=error)
            self.assertEqual((code, text), (wanted, self.whole[FEW]))
            self.assertEqual("cannot write to standard output" in said, bool(wanted))
        self.assertEqual(run(FEW, FSYNC_AT=2, FSYNC_ERROR=errno.EIO), (0, self.whole[FEW], ""))


if __name__ == "__main__":
    if not LIBRARY.exists():
        print("the tests are not built: skipped")
        sys.exit(77)
    unittest.main()
