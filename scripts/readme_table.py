#!/usr/bin/env python3
"""Writes the table of the recorded machines into README.md, from the rows in results/.

It stands between two comments there. With --check nothing is written.

Exit codes: 0 it is there; 1 with --check: it is not what the rows say, or README.md cannot be
written; 2 bad usage, also a file that is damaged or has no such comments.
"""

import re
import sys

import command_line
import tsv
import whole_files
from reporting.headline_sheets import machines_sheet
from reporting.normal import recorded_runs
from reporting.sheets import table_lines
from reporting.study import FOLDER, Study

README = FOLDER.parent.parent / "README.md"
BETWEEN = re.compile("(<!-- machines: scripts/readme_table.py writes this -->\n)(.*?)"
                     "(<!-- machines end -->\n)", re.DOTALL)


class Machine:
    """As much of reporting.part.Part as machines_sheet() takes."""

    def __init__(self, run):
        self.run, self.name = run, run.path.name


def table(folder, study):
    """The lines: a column for each run kept for reference in this folder, with a link to it."""
    machines = [Machine(run) for run in recorded_runs(folder)]
    if not machines:
        raise tsv.TsvError(f"{folder} has no recorded run")
    sheet = machines_sheet(machines, study)
    for place, machine in enumerate(machines, sheet.labels):
        sheet.head[place] = f"[{sheet.head[place]}](results/{machine.name})"
    return list(table_lines(sheet))


def renewed(text, lines):
    """The page with these lines for its table."""
    if not BETWEEN.search(text):
        raise tsv.TsvError(f"{README}: there are no comments to put the table between")
    return BETWEEN.sub(lambda found: "\n".join([found[1], *lines, "", found[3]]), text)


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether it is there")
    options = parser.parse_args()
    text = tsv.read_bytes(README).decode()
    new = renewed(text, table(FOLDER.parent, Study()))
    if new == text:
        return 0
    if options.check:
        print("readme_table.py: the table in README.md is not what results/ has; "
              "scripts/readme_table.py writes it", file=sys.stderr)
        return 1
    whole_files.write(README.parent, {README.name: new})
    return 0


if __name__ == "__main__":
    command_line.main(work, "readme_table.py")
