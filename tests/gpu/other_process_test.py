"""GPU test: a busy process on the same GPU is noticed, and the barrier of several GPUs
holds beside it, though its blocks are suspended at any step.

usage: other_process_test.py BUILD_DIR
"""
import os
import signal
import subprocess
import sys
import time


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = os.path.join(sys.argv[1], "BenchmarkIntraSM")
    if subprocess.run([program, "--devices"], capture_output=True).returncode == 3:
        print("no usable CUDA device: skipped")
        return 77
    measure = [program, "--samples", "3", "--method", "blocksync"]
    alone = subprocess.run(measure, capture_output=True, text=True)
    assert alone.returncode == 0, alone.stderr
    assert "other process" not in alone.stderr, alone.stderr
    busy = subprocess.Popen([program, "--samples", "100000"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    try:
        time.sleep(3)
        assert busy.poll() is None, "the busy process ended"
        shared = subprocess.run(measure, capture_output=True, text=True)
        order = subprocess.run([os.path.join(sys.argv[1], "barrier_tests"), "multi_gpu_order", "2000"],
                               capture_output=True, text=True)
        assert busy.poll() is None, "the busy process ended"
    finally:
        busy.send_signal(signal.SIGINT)
        busy.wait(timeout=600)
    assert shared.returncode == 0, shared.stderr
    assert "is used by 1 other process" in shared.stderr, shared.stderr
    assert "# warning[shared-gpu gpu=0 processes=1]: " in shared.stdout, shared.stdout
    assert order.returncode == 0, order.stdout + order.stderr
    assert busy.returncode == 130, busy.returncode
    print("the other process was noticed, the barrier held")
    return 0


if __name__ == "__main__":
    sys.exit(main())
