"""The programs of the suite: the one list that scripts and tests read."""

from collections import namedtuple

# takes_gpu_count: as an argument; has_means: rows have means, and so --stats; seconds: about how
# long it took on an H100, the default and --quick, and --quick on a simulated GPU; under_tools: what keeps a
# run short under a tool that slows it.
Program = namedtuple("Program", "name takes_gpu_count has_means older_toolkit seconds under_tools",
                     defaults=[()])

# In the order of a results folder. older_toolkit: measured with a second toolkit before CUDA 13,
# too. Pitfalls is last: where a GPU does not recover from a case, all else is there.
PROGRAMS = (
    Program("ImplicitBarrier", True, True, False, (19, 7, 1), ("--processes", "1")),
    Program("BenchmarkIntraSM", False, True, True, (13, 3, 3)),
    Program("BenchmarkInterSM", True, True, True, (27, 9, 8)),
    Program("TestRepeat", False, True, True, (2, 2, 1)),
    Program("Reduction", True, True, True, (7, 2, 1), ("--max-bytes", "1M")),
    Program("Stencil", True, True, True, (7, 4, 4), ("--max-bytes", "8M", "--limit", "3600")),
    Program("Libraries", True, True, False, (1, 1, 1)),
    Program("Pitfalls", True, False, True, (19, 1, 1)))
IN_PROCESSES = ("Stencil", "Libraries")  # that mpirun can start with a process for each GPU
PROCESSES = ".processes"  # behind the names of files of these, started so
OLDER = ".before13"  # behind the names of files of a toolkit before CUDA 13
NAMES = tuple(program.name for program in PROGRAMS)
BY_NAME = dict(zip(NAMES, PROGRAMS))


def files_of(name):
    """The files of a program in a results folder, without .tsv."""
    return (name, name + OLDER)[:1 + BY_NAME[name].older_toolkit]


def usual_seconds(file, gpus, command, simulated):
    """About how long a command takes where nothing else tells."""
    whole, few, pretended = BY_NAME[file.split(".")[0]].seconds
    some = "--method" in command
    seconds = pretended * (1 if some else 10) if simulated else few if some else whole
    return seconds * (2 if "--all" in command else 1) * (1 + gpus) / 2


FILES = tuple(file for name in NAMES for file in files_of(name))
