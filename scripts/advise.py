#!/usr/bin/env python3
"""Which way costs least for steps that depend on each other, on one GPU?

  advise.py --work 5 [RUN]      steps of 5 us, from the rows of RUN

RUN is a results folder, or a file of ImplicitBarrier's rows (--stats); without one it is
results/launches/h200x1.tsv. stdout: the ways, cheapest first, tab-separated: us a step, how much
of it synchronization takes, ms of all steps, from which work on that is under 5%, and what a
program has to fulfil. Comments above say which ways are as good as the first, and how far the
prediction is off in 95% of the rows to which it was not fitted: those of works between the
shortest and the longest, and of blocks between the fewest and the most.

Exit codes: 0 done; 1 output cannot be written; 2 bad usage, also rows that cannot be read.
"""

import argparse
from pathlib import Path

from parts import command_line, tsv
from reporting.steps_model import NEEDS, TITLE, Steps

RECORDED = Path(__file__).resolve().parent.parent / "results/launches/h200x1.tsv"
PART = 0.05  # of a step, below which a seam is said not to matter


def number(text):
    """The type of options that count or are in us."""
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value <= 1e6:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1000000, not '{text}'")
    return value


def lines(steps, options):
    ways = steps.ways(not options.no_reads, options.blocks)
    error, cases = steps.error()
    work = 1e3 * options.work
    ranked = sorted((way.step(work), method) for method, way in ways.items())
    best = [method for step, method in ranked if step <= ranked[0][0] * (1 + error)]
    reads = "only its own block" if options.no_reads else "other blocks"
    yield (f"# {options.steps:g} steps of {options.work:g} us on {options.blocks} blocks; each reads "
           f"what {reads} wrote")
    yield f"# error[percent={100 * error:.1f} cases={cases}]"
    yield f"# fastest within this error: {', '.join(best)}"
    yield "\t".join(("way", "us(step)", "share(%)", "ms(all)", "us(under 5%)", "needs"))
    for step, method in ranked:
        yield "\t".join((method, f"{step / 1e3:.2f}", f"{100 * (1 - work / step):.0f}",
                         f"{step * options.steps / 1e6:.3f}",
                         f"{ways[method].seam * (1 / PART - 1) / 1e3:.0f}", NEEDS[method]))


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("run", nargs="?", default=RECORDED, type=Path, metavar="RUN")
    parser.add_argument("--work", type=number, required=True, metavar="US",
                        help="microseconds of work a step")
    parser.add_argument("--steps", type=number, default=1000, metavar="N",
                        help="how many steps, 1000 unless given")
    parser.add_argument("--blocks", type=command_line.count, default=132, metavar="N",
                        help="blocks of the grid, 132 unless given")
    parser.add_argument("--no-reads", action="store_true",
                        help="a step reads only what its own block wrote")
    options = parser.parse_args()
    path = options.run / "ImplicitBarrier.tsv" if options.run.is_dir() else options.run
    sections = [section for section in tsv.read(path) if section.title == TITLE]
    if not sections:
        raise tsv.TsvError(f"{path}: there is no section {TITLE}")
    steps = Steps(sections[0])
    if options.blocks > steps.most_blocks:
        parser.error(f"argument --blocks: {path} has rows of at most {steps.most_blocks}")
    for line in lines(steps, options):
        print(line)
    return 0


if __name__ == "__main__":
    command_line.main(work, "advise.py")
