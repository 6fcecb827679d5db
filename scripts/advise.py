#!/usr/bin/env python3
"""Which way costs least for steps that depend on each other, on one GPU or several?

  advise.py --work 5                       steps of 5 us on one H200
  advise.py --work 50 --gpus 2             on two
  advise.py --work 5 --words 100000        where so many words go from block to block
  advise.py --work 5 RUN...                from rows of other machines

RUN: a results folder, or a file of rows (--stats) of ImplicitBarrier, BenchmarkInterSM, Reduction or
Stencil, all of one kind of GPU; without one, recorded rows of H200s. Without --words each block reads
one word of another's, and GPUs exchange none.

Columns, the cheapest way first, separated by tabs:
  way           how one step follows another; --list of the programs explains each
  us(step)      what a step is predicted to take
  us(low), us(high)   between these, if it is off by no more than similar rows were
  share(%)      part of a step that is not its work
  ms(all)       what all steps take
  us(under 5%)  work of a step from which on that part is under 5%
  needs         what a program has to fulfil

Comments above say which ways have no rows, or only rows of other work, and how far off predictions
are: `within` holds for 95% of the cases to which nothing was fitted. These are
  steps      chains of steps on one GPU, of other works and blocks
  rounds     launches on several GPUs, of other work
  sums       sums of arrays
  Stencil    time steps, by barriers inside kernels or by launches, of which the work is measured
  words, exchanges   barriers with data, and exchanges without a barrier
The interval of a way is the largest error of the 10 cases nearest in length, which holds for about
nine cases in ten. They are steps where rows have this shape, else Stencil, rounds, sums, the first
that is there. Errors of words and exchanges count for the part of a step that is not work. Two ways
are too close to tell where the us(step) of one is within the interval of the other.

Exit codes: 0 done; 1 output cannot be written; 2 bad usage, also rows that cannot be read.
"""

import argparse
import math
import re
from pathlib import Path
from typing import NamedTuple

from parts import command_line, tsv
from reporting import field_model, words_model
from reporting.steps_model import (BARRIERS_OF_GPUS, LADDER, NEEDS, NEEDS_OF_GPUS, ROUNDS, THREADS,
                                   Rows, Steps, Sums, percentile)
from reporting.words_model import NEEDS_OF_EXCHANGES, Words

RECORDED = Path(__file__).resolve().parent.parent / "results"
PART = 0.05  # of a step, below which a seam is said not to matter
NEAREST = 10  # cases whose worst is an interval
PROGRAMS = {LADDER: "ImplicitBarrier", ROUNDS: "ImplicitBarrier",
            **dict.fromkeys(words_model.TITLES.values(), "BenchmarkInterSM")}


class Cases(NamedTuple):
    """Predictions that rows can tell. titles: of sections; steps: of steps_model.Step"""
    titles: list
    steps: list

    def worst(self, length):
        """The largest error in shares of those that are nearest in length (ns)."""
        nearest = sorted(self.steps, key=lambda step: abs(math.log(step.measured / length)))
        return max(abs(step.error) for step in nearest[:NEAREST])


