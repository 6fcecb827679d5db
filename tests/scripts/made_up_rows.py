"""Outputs of the executables, made up for the tests of scripts/."""

import re


CHOSEN = {"ovh": "rep,idea(wkld)", "cpu": "rep", "diff_thrput": "rep"}  # by the mean


def section(title, header, *rows):
    """A section of an output; cells are given with blanks between them. Rows are judged by the mean
    of the last interval."""
    head, *rows = ("\t".join(line.split()) + "\n" for line in (header, *rows))
    main = next(iter(re.findall(r"\tci95\((.+?)\)", head)[-1:]), "")
    chosen = f" chosen={CHOSEN[main]}" if main in CHOSEN and "\trep\t" in head else ""
    said = f"# section[main={main}{chosen}]\n" * bool(main)
    return f"# {title}\n{head}{said}" + "".join(rows)


def ended(text):
    """An output with an end that is right, for tests that change its rows."""
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("# end[")]
    rows = sum(not line.startswith(("#", "method\t")) for line in lines)
    return "".join(lines) + f"# end[rows={rows}]\n"


LAUNCHES = "method GPUCount rep blk thrd idea(wkld) m(ovh) s(ovh) n ci95(ovh)"
LATENCY = "method GPUcount rep blk thrd m(ave_cycle) s(ave_cycle) tile n ci95(ave_cycle)"
BLOCK_LATENCY = LATENCY.replace(" tile", "")
LIBRARY = "method nodes processes GPUcount bytes blk thrd m(op) s(op) n ci95(op)"
GRID = "method GPUcount basicrep moredrep blk thrd m(avginstru) s(avginstr) n ci95(avginstru)"
SUM = "method type GPUcount bytes inputs in_L2 m(GB/s) s(GB/s) m(host) s(host) right n ci95(GB/s)"
NODE_SUM = SUM.replace(" inputs in_L2", "")
WARP_SUM = "method type rep m(ave_cycle) s(ave_cycle) right n ci95(ave_cycle)"
LOOP = "method type thrd bytes m(cycle) s(cycle) bandwidth latency concurrency ci95(cycle)"
SWITCH = "method type basic more cost m(sync) s(sync) measured ci95(sync)"
FIELD = ("method GPUcount cells width rows layers steps blk thrd m(step) s(step) GB/s sync right n "
         "ci95(step) nodes processes")
