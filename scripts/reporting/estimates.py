"""Estimates and tables of report.py: what was measured, with its spread and where it stands."""

import math
import re
from collections import Counter, namedtuple

from reporting.sheets import Cell, Sheet

NONE = "none"  # a removed barrier
WARNED = "The run warns of numbers with a !; its files say why."
MOST_DIGITS = 5  # of a mean; what was measured is not known better


class Estimate:
    """A value of a run. spread: the standard deviation, nan where none was recorded or is shown;
    sources: (file, section, line) of its rows; remarks: what the run says of them; wrong: of a sum;
    nothing: whether nothing waits."""

    def __init__(self, value, spread, sources, remarks=(), wrong=False, nothing=False):
        self.value, self.spread, self.sources = value, spread, list(sources)
        self.remarks, self.wrong, self.nothing = list(remarks), wrong, nothing

    def text(self):
        """For people: 1512 ± 69!, none, 199.8?; "" where there is no value."""
        if self.nothing:
            return NONE
        if math.isnan(self.value):
            return ""
        return rounded(self.value, self.spread) + self.marks()

    def bar(self):
        """How long it is to each side in a picture."""
        return 0 if math.isnan(self.spread) else self.spread

    def marks(self):
        return "!" * bool(self.remarks) + "?" * self.wrong

    def short(self, digits, scale=1.0):
        """The mean alone, with so many digits."""
        return NONE if self.nothing else f"{self.value * scale:.{digits}f}{self.marks()}"

    def where(self):
        """In which line of which file it stands."""
        return "; ".join(", ".join(filter(None, (file, section, f"line {line}")))
                         for file, section, line in self.sources)


def rounded(value, spread=math.nan):
    """The mean to the place of the spread's second digit, also left of the point, and the
    spread; the mean alone where the spread is less than that has digits for."""
    if value == 0:
        return "0"
    most = MOST_DIGITS - 1 - math.floor(math.log10(abs(value)))
    if not spread > 0:  # nan, too
        text = f"{value:.{max(0, most)}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    places = min(1 - math.floor(math.log10(spread)), max(0, most))

    def text(number):
        return f"{round(number, places) + 0.0:.{max(0, places)}f}"  # + 0.0: not -0

    return text(value) + (f" ± {text(spread)}" if float(text(spread)) else "")


def many(gpus):
    """1 GPU, 2 GPUs"""
    return f"{gpus} GPU" + "s" * (gpus > 1)


def shape(blocks, threads):
    """So many blocks for each SM, of so many threads."""
    return f"{blocks} per SM x {threads}"


def place(row):
    """Nodes and GPUs that a row is of."""
    return row.whole("nodes") if "nodes" in row else 1, row.whole("GPUcount")


def place_text(nodes, gpus):
    """4 on one node; 2x4 are 8 on two."""
    return f"{gpus}" if nodes == 1 else f"{nodes}x{gpus / nodes:g}"


