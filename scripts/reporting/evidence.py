"""The rows that Table VIII's observations are judged by."""

import math

from parts.means import value_of
from parts import suite
from reporting.normal import width
from reporting.study_tables import ARRAY, SUMMED

# What the study's observations of several GPUs are judged by: the first that was measured. Its
# barrier programs never switch peer access on, its sums do.
JUDGING = ("multi_grid_sync_no_peer", "multi_grid_sync", "peer_grid_sync")


class NotMeasured(Exception):
    """Which rows are missing."""


def is_less(one, other):
    """Whether one means.Value is by more than both intervals."""
    return one.mean + width(one) < other.mean - width(other)


def times_as_fast(rates):
    """" (1.020 to 1.250 times as fast)": the range, "" of none."""
    if not rates:
        return ""
    shown = dict.fromkeys(f"{edge:.3f}" for edge in (min(rates), max(rates)))
    return f" ({' to '.join(shown)} times as fast)"


def faster_sums(one, other, what):
    """(whether some are faster, whether besides none is slower, and a sentence) of the sizes that
    both have."""
    sizes = one.keys() & other.keys()

    def rates_where(less, more):
        return [one[size].mean / other[size].mean for size in sizes
                if is_less(less[size], more[size])]

    faster, slower = rates_where(other, one), rates_where(one, other)
    return [bool(faster), bool(faster) and not slower], (
        f"{what}: faster at {len(faster)} of {len(sizes)} sizes{times_as_fast(faster)}, slower at "
        f"{len(slower)}{times_as_fast(slower)}")


class Evidence:
    """A run's rows by what they are of. study: class Study"""

    def __init__(self, run, study):
        self.run, self.study = run, study

    def row(self, file, title, **cells):
        section = self.run.section(file, title)
        row = section.find(**cells)
        if row is None:
            what = ", ".join(f"{key} {cell}" for key, cell in cells.items())
            raise NotMeasured(f"no row of {file}, {title}: {what}")
        return row

    def value(self, file, title, quantity, **cells):
        """means.Value"""
        found = value_of(self.row(file, title, **cells), quantity)
        if math.isnan(found.mean):
            raise NotMeasured(f"no value of {file}, {title}: {cells['method']}")
        return found

    def known(self, table, column, **cells):
        """The study's number, of V100."""
        return self.study.number(table, column, gpu="V100", **cells)

    def in_a_warp(self, method, tile, older=""):
        """Cycles; older: suite.OLDER for those of that toolkit"""
        return self.value("BenchmarkIntraSM" + older, "warp latency", "ave_cycle", method=method,
                          thrd="32", tile=tile)

    def warp_sum(self, method, older=""):
        """The same of a sum of 32 values"""
        return self.value("Reduction" + older, "warp level", "ave_cycle", type=SUMMED,
                          method=method)

    def barrier(self, file, method, gpus, blocks=1, threads=1024):
        """ns of one of several GPUs, of so many blocks for each SM"""
        return self.value(file, "multi-GPU latency", "avginstru", method=method, GPUcount=str(gpus),
                          blk=str(blocks * self.run.sms), thrd=str(threads))

    def launch(self, method, gpus):
        """ns of one more, behind work that hides it"""
        return self.value("ImplicitBarrier", "sleep kernel", "ovh", method=method,
                          GPUCount=str(gpus), thrd="1024")

    def grid_sync(self, blocks, threads):
        """ns, of so many blocks for each SM"""
        return self.value("BenchmarkInterSM", "grid latency", "avginstru", method="grid_sync",
                          blk=str(blocks * self.run.sms), thrd=str(threads))

    def gpus(self, sums=False):
        """(file, method, GPUs) of the barrier of all GPUs of the run, at least two, that the study's
        observations are judged by, for each toolkit. sums: of those that sums of arrays have."""
        methods = JUDGING[1:] if sums else JUDGING
        found = []
        for method in reversed(methods):
            for file in ("BenchmarkInterSM" + suite.OLDER, "BenchmarkInterSM"):
                rows = self.run.section(file, "multi-GPU latency").find_all(method=method)
                counts = [row.whole("GPUcount") for row in rows]
                if max(counts, default=1) > 1:
                    found.append((file, method, max(counts)))
        if not found:
            raise NotMeasured("no barrier of several GPUs was measured")
        judge = min((method for _, method, _ in found), key=methods.index)
        return [one for one in found if one[1] == judge]

    def shapes(self, file, method, gpus, *needed):
        """(blocks per SM, threads) -> us, of a barrier of so many GPUs; needed: shapes."""
        section = self.run.section(file, "multi-GPU latency")
        rows = section.find_all(method=method, GPUcount=str(gpus))
        us = {(row.whole("blk") // self.run.sms, row.whole("thrd")): float(
            row["m(avginstru)"]) / 1e3 for row in rows if float(row["m(avginstru)"]) > 0}
        if not us.keys() >= set(needed):
            raise NotMeasured(f"not all shapes of {method} on {gpus} GPUs")
        return us

    def sums(self, file, title, method, gpus):
        """bytes -> means.Value in GB/s, of arrays on so many GPUs whose sums were right"""
        section = self.run.section(file, title)
        rows = [row for row in section.find_all(method=method, type=ARRAY, GPUcount=str(gpus))
                if row["right"] == "1" and float(row["m(GB/s)"]) > 0]
        return {row.whole("bytes"): value_of(row, "GB/s") for row in rows}

    def studied_shapes(self):
        """As shapes(), of the study's multi-grid barrier, for each kind and number of GPUs that
        it has; of several."""
        found = {}
        for row in (row for rows in self.study.figures.values() for row in rows):
            if row["gpus"] != "1":
                found.setdefault((row["gpu"], row["gpus"]), {})[
                    row.whole("blocks_per_SM"), row.whole("threads")] = float(row["latency_us"])
        return found.values()
