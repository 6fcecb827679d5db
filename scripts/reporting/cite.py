"""How to cite, for report.py: from CITATION.cff, and what a run was measured with."""

import html
import re
from pathlib import Path

import tsv
from reporting.sheets import TEX, literal

FILE = Path(__file__).resolve().parents[2] / "CITATION.cff"


class Yaml:
    """As much of YAML as CITATION.cff needs: mappings, lists, and {a: b, c: d} of plain texts.
    Whatever else stands there is an error that names the line."""

    def __init__(self, data, name):
        self.name, self.at, self.lines = name, 0, []  # (number, indentation, text)
        for number, line in enumerate(data.decode("utf-8", errors="replace").splitlines(), 1):
            text = line.strip()
            if text and not text.startswith("#"):
                self.lines.append((number, len(line) - len(line.lstrip()), text))

    def refuse(self, number):
        raise tsv.TsvError(f"{self.name}, line {number}: cannot be read")

    def here(self, indentation):
        """The line to read, if it is indented so."""
        if self.at < len(self.lines) and self.lines[self.at][1] == indentation:
            return self.lines[self.at]
        return None

    def block(self, above=-1):
        """The mapping or the list that is indented by more than `above`."""
        number, indentation, text = self.lines[min(self.at, len(self.lines) - 1)]
        if self.at == len(self.lines) or indentation <= above:
            self.refuse(number)
        read = self.items if text.startswith("- ") else self.mapping
        found = read(indentation)
        if self.at < len(self.lines) and self.lines[self.at][1] > indentation:
            self.refuse(self.lines[self.at][0])
        return found

    def items(self, indentation):
        found = []
        while self.here(indentation) and self.here(indentation)[2].startswith("- "):
            number, _, text = self.here(indentation)
            flow = re.fullmatch(r"- *\{(.*)\}", text)
            if flow:
                pairs = [part.partition(": ") for part in flow[1].split(", ")]
                found.append({key.strip(): self.plain(value, number) for key, _, value in pairs})
                self.at += 1
            else:
                within = indentation + len(text) - len(text[1:].lstrip())
                self.lines[self.at] = number, within, text[1:].lstrip()
                found.append(self.mapping(within))
        return found

    def mapping(self, indentation):
        found = {}
        while self.here(indentation):
            number, _, text = self.here(indentation)
            pair = re.fullmatch(r"([A-Za-z][\w-]*):(?: +(.*))?", text)
            if not pair or pair[1] in found:
                self.refuse(number)
            self.at += 1
            found[pair[1]] = self.plain(pair[2], number) if pair[2] else self.block(indentation)
        return found

    def plain(self, text, number):
        """A text on one line, perhaps in quotes."""
        quoted = re.fullmatch(r"""(["'])([^"'\\]*)\1""", text.strip())
        if not quoted and (text[:1] in "\"'&*!|>%@`[{" or " #" in text or not text.strip()):
            self.refuse(number)
        return quoted[2] if quoted else text.strip()


class Citation:
    """What CITATION.cff says of the suite and of the study, its first reference."""

    def __init__(self, path=FILE):
        content = Yaml(tsv.read_bytes(path), path)
        read = content.block() if content.lines else {}
        try:
            study = read["references"][0]
            self.title, self.message = read["title"], read["message"]
            self.authors = [author_name(author) for author in read["authors"]]
            self.study, self.year = study["title"], study["year"]
            self.study_authors = [author_name(author) for author in study["authors"]]
            self.first = study["authors"][0]["family-names"]
            self.venue = study["collection-title"]
        except (KeyError, IndexError, TypeError, AttributeError) as missing:
            raise tsv.TsvError(f"{path}: not to be understood as a citation: "
                               f"{type(missing).__name__} {missing}") from None


def author_name(author):
    """As BibTeX takes it: a person's names the last first, any other in braces."""
    if "family-names" in author:
        return f"{author['family-names']}, {author['given-names']}"
    return f"{{{author['name']}}}"