def size_name(bytes_):
    """16777216: "16 MiB" """
    unit = min(3, (int(bytes_).bit_length() - 1) // 10)
    return f"{int(bytes_) / 1024 ** unit:g} {('B', 'KiB', 'MiB', 'GiB')[unit]}"


def source_of(row):
    """(file, section, line)"""
    file = row.where.rsplit(", line ", 1)[0]
    return file.rsplit("/", 1)[-1], row.section.title, row.line


def remarks(row, column=""):
    """What the run says of a row: warnings, that it depends on the repeat count, that it is
    above the hardware's limit. Of throughput it says these of the difference alone."""
    if column in ("m(thrput)", "m(ttl_latency)"):
        return [said.text for said in row.said() if said.tag != "spread"]
    return [said.text for tag in (None, "repeats", "above-limit") for said in row.said(tag)]


def estimate_of(row, column, spread=None):
    """The Estimate in this column, or None without a row. spread: its column where that is not
    s() of the same name, and there with --stats alone; "": none is looked for."""
    if row is None:
        return None
    nothing = any(float(row[column]) < said.number("below") for said in row.said("nothing-waits"))
    return Estimate(float(row[column]),
                    float(row[f"s{column[1:]}"] if spread is None else row.get(spread, "nan")),
                    [source_of(row)], remarks(row, column), row.get("right") == "0", nothing)


def short_text(row, column, digits, scale=1.0):
    """Estimate.short() of a row, - without one."""
    estimate = estimate_of(row, column, "")
    return estimate.short(digits, scale) if estimate else "-"


def share(part, whole):
    """The Estimate of a part in percent of the whole, with the spread of both."""
    value = 100 * part.value / whole.value
    return Estimate(value, math.hypot(100 * part.spread, value * whole.spread) / whole.value,
                  part.sources + whole.sources, part.remarks + whole.remarks)


def short_name(run):
    """Of the GPU, for a column: "H100" of "NVIDIA H100 80GB HBM3". Laptop stays, for its GPU is
    another, and Ada, for there is an older RTX 6000; every RTX PRO is of Blackwell."""
    name = re.sub("^NVIDIA (Tesla |GeForce )?", "", run.environment.get("gpu", "here"))
    name = re.sub(r" (Generation|(Server|Workstation) Edition|GPU)\b", "", name)
    name = re.sub(r"(RTX PRO .*) Blackwell\b", r"\1", name)
    name = re.sub(r"[ -](\d+GB|SXM|PCIe|HBM|NVL).*", "", name, flags=re.IGNORECASE)
    return "simulated " * run.simulated + name


# What a column shows. study: the column's name in the study's files, "" where it has none;
# toolkit: that it is of, "" where all of the table are of one.
Quantity = namedtuple("Quantity", "name unit study measured toolkit", defaults=[True, ""])


# A row of a Table: texts, a Estimate or None for each quantity, and for each GPU of the study the
# texts of its numbers, None where it has none.
Line = namedtuple("Line", "labels estimates study", defaults=[(), {}])


class Table:
    """number: that of the study. widths: as in class Sheet."""

    def __init__(self, number, title, labels, quantities=(), gpus=(), widths=None):
        self.number, self.title, self.labels = number, title, list(labels)
        self.quantities, self.gpus, self.widths = list(quantities), tuple(gpus), widths
        self.lines, self.notes, self.legend = [], [], ""
        self.known = {}  # GPU of the study -> toolkit

    def by_toolkit(self):
        """Whether its columns are of several toolkits, each named in its head."""
        return any(quantity.toolkit for quantity in self.quantities)

    def add(self, study, labels, estimates=None, **cells):
        """A line: its estimates beside the study's rows with these cells."""
        self.known = {gpu: study.toolkit(gpu) for gpu in self.gpus}
        known = {gpu: [study.value(self.number, quantity.study, gpu=gpu, **cells)
                       if cells and quantity.study else None for quantity in self.quantities]
                 for gpu in self.gpus}
        self.lines.append(Line(labels, estimates or [None] * len(self.quantities), known))

    def measured(self):
        """Whether the run has anything of it."""
        return not self.quantities or any(any(line.estimates) for line in self.lines)

    def sides(self):
        """(quantity, GPU of the study or None for this machine), in the order of the columns,
        without those that nobody has."""
        for place, quantity in enumerate(self.quantities):
            if quantity.measured:
                yield place, quantity, None
            for gpu in self.gpus:
                if any(line.study[gpu][place] for line in self.lines):
                    yield place, quantity, gpu

    def cells(self, line):
        """What stands behind the labels, in the order of sides()."""
        for place, _, gpu in self.sides():
            estimate = None if gpu else line.estimates[place]
            yield Cell(estimate.text() or "–", estimate.where()) if estimate else (
                gpu and line.study[gpu][place] or "–")

    def below(self):
        """The sentences below it."""
        yield from self.notes
        if self.known:
            toolkits = " and ".join(dict.fromkeys(self.known.values()))
            yield f"Numbers of {' and '.join(self.known)} are the study's" + (
                "." if self.by_toolkit() else f", measured with {toolkits}.")
        if self.quantities:
            yield ("Behind ± stands the standard deviation; a value without ± has none in the "
                   "digits shown. A dash: not in this run, or not in the study.")
        if any(estimate and estimate.remarks for line in self.lines for estimate in line.estimates):
            yield WARNED

    def sheet(self, run):
        sides = list(self.sides())
        above = Counter((quantity.name, quantity.unit) for _, quantity, _ in sides)
        toolkit = f"CUDA {run.environment.get('cuda_toolkit', 'unknown')}"
        of_one = self.quantities and not self.by_toolkit()
        heads = [(gpu or short_name(run)) + (  # H200, CUDA 13.0
            f", {self.known[gpu] if gpu else quantity.toolkit}" if self.by_toolkit() else "")
                 for _, quantity, gpu in sides]
        return Sheet(
            f"{run.mark}{self.title}. {run.about(toolkit if of_one else '')}", len(self.labels),
            [*self.labels, *heads],
            "numbers" if self.quantities else "words", self.number,
            [(*name, width) for name, width in above.items()], self.widths, self.legend,
            [[*line.labels, *self.cells(line)] for line in self.lines], self.below())
