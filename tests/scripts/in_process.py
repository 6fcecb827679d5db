"""The scripts that read results folders, in the process of a test: a tenth of the time."""

import contextlib
import functools
import io
import sys
from collections import namedtuple

import scripts_support  # puts scripts/ on the path

from parts import tsv
import compare
import report
import summary
from report_support import ReportCase
from reporting import charts, normal

Done = namedtuple("Done", "returncode stdout stderr")  # as of subprocess
WORK = {"compare.py": compare.work, "report.py": report.work,
        "summary.py": summary.work}
READERS = tuple(sorted(WORK, reverse=True))
ROOT = scripts_support.ROOT


class NoPictures(charts.Pictures):
    """Their numbers are in files."""

    def __init__(self, of):
        self.charts, self.drawn, self.why = of, {}, "not drawn"


def quick():
    """What does not change is read once, what is not looked at is not made."""
    tsv.parse = functools.lru_cache(maxsize=100)(tsv.parse)
    report.Study = functools.lru_cache(report.Study)
    normal.recorded_runs = functools.lru_cache(normal.recorded_runs)
    charts.Pictures = NoPictures


def call(script, *arguments):
    """Done, as command_line.main() would end it."""
    output, errors, kept = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = [script, *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = WORK[script]()
    except tsv.TsvError as error:
        code = 2
        errors.write(f"{script}: {error}\n")
    finally:
        sys.argv = kept
    return Done(code, output.getvalue(), errors.getvalue())


class ReadersCase(ReportCase):
    def read(self, reader, run, *options, other=None, recorded="none"):
        """Done of a script that reads a run."""
        more = {"compare.py": [other or run], "report.py": [
            "--out", self.out, "--recorded", self.folder / recorded]}.get(reader, ())
        return call(reader, run, *more, *options)
