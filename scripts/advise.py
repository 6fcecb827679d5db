#!/usr/bin/env python3
"""Which way costs least for steps that depend on each other, on one GPU or several?

  advise.py --work 5                       steps of 5 us on one H200
  advise.py --work 50 --gpus 2             on two
  advise.py --work 5 --gpu H100            by recorded rows of H100s
  advise.py --work 5 RUN...                by rows of another machine

RUN: a results folder, or a file of rows (--stats) of ImplicitBarrier, BenchmarkInterSM
or BenchmarkIntraSM, all of one kind of GPU; without one, recorded rows. On one GPU each block reads
one word of another's; GPUs exchange none.

The first line names the simplest way within 5% of the fastest.

Columns, the cheapest way first, aligned on a terminal, else separated by tabs:
  way           how one step follows another; --list of the programs explains each
  us(step)      what a step is predicted to take
  us(low), us(high)   what is not work may be 1.5 times as long as predicted, or as short
  share(%)      part of a step that is not its work
  us(under 5%)  work of a step from which on that part is under 5%
  needs         what a program has to fulfil

Comments above say which ways have no rows, or only rows of other work, and how far the host's pace
differs between recorded machines. Nine of ten steps that nothing was fitted to are between us(low)
and us(high): of other works, blocks and machines, of Stencil and of a program of others. Two ways are
too close to tell where the us(step) of one is within the interval of the other.

Exit codes: 0 done; 1 output cannot be written; 2 bad usage, also rows that cannot be read.
"""

import argparse
import functools
import itertools
import math
import sys
from pathlib import Path

from parts import command_line, tables, tsv
from reporting.estimates import many
from reporting.normal import recorded_paths
from reporting.steps_model import (BARRIERS_OF_GPUS, IN_ONE_BLOCK, LADDER, NEEDS, NEEDS_OF_GPUS, ROUNDS,
                                   THREADS, Rows, Steps)

RECORDED = Path(__file__).resolve().parent.parent / "results"
BY_HOST = ("traditional_launch", "programmatic_launch", "launch_and_wait")  # its pace is theirs
PART = 0.05  # of a step, below which a seam is said not to matter
TIMES = 1.5  # as long as predicted, or as short, may be what is not work
PROGRAMS = {LADDER: "ImplicitBarrier", ROUNDS: "ImplicitBarrier", BARRIERS_OF_GPUS: "BenchmarkInterSM"}


def recorded(kind, gpus):
    """The path of the recorded run of a kind with so many GPUs, or the next that has more, or most."""
    found = {int(path.name.rpartition("x")[2]): path for path in recorded_paths(RECORDED)
             if path.name.startswith(f"{kind}x")}
    return found[min((count for count in found if count >= gpus), default=max(found))]


def kind_of_gpu(text):
    """The type of the option."""
    kinds = sorted({path.name.partition("x")[0] for path in recorded_paths(RECORDED)})
    if text.lower() not in kinds:
        raise argparse.ArgumentTypeError(f"must be one of {', '.join(kinds).upper()}, not '{text}'")
    return text.lower()


def number(text):
    """The type of options in us."""
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value <= 1e6:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1000000, not '{text}'")
    return value


def is_launch(method):
    return not method.startswith(("steps_", "in_use_", "peer_grid_sync"))


def shown(file):
    """Recorded ones by where they stand in the project."""
    return file.replace(f"{RECORDED.parent}/", "")


