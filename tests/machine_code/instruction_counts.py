"""instructions.tsv: how many instructions the kernels of each method have, by toolkit and
architecture. `machine_code_test.py --renew EXECUTABLE...` writes it; the test accepts no other
counts, so review what has changed. Columns: `alone`, all instructions of the kernel of one operation; `longest`, those of the one with
most in a row; `instructions`, what that operation has of memory and synchronization, polls
included, and of a barrier what it waits for. NOPs are none.
"""
import collections
import csv
import re
from pathlib import Path

import machine_code
import machine_code_paths

TABLE = Path(__file__).with_name("instructions.tsv")
KEY = ("toolkit", "architecture", "method", "size")
COLUMNS = (*KEY, "alone", "longest", "instructions")
_COUNTED = re.compile(r"LD(?!CU?\b|L\b)|ST(?!L\b)|ATOM|RED|U?BAR|MEMBAR|ERRBAR|CGAERRBAR|CCTL|FENCE|SYNCS"
                      r"|UBLKCP|UTMA|DEPBAR|UCGABAR|SHFL|VOTE|MATCH|WARPSYNC|NANOSLEEP|CALL")


def executed(instructions):
    return [i for i in instructions if i.opcode != "NOP" and i.guard not in machine_code.NEVER]


def counts_of(lines):
    """The last three columns, of kernels {operations: code}."""
    region = executed(machine_code_paths.timed_region(lines[1])[0])
    found = collections.Counter(
        re.sub(r"R\d+", "R", i.text) if i.opcode.startswith("BAR") else i.opcode
        for i in region if _COUNTED.match(i.opcode))
    return (str(len(executed(lines[1]))), str(len(executed(lines[max(lines)]))),
            "; ".join(f"{count} {text}" for text, count in sorted(found.items())))


def read():
    """{key: [the last three columns]}; several of methods that differ in their type of numbers"""
    found = collections.defaultdict(list)
    with open(TABLE, newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            found[tuple(row[column] for column in KEY)].append(
                tuple(row[column] for column in COLUMNS[4:]))
    return found


def key_of(work, architecture):
    return work.toolkit, architecture, work.method, str(work.size)


def renew(new):
    """Writes a list of (key, counts) in place of all of their toolkits and architectures."""
    renewed = {key[:2] for key, _ in new}
    old = [(key, counts) for key, them in read().items() for counts in them
           if key[:2] not in renewed]
    rows = dict.fromkeys((*key, *counts) for key, counts in old + new)
    TABLE.write_text("".join("\t".join(row) + "\n" for row in [
        COLUMNS, *sorted(rows, key=lambda row: row[:2])]))
