"""What the programs of a run warned of: in the rows' files and in stderr.log."""

from collections import Counter, defaultdict, namedtuple

from parts import tsv

LOG = "stderr.log"
EVERYWHERE = "does-not-fit"  # it is so on every GPU
FEW_GPUS = ("one-gpu", "too-few-gpus")  # tags of what needs another GPU

# section, line: of the row it is about, None where it is about none
Warned = namedtuple("Warned", "file section line text")


def log_lines(run):
    """None where the run has no log."""
    path = run.path / LOG
    if not path.exists():
        return None
    lines = tsv.read_bytes(path).decode(errors="replace").splitlines()
    return ["".join(letter if letter.isprintable() else "\ufffd" for letter in line)
            for line in lines]


def warned(run):
    """Every warning once: those of the files, then what the log has besides."""
    found, said = [], []  # said: file and annotation, without its text
    for file, output in run.files.items():
        for section, row, one in output.warnings():
            said.append((file, *one[:5]))
            found.append(Warned(f"{file}.tsv", section and section.title, row and row.line,
                                one.text))

    def is_known(line):
        """The log has each of them behind the name of its file."""
        file, _, comment = line.partition(": ")
        try:
            one = tsv.annotation_of(comment, LOG)
        except tsv.TsvError:
            return False
        return one is not None and one.tag != "" and (file, *one[:5]) in said

    return found + [Warned(LOG, None, None, line) for line in log_lines(run) or ()
                    if line.strip() and not is_known(line)]


def summed_up(run, found):
    """How many there are of each file, in a sentence."""
    missing = f" There is no {LOG}." if log_lines(run) is None else ""
    if not found:
        return f"The programs warned of nothing.{missing}"
    counts = Counter(one.file for one in found).items()
    return (f"{len(found)} in all: " + ", ".join(f"{count} in {file}" for file, count in counts)
            + f".{missing}")


HEAD = ("File", "Section", "Line", "Warning")


def cells(one):
    """Texts under HEAD."""
    return one.file, one.section or "–", "–" if one.line is None else str(one.line), one.text


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
        for said in sum((section.annotations for section in output), [*output.annotations]):
            if said.kind in ("warning", "skipped") and said.tag not in ("", EVERYWHERE):
                tag = FEW_GPUS[0] if said.tag in FEW_GPUS else said.tag
                found[said.kind, tag].append((file, said))
    for (kind, tag), told in sorted(found.items(), reverse=True):
        file, worst = max(told, key=lambda one: severity(one[1]))
        count = len({(file, said.method) for file, said in told})
        methods = f"{count} method{'s' * (count != 1)}"
        if kind == "skipped" and tag in FEW_GPUS:
            yield f"not measured: {methods}, for want of another GPU"
            continue
        what = " ".join((file, worst.method, *map("=".join, worst.cells.items()))).strip()
        yield ((f"warning: {tag}: {len(told)} in all; the worst" if kind == "warning" else
                f"not measured: {tag}: {len(told)} points of {methods}; the first")
               + f" is {what}: {worst.text}")
    if found:
        yield f"All of these are comments in {run.path}/*.tsv"
