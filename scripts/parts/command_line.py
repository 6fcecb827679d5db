"""What the Python scripts share: which Python they need, how arguments are read, exit codes,
errors in one line, signals."""

import sys

if sys.version_info < (3, 9):  # before an import that an older one cannot read
    name = sys.argv[0].split("/")[-1]
    sys.stderr.write("%s: Python 3.9 or newer is needed, this is %d.%d\n"
                     % (name, sys.version_info[0], sys.version_info[1]))
    sys.exit(3 if name == "check.py" else 2)  # whose 2 is of a broken node

import argparse
import contextlib
import errno
import os
import re
import signal
from pathlib import Path

from parts import tsv

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LONGEST = 2000  # characters of a message

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until main(): no traceback of an import


class Stop(BaseException):
    """Ends a script: exit code, message. None of `except Exception` holds it up."""


class Parser(argparse.ArgumentParser):
    """Options of a script, whose description is printed as it is. What is wrong is one line."""

    def __init__(self, **options):
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter,
                         epilog="Exit codes of all scripts: 2 (check.py: 3) also where Python is older than 3.9; "
                         "129, 130, 143 ended by\nSIGHUP, SIGINT, SIGTERM.", **options)

    def parse_args(self):
        for argument in sys.argv[1:]:
            if argument == "--":
                break
            if re.fullmatch("--[^=]+=--", argument):  # argparse would take it for no value
                self.error(f"argument {argument[:-3]}: '--' is no value")
        return super().parse_args()

    def error(self, message):
        say(f"{self.prog}: {message} (try --help)")
        self.exit(2)

    def add_simulated(self):
        self.add_argument("--simulated", action="store_true", help="read rows of simulated GPUs; "
                          "all that is shown of them says so")


def folder_to_write(text):
    """The type of an option that names one."""
    if not text or os.path.realpath(text) == "/":
        raise argparse.ArgumentTypeError(f"'{text}' is no folder to write into")
    return Path(text)


def folder_of_runs(text):
    """The type of an option that names one whose results folders are read again."""
    if not text.isprintable():
        raise argparse.ArgumentTypeError("its name has a character that cannot be shown")
    return folder_to_write(text)


def count(text):
    """The type of an option that is a number."""
    if not re.fullmatch("[1-9][0-9]{0,3}", text):
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to 9999, not '{text}'")
    return int(text)


def printable(text):
    """In one line that no terminal takes for a command, of a length that can be read."""
    text = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in str(text))
    return text if len(text) <= LONGEST else f"{text[:LONGEST // 2]} ... {text[-LONGEST // 2:]}"


def say(text):
    """A line on stderr, where that can be written; the exit code tells the rest."""
    with contextlib.suppress(OSError):
        os.write(2, f"{printable(text)}\n".encode(sys.stderr.encoding, "backslashreplace"))


def on_signal(number, _frame):
    ignore_signals()
    raise Stop(128 + number, "interrupted")


def raise_later(said):
    """Python drops what is raised in a callback, as of a weak reference: there Stop comes again."""
    def again(_number, _frame):
        raise said.exc_value

    if isinstance(said.exc_value, Stop):
        signal.signal(signal.SIGALRM, again)
        signal.setitimer(signal.ITIMER_REAL, 0.01)
    else:
        sys.__unraisablehook__(said)


def catch_signals():
    """They raise Stop. One that is ignored already, as by nohup, stays so."""
    sys.unraisablehook = raise_later
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, on_signal)


def ignore_signals():
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


@contextlib.contextmanager
def signals_held():
    """They wait until its end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (*SIGNALS, signal.SIGALRM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def open_streams():
    """Those that are closed, so that no file gets their numbers and what is meant for them. False
    where stdout was."""
    handle = os.open(os.devnull, os.O_RDWR)
    while handle <= 2:
        handle = os.dup(handle)
    os.close(handle)
    sys.stderr = sys.stderr or open(2, "w", closefd=False)
    return sys.stdout is not None


def drop_output():
    """What is not yet written of stdout. Python would try once more at its end, and fail again
    or wait for a reader that does not read."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def main(work, program, failed=None):
    """Runs work(), which returns the exit code, as the whole of a script: a tsv.TsvError is a
    line on stderr and 2, as is bad usage; output that cannot be written is 1; a signal is a
    line and 128 + its number. failed: the code of all failures but signals."""
    try:
        catch_signals()
        if not open_streams():
            raise OSError(errno.EBADF, "standard output is closed")
        sys.stdout.reconfigure(errors="backslashreplace")  # it may be ASCII
        try:
            code = work()
        except SystemExit as ended:  # --help and bad usage
            code = failed if failed and ended.code else ended.code
        sys.stdout.flush()
        ignore_signals()  # nothing is left to be ended
    except tsv.TsvError as error:
        say(f"{program}: {error}")
        code = failed or 2
    except Stop as stop:
        drop_output()
        code, message = stop.args
        code = failed if failed and code < 128 else code
        say(f"{program}: {message}")
    except OSError as error:
        drop_output()
        code = failed or 1
        if not isinstance(error, BrokenPipeError):  # a reader such as head has seen enough
            say(f"{program}: cannot write: {error.strerror}")
    sys.exit(code)
