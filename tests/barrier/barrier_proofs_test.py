"""Has each barrier of blocks over memory its proofs: a model that tries every order of steps, and
a test on GPUs of what it orders?

usage: barrier_proofs_test.py BENCHMARKINTERSM
"""
import re
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PROOFS = ("barrier/*_model_test.cpp", "gpu/*order_test.cu", "gpu/exchange_test.cu")
# Of a library; in use; a word and back; or with tests of its own, as peer_grid_model_test.
OTHERS = r"(multi_)?grid_sync|cub_|peer_grid_sync|in_use_|ping_pong|(named_)?semaphore"


def main():
    listed = subprocess.run([sys.argv[1], "--machine-code", "90"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.splitlines()
    head, *rows = [line.split("\t") for line in listed]
    methods = [dict(zip(head, row)) for row in rows]
    barriers = {method["method"] for method in methods
                if method["proof"] != "rate" and not re.match(OTHERS, method["method"])}
    kinds = {"model": PROOFS[:1], "test on GPUs": PROOFS[1:]}
    missing = []
    for kind, patterns in kinds.items():
        text = "".join(path.read_text() for pattern in patterns for path in TESTS.glob(pattern))
        for name in sorted(barriers):
            of_any_size = re.sub(r"_\d+$", r"(_\\d+)?", name)
            if not re.search(rf'"{of_any_size}["),]', text):
                missing.append(f"{name}: FAILED: no {kind}")
    print("\n".join(missing) or f"{len(barriers)} barriers have their proofs")
    return bool(missing) or not barriers


if __name__ == "__main__":
    sys.exit(main())
