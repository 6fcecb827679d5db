"""Tests of what the scripts make of odd cells, lines and texts in the files of a run: they are
refused in one line that names the file, or read as they stand, without markup. Never a traceback,
never without end. Bytes, ends and sums are damaged in tsv_test.py.

  damage_test.py [MUTANTS [FIRST]]    so many for each reader, from this one on (default: 250;
                                 2,000 with THOROUGH=1 in the environment)
"""

import contextlib
import functools
import io
import os
import random
import re
import resource
import shutil
import sys
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

from made_up_rows import ended
from scripts_support import ROOT

# scripts_support has put scripts/ on the path
import compare
import report
import summary
from parts import tsv
from reporting import charts, headline, normal

WORK = {"compare.py": compare.work, "report.py": report.work,
        "summary.py": summary.work}
MUTANTS, FIRST = 2000 if os.environ.get("THOROUGH") else 250, 0
SHOWN = ("h200x2", ("theory", "cub", "read_limit", "implicit", "tile", "blocksync", "tile_sync",
                    "tile_shufl", "cluster_sync", "grid_sync", "peer_grid_sync", "shared_loop",
                    "switch_point", "traditional_launch", "single_omp_traditional_launch",
                    "multi_grid_sync", "part_grid_sync", "syncwarp", "no_sync", "lost_updates"))
SECONDS = 5  # of a processor that a reader has, far more than it needs
# What a message says of a file or of a folder as a whole; all others name a line.
OF_A_FILE = ("is not a results folder|cannot read|these are rows of|the number of (SMs|GPUs) is|"
             "no row in common|simulated rows|the end is missing|nothing is in it")
MARKUP, LINK = "<script|<img src=x", r"|(?<!\\)\[x\\?\]\(java"  # of HOSTILE
ODD_CELLS = (
    "0", "-1", "-0.000", "nan", "NaN", "inf", "-inf", "1e999", "1e5", "0x10", "", " ", "1 ", "²",
    "٣", "1,5", "1.", ".5", "+1", "1_0", "9" * 15, "9" * 16, "9" * 309, "9" * 4301, "1" + "0" * 20,
    "4000000000", "9999", "0." + "0" * 400 + "1", "none", "x" * 5000, "null", "1\x002", "\x1b[31m",
    "1\x0b", "1\u2028", "\u202e1")
HOSTILE = (
    "<script>alert(1)</script>", "[x](javascript:alert(1))", "a|b", "`x`", "*a* _b_ ~~c~~", "$x$",
    "{x}", "{gpu.__class__}", "{gpu:>3000000000}", "%s%n%(x)s", "\\input{/etc/passwd}",
    "%\\end{table}", "../../x", "; touch x", "$(touch x)",
    "'\"><img src=x onerror=alert(1)>", "#", "1. x", "- x",
    "\x1b]0;x\x07", "x\r", "x\x85y", "x\u2028y", "&lt;", "{", "}}", "\\", "x" * 20000)
KEYS = ("gpu", "gpu_count", "sms", "driver", "cuda_toolkit", "cuda_toolkit_before13",
        "suite_commit", "date_utc", "sm_clock_application", "compute_capability")


def lines_of(data):
    return data.split(b"\n")


def places(random_, lines):
    """(number of a line, its cells) of a row or a header."""
    known = [number for number, line in enumerate(lines) if b"\t" in line]
    number = random_.choice(known)
    return number, lines[number].split(b"\t")


def odd_cell(r, data):
    lines = lines_of(data)
    number, cells = places(r, lines)
    cells[r.randrange(len(cells))] = r.choice(ODD_CELLS).encode()
    lines[number] = b"\t".join(cells)
    return b"\n".join(lines)


def hostile(r, data):
    """In a cell, in a comment or in a title."""
    lines = lines_of(data)
    number, text = r.randrange(len(lines)), r.choice(HOSTILE).encode()
    kind = r.randrange(3)
    if kind == 0 and b"\t" in lines[number]:
        lines[number] = text + lines[number][lines[number].index(b"\t"):]
    elif kind == 1:
        lines.insert(number, b"# warning[x]: " + text)
    else:
        lines[number] = lines[number] + b" " + text
    return b"\n".join(lines)


def other_lines(r, data):
    """Two are swapped, one is repeated, or one is lost."""
    lines = data.splitlines(keepends=True)
    one, other, kind = r.randrange(len(lines)), r.randrange(len(lines)), r.randrange(3)
    if kind == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 1:
        lines.insert(one, lines[other])
    else:
        del lines[one]
    return b"".join(lines)


DAMAGES = odd_cell, odd_cell, odd_cell, hostile, other_lines


def of_environment(r, data):
    """Another value of a key that is shown or used."""
    key = r.choice(KEYS).encode()
    lines = [line for line in lines_of(data) if not line.startswith(key + b"\t")]
    lines.insert(r.randrange(1, len(lines)), key + b"\t" + r.choice(HOSTILE + ODD_CELLS).encode())
    return b"\n".join(lines)


