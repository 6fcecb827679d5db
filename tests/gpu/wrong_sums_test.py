"""GPU test: a sum that nobody writes is wrong in its row, has no rate, as nothing is timed, and
ends Reduction with exit code 1; how long the CPU takes to queue a sum is in `host` and not in
`GB/s`.

usage: wrong_sums_test.py WRONG_SUMS
"""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from parts import tsv  # noqa: E402

done = subprocess.run([sys.argv[1], "1", "--method", "unwritten,slow,cub", "--type", "int",
                       "--min-bytes", "64M", "--max-bytes", "64M", "--samples", "10"],
                      capture_output=True)
if done.returncode == 3:
    print("skipped: no GPU")
    sys.exit(77)
errors = done.stderr.decode()
assert done.returncode == 1 and "wrong sums in 1 rows" in errors, (done.returncode, errors)
rows = {row["method"]: row for row in tsv.parse(done.stdout)[0].rows}
assert [rows[name]["right"] for name in ("unwritten", "slow", "cub")] == ["0", "1", "1"], rows
assert rows["unwritten"]["m(GB/s)"] == "nan" and "unwritten" in errors, (rows, errors)
rates = [float(rows[name]["m(GB/s)"]) for name in ("slow", "cub")]
assert 0.8 < rates[0] / rates[1] < 1.25, rates
assert float(rows["slow"]["m(host)"]) > 2000, rows["slow"]
print("a wrong sum is told, and a slow CPU is not in the GPU's time")