def recorded(gpus):
    """The recorded rows of so many H200s, the newest first."""
    paths = [RECORDED / folder / f"h200x{gpus}.tsv"
             for folder in ("launches", "grid_barriers", "stencil")]
    return [path for path in (*paths, RECORDED / f"h200x{gpus if gpus < 3 else 4}")
            if path.exists()]


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
    return not method.startswith(("steps_", "peer_grid_sync", "exchange_"))


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
        self.cases = {name: cases for name, cases in self.all_cases().items() if cases.steps}

    def ways_at(self, work):
        """{method: Way} of steps of so much work"""
        ways = (self.steps.ways(not self.options.no_reads, *self.shape) if self.gpus == 1 else
                self.steps.ways_of_gpus(self.gpus, *self.shape, work))
        if self.words:
            ways = {**self.words.ways(ways, *self.shape, self.of_thread),
                    **self.words.exchanges(self.options.words)}
        return ways

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
        return (f"no rows of {self.of_shape()} on {self.gpus} GPU{'s' * (self.gpus > 1)}"
                + " (methods in_use_... of BenchmarkInterSM, at most 4 words)" * bool(self.words))

    def of_shape(self):
        words = f", {self.of_thread} word{'s' * (self.of_thread > 1)} a thread" if self.words else ""
        return f"{self.options.blocks} blocks of {self.options.threads} threads{words}"

    def all_cases(self):
        """{name: Cases}"""
        steps, gpus, sums = self.steps, self.gpus, Sums(self.steps)
        stencil = [(way, step) for way, of, step in field_model.Fields(steps).cases() if of == gpus]
        found = {"steps": Cases([LADDER], list(steps.cases_of_steps())),
                 "sums": Cases(["one GPU"], list(sums.cases_on_one()))}
        if gpus > 1:
            found = {"rounds": Cases([ROUNDS], list(steps.cases_of_rounds(gpus))),
                     "sums": Cases(["strong scaling"], list(sums.cases_on_several(gpus)))}
        for name, launched in (("Stencil.barriers", False), ("Stencil.launches", True)):
            found[name] = Cases(list(field_model.TITLES), [
                step for way, step in stencil if field_model.is_launch(way) == launched])
        if self.words:
            found["words"] = Cases([words_model.TITLES[min(gpus, 2)]],
                                   list(self.words.cases_of_words()))
            found["exchanges"] = Cases([words_model.EXCHANGES], list(self.words.cases_of_exchanges()))
        return found

    def names_of_cases(self, method):
        """Of the Cases that are most like a way: (of whole steps, of the words), each a name or None."""
        launched = is_launch(method)
        names = [f"Stencil.{'launches' if launched else 'barriers'}", *["rounds"] * launched, "sums",
                 "steps"]
        if self.gpus == 1 and self.steps.measured_at(*self.shape):
            names.insert(0, "steps")
        words = "exchanges" if method in NEEDS_OF_EXCHANGES else "words"
        return (next((name for name in names if name in self.cases), None),
                words if words in self.cases else None)

    def error(self, method, step):
        """In shares of a step; nan where none is known."""
        whole_step, words = (name and self.cases[name] for name in self.names_of_cases(method))
        errors = [whole_step.worst(step)] if whole_step and step else []
        if words and step > self.work:
            errors.append(words.worst(step - self.work) * (step - self.work) / step)
        return max(errors, default=math.nan)

    def left_out(self):
        """Comments on ways that are not ranked, or ranked by rows of other work."""
        found, known = {}, self.steps.known(self.gpus)
        for method in self.needs:
            works = self.steps.seams(method, self.gpus, *self.shape) if self.gpus > 1 else ()
            shorter = works and self.work < min(works)
            if shorter and self.steps.pace(method, self.gpus, *self.shape) is None:
                why = f"measured only at {', '.join(f'{of / 1e3:g}' for of in sorted(works))} us of work"
            elif method not in self.ways:
                why = f"no rows of {self.of_shape()}" if method in known else (
                    f"no rows on {self.gpus} GPU{'s' * (self.gpus > 1)}")
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
            error, count = percentile(step.error for step in cases.steps)
            yield (f"# accuracy[rows={name} within={100 * error:.1f}% cases={count}]: "
                   + ", ".join(map(shown, self.steps.rows.files_of(cases.titles))))

    def lines(self):
        yield from self.comments()
        ranked = sorted((way.step(self.work), method) for method, way in self.ways.items())
        errors = {method: self.error(method, step) for step, method in ranked}
        (first, fastest), *others = ranked
        close = [method for step, method in others
                 if step <= first * (1 + errors[fastest]) or step * (1 - errors[method]) <= first]
        unknown = [method for _, method in ranked if math.isnan(errors[method])]
        if unknown:
            yield f"# no error is known: {', '.join(unknown)}"
        yield f"# {'fastest' if others else 'the only way with rows'}: {fastest}"
        if close:
            yield f"# too close to it to tell: {', '.join(close)}"
        yield "\t".join(("way", "us(step)", "us(low)", "us(high)", "share(%)", "ms(all)",
                         "us(under 5%)", "needs"))
        for step, method in ranked:
            error = errors[method]
            times = step, max(step * (1 - error), self.work), step * (1 + error)  # nan first
            yield "\t".join((method, *(f"{time / 1e3:.2f}" for time in times),
                             f"{100 * (1 - self.work / step):.0f}" if step else "nan",
                             f"{step * self.options.steps / 1e6:.3f}",
                             f"{self.long[method].seam * (1 / PART - 1) / 1e3:.0f}",
                             self.needs[method]))


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("run", nargs="*", metavar="RUN")
    parser.add_argument("--work", type=number, required=True, metavar="US",
                        help="microseconds of work a step")
    parser.add_argument("--steps", type=whole, default=1000, metavar="N",
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
                        help="words of 4 bytes that the threads of a GPU store in a step, all together: "
                        "for other blocks, or in equal shares for the other GPUs")
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
    for line in Advice(options, steps).lines():
        print(line)
    return 0


if __name__ == "__main__":
    command_line.main(work, "advise.py")
