"""What the GPU tests of several processes share."""
import os
import re
import signal
import subprocess
import time
from pathlib import Path

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def gpus_of(executable):
    """How many GPUs it sees."""
    devices = subprocess.run([executable, "--devices"], capture_output=True, text=True)
    return 0 if devices.returncode == 3 else len(devices.stdout.splitlines()) - 1


def start(command):
    return subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, encoding="utf-8")


def finish(command):
    """The output of a command that succeeds."""
    done = subprocess.run(command, env=ENVIRONMENT, timeout=600, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout.encode()


def end_one(process, executable, number, expected):
    """Of the processes of `executable` that `process` has started, the last gets a signal: all
    others end, and `expected` is what one alone says of it. Returns the rest of the output."""
    def alive(pid):
        try:
            return os.path.samefile(f"/proc/{pid}/exe", executable)
        except OSError:
            return False

    pids = [int(path.name) for path in Path("/proc").iterdir()
            if path.name.isdigit() and alive(path.name)]
    assert len(pids) == gpus_of(executable), process.poll()
    victim = pids[-1]
    os.kill(victim, number)
    start = time.monotonic()
    while any(alive(pid) for pid in pids if pid != victim or number == signal.SIGKILL):
        assert time.monotonic() - start < 600, pids
        time.sleep(0.1)
    if number == signal.SIGSTOP:
        os.kill(victim, signal.SIGCONT)
    rest, errors = process.communicate(timeout=600)
    said = re.findall(rf"(?m)^{executable.name}: error: .*", errors)
    assert len(said) == 1 and f"(PID {victim}) {expected}" in said[0], errors
    return rest
