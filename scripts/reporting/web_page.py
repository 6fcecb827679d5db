"""report.html: one page with all tables and pictures of report.py, which needs nothing from
elsewhere."""

from reporting import blocks
from reporting.sheets import escape

STYLE = """
:root { color-scheme: light dark; --line: #bbb; --soft: #f3f3f3; --link: #0645ad; }
@media (prefers-color-scheme: dark) { :root { --line: #555; --soft: #222; --link: #8ab4f8; } }
body { font: 16px/1.45 system-ui, sans-serif; max-width: 82rem; margin: 0 auto; padding: 1rem; }
p, li { max-width: 60rem; overflow-wrap: anywhere; }
a { color: var(--link); }
nav ul { padding-left: 1rem; }
summary { cursor: pointer; }
summary h3 { display: inline-block; margin: 0.5rem 0; }
.verdict { border: 1px solid var(--line); border-left: 0.6rem solid #2a7; padding: 0 1rem; }
.verdict.unknown { border-left-color: #888; }
.verdict.look { border-left-color: #d90; }
.verdict.broken { border-left-color: #c22; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.5rem; text-align: left; vertical-align: top; }
thead tr:last-child th { border-bottom: 2px solid var(--line); }
tbody tr { border-bottom: 1px solid var(--line); }
tbody tr:nth-child(even) { background: var(--soft); }
td.number { white-space: nowrap; }
.number { text-align: right; }
.over { text-align: center; border-bottom: 1px solid var(--line); }
figure { margin: 2rem 0; }
figcaption, .notes { font-size: 0.875rem; }
.notes p { margin: 0.2rem 0; }
img { max-width: 100%; height: auto; margin-top: 0.5rem; background: #fff; }
img.column { width: 36rem; }
img.page { width: 72rem; }
.rows table { font-size: 0.75rem; }
.rows th, .rows td, .rows button { padding: 0.15rem 0.25rem; }
.rows td { overflow-wrap: anywhere; }
.rows td.short { white-space: nowrap; }
.rows button { font: inherit; cursor: pointer; }
@media screen and (max-width: 40rem) {
  body { padding: 0.5rem; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  .stacked, .stacked tbody { display: block; }
  .stacked thead { display: none; }
  .stacked tr { display: flex; flex-wrap: wrap; column-gap: 0.75rem; padding: 0.3rem 0; }
  .stacked td, .rows td.short { padding: 0; text-align: left; }
  .stacked td, .rows td.short { white-space: normal; overflow-wrap: anywhere; }
  .stacked td:first-child { flex-basis: 100%; font-weight: bold; }
  .stacked td[data-head]::before { content: attr(data-head) ": "; opacity: 0.7; }
  .stacked td.absent { display: none; }
  .rows .stacked thead { display: block; }
}
@media print {
  @page { size: A4; margin: 12mm; }
  body { font-size: 9pt; max-width: none; padding: 0; }
  nav, .rows { display: none; }
  .wide { overflow: visible; }
  table { font-size: 6.5pt; width: 100%; }
  th, td { padding: 1pt 2pt; }
  td.number { white-space: normal; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  tr, img, figcaption { break-inside: avoid; }
  h2, h3, figcaption, summary { break-after: avoid; }
  img.page { max-height: 24cm; width: auto; }
  img.column { width: 11cm; }
}
"""

# Searches and sorts all rows; opens what a link leads into, and all that is printed; on a narrow
# screen each row of a table becomes lines, each number behind the head of its column.
SCRIPT = """
"use strict";
const MOST = 200;
function stack(table) {
  const [last, over] = [...table.tHead.rows].reverse();
  const above = over ? [...over.cells].flatMap(
      (cell) => Array(cell.colSpan).fill(cell.textContent)) : [];
  const heads = [...last.cells].map((cell, at) =>
      [above[at], cell.textContent].filter(Boolean).join(", "));
  for (const row of table.tBodies[0].rows) {
    [...row.cells].forEach((cell, at) => {
      if (at && heads[at]) cell.dataset.head = heads[at];
      if (cell.textContent === "–") cell.className += " absent";
    });
  }
  table.classList.add("stacked");
}
function showRows(data) {
  const [head, ...rows] = data.textContent.replaceAll("\\x0e", "<").split("\\n")
      .map((line) => line.split("\\t"));
  const place = data.previousElementSibling;
  const search = document.createElement("input");
  search.type = "search";
  search.placeholder = "search";
  search.setAttribute("aria-label", "search all rows");
  const count = document.createElement("span");
  const wide = document.createElement("div");
  wide.className = "wide";
  place.append(search, " ", count, wide);
  let column = -1, down = false;
  function order(a, b) {
    const x = a[column], y = b[column];
    const none = Number.isNaN(Number(x)) - Number.isNaN(Number(y));  // texts stand last
    return none || (down ? -1 : 1) * (Number(x) - Number(y) || x.localeCompare(y));
  }
  function show() {
    const words = search.value.toLowerCase().split(" ");
    const found = rows.filter((row) => {
      const text = row.join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    if (column >= 0) found.sort(order);
    count.textContent = `${found.length} rows` +
        (found.length > MOST ? `, the first ${MOST} shown` : "");
    const shown = found.slice(0, MOST);
    const used = [...head.keys()].filter((at) => shown.some((row) => row[at] !== "nan"));
    const table = document.createElement("table");
    const line = table.createTHead().insertRow();
    for (const at of used) {
      const cell = document.createElement("th");
      const button = document.createElement("button");
      cell.scope = "col";
      button.textContent = head[at].replaceAll("_", " ");
      if (at === column) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      button.onclick = () => { down = at === column && !down; column = at; show(); };
      cell.append(button);
      line.append(cell);
    }
    const body = table.createTBody();
    for (const row of shown) {
      const line = body.insertRow();
      for (const at of used) {
        const cell = line.insertCell();
        cell.textContent = row[at] === "nan" ? "–" : row[at];
        cell.className = Number.isNaN(Number(row[at])) ? "" : "number";
        if (row[at].length < 17) cell.classList.add("short");
      }
    }
    stack(table);
    wide.replaceChildren(table);
  }
  search.oninput = show;
  show();
}
function openTarget() {
  let target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = target; part; part = part.parentElement) {
    if (part.tagName === "DETAILS") part.open = true;
  }
  if (target) target.scrollIntoView();
}
document.querySelectorAll("table").forEach(stack);
for (const data of document.querySelectorAll("script[type='text/tab-separated-values']")) {
  const fold = data.closest("details");
  fold.addEventListener("toggle", () => showRows(data), {once: true});
}
addEventListener("hashchange", openTarget);
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
});
openTarget();
"""


def page(title, about, content, pictures, written):
    """The whole of report.html. about: the sentence below the title; content: blocks; written:
    the paths of all files of the report."""
    lines = ["<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
             '<meta name="viewport" content="width=device-width, initial-scale=1">',
             f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
             f"<h1>{escape(title)}</h1><p>{escape(about)}</p>"]
    lines += [*contents(content), *blocks.page(content, pictures, written),
              f'<script id="search">{SCRIPT}</script>',
              "</body></html>"]
    return "\n".join(lines) + "\n"


def contents(content):
    """A line for each heading, with what stands below it."""
    lines = [[]]
    heads = {block.name for block in content if isinstance(block, blocks.Heading)}
    for name, text in blocks.contents(content):
        if name in heads:
            lines.append([])
        lines[-1].append(f'<a href="#{escape(name)}">{escape(text)}</a>')
    yield '<nav aria-label="Contents"><ul>'
    yield from (f"<li>{' · '.join(line)}</li>" for line in lines if line)
    yield "</ul></nav>"