def damaged(files, seed):
    """(what was done, {name: bytes}) of a folder's files, of which one or two are others."""
    r, files = random.Random(seed), dict(files)
    name = r.choice([*sorted(files), *["environment.tsv"] * 3])
    if name == "environment.tsv" and r.randrange(3):
        files[name] = of_environment(r, files[name])
        return f"of_environment({seed})", files
    done = []
    for _ in range(r.choice((1, 1, 1, 2))):
        damage = r.choice(DAMAGES)
        if files[name].count(b"\n") > 2 and b"\t" in files[name]:
            files[name] = damage(r, files[name])
            done.append(damage.__name__)
    if b"# end[" in files[name] and files[name].endswith(b"\n"):
        files[name] = ended(files[name].decode()).encode()  # else nothing but ends is tested
    return f"{name}: {', '.join(done)} ({seed})", files


def shortened(text):
    """Of each section a few methods, and of each of these the first and the last row."""
    lines, rows = [], {}
    for line in [*text.splitlines(keepends=True), "#"]:
        method = line.split("\t")[0]
        if line.startswith("#") or method == "method":
            for found in rows.values():
                lines += dict.fromkeys((found[0], found[-1]))
            rows = {}
            about = re.match(r"# \w+\[[^]]*\] (\w+)", line)
            if not about or about[1] in SHOWN[1]:
                lines.append(line)
        elif method in SHOWN[1]:
            rows.setdefault(method, []).append(line)
    return ended("".join(lines[:-1]))


def files_of_a_run():
    """{name: bytes}, of a recorded one."""
    folder = ROOT / "results" / SHOWN[0]
    files = {f"{name}.tsv": shortened((folder / f"{name}.tsv").read_text()).encode()
             for name in tsv.FILES if (folder / f"{name}.tsv").exists()}
    files["environment.tsv"] = (folder / "environment.tsv").read_bytes()
    return files


def write(folder, files):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)


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
    """(exit code, stdout, stderr) in this process, a tenth of the time of another one."""
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
    return code, output.getvalue(), errors.getvalue()


class DamageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shared = "/dev/shm" if Path("/dev/shm").is_dir() else None  # is not a disk
        cls.folder = Path(tempfile.mkdtemp(prefix="damage_", dir=shared))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.run_, cls.recorded, cls.out = (cls.folder / name for name in (
            "run", "recorded", "out"))
        cls.original = files_of_a_run()
        write(cls.recorded / "ax1", {**cls.original, "environment.tsv": cls.original[
            "environment.tsv"] + b"note\tanother\n"})
        quick()
        resource.setrlimit(resource.RLIMIT_AS, (2 ** 31, resource.getrlimit(resource.RLIMIT_AS)[1]))

    def check(self, reader, what):
        """Whether it was refused."""
        arguments = {"compare.py": [self.recorded / "ax1", self.run_, "--all"], "report.py": [
            self.run_, "--recorded", self.recorded, "--out", self.out]}.get(reader, [self.run_])
        started, what = time.process_time(), (reader, what)
        try:
            code, output, errors = call(reader, *arguments)
        except Exception as error:
            raise AssertionError(f"{what}: {error!r}") from error
        self.assertLess(time.process_time() - started, SECONDS, what)
        if code == 2:
            self.assertEqual((output, len(errors.splitlines())), ("", 1), (what, errors))
            self.assertTrue(errors[:-1].isprintable() and len(errors) < 1100, (what, errors))
            self.assertRegex(errors, f"line [0-9]+|{OF_A_FILE}", what)
            return True
        self.assertIn(code, (0, 1) if reader == "compare.py" else (0,), what)
        if reader == "report.py":
            page = (self.out / "report.md").read_text()
            html = re.sub('<script (id="search"|type="text/tab-separated-values")>', "",  # its own
                          (self.out / "report.html").read_text())
            self.assertIsNone(re.search(MARKUP + LINK, page) or re.search(MARKUP, html), what)
        return False

    def forget(self):
        """Runs of damages that are over."""
        for cache in (headline.found_in, headline.headlines, normal.values):
            cache.cache_clear()

    def check_all(self, reader):
        counts, started = Counter(), time.process_time()
        for number in range(FIRST, FIRST + MUTANTS):
            what, files = damaged(self.original, f"{reader} {number}")
            if number % 10:  # takes less time
                files = {name: data for name, data in files.items() if data != self.original[name]
                         or name in ("environment.tsv", "BenchmarkInterSM.tsv")}
            write(self.run_, files)
            with self.subTest():
                counts[self.check(reader, what)] += 1
            if number % 100 == 0:
                self.forget()
        print(f"{reader}: {counts[True]} refused, {counts[False]} read right, "
              f"{time.process_time() - started:.0f} s")

    def test_summary(self):
        self.check_all("summary.py")

    def test_compare(self):
        self.check_all("compare.py")

    def test_report(self):
        self.check_all("report.py")


if __name__ == "__main__":
    numbers = [int(sys.argv.pop()) for text in sys.argv[1:] if text.isdigit()][::-1]
    MUTANTS, FIRST = (*numbers, *(MUTANTS, FIRST)[len(numbers):])
    unittest.main()
