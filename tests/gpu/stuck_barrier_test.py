"""GPU test: a barrier of GPUs that cannot complete ends BenchmarkInterSM with code 1
and says which barrier and GPU and how long; what was measured before is kept.

usage: stuck_barrier_test.py EXECUTABLE, a BenchmarkInterSM whose barrier lacks a block
"""
import subprocess
import sys
import time


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    start = time.time()
    done = subprocess.run([sys.argv[1], "1", "--samples", "2", "--blocks-per-sm", "1",
                           "--method", "grid_sync,peer_grid_sync"],
                          capture_output=True, text=True, timeout=600)
    seconds = time.time() - start
    if done.returncode == 3:
        print("no usable CUDA device: skipped")
        return 77
    assert done.returncode == 1, done
    assert ("peer grid barrier: GPU 0 waited 500 ms in barrier 1 of its kernel for its "
            "own blocks" in done.stderr), done.stderr
    assert seconds > 0.5, seconds
    assert sum(line.startswith("grid_sync\t") for line in done.stdout.splitlines()) == 6, \
        done.stdout
    assert "\npeer_grid_sync\t" not in done.stdout, done.stdout
    print(f"the program ended after {seconds:.1f} s: {done.stderr.strip()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
