#!/usr/bin/env python3
"""Writes what two pages show of the recorded rows in results/.

README.md: what a barrier costs, a column for each recorded run; and lines of output. README.md of
the barrier library (explicit_barrier/peer_grid_barrier): the multi-GPU barriers beside each other,
of the recorded run with most GPUs. Each part stands between two comments of its page.

  readme_table.py            writes them
  readme_table.py --check    only says whether they are up to date

Exit codes: 0 up to date, or written; 1 with --check: a table differs from the rows, or a page
cannot be written; 2 bad usage, also a file that is damaged or has no such comments.
"""

import re
import sys

import command_line
import tsv
import whole_files
from recorded_tables import barriers_table, machines_table, sample
from reporting.normal import recorded_runs
from reporting.study import FOLDER

ROOT = FOLDER.parent.parent
# page in ROOT, name of the comments, lines(runs)
PARTS = (("README.md", "machines", machines_table), ("README.md", "sample", sample),
         ("explicit_barrier/peer_grid_barrier/README.md", "barriers", barriers_table))


def renewed(path, text, name, lines):
    """The page's text with these lines between its comments of this name."""
    between = re.compile(f"(<!-- {name}: scripts/readme_table.py writes this -->\n)(.*?)"
                         f"(<!-- {name} end -->\n)", re.DOTALL)
    if not between.search(text):
        raise tsv.TsvError(f"{path}: there are no comments to put the table between")
    return between.sub(lambda found: "\n".join([found[1], *lines, "", found[3]]), text)


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether they are up to date")
    options = parser.parse_args()
    runs = recorded_runs(FOLDER.parent)
    if not runs:
        raise tsv.TsvError(f"{FOLDER.parent} has no recorded run")
    old = {page: tsv.read_bytes(ROOT / page).decode() for page, *_ in PARTS}
    new = dict(old)
    for page, name, lines in PARTS:
        new[page] = renewed(ROOT / page, new[page], name, lines(runs))
    differ = [page for page in new if old[page] != new[page]]
    if options.check:
        for page in differ:
            print(f"readme_table.py: {page} does not show what results/ has; "
                  "scripts/readme_table.py writes it", file=sys.stderr)
        return 1 if differ else 0
    for page in differ:
        path = ROOT / page
        whole_files.write(path.parent, {path.name: new[page]})
    return 0


if __name__ == "__main__":
    command_line.main(work, "readme_table.py")