class Advice:
    """What is said for given options."""

    def __init__(self, options, steps):
        self.options, self.steps, self.gpus = options, steps, options.gpus
        self.shape, self.work = (options.blocks, options.threads), 1e3 * options.work
        self.needs = NEEDS if self.gpus == 1 else NEEDS_OF_GPUS
        self.ways, self.long = (steps.ways(self.gpus, *self.shape, work)
                                for work in (self.work, math.inf))
        if not self.ways:
            raise tsv.TsvError(f"{shown(steps.rows.where)}: {self.why_none()}")
        self.launches = [method for method in self.ways if is_launch(method)]

    def why_none(self):
        titles = {LADDER} if self.gpus == 1 else {BARRIERS_OF_GPUS, ROUNDS}
        missing = sorted(titles - self.steps.rows.sections.keys())
        most = self.steps.most_gpus()
        if most < self.gpus and len(missing) < len(titles):
            return f"no rows of {self.gpus} GPUs, only of up to {most}"
        if missing:
            return "the rows lack " + ", ".join(
                f"the section '{title}' of {PROGRAMS[title]}" for title in missing)
        return f"no rows of {self.of_shape()} on {many(self.gpus)}"

    def of_shape(self):
        return f"{self.options.blocks} blocks of {self.options.threads} threads"

    def left_out(self):
        """Comments on ways that are not ranked, or ranked by rows of other work."""
        found, known = {}, self.steps.known(self.gpus)
        for method in self.needs:
            if method == IN_ONE_BLOCK:  # comments() tells of it
                continue
            works = self.steps.seams(method, self.gpus, *self.shape) if self.gpus > 1 else ()
            shorter = works and self.work < min(works)
            if shorter and self.steps.pace(method, self.gpus, *self.shape) is None:
                why = f"measured only at {', '.join(f'{of / 1e3:g}' for of in sorted(works))} us of work"
            elif method not in self.ways:
                why = f"no rows of {self.of_shape()}" if method in known else (
                    f"no rows on {many(self.gpus)}")
            elif works and not min(works) <= self.work <= max(works):
                nearest = min(works) if shorter else max(works)
                why = f"extrapolated from rows of {nearest / 1e3:g} us of work"
            else:
                continue
            found.setdefault(why, []).append(method)
        return [f"# {why}: {', '.join(methods)}" for why, methods in found.items()]

    def other_shape(self):
        """Whether launches are ranked by rows of another shape."""
        if self.gpus == 1:
            return self.launches and not self.steps.measured_at(*self.shape)
        return any((int(row["blk"]), int(row["thrd"])) != self.shape for method in self.launches
                   for row in self.steps.rounds(method, self.gpus, *self.shape))

    def comments(self):
        options = self.options
        (first, fastest), *others = ranked = self.ranked()
        near = [method for step, method in ranked if step <= (1 + PART) * first]
        yield (f"# take[way={min(near, key=list(self.needs).index)} fastest={fastest}]: "
               + (f"the simplest way within {PART:.0%} of the fastest" if others else
                  "the only way with rows"))
        if self.gpus == options.blocks == 1 and IN_ONE_BLOCK not in self.ways:
            yield "# one block: `__syncthreads()` in a loop costs less than these; no row says what"
        high = self.interval(fastest)[1]
        close = [method for step, method in others
                 if step <= high or self.interval(method)[0] <= first]
        if close:
            yield f"# too close to the fastest to tell: {', '.join(close)}"
        gpu = self.steps.rows.gpu or "GPUs without a name"
        yield (f"# steps of {options.work:g} us on {self.gpus} x {options.blocks} "
               f"blocks of {options.threads} threads, by rows of {gpu}")
        yield from self.left_out()
        if self.gpus > 1 and set(self.launches) - {THREADS}:
            yield (f"# by launches but {THREADS}, each GPU is late in turn; "
                   "by other ways all come at once")
        if self.other_shape():
            yield "# launches were not measured in this shape; theirs are of the nearest that was"
        yield from self.paces()

    def paces(self):
        """Comments on how far the host's pace differs between recorded machines."""
        files = (path / "ImplicitBarrier.tsv" for path in recorded_paths(RECORDED))
        machines = [machine for machine in (Steps(Rows([file])).measured for file in files) if machine]
        for way in BY_HOST if self.gpus > 1 else sorted(set(BY_HOST) & set(self.launches)):
            paces = [steps[min(steps)] / 1e3 for machine in machines for steps in machine[way].values()]
            yield (f"# pace[way={way} machines={len(machines)}]: the host makes steps without work in "
                   f"{min(paces):.2f} to {max(paces):.2f} us")

    def interval(self, method):
        """(the least, the most) that a step takes, in ns"""
        return [self.ways[method].times(factor).step(self.work) for factor in (1 / TIMES, TIMES)]

    def ranked(self):
        return sorted((way.step(self.work), method) for method, way in self.ways.items())

    def table(self):
        yield ("way", "us(step)", "us(low)", "us(high)", "share(%)", "us(under 5%)",
               "needs")
        for step, method in self.ranked():
            yield (method, *(f"{time / 1e3:.2f}" for time in (step, *self.interval(method))),
                   f"{100 * (1 - self.work / step):.0f}" if step else "nan",
                   f"{self.long[method].seam * (1 / PART - 1) / 1e3:.0f}", self.needs[method])


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("run", nargs="*", metavar="RUN")
    parser.add_argument("--work", type=number, required=True, metavar="US",
                        help="microseconds of work a step")
    parser.add_argument("--gpus", type=command_line.count, default=1, metavar="N",
                        help="GPUs, one unless given")
    parser.add_argument("--gpu", type=kind_of_gpu, metavar="KIND",
                        help="whose recorded rows, H200 unless given")
    parser.add_argument("--blocks", type=command_line.count, metavar="N",
                        help="blocks on each GPU, one per SM unless given")
    parser.add_argument("--threads", type=command_line.count, default=256, metavar="N",
                        help="threads of a block, 256 unless given")
    options = parser.parse_args()
    if options.threads > 1024:
        parser.error("argument --threads: a block has at most 1024")
    if options.run and options.gpu:
        parser.error("argument --gpu: not with RUN")
    kind = options.gpu or "h200"
    steps = Steps(Rows(options.run or [recorded(kind, options.gpus)]))
    options.blocks = options.blocks or steps.rows.sms
    advice = Advice(options, steps)
    align = tables.aligned if sys.stdout.isatty() else functools.partial(map, "\t".join)
    for line in itertools.chain(advice.comments(), align(advice.table())):
        print(line)
    return 0


if __name__ == "__main__":
    command_line.main(work, "advise.py")
