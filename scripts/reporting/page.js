// Searches and sorts all rows; opens what a link leads into, and all that is printed; on a narrow
// screen each row of a table becomes lines, each number behind the head of its column.
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
  const [head, ...rows] = data.textContent.replaceAll("\x0e", "<").split("\n")
      .map((line) => line.split("\t"));
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
