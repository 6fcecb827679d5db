"""Tests of the report in a browser: Chromium, where it is installed."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from report_support import ReportCase
from scripts_support import ROOT

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
SKIPPED = 77  # for ctest
PAPER = 703  # pixels: A4 less the margins of the page's style
# Each waits in a frame of a width; what it finds stands in the title of the outer page.
LOOK = r"""
const errors = [];
addEventListener("error", (event) => errors.push(event.message));
"""
FOUND = r"""
addEventListener("load", () => setTimeout(() => {
  const wide = document.documentElement.clientWidth;
  const links = [...document.querySelectorAll("nav a")];
  const dead = links.filter((link) =>
      !document.getElementById(decodeURIComponent(link.hash.slice(1)))).map((link) => link.hash);
  const height = document.documentElement.scrollHeight;
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  const rows = document.querySelector("details[id$='-rows']");
  setTimeout(() => {
    const parts = [...document.body.querySelectorAll("*")].filter(
        (part) => part.checkVisibility());
    const name = (part) => `${part.tagName} ${part.textContent.slice(0, 40)}`;
    const outside = parts.filter((part) => {
      const box = part.getBoundingClientRect();
      return box.left < -1 || box.right > wide + 1;
    }).map(name);
    const cut = parts.filter((part) => part.scrollWidth > part.clientWidth + 1
        && getComputedStyle(part).overflowX !== "visible").map(name);
    const shown = new Set(parts);
    const overlapping = parts.filter((part) => {
      const next = part.nextElementSibling;
      // Inline parts have no box of their own.
      if (!shown.has(next) || getComputedStyle(part).display.startsWith("inline")) return false;
      const [one, other] = [part, next].map((each) => each.getBoundingClientRect());
      return Math.min(one.right, other.right) > Math.max(one.left, other.left) + 1
          && Math.min(one.bottom, other.bottom) > Math.max(one.top, other.top) + 1;
    }).map(name);
    const pictures = [...document.images];
    const unseen = pictures.filter((picture) => {
      const box = picture.getBoundingClientRect();
      const ratio = box.width / box.height * picture.naturalHeight / picture.naturalWidth;
      return !(shown.has(picture) && box.width > 200 && ratio > 0.98 && ratio < 1.02);
    }).map((picture) => picture.alt);
    const numbers = parts.filter((part) => part.matches("td.number")).length;
    const search = rows.querySelector("input");
    const count = () => parseInt(rows.querySelector("span").textContent);
    const all = count();
    search.value = "grid_sync slower";
    search.dispatchEvent(new Event("input"));
    const some = count();
    search.value = "";
    search.dispatchEvent(new Event("input"));
    const place = () => [...rows.querySelectorAll("th")].findIndex(
        (head) => head.textContent === "value");
    const values = () => [...rows.querySelectorAll("tbody tr")].map(
        (line) => Number(line.cells[place()].textContent)).filter((one) => !Number.isNaN(one));
    rows.querySelectorAll("th button")[place()].click();
    const up = values();
    rows.querySelectorAll("th button")[place()].click();
    const down = values();
    const said = document.createElement("pre");
    said.id = "found";
    said.textContent = JSON.stringify({errors, wide, height, dead, numbers, outside, cut, overlapping,
        pictures: pictures.length, unseen, all, some,
        page: document.documentElement.scrollWidth, links: links.length, up, down});
    document.body.append(said);
  }, 300);
}, 300));
"""


class BrowserTest(ReportCase):
    def report(self, folder):
        """By this Python itself, which has matplotlib where it is installed: the page's pictures."""
        subprocess.run([sys.executable, ROOT / "scripts/report.py", folder, "--out", self.out],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def browser(self, path, *options):
        """What Chromium prints."""
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run(
                [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                 f"--user-data-dir={home}", "--virtual-time-budget=60000", *options,
                 path.as_uri()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                timeout=600, env={**os.environ, "HOME": home})
        return done.stdout.decode()

    def looked_at(self, width, medium):
        """What a browser of this width finds in the page, all folds open."""
        page = (self.out / "report.html").read_text()
        if medium == "print":
            page = page.replace("@media print", "@media all")
        page = page.replace("<head>", f"<head><script>{LOOK}</script>", 1)
        page = page.replace("</body>", f"<script>{FOUND}</script></body>")
        inner = self.out / "looked_at.html"
        inner.write_text(page)
        # A window of Chromium has at least 500 pixels, a frame has any width.
        outer = self.out / "frame.html"
        outer.write_text(
            f'<iframe id="f" width="{width}" height="900" src="looked_at.html"></iframe><script>'
            "const wait = setInterval(() => { const found = document.getElementById('f')"
            ".contentDocument.getElementById('found'); if (found) { clearInterval(wait);"
            "document.body.append(found.cloneNode(true)); } }, 100)</script>")
        said = self.browser(outer, "--dump-dom", "--allow-file-access-from-files",
                            "--window-size=1500,1000")
        return json.loads(html.unescape(re.search('<pre id="found">(.*?)</pre>', said)[1]))

    def test_the_page(self):
        self.report(ROOT / "results/h200x2")
        for width, medium in ((400, "screen"), (1400, "screen"), (PAPER, "print")):
            found = self.looked_at(width, medium)
            self.assertEqual(found["errors"], [])
            self.assertEqual(found["dead"], [])
            self.assertGreater(found["links"], 12)
            self.assertLessEqual(found["page"], found["wide"])  # the page itself never scrolls
            self.assertEqual(found["outside"], [])
            self.assertEqual(found["cut"], [])  # nor is anything to be scrolled sideways
            self.assertEqual(found["overlapping"], [])
            self.assertEqual(found["unseen"], [])
            self.assertEqual(found["pictures"], len(list(self.out.glob("figures/**/*.png"))))
            self.assertGreater(found["numbers"], 100)
            self.assertGreater(found["all"], found["some"])
            self.assertGreater(found["some"], 0)
            self.assertEqual(found["up"], sorted(found["up"]))
            self.assertEqual(found["down"], sorted(found["down"], reverse=True))
            self.assertNotEqual(found["up"], found["down"])
            print(f"{medium}, {width} pixels wide: {found['height']} high")


if __name__ == "__main__":
    if not BROWSER:
        print("skipped: there is no Chromium")
        sys.exit(SKIPPED)
    unittest.main()
