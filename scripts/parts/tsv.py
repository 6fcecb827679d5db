"""Reads and checks the suite's tab-separated files, for the scripts and the tests.

An output has sections: a line `# title: how it was measured`, a header line that begins
with `method`, a line `# section[main=NAME chosen=LABELS]` where there are means, and rows of as
many cells as the header, the first a name and the others numbers but for those of NAMES and
PHRASES. Other lines that start with # are comments, of which scripts read
annotations alone: above the first section what measured, such as `# program[name=...]`, and in
the last line `# end[rows=N sections="A|B"]`. Whatever breaks this is a TsvError that names file,
line and column: a damaged number is never taken for a number. An output of a program that ran on
no GPU begins with SIMULATED.
"""

import functools
import re
import stat
import statistics
from collections import defaultdict, namedtuple
from pathlib import Path

from parts import checksums
from parts.suite import FILES, IN_PROCESSES, OLDER, files_of

GRID_FILES = files_of("BenchmarkInterSM")  # of both toolkits
REDUCTIONS = files_of("Reduction")
PITFALLS = files_of("Pitfalls")
NAMES = ("method", "type", "cost", "case", "order", "stream", "set")  # columns of words
PHRASES = ("form", "outcome")  # of several
SIMULATED, MARK = "# simulated", "simulated, not measured: "  # in outputs; in all that is shown
# Of more processes or nodes than a run's.
BESIDE = re.compile(rf"((?:{'|'.join(IN_PROCESSES)})\.(?!before13\.tsv)[A-Za-z0-9_-]{{1,40}})\.tsv")
AGAIN = "again"  # folder in a run, of methods that were measured once more
MOST_BYTES = 2 ** 26  # of a file; far more than any run has
NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.([0-9]{1,9}))?|nan")  # a double has each of them
_PLAIN = re.compile(r"[0-9]{1,15}\.([0-9]{1,9})")  # right in a column of any number
_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
HANGS, ERROR = "no progress", "error"
_OUTCOME = re.compile(rf"(completed|wrong result)|({HANGS}) within (\w+ s)|({ERROR}) (\w.*)")
_PHRASE = re.compile(r"[A-Za-z]\w*(?: \w+)*", re.ASCII)
_LEAST = {**dict.fromkeys(("GPUCount", "GPUcount", "blk", "thrd", "rep", "basicrep", "moredrep",
                            "bytes", "cells", "steps", "width", "rows", "layers", "nodes",
                            "processes"), 1), "lane": 0, "tile": 0,
          "late": 0, "reads": 0}  # of columns of whole numbers
_CAN_LACK = ("bytes",)  # that can be nan
# Only these columns can be negative: differences, and what is computed of them.
_DIFFERENCE = re.compile(r"(m|med|min|max|loop)\(.*\)|sync|GB/s|bandwidth|latency|concurrency")
# Columns of what a row is of; the others are what was found.
_POINT = (*_LEAST, "idea(wkld)", "type", "basic", "more", "cost", "stream", "form", "order")
# What a program says: `KIND[TAG NAME=VALUE ...] METHOD COLUMN=CELL ...: text`. Without a tag it is
# of the whole output: KIND[NAME=VALUE ...].
_PAIR = r'[\w()]{1,20}=(?:[^\s":\[\]]{1,100}|"[^"]{0,400}")'
_ANNOTATION = re.compile(
    rf"([a-z]{{1,20}})\[(?:([a-z-]{{1,40}})((?: {_PAIR}){{0,9}})|({_PAIR}(?: {_PAIR}){{0,9}}))\]"
    rf"(?: (\w{{1,40}})((?: {_PAIR}){{0,9}}))?(?:: (.*))?", re.ASCII)
_CELL = re.compile(r'([\w()]+)=(?:"([^"]*)"|([^\s"]+))')
_BEGINS = re.compile(r"[a-z]+\[")


class TsvError(Exception):
    """What cannot be read or done, in one line."""

    def __str__(self):
        return shown(super().__str__(), 1000)


