"""Sheets of report.py: what stands in its tables, as Markdown, HTML and LaTeX. A text is shown
letter by letter in each, but for what coded() marks."""

import html
import re
import textwrap

TEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
       "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
       "`": r"\textasciigrave{}", "±": r"$\pm$", "–": "--", "<": "$<$", ">": "$>$", "|": "$|$",
       "≤": r"$\le$"}
TEX_WIDE = 5  # columns; a table of more spans the page
TEX_HEAD = 8  # letters of a column's head; where there are more it breaks between words
CODE = re.compile("\x0e(.*?)\x0f")  # no file has these letters: tsv.py refuses them
# In Markdown; _ between letters is none, and what starts a list or a line starts a text.
MARKUP = re.compile(r"[\\`*\[\]|#~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|"
                    r"^[-+](?= |$)|^-(?=[- ]*$)|^=(?==*$)|^\d+[.)](?= |$)")


def coded(text):
    """What stands between ` is code. Not for texts with parts from a file."""
    return re.sub("`(.*?)`", "\x0e\\1\x0f", text)


class Cell:
    """A text, and for the pointer where it stands."""

    def __init__(self, text, title=""):
        self.text, self.title = text, title


class Sheet:
    """head: texts; the first `labels` columns are words, the others numbers. rows: of texts and
    Cells. over: (quantity, unit, columns) above the numbers' heads, or none. kind: "figures"; of
    sentences "words", which span a page in LaTeX; "" where words may break into lines. number: of
    a table of the study. widths: in LaTeX, of the columns of words, as shares of a line."""

    def __init__(self, title, labels, head, kind="figures", number="", over=(), widths=None):
        self.title, self.labels, self.head, self.kind = title, labels, list(head), kind
        self.number, self.over, self.widths = number, list(over), widths
        self.rows, self.notes = [], []

    def texts(self):
        for row in self.rows:
            yield [cell.text if isinstance(cell, Cell) else cell for cell in row]

    def caption(self):
        """What is bold in it, and the rest."""
        return (f"Table {self.number}.", f" {self.title}.") if self.number else (
            f"{self.title}.", "")


def plain(text):
    return CODE.sub(r"\1", text)


def literal(text):
    """Markdown that shows the text."""
    parts = CODE.split(text)  # each second is code
    parts[::2] = [MARKUP.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}",
                             html.escape(part, quote=False)) for part in parts[::2]]
    parts[1::2] = [f"`{part}`" for part in parts[1::2]]
    return "".join(parts)


def markdown_row(cells):
    return "| " + " | ".join(map(literal, cells)) + " |"


def markdown_table(head, labels, rows):
    """labels: how many columns are of words."""
    yield markdown_row(head)
    yield "| " + " | ".join(["---"] * labels + ["---:"] * (len(head) - labels)) + " |"
    yield from map(markdown_row, rows)


def table_lines(sheet):
    """The table alone, as Markdown."""
    over = [f"{title} ({unit}), " for title, unit, width in sheet.over for _ in range(width)]
    numbers = map("".join, zip(over, sheet.head[sheet.labels:])) if over else (
        sheet.head[sheet.labels:])
    return markdown_table([*sheet.head[:sheet.labels], *numbers], sheet.labels, sheet.texts())


def markdown(sheet):
    bold, rest = map(literal, sheet.caption())
    yield f"**{bold}**{rest}"
    yield ""
    yield from table_lines(sheet)
    yield ""
    yield from (f"* {literal(note)}" for note in sheet.notes)
    yield ""


def escape(text):
    return CODE.sub(r"<code>\1</code>", html.escape(text))


