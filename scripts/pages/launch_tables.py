"""What docs/launches.md shows of results/launches: lines of Markdown, made from rows of
ImplicitBarrier. Numbers are medians; a row whose interval the program warned of has a !."""

from parts import tsv
from reporting.sheets import coded, markdown_table
from reporting.study import FOLDER

MACHINES = {"h100x1": "1 H100", "h200x1": "1 H200", "h200x2": "2 H200"}
FULL = ("132", "1024")  # blocks and threads: one block on each SM of these GPUs
STEPS = ("132", "256")
PART = 0.05  # of a step, below which its seam is said not to matter


def sections_of(machine):
    """{title: section}"""
    path = FOLDER.parent / "launches" / f"{machine}.tsv"
    return {section.title: section for section in tsv.read(path)}


def find(section, shape, **cells):
    """The one row of a shape with these cells; None where there is none."""
    rows = [row for row in section.rows if (row["blk"], row["thrd"]) == shape
            and all(row[key.replace("work", "idea(wkld)")] == cell for key, cell in cells.items())]
    return rows[0] if len(rows) == 1 else None


def value(row, column, scale=1):
    """The median in units of `scale` ns."""
    return float(row[f"med({column})"]) / scale if row else float("nan")


def text(number):
    if number != number:
        return "–"
    return f"{number:.{0 if abs(number) >= 100 else 1 if abs(number) >= 10 else 2}f}"


def cell(section, row, column, scale=1):
    warned = row and section.said_of(row, "interval")
    return text(value(row, column, scale)) + (" !" if warned else "")


def ways_of(sections):
    return dict.fromkeys(row["method"] for section in sections for row in section.rows)


def one_more_kernel(_runs):
    """Of each way and machine: alone in one stream, and once several were used."""
    machines = {title: sections_of(name) for name, title in MACHINES.items() if "x1" in name}
    sections = [of[title] for of in machines.values() for title in ("one stream", "sleep kernel")]
    rows = [[coded(f"`{way}`"), *(
        cell(section, find(section, FULL, method=way, GPUCount="1"), "ovh")
        for section in sections)] for way in ways_of(sections)]
    return markdown_table(["Way", *(f"{title}, {state}" for title in machines
                                    for state in ("one stream", "several"))], 1, rows)


def ladder(_runs):
    """Of each way the seam of steps of 5 us, and from which work on it is under 5% of a step."""
    machines = {title: sections_of(name)["dependent steps"] for name, title in MACHINES.items()
                if "x1" in name}
    rows = []
    for way in ways_of(machines.values()):
        seams = [value(find(section, STEPS, method=way, work="5000", reads="1"), "seam")
                 for section in machines.values()]
        if any(seam == seam for seam in seams):
            rows.append([coded(f"`{way}`"), *(part for seam in seams for part in (
                text(seam), text(seam * (1 / PART - 1) / 1000)))])
    return markdown_table(["Way", *(f"{title}, {what}" for title in machines
                                    for what in ("seam, ns", "small from, us"))], 1, rows)


def rounds(_runs):
    """Of each way to join two GPUs its round in microseconds."""
    section = sections_of("h200x2")["between GPUs"]
    return markdown_table(["Way", "One GPU late", "Late in turn", "At once"], 1, [
        [coded(f"`{way}`"), *(cell(section, find(section, FULL, method=way), column, 1000)
                              for column in ("late", "turns", "held"))]
        for way in ways_of([section])])


def graphs(_runs):
    """What graphs cost an H200 and its host, in microseconds."""
    section = sections_of("h200x1")["graphs"]
    columns = ("node", "seam", "inst", "upload", "first", "call", "update")
    return markdown_table(["Way", "Kernels", *(coded(f"`{column}`") for column in columns)], 1, [
        [coded(f"`{row['method']}`"), row["rep"],
         *(cell(section, row, column, 1000) for column in columns)]
        for row in section.rows if (row["blk"], row["thrd"]) == FULL])
