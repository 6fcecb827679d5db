"""Runs the tests of a script several at a time, as most of them wait for programs."""
import os
import unittest
from concurrent.futures import ThreadPoolExecutor

# tests/CMakeLists.txt counts on no more processors.
AT_ONCE = max(2, min(4, os.cpu_count() or 2))


class Suite(unittest.TestSuite):
    """Of one class, without setUpClass()."""

    at_once = AT_ONCE

    def run(self, result, debug=False):
        assert not any("setUpClass" in type(test).__dict__ for test in self)
        with ThreadPoolExecutor(self.at_once) as pool:
            list(pool.map(lambda test: test(result), self))
        return result


def main(at_once=AT_ONCE):
    """As unittest.main(): all tests, or those that are named."""
    Suite.at_once = at_once
    loader = unittest.TestLoader()
    loader.suiteClass = Suite
    unittest.main(testLoader=loader)
