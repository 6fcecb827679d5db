"""SHA256SUMS of a results folder, in the format of sha256sum: whether its files are as they were
written. A run has one once it is complete."""

import hashlib
import os
import re
from pathlib import Path

NAME = "SHA256SUMS"
OTHERS = ("stderr.log", "topology.txt")  # what a run has besides its .tsv
_LINE = re.compile(r"([0-9a-f]{64}) [ *]([^/\\]+)")


def is_data(name):
    """Whether a file of this name is of the run, not made of it later."""
    return name.endswith(".tsv") or name in OTHERS


def text_of(data):
    """data: {name of a file: bytes}"""
    return "".join(f"{hashlib.sha256(data[name]).hexdigest()}  {name}\n" for name in sorted(data))


def write(folder):
    """It is there whole or not at all."""
    data = {path.name: path.read_bytes() for path in Path(folder).iterdir() if is_data(path.name)}
    unfinished = Path(folder) / f".{NAME}"
    unfinished.write_text(text_of(data))
    os.replace(unfinished, Path(folder) / NAME)


def complaints(lines, data):
    """What is wrong, texts that follow the folder's path. lines: of its SHA256SUMS; data: as in
    text_of(), of all its files."""
    seen = {}
    for number, line in enumerate(lines, 1):
        found = _LINE.fullmatch(line)
        if not found or found[2] in seen:
            yield f"{NAME}, line {number}: not a sum and the name of one more file of this folder"
            return
        seen[found[2]] = found[1]
    for name, digest in seen.items():
        if name not in data:
            yield f"{name} is missing, though {NAME} has it"
        elif hashlib.sha256(data[name]).hexdigest() != digest:
            yield f"{name} is not what was recorded: its sum is not that of {NAME}"
    yield from (f"{name} is not in {NAME}" for name in data if name not in seen)
