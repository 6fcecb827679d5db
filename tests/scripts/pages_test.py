"""The style of the pages: sentences, words, links. It says in which line to change what.

usage: pages_test.py             all tests
       pages_test.py PAGE...     only what is to be changed in these pages
"""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from pages import write_pages
from parts import tsv

LONGEST_SENTENCE = 30  # words
MOST_WORDS = {"README.md": 900}  # of all that stands there, as `wc -w` counts
GLOSSARY = "CONTRIBUTING.md"
# A number with a unit, or alone in a cell, comes from recorded rows. All others stand in this
# table: the page (* for any), the words round it, the file that has it, and how it stands there.
QUOTED = ROOT / "tests/scripts/quoted_numbers.tsv"
NUMBER = re.compile(
    r"(?<![\w.,/-])\d[\d,]*(?:\.\d+)?(?:\s*(?:to|or|and|±|–|-)\s*\d[\d,]*(?:\.\d+)?)?[\s-]*"
    r"(?:%|(?:[nuµm]?s|cycles?|[GMTk]B/s|[GMk]B|[GMk]?Hz|W|times|percent|"
    r"\w*seconds?|minutes?|hours?)\b)"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten)\s+"
    r"(?:cycles|times|percent|seconds|minutes|hours)\b")
CELL = re.compile(r"(?<=\|)\s*~?(?:\d[\d,]*\.\d+|\d[\d,]+)(?:\s*±\s*[\d.]+)?!?\s*(?=\|)")
FLOORS = {"peer_grid_barrier": (), "common": (), "ways": ("common",),
          "implicit_barrier": ("common", "peer_grid_barrier", "ways"),
          "explicit_barrier": ("common", "peer_grid_barrier"),
          "pitfalls": ("common", "peer_grid_barrier"),
          "libraries": ("common", "peer_grid_barrier", "explicit_barrier"),
          "reduction": ("common", "peer_grid_barrier", "explicit_barrier", "ways"),
          "stencil": ("common", "peer_grid_barrier", "explicit_barrier", "ways", "libraries")}
CPP_SOURCE = re.compile(r"\.(cuh?|[ch]pp)$")


def all_pages():
    patterns = ("*.md", "docs/*.md", "results/*.md", "results/*/*.md", "explicit_barrier/*/*.md")
    return sorted(str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern))


def outside_blocks(text):
    """(line number, line); lines of blocks between ``` are empty."""
    in_block = False
    for number, line in enumerate(text.splitlines(), 1):
        is_fence = line.lstrip().startswith("```")
        in_block ^= is_fence
        yield number, "" if is_fence or in_block else line


def prose(text):
    """(line number, line) outside of code blocks and comments; what is between ` is one word."""
    text = re.sub(r"<!--.*?-->", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    above_is_empty = False
    for number, line in outside_blocks(text):
        if line.startswith("    ") and above_is_empty:
            line = ""  # the next line of a block is one of it, too
        above_is_empty = not line.strip()
        yield number, re.sub(r"<[^>]*>", "", re.sub(r"`[^`]*`", "`code`", line))


def paragraphs(text):
    """[(line number, line), ...] of each paragraph and item of a list; no headings, no tables."""
    found = []
    for number, line in [*prose(text), (0, "")]:
        is_item = re.match(r"\s*([-*]|\d+\.) ", line)
        is_text = line.strip() and not line.startswith(("#", "|"))
        if found and (is_item or not is_text):
            yield found
            found = []
        if is_text:
            found.append((number, line[is_item.end():] if is_item else line))


def sentences(text):
    """(line number, words) of each."""
    for paragraph in paragraphs(text):
        words = [(number, word) for number, line in paragraph
                 for word in re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line).split()]
        first = 0
        for place, (_, word) in enumerate(words, 1):
            if place == len(words) or re.search(r"[.!?:][)\"*]*$", word) and re.match(
                    r"[\"(*\[]*[A-Z`0-9]", words[place][1]):
                yield words[first][0], [word for _, word in words[first:place]
                                        if re.search(r"\w", word)]
                first = place


