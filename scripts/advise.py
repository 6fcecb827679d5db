#!/usr/bin/env python3
"""Which way costs least for steps that depend on each other, on one GPU or several?

  advise.py --work 5                       steps of 5 us on one H200
  advise.py --work 50 --gpus 2             on two
  advise.py --work 5 --words 100000        where so many words go from block to block
  advise.py --work 5 --gpu H100            by recorded rows of H100s
  advise.py --work 5 RUN...                by rows of another machine

RUN: a results folder, or a file of rows (--stats) of ImplicitBarrier, BenchmarkInterSM,
BenchmarkIntraSM or Stencil, all of one kind of GPU; without one, recorded rows. Without
--words each block reads one word of another's, and GPUs exchange none.

The first line names the simplest way within 5% of the fastest.

Columns, the cheapest way first, aligned on a terminal, else separated by tabs:
  way           how one step follows another; --list of the programs explains each
  us(step)      what a step is predicted to take
  us(low), us(high)   between these in about nine cases of ten that nothing was fitted to
  share(%)      part of a step that is not its work
  ms(all)       what all steps take
  us(under 5%)  work of a step from which on that part is under 5%
  needs         what a program has to fulfil

Comments above say which ways have no rows, or only rows of other work, how the host's pace differs
between recorded machines, and how far off predictions are: what is not work is up to `times` as
long as predicted, or as short, in 95% of the cases to which nothing was fitted. These are
  steps      chains of steps on one GPU, of other works and blocks
  machines   the same chains on another recorded machine with such GPUs
  Stencil    time steps, a fifth or more of which is not work
  rounds     launches on several GPUs, of other work
  words, exchanges   barriers with data, and exchanges without a barrier
The largest `times` of a way's kinds makes its interval. Where the host sets the pace, the highest
pace of recorded machines over the lowest does. Two ways are too close to tell where the us(step)
of one is within the interval of the other.

Exit codes: 0 done; 1 output cannot be written; 2 bad usage, also rows that cannot be read.
"""

import argparse
import functools
import itertools
import math
import re
import sys
from pathlib import Path
from typing import NamedTuple

from parts import command_line, tables, tsv
from reporting import field_model, words_model
from reporting.estimates import many
from reporting.steps_model import (BARRIERS_OF_GPUS, BY_HOST, IN_ONE_BLOCK, LADDER, NEEDS,
                                   NEEDS_OF_GPUS, ROUNDS, THREADS, Rows, Steps, percentile)
from reporting.words_model import NEEDS_OF_EXCHANGES, Words

RECORDED = Path(__file__).resolve().parent.parent / "results"
PART = 0.05  # of a step, below which a seam is said not to matter
PROGRAMS = {LADDER: "ImplicitBarrier", ROUNDS: "ImplicitBarrier",
            **dict.fromkeys(words_model.TITLES.values(), "BenchmarkInterSM")}
SYNCTHREADS = next(iter(IN_ONE_BLOCK))


class Cases(NamedTuple):
    """Predictions that rows can tell. files: of the rows; steps: of steps_model.Step"""
    files: list
    steps: list

    @property
    def times(self):
        return percentile(step.times for step in self.steps)[0]


def recorded(kind, *counts):
    """The recorded rows of so many GPUs of a kind, the newest first."""
    return [path for gpus in counts for path in (
        *(RECORDED / folder / f"{kind}x{gpus}.tsv"
          for folder in ("launches", "grid_barriers", "stencil")),
        RECORDED / f"{kind}x{gpus if gpus < 3 else 4}") if path.exists()]


def kind_of_gpu(text):
    """The type of the option."""
    kinds = sorted({path.name.partition("x")[0] for path in RECORDED.glob("*x[0-9]")})
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


def whole(text):
    """The type of options that count."""
    if not re.fullmatch("[1-9][0-9]{0,8}", text):
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to 999999999, not '{text}'")
    return int(text)


def is_launch(method):
    return not method.startswith(("steps_", "in_use_", "exchange_", *field_model.BARRIERS))


def shown(file):
    """Recorded ones by where they stand in the project."""
    return file.replace(f"{RECORDED.parent}/", "")


