"""What the programs of a run warned of, in the comments of their files."""

from collections import defaultdict

EVERYWHERE = "does-not-fit"  # it is so on every GPU
FEW_GPUS = ("one-gpu", "too-few-gpus")  # tags of what needs another GPU


def count(run):
    return sum(len(output.warnings()) for output in run.files.values())


def severity(said):
    """How bad an Annotation is beside others of its tag."""
    values = said.values
    if {"from", "to"} <= values.keys():
        return abs(said.number("to") / said.number("from") - 1)
    if {"mhz", "full"} <= values.keys():
        return 1 - said.number("mhz") / said.number("full")
    return said.number("percent") if "percent" in values else 0


def joined(run):
    """What all programs together warned of and did not measure, a line each kind; for who
    looks at the terminal."""
    found = defaultdict(list)  # (kind, tag) -> (file, Annotation)
    for file, output in run.files.items():
        for said in output.said():
            if said.kind in ("warning", "skipped") and said.tag not in ("", EVERYWHERE):
                tag = FEW_GPUS[0] if said.tag in FEW_GPUS else said.tag
                found[said.kind, tag].append((file, said))
    for (kind, tag), told in sorted(found.items(), reverse=True):
        file, worst = max(told, key=lambda one: severity(one[1]))
        several = len({(file, said.method) for file, said in told})
        methods = f"{several} method{'s' * (several != 1)}"
        if kind == "skipped" and tag in FEW_GPUS:
            yield f"not measured: {methods}, for want of another GPU"
            continue
        what = " ".join((file, worst.method, *map("=".join, worst.cells.items()))).strip()
        yield ((f"warning: {tag}: {len(told)} in all; the worst" if kind == "warning" else
                f"not measured: {tag}: {len(told)} points of {methods}; the first")
               + f" is {what}: {worst.text}")