def version_of(run):
    """(version, commit) of the suite that measured a run, by the first line of its files; None
    for what it does not say."""
    for sections in run.files.values():
        for _, text in sections[0].comments if sections else ():
            found = re.match(r"\w+ ([\w.+-]+) \(commit ([^,)]+)", text)
            if found:
                return found.groups()
    return None, run.environment.get("suite_commit")


def measured_with(run):
    """GPU, driver, toolkit, day, in one phrase."""
    def value(key):
        return run.environment.get(key, "unknown")

    other = run.environment.get("cuda_toolkit_multi_grid")
    return (f"{value('gpu_count')} x {value('gpu')}, driver {value('driver')}, "
            f"CUDA {value('cuda_toolkit')}" + f" and {other}" * bool(other)
            + f", {value('date_utc')[:10]}")


def sentence(run, citation):
    """To copy into a text."""
    version, commit = version_of(run)
    of = " ".join(filter(None, (version, commit and f"(commit {commit})")))
    measured = "Simulated, not measured," if run.simulated else "Measured"
    return (f"{measured} with the {citation.title}{' ' * bool(of)}{of}, which follow the method of "
            f"{citation.first} et al. ({citation.year}), on {measured_with(run)}.")


BIBTEX = {letter: code for letter, code in TEX.items() if letter not in "{}–"}
BRACES = {"{": r"\textbraceleft{}", "}": r"\textbraceright{}"}


def bibtex_text(text):
    return text.translate(str.maketrans(BIBTEX))


def bibtex_literal(text):
    """The same of a file's text, whose braces need not pair."""
    return text.translate(str.maketrans({**BIBTEX, **BRACES}))


def entry(kind, key, fields):
    yield f"@{kind}{{{key},"
    yield from (f"  {name} = {{{value}}}," for name, value in fields.items())
    yield "}"


def suite_entry(part, citation):
    """The suite as it measured a run."""
    version, commit = version_of(part.run)
    measured = "simulated, not measured," if part.run.simulated else "measured"
    note = f"Commit {commit}; {measured}" if commit else measured.capitalize()
    name = re.sub("[^A-Za-z0-9]+", "-", part.name)
    return entry("misc", f"synchronization-{name}", {
        "author": bibtex_text(" and ".join(citation.authors)),
        "title": bibtex_text(f"{{{citation.title}}}"),
        "howpublished": bibtex_literal(f"Software, version {version}" if version else "Software"),
        "note": bibtex_literal(f"{note} on {measured_with(part.run)}")})


def study_entry(citation):
    return entry("inproceedings", f"{citation.first.lower()}{citation.year}", {
        name: bibtex_text(text) for name, text in (
            ("author", " and ".join(citation.study_authors)), ("title", f"{{{citation.study}}}"),
            ("booktitle", citation.venue), ("year", citation.year))})


def bibtex(parts, citation):
    """The lines of all entries."""
    for part in parts:
        yield from suite_entry(part, citation)
    yield from study_entry(citation)


def markdown(parts, citation):
    yield "## How to cite"
    yield ""
    yield literal(citation.message)
    yield ""
    yield from (f"* {literal(sentence(part.run, citation))}" for part in parts)
    yield ""
    yield "```bibtex"
    yield from bibtex(parts, citation)
    yield "```"
    yield ""


def page(parts, citation):
    """The part of report.html."""
    yield f'<h2 id="how-to-cite">How to cite</h2><p>{html.escape(citation.message)}</p><ul>'
    yield from (f"<li>{html.escape(sentence(part.run, citation))}</li>" for part in parts)
    yield f'</ul><div class="wide"><pre>{html.escape(chr(10).join(bibtex(parts, citation)))}</pre>'
    yield "</div>"


def as_json(parts, citation):
    return {"sentences": {part.name: sentence(part.run, citation) for part in parts},
            "bibtex": "\n".join(bibtex(parts, citation)) + "\n"}
