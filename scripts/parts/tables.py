"""The tables of summary.py, and which rows are of no barrier."""


def grid(corner, columns, rows):
    """A table: rows are (name, cells). Nothing where there is no row."""
    if not rows:
        return
    table = [(corner, *columns), *((name, *cells) for name, cells in rows)]
    widths = [max(map(len, column)) for column in zip(*table)]
    for name, *cells in table:
        yield "  " + "  ".join((name.ljust(widths[0]),
                                *(cell.rjust(width) for cell, width in zip(cells, widths[1:]))))


def aligned(rows):
    """Lines of rows of texts."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()


def nothing_waits(section, row, column):
    """Whether the compiler has left no barrier in what the row repeats."""
    return any(float(row[column]) < said.number("below")
               for said in section.said_of(row, "nothing-waits"))


def methods(section):
    return list(dict.fromkeys(row["method"] for row in section.rows))
