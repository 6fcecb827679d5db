"""What pages of report.py are made of, and how each block is written in Markdown; page.py writes
HTML."""

from collections import namedtuple

from reporting import charts, sheets
from reporting.sheets import Sheet, literal

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
