#!/usr/bin/env python3
"""The pictures of README.md, of the recorded runs: docs/figures/*.png.

  readme_pictures.py            draws them (needs matplotlib)
  readme_pictures.py --check    says which are older than the rows they are of (needs none)

docs/figures/rows.sha256 has a hash of what each picture shows. That of the file would differ
with the version of matplotlib and its fonts.

Exit codes: 0 drawn, or none is older; 1 one is older, or cannot be written; 2 bad usage.
"""

import hashlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # scripts/
from parts import command_line, tsv, whole_files
from reporting import charts
from reporting.chart_barriers import selected
from reporting.chart_study import figure_5
from reporting.study import FOLDER

OUT = FOLDER.parent.parent / "docs" / "figures"
HASHES = "rows.sha256"
BARRIERS, GRID = "h200x4", "h200x1"


def pictured(recorded):
    """name of the file -> Chart"""
    runs = {name: tsv.Run(recorded / name, simulated=None) for name in (BARRIERS, GRID)}
    return {"barriers.png": selected(runs[BARRIERS]), "grid_sync.png": figure_5(runs[GRID], None)}


def hash_of(chart):
    """Of all that is shown; not of the lines that it stands in."""
    lines = [line.rsplit("\t", 1)[0] for line in charts.lines_of_tsv(chart)]
    return hashlib.sha256("\n".join([*lines, *chart.caption()]).encode()).hexdigest()


def hashes(recorded=FOLDER.parent):
    return "".join(f"{hash_of(chart)}  {name}\n" for name, chart in pictured(recorded).items())


def older(out=OUT, recorded=FOLDER.parent):
    """Names of the pictures that show other numbers than the recorded rows."""
    path = Path(out) / HASHES
    known = tsv.read_bytes(path).decode().splitlines() if path.exists() else []
    return [line.split()[1] for line in hashes(recorded).splitlines()
            if line not in known or not (Path(out) / line.split()[1]).exists()]


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", type=command_line.folder_to_write, default=OUT, metavar="DIR", help="(docs/figures)")
    parser.add_argument("--recorded", type=Path, default=FOLDER.parent, metavar="DIR",
                        help="the folder of the recorded runs (default: results/)")
    options = parser.parse_args()
    if options.check:
        names = older(options.out, options.recorded)
        if names:
            print(f"older than {options.recorded}: {', '.join(names)}; "
                  "scripts/pages/readme_pictures.py draws them anew")
        return 1 if names else 0
    pictures = charts.Pictures(pictured(options.recorded))
    if pictures.why:
        raise tsv.TsvError(pictures.why)
    whole_files.write(options.out, {**{name: pictures.png(name) for name in pictures.charts},
                                    HASHES: hashes(options.recorded)})
    return 0


if __name__ == "__main__":
    command_line.main(work, "readme_pictures.py")