PARTIAL = "method form outcome T launches"
REPEAT = "method rep blk thrd tile m(cycle) s(cycle) m(ave_cycle) s(ave_cycle) ci95(ave_cycle)"
ROWS = {  # of two GPUs with 132 SMs
    "ImplicitBarrier": '# gpu[index=0 name="NVIDIA H200" sms=132]\n' + section(
        "sleep kernel", LAUNCHES, "traditional_launch 1 8 132 1024 5000 1081.250 3.500 100 1.000",
        "multi_cooperative_launch 1 8 1 32 5000 1201.000 2.000 100 1.000",
        "multi_cooperative_launch 2 8 1 32 5000 7202.000 2.000 100 1.000",
        "single_omp_traditional_launch 2 8 1 32 5000 nan nan 100 nan"),
    "BenchmarkIntraSM": section(
        "block latency", BLOCK_LATENCY, "blocksync 1 64 1 32 22.125 0.500 100 0.100",
        "blocksync 1 64 1 1024 64.000 1.000 100 0.100") + section(
        "warp latency", LATENCY, "tile_sync 1 64 1 32 1.000 0.000 16 100 0.000")
    + "# note[nothing-waits below=3.5] tile_sync: x\n",
    "BenchmarkInterSM": section(
        "grid latency: how it was sampled", GRID, "grid_sync 1 1 9 132 32 1075.500 0.250 100 0.100")
    + "grid_sync\t1\t1\t9\t4224\t64\t8420.000\t0.750\t100\t0.100\n"
    + "# warning[spread percent=9] grid_sync GPUcount=1 blk=132 thrd=32: the spread of this row is far\n" + section(
        "multi-GPU latency: how it was sampled", GRID,
        "peer_grid_sync 1 1 9 132 32 875.500 0.250 100 0.100",
        "peer_grid_sync 2 1 9 132 32 2175.500 0.250 100 0.100",
        "peer_grid_sync 2 1 9 4224 64 3168.250 0.250 100 0.100"),
    "TestRepeat": section("repeats", REPEAT, "blocksync 1 1 32 32 30.000 1.000 30.0000 1.0 0.1"),
    "Reduction": section(
        "warp level", WARP_SUM, "nosync double 64 18.000 0.100 0 9 0.010",
        "tile double 64 110.000 0.100 1 9 0.010", "tile int 64 90.000 0.100 1 9 0.010") + section(
        "shared memory: bandwidth", LOOP,
        "shared_loop double 1 32768 22210.0 0.1 1.475 5.422 8.0 0.1",
        "shared_loop double 32 32768 2221.0 0.1 14.754 5.422 80.0 0.1") + section(
        "switching points", SWITCH, "switch_point double 1 32 barriers 90.0 0.1 136.0 0.1",
        "switch_point double 1 32 steps 60.0 0.1 136.0 0.1")
    + "# warning[spread] switch_point type=double more=32: far\n" + section(
        "one GPU", SUM, "theory any 1 nan nan nan 4814.304 nan nan nan nan 0 nan",
        *(f"cub {name} 1 {size} 1 0 {rate} 9.000 2.000 0.500 1 9 1.000" for name, size, rate in (
            ("int", 1048576, "172.500"), ("float", 1048576, "168.750"),
            ("float", 2097152, "318.750"), ("float", 8589934592, "4551.250"))))
    + "# warning[spread] cub type=float GPUcount=1 bytes=1048576: the spread is far\n" + section(
        "strong scaling", NODE_SUM, *(
            f"peer_grid float {gpus} {size} {rate} 9.000 2.000 0.500 1 9 1.000"
            for gpus, size, rate in ((1, 1048576, "80.250"), (1, 68719476736, "4516.500"),
                                     (2, 68719476736, "9003.250"))))
    + "# warning[spread] peer_grid type=float GPUcount=2 bytes=68719476736: far\n" + section(
        "weak scaling", NODE_SUM, *(
            f"peer_grid float {gpus} {size} {rate} 9.000 2.000 0.500 1 9 1.000"
            for gpus, size, rate in ((1, 68719476736, "4517.500"), (2, 137438953472, "9027.250"))))
    + "# warning[spread] peer_grid type=float GPUcount=2 bytes=137438953472: far\n",
    "Stencil": section(
        "time steps 2D", FIELD, "grid_sync 1 540672 512 1 1056 496 132 1024 2100.500 0.500 2059.1 40.1 1 20 0.500 1 1",
        "traditional_launch 1 540672 512 1 1056 496 132 1024 3100.500 0.500 1395.1 -0.1 1 20 0.500 1 1"),
    "Libraries": section("barriers of libraries", LIBRARY,
                         "nccl_all_reduce_unregistered 1 1 2 8 nan nan 6100.250 20.500 60 5.250",
                         "nccl_lsa_grid 1 1 2 nan 132 1024 3200.250 20.500 60 5.250"),
    "Pitfalls": section("warp barrier", "method lane start end", "no_sync 0 0 2",
                        "no_sync 1 164 166", "syncwarp 0 0 166", "syncwarp 1 164 170")
    + section("warp barrier verdict", "method blocks launches held wrong", "no_sync 0 100 0 0",
              "syncwarp 1 100 100 0")
    + section("partial groups", PARTIAL) + "".join(
        f"{method}\t{form}\t{outcome}\t1.000\t1\n" for method, form, outcome in (
            ("part_syncwarp", "exits early", "completed"),
            ("part_syncwarp", "stays and skips", "no progress within 1 s"),
            ("crowded_grid_sync", "too many blocks", "error cudaErrorNotSupported")))
    + section("races", "method form tries wrong", "lost_updates wrong 1000 999",
              "lost_updates right 1000 0")}
ROWS_BEFORE13 = {
    "BenchmarkIntraSM": section("warp latency", LATENCY,
                                "tile_sync 1 64 1 32 23.000 0.000 16 100 0.000"),
    "BenchmarkInterSM": section("multi-GPU latency", GRID,
                                "multi_grid_sync 2 1 9 132 32 7285.500 0.250 100 0.100"),
    "TestRepeat": section("repeats", REPEAT, "tile_sync 1 1 32 32 1 1 1 1 1",
                          "multi_grid_sync 1 132 32 32 1 1 1 1 1"),
    "Reduction": section("warp level", WARP_SUM, "tile double 64 115.000 0.100 1 9 0.010")
    + section("strong scaling", NODE_SUM,
              "multi_grid float 2 68719476736 8900.250 9.000 2.000 0.500 1 9 1.000"),
    "Stencil": section("time steps 2D", FIELD, "multi_grid_sync 2 540672 512 1 1056 496 132 1024 "
                       "7100.500 0.500 1218.1 80.1 1 20 0.500 1 1"),
    "Pitfalls": section("partial groups", PARTIAL)
    + "part_multi_grid_gpus\tas allowed\tcompleted\t1.000\t10\n"}
ENVIRONMENT = "key\tvalue\ngpu\tNVIDIA H200\ngpu_count\t2\nsms\t132\nsuite_commit\tabc\n"
