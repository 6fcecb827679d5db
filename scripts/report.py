#!/usr/bin/env python3
"""Writes a report of a results folder: what barriers cost, beside the recorded runs and the study.

Open report.html first. The report has a verdict on the folder, Tables I to VIII of the study,
its figures and all barriers, the warnings, and how to cite. Beside report.html stand
  report.md         the same
  tables/NAME/      table_N.tex, headline.tex (package booktabs), *.tsv; normal.tsv has every mean
                    beside the recorded ones; NAME: of the folder
  figures/NAME/     *.png, *.pdf, their numbers (*.tsv), *.tex with captions (graphicx)

Without matplotlib there are no pictures; stderr then names the Python that lacks it. What the
folder lacks is said on stderr and left out. No file is ever half written. What earlier reports
wrote of other folders stays. summary.py --short shows several folders side by side.

Exit codes: 0 written; 1 something cannot be written, or is a link to another folder; 2 bad usage,
also a file that is damaged, of which nothing is written.
"""

import re
import sys
import tempfile
from pathlib import Path

from parts import command_line, tsv, whole_files
from reporting import charts, headline, normal, page, sheets
from reporting.page import Filed, Fold, Heading, Text
from reporting.part import Part, run_blocks
from reporting.study import FOLDER, Study

ABOUT = ("V100 and P100 are of Zhang et al., A Study of Single and Multi-device Synchronization Methods in "
         "Nvidia GPUs (2020), called the study below.")
LONG = 1000  # rows; the report of more takes seconds


def parse_arguments():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR", help="a results folder")
    parser.add_argument("--out", type=command_line.folder_to_write, metavar="OUT", help="where to (default: DIR/report)")
    parser.add_argument("--recorded", type=Path, default=FOLDER.parent, metavar="DIR",
                        help="the folder of the recorded runs (default: results/)")
    parser.add_simulated()
    options = parser.parse_args()
    options.out = options.out or options.folder / "report"
    return options


def check_writable(out):
    """Before the work, that the folder can be made and written."""
    existing = out
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise command_line.Stop(1, f"cannot write {out}: {error.strerror}") from None


def cited(run):
    """A sentence to copy into a text."""
    version = next(filter(None, (output.program("version") for output in run.files.values())), "")
    suite = f"GPU synchronization micro-benchmarks {version}".rstrip()
    measured = "Simulated, not measured," if run.simulated else "Measured"
    return (f"{measured} with the {suite}, which follow the method of Zhang et al. (2020): "
            f"{run.about()}.")


def text_of(lines):
    return "\n".join(lines) + "\n"


def files_of(part, study, pictures):
    """path -> text or bytes of all that is written; None: not to be there"""
    label, folder = re.sub("[^A-Za-z0-9]+", "-", part.name), Path("tables") / part.name

    def latex(sheet, name):
        return text_of(sheets.latex(sheet, f"tab:{label}-{name}"))

    title = f"{part.run.mark}Synchronization on this machine, beside the study's V100 and P100"
    content = [*run_blocks(part, pictures), Heading(2, "How to cite", "how-to-cite"),
               Text("Please cite this suite and the study; CITATION.cff has both."),
               Text(cited(part.run))]
    lines = [f"# {title}", "", ABOUT, "", *page.markdown(content, pictures)]
    alone = headline.headline_sheet(part, study, [])  # others do not fit on a page
    files = {**pictures.files(), Path("report.md"): "\n".join(lines).rstrip("\n") + "\n",
             folder / "headline.tex": latex(alone, "headline"),
             folder / "normal.tsv": text_of(normal.lines_of_tsv(part))}
    for number, table in enumerate(part.tables, 1):
        text = latex(table.sheet(part.run), number)
        files[folder / f"table_{number}.tex"] = text if table.measured() else None
    first = [tsv.SIMULATED] * part.run.simulated
    for block in tables_in(content):
        rows = block.sheet.head, *(map(sheets.plain, row) for row in block.sheet.texts())
        files[Path(f"{block.path}.tsv")] = text_of([*first, *map("\t".join, rows)])
    written = {str(path) for path, made in files.items() if made is not None}
    files[Path("report.html")] = page.page(title, ABOUT, content, pictures, written)
    return files


def tables_in(content):
    """All blocks that are tables with files of their own."""
    for block in content:
        if isinstance(block, Filed):
            yield block
        elif isinstance(block, Fold):
            yield from tables_in(block.blocks)


def work():
    options = parse_arguments()
    check_writable(options.out)
    study = Study()
    recorded = normal.recorded_runs(options.recorded)
    part = Part(tsv.Run(options.folder, options.simulated), study, recorded)
    if len(part.normal) > LONG:
        print(f"report.py: drawing {part.name}", file=sys.stderr, flush=True)
    pictures = charts.Pictures({part.path_of(chart): chart for chart in part.charts})
    whole_files.write(options.out, files_of(part, study, pictures))
    if pictures.why:
        print(f"report.py: {pictures.why} ({sys.executable}); install python3-matplotlib, or run "
              "report.py with a Python that has matplotlib", file=sys.stderr)
    absent = list(part.absent())
    if absent:
        print(f"report.py: {part.name} has no {', '.join(absent)}", file=sys.stderr)
    print(options.out / "report.html")
    return 0


if __name__ == "__main__":
    command_line.main(work, "report.py")