def shown(text, most=60):
    """For a message: on one line, and not endless."""
    text = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    return text if len(text) <= most else f"{text[:most]}..."


class Row(dict):
    """Column -> text of the cell; all but NAMES and PHRASES are numbers. section: where it stands."""

    def __init__(self, header, cells, where, section=None):
        super().__init__(zip(header, cells))
        self.where, self.section = where, section

    @property
    def line(self):
        """Its number in the file."""
        return int(self.where.rsplit(" ", 1)[-1])

    @property
    def gpus(self):
        """On how many it was measured: one where no column says so."""
        return int(self.get("GPUcount", self.get("GPUCount", "1")))

    def whole(self, column):
        """The number of a cell that has to be a whole one here."""
        if not re.fullmatch("[0-9]{1,15}", self[column]):
            raise TsvError(f"{self.where}, column {column}: '{shown(self[column])}' is not a "
                           "whole number")
        return int(self[column])

    def said(self, tag=None):
        """The Annotations of it that are warnings, or have this tag."""
        return self.section.said_of(self, tag)

    def __missing__(self, column):
        raise TsvError(f"{self.where}: there is no column {column}")


class Annotation(namedtuple("Annotation", "kind tag values method cells text where")):
    """What a program says beside the rows. kind: warning, skipped, note or, without a tag, what the
    whole output has once; tag: what of, with its values; method and cells: the rows that it is of,
    all of the section where they are empty; text: for people."""

    def number(self, name):
        """Of a value or a cell."""
        text = self.values.get(name, self.cells.get(name, ""))
        if not NUMBER.fullmatch(text) or text == "nan":
            raise TsvError(f"{self.where}: '{name}={shown(text)}' is not a number")
        return float(text)


def pairs_of(text):
    """{name: value} of words NAME=VALUE."""
    return {name: quoted or plain for name, quoted, plain in _CELL.findall(text)}


def annotation_of(comment, where):
    """The Annotation of a comment (without #), or None."""
    found = _ANNOTATION.fullmatch(comment)
    if not found:
        if _BEGINS.match(comment):
            raise TsvError(f"{where}: not an annotation: '{shown(comment)}'")
        return None
    kind, tag, values, alone, method, cells, text = (part or "" for part in found.groups())
    return Annotation(kind, tag, pairs_of(values or alone), method, pairs_of(cells), text, where)


class Section:
    def __init__(self, title, header, where=""):
        self.where = where  # file and line of its header
        self.title, _, self.how = (part.strip() for part in title.partition(":"))
        self.header = header
        self.any_number = [column not in _LEAST and column not in NAMES + PHRASES
                           for column in header]  # whether its cells are numbers of any kind
        # Not all methods of a library have a kernel.
        self.can_lack = _CAN_LACK + ("blk", "thrd") * (header[1:2] == ["nodes"])
        self.point = [column for column in _POINT if column in header]  # what a row is of
        self.rows = []  # of class Row
        # The mean that its rows are judged by, "ovh" of m(ovh), "" for none, None where it is not
        # said; the labels that the program may choose anew in each run.
        self.main, self.chosen = None, ()
        self.annotations = []  # below the header
        self._said = None  # {method: annotations}

    def describe(self, said):
        """Takes its line section[...], an Annotation."""
        if self.main is not None:
            raise TsvError(f"{said.where}: a second line section[...] of {shown(self.title)}")
        self.main = said.values.get("main", "")
        self.chosen = tuple(filter(None, said.values.get("chosen", "").split(",")))
        for column in (*[f"m({self.main})"] * bool(self.main), *self.chosen):
            if column not in self.header:
                raise TsvError(f"{said.where}: the header has no column {shown(column)}")

    def numbers(self, column):
        return [float(row[column]) for row in self.rows]

    def find(self, **cells):
        """The row with these cells, or None. Several are refused: it would not be said of which."""
        found = [row for row in self.rows
                 if all(row.get(column) == text for column, text in cells.items())]
        if len(found) > 1:
            asked = " ".join(f"{column}={text}" for column, text in cells.items())
            raise TsvError(f"{found[1].where}: a second row of {asked}")
        return found[0] if found else None

    def find_all(self, **cells):
        """The rows with these cells."""
        return [row for row in self.rows
                if all(row[column] == text for column, text in cells.items())]

    def rows_of(self, said):
        """The rows that an Annotation is of; none where it is of the whole section."""
        return [row for row in self.rows
                if row["method"] == said.method and said.cells.items() <= row.items()]

    def said_of(self, row, tag=None):
        """The Annotations of a row that are warnings, or have this tag."""
        if self._said is None:
            self._said = defaultdict(list)
            for said in self.annotations:
                self._said[said.method].append(said)
        return [said for said in self._said.get(row["method"], ())
                if (said.tag == tag if tag else said.kind == "warning")
                and said.cells.items() <= row.items()]


