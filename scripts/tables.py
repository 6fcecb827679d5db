"""The tables of summary.py, and which rows are of no barrier."""

FEWEST_CYCLES = 3.5  # what takes less waits for nothing (explicit_barrier/rows.hpp)


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
    return any("nothing waits" in text and (above is row or (
        text.startswith(f"{row['method']}: ") and float(row[column]) < FEWEST_CYCLES))
        for above, text in section.comments)


def methods(section):
    return list(dict.fromkeys(row["method"] for row in section.rows))
