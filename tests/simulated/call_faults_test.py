"""Makes the CUDA calls of the simulated programs fail, one a run, and judges what they do.

usage: call_faults_test.py FOLDER [--runs N] [--only TEXT] [--jobs N]

FOLDER has the simulated programs; those of the preset `checked` are under sanitizers. So many
places that call CUDA (default: 250), evenly chosen, fail with one of FAULTS each. --only: programs
whose command has this text.
"""
import argparse
import bisect
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time

from at_once import AT_ONCE

# A command and its GPUs, the fastest first: a place fails in the first that comes there.
# `cheap` costs of calls keep ImplicitBarrier's warm-ups short.
CHEAP = ("sms=4 call_synchronize=50000 call_traditional=20000 call_cooperative=20000 "
         "call_multi_device=20000")
COMMANDS = (
    ("Libraries 2 --samples 1 --method peer_grid_sync", "gpus=2 sms=4"),
    ("TestRepeat --samples 1 --method tile_sync", "gpus=2 sms=16"),
    ("Pitfalls 2 --samples 2 --method flag_in_peer_memory", "gpus=2 sms=4"),
    ("BenchmarkIntraSM --samples 1 --method distributed_load,in_use_block_none", "gpus=1 sms=16"),
    ("Reduction 2 --samples 1 --type int --min-bytes 512K --max-bytes 1M",
     "gpus=2 sms=4 l2_kib=256"),
    ("Reduction 1 --samples 1 --type int,float --min-bytes 512K --max-bytes 1M",
     "gpus=1 sms=4 l2_kib=256"),
    ("Pitfalls 1 --samples 2 --method no_sync,vote_ballot,lost_updates,flag_in_global_memory",
     "gpus=1 sms=4"),
    ("BenchmarkInterSM 1 --samples 1 --blocks-per-sm 1", "gpus=1 sms=2"),
    ("Stencil 1 --samples 1 --max-bytes 70K", "gpus=1 sms=2 l2_kib=32"),
    ("ImplicitBarrier 1 --samples 1 --processes 2 "
     "--method traditional_launch,cooperative_launch", "gpus=1 " + CHEAP),
    ("ImplicitBarrier 2 --samples 1 --processes 2 --method multi_cooperative_launch",
     "gpus=2 " + CHEAP),
    ("TestRepeat --samples 1", "gpus=1 sms=16"),
    ("BenchmarkInterSM 2 --samples 1 --blocks-per-sm 1", "gpus=2 sms=2"),
    ("ImplicitBarrier 2 --samples 1 --processes 2 --method events_of_star,stream_flags_host,"
     "stream_flags_peer,kernel_flags_host,graph_of_gpus", "gpus=2 " + CHEAP),
    ("ImplicitBarrier 1 --samples 1 --processes 2 --method graph_launch,graph_seam,event_wait,"
     "launch_and_wait,steps_counter,steps_peer_grid_sync,steps_cluster_sync", "gpus=1 " + CHEAP),
    ("Stencil 2 --samples 1 --max-bytes 70K --method peer_grid_sync_tile,graph_of_gpus,"
     "multi_cooperative_launch,single_omp_traditional_launch", "gpus=2 sms=2"),
    ("ImplicitBarrier 2 --samples 1 --processes 2 --method single_omp_traditional_launch",
     "gpus=2 " + CHEAP),
    ("BenchmarkIntraSM --samples 1 --method tile_sync", "gpus=2 sms=16"))

FAULTS = (("once", 2), ("sticky", 700), ("once", 801), ("sticky", 719), ("once", 999),
          ("stays", 2), ("stays", 801), ("stays", 999))
ERROR_NAMES = {2: "cudaErrorMemoryAllocation", 700: "cudaErrorIllegalAddress",
               719: "cudaErrorLaunchFailure", 801: "cudaErrorNotSupported",
               999: "cudaErrorUnknown"}
RUNS = 250
LIMIT_S = 600