class Output(list):
    """The Sections of an output. annotations: those of all of it; end: its last line, or None."""

    def __init__(self):
        super().__init__()
        self.annotations, self.end = [], None

    def head(self, kind):
        """The values of each line of a kind that says what measured."""
        return [said.values for said in self.annotations if said.kind == kind and not said.tag]

    def program(self, value):
        """What the first line says of the program, or None."""
        return next((values.get(value) for values in self.head("program")), None)

    @functools.cached_property
    def sets(self):
        """Names of the sets that were measured; None: of an older program, which has none."""
        return next((values["measured"].split(",") for values in self.head("sets")
                     if "measured" in values), None)

    def should_have(self, row):
        """Whether it is of a set that was measured."""
        return self.sets is None or row.get("set") in self.sets

    def has_skipped(self, method):
        """Whether it says why a method has no rows; that a shape does not fit is none."""
        return any(said.kind == "skipped" and said.method == method and said.tag != "does-not-fit"
                   for said in self.said())

    def lost(self):
        """Titles of the sections that its last line names and that are not there."""
        titles = [section.title for section in self]
        named = self.end.values.get("sections", "").split("|") if self.end else ()
        return [title for title in named if title and title not in titles]

    def said(self):
        """All Annotations, also of its sections."""
        return [said for part in (self, *self) for said in part.annotations]

    def warnings(self):
        return [said for said in self.said() if said.kind == "warning"]

    def check_end(self, name):
        """An output that says what measured it says that it is whole, too."""
        if not self and not self.annotations:
            raise TsvError(f"{name}: nothing is in it")
        if not self.end and self.program("version"):
            raise TsvError(f"{name}: the end is missing: its last line is not end[rows=N]")


def outcome_of(text):
    """(completed, wrong result, HANGS or ERROR; how long or which) of a cell `outcome`."""
    return tuple(part for part in (*_OUTCOME.fullmatch(text).groups(), "") if part is not None)[:2]


@functools.lru_cache(maxsize=2 ** 14)  # labels stand in many rows
def _wrong(column, cell, can_lack):
    """What a cell is not, or None."""
    if column in NAMES + PHRASES:
        pattern = _NAME if column in NAMES else _PHRASE
        if not pattern.fullmatch(cell):
            return "not a name"
        return "no outcome" if column == "outcome" and not _OUTCOME.fullmatch(cell) else None
    least = _LEAST.get(column)
    may_lack = least is None or column in can_lack
    if not NUMBER.fullmatch(cell) or (cell == "nan" and not may_lack):
        return "not a number"
    if least is not None and "." in cell:
        return "not a whole number"
    if float(cell) < (least or 0) and not _DIFFERENCE.fullmatch(column):
        return f"less than {least or 0}"
    return None


