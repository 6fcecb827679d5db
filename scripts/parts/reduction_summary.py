"""The part of summary.py about Reduction."""

from parts import tsv
from reporting.estimates import short_text
from reporting.switch_model import predicted
from parts.tables import grid

SUMMED, SIZES = "float", (2 ** 20, 2 ** 24, 2 ** 28, 2 ** 32)  # which arrays are shown


def size_name(bytes_):
    """16777216: "16 MiB" """
    unit = min(3, (int(bytes_).bit_length() - 1) // 10)
    return f"{int(bytes_) / 1024 ** unit:g} {('B', 'KiB', 'MiB', 'GiB')[unit]}"


def sums_on_one_gpu(run):
    """Each way by the size of the array."""
    section = run.section("Reduction", "one GPU")
    rows = [row for row in section.rows if row.get("type") == SUMMED]
    sizes = sorted({row.whole("bytes") for row in rows})
    sizes = [size for size in sizes if size in SIZES or size == sizes[-1]]
    theory = section.find(method="theory")
    if theory:
        yield f"  the memory's clock and width allow {float(theory['m(GB/s)']):.0f} GB/s"
    yield from grid("one GPU", map(size_name, sizes), [
        (method, [short_text(run, section, section.find(
            method=method, type=SUMMED, bytes=str(size)), "m(GB/s)", 0) for size in sizes])
        for method in dict.fromkeys(row["method"] for row in rows)])


def sums_on_several_gpus(run):
    """Each way at the largest size, by GPUs."""
    for title, each in (("strong scaling", ""), ("weak scaling", " each")):
        tables = [(section, section.find_all(type=SUMMED))
                  for section in (run.section(file, title) for file in tsv.REDUCTIONS)]
        all_rows = [row for _, rows in tables for row in rows]
        counts = sorted({row.whole("GPUcount") for row in all_rows})
        if len(counts) < 2:
            continue
        largest = max(row.whole("bytes") // (row.whole("GPUcount") if each else 1)
                      for row in all_rows)
        yield from grid(f"{title}, {size_name(largest)}{each}", [
            f"{n} GPU" + "s" * (n > 1) for n in counts], [
            (method, [short_text(run, section, section.find(
                method=method, type=SUMMED, GPUcount=str(gpus),
                bytes=str(largest * (gpus if each else 1))), "m(GB/s)", 0) for gpus in counts])
            for section, rows in tables for method in dict.fromkeys(row["method"] for row in rows)])


def sums_of_one_warp(run):
    sections = [run.section(file, "warp level") for file in tsv.REDUCTIONS]
    sections = [section for section in sections if section.rows]
    types = list(dict.fromkeys(row["type"] for section in sections for row in section.rows))
    names = dict.fromkeys(row["method"] for section in sections for row in section.rows)

    def cell(method, name):
        texts = [short_text(run, section, section.find(method=method, type=name),
                              "m(ave_cycle)", 1) for section in sections]
        return "-" if set(texts) == {"-"} else " / ".join(texts)

    yield from grid("32 values by a warp, cycles", types, [
        (method, [cell(method, name) for name in types]) for method in names])


def switching_points(run):
    """Where more threads become faster: as predicted from each cost, and as measured."""
    section = run.section("Reduction", "switching points")
    loops = run.section("Reduction", "shared memory")
    costs = list(dict.fromkeys(row["cost"] for row in section.rows))

    def cells(shape):
        rows = [section.find(**shape, cost=cost) for cost in costs]
        for row in rows:
            model = row and predicted(loops, row)
            yield "-" if model is None else "never" if model.case == "never" else f"{model.bytes:.0f}"
        never = rows[0] is not None and rows[0]["measured"] == "nan"
        yield "never" if never else short_text(run, section, rows[0], "measured", 0).rstrip("!")

    shapes = [{key: row[key] for key in ("type", "basic", "more")} for row in section.rows
              if row["cost"] == costs[0]]
    yield from grid("more threads pay from, bytes", [f"by {cost}" for cost in costs] + ["measured"],
                    [(f"{shape['type']}, {shape['more']} threads for {shape['basic']}",
                      list(cells(shape))) for shape in shapes])


def lines(run):
    yield f"Sums, of {SUMMED} where not said, in GB/s (Reduction: m(GB/s))"
    for part in (sums_on_one_gpu, sums_on_several_gpus, sums_of_one_warp, switching_points):
        yield from part(run)
