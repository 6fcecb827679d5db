"""GPU test: rows of Pitfalls of which no GPU can have others, and that nothing outlives it.

usage: pitfalls_test.py EXECUTABLE
"""
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from parts import tsv  # noqa: E402

LIMIT = 600  # seconds


def in_session(session):
    """The processes of a session that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it has ended meanwhile
            continue
        if of == str(session) and state != "Z":
            found.append(stat.parent.name)
    return found


def check_rows(executable):
    cases = ("no_sync,syncwarp,part_no_sync,part_syncwarp,part_shuffle,part_blocksync,"
             "part_grid_sync,crowded_grid_sync,lost_updates,message_passing")
    done = subprocess.run([executable, "--method", cases, "--samples", "200"],
                          stdout=subprocess.PIPE)
    if done.returncode == 3:
        sys.exit(77)
    assert done.returncode == 0, done
    lanes, verdicts, partial, races, messages = tsv.parse(done.stdout, executable)
    assert len(lanes.rows) == 64, len(lanes.rows)
    held = {row["method"]: row["blocks"] for row in verdicts.rows}
    assert held["no_sync"] == "0", held
    outcomes = {(row["method"], row["form"]): row["outcome"] for row in partial.rows}
    hangs = "no progress within 1 s"
    expected = {("part_no_sync", "exits early"): "wrong result",
                ("part_no_sync", "stays and skips"): "wrong result",
                ("part_syncwarp", "exits early"): "completed",
                ("part_shuffle", "as allowed"): "completed",
                ("part_blocksync", "stays and skips"): hangs,
                ("part_blocksync", "as allowed"): "completed",
                ("part_grid_sync", "exits early"): hangs,
                ("part_grid_sync", "stays and skips"): hangs,
                ("part_grid_sync", "as allowed"): "completed",
                ("crowded_grid_sync", "too many blocks"):
                    "error cudaErrorCooperativeLaunchTooLarge"}
    assert outcomes.items() >= expected.items(), outcomes
    wrong = {row["form"]: int(row["wrong"]) for row in races.rows}
    assert wrong["right"] == 0 < wrong["wrong"], wrong
    stale = {row["order"]: int(row["stale"]) for row in messages.rows}
    assert len(stale) == 6 and stale["plain"] > 0, stale
    assert all(row["stale"] == "0" for row in messages.rows if row["form"] == "right"), stale


def check_end(executable, number):
    """A signal while a kernel hangs: soon, nothing is left of it."""
    parent = subprocess.Popen([executable, "--method", "part_grid_sync"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              start_new_session=True,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    latest = time.monotonic() + LIMIT
    while len(in_session(parent.pid)) < 2:  # it and its child
        assert time.monotonic() < latest, in_session(parent.pid)
        time.sleep(0.05)
    time.sleep(0.5)
    parent.send_signal(number)
    code = parent.wait(LIMIT)
    assert code == (130 if number == signal.SIGINT else -number), code
    latest = time.monotonic() + LIMIT
    while in_session(parent.pid):
        assert time.monotonic() < latest, in_session(parent.pid)
        time.sleep(0.05)


def check_watchdog(executable):
    """A hung process that nobody kills ends by itself."""
    start = time.monotonic()
    alone = dict(os.environ,
                 SYNCBENCH_PITFALL=f"part_grid_sync:stays and skips:1:1:{os.getpid()}")
    done = subprocess.run([executable], env=alone, stdout=subprocess.PIPE, text=True, timeout=LIMIT)
    assert done.stdout.splitlines() == ["ready", "launch", "error\tcudaErrorLaunchFailure"], done
    seconds = time.monotonic() - start
    assert seconds > 6, seconds


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    check_rows(sys.argv[1])
    for number in (signal.SIGINT, signal.SIGKILL):
        check_end(sys.argv[1], number)
    check_watchdog(sys.argv[1])
    print("passed")


if __name__ == "__main__":
    main()
