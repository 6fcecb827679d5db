#!/usr/bin/env python3
"""Writes results/stale.tsv: which recorded rows are stale, as what they time has other code today.

usage: stale_rows.py                 of today's sources and those of the recorded commits; needs the
                                     toolkits of the recorded rows, and build/Reduction
       stale_rows.py --check EXECUTABLE    whether the table is of the methods in it

The code of a method is what stands between the reads of the clock: the loop of trips in its timed
kernels, or all between the two reads in its kernel with a late warp. It is compared as instructions
with their stalls, registers named by the order in which they appear.
Lines of rows that the host times (rows: PROGRAM/SECTION, toolkit: any) are written by hand and
stay: code is their revision, raised where in_turns.py finds a shift, stale the commits before it.

Exit codes: 0 written, or as in the table; 1 the table is of other code; 2 something cannot be
compiled; 77 no line is of the toolkit of this executable, or the disassembler is not the one that
scripts/test.sh fetches: others print the same code in other words.
"""
import collections
import concurrent.futures
import hashlib
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests"), str(ROOT / "tests" / "machine_code")]
import golden  # noqa: E402
import kernel_hashes  # noqa: E402
import machine_code  # noqa: E402
import machine_code_paths  # noqa: E402
from machine_code_proofs import ExpectedCode  # noqa: E402
from reporting import stale  # noqa: E402
from reporting.normal import recorded_runs  # noqa: E402

ARCHITECTURE = "sm_90"  # of all recorded GPUs
FLAGS = ("-std=c++17", "-O1", "-DNDEBUG", f"-arch={ARCHITECTURE}", "-cubin", "-w", "-lineinfo",
         "-D_CG_LIMIT_INCLUDED_DEPENDENCIES", "-I.", "-Iexplicit_barrier")
COLUMNS = ("rows", "method", "toolkit", "code", "stale")
Code = collections.namedtuple("Code", "rows type")  # rows: "timed" or "late"


# What a method is compiled to.

def region_of(instructions, rows):
    if rows == "timed":
        return machine_code_paths.timed_region(instructions)[0]
    reads = [i.address for i in machine_code_paths.clock_reads(instructions)]
    return [i for i in instructions if reads[0] <= i.address <= reads[-1]]


def lines_of(region, content):
    """Its instructions as texts. Whatever lies outside is seldom executed."""
    names = {}

    def named(found):
        return names.setdefault(found[0], f"{found[1]}{len(names)}")

    for i in region:
        high, = struct.unpack_from("<Q", content, i.address + 8)
        inside = i.target is not None and region[0].address <= i.target <= region[-1].address
        yield " ".join((re.sub(r"\b(U?[RP]|B)\d+\b", named, f"{i.guard} {i.opcode} {i.operands}")
                        if i.target is None and not re.search("[`@]", i.operands) else i.opcode,
                        str(i.target - i.address) if inside else "", str(high >> 41 & 0x1f)))


def short(name):
    """Of a type, without namespaces of the suite, which older commits have others of."""
    return re.sub(r"\bsyncbench::(explicit_barrier::)?", "", name)


def codes_of(folder):
    """{Code: {repeats: digest}} of the code in a folder."""
    found = collections.defaultdict(dict)
    disassembler = os.path.join(machine_code.FETCHED, "nvdisasm")
    if not os.path.exists(disassembler):
        raise machine_code.NoDisassembler(f"{disassembler} is not there")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        files = [file for file in sorted(folder.glob("*.cubin"))
                 if b"timed_kernel" in file.read_bytes()]
        listings = pool.map(lambda file: subprocess.run(
            [disassembler, "-c", file], check=True, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True).stdout, files)
    for file, listing in zip(files, listings):
        functions = machine_code.read_functions(listing)
        kernels = machine_code.kernels_of(functions)
        sections = dict(kernel_hashes.sections_of(file.read_bytes()))
        symbols = {(Code("timed", name), repeats): symbol
                   for (name, repeats), symbol in kernels.timed.items()}
        symbols.update({(Code("late", name), 0): symbol for name, symbol in kernels.late.items()})
        for (code, repeats), symbol in symbols.items():
            if machine_code_paths.clock_reads(functions[symbol]):  # else it is empty here
                region = region_of(functions[symbol], code.rows)
                text = "\n".join(lines_of(region, sections[".text." + kernel_hashes.plain(symbol)]))
                found[code._replace(type=short(code.type))][repeats] = hashlib.sha256(text.encode()).hexdigest()[:12]
    return found


