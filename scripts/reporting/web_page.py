"""report.html: one page with all tables and pictures of report.py, which needs nothing from
elsewhere."""

from reporting.sheets import escape

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


def page(title, parts, body):
    """The whole of report.html. body: the lines behind the title and the links to the runs."""
    lines = ["<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
             '<meta name="viewport" content="width=device-width, initial-scale=1">',
             f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
             f"<h1>{escape(title)}</h1><nav><ul>"]
    for part in parts:
        lines.append(f'<li><a href="#{escape(part.name)}">{escape(part.name)}</a>: '
                     f'{escape(part.run.about())}; <a href="#{escape(part.name)}-normal">'
                     "is it normal?</a></li>")
    return "\n".join([*lines, "</ul></nav>", *body, "</body></html>"]) + "\n"
