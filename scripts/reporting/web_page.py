"""report.html: one page with all tables and pictures of report.py, which needs nothing from
elsewhere."""

import html

from reporting import charts, moved, normal, run_warnings, sheets
from reporting.run_pages import MACHINES, about_all

STYLE = """
:root { color-scheme: light dark; --line: #bbb; --soft: #f3f3f3; --link: #0645ad; }
@media (prefers-color-scheme: dark) { :root { --line: #555; --soft: #222; --link: #8ab4f8; } }
body { font: 16px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 0 auto; padding: 1rem; }
a { color: var(--link); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.6rem; text-align: left; vertical-align: top; }
thead tr:last-child th { border-bottom: 2px solid var(--line); }
tbody tr { border-bottom: 1px solid var(--line); }
tbody tr:nth-child(even) { background: var(--soft); }
.figures td, .number { white-space: nowrap; }
.number { text-align: right; }
.over { text-align: center; border-bottom: 1px solid var(--line); }
figure { margin: 2rem 0; }
figcaption, .notes { font-size: 0.875rem; }
img { max-width: 100%; height: auto; margin-top: 0.5rem; background: #fff; }
img.page { min-width: 44rem; }
@media (max-width: 40rem) { .figures td:first-child { white-space: normal; } }
"""


def escape(text):
    return html.escape(str(text))


def plain_table(caption, head, rows, numbers):
    """Rows of texts; numbers: from which column on they are numbers."""
    if caption:
        yield f"<p>{escape(caption)}</p>"
    yield '<div class="wide"><table>'
    yield "<thead><tr>" + "".join(f"<th>{escape(name)}</th>" for name in head)
    yield "</tr></thead><tbody>"
    for row in rows:
        yield "<tr>" + "".join(
            f'<td class="number">{escape(cell)}</td>' if place >= numbers
            else f"<td>{escape(cell)}</td>" for place, cell in enumerate(row)) + "</tr>"
    yield "</tbody></table></div>"


def normal_html(part):
    yield f'<h3 id="{escape(part.name)}-normal">{part.run.mark}Is it normal?</h3><p>{escape(part.reference())}</p>'
    if not part.recorded:
        return
    yield from plain_table(part.run.mark + normal.HOW, *normal.table(part), 2)
    for sheet in moved.sheets(part):
        yield from sheets.page(sheet)


def charts_html(part, pictures):
    yield from (f'<p class="notes">{escape(note)}</p>'
                for note in charts.not_shown(part.charts, pictures))
    for shown in part.pictured():
        yield from charts.chart_html(*shown, pictures)


def part_html(part, pictures):
    about = " ".join(filter(None, (f"{part.run.about()}.", part.run.unchecked())))
    yield (f'<h2 id="{escape(part.name)}">{escape(part.run.mark + part.name)}</h2>'
           f'<p>{escape(about)}</p>')
    if part.run.path.name.endswith(".partial"):
        yield '<p class="notes">An interrupted run: not everything was measured.</p>'
    yield from sheets.page(part.headline)
    absent = list(part.absent())
    if absent:
        yield f'<p class="notes">Not in this run: {escape(", ".join(absent))}.</p>'
    yield "<details><summary>Environment</summary>"
    yield from plain_table(part.run.mark.rstrip(": "), ("key", "value"),
                           part.run.environment.items(), 2)
    yield "</details>"
    for table in part.tables:
        if table.measured():
            yield from sheets.page(table.sheet(part.run))
    yield from charts_html(part, pictures)
    yield from normal_html(part)
    yield f'<h3 id="{escape(part.name)}-warnings">{part.run.mark}Warnings of the run</h3>'
    yield f"<p>{escape(run_warnings.summed_up(part.run, part.warned))}</p>"
    if part.warned:
        yield "<details><summary>All of them</summary>"
        yield from plain_table(part.run.mark.rstrip(": "), run_warnings.HEAD, map(run_warnings.cells, part.warned), 4)
        yield "</details>"


def page(title, parts, pictures, several, before=(), behind=()):
    """The whole of report.html. several: the chart of several machines, or None; before, behind:
    lines of the page before the runs and behind them."""
    lines = ["<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
             '<meta name="viewport" content="width=device-width, initial-scale=1">',
             f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
             f"<h1>{escape(title)}</h1><nav><ul>"]
    for part in parts:
        lines.append(f'<li><a href="#{escape(part.name)}">{escape(part.name)}</a>: '
                     f'{escape(part.run.about())}; <a href="#{escape(part.name)}-normal">'
                     "is it normal?</a></li>")
    lines.append("</ul></nav>")
    lines += before
    if several:
        lines += charts.chart_html(several, MACHINES, about_all(parts), pictures)
    for part in parts:
        lines += part_html(part, pictures)
    return "\n".join([*lines, *behind, "</body></html>"]) + "\n"
