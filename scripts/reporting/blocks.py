"""What pages of report.py are made of, and how each block is written in Markdown and in HTML."""

from collections import namedtuple

from reporting import charts, sheets
from reporting.sheets import Sheet, escape, literal

Heading = namedtuple("Heading", "level text name", defaults=[""])  # name: that links of HTML have
Text = namedtuple("Text", "text note", defaults=[False])  # a paragraph; note: in small letters
# Rows of texts; from the column `labels` on they are numbers. folded: the title that HTML shows
# until it is opened, "" where it is open; the caption is then of HTML alone.
Rows = namedtuple("Rows", "caption head labels rows folded", defaults=[""])
Items = namedtuple("Items", "texts")
# Of a run: a sentence, and what it is from.
Box = namedtuple("Box", "kind text items")
Code = namedtuple("Code", "language lines")
Picture = namedtuple("Picture", "chart path about")  # path: without the ending


def markdown(blocks, pictures):
    """The lines of blocks, of which one can be a Sheet. pictures: charts.Pictures"""
    for block in blocks:
        if isinstance(block, Sheet):
            yield from sheets.markdown(block)
        elif isinstance(block, Picture):
            yield from charts.chart_lines(*block, pictures)
        else:
            yield from MARKDOWN[type(block)](block)
            yield ""


def markdown_rows(block):
    if block.caption and not block.folded:
        yield literal(block.caption)
        yield ""
    yield from sheets.markdown_table(block.head, block.labels, block.rows)


MARKDOWN = {
    Heading: lambda block: [f"{'#' * block.level} {literal(block.text)}"],
    Text: lambda block: [literal(block.text)],
    Rows: markdown_rows,
    Items: lambda block: [f"* {literal(text)}" for text in block.texts],
    Box: lambda block: [f"**{literal(block.text)}**", "", *(
        f"* {literal(text)}" for text in block.items)],
    Code: lambda block: [f"```{block.language}", *block.lines, "```"]}


def page(blocks, pictures):
    """The same as parts of report.html."""
    for block in blocks:
        if isinstance(block, Sheet):
            yield from sheets.page(block)
        elif isinstance(block, Picture):
            yield from charts.chart_html(*block, pictures)
        else:
            yield from PAGE[type(block)](block)


def page_rows(block):
    if block.folded:
        yield f"<details><summary>{escape(block.folded)}</summary>"
    if block.caption:
        yield f"<p>{escape(block.caption)}</p>"
    yield '<div class="wide"><table>'
    yield "<thead><tr>" + "".join(
        f'<th scope="col">{escape(name)}</th>' for name in block.head)
    yield "</tr></thead><tbody>"
    for row in block.rows:
        yield "<tr>" + "".join(
            f'<td class="number">{escape(cell)}</td>' if place >= block.labels
            else f"<td>{escape(cell)}</td>" for place, cell in enumerate(row)) + "</tr>"
    yield "</tbody></table></div>"
    if block.folded:
        yield "</details>"


PAGE = {
    Heading: lambda block: [
        f'<h{block.level} id="{escape(block.name)}">{escape(block.text)}</h{block.level}>'],
    Text: lambda block: [('<p class="notes">' if block.note else "<p>") + escape(block.text)
                         + "</p>"],
    Rows: page_rows,
    Items: lambda block: ["<ul>", *(f"<li>{escape(text)}</li>" for text in block.texts), "</ul>"],
    Box: lambda block: [f'<div class="box {block.kind}"><p><b>{escape(block.text)}</b></p><ul>', *(
        f"<li>{escape(text)}</li>" for text in block.items), "</ul></div>"],
    Code: lambda block: ['<div class="wide"><pre>' + escape("\n".join(block.lines)) + "</pre>",
                         "</div>"]}
