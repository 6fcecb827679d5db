"""Tables as Markdown and as LaTeX, for report.py."""

import re

TEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
       "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
       "±": r"$\pm$", "–": "--", "<": "$<$", ">": "$>$", "|": "$|$", "≤": r"$\le$"}
TEX_WIDE = 5  # columns; a table of more spans the page
TEX_DENSE = 8  # of more its type is smaller, too


def short_name(run):
    """Of the GPU, for a column: "H100" of "NVIDIA H100 80GB HBM3"."""
    name = re.sub("^NVIDIA (Tesla |GeForce )?", "", run.environment.get("gpu", "here"))
    return re.sub(r"[ -](\d+GB|SXM|PCIe|HBM|NVL).*", "", name, flags=re.IGNORECASE)


def remarks_of(table):
    """(labels and quantity, text) of each remark of the run on a figure shown."""
    for line in table.lines:
        for quantity, figure in zip(table.quantities, line.figures):
            for text in figure.remarks if figure else ():
                yield ", ".join(filter(None, (*line.labels, quantity.title.lower()))), text


def below(table):
    """The sentences below a table."""
    yield from table.notes
    if table.quantities:
        yield ("± is the standard deviation where not said; a figure without has none in the "
               "digits shown.")
    yield from (f"! {where}: {text}." for where, text in remarks_of(table))
    if table.missing:
        yield f"Not in this run: {'; '.join(table.missing)}."


def markdown_row(cells):
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def markdown(run, table):
    """The lines of a table with its caption above and its notes below."""
    yield f"**Table {table.number}.** {table.title}. {run.about()}."
    yield ""
    yield markdown_row([*table.labels, *(
        f"{quantity.title} ({quantity.unit}), {gpu or short_name(run)}"
        for _, quantity, gpu in table.sides())])
    yield markdown_row(["---"] * len(table.labels) + ["---:"] * len(list(table.sides())))
    for line in table.lines:
        yield markdown_row([*line.labels, *table.cells(line)])
    yield ""
    for note in below(table):
        yield f"* {note}"
    yield ""


def tex(text):
    """Text in which nothing is a command."""
    return "".join(TEX.get(letter, letter) for letter in text.replace("<=", "≤"))


def tex_row(cells):
    return "  " + " & ".join(cells) + r" \\"


def tex_heads(run, table):
    """The lines above a table's rows: quantities over the GPUs they are of."""
    sides = list(table.sides())
    if not sides:
        return [tex_row(map(tex, table.labels))]
    names, rules, column = [""] * len(table.labels), [], len(table.labels) + 1
    for place, quantity in enumerate(table.quantities):
        width = sum(side[0] == place for side in sides)
        if width:
            names.append(rf"\multicolumn{{{width}}}{{c}}{{\shortstack{{{tex(quantity.title)}\\"
                         rf"({tex(quantity.unit)})}}}}")
            rules.append(rf"\cmidrule(lr){{{column}-{column + width - 1}}}")
            column += width
    return [tex_row(names), "  " + " ".join(rules), tex_row(
        [*map(tex, table.labels), *(tex(gpu or short_name(run)) for _, _, gpu in sides)])]


def latex(run, table, label):
    """The lines of a file to \\input; it needs \\usepackage{booktabs}."""
    sides = list(table.sides())
    columns = len(table.labels) + len(sides)
    kind = "table*" if not table.quantities or columns > TEX_WIDE else "table"
    left = "".join(rf"p{{{width}\linewidth}}" for width in table.widths or ()) or (
        "l" * len(table.labels))
    yield "% Needs \\usepackage{booktabs}."
    yield rf"\begin{{{kind}}}"
    yield (r"\centering\footnotesize\setlength{\tabcolsep}{3pt}" if columns > TEX_DENSE
           else r"\centering\small")
    yield rf"\caption{{{tex(table.title)}. {tex(run.about())}.}}"
    yield rf"\label{{{label}}}"
    yield rf"\begin{{tabular}}{{@{{}}{left}{'r' * len(sides)}@{{}}}}"
    yield r"  \toprule"
    yield from tex_heads(run, table)
    yield r"  \midrule"
    for line in table.lines:
        yield tex_row(map(tex, (*line.labels, *table.cells(line))))
    yield r"  \bottomrule"
    yield r"\end{tabular}"
    notes = " ".join(below(table))
    if notes:
        yield rf"\par\smallskip\footnotesize\raggedright {tex(notes)}"
    yield rf"\end{{{kind}}}"