# Calls that give something back stand in destructors, which cannot throw.
GIVING_BACK = ("cudaFree", "cudaFreeHost", "cudaStreamDestroy", "cudaEventDestroy",
               "cudaGraphDestroy", "cudaGraphExecDestroy")
# Calls that ask whether something can be had here: cudaErrorNotSupported says no.
ASKING = {
    ("syncbench::find_driver_entry", "cudaGetDriverEntryPoint"): "old drivers lack functions",
    ("syncbench::MultiDeviceLaunch::operator()", "cuLaunchCooperativeKernelMultiDevice"):
        "the first launch of a point tells whether these GPUs have it",
    ("syncbench::ways::MultiDeviceWay::launch", "cuLaunchCooperativeKernelMultiDevice"): "as above",
    ("syncbench::ways::StreamFlags<", "cuStreamBatchMemOp"):
        "the first tells whether these GPUs have it",
    ("syncbench::explicit_barrier::TimedLaunch::require_fit", "cudaFuncSetAttribute"):
        "GPUs without clusters",
    ("syncbench::explicit_barrier::active_clusters", "cudaOccupancyMaxActiveClusters"):
        "GPUs without clusters",
}
# Under which names errors speak of a call.
NAMES = {"kernel<<<>>>": "cudaGetLastError",
         "cudaGetDriverEntryPointByVersion": "cudaGetDriverEntryPoint",
         "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags":
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor"}
# The barrier library, a project of its own, says what has failed, not where.
SKIPPED = re.compile(": error: .*\\bnot measured\\b.*: .*(NotSupported|the driver has no )")
TOLD = re.compile(r"\w+: not measured: (?:\d+ (?:methods|times, first): )?(.*)")
OF_CALL = re.compile(r"(?:(.*): )?(.*) failed at (\S+):\d+: (\w+)")
OF_DEVICES = re.compile(
    r"(no usable CUDA device|GPU \d+ \(.*\) cannot be used|no code for GPU \d+ \(.*\)"
    r" in this build): ")
OF_LIBRARY = re.compile(r"(?:(.*): )?peer grid barrier: ([^:]*)()(): pretended error (\d+)")

NUMBER = re.compile(r"\t(-?[0-9.]+(e[-+]?[0-9]+)?|nan)(\t|$)")  # headers have none

Call = collections.namedtuple(
    "Call", "command scenario process gpu name offset site way occurrence measuring last")
Result = collections.namedtuple("Result", "code out err")


def options_of_sanitizers(leaks):
    return {"ASAN_OPTIONS": f"exitcode=86:detect_leaks={int(leaks)}",
            "UBSAN_OPTIONS": "print_stacktrace=1:exitcode=86"}


def run(folder, command, scenario, environment):
    name, *arguments = command.split()
    try:
        done = subprocess.run(
            [os.path.join(folder, name), "--all", *arguments], env=dict(environment, STAND_IN=scenario),
            capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return Result(None, "", "")
    return Result(done.returncode, done.stdout, done.stderr)


def rows_of(out):
    """The lines of an output but comments."""
    return [line for line in out.splitlines() if line and not line.startswith("#")]


def is_rectangular(out):
    """Whether each row has as many cells as its header, and the last one its end."""
    cells = None
    for line in rows_of(out):
        if not NUMBER.search(line):
            cells = line.count("\t")
        elif line.count("\t") != cells:
            return False
    return out == "" or out.endswith("\n")


class Functions:
    """Names of the functions of a program by offset."""

    def __init__(self, path):
        listed = subprocess.run(["nm", "-C", "--defined-only", path], check=True,
                                capture_output=True, text=True).stdout
        found = {}
        for line in listed.splitlines():
            address, kind, name = line.split(" ", 2)
            if kind in "tTwWuVi":
                found[int(address, 16)] = name
        self.starts = sorted(found)
        self.names = [found[start] for start in self.starts]

    def of(self, offset):
        """Function and offset in it of a call that returns to `offset`."""
        if offset == "?":
            return "?", 0
        address = int(offset, 16) - 1
        index = bisect.bisect(self.starts, address) - 1
        return self.names[index], address - self.starts[index]


def record(folder, command, scenario, environment):
    """The undisturbed run, and the first call of each place, in order. A call is `last` where nothing
    of its process needs the right GPU after it."""
    with tempfile.TemporaryDirectory() as temporary:
        path = os.path.join(temporary, "calls")
        result = run(folder, command, scenario + " calls=" + path, environment)
        with open(path, encoding="utf-8") as file:
            lines = [line.split("\t") for line in file]
    functions = Functions(os.path.join(folder, command.split()[0]))
    counts, latest = collections.Counter(), collections.Counter()
    known, measuring, ends, first = {}, set(), {}, {}
    for index, (number, process, gpu, name, offset, stack, _) in enumerate(lines):
        # Pitfalls starts many processes of one number: the first stands for all.
        if int(number) <= latest[process]:
            latest[process] = sys.maxsize
            continue
        latest[process] = int(number)
        if (name, offset, stack) not in known:
            caller = functions.of(offset)
            frames = tuple(functions.of(at) for at in stack.split(";")[:-1])
            way = (name, caller, frames)
            known[name, offset, stack] = (
                (name, *caller), way,
                any(frame[0].startswith("syncbench::MeasuringRun::measure(") for frame in frames),
                name == "cudaGetDevice" and not is_in_destructor(name, way))
        site, way, measures, needs_gpu = known[name, offset, stack]
        if measures:
            measuring.add(process)
        key = process, gpu, name, offset
        counts[key] += 1
        if needs_gpu:
            ends[process] = index
        if site not in first:
            first[site] = index, key, site, way, counts[key], process in measuring
    return result, [Call(command, scenario, *key, *more, index >= ends.get(key[0], -1))
                    for index, key, *more in first.values()]


def choose(calls, runs):
    """(pairs of a call and a fault, evenly spread over all places; how many places there are)"""
    first = {}
    for call in calls:
        first.setdefault(call.site, call)
    count = min(runs, len(first))
    pairs = [(call, FAULTS[number % len(FAULTS)]) for number, call in enumerate(first.values())]
    return [pairs[number * len(pairs) // count] for number in range(count)], len(pairs)


def is_asking(call, code):
    where = call.site[1].replace("(anonymous namespace)::", "")
    return code == 801 and any(where.startswith(function) and call.name.startswith(name)
                               for function, name in ASKING)


def is_in_destructor(call, way):
    """Where errors show in what comes next, if it matters to anything. That of what a shared_ptr
    has may be inlined in _M_dispose()."""
    _, caller, frames = way
    return call in GIVING_BACK or any(
        "::~" in name or "_M_dispose()" in name for name, _ in (caller, *frames)) or (
        # CurrentDevice, which has restored the device before where errors count.
        call == "cudaSetDevice" and caller[0].startswith("peer_grid::"))


def is_near(row, other):
    """Whether rows are the same but for what clocks read when they begin later."""
    cells, others = row.split("\t"), other.split("\t")
    if len(cells) != len(others):
        return False
    for cell, expected in zip(cells, others):
        try:
            if cell != expected and not abs(float(cell) - float(expected)) <= 32 + 0.01 * abs(
                    float(expected)):
                return False
        except ValueError:
            return False
    return True


def is_part(rows, whole):
    """Whether rows are of the whole, in its order."""
    rest = iter(whole)
    return all(any(is_near(row, other) for other in rest) for row in rows)


def judge(call, fault, result, reference):
    """What is wrong with a run in which a call has failed."""
    code = fault[1]
    program = call.command.split()[0]
    if result.code is None:
        return [f"no end within {LIMIT_S} s"]
    wrong = []
    errors = [line for line in result.err.splitlines() if "error: " in line]
    if re.search("stand-in:|Sanitizer|runtime error:", result.err):
        wrong.append("a complaint of the stand-in or of a sanitizer")
    if result.code not in (0, 1, 3, 4):
        return wrong + [f"exit code {result.code}"]
    if not is_rectangular(result.out):
        wrong.append("rows are cut")
    rows, whole = rows_of(result.out), rows_of(reference.out)
    # Pitfalls goes on with the next case. A failing call in a destructor takes no time, so
    # what follows begins earlier.
    skips = is_asking(call, code) or program == "Pitfalls"
    expected = whole if skips else whole[:len(rows)]
    is_later = skips or is_in_destructor(call.name, call.way)
    if not (is_part(rows, expected) if is_later else rows == expected):
        wrong.append("rows differ from those of an undisturbed run")
    for line in result.err.splitlines():
        if line not in errors and line not in reference.err.splitlines() and not (
                is_expected(line, call, code, program, reference)):
            wrong.append("an unexpected line on stderr: " + line)
    if result.code == 0:
        wrong += judge_success(call, fault, errors)
        if len(rows) != len(whole) and not is_asking(call, code):
            wrong.append("rows are missing, and the exit code is 0")
        return wrong
    if result.code == 3 and call.measuring:
        wrong.append("exit code 3 in the middle of a measurement")
    if len(errors) != 1 or not errors[0].startswith(program + ": error: "):
        return wrong + [f"{len(errors)} lines of errors"]
    if is_asking(call, code) and SKIPPED.search(errors[0]):
        return wrong
    return wrong + judge_message(call, fault, result.code, errors[0])


def is_expected(line, call, code, program, reference):
    """Whether a line tells why rows are missing: as in the reference, perhaps of fewer methods,
    or because of the fault."""
    told = TOLD.fullmatch(line)
    return told is not None and (
        is_asking(call, code) or told[1] in reference.err or
        program == "Pitfalls" and told[1].endswith("error " + ERROR_NAMES[code]))


def judge_success(call, fault, errors):
    """Whether a run may end well although a call has failed."""
    wrong = ["an error, and exit code 0"] if errors else []
    mode, code = fault
    ignored = is_in_destructor(call.name, call.way) and (mode != "sticky" or call.last)
    # A guard keeps the error for the next one. After the last, no row is measured.
    guard = call.name == "cudaSetDevice" and call.last
    if not (ignored or guard or is_asking(call, code)):
        wrong.append("the error is ignored")
    return wrong


def judge_message(call, fault, exit_code, line):
    """Whether an error names call, place and point."""
    mode, code = fault
    text = line.split(": error: ", 1)[1]
    if exit_code == 3:
        return [] if OF_DEVICES.match(text) else ["an error of devices that is none"]
    # CUB and libcu++ return and throw errors of their own for some calls.
    if any(re.search("cub::|cuda::", name) for name, _ in (call.way[1], *call.way[2])):
        own = r".*: (cub::DeviceReduce::Sum failed at .*array_sums\.cu:\d+: cudaE|cudaError \d+: )"
        return [] if re.match(own, text) else ["the error of CUB does not name the point"]
    if call.name.startswith("nccl"):
        own = rf"(.*: )?{call.name}: pretended error$"
        return [] if re.match(own, text) else ["the error of NCCL does not name the call"]
    found = OF_LIBRARY.match(text) or OF_CALL.match(text)
    if not found:
        return ["the error names neither call nor place"]
    point, expression, path, name = found.groups()[:4]
    wrong = []
    # What stays may be met first by the thread of another GPU.
    elsewhere = mode == "sticky" and "gpus=2" in call.scenario
    named = NAMES.get(call.name, call.name) in expression or (
        # A function of the suite that does nothing but launch.
        "Launch" in call.name and re.match(r"launch_\w+\(", expression))
    if not (named or is_in_destructor(call.name, call.way) or elsewhere):
        wrong.append("the error does not name the call")
    if path and not re.search(r"\.(cpp|hpp|cu|cuh)$", path):
        wrong.append("the error does not name the place")
    if not is_in_destructor(call.name, call.way) and (
            name or ERROR_NAMES[int(found[5])]) != ERROR_NAMES[code]:
        wrong.append("the error is another one")
    if call.measuring and not point:
        wrong.append("the error does not name the point")
    return wrong


def check_judge():
    """It has to find each of these."""
    call = Call("Program 1", "gpus=1", "-1", "0", "cudaMalloc", "1", ("cudaMalloc", "f()", 1),
                ("cudaMalloc", ("f()", 1), ()), 1, True, False)
    reference = Result(0, "# title\nmethod\tm\na\t1.5\nb\t2.5\n", "")
    good = Result(1, "# title\nmethod\tm\na\t1.5\n", "Program: error: a on 1, 1 x 32: "
                  "cudaMalloc(&data, size) failed at /common/memory.hpp:3: cudaErrorUnknown (999)\n")
    wrong = [good._replace(out=out) for out in (
        good.out + "b\t2", good.out[:-1], good.out + "b\n", good.out + "c\t2.5\n")]
    wrong += [good._replace(code=-11), good._replace(err=good.err.replace("Program", "Other"))]
    wrong += [good._replace(err=good.err + line) for line in (
        good.err, "stand-in: leak: 1 allocations\n", "==1==ERROR: LeakSanitizer: detected memory leaks\n",
        "a.cpp:1:1: runtime error: signed integer overflow\n")]
    assert not judge(call, ("once", 999), good, reference)
    for result in wrong:
        assert judge(call, ("once", 999), result, reference), result


def scenario_of(call, fault):
    mode, code = fault
    return (f"{call.scenario} fail_at={call.occurrence} fail_call={call.name} "
            f"fail_from={call.offset} fail_gpu={call.gpu} fail_process={call.process} "
            f"fail_mode={mode} fail_code={code}")


def find_leak_check(folder, commands):
    """Environment of all runs, and what to say where LeakSanitizer cannot run."""
    environment = dict(os.environ, **options_of_sanitizers(True))
    result = run(folder, commands[0][0].split()[0] + " --version", "gpus=1", environment)
    if result.code == 0:
        return environment, ""
    environment.update(options_of_sanitizers(False))
    return environment, ", without LeakSanitizer, which cannot run here"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=AT_ONCE)
    given = parser.parse_args()
    check_judge()
    folder = given.folder
    start = time.monotonic()
    commands = [command for command in COMMANDS if given.only in command[0]]
    environment, note = find_leak_check(folder, commands)
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        recorded = list(pool.map(
            lambda command: record(folder, *command, environment), commands))
        references = {command: result for (command, _), (result, _) in zip(commands, recorded)}
        for command, result in references.items():
            if result.code != 0 or not rows_of(result.out) or not is_rectangular(result.out):
                print(f"FAILED undisturbed: {command}: {result}")
                return 1
        calls = [call for _, calls in recorded for call in calls]
        chosen, sites = choose(calls, given.runs)
        prepared = time.monotonic()
        print(f"recorded in {prepared - start:.0f} s", flush=True)
        plans = [scenario_of(call, fault) for call, fault in chosen]
        results = pool.map(
            lambda work: run(folder, work[0][0].command, work[1], environment),
            zip(chosen, plans))
        failed = 0
        for (call, fault), plan, result in zip(chosen, plans, results):
            wrong = judge(call, fault, result, references[call.command])
            if wrong:
                failed += 1
                print(f"FAILED {call.name} in {call.site[1]}: {'; '.join(wrong)}\n"
                      f"  exit code {result.code}: STAND_IN='{plan}' {folder}/{call.command}\n"
                      + "".join(f"  | {line}\n" for line in result.err.splitlines()[:12]),
                      flush=True)
    print(f"{len(chosen)} of {sites} places that call failed, {failed} judged wrong, "
          f"{time.monotonic() - start:.0f} s{note}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
