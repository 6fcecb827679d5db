#!/usr/bin/env python3
"""Writes docs/methods.md, docs/columns.md and docs/methods.tsv: what the executables'
--list and --help say.

  program_pages.py BUILD            writes them
  program_pages.py BUILD --check    only says whether they are up to date

BUILD is a folder of executables, of any toolkit; no GPU is needed. Methods that BUILD lacks,
because its toolkit or a library lacks them, come from only_some_builds.tsv.

Exit codes: 0 the pages are up to date, or written; 1 with --check: a page differs, or a page
cannot be written; 2 bad usage, also a program that does not run or that says something else.
"""

import re
import sys
from collections import defaultdict, namedtuple
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # scripts/
from parts import command_line, environment, tsv, whole_files
from reporting.sheets import coded, markdown_table
from parts.suite import NAMES

DOCS = Path(__file__).resolve().parents[2] / "docs"
LAUNCHES, IN_SM, ACROSS_SMS, REPEATED, SUMS, STEPS, LIBRARIES, PITFALLS = NAMES
# One heading each, in this order; a method without a scope is under its program's.
SCOPES = {"warp": "Warp", "block": "Block", "cluster": "Cluster", "grid": "All blocks of one GPU",
          "gpus": "All blocks of several GPUs", "thread": "Thread", "": ""}
CAPABILITIES = (60, 70, 75, 80, 86, 89, 90)  # that a method can be the first to need
FILE = Path(__file__).with_name("only_some_builds.tsv")

Method = namedtuple("Method", "name what notes scope instruction", defaults=[""])
Column = namedtuple("Column", "name unit meaning")

# What --list of some builds has: of a toolkit before CUDA 13, or with NCCL or MPI. A build that lists one
# says the same, or the check fails.
ONLY_SOME_BUILDS = tsv.read_table(tsv.read_bytes(FILE), FILE)
# What --machine-code does not tell: what a method needs beyond compute capability 6.0. A build
# with CUDA 12 or later tells the capability of the copies and of cluster_relaxed.
ALSO_NEEDS = {"bulk_copy_in": ("9.0", "CUDA 12"), "bulk_copy_out": ("9.0", "CUDA 12"),
              "bulk_copy_out_read": ("9.0", "CUDA 12"), "cluster_relaxed": ("9.0", "CUDA 12"),
              "peer_grid_sync": ("7.0", ""), "peer_grid": ("7.0", ""),
              "programmatic": ("9.0", "")}


def said(build, program, *options):
    text = environment.output_of(build / program, *options)
    if not text:
        raise tsv.TsvError(f"{build / program} {' '.join(options)} says nothing")
    return text


def cells_of(build, program, option):
    """Those of each line, five."""
    lines = [line.split("\t") for line in said(build, program, option).splitlines()]
    if any(len(cells) != 5 for cells in lines):
        raise tsv.TsvError(f"{build / program} {option}: a line has not five cells")
    return lines


def capabilities(build):
    """{method: "8.0"}: the first capability that has it, of those with a scope."""
    found = {}
    for number in CAPABILITIES:
        for row in tsv.read_table(said(build, SUMS, "--machine-code", str(number)).encode(),
                                  f"{build / SUMS} --machine-code"):
            if row["proof"] != "missing":
                found.setdefault(row["method"], f"{number // 10}.{number % 10}")
    for name, (capability, _) in ALSO_NEEDS.items():
        if found.get(name, capability) not in (capability, "6.0"):
            raise tsv.TsvError(f"{name} needs {found[name]}, not {capability}: see ALSO_NEEDS")
        found[name] = capability
    return found


def methods_of(build, program):
    """The Methods of --list, those that only some builds have last in their scope."""
    by_scope = program in (IN_SM, ACROSS_SMS, REPEATED)
    listed = {name: Method(name, what, notes, group * by_scope, instruction)
              for name, what, notes, group, instruction in cells_of(build, program, "--list")}
    only = {row["method"]: Method(row["method"], row["what"], row["notes"], row["scope"])
            for row in ONLY_SOME_BUILDS if row["program"] == program}
    return [method for name, method in listed.items() if name not in only] + [
        listed.get(name, method) for name, method in only.items()]


def needs_of(method, first):
    needs = next((row["needs"] for row in ONLY_SOME_BUILDS if row["method"] == method.name), "")
    toolkit = ALSO_NEEDS.get(method.name, ("", ""))[1] or needs
    capability = first.get(method.name, "6.0")
    return ", ".join(filter(None, (capability if capability > "6.0" else "", toolkit)))


def code(name):
    return coded(f"`{name}`")


def method_table(methods, first):
    rows = [("Method", "What it does", "Notes", "Needs"), *(
        (code(method.name), coded(method.what), coded(method.notes), needs_of(method, first))
        for method in methods if not method.instruction)]
    head, *rows = zip(*(column for column in zip(*rows) if any(column[1:])))
    return markdown_table(head, len(head), rows)


def instruction_tables(methods, first):
    """Of methods that are one instruction each, with what is pending in the name."""
    here = {method.name: needs_of(method, first) for method in methods
            if method.name == method.instruction}
    states = {method.name.removeprefix(method.instruction): (method.what, method.notes)
              for method in methods if method.instruction}
    if not states:
        return
    yield from ("", "More methods are one PTX instruction each. The name is that of the instruction"
                + (" and of what is pending:" if here else ", as above, and of what is pending:"), "")
    if here:
        yield from markdown_table(["Instruction", "Needs"], 2, [
            [", ".join(code(name) for name in here if here[name] == needs), needs]
            for needs in sorted(set(here.values()))])
        yield ""
    yield from markdown_table(["Name goes on", "Pending", "Notes"], 3, [
        [code(state) if state else "", *map(coded, said)] for state, said in states.items()])


