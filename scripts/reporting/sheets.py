"""Sheets of report.py: what stands in its tables, as Markdown and LaTeX; page.py makes HTML of them.
A text is shown letter by letter in each, but for what coded() marks."""

import html
import re
import textwrap

TEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
       "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
       "`": r"\textasciigrave{}", "±": r"$\pm$", "–": "--", "<": "$<$", ">": "$>$", "|": "$|$",
       "≤": r"$\le$", "×": r"$\times$", "µ": r"$\mu$"}
TEX_WIDE = 5  # columns; a table of more spans the page
TEX_WIDTHS = {"table": 228, "table*": 465}  # points, in the class article with two columns
TEX_SIZES = (("footnotesize", 4.5), ("scriptsize", 4.4))  # points of a letter
TEX_GAPS = (5, 4, 3, 2)  # points on each side of a column
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
    Cells. over: (quantity, unit, columns) above the numbers' heads, or none. kind: "numbers"; of
    sentences "words", which span a page in LaTeX; "" where words may break into lines. number: of
    a table of the study. widths: in LaTeX, of the columns of words, as shares of a line. legend: a
    sentence on what its names mean."""

    def __init__(self, title, labels, head, kind="numbers", number="", over=(), widths=None,
                 legend="", rows=(), notes=()):
        self.title, self.labels, self.head, self.kind = title, labels, list(head), kind
        self.number, self.over, self.widths, self.legend = number, list(over), widths, legend
        self.rows, self.notes = list(rows), list(notes)

    def texts(self):
        for row in self.rows:
            yield [cell.text if isinstance(cell, Cell) else cell for cell in row]

    def below(self):
        """The sentences below it."""
        return [*filter(None, [self.legend]), *self.notes]

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
    yield from (f"* {literal(note)}" for note in sheet.below())
    yield ""


def times(text):
    """With the sign between numbers."""
    return re.sub(r"(?<=\w) x (?=\w)", " × ", text)


def tex(text):
    """Text in which nothing is a command."""
    return times(text.replace("<=", "≤")).translate(str.maketrans(TEX))


def tex_code(text):
    return CODE.sub(r"\\texttt{\1}", tex(text))


def tex_row(cells):
    return "  " + " & ".join(cells) + r" \\"


def tex_head(text, side, columns=1):
    """The head of so many columns, in lines; side: l, c or r."""
    lines = head_lines(text, columns)
    if len(lines) < 2:
        return tex_code(text)
    return rf"\shortstack[{side}]{{" + r"\\".join(map(tex_code, lines)) + "}"


def tex_over(sheet):
    """The lines of the quantities above a table's heads."""
    names, rules, first = [""] * sheet.labels, [], sheet.labels + 1
    for title, unit, width in sheet.over:
        names.append(rf"\multicolumn{{{width}}}{{c}}{{{tex_head(f'{title} ({unit})', 'c', width)}}}")
        rules.append(rf"\cmidrule(lr){{{first}-{first + width - 1}}}")
        first += width
    return [tex_row(names), "  " + " ".join(rules)] if sheet.over else []


def tex_number(text):
    """Its marks raised."""
    plain = text.rstrip("!?")
    return tex_code(plain).replace(r" $\pm$ ", r"\,$\pm$\,") + (
        rf"\textsuperscript{{{text[len(plain):]}}}" if plain and plain != text else "")


def tex_cells(sheet):
    """The cells of each row; in columns of a given width the lines are ragged, but for the last
    column, where that would take the end of the row for the end of a line."""
    ragged = range(min(len(sheet.widths or ()), len(sheet.head) - 1))
    for row in sheet.texts():
        yield [r"\raggedright " * (place in ragged) + tex_code(text) if place < sheet.labels
               else tex_number(text) for place, text in enumerate(row)]


def head_lines(text, columns=1):
    return [line for part in times(text).split(", ") for line in textwrap.wrap(
        part, TEX_HEAD * columns, break_long_words=False, break_on_hyphens=False)]


def tex_fit(sheet, kind):
    """(size, gap): the largest with which the table is as wide as its place, about."""
    wide, given = TEX_WIDTHS[kind], sheet.widths or ()
    columns = list(zip(*sheet.texts()))[len(given):]
    letters = sum(max([*(len(line) + 0.35 * sum(map(str.isupper, line))  # capitals are wider
                         for line in head_lines(head)), *map(len, texts)])
                  for head, texts in zip(sheet.head[len(given):], columns))
    for size, letter in TEX_SIZES[sheet.kind == "words":]:
        for gap in TEX_GAPS:
            if letters * letter + wide * sum(given) + 2 * gap * (len(sheet.head) - 1) <= wide:
                return size, gap
    return size, 1


def latex(sheet, label):
    """The lines of a file to \\input; it needs \\usepackage{booktabs}."""
    kind = "table*" if sheet.kind == "words" or len(sheet.head) > TEX_WIDE else "table"
    columns = "".join(rf"p{{{width}\linewidth}}" for width in sheet.widths or ()) or (
        "l" * sheet.labels)
    columns += "r" * (len(sheet.head) - sheet.labels)
    size, gap = tex_fit(sheet, kind)
    yield r"% Needs \usepackage{booktabs}."
    yield rf"\begin{{{kind}}}"
    yield r"\setlength{\abovecaptionskip}{0pt}\setlength{\belowcaptionskip}{6pt}"
    yield rf"\centering\{size}\setlength{{\tabcolsep}}{{{gap}pt}}"
    yield rf"\caption{{{tex_code(sheet.title)}.}}"
    yield rf"\label{{{label}}}"
    yield rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}"
    yield r"  \toprule"
    yield from tex_over(sheet)
    yield tex_row(tex_code(text) if place < len(sheet.widths or ()) else tex_head(
        text, "l" if place < sheet.labels else "r") for place, text in enumerate(sheet.head))
    yield r"  \midrule"
    yield from map(tex_row, tex_cells(sheet))
    yield r"  \bottomrule"
    yield r"\end{tabular}"
    if sheet.below():
        yield rf"\par\smallskip\scriptsize\raggedright {tex_code(' '.join(sheet.below()))}"
    yield rf"\end{{{kind}}}"
