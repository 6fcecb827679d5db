"""Sheets of report.py: tables that the study does not have, as Markdown, HTML and LaTeX."""

import html
import re

from reporting.text import TEX_DENSE, TEX_WIDE, markdown_row, tex


class Cell:
    """A text, and for the pointer where it stands."""

    def __init__(self, text, title=""):
        self.text, self.title = text, title


class Sheet:
    """head: texts; the first `labels` columns are words, the others numbers. rows: of texts and
    Cells. wraps: whether words may break into lines. What stands between ` is code."""

    def __init__(self, title, labels, head, wraps=False):
        self.title, self.labels, self.head, self.wraps = title, labels, list(head), wraps
        self.rows, self.notes = [], []

    def texts(self):
        for row in self.rows:
            yield [cell.text if isinstance(cell, Cell) else cell for cell in row]


def plain(text):
    return text.replace("`", "")


def table_lines(sheet):
    """The table alone, as Markdown."""
    yield markdown_row(sheet.head)
    yield markdown_row(["---"] * sheet.labels + ["---:"] * (len(sheet.head) - sheet.labels))
    for row in sheet.texts():
        yield markdown_row(row)


def markdown(sheet):
    yield f"**{sheet.title}.**"
    yield ""
    yield from table_lines(sheet)
    yield ""
    yield from (f"* {note}" for note in sheet.notes)
    yield ""


def escape(text):
    return re.sub("`(.*?)`", r"<code>\1</code>", html.escape(text))


def page(sheet):
    """A part of report.html."""
    def cells(row, tag):
        for place, cell in enumerate(row):
            cell = cell if isinstance(cell, Cell) else Cell(cell)
            kind = ' class="number"' if place >= sheet.labels else ""
            title = f' title="{html.escape(cell.title)}"' if cell.title else ""
            yield f"<{tag}{kind}{title}>{escape(cell.text)}</{tag}>"

    yield f"<figure><figcaption><b>{escape(sheet.title)}.</b></figcaption>"
    yield '<div class="wide">' + ("<table>" if sheet.wraps else '<table class="figures">')
    yield f"<thead><tr>{''.join(cells(sheet.head, 'th'))}</tr></thead><tbody>"
    for row in sheet.rows:
        yield f"<tr>{''.join(cells(row, 'td'))}</tr>"
    yield "</tbody></table></div>"
    if sheet.notes:
        yield f'<div class="notes">{"<br>".join(map(escape, sheet.notes))}</div>'
    yield "</figure>"


def tex_code(text):
    return re.sub("`(.*?)`", r"\\texttt{\1}", tex(text))


def latex(sheet, label):
    """The lines of a file to \\input; it needs \\usepackage{booktabs}."""
    columns = len(sheet.head)
    kind = "table*" if columns > TEX_WIDE else "table"
    yield "% Needs \\usepackage{booktabs}."
    yield rf"\begin{{{kind}}}"
    yield (r"\centering\footnotesize\setlength{\tabcolsep}{3pt}" if columns >= TEX_DENSE
           else r"\centering\small")
    yield rf"\caption{{{tex_code(sheet.title)}.}}"
    yield rf"\label{{{label}}}"
    yield rf"\begin{{tabular}}{{@{{}}{'l' * sheet.labels}{'r' * (columns - sheet.labels)}@{{}}}}"
    yield r"  \toprule"
    for number, row in enumerate([sheet.head, *sheet.texts()]):
        yield "  " + " & ".join(map(tex_code, row)) + r" \\"
        if number == 0:
            yield r"  \midrule"
    yield r"  \bottomrule"
    yield r"\end{tabular}"
    if sheet.notes:
        yield rf"\par\smallskip\footnotesize\raggedright {tex_code(' '.join(sheet.notes))}"
    yield rf"\end{{{kind}}}"
