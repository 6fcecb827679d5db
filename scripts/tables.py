"""The tables of summary.py: how a figure is shown."""


def grid(corner, columns, rows):
    """A table: rows are (name, cells). Nothing where there is no row."""
    if not rows:
        return
    table = [(corner, *columns), *((name, *cells) for name, cells in rows)]
    widths = [max(map(len, column)) for column in zip(*table)]
    for name, *cells in table:
        yield "  " + "  ".join((name.ljust(widths[0]),
                                *(cell.rjust(width) for cell, width in zip(cells, widths[1:]))))


def nothing_waits(section, row, column):
    """Whether the compiler has left no barrier in what the row repeats."""
    return any(float(row[column]) < said.number("below")
               for said in section.said_of(row, "nothing-waits"))


def figure(run, section, row, column, digits, scale=1.0):
    """The cell of a row, as the text at the top of summary.py says."""
    if row is None:
        return "-"
    if nothing_waits(section, row, column):
        return "none"
    warned = section.said_of(row)
    wrong = row.get("right") == "0"
    return f"{float(row[column]) * scale:.{digits}f}" + "!" * bool(warned) + "?" * wrong


def methods(section):
    return list(dict.fromkeys(row["method"] for row in section.rows))
