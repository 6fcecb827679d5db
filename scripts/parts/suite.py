"""The programs of the suite: the one list that scripts and tests read."""

from collections import namedtuple

# takes_gpu_count: as an argument; has_means: rows have means, and so --stats; under_tools: what
# keeps a run short under a tool that slows it.
Program = namedtuple("Program", "name takes_gpu_count has_means older_toolkit under_tools",
                     defaults=[()])

# In the order of a results folder. older_toolkit: measured with a second toolkit before CUDA 13,
# too. Pitfalls is last: where a GPU does not recover from a case, all else is there.
PROGRAMS = (
    Program("ImplicitBarrier", True, True, False, ("--processes", "1")),
    Program("BenchmarkIntraSM", False, True, True),
    Program("BenchmarkInterSM", True, True, True),
    Program("TestRepeat", False, True, True),
    Program("Reduction", True, True, True, ("--max-bytes", "1M")),
    Program("Stencil", True, True, True, ("--max-bytes", "8M", "--limit", "3600")),
    Program("Libraries", True, True, False),
    Program("Pitfalls", True, False, True))
LATER = ("Stencil", "Libraries")  # since the first recorded runs: a folder may lack them
OLDER = ".before13"  # behind the names of files of a toolkit before CUDA 13
NAMES = tuple(program.name for program in PROGRAMS)
BY_NAME = dict(zip(NAMES, PROGRAMS))


def files_of(name):
    """The files of a program in a results folder, without .tsv."""
    return (name, name + OLDER)[:1 + BY_NAME[name].older_toolkit]


FILES = tuple(file for name in NAMES for file in files_of(name))