def _check_cells(cells, section, decimals, where):
    if len(cells) != len(section.header):
        raise TsvError(f"{where}: {len(cells)} cells, but {len(section.header)} columns")
    for column, cell, any_number in zip(section.header, cells, section.any_number):
        plain = any_number and _PLAIN.fullmatch(cell)
        wrong = None if plain else _wrong(column, cell, section.can_lack)
        if wrong:
            raise TsvError(f"{where}, column {shown(column)}: '{shown(cell)}' is {wrong}")
        if not plain and (column in NAMES + PHRASES or cell == "nan"):
            continue
        # A column is printed with one number of decimals: fewer were cut off.
        places = len(plain[1] if plain else cell.partition(".")[2])
        if decimals.setdefault(column, places) != places:
            raise TsvError(f"{where}, column {shown(column)}: '{cell}' has {places} decimals, "
                           f"the rows above have {decimals[column]}")


def _lines(data, name):
    """The lines of `data` (bytes), which may begin with a byte-order mark."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        position = error.start - data.rfind(b"\n", 0, error.start)
        raise TsvError(f"{name}, line {line}: not text in UTF-8 (byte {position})") from None
    lines = text.replace("\r\n", "\n").split("\n")
    if lines.pop():
        raise TsvError(f"{name}, line {len(lines) + 1}: the last line is cut short")
    for number, line in enumerate(lines, 1):
        if line.replace("\t", "").isprintable():
            continue
        for position, letter in enumerate(line, 1):
            if letter != "\t" and not letter.isprintable():
                raise TsvError(f"{name}, line {number}: no such character can be here: "
                               f"'{letter}' (character {position})")
    return lines


def parse(data, name="standard input"):
    """The Output of an executable (bytes)."""
    output, title, decimals, points = Output(), None, {}, {}
    annotations = output.annotations  # of the section being read
    for number, line in enumerate(_lines(data, name), 1):
        where = f"{name}, line {number}"
        cells = line.split("\t")
        if output.end:
            raise TsvError(f"{where}: below the end of the output")
        if line.startswith("#"):
            if len(cells) > 1:
                raise TsvError(f"{where}: a comment with a tab")
            title = line[1:].strip()
            said = annotation_of(title, where)
            if said:
                title = None  # what follows a header's title is a header
                own = output and said.kind == "section"
                (output[-1].describe if own else annotations.append)(said)
            if said and said.kind == "end":
                rows = sum(len(section.rows) for section in output)
                if said.number("rows") != rows:
                    raise TsvError(f"{where}: {rows} rows stand above, not {said.values['rows']}")
                output.end = said
        elif cells[0] == "method":
            if title is None:
                raise TsvError(f"{where}: no title above this header")
            if len(set(cells)) != len(cells):
                raise TsvError(f"{where}: a column name stands twice")
            section = Section(title, cells, where)
            if section.title in (other.title for other in output):
                raise TsvError(f"{where}: a section {shown(section.title)} stands twice")
            output.append(section)
            annotations, title, decimals, points = section.annotations, None, {}, {}
        elif not output:
            raise TsvError(f"{where}: " + ("a row above any header" if len(cells) > 1 else
                                           "its columns are not separated by tabs"))
        else:
            _check_cells(cells, section, decimals, where)
            title = None
            row = Row(section.header, cells, where, section)
            point = (cells[0], *[row[column] for column in section.point])
            if points.setdefault(point, row) is not row:
                raise TsvError(f"{where}: the same point twice, as in line {points[point].line}")
            section.rows.append(row)
    return output


def read_bytes(path):
    try:
        status = Path(path).stat()
        if stat.S_ISREG(status.st_mode) and status.st_size <= MOST_BYTES:
            return Path(path).read_bytes()
    except OSError as error:
        raise TsvError(f"cannot read {path}: {error.strerror}") from None
    raise TsvError(f"cannot read {path}: it is no file of {MOST_BYTES >> 20} MiB or less")


def is_simulated(data):
    return data.removeprefix(b"\xef\xbb\xbf").startswith(SIMULATED.encode())


def refuse_simulated(data, path, more=""):
    if is_simulated(data):
        raise TsvError(f"{path}: simulated rows, not measured on a GPU{more}")


def read(path):
    """The Output in a file, which was measured."""
    data = read_bytes(path)
    refuse_simulated(data, path)
    return parse(data, path)


def read_table(data, name):
    """The rows of a table without sections (bytes), of class Row."""
    lines = [(number, line.split("\t")) for number, line in enumerate(_lines(data, name), 1)
             if number > 1 or not line.startswith(SIMULATED)]
    for number, cells in lines:
        if len(cells) != len(lines[0][1]):
            raise TsvError(f"{name}, line {number}: {len(cells)} cells, "
                           f"but {len(lines[0][1])} columns")
    return [Row(lines[0][1], cells, f"{name}, line {number}") for number, cells in lines[1:]]


def read_folder(folder):
    """{name of a file of the run: bytes}"""
    try:
        names = sorted(path.name for path in Path(folder).iterdir())
    except OSError as error:
        raise TsvError(f"cannot read {folder}: {error.strerror}") from None
    return {name: read_bytes(Path(folder) / name) for name in names if checksums.is_data(name)}


def check_folder(folder, data):
    """Whether its SHA256SUMS says that these are its files as they were written."""
    sums = Path(folder) / checksums.NAME
    if not sums.exists():
        return False
    for complaint in checksums.complaints(_lines(read_bytes(sums), sums), data):
        raise TsvError(str(Path(folder) / complaint))
    return True


def refuse_mixed(runs):
    """What was simulated and what was measured are never shown side by side as if alike."""
    found = {run.simulated: run.path for run in runs}
    if len(found) > 1:
        raise TsvError(f"{found[True]} is simulated, {found[False]} was measured: they cannot be "
                       "compared")


class Run:
    """A results folder. simulated: whether its rows are of no GPU; checked: whether its files are
    as they were written, by its SHA256SUMS; again: the Run of what was measured once more, or None."""

    def __init__(self, path, simulated=False, whole=None):
        """simulated: whether such rows are read; None: never, and no option makes them so. whole:
        whether outputs without an end are refused; None: unless the run was interrupted."""
        self.path = Path(path)
        self.partial = self.path.name.endswith(".partial")
        if not self.path.is_dir():
            raise TsvError(f"{path} is not a folder")
        if not f"{self.path}{self.path.resolve().name}".isprintable():
            raise TsvError(f"{path}: the folder's name has a character that cannot be shown")
        data = read_folder(self.path)
        present = [name for name in FILES if f"{name}.tsv" in data]
        present += [found[1] for found in map(BESIDE.fullmatch, sorted(data)) if found]
        if not present:
            raise TsvError(f"{path} is not a results folder: it has no {FILES[0]}.tsv")
        self.simulated = self._is_simulated(data, present, simulated)
        self.mark = MARK * self.simulated
        self._read_environment(data)
        self.files = {name: parse(data[f"{name}.tsv"], self.path / f"{name}.tsv")
                      for name in present}  # -> Output
        for name, output in self.files.items():
            self._check_machine(name, output)
            if whole if whole is not None else not self.partial:
                output.check_end(self.path / f"{name}.tsv")
        # Last, as what cannot be read has been told with its line by now.
        self.checked = check_folder(self.path, data)
        self.again = self._read_again(simulated, whole)

    def _read_again(self, simulated, whole):
        path = self.path / AGAIN
        if self.path.name == AGAIN or path.is_symlink() or not path.is_dir():
            return None
        again = Run(path, simulated, whole)
        for key in ("gpu", "gpu_count", "suite_commit"):
            if again.environment.get(key) != self.environment.get(key):
                raise TsvError(f"{path}: of another {key} than {self.path}")
        refuse_mixed([again, self])
        return again

    def _is_simulated(self, data, present, allowed):
        found = [name for name, content in data.items() if is_simulated(content)]
        if found and not allowed:
            refuse_simulated(data[found[0]], self.path / found[0],
                             "; --simulated reads them" * (allowed is not None))
        measured = [f"{name}.tsv" for name in present if f"{name}.tsv" not in found]
        if found and measured:
            raise TsvError(f"{self.path / found[0]}: simulated rows, but those of {measured[0]} "
                           "beside it are measured")
        return bool(found)

    def _read_environment(self, data):
        path = self.path / "environment.tsv"
        rows = read_table(data["environment.tsv"] if "environment.tsv" in data
                          else read_bytes(path), path)
        self.environment = {}
        for row in rows:
            if row.keys() != {"key", "value"}:
                raise TsvError(f"{path}, line 1: the columns must be key and value, with a tab "
                               "between them")
            if self.environment.setdefault(row["key"], row["value"]) is not row["value"]:
                raise TsvError(f"{row.where}: {shown(row['key'])} stands twice")

        def count(key, what):
            if key not in self.environment:
                raise TsvError(f"{path}: the number of {what} is missing: there is no key {key}")
            text = self.environment[key].split(";")[0]  # of GPU 0
            if not re.fullmatch("[1-9][0-9]{0,3}", text):
                raise TsvError(f"{path}: the number of {what} is '{shown(text)}'")
            return int(text)

        self.sms, self.gpus = count("sms", "SMs"), count("gpu_count", "GPUs")

    def _check_machine(self, name, output):
        """Rows of another program, of another kind of GPU or of more GPUs are not of this run."""
        path = self.path / f"{name}.tsv"
        gpus = self.environment.get("gpu", "").split("; ")
        if output.program("name") not in (None, name.split(".")[0]):
            raise TsvError(f"{path}: these are rows of {shown(output.program('name'))}")
        for gpu in (values.get("name", "") for values in output.head("gpu")):
            if " ".join(gpu.split()) not in gpus:
                raise TsvError(f"{path}: these are rows of {shown(gpu)}, and environment.tsv "
                               f"is of {shown('; '.join(gpus))}")
        for row in (row for section in output for row in section.rows):
            if row.gpus > self.gpus * int(row.get("nodes", "1")):
                column = "GPUcount" if "GPUcount" in row else "GPUCount"
                raise TsvError(f"{row.where}, column {column}: '{row[column]}' GPUs, but "
                               f"environment.tsv has {self.gpus}")

    def section(self, file, title):
        """The section with this title, without rows where the file has none."""
        return next((section for section in self.files.get(file, ()) if section.title == title),
                    Section(title, ["method"]))

    def toolkit(self, file):
        """The one that compiled what has a file's rows, by environment.tsv, or None."""
        return self.environment.get("cuda_toolkit_before13" if file.endswith(OLDER)
                                    else "cuda_toolkit")

    def of_others(self):
        """(file, "commit", that of its head, that of environment.tsv) where they differ; also of
        toolkits, and of versions, beside that of most files."""
        version = statistics.mode(output.program("version") for output in self.files.values())
        for name, output in self.files.items():
            for what, wanted in (("commit", self.environment.get("suite_commit")),
                                 ("toolkit", self.toolkit(name)), ("version", version)):
                found = output.program(what)
                if None not in (found, wanted) and found != wanted:
                    yield name, what, found, wanted

    def doubts(self):
        """Sentences for readers: what makes the files doubtful."""
        if not self.checked:
            yield (f"There is no {checksums.NAME}: whether its files have changed since is not "
                   "known.")
        for name, what, found, wanted in self.of_others():
            yield (f"{name}.tsv is of {what} {shown(found)}, its run of {what} {shown(wanted)}.")
        unnamed = [f"{name}.tsv" for name, output in self.files.items() if not output.end]
        if unnamed and not self.partial:
            yield f"No last line says that all rows are there: {', '.join(unnamed)}."

    def about(self, toolkits=None):
        """One line: what was measured with what; behind a title that has the mark. toolkits: where
        not with all of the run."""
        def value(key):
            return self.environment.get(key, "unknown")

        other = self.environment.get("cuda_toolkit_before13")
        other = f" and {other} (all multi-grid barriers)" if other else ""
        if toolkits is None:
            toolkits = f"CUDA {value('cuda_toolkit')}{other}"
        return ", ".join(filter(None, (
            f"{value('gpu')} x {value('gpu_count')}", f"driver {value('driver')}", toolkits,
            f"commit {value('suite_commit')}", value("date_utc"))))
