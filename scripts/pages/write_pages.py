#!/usr/bin/env python3
"""Writes the generated parts of pages: tables of the recorded runs, and pictures, where their rows
are other ones (needs matplotlib).

Each table stands between two comments, `PLACE: scripts/pages/write_pages.py writes this` and
`PLACE end`. PLACE is FILE.FUNCTION of this folder: its lines, of the recorded runs. PAGES has them
all. rows.sha256 has a hash of what each picture shows: that of its file would differ with the
version of matplotlib. With --check nothing is written.

Exit codes: 0 the pages are right; 1 with --check: a page is not what the files say, or a page
cannot be written; 2 bad usage, also a file that is damaged or a page that lacks such comments.
"""

import hashlib
import importlib
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # scripts/
from parts import command_line, tsv, whole_files
from pages.recorded import largest, of_today
from reporting import charts, stale
from reporting.chart_barriers import selected
from reporting.normal import recorded_runs
from reporting.study import FOLDER

ROOT = FOLDER.parent.parent
FIGURES = "docs/figures"
NO_COSTS = ("pitfalls", "spread")  # files whose tables have none of a method

# page -> places
PAGES = {
    "README.md": ("costs.few", "runs.sample"),
    "results/evidence/spread.md": (
        "spread.differences", "spread.pairs", "spread.unseen"),
    "results/evidence/warp_barriers.md": ("runs.warp_barriers",),
    "results/evidence/durations.md": ("runs.durations",),
    "results/evidence/libraries.md": ("libraries.by_start",),
    "results/evidence/pitfalls.md": (
        "pitfalls.verdicts", "pitfalls.partial_groups", "pitfalls.races", "pitfalls.messages"),
    "results/evidence/sums.md": ("runs.sums_in_a_warp", "runs.sums_by_size", "runs.sums_by_gpus"),
    "results/evidence/launches.md": (
        "launches.kernels", "launches.streams", "launches.machines", "launches.ladder",
        "launches.rounds", "launches.graphs"),
    "docs/choose.md": ("grid_barriers.fastest", "fences.states", "launches.ladder_of_h200",
                       "stencil.answer"),
    "results/evidence/grid_barriers.md": (
        "grid_barriers.machines", "grid_barriers.bare", "grid_barriers.in_use", "grid_barriers.late",
        "grid_barriers.two_gpus", "grid_barriers.exchanges", "grid_barriers.constants"),
    "results/evidence/stencil.md": (
        "stencil.switches", "stencil.errors", "stencil.time_steps", "stencil.processes"),
    "results/evidence/fences.md": ("fences.machines", "fences.fences", "fences.barriers"),
    "docs/numbers.md": ("costs.numbers", "costs.launches"),
    "docs/study.md": ("study.verdicts",),
    "results/evidence/study.md": ("study.conclusions",),
    "explicit_barrier/peer_grid_barrier/README.md": ("runs.multi_gpu_barriers",)}


def stale_note(place, lines, runs):
    """Which methods of a generated part have other code today than when their rows were recorded."""
    file, _, part = place.partition(".")
    if file in NO_COSTS:
        return
    commits = {output.program("commit") for run in of_today(runs) for output in run.files.values()}
    methods = sorted({line["method"] for line in stale.read()
                      if line["rows"] == ("late" if part == "late" else "timed")
                      and commits & set(line["stale"].split(","))
                      and f"`{line['method']}`" in "\n".join(lines)})
    if methods:
        yield ""
        yield (f"Code changed since these rows: {', '.join(f'`{method}`' for method in methods)}.")


def renewed(page, runs):
    """(its text, the text it has to have)"""
    text = new = tsv.read_bytes(ROOT / page).decode()
    for place in PAGES[page]:
        between = re.compile(f"(<!-- {place}: [^\n]*-->\n)(.*?)(<!-- {place} end -->\n)", re.DOTALL)
        if not between.search(new):
            raise tsv.TsvError(f"{ROOT / page}: there are no comments to put {place} between")
        file, _, function = place.partition(".")
        lines = list(getattr(importlib.import_module(f"pages.{file}"), function)(runs))
        lines += stale_note(place, lines, runs)
        # In Markdown a comment and a table are apart, or the table is part of the comment.
        new = between.sub(lambda found: "\n".join([found[1], *lines, "", found[3]]), new)
    return text, new


def pictured(runs):
    """path -> Chart"""
    return {f"{FIGURES}/barriers.png": selected(largest(runs)[0])}


def hashes(pictures):
    """The text of rows.sha256: of all that is shown, not of the lines that it stands in."""
    for path, chart in pictures.items():
        lines = [line.rsplit("\t", 1)[0] for line in charts.lines_of_tsv(chart)]
        text = "\n".join([*lines, *chart.caption()])
        yield f"{hashlib.sha256(text.encode()).hexdigest()}  {Path(path).name}\n"


def older_pictures(runs):
    """{path: None of a picture that shows other numbers, or text of rows.sha256}"""
    wanted, path = "".join(hashes(pictured(runs))), ROOT / FIGURES / "rows.sha256"
    known = path.read_text().splitlines() if path.exists() else []
    old = {f"{FIGURES}/{line.split()[1]}": None for line in wanted.splitlines() if line not in known}
    return {**old, f"{FIGURES}/{path.name}": wanted} if old else {}


def drawn(runs, paths):
    made = charts.Pictures({path: chart for path, chart in pictured(runs).items() if path in paths})
    if made.charts and made.why:
        raise tsv.TsvError(made.why)
    return {path: made.png(path) for path in made.charts}


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether they are right")
    options = parser.parse_args()
    runs = recorded_runs(FOLDER.parent)
    if not runs:
        raise tsv.TsvError(f"{FOLDER.parent} has no recorded run")
    pages = {page: renewed(page, runs) for page in PAGES}
    changed = {page: new for page, (text, new) in pages.items() if new != text}
    changed.update(older_pictures(runs))
    if changed and options.check:
        print(f"write_pages.py: not what results/ has: {', '.join(changed)}; "
              "scripts/pages/write_pages.py writes it", file=sys.stderr)
        return 1
    if changed:
        whole_files.write(ROOT, {**changed, **drawn(runs, changed)})
    return 0


if __name__ == "__main__":
    command_line.main(work, "write_pages.py")
