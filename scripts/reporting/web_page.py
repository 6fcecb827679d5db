"""report.html: one page with all tables and pictures of report.py, which needs nothing from
elsewhere."""

import json
import re

import compare
from reporting.sheets import escape

STYLE = """
:root { color-scheme: light dark; --line: #bbb; --soft: #f3f3f3; --link: #0645ad; }
@media (prefers-color-scheme: dark) { :root { --line: #555; --soft: #222; --link: #8ab4f8; } }
body { font: 16px/1.45 system-ui, sans-serif; max-width: 84rem; margin: 0 auto; padding: 1rem; }
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
.box { border-left: 0.5rem solid #2a7; padding: 0.1rem 1rem; background: var(--soft); }
.box.look { border-color: #d90; }
.box.broken { border-color: #c33; }
nav details { columns: 2; }
input { font: inherit; width: 100%; max-width: 30rem; }
#rows th { cursor: pointer; }
@media print {
  body { max-width: none; font-size: 10pt; padding: 0; }
  .wide { overflow: visible; }
  table { font-size: 6.5pt; }
  .figures td, .number { white-space: normal; }
  th, td { padding: 0.1rem 0.25rem; overflow-wrap: anywhere; }
  img.page { min-width: 0; }
  nav, .search { display: none; }
}
@media (max-width: 40rem) { .figures td:first-child { white-space: normal; } }
"""


CAPTION = re.compile("<figure><figcaption><b>(.*?)</b>( [^<.]*)?")
COLUMNS = ("run", "file", *compare.KEYS, "quantity", "value", "recorded low", "high", "change %",
           "verdict", "known")
MOST_ROWS = 200  # that are shown at once
# The rows come as data, and are shown as they are asked for.
SCRIPT = """
const rows = JSON.parse(document.getElementById("data").textContent);
const table = document.getElementById("rows"), words = document.getElementById("words");
let column = -1, up = 1;
function show() {
  const wanted = words.value.toLowerCase().split(/ +/).filter(Boolean);
  let found = rows.filter(row => {
    const text = row.join(" ").toLowerCase();
    return wanted.every(word => text.includes(word));
  });
  if (column >= 0) found.sort((a, b) => {
    const numbers = [Number(a[column]), Number(b[column])];
    return up * (numbers.some(isNaN) ? String(a[column]).localeCompare(b[column])
                                     : numbers[0] - numbers[1]);
  });
  document.getElementById("count").textContent =
    found.length + " rows" + (found.length > MOST ? ", the first " + MOST : "");
  table.tBodies[0].replaceChildren(...found.slice(0, MOST).map(row => {
    const line = document.createElement("tr");
    row.forEach(cell => line.insertCell().textContent = cell);
    return line;
  }));
}
words.addEventListener("input", show);
table.tHead.addEventListener("click", event => {
  const at = event.target.cellIndex;
  up = at === column ? -up : 1;
  column = at;
  show();
});
document.getElementById("all").hidden = false;
show();
""".replace("MOST", str(MOST_ROWS))


def all_rows(parts):
    """The section of all rows, to be searched and sorted; without scripts, a link to each file."""
    yield f'<h2 id="all-rows">{parts[0].run.mark}All rows</h2><p>'
    yield ", ".join(f'<a href="tables/{escape(part.name)}/normal.tsv">tables/{escape(part.name)}'
                    "/normal.tsv</a>" for part in parts)
    rows = [[part.name, *(text.replace("nan", "") for text in row.key), row.quantity,
             row.value.text, *(f"{number:.6g}".replace("nan", "") for number in (
                 row.low, row.high)), f"{row.change:.2f}".replace("nan", ""), row.verdict,
             ", ".join(spread.name for spread in part.known.of(row))]
            for part in parts for row in part.normal]
    yield '</p><div id="all" class="search" hidden>'
    yield '<p><input id="words" aria-label="words that a row has" placeholder="words that a row has, '
    yield 'such as grid_sync slower"> <span id="count"></span></p>'
    yield '<div class="wide"><table id="rows"><thead><tr>'
    yield "".join(f'<th scope="col">{name}</th>' for name in COLUMNS)
    yield "</tr></thead><tbody></tbody></table></div></div>"
    data = json.dumps(rows, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    yield f'<script type="application/json" id="data">{data}</script><script id="search">{SCRIPT}</script>'


def page(title, parts, body):
    """The whole of report.html. body: the lines behind the title and the links to the runs."""
    contents = []

    def numbered(found):
        """Its caption goes into the contents."""
        contents.append(f'<li><a href="#f{len(contents)}">{found[1]}{found[2] or ""}</a></li>')
        return found[0].replace("<figure>", f'<figure id="f{len(contents) - 1}">', 1)

    body = [CAPTION.sub(numbered, line) for line in body]
    lines = ["<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
             '<meta name="viewport" content="width=device-width, initial-scale=1">',
             f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
             f"<h1>{escape(title)}</h1>",
             "<p>The study is that of Zhang et al., IPDPS 2020, on V100 and P100.</p><nav><ul>"]
    for part in parts:
        lines.append(f'<li><a href="#{escape(part.name)}">{escape(part.name)}</a>: '
                     f'{escape(part.run.about())}; <a href="#{escape(part.name)}-normal">'
                     "is it normal?</a></li>")
    lines += ['<li><a href="#all-rows">All rows</a></li></ul>',
              "<details><summary>Tables and figures</summary><ul>", *contents,
              "</ul></details></nav>", *body, *all_rows(parts), "</body></html>"]
    return "\n".join(lines) + "\n"
