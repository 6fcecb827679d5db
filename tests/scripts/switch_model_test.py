"""The study's model of when more threads pay against its own Tables III and IV, and by hand."""

import math
import sys
import unittest
from pathlib import Path

from made_up_rows import ROWS

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from parts import tsv  # noqa: E402
from reporting.switch_model import predicted, switch  # noqa: E402

# Latency, rates, the cost of five synchronizations; then Nl and Nm, and which applies.
STUDY = (((13.0, 0.62, 19.6, 110), (70, 76, "Nm")), ((13.0, 19.6, 215, 420), (9076, 8501, "Nl")),
         ((18.5, 0.43, 13.8, 155), (70, 75, "Nm")), ((18.5, 13.8, 141, 2135), (32681, 29737, "Nl")))


def cycles(first, rate, latency, size):
    """A side of Eq. 2."""
    return first + max(0, size - latency * rate) / rate


class SwitchModelTest(unittest.TestCase):
    def test_table_iv_of_the_study(self):
        for given, (large, medium, case) in STUDY:
            found = switch(*given)
            self.assertEqual(found.case, case)
            for size, printed in ((found.large, large), (found.medium, medium)):
                self.assertAlmostEqual(size / printed, 1, delta=0.02)  # rates have two or three digits

    def test_both_sides_of_equation_2_meet_there(self):
        for given in (*(given for given, _ in STUDY), (10, 1, 2, 3), (10, 1, 1.01, 100),
                      (10, 1, 1000, 1), (10, 2, 4, 0)):
            latency, few, many, sync = given
            size = switch(*given).bytes
            for times, sign in ((0.99, -1), (1, 0), (1.01, 1)):
                off = (cycles(latency, few, latency, times * size)
                       - cycles(latency + sync, many, latency, times * size))
                self.assertEqual(round(off, 6) and math.copysign(1, off),
                                 sign if times > 1 or sync else 0, given)

    def test_no_more_throughput_never_pays(self):
        for rate in (19.6, 19.5, 1e-9):
            found = switch(13, 19.6, rate, 110)
            self.assertEqual((found.case, math.isnan(found.bytes), math.isnan(found.large)),
                             ("never", True, True))

    def test_rows(self):
        sections = {section.title: section for section in tsv.parse(ROWS["Reduction"].encode())}
        loops, row = sections["shared memory"], sections["switching points"].rows[0]
        found = predicted(loops, row)  # 32768 / 22210 and / 2221 bytes a cycle, 90 cycles
        self.assertEqual(found, (147.5, 140.8, "Nl", 147.5))
        loops.rows.pop()
        self.assertIsNone(predicted(loops, row))


if __name__ == "__main__":
    unittest.main()
