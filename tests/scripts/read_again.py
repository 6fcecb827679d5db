"""What damage_test.py holds the scripts' output against: the files of a folder read once more, by
as little as that takes, and what each reader has to show of them."""

import re
from collections import Counter, defaultdict

SUMMARY_COLUMNS = {  # of summary.py: digits and factor
    "m(ovh)": (0, 1), "s(ovh)": (0, 1), "m(ave_cycle)": (1, 1), "m(avginstru)": (2, 1e-3),
    "m(GB/s)": (0, 1), "m(op)": (2, 1e-3)}


class Found(dict):
    """Column -> text of a row; line, file, section: where it stands."""

    def __init__(self, header, cells, file, section, line):
        super().__init__(zip(header, cells))
        self.file, self.section, self.line = file, section, line


def rows_of(files):
    """Of {name: bytes}."""
    found = []
    for name, data in files.items():
        if name == "environment.tsv" or not name.endswith(".tsv"):
            continue
        title, section, header = "", "", []
        for number, line in enumerate(data.decode("utf-8-sig").split("\n"), 1):
            cells = line.rstrip("\r").split("\t")
            if line.startswith("#"):
                title = line[1:].split(":")[0].strip()
            elif cells[0] == "method":
                section, header = title, cells
            elif line:
                found.append(Found(header, cells, name, section, number))
    return found


def environment_of(files):
    lines = files["environment.tsv"].decode("utf-8-sig").replace("\r", "").split("\n")
    return dict(line.split("\t") for line in lines if line)


def means_of(files):
    """(file, section, method) -> how often each text of each mean stands there"""
    means = defaultdict(list)
    for row in rows_of(files):
        texts = {cell for column, cell in row.items() if column.startswith("m(")}
        if texts and not row.file.startswith("Pitfalls"):
            means[row.file[:-4], row.section, row["method"]].append(texts)
    return means


def wrong_in_comparison(output, files):
    """What compare.py --all shows as B that these files do not have, or None."""
    known, shown, only = means_of(files), Counter(), "# only in B: "
    rows = [line.split("\t") for line in output.splitlines() if not line.startswith("#")]
    if not known or "B" not in rows[0]:
        return "no table"
    for cells in rows[1:]:
        key, value = tuple(cells[:3]), cells[rows[0].index("B")]
        shown[key] += 1
        if not any({"-": "nan"}.get(value, value) in texts for texts in known.get(key, ())):
            return f"{key} {value}"
    shown.update(tuple(line[len(only):].split("\t")[:3]) for line in output.splitlines()
                 if line.startswith(only))
    missing = {key: len(rows) for key, rows in known.items() if shown[key] != len(rows)}
    return missing or None


def wrong_in_summary(output, files):
    """A number of a method that no row of it has, or None."""
    allowed = defaultdict(set)
    for row in rows_of(files):
        for column, (digits, factor) in SUMMARY_COLUMNS.items():
            if column in row:
                allowed[row["method"]].add(f"{float(row[column]) * factor:.{digits}f}")
    for line in output.split("\nWarnings of the run")[0].splitlines():
        method = None
        head = not line.startswith("  ") or "blocks per SM x threads" in line
        for text in () if head else re.split("  +", line.strip()):
            first = text.split()[0].rstrip(",") if text else ""
            if first in allowed and re.match("[A-Za-z]", text):
                method = first
                continue
            for part in re.split(" ± ", text) if method else ():
                if re.fullmatch(r"-?[0-9.]+|nan", part.rstrip("!?")) and (
                        part.rstrip("!?") not in allowed[method]):
                    return line
    return None


def near(one, other):
    return abs(one - other) <= 1e-9 * max(abs(one), abs(other))


def stands_in(value, row, environment):
    """Whether a value is one of a row's, perhaps in another unit."""
    factors = [1, 1e-3]
    set_to = re.match(r"([1-9]\d*) MHz", environment.get("sm_clock_application", ""))
    if set_to:
        factors.append(1e3 / float(set_to[1]))
    for column, factor in (("clock", lambda clock: 1e3 / clock), ("rep", lambda rep: 1 / rep)):
        if float(row.get(column, "nan")) > 0:
            factors.append(factor(float(row[column])))
    numbers = [float(cell) for cell in row.values() if re.fullmatch(r"-?[0-9.]+", cell)]
    return any(near(value, number * factor) for number in numbers for factor in factors)


def values_in(figures):
    """(value, file, section, line) of all in files of figures that is of one row."""
    for line in (line for text in figures for line in text.splitlines()[2:]):
        *_, value, _, _, source = line.split("\t")
        found = re.fullmatch(r"([\w.]+\.tsv), ([^;]*), line (\d+)", source)
        if found:
            yield float(value), found[1], found[2], int(found[3])


def wrong_in_report(figures, normal, files):
    """What figures and normal.tsv have that these files do not, or None."""
    rows = {(row.file, row.line): row for row in rows_of(files)}
    environment = environment_of(files)
    for value, file, section, line in values_in(figures):
        row = rows.get((file, line))
        if row is None or row.section != section or not stands_in(value, row, environment):
            return value, file, line
    head, *lines = [line.split("\t") for line in normal.splitlines()]
    seen = set()
    for line in lines:
        one = dict(zip(head, line))
        if one["verdict"] == "not in this run":
            continue
        row = rows[f"{one['file']}.tsv", int(one["line"])]
        seen.add((row.file, row.line))
        if row[f"m({one['quantity']})"] != one["value"] or row["method"] != one["method"]:
            return one
    lacking = {key for key, row in rows.items() if not row.file.startswith("Pitfalls")
               and any(column.startswith("m(") for column in row)} - seen
    return lacking or None
