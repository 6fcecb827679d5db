"""The programs that a script runs: none outlives the script, none is waited for without end."""

import ctypes
import os
import signal
import subprocess
import time

from parts.command_line import SIGNALS, Stop, signals_held

SECONDS_TO_END = 20  # of a program that is asked to
PR_SET_PDEATHSIG = 1  # linux/prctl.h
_prctl = getattr(ctypes.CDLL(None), "prctl", None)  # before a fork: none may load it after


def end_with(parent):
    """The kernel kills this process as soon as `parent` has ended, however it did."""
    if _prctl:
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it has ended before
        os._exit(1)


def run(command, seconds, said=None, meanwhile=None, **options):
    """subprocess.run() with a limit (None: none), which raises Stop. A Stop ends it, too.
    said: called with what it has written to stderr, however it ends; meanwhile: called each second
    until then."""
    parent, started = os.getpid(), time.monotonic()

    def prepare():
        end_with(parent)
        os.setpgid(0, 0)  # a Ctrl-C is for the script, which ends it
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    output = errors = None
    with signals_held():  # until there is a process to end
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=prepare, **options)
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            while True:
                left = seconds and seconds - (time.monotonic() - started)
                try:
                    output, errors = process.communicate(
                        timeout=min(1, left or 1) if meanwhile else left)
                    break
                except subprocess.TimeoutExpired:
                    if not meanwhile or left and left <= 1:
                        raise
                    meanwhile()
        except Stop:
            errors = _end(process)
            raise
        except subprocess.TimeoutExpired:
            errors = _end(process)
            raise Stop(1, f"{os.path.basename(command[0])} has not ended after {seconds / 60:g} "
                       "minutes and was stopped: perhaps the driver hangs; look for Xid in the "
                       "kernel's log (dmesg), then reset the GPUs or restart the machine") from None
        finally:
            if said:
                said(errors or b"")
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def _end(process):
    """Ends it between two rows, or at once; what it has said. One that the driver holds in the
    kernel cannot be ended, nor waited for."""
    for end, seconds in ((process.terminate, SECONDS_TO_END), (process.kill, 5)):
        end()
        try:
            return process.communicate(timeout=seconds)[1]
        except subprocess.TimeoutExpired as expired:
            errors = expired.stderr
    return errors
