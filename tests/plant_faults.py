#!/usr/bin/env python3
"""Plants faults in the suite, one at a time, and says which its tests find.

usage: plant_faults.py [--changed BASE] [--only TEXT] [--jobs N] [--check]

tests/faults.txt has the faults. A line `= PATH ? FINDER ! TEXT`, or a part of it, says of which file
those below are, and which test has to fail with what in its output (a regular expression). One is a line of
that file as `git diff --word-diff` shows a change, [-old-]{+new+}; it has to stand there once.
FINDER: a script of tests/ or a program of the build, and arguments.

Faults of C++ are switches in one build of a copy, in build-faults/: FAULT=N in the environment is
on. Where a change does not end in ; it is an expression. Others are planted in copies.
--changed: those alone whose file, line or finder is another one than in the commit BASE; --only:
those with TEXT in file or line; --check: no test is run, it only looks whether the lines stand.

A finder that skips its test, as this build lacks a library, says SKIPPED.

Exit codes: 0 all are found; 1 some are not, or a test fails without a fault; 2 the table is wrong.
"""
import argparse
import concurrent.futures
import itertools
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests/faults.txt"
FOLDER = ROOT / "build-faults"
HEADER = "fault_is_on.hpp"
COMPILED = (".cpp", ".hpp", ".cu", ".cuh")
LIMIT = 180  # seconds of a finder
SWITCH = """#pragma once
#include <cstdlib>
#ifdef __CUDACC__
__host__ __device__
#endif
inline bool fault_is_on(int number) {
#ifdef __CUDA_ARCH__
  return number < 0;  // host code alone
#else
  const char* on = std::getenv("FAULT");
  return on != nullptr && std::atoi(on) == number;
#endif
}
"""
CHANGE = re.compile(r"\[-(.*)-\]\{\+(.*)\+\}")

Fault = namedtuple("Fault", "number path line finder wanted old new before after")


def refuse(text):
    print(f"plant_faults.py: {text}", file=sys.stderr)
    sys.exit(2)


def faults_of(text):
    """The faults of a table."""
    path = finder = wanted = None
    for number, line in enumerate(text.splitlines(), 1):
        if line[:2] in ("= ", "? "):
            place, _, found = f" {line}".partition(" ? ")
            path = place[3:] or path
            finder, _, wanted = found.partition(" ! ") if found else (finder, "", wanted)
        elif line and not line.startswith("# "):
            change = CHANGE.search(line)
            if not (change and path and wanted):
                refuse(f"{TABLE.name}, line {number}: no change, or no file and finder above it")
            before, after = line[:change.start()], line[change.end():]
            whole = [(before + part + after).replace("⏎", "\n") for part in change.groups()]
            # Not the line's number: what stays the same compiles no more.
            yield Fault(zlib.crc32(f"{path} {line}".encode()) >> 1, path, line, finder, wanted, *whole,
                        *(part.replace("⏎", "\n") for part in (before, after)))


def replaced(text, fault, new):
    if text.count(fault.old) != 1:
        refuse(f"{fault.path}: stands {text.count(fault.old)} times, not once: {fault.old}")
    return text.replace(fault.old, new)


def switch(fault):
    """The line with both forms."""
    old, new = (part.replace("⏎", "\n") for part in CHANGE.search(fault.line).groups())
    is_on = f"fault_is_on({fault.number})"
    if old[-1:] in ";}" or new[-1:] in ";}":
        return f"{fault.before}if ({is_on}) {{ {new} }} else {{ {old} }}{fault.after}"
    return f"{fault.before}({is_on} ? ({new}) : ({old})){fault.after}"


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], check=True, stdout=subprocess.PIPE,
                          encoding="utf-8").stdout


def copy(folder, planted=None):
    """What git knows of, as it is here or in `planted`; what is the same stays, for make."""
    names = set(filter(None, git("ls-files", "-z").split("\0")))
    for gone in [path for path in folder.rglob("*") if path.is_file() and path.name != HEADER
                 and path.relative_to(folder).as_posix() not in names]:
        gone.unlink()
    for name in names:
        old, new = ROOT / name, folder / name
        if not old.is_file():
            continue
        data = planted[name].encode() if name in (planted or {}) else old.read_bytes()
        if not (new.exists() and new.read_bytes() == data):
            new.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(old, new)
            new.write_bytes(data)


def switched(faults):
    """{path: text with all its faults as switches}"""
    texts = {}
    for fault in faults:
        if fault.path.endswith(COMPILED):
            text = texts.get(fault.path) or (
                f'#include "tests/{HEADER}"\n' + (ROOT / fault.path).read_text())
            texts[fault.path] = replaced(text, fault, switch(fault))
    return texts


def build(planted, targets):
    """A build of a copy that has these texts."""
    source, header = FOLDER / "source", FOLDER / "source/tests" / HEADER
    copy(source, planted)
    if not header.exists() or header.read_text() != SWITCH:
        header.write_text(SWITCH)
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    launcher = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("CXX", "CUDA")
                if shutil.which("ccache")]
    for command in (["cmake", "-S", source, "-B", FOLDER / "build", *generator, *launcher,
                     "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=ON"],
                    ["cmake", "--build", FOLDER / "build", "--parallel", str(os.cpu_count()),
                     "--target", *sorted(targets)]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={"CUDAARCHS": "90", **os.environ}, encoding="utf-8")
        if done.returncode:
            refuse(f"{' '.join(map(str, command))} failed:\n{done.stdout[-3000:]}")


