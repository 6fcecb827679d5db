"""Reads and checks the suite's tab-separated files, for the scripts and the tests.

An output has sections: a line `# title: how it was measured`, a header line that begins
with `method`, and rows of as many cells, the first a name and the others numbers but for
those of NAMES and PHRASES. Other lines that start with # are comments. Whatever breaks this
is a TsvError that names file, line and column: a damaged number is never taken for a number.
"""

import re
from pathlib import Path

# What scripts/run.sh writes into a results folder, in this order.
FILES = ("ImplicitBarrier", "BenchmarkIntraSM", "BenchmarkIntraSM.cuda11", "BenchmarkInterSM",
         "BenchmarkInterSM.cuda11", "TestRepeat", "TestRepeat.cuda11", "Reduction",
         "Reduction.cuda11", "Pitfalls", "Pitfalls.cuda11")
GRID_FILES = ("BenchmarkInterSM", "BenchmarkInterSM.cuda11")  # of both toolkits
REDUCTIONS = ("Reduction", "Reduction.cuda11")
PITFALLS = ("Pitfalls", "Pitfalls.cuda11")
NAMES = ("method", "type", "cost", "case")  # columns of words
PHRASES = ("form", "outcome")  # of several
_NUMBER = re.compile(r"-?\d+(?:\.(\d+))?|nan")
_NAME = re.compile(r"[A-Za-z]\w*")
_PHRASE = re.compile(r"[A-Za-z]\w*(?: \w+)*")
_WHOLE = ("GPUCount", "GPUcount", "blk", "thrd")
# A method's rows are judged together, when the last is measured: how a warning then names
# its row, by columns (perSM: blocks per SM; each: `bytes` are those of one GPU).
_NAMED_ROWS = [re.compile(pattern) for pattern in (
    r"(?P<method>\w+) on (?P<GPUcount>\d+), (?P<perSM>\d+) per SM x (?P<thrd>\d+): ",
    r"(?P<method>\w+) x (?P<rep>\d+) on (?P<blk>\d+) x (?P<thrd>\d+)(?:/(?P<tile>\d+))?: ",
    r"(?P<method>\w+) on (?P<blk>\d+) x (?P<thrd>\d+)(?:/(?P<tile>\d+))? x (?P<rep>\d+): ",
    r"(?P<method>\w+) latency (?P<thrd>\d+)/(?P<tile>\d+): ",
    r"(?P<method>\w+) throughput (?P<blk>\d+) x (?P<thrd>\d+)(?:/(?P<tile>\d+))?: ",
    r"(?P<method>\w+) of (?P<type>\w+)(?: on (?P<GPUcount>\d+) GPUs)?, "
    r"(?P<bytes>\d+) bytes(?P<each> each)?: ",
    r"(?P<method>\w+) of (?P<type>\w+)(?: by (?P<thrd>\d+) of (?P<bytes>\d+) bytes)?: ",
    r"(?P<method>\w+) of (?P<type>\w+) by (?P<more>\d+): ")]


class TsvError(Exception):
    """What cannot be read or done, in one line."""


class Row(dict):
    """Column -> text of the cell; all but NAMES and PHRASES are numbers."""

    def __init__(self, header, cells, where):
        super().__init__(zip(header, cells))
        self.where = where

    @property
    def line(self):
        """Its number in the file."""
        return int(self.where.rsplit(" ", 1)[-1])

    def __missing__(self, column):
        raise TsvError(f"{self.where}: there is no column {column}")


class Section:
    def __init__(self, title, header):
        self.title, _, self.how = (part.strip() for part in title.partition(":"))
        self.header = header
        self.rows = []  # of class Row
        self.comments = []  # below the header: (the row above or None, text)

    def numbers(self, column):
        return [float(row[column]) for row in self.rows]

    def find(self, **cells):
        """The first row with these cells, or None."""
        return next((row for row in self.rows
                     if all(row.get(column) == text for column, text in cells.items())), None)

    def find_all(self, **cells):
        """The rows with these cells."""
        return [row for row in self.rows
                if all(row[column] == text for column, text in cells.items())]

    def warnings(self, sms):
        """(row or None where it is about no row, text) of each warning of the executable."""
        for above, comment in self.comments:
            if not comment.startswith("warning: "):
                continue
            text = comment[len("warning: "):]
            named = next(filter(None, (pattern.match(text) for pattern in _NAMED_ROWS)), None)
            if named is None:
                yield (above if "the row above" in text else None), text
                continue
            cells = named.groupdict()
            if "perSM" in cells:
                cells["blk"] = str(int(cells.pop("perSM")) * sms)
            if cells.pop("each", None):
                cells["bytes"] = str(int(cells["bytes"]) * int(cells["GPUcount"]))
            row = self.find(**{column: cell for column, cell in cells.items()
                               if cell and column in self.header})
            yield row, text[named.end():] if row else text


