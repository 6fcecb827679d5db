#!/usr/bin/env python3
"""Which way costs least for steps that depend on each other, on one GPU or several?

  advise.py --work 5                       steps of 5 us on one H200
  advise.py --work 50 --gpus 2             on two
  advise.py --work 5 RUN...                from rows of other machines

RUN: a results folder, or a file of rows (--stats) of ImplicitBarrier, BenchmarkInterSM or
Reduction; without one, recorded rows of H200s. stdout: the ways, cheapest first, tab-separated:
us a step with its interval, how much of it synchronization takes, ms of all steps, from which
work on that is under 5%, and what a program has to fulfil. Ways that have no rows of this shape
are left out. Comments above say which ways are as good as the first, and how far predictions are
off in 95% of the cases to which nothing was fitted: steps of other works and blocks, and sums of
arrays. The larger error is the interval; single cases are further off.

Exit codes: 0 done; 1 output cannot be written; 2 bad usage, also rows that cannot be read.
"""

import argparse
import math
from pathlib import Path

from parts import command_line, tsv
from reporting.steps_model import NEEDS, NEEDS_OF_GPUS, Rows, Steps, Sums, percentile

RECORDED = Path(__file__).resolve().parent.parent / "results"
PART = 0.05  # of a step, below which a seam is said not to matter


def recorded(gpus):
    """The recorded rows of so many H200s, the newest first."""
    paths = [RECORDED / folder / f"h200x{gpus}.tsv" for folder in ("launches", "grid_barriers")]
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


def errors_of(steps, gpus):
    """(what of, 95th percentile, cases) of all predictions that rows can tell."""
    sums = Sums(steps)
    errors = {"steps": steps.errors_of_steps(), "sums": sums.errors_on_one()} if gpus == 1 else {
        "sums": sums.errors_on_several()}
    return [(what, *percentile(of_it)) for what, of_it in errors.items()]


def lines(options, steps):
    work, needs = 1e3 * options.work, NEEDS if options.gpus == 1 else NEEDS_OF_GPUS
    shape = options.blocks, options.threads
    ways = (steps.ways(not options.no_reads, *shape) if options.gpus == 1 else
            steps.ways_of_gpus(options.gpus, *shape, work))
    if not ways:
        raise tsv.TsvError(f"{steps.rows.where}: no rows of such steps")
    errors = [error for error in errors_of(steps, options.gpus) if error[2]]
    most = max((error for _, error, _ in errors), default=math.nan)
    ranked = sorted((way.step(work), method) for method, way in ways.items())
    best = [method for step, method in ranked[1:] if step <= ranked[0][0] * (1 + most)]
    yield (f"# {options.steps:g} steps of {options.work:g} us on {options.gpus} x {options.blocks} "
           f"blocks of {options.threads} threads")
    rounds = steps.rounds(options.gpus, *shape)
    measured = rounds if options.gpus > 1 else {method for method, _ in steps.measured}
    left_out = [method for method in needs if method in measured and method not in ways]
    if left_out:
        yield f"# no rows of such steps: {', '.join(left_out)}"
    if options.gpus > 1:
        yield "# peer_grid_sync: GPUs come at once and store nothing; others: each GPU late in turn"
    if not (steps.measured_at(*shape) if options.gpus == 1 else any(
            (row["blk"], row["thrd"]) == tuple(map(str, shape)) for row in rounds.values())):
        yield "# launches were not measured in this shape; theirs are of the nearest that was"
    for what, error, cases in errors:
        yield f"# error[rows={what} percent={100 * error:.1f} cases={cases}]"
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
    options = parser.parse_args()
    if options.threads > 1024:
        parser.error("argument --threads: a block has at most 1024")
    if options.gpus > 1 and options.no_reads:
        parser.error("argument --no-reads: only of one GPU")
    steps = Steps(Rows(options.run or recorded(options.gpus)))
    options.blocks = options.blocks or steps.rows.sms
    for line in lines(options, steps):
        print(line)
    return 0


if __name__ == "__main__":
    command_line.main(work, "advise.py")