def script_of(finder):
    """Its script below ROOT, None where it is a program; whether that runs simulated programs."""
    tests, name = ROOT / "tests", finder.split()[0]
    found = [path for path in (*tests.glob("*/*_test.py"), *tests.glob("*.py")) if path.stem == name]
    script = found[0].relative_to(ROOT) if found else None
    return script, bool(found) and (found[0].parent.name == "simulated" or name == "golden_rows")


def targets_of(finder):
    script, of_programs = script_of(finder)
    return ({"simulated", "faulty_writes"} if of_programs else set()) if script else {
        finder.split()[0]}


class Work:
    def __init__(self, jobs):
        self.copies = queue.Queue()
        self.temporary = tempfile.TemporaryDirectory(dir=FOLDER)
        for number in range(jobs):
            folder = Path(self.temporary.name) / str(number)
            copy(folder)
            self.copies.put(folder)

    def look(self, fault):
        """(whether the finder fails, its output, seconds)"""
        compiled = fault.path.endswith(COMPILED)
        name, *arguments = fault.finder.split()
        script, of_programs = script_of(fault.finder)
        folder, programs, start = self.copies.get(), FOLDER / "build", time.monotonic()
        path = folder / fault.path
        text = path.read_text()
        command = [sys.executable, (ROOT if compiled else folder) / script] if script else [
            programs / name]
        try:
            if not compiled:
                path.write_text(replaced(text, fault, fault.new))
            with tempfile.TemporaryFile("w+", errors="replace") as output:  # others may hold it open
                process = subprocess.Popen(
                    [*command, *[programs / "simulated"] * of_programs, *arguments], cwd=FOLDER,
                    stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                    # Python would take the code of an equally long file of the same second.
                    start_new_session=True, env={**os.environ, "FAULT": str(fault.number),
                                                 "PYTHONDONTWRITEBYTECODE": "1"})
                try:
                    code, end = process.wait(LIMIT), ""
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    code, end = process.wait(), f"no end within {LIMIT} s"
                output.seek(0)
                return code not in (0, 77), output.read() + end, time.monotonic() - start
        finally:
            path.write_text(text)
            self.copies.put(folder)

    def plant(self, fault):
        """The line that is printed, and whether it is found."""
        failed, output, seconds = self.look(fault)
        found = failed and re.search(fault.wanted, output)
        ran, skipped = (re.search(text, output) for text in (r"Ran (\d+) ", r"OK \(skipped=(\d+)\)"))
        if not failed and skipped and ran[1] == skipped[1]:
            return f"{fault.path}: {fault.line.strip()}\tSKIPPED by {fault.finder}\t{seconds:.1f}", True
        how = fault.finder if found else "NOT FOUND" + (
            f", but it fails:\n{output[-1500:]}" if failed else "")
        return f"{fault.path}: {fault.line.strip()}\t{how}\t{seconds:.1f}", bool(found)

    def passes(self, fault):
        """The same of its finder without a fault."""
        failed, output, seconds = self.look(fault._replace(number=0, new=fault.old))
        return f"without a fault\t{fault.finder}\t{seconds:.1f}" + (
            f"\tFAILS:\n{output[-1500:]}" if failed else ""), not failed


def changed(faults, base):
    """Those whose file, finder or line is another one than in `base`."""
    files = set(git("diff", "--name-only", base).split())
    known = subprocess.run(["git", "-C", ROOT, "show", f"{base}:{TABLE.relative_to(ROOT)}"],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8").stdout
    old = {fault[1:5] for fault in faults_of(known)}
    return [fault for fault in faults if fault.path in files or fault[1:5] not in old
            or str(script_of(fault.finder)[0]) in files]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--changed", metavar="BASE")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    start = time.monotonic()
    every = list(faults_of(TABLE.read_text()))
    for fault in every:
        if not (ROOT / fault.path).exists():
            refuse(f"there is no {fault.path}")
        replaced((ROOT / fault.path).read_text(), fault, fault.new)
    planted = switched(every)
    if options.check:
        print(f"{len(every)} faults")
        return 0
    chosen = changed(every, options.changed) if options.changed else every
    chosen = [fault for fault in chosen if options.only in fault.path + fault.line]
    FOLDER.mkdir(exist_ok=True)
    targets = set().union(*(targets_of(fault.finder) for fault in chosen))
    if targets:
        build(planted, targets)
        print(f"built in {time.monotonic() - start:.0f} s", flush=True)
    work, bad = Work(options.jobs), 0
    once = {fault.finder: fault for fault in chosen}.values()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = pool.map(work.passes, once), pool.map(work.plant, chosen)
        for line, well in itertools.chain(*found):
            bad += not well
            if not well or not line.startswith("without"):
                print(line, flush=True)
    print(f"{len(chosen)} faults, {bad} not found or of no use, {time.monotonic() - start:.0f} s")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