class Advice:
    """What is said for given options. words: a Words, or None"""

    def __init__(self, options, steps):
        self.options, self.steps, self.gpus = options, steps, options.gpus
        self.shape, self.work = (options.blocks, options.threads), 1e3 * options.work
        self.words = Words(steps, self.gpus) if options.words else None
        self.needs = {**(NEEDS if self.gpus == 1 else NEEDS_OF_GPUS),
                      **(NEEDS_OF_EXCHANGES if self.words and self.gpus > 1 else {})}
        self.of_thread = words_model.of_thread(options.words or 0, *self.shape)
        self.ways, self.long = self.ways_at(self.work), self.ways_at(math.inf)
        if not self.ways:
            raise tsv.TsvError(f"{shown(steps.rows.where)}: {self.why_none()}")
        self.launches = [method for method in self.ways if is_launch(method)]
        chains = (Steps(Rows([path])) for pattern in ("launches/h*.tsv", "h*/ImplicitBarrier.tsv")
                  for path in sorted(RECORDED.glob(pattern)))
        self.machines = [machine for machine in chains if machine.measured]
        self.cases = {name: cases for name, cases in self.all_cases().items() if cases.steps}

    def ways_at(self, work):
        """{method: Way} of steps of so much work"""
        ways = (self.steps.ways(not self.options.no_reads, *self.shape) if self.gpus == 1 else
                self.steps.ways_of_gpus(self.gpus, *self.shape, work))
        if self.words:
            ways = {**self.words.ways(ways, *self.shape, self.of_thread),
                    **self.words.exchanges(self.options.words)}
        if self.in_one_block():
            way = self.steps.of_one_block(self.options.threads, self.of_thread or 1)
            ways.update({SYNCTHREADS: way} if way else {})
        return ways

    def in_one_block(self):
        return self.gpus == self.options.blocks == 1

    def why_none(self):
        titles = {LADDER} if self.gpus == 1 else {BARRIERS_OF_GPUS} if self.words else {
            BARRIERS_OF_GPUS, ROUNDS}
        if self.words:
            titles.add(words_model.TITLES[min(self.gpus, 2)])
        missing = sorted(titles - self.steps.rows.sections.keys())
        most = self.steps.most_gpus()
        if most < self.gpus and len(missing) < len(titles):
            return f"no rows of {self.gpus} GPUs, only of up to {most}"
        if missing:
            return "the rows lack " + ", ".join(
                f"the section '{title}' of {PROGRAMS[title]}" for title in missing)
        return (f"no rows of {self.of_shape()} on {many(self.gpus)}"
                + " (methods in_use_... of BenchmarkInterSM, at most 4 words)" * bool(self.words))

    def of_shape(self):
        words = f", {self.of_thread} word{'s' * (self.of_thread > 1)} a thread" if self.words else ""
        return f"{self.options.blocks} blocks of {self.options.threads} threads{words}"

    def all_cases(self):
        """{name: Cases}, of whole steps by barriers and by launches"""
        steps, gpus, files_of = self.steps, self.gpus, self.steps.rows.files_of
        chains = list(steps.cases_of_steps()) if gpus == 1 else []
        pairs = [pair for pair in itertools.permutations(self.machines, 2)
                 if pair[0].rows.gpu == pair[1].rows.gpu]
        machines = [case for one, other in pairs for case in one.cases_of_steps(other)]
        stencil = [(way, step) for way, of, step in field_model.Fields(steps).cases() if of == gpus]
        found = {}
        for kind in ("barriers", "launches"):
            for name, files, cases in (
                    ("steps", files_of([LADDER]), chains),
                    ("machines", [one.rows.where for one, _ in pairs], machines),
                    ("Stencil", files_of(field_model.TITLES), field_model.synchronized(stencil)),
                    ("rounds", files_of([ROUNDS]), list(steps.cases_of_rounds(gpus)))):
                found[f"{name}.{kind}"] = Cases(files, [
                    step for way, step in cases if is_launch(way) == (kind == "launches")])
        if self.words:
            found["words"] = Cases(files_of([words_model.TITLES[min(gpus, 2)]]),
                                   list(self.words.cases_of_words()))
            found["exchanges"] = Cases(files_of([words_model.EXCHANGES]),
                                       list(self.words.cases_of_exchanges()))
        return found

    @functools.cached_property
    def paces(self):
        """{way: the lowest and the highest of recorded machines}, ns"""
        found = {}
        for machine in self.machines:
            for (method, _), shapes in machine.measured.items():
                found.setdefault(method, []).extend(steps[min(steps)] for steps in shapes.values())
        return {method: (min(paces), max(paces)) for method, paces in found.items()}

    def times(self, method):
        """As many times as long, or as short, may (the pace, the seam) of a way be."""
        of = (f".{'launches' if is_launch(method) else 'barriers'}",
              "exchanges" if method in NEEDS_OF_EXCHANGES else "words")
        seam = max(cases.times for name, cases in self.cases.items() if name.endswith(of))
        if method not in BY_HOST:
            return seam, seam
        lowest, highest = self.paces[BY_HOST[method]]
        pace = highest / lowest
        return pace, pace if BY_HOST[method] == "launch_and_wait" else seam

    def left_out(self):
        """Comments on ways that are not ranked, or ranked by rows of other work."""
        found, known = {}, self.steps.known(self.gpus)
        for method in self.needs:
            if method == SYNCTHREADS:  # comments() tells of it
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
        if self.in_one_block() and SYNCTHREADS not in self.ways:
            yield "# one block: `__syncthreads()` in a loop costs less than these; no row says what"
        high = self.interval(fastest)[1]
        close = [method for step, method in others
                 if step <= high or self.interval(method)[0] <= first]
        if close:
            yield f"# too close to the fastest to tell: {', '.join(close)}"
        gpu = self.steps.rows.gpu or "GPUs without a name"
        yield (f"# {options.steps} steps of {options.work:g} us on {self.gpus} x {options.blocks} "
               f"blocks of {options.threads} threads, by rows of {gpu}")
        yield from self.left_out()
        if self.words:
            yield (f"# {options.words} words of each GPU, at most {self.of_thread} a thread; what has no "
                   f"rows of so many takes as much more for them as {self.words.usual}")
        if any(method in self.ways for method in NEEDS_OF_EXCHANGES):
            yield "# exchange_...: by the blocks that have words; others wait by a barrier of their own"
        if self.gpus > 1 and set(self.launches) - {THREADS}:
            yield (f"# by launches but {THREADS}, each GPU is late in turn; "
                   "by other ways all come at once")
        if self.other_shape():
            yield "# launches were not measured in this shape; theirs are of the nearest that was"
        for name, cases in self.cases.items():
            yield (f"# accuracy[rows={name} times={cases.times:.2f} cases={len(cases.steps)}]: "
                   + ", ".join(map(shown, cases.files)))
        for way in dict.fromkeys(BY_HOST[method] for method in self.launches if method in BY_HOST):
            lowest, highest = self.paces[way]
            yield (f"# pace[way={way} machines={len(self.machines)}]: the host makes steps without "
                   f"work in {lowest / 1e3:.2f} to {highest / 1e3:.2f} us")

    def interval(self, method):
        """(the least, the most) that a step takes, in ns"""
        pace, seam = self.times(method)
        return (self.ways[method].times(1 / pace, 1 / seam).step(self.work),
                self.ways[method].times(pace, seam).step(self.work))

    def ranked(self):
        return sorted((way.step(self.work), method) for method, way in self.ways.items())

    def table(self):
        yield ("way", "us(step)", "us(low)", "us(high)", "share(%)", "ms(all)", "us(under 5%)",
               "needs")
        for step, method in self.ranked():
            yield (method, *(f"{time / 1e3:.2f}" for time in (step, *self.interval(method))),
                   f"{100 * (1 - self.work / step):.0f}" if step else "nan",
                   f"{step * self.options.steps / 1e6:.3f}",
                   f"{self.long[method].seam * (1 / PART - 1) / 1e3:.0f}", self.needs[method])


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("run", nargs="*", metavar="RUN")
    parser.add_argument("--work", type=number, required=True, metavar="US",
                        help="microseconds of work a step")
    parser.add_argument("--steps", type=whole, default=1000, metavar="N",
                        help="how many steps, 1000 unless given")
    parser.add_argument("--gpus", type=command_line.count, default=1, metavar="N",
                        help="GPUs, one unless given")
    parser.add_argument("--gpu", type=kind_of_gpu, metavar="KIND",
                        help="whose recorded rows, H200 unless given")
    parser.add_argument("--blocks", type=command_line.count, metavar="N",
                        help="blocks on each GPU, one per SM unless given")
    parser.add_argument("--threads", type=command_line.count, default=256, metavar="N",
                        help="threads of a block, 256 unless given")
    parser.add_argument("--no-reads", action="store_true",
                        help="a step reads only what its own block wrote; on one GPU")
    parser.add_argument("--words", type=whole, metavar="N",
                        help="words of 4 bytes that the threads of a GPU store in a step, all together: "
                        "for other blocks, or in equal shares for the other GPUs")
    options = parser.parse_args()
    if options.threads > 1024:
        parser.error("argument --threads: a block has at most 1024")
    if options.gpus > 1 and options.no_reads:
        parser.error("argument --no-reads: only of one GPU")
    if options.words and options.no_reads:
        parser.error("argument --words: not with --no-reads")
    if options.run and options.gpu:
        parser.error("argument --gpu: not with RUN")
    kind = options.gpu or "h200"
    # Of four words, one GPU of two has recorded rows.
    counts = (2, 1) if options.words and options.gpus == 1 else (options.gpus,)
    rows = options.run or recorded(kind, *counts)
    if not rows:
        raise tsv.TsvError(f"no recorded rows of {options.gpus} {kind.upper()}s")
    steps = Steps(Rows(rows))
    options.blocks = options.blocks or steps.rows.sms
    advice = Advice(options, steps)
    align = tables.aligned if sys.stdout.isatty() else functools.partial(map, "\t".join)
    for line in itertools.chain(advice.comments(), align(advice.table())):
        print(line)
    return 0


if __name__ == "__main__":
    command_line.main(work, "advise.py")
