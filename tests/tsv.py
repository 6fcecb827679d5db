"""Reads the output of the executables: sections of tab-separated rows."""
import math


class Section:
    def __init__(self, title, header):
        self.title = title
        self.header = header
        self.rows = []  # dicts: column -> text
        self.comments = []  # up to the next section's header, with its title

    def numbers(self, column):
        return [float(row[column]) for row in self.rows]


def read_sections(text):
    """Sections of `text`; ValueError where it breaks the output contract."""
    sections = []
    title = ""
    if text and not text.endswith("\n"):
        raise ValueError("the last line is not whole")
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            title = line[1:].strip()
            if sections:
                sections[-1].comments.append(title)
            continue
        cells = line.split("\t")
        if cells[0] == "method":
            if len(set(cells)) != len(cells):
                raise ValueError(f"line {number}: a column name stands twice")
            sections.append(Section(title, cells))
            continue
        if not sections:
            raise ValueError(f"line {number}: a row before any header")
        header = sections[-1].header
        if len(cells) != len(header) or "" in cells:
            raise ValueError(f"line {number}: {len(cells)} cells, "
                             f"{len(header)} columns: {line!r}")
        for cell in cells[1:]:
            float(cell)
        sections[-1].rows.append(dict(zip(header, cells)))
    return sections


def is_finite(text):
    return math.isfinite(float(text))
