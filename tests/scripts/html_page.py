"""Reads a page of report.py, for its tests."""

import base64
from html.parser import HTMLParser


class Page(HTMLParser):
    """(title, text) of each cell, (alternative text, bytes) of each picture; what is wrong with
    the page is a ValueError."""

    def __init__(self, text):
        super().__init__()
        self.open, self.cells, self.targets, self.ids = [], [], [], set()
        self.pictures, self.files = [], []  # files: that it links to
        self.feed(text)
        self.files = {target for target in self.targets if not target.startswith("#")}
        if self.open or set(self.targets) - self.files - {f"#{name}" for name in self.ids}:
            raise ValueError(f"not closed: {self.open}; links to {self.targets}")

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag in ("meta", "br", "input"):
            return
        kind, _, data = attributes.get("src", "").partition(",")
        if tag == "img" and kind == "data:image/png;base64" and attributes.get("alt"):
            self.pictures.append((attributes["alt"], base64.b64decode(data, validate=True)))
            return
        if tag in ("link", "img", "iframe") or tag == "script" and "src" in attributes:
            raise ValueError(f"<{tag}> in a page that needs nothing from elsewhere")
        self.open.append(tag)
        if attributes.get("id") in self.ids:
            raise ValueError(f"two have the id {attributes['id']}")
        self.ids |= {attributes["id"]} if "id" in attributes else set()
        target = attributes.get("href", "")
        (self.targets if target.startswith("#") else self.files).extend([target] * bool(target))
        if tag == "th" and "scope" not in attributes:
            raise ValueError("<th> without scope")
        if tag == "td":
            self.cells.append([attributes.get("title"), ""])

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            raise ValueError(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        if self.open and self.open[-1] == "td":
            self.cells[-1][1] += data
