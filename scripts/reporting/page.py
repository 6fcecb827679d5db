"""The pages of report.py: the blocks that they are made of, as Markdown and HTML. report.html needs
nothing from elsewhere: page.css and page.js are in it."""

import base64
import html
import struct
from collections import namedtuple
from pathlib import Path
from urllib.parse import quote

from reporting import charts, sheets
from reporting.sheets import CODE, Cell, Sheet, literal

Heading = namedtuple("Heading", "level text name", defaults=[""])  # name: that links of HTML have
Text = namedtuple("Text", "text note", defaults=[False])  # a paragraph; note: in small letters
Items = namedtuple("Items", "texts")
Picture = namedtuple("Picture", "chart path")  # path: without the ending
Filed = namedtuple("Filed", "sheet path")  # a Sheet that is also in files; path: the same
# Blocks that HTML can fold; open: whether it shows them at first. name: as of Heading.
Fold = namedtuple("Fold", "text name blocks open", defaults=[False])
# The verdict on a run. level: of verdict.LEVELS; link: (name, text) of where more is said.
Box = namedtuple("Box", "level text items link")
# All rows, which the page's script shows; path: of the file that has them, for who has none.
AllRows = namedtuple("AllRows", "head rows path")


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


MARKDOWN = {
    Heading: lambda block: [f"{'#' * block.level} {literal(block.text)}"],
    Text: lambda block: [literal(block.text)],
    Items: lambda block: [f"* {literal(text)}" for text in block.texts],
    Box: lambda block: [f"**{literal(block.text)}**", "",
                        *(f"* {literal(text)}" for text in block.items)],
    AllRows: lambda block: [literal(f"All rows: {block.path}.")]}

# HTML.
ENDINGS = ("tex", "pdf", "png", "tsv")  # of files to be linked


def escape(text):
    return CODE.sub(r"<code>\1</code>", html.escape(text))


def name_of(path):
    """Of what is in these files, for links."""
    return "-".join(path.parts)


def links(path, written):
    """To the files of a table or a figure."""
    return " ".join(f'<a href="{quote(f"{path}.{ending}")}">.{ending}</a>'
                    for ending in ENDINGS if f"{path}.{ending}" in written)


def table(head, labels, rows, kind="", over=""):
    """over: a row above the heads."""
    def cells(row, tag, scope=""):
        for place, cell in enumerate(row):
            cell = cell if isinstance(cell, Cell) else Cell(cell)
            number = ' class="number"' if place >= labels else ""
            title = f' title="{html.escape(cell.title)}"' if cell.title else ""
            yield f"<{tag}{scope}{number}{title}>{escape(cell.text)}</{tag}>"

    kind = f' class="{kind}"' if kind else ""
    yield f'<div class="wide"><table{kind}>'
    heads = "".join(cells(head, "th", ' scope="col"'))
    yield f"<thead>{over}<tr>{heads}</tr></thead><tbody>"
    yield from (f"<tr>{''.join(cells(row, 'td'))}</tr>" for row in rows)
    yield "</tbody></table></div>"


def figure(name, caption, rest, content, legend, notes):
    """name: that links lead to, or ""; caption, rest: what is bold in it, and the rest."""
    place = f' id="{html.escape(name)}"' if name else ""
    yield f"<figure{place}><figcaption><b>{caption}</b>{rest}</figcaption>"
    yield from content
    if legend:
        yield f'<p class="notes">{escape(legend)}</p>'
    if notes:
        yield '<details class="notes"><summary>Notes</summary>'
        yield "".join(f"<p>{escape(note)}</p>" for note in notes) + "</details>"
    yield "</figure>"


def of_sheet(sheet, name="", to_files=""):
    over = "".join(f'<th scope="colgroup" class="over" colspan="{width}">{escape(title)} ({escape(unit)})</th>'
                   for title, unit, width in sheet.over)
    over = over and f'<tr><td colspan="{sheet.labels}"></td>{over}</tr>'
    bold, rest = map(escape, sheet.caption())
    return figure(name, bold, f"{rest} {to_files}", table(
        sheet.head, sheet.labels, sheet.rows, sheet.kind, over), sheet.legend, sheet.notes)


def of_chart(chart, path, pictures, written):
    first, *notes = chart.caption()
    data, content = pictures.png(path), []
    if data:
        width, height = struct.unpack(">II", data[16:24])  # of the header
        # As a link: a narrow screen shows it too small to be read.
        content = [f'<div class="wide"><a href="{quote(str(path))}.png">'
                   f'<img class="{"page" if chart.wide else "column"}" width="{width}" '
                   f'height="{height}" alt="{html.escape(chart.alternative())}" '
                   f'src="data:image/png;base64,{base64.b64encode(data).decode()}"></a></div>']
    return figure(name_of(path), html.escape(f"{chart.label}. " if chart.label else ""),
                  f"{html.escape(first)} {links(path, written)}", content, "",
                  [*filter(None, [chart.legend()]), *notes])


def of_box(block):
    name, text = block.link
    yield f'<div class="verdict {block.level}"><p><b>{escape(block.text)}</b></p>'
    if block.items:
        yield "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in block.items) + "</ul>"
    yield f'<p><a href="#{escape(name)}">{escape(text)}</a></p></div>'


def of_all_rows(block):
    """Tab-separated, with < as the letter that tsv.py lets no file have; the script reads it."""
    lines = "\n".join("\t".join(row) for row in (block.head, *block.rows))
    yield (f'<p>All rows: <a href="{quote(str(block.path))}">{escape(block.path.name)}</a></p>'
           '<div class="rows"></div><script type="text/tab-separated-values">'
           + lines.replace("<", "\x0e") + "</script>")


OTHERS = {
    Heading: lambda block: [
        f'<h{block.level} id="{escape(block.name)}">{escape(block.text)}</h{block.level}>'],
    Text: lambda block: [('<p class="notes">' if block.note else "<p>") + escape(block.text)
                         + "</p>"],
    Items: lambda block: ["<ul>", *(f"<li>{escape(text)}</li>" for text in block.texts), "</ul>"],
    Box: of_box, AllRows: of_all_rows, Sheet: of_sheet}


def parts(blocks, pictures, written):
    """written: the paths of all files of the report."""
    for block in blocks:
        if isinstance(block, Filed):
            yield from of_sheet(block.sheet, name_of(block.path), links(block.path, written))
        elif isinstance(block, Picture):
            yield from of_chart(*block, pictures, written)
        elif isinstance(block, Fold):
            yield (f'<details id="{escape(block.name)}"{" open" * block.open}>'
                   f"<summary><h3>{escape(block.text)}</h3></summary>")
            yield from parts(block.blocks, pictures, written)
            yield "</details>"
        else:
            yield from OTHERS[type(block)](block)


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


def page(title, about, blocks, pictures, written):
    """The whole. about: the sentence below the title."""
    style, script = (
        Path(__file__).with_name(f"page.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    return "\n".join((
        "<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>\n{style}</style></head><body>",
        f"<h1>{escape(title)}</h1><p>{escape(about)}</p>", *contents(blocks),
        *parts(blocks, pictures, written), f'<script id="search">\n{script}</script>',
        "</body></html>")) + "\n"
