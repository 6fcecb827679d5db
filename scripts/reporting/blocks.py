"""What pages of report.py are made of, and how each block is written in Markdown and in HTML.
report.html needs nothing from elsewhere: page.css and page.js are in it."""

from collections import namedtuple
from pathlib import Path
from urllib.parse import quote

from reporting import charts, sheets
from reporting.sheets import Sheet, escape, literal

Heading = namedtuple("Heading", "level text name", defaults=[""])  # name: that links of HTML have
Text = namedtuple("Text", "text note", defaults=[False])  # a paragraph; note: in small letters
# Rows of texts; from the column `labels` on they are numbers. caption: "" without one.
Rows = namedtuple("Rows", "caption head labels rows")
Items = namedtuple("Items", "texts")
Code = namedtuple("Code", "language lines")
Picture = namedtuple("Picture", "chart path")  # path: without the ending
Filed = namedtuple("Filed", "sheet path")  # a Sheet that is also in files; path: the same
# Blocks that HTML can fold; open: whether it shows them at first. name: as of Heading.
Fold = namedtuple("Fold", "text name blocks open", defaults=[False])
# The verdict on a run. level: of verdict.LEVELS; link: (name, text) of where more is said.
Box = namedtuple("Box", "level text items link")
# All rows, which the page's script shows; path: of the file that has them, for who has none.
AllRows = namedtuple("AllRows", "head rows path")

ENDINGS = ("tex", "pdf", "png", "tsv")  # of files to be linked


def markdown(blocks, pictures):
    """The lines of blocks, of which one can be a Sheet. pictures: charts.Pictures"""
    for block in blocks:
        if isinstance(block, (Sheet, Filed)):
            yield from sheets.markdown(getattr(block, "sheet", block))
        elif isinstance(block, Picture):
            yield from charts.chart_lines(*block, pictures)
        elif isinstance(block, Fold):
            yield from (f"### {literal(block.text)}", "")
            yield from markdown(block.blocks, pictures)
        else:
            yield from MARKDOWN[type(block)](block)
            yield ""


def markdown_rows(block):
    if block.caption:
        yield literal(block.caption)
        yield ""
    yield from sheets.markdown_table(block.head, block.labels, block.rows)


MARKDOWN = {
    Heading: lambda block: [f"{'#' * block.level} {literal(block.text)}"],
    Text: lambda block: [literal(block.text)],
    Rows: markdown_rows,
    Items: lambda block: [f"* {literal(text)}" for text in block.texts],
    Code: lambda block: [f"```{block.language}", *block.lines, "```"],
    Box: lambda block: [f"**{literal(block.text)}**", "",
                        *(f"* {literal(text)}" for text in block.items)],
    AllRows: lambda block: [literal(f"All rows: {block.path}.")]}


def name_of(path):
    """Of what is in these files, for links."""
    return "-".join(path.parts)


def links(path, written):
    """To the files of a table or a figure."""
    return " ".join(f'<a href="{quote(f"{path}.{ending}")}">.{ending}</a>'
                    for ending in ENDINGS if f"{path}.{ending}" in written)


def html(blocks, pictures, written):
    """The same as parts of report.html. written: the paths of all files of the report."""
    for block in blocks:
        if isinstance(block, Sheet):
            yield from sheets.page(block)
        elif isinstance(block, Filed):
            yield from sheets.page(block.sheet, name_of(block.path), links(block.path, written))
        elif isinstance(block, Picture):
            yield from charts.chart_html(*block, pictures, name_of(block.path),
                                         links(block.path, written))
        elif isinstance(block, Fold):
            yield (f'<details id="{escape(block.name)}"{" open" * block.open}>'
                   f"<summary><h3>{escape(block.text)}</h3></summary>")
            yield from html(block.blocks, pictures, written)
            yield "</details>"
        else:
            yield from PAGE[type(block)](block)


def page_rows(block):
    if block.caption:
        yield f"<p>{escape(block.caption)}</p>"
    yield '<div class="wide"><table>'
    yield "<thead><tr>" + "".join(f'<th scope="col">{escape(name)}</th>' for name in block.head)
    yield "</tr></thead><tbody>"
    for row in block.rows:
        yield "<tr>" + "".join(
            f'<td class="number">{escape(cell)}</td>' if index >= block.labels
            else f"<td>{escape(cell)}</td>" for index, cell in enumerate(row)) + "</tr>"
    yield "</tbody></table></div>"


def page_box(block):
    name, text = block.link
    yield f'<div class="verdict {block.level}"><p><b>{escape(block.text)}</b></p>'
    if block.items:
        yield "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in block.items) + "</ul>"
    yield f'<p><a href="#{escape(name)}">{escape(text)}</a></p></div>'


def page_all_rows(block):
    """Tab-separated, with < as the letter that tsv.py lets no file have; the script reads it."""
    lines = "\n".join("\t".join(row) for row in (block.head, *block.rows))
    yield (f'<p>All rows: <a href="{quote(str(block.path))}">{escape(block.path.name)}</a></p>'
           '<div class="rows"></div><script type="text/tab-separated-values">'
           + lines.replace("<", "\x0e") + "</script>")


PAGE = {
    Heading: lambda block: [
        f'<h{block.level} id="{escape(block.name)}">{escape(block.text)}</h{block.level}>'],
    Text: lambda block: [('<p class="notes">' if block.note else "<p>") + escape(block.text)
                         + "</p>"],
    Rows: page_rows,
    Items: lambda block: ["<ul>", *(f"<li>{escape(text)}</li>" for text in block.texts), "</ul>"],
    Code: lambda block: ['<div class="wide"><pre>' + escape("\n".join(block.lines)) + "</pre>",
                         "</div>"],
    Box: page_box,
    AllRows: page_all_rows}


def targets(blocks):
    """(block, name, text) of all that links of the page can lead to, in its order."""
    for block in blocks:
        if isinstance(block, (Heading, Fold)):
            yield block, block.name, block.text
        if isinstance(block, Fold):
            yield from targets(block.blocks)
        elif isinstance(block, Filed):
            number = block.sheet.number
            yield block, name_of(block.path), f"Table {number}" if number else block.sheet.title
        elif isinstance(block, Picture):
            chart = block.chart
            yield block, name_of(block.path), chart.label or chart.name.replace("_", " ")


def contents(blocks):
    """A line for each heading, with what stands below it."""
    lines = [[]]
    for block, name, text in targets(blocks):
        if isinstance(block, Heading):
            lines.append([])
        lines[-1].append(f'<a href="#{escape(name)}">{escape(text)}</a>')
    yield '<nav aria-label="Contents"><ul>'
    yield from (f"<li>{' · '.join(line)}</li>" for line in lines if line)
    yield "</ul></nav>"


def page(title, about, content, pictures, written):
    """The whole of report.html. about: the sentence below the title; written: the paths of all files
    of the report."""
    style, script = (Path(__file__).with_name(f"page.{kind}").read_text() for kind in ("css", "js"))
    return "\n".join((
        "<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>\n{style}</style></head><body>",
        f"<h1>{escape(title)}</h1><p>{escape(about)}</p>", *contents(content),
        *html(content, pictures, written), f'<script id="search">\n{script}</script>',
        "</body></html>")) + "\n"
