#!/usr/bin/env python3
"""Writes the generated parts of pages: tables of the recorded runs and of results/known_spread.tsv,
and pictures, where their rows are other ones (needs matplotlib).

Each table stands between two comments, `NAME: scripts/pages/write_pages.py writes this` and `NAME end`;
PAGES has them all, their functions say what each shows. rows.sha256 has a hash of what each picture
shows: that of its file would differ with the version of matplotlib. With --check nothing is written.

Exit codes: 0 the pages are right; 1 with --check: a page is not what the files say, or a page
cannot be written; 2 bad usage, also a file that is damaged or a page that lacks such comments.
"""

import functools
import hashlib
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # scripts/
from parts import command_line, tsv, whole_files
from pages import (fence_tables, grid_barrier_tables, launch_tables, library_tables, number_tables,
                   stencil_tables, study_conclusions, unseen)
from pages.recorded_tables import (barriers_table, differences, durations, messages,
                                   partial_groups, races, sample, sums_by_gpus, sums_by_size,
                                   sums_in_a_warp, verdicts, warp_barriers)
from reporting import charts, known_spread, stale
from reporting.chart_barriers import selected
from reporting.normal import further, recorded_runs
from reporting.sheets import Raw, coded, literal, markdown_table
from reporting.study import FOLDER

ROOT = FOLDER.parent.parent
FIGURES = "docs/figures"
NO_ROWS = ("results/evidence/pitfalls.md", "results/evidence/spread.md")  # they quote none of a method's cost


def link(text):
    """Markdown for a page in results/evidence/, of a path from the top of the repository, or a
    heading."""
    return f"[{text}](../../{text})" if "/" in text else literal(text)


def spreads(_runs):
    """What stands in the row above is left out."""
    head = ("Name", "Programs", "Rows", "Up to", "Why", "Shown in")
    rows, above = [], [""] * len(head)
    for spread in known_spread.read():
        row = [spread.name, spread.programs, coded(spread.rows()), spread.extent(),
               coded(spread.why), Raw(", ".join(map(link, spread.evidence)))]
        alike = row[0] == above[0]
        rows.append([cell if not alike or at == 2 or cell != above[at] else ""
                     for at, cell in enumerate(row)])
        above = row
    return markdown_table(head, len(head), rows)


def healthy_pairs(_runs):
    """How often two healthy runs were not called normal."""
    path = FOLDER.parent / "healthy_pairs.tsv"
    rows = tsv.read_table(tsv.read_bytes(path), path)
    yield from markdown_table(["Bounds", "Pairs of healthy runs", "Not normal"], 1, [
        [name, str(len(rows)), str(sum(row[column] != "normal" for row in rows))]
        for name, column in (("of all healthy runs", "verdict"), ("made without the two", "held_out"))])


def unseen_methods(runs):
    """Which methods could be slower unseen."""
    run, found = next(run for run in runs if run.path.name == "h200x1"), {}
    for part in (run, *further(run)):
        for file, method in unseen.methods(part, runs):
            found.setdefault(file, {})[f"`{method}`"] = None
    yield f"{unseen.SLOWER:g} times as slow, each of these alone is not told from a healthy one:"
    yield ""
    yield from markdown_table(["File", "Methods"], 2, [
        [f"{file}.tsv", coded(", ".join(names))] for file, names in found.items()])


# page -> name between the comments -> its lines, of the recorded runs
PAGES = {"README.md": {"machines": functools.partial(number_tables.numbers, of=number_tables.FEW),
                       "sample": sample},
         "results/evidence/spread.md": {"differences": differences, "pairs": healthy_pairs,
                                        "unseen": unseen_methods, "causes": spreads},
         "results/evidence/warp_barriers.md": {"warp": warp_barriers},
         "results/evidence/durations.md": {"durations": durations},
         "results/evidence/libraries.md": {"libraries/libraries": library_tables.by_start},
         "results/evidence/pitfalls.md": {"verdicts": verdicts, "partial": partial_groups,
                                          "races": races, "litmus/messages": messages},
         "results/evidence/sums.md": {"warp": sums_in_a_warp, "sizes": sums_by_size, "gpus": sums_by_gpus},
         "results/evidence/launches.md": {"launches/kernels": launch_tables.one_more_kernel,
                                          "launches/storing": launch_tables.storing,
                                          "launches/streams": launch_tables.streams,
                                          "launches/ladder": launch_tables.ladder,
                                          "launches/rounds": launch_tables.rounds,
                                          "launches/graphs": launch_tables.graphs},
         "docs/choose.md": {"grid_barriers/fastest": grid_barrier_tables.fastest,
                            "fences/states": fence_tables.states,
                            "launches/ladder": functools.partial(
                                launch_tables.ladder, names=("h200x1",)),
                            "stencil/answer": stencil_tables.answer},
         "results/evidence/grid_barriers.md": {
             "grid_barriers/bare": grid_barrier_tables.bare,
             "grid_barriers/in_use": grid_barrier_tables.in_use,
             "grid_barriers/late": grid_barrier_tables.late,
             "grid_barriers/two_gpus": grid_barrier_tables.two_gpus,
             "grid_barriers/exchanges": grid_barrier_tables.exchanges,
             "grid_barriers/constants": grid_barrier_tables.constants,
             "grid_barriers/within": grid_barrier_tables.within},
         "results/evidence/stencil.md": {"stencil/switch": stencil_tables.switches,
                                         "stencil/errors": stencil_tables.errors,
                                         "stencil/steps": stencil_tables.time_steps,
                                         "stencil/processes": stencil_tables.processes},
         "results/evidence/fences.md": {"fences/fences": fence_tables.fences,
                                        "fences/barriers": fence_tables.barriers},
         "docs/numbers.md": {"numbers": number_tables.numbers, "launches": number_tables.launches},
         "docs/study.md": {"verdicts": study_conclusions.verdicts},
         "results/evidence/study.md": {"conclusions": study_conclusions.conclusions},
         "explicit_barrier/peer_grid_barrier/README.md": {"barriers": barriers_table}}


@functools.lru_cache(maxsize=None)
def commits_of(folder):
    """Of the recorded rows in it."""
    return {output.program("commit") for output in stale.outputs(f"{folder}/*.tsv")}


def stale_note(page, name, lines, runs):
    """Which methods of a generated part have other code today than when their rows were recorded:
    in the folder that its name begins with, or else in the recorded runs."""
    if page in NO_ROWS:
        return
    folder, _, part = name.rpartition("/")
    commits = commits_of(folder) if folder else {
        output.program("commit") for run in runs for output in run.files.values()}
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
    for name, made in PAGES[page].items():
        between = re.compile(f"(<!-- {name}: [^\n]*-->\n)(.*?)(<!-- {name} end -->\n)", re.DOTALL)
        if not between.search(new):
            raise tsv.TsvError(f"{ROOT / page}: there are no comments to put {name} between")
        lines = list(made(runs))
        lines += stale_note(page, name, lines, runs)
        # In Markdown a comment and a table are apart, or the table is part of the comment.
        new = between.sub(lambda found: "\n".join([found[1], *lines, "", found[3]]), new)
    return text, new


def pictured(runs):
    """path -> Chart"""
    run_of = {run.path.name: run for run in runs}
    return {f"{FIGURES}/barriers.png": selected(run_of["h200x4"])}


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
