"""How to cite, for report.py: from CITATION.cff, and what a run was measured with."""

import re
from pathlib import Path

from parts import tsv
from reporting.blocks import Code, Heading, Items, Text
from reporting.sheets import TEX

FILE = Path(__file__).resolve().parents[2] / "CITATION.cff"


class Citation:
    """What CITATION.cff says of the suite and of the study, its first reference. It is a file of
    this repository, so that a few patterns are enough, and no reader of YAML is needed."""

    def __init__(self, path=FILE):
        text = tsv.read_bytes(path).decode("utf-8", errors="replace")
        suite, _, study = text.partition("\nreferences:\n")

        def field(of, key, value="[\"']?(.+?)[\"']?"):
            """All values of a key."""
            found = re.findall(rf"(?m)^[- {{]*{key}: +{value}$", of)
            if not found:
                raise tsv.TsvError(f"{path}: nothing says {key} of the "
                                   + ("suite" if of is suite else "study"))
            return found

        self.title, self.message = field(suite, "title")[0], field(suite, "message")[0]
        self.authors = [f"{{{name}}}" for name in field(suite, "name")]  # no person: not split
        self.study, self.year = field(study, "title")[0], field(study, "year")[0]
        self.venue = field(study, "collection-title")[0]
        names = field(study, "family-names", r"([^,}\n]+),?\s+given-names: ([^,}\n]+)}?")
        self.study_authors = [", ".join(name) for name in names]
        self.first = names[0][0]


def version_of(run):
    """(version, commit) of the suite that measured a run; None for what its files do not say."""
    for output in run.files.values():
        if output.program("version"):
            return output.program("version"), output.program("commit")
    return None, run.environment.get("suite_commit")


def measured_with(run):
    """GPU, driver, toolkit, day, in one phrase."""
    def value(key):
        return run.environment.get(key, "unknown")

    other = run.environment.get("cuda_toolkit_before13")
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


def blocks(parts, citation):
    """The part of the pages."""
    yield Heading(2, "How to cite", "how-to-cite")
    yield Text(citation.message)
    yield Items([sentence(part.run, citation) for part in parts])
    yield Code("bibtex", list(bibtex(parts, citation)))
