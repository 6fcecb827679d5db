"""What pages show of results/launches: lines of Markdown, made from rows of
ImplicitBarrier. Numbers are medians; a row whose interval the program warned of has a !."""

from pages.recorded import code, median, output, table_of
from reporting.sheets import markdown_table

MACHINES = {"h100x1": "1 H100", "h200x1": "1 H200", "h200x2": "2 H200"}
FULL = ("132", "1024")  # blocks and threads: one block on each SM of these GPUs
ONE = ("1", "32")
STEPS = ("132", "256")
FEW_STEPS = ("8", "256")  # of what does not fit otherwise: a cluster
WORKS = ("0", "1000", "5000", "20000")  # of a step, ns
SEAM_OF = "5000"
PART = 0.05  # of a step, below which its seam is said not to matter


def sections_of(machine):
    """{title: section}"""
    return {section.title: section for section in output(f"launches/{machine}")}


def find(section, shape, **cells):
    """The one row of a shape with these cells; None where there is none."""
    cells = {"blk": shape[0], "thrd": shape[1], **cells}
    if "work" in cells:
        cells["idea(wkld)"] = cells.pop("work")
    rows = section.find_all(**cells)
    return rows[0] if len(rows) == 1 else None


def text(number):
    if number != number:
        return "–"
    return f"{number:.{0 if abs(number) >= 100 else 1 if abs(number) >= 10 else 2}f}"


def cell(row, column, scale=1):
    """The median in units of `scale` ns."""
    if not row:
        return "–"
    return text(median(row, column) / scale) + " !" * bool(row.said("interval"))


def ways_of(sections):
    return dict.fromkeys(row["method"] for section in sections for row in section.rows)


def kernels(_runs):
    """Of each way and machine: alone in one stream, and once several were used."""
    machines = {title: sections_of(name) for name, title in MACHINES.items() if "x1" in name}
    sections = [of[title] for of in machines.values() for title in ("one stream", "sleep kernel")]
    return markdown_table(
        ["Way",
         *(f"{title}, {state}" for title in machines for state in ("one stream", "several"))], 1,
        [[code(way), *(cell(find(section, FULL, method=way, GPUCount="1"), "ovh")
                       for section in sections)] for way in ways_of(sections)])


def storing(_runs):
    """The second measurement, launch_observer_test.py, of kernels without stores and with."""
    rows = [row for row in table_of("launches/observer.h200x1") if row["streams"] == "several"]
    seen = {(row["way"], row["thrd"], row["storing"]): row for row in rows}
    return markdown_table(
        ["Way", *(f"{what}, {blocks} x {threads}" for blocks, threads in (ONE, FULL)
                  for what in ("ImplicitBarrier", "observer", "kernels that store"))], 1,
        [[code(way), *(cell for _, threads in (ONE, FULL) for cell in (
            seen[way, threads, "few"]["row"], seen[way, threads, "few"]["observer"],
            seen[way, threads, "all"]["observer"]))] for way in dict.fromkeys(row["way"] for row in rows)])


def ladder(_runs, names=tuple(MACHINES)):
    """Of each way and machine what a step takes, and from which work on its seam is under 5% of
    it."""
    machines = [sections_of(name)["dependent steps"] for name in names]
    rows = []
    for way in ways_of(machines):
        for shape, note in ((STEPS, ""), (FEW_STEPS, f", {FEW_STEPS[0]} blocks")):
            found = [{work: find(section, shape, method=way, work=work, reads="1")
                      for work in WORKS} for section in machines]
            if all(of[SEAM_OF] for of in found):
                rows.append([code(way) + note, *(
                    " / ".join(cell(of[work], "step") for of in found) for work in WORKS),
                    " / ".join(text(median(of[SEAM_OF], "seam") / 1000 * (1 / PART - 1))
                               for of in found)])
                break
    return markdown_table(["Way", *(f"{float(work) / 1000:g} us" for work in WORKS),
                           "small from, us"], 1, rows)


def ladder_of_h200(_runs):
    return ladder(_runs, names=("h200x1",))


def streams(_runs):
    """The levels of each kind of stream, of blocks of one warp, and how far processes differ."""
    machines = {title: sections_of(name)["streams"] for name, title in MACHINES.items()}
    kinds = dict.fromkeys((row["method"], row["stream"]) for row in machines["1 H100"].rows)

    def cells(row):
        return (f"{float(row['min(ovh)']):.0f} to {float(row['max(ovh)']):.0f}",
                f"{float(row['s_process(ovh)']):.0f}")

    return markdown_table(
        ["Way", "Stream", *(f"{title}, {what}" for title in machines for what in ("levels", "s"))],
        2,
        [[code(method), code(stream), *(
            text for section in machines.values()
            for text in cells(find(section, ONE, method=method, stream=stream)))]
         for method, stream in kinds])


def rounds(_runs):
    """Of each way to join two GPUs its round in microseconds."""
    section = sections_of("h200x2")["between GPUs"]
    unit = max((row["idea(wkld)"] for row in section.rows), key=int)  # one way has shorter work, too
    return markdown_table(["Way", "One GPU late", "Late in turn", "At once"], 1, [
        [code(way), *(cell(find(section, FULL, method=way, work=unit), column, 1000)
                              for column in ("late", "turns", "held"))]
        for way in ways_of([section])])


def graphs(_runs):
    """What graphs cost an H200 and its host, in microseconds."""
    section = sections_of("h200x1")["graphs"]
    columns = ("node", "seam", "inst", "upload", "first", "call", "update")
    return markdown_table(["Way", "Kernels", *(code(column) for column in columns)], 1, [
        [code(row["method"]), row["rep"],
         *(cell(row, column, 1000) for column in columns)]
        for row in section.rows if (row["blk"], row["thrd"]) == FULL])
