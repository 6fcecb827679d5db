"""What a barrier of all blocks takes: an estimate from its steps, one after the other, each measured
alone in the same run of BenchmarkInterSM. Nothing is fitted to rows of barriers.

The eight methods that are read, as medians of nanoseconds:
  ping_pong, ping_pong_ordered             half of it is a word to another block
  ping_pong_peer, ping_pong_peer_ordered   or to another GPU
  one_counter        additions of all blocks to one word
  one_counter_read   the same with a poll behind each, of few blocks and of many
  one_word           from a poll to the next, where all blocks poll one word
  all_block_sync     the threads of a block meet
"""

import math
from collections import namedtuple

LINES = 32  # of a leader of peer_grid_barrier/protocol.hpp


class Steps(namedtuple("Steps", "block fences arrivals polls words")):
    """Nanoseconds. block: threads of a block meet, before they arrive and behind the wait; fences:
    what release and acquire add to words; arrivals: of all blocks, or reads of all flags, one after
    the other; polls: waits for other polls, or for the next; words: on their way."""

    def plus(self, other):
        return Steps(*map(sum, zip(self, other)))


# A row of a barrier with its Steps: measured: its median; late: cycles by which a warp comes late.
BarrierSum = namedtuple("BarrierSum", "method gpus blocks threads late measured steps")


def sums(sections, sms):
    """[BarrierSum] of the barriers in an output, with --stats, of GPUs with so many SMs."""
    def rows_of(titles, column):
        for row in (row for section in sections if section.title in titles
                    and column in section.header for row in section.rows):
            yield (row["method"], row.whole("GPUcount"), row.whole("blk"), row.whole("thrd"),
                   int(row.get("late", 0)), float(row[column]), float(row.get("clock", "nan")))

    rows = list(rows_of(("grid latency", "multi-GPU latency"), "med(avginstru)"))
    measured = {row[:4]: row[5] for row in rows}
    rows += rows_of(("one late",), "med(exit)")
    found = [BarrierSum(*row[:6], _Shape(measured, sms, *row[:5], row[6]).steps()) for row in rows]
    return [one for one in found if one.steps and not math.isnan(sum(one.steps))]


def at_least(least, value):
    """NaN where the value is. What noise makes of nothing is not below it."""
    return least if value < least else value


