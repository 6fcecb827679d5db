#!/usr/bin/env python3
"""Which way costs least for steps that depend on each other, on one GPU or several?

  advise.py --work 5                       steps of 5 us on one H200
  advise.py --work 50 --gpus 2             on two
  advise.py --work 5 --words 100000        where so many words go from block to block
  advise.py --work 5 RUN...                from rows of other machines

RUN: a results folder, or a file of rows (--stats) of ImplicitBarrier, BenchmarkInterSM, Reduction or
Stencil; without one, recorded rows of H200s. stdout: the ways, cheapest first, tab-separated:
us a step with its interval, how much of it synchronization takes, ms of all steps, from which
work on that is under 5%, and what a program has to fulfil. Ways that have no rows of this shape
are left out. Without --words each block reads one word of another's, and GPUs exchange none.

Comments above say which ways are as good as the first, and how far predictions are off in 95% of
the cases to which nothing was fitted, with the files of these: steps of other works and blocks, sums
of arrays, and with --words numbers of words. The largest of these errors is the interval; single
cases are further off. So are time steps of Stencil, whose work is not given but that of the kernel
without a barrier: their error is said, and is not in the interval.

Exit codes: 0 done; 1 output cannot be written; 2 bad usage, also rows that cannot be read.
"""

import argparse
import math
import re
from pathlib import Path

from parts import command_line, tsv
from reporting import field_model, words_model
from reporting.steps_model import LADDER, NEEDS, NEEDS_OF_GPUS, Rows, Steps, Sums, percentile
from reporting.words_model import NEEDS_OF_EXCHANGES, Words

RECORDED = Path(__file__).resolve().parent.parent / "results"
STENCIL = "Stencil"
PART = 0.05  # of a step, below which a seam is said not to matter


def recorded(gpus):
    """The recorded rows of so many H200s, the newest first."""
    paths = [RECORDED / folder / f"h200x{gpus}.tsv" for folder in ("launches", "grid_barriers", "stencil")]
    return [path for path in (*paths, RECORDED / f"h200x{gpus if gpus < 3 else 4}")
            if path.exists()]


def number(text):
    """The type of options that count or are in us."""
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value <= 1e6:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1000000, not '{text}'")
    return value


def whole(text):
    """The type of numbers of words."""
    if not re.fullmatch("[1-9][0-9]{0,8}", text):
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to 999999999, not '{text}'")
    return int(text)


def errors_of(steps, gpus, words):
    """(what of, titles of its rows, 95th percentile, cases) of all predictions that rows can tell.
    words: a Words, or None"""
    sums = Sums(steps)
    errors = [("steps", [LADDER], steps.errors_of_steps()),
              ("sums", ["one GPU"], sums.errors_on_one())] if gpus == 1 else [
        ("sums", ["strong scaling"], sums.errors_on_several())]
    if words:
        title = words_model.TITLES[min(gpus, 2)]
        errors += [("words", [title], words.errors_of_words()),
                   ("exchanges", [words_model.EXCHANGES], words.errors_of_exchanges())][:gpus]
    return [(what, titles, *percentile(of_it)) for what, titles, of_it in errors]


def error_on_fields(steps, gpus):
    """The same of time steps of Stencil on so many GPUs."""
    of_gpus = [ways for (_, count), ways in field_model.Fields(steps).steps.items() if count == gpus]
    return (STENCIL, list(field_model.TITLES), *percentile(
        step.predicted / step.measured - 1 for ways in of_gpus for cells in ways.values()
        for step in cells.values() if step.predicted is not None))


def shown(file):
    """A recorded one by where it stands in the project."""
    return file.removeprefix(f"{RECORDED.parent}/")