def compiled(source, folder, toolkit):
    """The codes of the methods in these sources, in a folder without those of others."""
    release, nvcc, host = toolkit
    older = int(release.split(".")[0]) < 13  # with barriers of several GPUs, of a library
    folder.mkdir(parents=True, exist_ok=True)
    # A header of the recorded commit lacks this include.
    lacked = Path("explicit_barrier/grid_barriers/protocols.hpp")
    flags = [*FLAGS, *["-include", lacked] * (source / lacked).exists(),
             *[f"-I{path}" for path in source.glob("explicit_barrier/**/include")]]

    def compile_one(path):
        golden.output_of(nvcc, *flags, "-ccbin", host, *["-rdc=true"] * older,
                         "-o", folder / f"{path.stem}.cubin", path.relative_to(source), cwd=source)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, sorted(source.glob("explicit_barrier/methods/**/*.cu"))))
    return codes_of(folder)


# The table.

def recorded():
    """{toolkit: {commit: {(rows, method)}}} of the recorded rows of methods inside a kernel."""
    found = collections.defaultdict(lambda: collections.defaultdict(set))
    for output in (output for run in recorded_runs(stale.FOLDER) for output in run.files.values()):
        for section in output:
            for row in section.rows:
                rows = stale.rows_of(output, section.title)
                if rows in ("timed", "late") and "method" in row:
                    found[output.program("toolkit")][output.program("commit")].add(
                        (rows, row["method"]))
    return found


def types_of(executable):
    """{method: its types} of today."""
    found = collections.defaultdict(list)
    listed = ExpectedCode.read(golden.output_of(executable, "--machine-code", ARCHITECTURE[3:]))
    for name, expected in listed.items():
        found[expected.method].append(short(name))
    return found


def digest_of(codes, rows, types):
    """Of all kernels of a method; None where there is none."""
    found = sorted((name, repeats, digest) for name in types
                   for repeats, digest in codes.get(Code(rows, name), {}).items())
    return hashlib.sha256(repr(found).encode()).hexdigest()[:12] if found else None


def is_same(rows, types, before, now):
    """Whether a method had the code that it has: all kernels that both have, or those of a type
    that has another name."""
    def has(name):
        new, old = now[Code(rows, name)], before.get(Code(rows, name))
        if not old:
            return any(new.items() <= kernels.items() for (kind, _), kernels in before.items()
                       if kind == rows)
        both = set(old) & set(new)
        return bool(both) and all(old[repeats] == new[repeats] for repeats in both)

    return all(has(name) for name in types if Code(rows, name) in now)


def make_table(executable):
    types, toolkits = types_of(executable), {kind[0]: kind for kind in golden.toolkits().values()}
    lines = [line for line in stale.read() if "/" in line["rows"]]
    for toolkit, commits in sorted(recorded().items()):
        if toolkit not in toolkits:
            raise golden.Stop(f"there are rows of CUDA {toolkit}, and it is not found")
        folder = golden.CACHE / "stale" / toolkit
        now = compiled(ROOT, folder / "today", toolkits[toolkit])
        before = {commit: compiled(golden.check_out(commit), folder / commit, toolkits[toolkit])
                  for commit in sorted(commits)}
        for rows, method in sorted(set().union(*commits.values())):
            digest = digest_of(now, rows, types[method])
            if digest:  # else it is gone
                old = [commit for commit, there in sorted(commits.items())
                       if (rows, method) in there
                       and not is_same(rows, types[method], before[commit], now)]
                lines.append(dict(zip(COLUMNS, (rows, method, toolkit, digest,
                                                ",".join(old) or "none"))))
    stale.FILE.write_text("".join("\t".join(cells) + "\n" for cells in (
        COLUMNS, *([line[column] for column in COLUMNS] for line in lines))), encoding="utf-8")


def check(executable):
    """What the table has otherwise than this executable, as texts; None where nothing is of its
    toolkit."""
    toolkit = re.search(r"toolkit=(\S+)", golden.output_of(executable, "--version"))[1]
    lines = [line for line in stale.read() if line["toolkit"] == toolkit]
    types = types_of(executable)
    with tempfile.TemporaryDirectory() as folder:
        pieces = machine_code.extract(executable, folder)
        for name, architecture, _ in pieces:
            if architecture != ARCHITECTURE:
                os.remove(os.path.join(folder, name))
        codes = codes_of(Path(folder))
    if not lines or not codes:
        return None
    return [f"{line['method']} ({line['rows']}): {line['code']}, here {digest}"
            for line in lines for digest in [digest_of(codes, line["rows"], types[line["method"]])]
            if digest != line["code"]]


def main(arguments):
    try:
        if arguments[:1] != ["--check"]:
            make_table(ROOT / "build" / "Reduction")
            return 0
        other = check(arguments[1])
    except machine_code.NoDisassembler as error:
        print(error, file=sys.stderr)
        return 77
    except golden.Stop as error:
        print(f"stale_rows.py: {error}", file=sys.stderr)
        return 2
    if other is None:
        return 77
    if other:
        print(*other, sep="\n")
        print(f"Recorded rows of these methods have become stale, or fresh: {len(other)} of them; "
              "tests/stale_rows.py writes results/stale.tsv again")
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