def beginnings(names, others):
    """The fewest of the names with which all of them begin, and none of the others."""
    found = []
    for name in sorted(names):
        if not any(name.startswith(begun) for begun in found):
            found.append(name)
    odd = [name for name in others if name.startswith(tuple(found))]
    if odd:
        raise ValueError(f"{odd[0]} begins as a method that is left out")
    return found


def methods_page(build):
    first = capabilities(build)
    yield from ("# Methods", "", "<!-- scripts/pages/program_pages.py writes this page -->", "",
                "A method is one way to synchronize. This page shows what `--list` of each program "
                "prints. The column Needs shows the first compute capability that has the method, "
                "unless that is 6.0, and the toolkit or library. A program skips what "
                "this machine lacks, and a comment in its output says why. "
                "[columns.md](columns.md) explains the columns of the rows.")
    here = {program: methods_of(build, program) for program in NAMES}
    for program in NAMES:
        yield from ("", f"## {program}", "")
        if program == REPEATED:
            others = {method.name for one in (IN_SM, ACROSS_SMS) for method in here[one]}
            own = {method.name for method in here[program]}
            lacks = others - own - {"multi_grid_sync"}
            yield f"TestRepeat measures the methods of {IN_SM} and {ACROSS_SMS}." + (
                " It leaves out these, and those whose names begin so:" if lacks else "")
            yield from ("", ", ".join(f"`{name}`" for name in beginnings(lacks, own)), "")
            yield from ("It adds this one:", "")
            yield from method_table((method for method in here[program]
                                     if method.name not in others), first)
            continue
        parts = {scope: [method for method in here[program] if method.scope == scope]
                 for scope in SCOPES}
        for scope, methods in parts.items():
            if methods:
                if scope:
                    yield from ("", f"### {SCOPES[scope]}", "")
                yield from method_table(methods, first)
                yield from instruction_tables(methods, first)


def sections_of(build, program):
    """{title: Columns}, by --columns; those of one quantity as one, with the meaning of its mean."""
    found = defaultdict(lambda: defaultdict(list))
    for title, name, unit, meaning, mean in cells_of(build, program, "--columns"):
        found[title][mean or name].append(Column(code(name), unit, meaning))
    return {title: [alike[0]._replace(name=", ".join(column.name for column in alike))
                    for alike in columns.values()] for title, columns in found.items()}


def column_table(columns):
    return markdown_table(["Column", "Unit", "Meaning"], 3, [
        [column.name, column.unit, coded(column.meaning)] for column in columns])


def columns_page(build):
    yield from ("# Columns", "", "<!-- scripts/pages/program_pages.py writes this page -->", "",
                "This page shows what `--columns` of each program prints. `m(x)` is the mean, `s(x)` "
                "the standard deviation (n - 1), `med(x)` the median. `ci95(x)` is half the width of "
                "the 95% interval of the mean. A program prints the columns from `n` on only with "
                "`--stats`, among them every `med(x)` and `ci95(x)`. "
                "[methods.md](methods.md) lists the methods.")
    for program in NAMES:
        sections = sections_of(build, program)
        shared = [column for column in next(iter(sections.values()))
                  if all(column in columns for columns in sections.values())]
        yield from ("", f"## {program}")
        if len(sections) > 1:
            yield from ("", "In all sections:", "")
            yield from column_table(shared)
        else:
            shared = []
        tables = defaultdict(list)
        for title, columns in sections.items():
            tables[tuple(column for column in columns if column not in shared)].append(title)
        for columns, titles in tables.items():
            yield from ("", f"### {program}: {', '.join(titles)}", "")
            yield from column_table(columns)


def methods_of_programs(build):
    """methods.tsv, by which run.sh knows what to build."""
    yield "program\tmethod\ttoolkit"
    for program in NAMES:
        for method in methods_of(build, program):
            older = needs_of(method, {}).startswith("CUDA 11.8 to")
            yield "\t".join((program, method.name, "older" if older else "any"))


def pages(build):
    """{file name in docs/: text}"""
    return {name: re.sub("\n\n\n+", "\n\n", "\n".join(page(build)) + "\n") for name, page in (
        ("methods.md", methods_page), ("columns.md", columns_page),
        ("methods.tsv", methods_of_programs))}


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("build", type=Path, metavar="BUILD", help="the folder of the executables")
    parser.add_argument("--check", action="store_true", help="only say whether they are up to date")
    parser.add_argument("--docs", type=Path, default=DOCS, help="where the pages are (docs/)")
    options = parser.parse_args()
    new = pages(options.build.resolve())
    old = {name: tsv.read_bytes(options.docs / name).decode(errors="replace") if (options.docs / name).exists()
           else "" for name in new}
    differ = [name for name in new if old[name] != new[name]]
    if options.check:
        for name in differ:
            number, line = next(
                (number, theirs) for number, (ours, theirs) in enumerate(zip(
                    [*old[name].splitlines(True), None], [*new[name].splitlines(True), None]), 1)
                if ours != theirs)
            line = (line or "nothing more").rstrip("\n")
            print(f"docs/{name}, line {number}: the programs say now: {line}; "
                  "scripts/pages/program_pages.py BUILD writes the page", file=sys.stderr)
        return 1 if differ else 0
    whole_files.write(options.docs, {name: new[name] for name in differ})
    return 0


if __name__ == "__main__":
    command_line.main(work, "program_pages.py")