def glossary():
    """(words not to be used, the word in place of them), and the lines that they stand in."""
    instead, lines = [], set()
    text = (ROOT / GLOSSARY).read_text()
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("|") and number > text[:text.index("\n## Glossary")].count("\n"):
            word, _, others = (cell.strip() for cell in line.strip("|").split("|"))
            lines.add(number)
            if set(word) != {"-"} and word != "Word":
                instead += [(other.strip(), word) for other in others.split(",") if other]
    return instead, lines


def wrong_words(text):
    for other, word in glossary()[0]:
        if re.search(rf"(?<![\w-]){re.escape(other)}(e?s)?(?![\w-])", text, re.IGNORECASE):
            yield (f"\"{other}\": the glossary ({GLOSSARY}) has \"{word}\"; use that word, or put "
                   "code between `")


def all_sources():
    """In C++, of the programs."""
    return [path for folder in FLOORS for path in (ROOT / folder).rglob("*")
            if CPP_SOURCE.search(path.name)]


def anchors(text):
    found = []
    for _, line in outside_blocks(text):
        head = re.match(r"#+ (.*)", line)
        if head:
            slug = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", head[1]).strip().lower()
            slug = re.sub(r"[^\w\- ]", "", slug).replace(" ", "-")
            found.append(slug + (f"-{found.count(slug)}" if slug in found else ""))
    return found


def links(text):
    """(line number, target) of links and pictures; none in code."""
    for number, line in outside_blocks(text):
        line = re.sub(r"`[^`]*`", "", line)
        for target in re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", line):
            yield number, "".join(target)


def dead_links(page, text):
    for number, target in links(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        place = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        if path and not place.exists():
            yield number, f"the link {target} leads nowhere; name a file that is there"
        elif anchor and place.suffix == ".md":
            known = anchors(text if not path else place.read_text())
            if anchor not in known:
                yield number, (f"{target}: the page has no heading #{anchor}; its headings are "
                               f"{', '.join(known)}")


def bad_style(page, text):
    for number, words in sentences(text):
        if len(words) > LONGEST_SENTENCE:
            yield number, (f"a sentence of {len(words)} words (\"{' '.join(words[:6])} ...\"); "
                           f"write two, of at most {LONGEST_SENTENCE}")
    own = glossary()[1] if page == GLOSSARY else ()
    for number, line in prose(text):
        for what in wrong_words(line) if number not in own else ():
            yield number, what
    words = len(text.split())
    if words > MOST_WORDS.get(page, words):
        yield 1, f"{words} words; at most {MOST_WORDS[page]}: move a part to a page of docs/"


def blank(found):
    return re.sub(r"[^\n]", " ", found[0])


def without_rendered(page, text):
    for name in write_pages.PAGES.get(page, ()):
        text = re.sub(f"<!-- {name}: .*?<!-- {name} end -->", blank, text, flags=re.DOTALL)
    return text


def allowed():
    return tsv.read_table(tsv.read_bytes(QUOTED), QUOTED)


def places(words, text):
    """(start, end) of each, also where a line ends in it."""
    pattern = r"\s+".join(map(re.escape, words.split()))
    return [found.span() for found in re.finditer(pattern, text)]


def numbers_in(text):
    """(start, end) of each, outside of code and links."""
    text = re.sub(r"`[^`\n]*`|<[^>\n]*>|\]\([^)\n]*\)", blank, text)
    return [found.span() for pattern in (NUMBER, CELL) for found in pattern.finditer(text)]


def quoted_numbers(page, text):
    text = without_rendered(page, text)
    kept = {number for number, line in prose(text) if line.strip()}
    text = "\n".join(line * (number in kept) for number, line in enumerate(text.splitlines(), 1))
    known = [place for row in allowed() if row["page"] in (page, "*")
             for place in places(row["words"], text)]
    for start, end in numbers_in(text):
        if not any(first <= start and end <= last for first, last in known):
            yield text.count("\n", 0, start) + 1, (
                f"\"{' '.join(text[start:end].split())}\": no row says it; let write_pages.py "
                f"write it, leave it out, or name its source in {QUOTED.relative_to(ROOT)}")


def tags_in(source):
    """Of the comments about rows, as Remark says: words with hyphens wherever they begin a text."""
    source = re.sub(r"//.*", "", source)
    hyphens = re.findall(r'"([a-z]+(?:-[a-z]+)+)(?: [a-z]+=)?"', source)
    words = re.findall(r"""(?x) (?:\bCannotMeasure\( | \bRemark\s*(?:\w+\s*)?\{ | \breturn\s\{ |
        \b(?:annotate|note|note_once|skip|warn)\((?:[^;{] | \{[^{}]*\})*\{)
        \s*"([a-z]+)\ ?(?:[a-z]+=)?"\s*[,+]""", source)
    return {*hyphens, *words}


def tags_on(page):
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("|")]
    return set(re.findall("`([a-z-]+)`", " ".join(rows)))


