"""Tables of plain text."""


def aligned(rows):
    """Lines of rows of texts."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()


def right_aligned(table):
    """The same, all but the first column to the right."""
    widths = [max(map(len, column)) for column in zip(*table)]
    for name, *texts in table:
        yield "  " + "  ".join((name.ljust(widths[0]),
                                *(text.rjust(width) for text, width in zip(texts, widths[1:]))))


def pivot(corner, cells, columns=None):
    """The lines of a table of cells (line, column, text), - where nothing is; nothing without a
    cell. columns: those that are shown, in their order; None: all."""
    lines = {}
    for line, column, text in cells:
        if columns is None or column in columns:
            lines.setdefault(line, {})[column] = text
    columns = list(columns or dict.fromkeys(column for found in lines.values() for column in found))
    yield from right_aligned([(corner, *columns), *(
        (line, *(found.get(column, "-") for column in columns)) for line, found in lines.items())]
                             if lines else [])
