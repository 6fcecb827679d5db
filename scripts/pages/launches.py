"""What pages show of rows of ImplicitBarrier: lines of Markdown. Numbers are medians; a row whose
interval the program warned of has a !."""

from pages import recorded
from pages.recorded import code, heading, largest, median, of_today
from reporting.sheets import markdown_table

FILE = "ImplicitBarrier"
FULL = ("132", "1024")  # blocks and threads: one block on each SM of these GPUs
ONE = ("1", "32")
STEPS = ("132", "256")
FEW_STEPS = ("8", "256")  # of what does not fit otherwise: a cluster
WORKS = ("0", "1000", "5000", "20000")  # of a step, ns
SEAM_OF = "5000"
PART = 0.05  # of a step, below which its seam is said not to matter


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


def kernels(runs):
    """Of each way and machine: alone in one stream, and once several were used."""
    runs = of_today(runs, 1)
    sections = [run.section(FILE, title) for run in runs for title in ("one stream", "sleep kernel")]
    return markdown_table(
        ["Way", *(f"{heading(run)}, {state}" for run in runs for state in ("one stream", "several"))],
        1, [[code(way), *(cell(find(section, FULL, method=way, GPUCount="1"), "ovh")
                          for section in sections)] for way in ways_of(sections)])


def ladder(runs):
    """Of each way and machine what a step takes, and from which work on its seam is under 5% of
    it."""
    machines = [run.section(FILE, "dependent steps") for run in of_today(runs)]
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


def ladder_of_h200(runs):
    return ladder([run for run in runs if run.path.name == "h200x1"])


def machines(runs):
    return recorded.machines(of_today(runs))


def streams(runs):
    """The levels of each kind of stream, of blocks of one warp, and how far processes differ."""
    machines = {heading(run): run.section(FILE, "streams") for run in of_today(runs)}
    kinds = dict.fromkeys((row["method"], row["stream"])
                          for section in machines.values() for row in section.rows)

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


def rounds(runs):
    """Of each way to join two GPUs its round in microseconds."""
    section = largest(runs)[0].section(FILE, "between GPUs")
    unit = max((row["idea(wkld)"] for row in section.rows), key=int)  # one way has shorter work, too
    return markdown_table(["Way", "One GPU late", "Late in turn", "At once"], 1, [
        [code(way), *(cell(find(section, FULL, method=way, work=unit), column, 1000)
                              for column in ("late", "turns", "held"))]
        for way in ways_of([section])])


def graphs(runs):
    """What graphs cost an H200 and its host, in microseconds."""
    section = of_today(runs, 1)[0].section(FILE, "graphs")
    columns = ("node", "seam", "inst", "upload", "first", "call", "update")
    return markdown_table(["Way", "Kernels", *(code(column) for column in columns)], 1, [
        [code(row["method"]), row["rep"],
         *(cell(row, column, 1000) for column in columns)]
        for row in section.rows if (row["blk"], row["thrd"]) == FULL])