class _Shape:
    """A barrier's shape, and what its steps take there: nan where not measured."""

    def __init__(self, measured, sms, method, gpus, blocks, threads, late, mhz):
        self.measured, self.sms, self.gpus = measured, sms, gpus
        self.blocks, self.threads, self.late, self.mhz = blocks, threads, late, mhz
        self.ordered = method.endswith("_ordered")
        self.method = method.removesuffix("_ordered")
        self.most = max((blocks for name, _, blocks, _ in measured if name == "one_counter_read"),
                        default=0)

    def steps(self):
        """None of what is no barrier that is known here."""
        if self.method == "peer_grid_sync":
            return self.of_peer_grid()
        if self.gpus > 1:
            # Over the link: a load, a compare-and-swap, where the first GPU comes between another, a
            # poll. If one is late, the first two, or its own and a poll.
            messages = {"all_to_all_flags": 1, "peer_cas": 2 if self.late else 4}
            return self.method in messages and self.between_grids(messages[self.method])
        of = {"grid_sync": self.of_grid_sync, "xiao_feng_lock": self.of_lock,
              "xiao_feng_flags": self.of_flags, "sorensen_flags": self.of_flags,
              "sense_reversing": self.of_last}.get(self.method)
        return of and of()

    def step(self, method, blocks, threads=32, gpus=1):
        return self.measured.get((method, gpus, blocks, threads), math.nan)

    def message(self, peer="", order=""):
        """One message, or operation that returns; peer: "_peer" of one to another GPU; order:
        "_ordered" with that. With a block on each SM, pairs do not wait for each other."""
        return self.step(f"ping_pong{peer}{order}", self.sms, 32, self.gpus if peer else 1) / 2

    def order(self, peer=""):
        """What order adds to one."""
        return at_least(0, self.message(peer, "_ordered") - self.message(peer))

    def block(self):
        return self.step("all_block_sync", self.blocks, self.threads)

    def additions(self, blocks):
        return self.step("one_counter", blocks)

    def polls_among(self):
        """A poll of each block among their additions, beside these: as often as many blocks get
        one. With few, most is the way of one poll."""
        each = self.step("one_counter_read", self.most) / self.most if self.most else math.nan
        return at_least(0, self.blocks * each - self.additions(self.blocks))

    def fresh(self):
        """One poll of a word that others have just written."""
        return at_least(0, self.step("one_counter_read", self.sms) - self.additions(self.sms))

    def turn(self, blocks):
        return self.step("one_word", blocks)

    def queue(self):
        """What one waits for the polls of the others."""
        return at_least(0, self.turn(self.blocks) - self.turn(self.sms))

    def polled(self):
        """All blocks poll one word: the word waits behind their polls, and then a poll behind the
        others. The slowest poll has just missed it, half a turn before the mean."""
        return 2 * self.queue() + self.turn(self.blocks) / 2

    def of_lock(self):
        """All blocks add to a counter and poll it at once. The polls among the additions are all
        polls until the last addition."""
        arrivals, polls = 0, self.polled()
        if not self.late:
            arrivals, polls = self.additions(self.blocks), 2 * self.queue() + self.polls_among()
        return Steps(2 * self.block(), self.order() if self.ordered else 0, arrivals, polls,
                     self.message())

    def of_grid_sync(self, late=None):
        """A block polls when its addition has returned: those that come first, among the additions
        of the others."""
        arrivals, polls = 0, self.polled()
        if not (self.late if late is None else late):
            arrivals = self.additions(self.blocks)
            among = 1 - self.message() / arrivals
            polls = 2 * self.queue() + at_least(self.fresh(), among * self.polls_among())
        return Steps(2 * self.block(), self.order(), arrivals, polls, self.message())

    def of_flags(self):
        """A thread of the leader reads several flags one after the other and then answers as many."""
        ordered = self.ordered or self.method == "sorensen_flags"
        order = self.order() if ordered else 0
        reads = -(-self.blocks // self.threads)
        steps = Steps(3 * self.block(), (reads + 1) * order, (reads - 1) * self.fresh(),
                      self.fresh() / 2, 2 * self.message())
        if not self.late:
            return steps
        # Either the leader is late, or another block: then all other flags have been read, if it is
        # late enough.
        left = sum(steps) - (self.late / self.mhz * 1e3 if self.late else 0)
        steps = steps._replace(fences=steps.fences - order, words=self.message())
        others = steps.block + steps.fences + steps.words
        return steps._replace(polls=0, arrivals=(
            reads * self.fresh() + at_least(self.fresh(), left - others)) / 2)

    def of_last(self):
        """Who completes the counter tells; with many blocks, first those of one SM."""
        groups = self.blocks > 4 * self.sms
        words = 3 if groups else 2
        arrivals, polls = 0, 2 * self.queue()
        if not self.late:
            polls = self.polled()
            arrivals = (self.additions(self.sms) if groups else
                        at_least(0, self.additions(self.blocks) - self.message()))
        return Steps(2 * self.block(), words * self.order(), arrivals, polls, words * self.message())

    def of_peer_grid(self):
        """peer_grid_barrier/protocol.hpp, and barrier_set.cuh for who meets how."""
        several = self.gpus > 1
        peer = "_peer" * several
        leader = self.blocks > (4 if several else 8) * self.sms
        if not leader and not several:  # polls begin when the arrivals have landed
            return Steps(2 * self.block(), self.order(),
                         0 if self.late else self.additions(self.blocks), self.polled(),
                         self.message())
        arrivals, polls = 0, self.queue() if leader else 0
        if not self.late:
            polls += self.turn(self.sms) / 2
            arrivals = (self.additions(self.blocks) / LINES if leader else
                        at_least(0, self.additions(self.blocks) - self.message()))
        return Steps(2 * self.block(), self.order() + self.order(peer), arrivals, polls,
                     self.message() + self.message(peer))

    def between_grids(self, messages):
        """A grid_sync before and one behind. One warp is late to the first."""
        over = Steps(0, self.order("_peer") if self.ordered else 0, 0, 0,
                     messages * self.message("_peer"))
        return self.of_grid_sync().plus(self.of_grid_sync(False)).plus(over)