def lines(options, steps):
    work, needs = 1e3 * options.work, NEEDS if options.gpus == 1 else NEEDS_OF_GPUS
    words = Words(steps, options.gpus) if options.words else None
    shape = options.blocks, options.threads
    ways = (steps.ways(not options.no_reads, *shape) if options.gpus == 1 else
            steps.ways_of_gpus(options.gpus, *shape, work))
    if words:
        of_thread = words.of_thread(options.words, *shape)
        ways = {**words.ways(ways, *shape, of_thread), **words.exchanges(options.words)}
        needs = {**needs, **NEEDS_OF_EXCHANGES}
    if not ways:
        raise tsv.TsvError(f"{steps.rows.where}: no rows of such steps" + (
            f", {of_thread} words a thread" if words else ""))
    errors = errors_of(steps, options.gpus, words)
    most = max((error for *_, error, cases in errors if cases), default=math.nan)
    ranked = sorted((way.step(work), method) for method, way in ways.items())
    best = [method for step, method in ranked[1:] if step <= ranked[0][0] * (1 + most)]
    yield (f"# {options.steps:g} steps of {options.work:g} us on {options.gpus} x {options.blocks} "
           f"blocks of {options.threads} threads")
    rounds = steps.rounds(options.gpus, *shape)
    measured = rounds if options.gpus > 1 else {method for method, _ in steps.measured}
    left_out = [method for method in needs if method in measured and method not in ways]
    if left_out:
        yield f"# no rows of such steps: {', '.join(left_out)}"
    if words:
        yield (f"# {options.words} words of each GPU, at most {of_thread} a thread; what has no rows "
               f"of so many takes as much more for them as {words.usual}")
        if any(method in ways for method in NEEDS_OF_EXCHANGES):
            yield "# exchange_...: by the blocks that have words; others wait by a barrier of their own"
    elif options.gpus > 1:
        yield "# peer_grid_sync: GPUs come at once and store nothing; others: each GPU late in turn"
    if not (steps.measured_at(*shape) if options.gpus == 1 else any(
            (row["blk"], row["thrd"]) == tuple(map(str, shape)) for row in rounds.values())):
        yield "# launches were not measured in this shape; theirs are of the nearest that was"
    for what, titles, error, cases in (*errors, error_on_fields(steps, options.gpus)):
        if cases:
            yield (f"# error[rows={what} percent={100 * error:.1f} cases={cases}]: "
                   + ", ".join(map(shown, steps.rows.files_of(titles))))
    yield f"# fastest: {ranked[0][1]}"
    if best:
        yield f"# predicted within this error of it: {', '.join(best)}"
    yield "\t".join(("way", "us(step)", "us(low)", "us(high)", "share(%)", "ms(all)",
                     "us(under 5%)", "needs"))
    for step, method in ranked:
        times = step, max(step * (1 - most), work), step * (1 + most)  # nan first
        yield "\t".join((method, *(f"{time / 1e3:.2f}" for time in times),
                         f"{100 * (1 - work / step):.0f}" if step else "nan",
                         f"{step * options.steps / 1e6:.3f}",
                         f"{ways[method].seam * (1 / PART - 1) / 1e3:.0f}", needs[method]))


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("run", nargs="*", metavar="RUN")
    parser.add_argument("--work", type=number, required=True, metavar="US",
                        help="microseconds of work a step")
    parser.add_argument("--steps", type=number, default=1000, metavar="N",
                        help="how many steps, 1000 unless given")
    parser.add_argument("--gpus", type=command_line.count, default=1, metavar="N",
                        help="GPUs, one unless given")
    parser.add_argument("--blocks", type=command_line.count, metavar="N",
                        help="blocks on each GPU, one per SM unless given")
    parser.add_argument("--threads", type=command_line.count, default=256, metavar="N",
                        help="threads of a block, 256 unless given")
    parser.add_argument("--no-reads", action="store_true",
                        help="a step reads only what its own block wrote; on one GPU")
    parser.add_argument("--words", type=whole, metavar="N",
                        help="words of 4 bytes that each GPU's threads store for others in a step")
    options = parser.parse_args()
    if options.threads > 1024:
        parser.error("argument --threads: a block has at most 1024")
    if options.gpus > 1 and options.no_reads:
        parser.error("argument --no-reads: only of one GPU")
    if options.words and options.no_reads:
        parser.error("argument --words: not with --no-reads")
    # Of four words, one GPU of two has recorded rows.
    steps = Steps(Rows(options.run or recorded(max(options.gpus, 2 if options.words else 1))))
    options.blocks = options.blocks or steps.rows.sms
    for line in lines(options, steps):
        print(line)
    return 0


if __name__ == "__main__":
    command_line.main(work, "advise.py")