def to_change(page, text):
    """file:line: what to do, in the order of lines."""
    found = [*dead_links(page, text), *quoted_numbers(page, text), *bad_style(page, text)]
    return [f"{page}:{number}: {what}" for number, what in sorted(found)]


class PagesTest(unittest.TestCase):
    def test_every_page(self):
        found = [line for page in all_pages()
                 for line in to_change(page, (ROOT / page).read_text())]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_every_tag_is_on_the_page(self):
        options = set(re.findall(r"`--([a-z]+-[a-z-]+)", (ROOT / "docs/run.md").read_text()))
        page = (ROOT / "docs/read.md").read_text().split("\n## Comments about rows\n")[1].split("\n## ")[0]
        # The reasons of NVML are values of a tag.
        found = {tag for path in all_sources() if path.name != "nvml.cpp"
                 for tag in tags_in(path.read_text())}
        self.assertEqual(found - options, tags_on(page))

    def test_sources_of_quoted_numbers(self):
        """Each line of the table is of a number that stands there, and whose source has it."""
        for row in allowed():
            pages = all_pages() if row["page"] == "*" else [row["page"]]
            texts = [without_rendered(page, (ROOT / page).read_text()) for page in pages]
            found = [text[first:last] for text in texts
                     for first, last in places(row["words"], text)]
            self.assertTrue(any(numbers_in(words) for words in found), row)
            self.assertIn(row["there"], (ROOT / row["source"]).read_text(), row)

    def test_version_is_the_same_everywhere(self):
        version = re.search(r"project\(syncbench VERSION ([\d.]+)",
                            (ROOT / "CMakeLists.txt").read_text())[1]
        citation = (ROOT / "CITATION.cff").read_text()
        date = re.search(r"(?m)^date-released: ([\d-]+)$", citation)[1]
        self.assertIn(f"\nversion: {version}\n", citation)
        barrier = (ROOT / "explicit_barrier/peer_grid_barrier/CMakeLists.txt").read_text()
        self.assertIn(f"\nproject(peer_grid_barrier VERSION {version} ", barrier)  # as rows say
        first = re.search(r"(?m)^## (\d.*)$", (ROOT / "CHANGELOG.md").read_text())[1]
        self.assertEqual(first, f"{version} - {date}")

    def test_sizes_of_what_is_fetched(self):
        page = (ROOT / "docs/run.md").read_text()
        for path in (ROOT / "scripts/wheels").glob("*.txt"):
            what, _, size = path.read_text().splitlines()[0].removeprefix("# ").rpartition(", ")
            self.assertIn(f"\n| {what} | {size} |\n", page)

    def test_floors(self):
        """CONTRIBUTING.md: a folder includes its own headers and those of lower floors."""
        for folder, lower in FLOORS.items():
            path = ROOT / ("explicit_barrier/" * (folder == "peer_grid_barrier") + folder)
            for source in path.rglob("*.[ch]*"):
                if folder == "explicit_barrier" and "peer_grid_barrier" in source.parts:
                    continue
                for other in re.findall(r'#include "(\w+)/', source.read_text()):
                    if other in FLOORS:
                        self.assertIn(other, (folder, *lower), source)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        for name in sys.argv[1:]:
            content = (ROOT / name).read_text()
            print("\n".join([*to_change(name, content), f"{name}: {len(content.split())} words"]))
    else:
        unittest.main()
