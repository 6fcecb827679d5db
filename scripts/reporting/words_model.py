"""What it takes that a step exchanges more words, predicted from rows of BenchmarkInterSM.

A barrier in use (in_use_*: each thread stores a word and reads another's, in_use_4_*: four) takes
more than the bare one. That surplus lies on a line between the numbers of words that rows have, and
there is none beyond them. Every way has the surplus of a barrier: its own where it is a barrier with
such rows, else that of grid_sync, on several GPUs of peer_grid_sync. In the chains of steps_model
each block reads a word already, so of one GPU only what is more than for one word is added.

Among GPUs there are exchanges without a barrier, too: by the logarithm of the bytes that each GPU
sends to every other. The words of a GPU are the same number for both: each other GPU gets an equal
share of them."""

import math

from reporting.steps_model import (BARRIERS, BARRIERS_OF_GPUS, LADDER_SHAPE, Step, Way,
                                   on_line)

IN_USE = {1: "in_use_", 4: "in_use_4_"}  # words of a thread -> before the name of a barrier
WORD = 4  # bytes
TITLES = {1: "grid latency", 2: BARRIERS_OF_GPUS}  # of one GPU and of several
EXCHANGES = "exchange"
BY_FEW = "the blocks that exchange need nothing of others; peer access; "
NEEDS_OF_EXCHANGES = {
    "exchange_flag": f"{BY_FEW}two buffers",
    "exchange_acknowledged": f"{BY_FEW}one buffer",
    "exchange_ll_8": f"{BY_FEW}no other memory is ordered; twice the bytes",
    "exchange_ll_16": f"{BY_FEW}no other memory is ordered; twice the bytes",
}


def of_thread(words, blocks, threads):
    """The most that a thread has of so many words of a GPU."""
    return -(-words // (blocks * threads))


class Words:
    def __init__(self, steps, gpus):
        self.steps, self.gpus = steps, gpus
        self.usual = "grid_sync" if gpus == 1 else "peer_grid_sync"
        self.sent = {}  # {method: {logarithm of bytes: ns}}
        for row in steps.rows.of(EXCHANGES):
            if int(row["GPUcount"]) == gpus:
                self.sent.setdefault(row["method"], {})[math.log(int(row["bytes"]))] = float(
                    row["med(avginstru)"])

    def known(self, barrier, blocks, threads):
        """{words of a thread: ns of the barrier}"""
        found = {words: self.steps.barrier(f"{before}{barrier}", self.gpus, blocks, threads)
                 for words, before in ((0, ""), *IN_USE.items())}
        return {words: cost for words, cost in found.items() if cost is not None}

    def surplus(self, barrier, blocks, threads, words):
        """ns; None where rows do not tell."""
        known = self.known(barrier, blocks, threads)
        if 0 not in known or words > max(known):
            return None
        return on_line(known, words) - known[0]

    def ways(self, ways, blocks, threads, words):
        """Those of which rows tell, with `words` of a thread."""
        found = {}
        for method, way in ways.items():
            barrier = BARRIERS.get(method, self.usual)
            more = self.surplus(barrier, blocks, threads, words)
            first = 0 if self.gpus > 1 else self.surplus(
                barrier, self.steps.rows.sms, LADDER_SHAPE[1], 1)
            if more is not None and first is not None:
                found[method] = Way(way.pace, way.seam + more - first)
        return found

    def exchanges(self, words):
        """{method: Way} of so many words of each GPU."""
        size = math.log(WORD * -(-words // max(1, self.gpus - 1)))  # to every other
        return {method: Way(0, on_line(known, max(size, min(known))))
                for method, known in self.sent.items() if size <= max(known)}

    def cases_of_words(self):
        """Barriers in use: one word from none and four, and four from one and the surplus of the
        other barrier."""
        barriers = [barrier for barrier in BARRIERS.values()
                    if (f"{IN_USE[4]}{barrier}", self.gpus) in self.steps.barriers]
        for barrier in barriers:
            for per_sm, threads in self.steps.barriers[f"{IN_USE[4]}{barrier}", self.gpus]:
                shape = int(per_sm * self.steps.rows.sms), threads
                known = self.known(barrier, *shape)
                if len(known) < 3:
                    continue
                yield Step(known[1], on_line({0: known[0], 4: known[4]}, 1))
                for other in barriers:
                    theirs = self.known(other, *shape)
                    if other != barrier and len(theirs) == 3:
                        yield Step(known[4], known[1] + theirs[4] - theirs[1])

    def cases_of_exchanges(self):
        """Sizes between the smallest and the largest, from the others."""
        for known in self.sent.values():
            for size in sorted(known)[1:-1]:
                yield Step(known[size], on_line(
                    {other: cost for other, cost in known.items() if other != size}, size))