def page(sheet, name="", links=""):
    """A part of report.html. name: that links lead to; links: to its files."""
    def cells(row, tag):
        for place, cell in enumerate(row):
            cell = cell if isinstance(cell, Cell) else Cell(cell)
            kind = ' class="number"' if place >= sheet.labels else ""
            title = f' title="{html.escape(cell.title)}"' if cell.title else ""
            scope = ' scope="col"' * (tag == "th")
            yield f"<{tag}{scope}{kind}{title}>{escape(cell.text)}</{tag}>"

    bold, rest = map(escape, sheet.caption())
    place = f' id="{html.escape(name)}"' if name else ""
    yield f"<figure{place}><figcaption><b>{bold}</b>{rest} {links}</figcaption>"
    kind = f' class="{sheet.kind}"' if sheet.kind else ""
    yield f'<div class="wide"><table{kind}>'
    over = "".join(f'<th scope="colgroup" class="over" colspan="{width}">{escape(title)} ({escape(unit)})</th>'
                   for title, unit, width in sheet.over)
    over = over and f'<tr><td colspan="{sheet.labels}"></td>{over}</tr>'
    yield f"<thead>{over}<tr>{''.join(cells(sheet.head, 'th'))}</tr></thead><tbody>"
    for row in sheet.rows:
        yield f"<tr>{''.join(cells(row, 'td'))}</tr>"
    yield "</tbody></table></div>"
    if sheet.notes:
        yield from folded_notes(sheet.notes)
    yield "</figure>"


def folded_notes(notes):
    """What stands below a table or a picture."""
    yield '<details class="notes"><summary>Notes</summary>'
    yield "".join(f"<p>{escape(note)}</p>" for note in notes) + "</details>"


def tex(text):
    """Text in which nothing is a command."""
    return text.replace("<=", "≤").translate(str.maketrans(TEX))


def tex_code(text):
    return CODE.sub(r"\\texttt{\1}", tex(text))


def tex_row(cells):
    return "  " + " & ".join(cells) + r" \\"


def tex_head(text, side, columns=1):
    """The head of so many columns, in lines; side: l, c or r."""
    lines = textwrap.wrap(text, TEX_HEAD * columns, break_long_words=False,
                          break_on_hyphens=False)
    if len(lines) < 2:
        return tex_code(text)
    return rf"\shortstack[{side}]{{" + r"\\".join(map(tex_code, lines)) + "}"


def tex_over(sheet):
    """The lines of the quantities above a table's heads."""
    names, rules, column = [""] * sheet.labels, [], sheet.labels + 1
    for title, unit, width in sheet.over:
        head = tex_head(f"{title} ({unit})", "c", width)
        names.append(rf"\multicolumn{{{width}}}{{c}}{{{head}}}")
        rules.append(rf"\cmidrule(lr){{{column}-{column + width - 1}}}")
        column += width
    return [tex_row(names), "  " + " ".join(rules)] if sheet.over else []


def tex_cells(sheet):
    """The cells of each row; in columns of a given width the lines are ragged, but for the last
    column, where that would take the end of the row for the end of a line."""
    ragged = range(min(len(sheet.widths or ()), len(sheet.head) - 1))
    for row in sheet.texts():
        yield [r"\raggedright " * (place in ragged) + tex_code(text)
               for place, text in enumerate(row)]


def latex(sheet, label):
    """The lines of a file to \\input; it needs \\usepackage{booktabs}."""
    columns = len(sheet.head)
    kind = "table*" if sheet.kind == "words" or columns > TEX_WIDE else "table"
    words = "".join(rf"p{{{width}\linewidth}}" for width in sheet.widths or ()) or (
        "l" * sheet.labels)
    yield "% Needs \\usepackage{booktabs}."
    yield rf"\begin{{{kind}}}"
    size = "script" if sheet.kind == "words" else "footnote"
    yield rf"\centering\{size}size\setlength{{\tabcolsep}}{{2.5pt}}"
    yield rf"\caption{{{tex_code(sheet.title)}.}}"
    yield rf"\label{{{label}}}"
    yield rf"\begin{{tabular}}{{@{{}}{words}{'r' * (columns - sheet.labels)}@{{}}}}"
    yield r"  \toprule"
    yield from tex_over(sheet)
    wide = len(sheet.widths or ())
    yield tex_row([*map(tex_code, sheet.head[:wide]), *(
        tex_head(text, "l" if place < sheet.labels else "r")
        for place, text in enumerate(sheet.head[wide:], wide))])
    yield r"  \midrule"
    yield from map(tex_row, tex_cells(sheet))
    yield r"  \bottomrule"
    yield r"\end{tabular}"
    if sheet.notes:
        yield rf"\par\smallskip\footnotesize\raggedright {tex_code(' '.join(sheet.notes))}"
    yield rf"\end{{{kind}}}"