def _check_cells(cells, section, decimals, where):
    if len(cells) != len(section.header):
        raise TsvError(f"{where}: {len(cells)} cells, but {len(section.header)} columns")
    for column, cell in list(zip(section.header, cells))[1:]:
        if column in NAMES + PHRASES:
            if not (_NAME if column in NAMES else _PHRASE).fullmatch(cell):
                raise TsvError(f"{where}, column {column}: '{cell}' is not a name")
            continue
        number = _NUMBER.fullmatch(cell)
        if not number or (column in _WHOLE and not cell.isdigit()):
            raise TsvError(f"{where}, column {column}: '{cell}' is not a number")
        # A column is printed with one number of decimals: fewer were cut off.
        places = len(number[1] or "")
        if cell != "nan" and decimals.setdefault(column, places) != places:
            raise TsvError(f"{where}, column {column}: '{cell}' has {places} decimals, "
                           f"the rows above have {decimals[column]}")


def _lines(data, name):
    """The lines of `data` (bytes), which may begin with a byte-order mark."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TsvError(f"{name}, line {line}: not text in UTF-8") from None
    lines = text.replace("\r\n", "\n").split("\n")
    if lines.pop():
        raise TsvError(f"{name}, line {len(lines) + 1}: the last line is cut short")
    return lines


def parse(data, name="standard input"):
    """The sections of an executable's output (bytes)."""
    sections, title, decimals, row = [], None, {}, None
    comments = []  # of the section being read; those above the first belong to it
    for number, line in enumerate(_lines(data, name), 1):
        where = f"{name}, line {number}"
        cells = line.split("\t")
        if line.startswith("#"):
            title = line[1:].strip()
            comments.append((row, title))
        elif cells[0] == "method":
            if title is None or title.startswith(("warning: ", "skipped: ")):
                raise TsvError(f"{where}: no title above this header")
            if len(set(cells)) != len(cells):
                raise TsvError(f"{where}: a column name stands twice")
            comments.pop()  # it was the title of this one
            sections.append(Section(title, cells))
            if len(sections) > 1:
                comments = sections[-1].comments
            sections[-1].comments = comments
            title, decimals, row = None, {}, None
        elif not sections:
            raise TsvError(f"{where}: a row above any header")
        else:
            _check_cells(cells, sections[-1], decimals, where)
            title = None
            row = Row(sections[-1].header, cells, where)
            sections[-1].rows.append(row)
    return sections


def read_bytes(path):
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise TsvError(f"cannot read {path}: {error.strerror}") from None


def read(path):
    """The sections of a file."""
    return parse(read_bytes(path), path)


def read_table(data, name):
    """The rows of a table without sections (bytes), as dicts."""
    lines = [line.split("\t") for line in _lines(data, name)]
    for number, cells in enumerate(lines, 1):
        if len(cells) != len(lines[0]):
            raise TsvError(f"{name}, line {number}: {len(cells)} cells, "
                           f"but {len(lines[0])} columns")
    return [dict(zip(lines[0], cells)) for cells in lines[1:]]


class Run:
    """A results folder."""

    def __init__(self, path):
        self.path = Path(path)
        if not self.path.is_dir():
            raise TsvError(f"{path} is not a folder")
        present = [name for name in FILES if (self.path / f"{name}.tsv").exists()]
        if not present:
            raise TsvError(f"{path} is not a results folder: it has no {FILES[0]}.tsv")
        environment = self.path / "environment.tsv"
        rows = read_table(read_bytes(environment), environment)
        if any(row.keys() != {"key", "value"} for row in rows):
            raise TsvError(f"{environment}, line 1: the columns must be key and value")
        self.environment = {row["key"]: row["value"] for row in rows}
        sms = self.environment.get("sms", "none").split(";")[0]  # of GPU 0
        if not re.fullmatch("[1-9][0-9]*", sms):
            raise TsvError(f"{environment}: the number of SMs is '{sms}'")
        self.sms = int(sms)
        self.files = {name: read(self.path / f"{name}.tsv") for name in present}  # -> sections

    def section(self, file, title):
        """The section with this title, without rows where the file has none."""
        return next((section for section in self.files.get(file, ()) if section.title == title),
                    Section(title, ["method"]))

    def about(self):
        """One line: what was measured with what."""
        value = {key: self.environment.get(key, "unknown") for key in (
            "gpu", "gpu_count", "driver", "cuda_toolkit", "suite_commit", "date_utc")}
        other = self.environment.get("cuda_toolkit_multi_grid")
        other = f" and {other} (all multi-grid barriers)" if other else ""
        return ("{gpu} x {gpu_count}, driver {driver}, CUDA {cuda_toolkit}" + other
                + ", commit {suite_commit}, {date_utc}").format(**value)
