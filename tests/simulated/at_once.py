"""Runs the tests of a script several at a time, as most of them wait for programs."""
import itertools
import os
import time
import unittest
from concurrent.futures import ThreadPoolExecutor, as_completed

# tests/CMakeLists.txt counts on no more processors.
AT_ONCE = max(2, min(4, os.cpu_count() or 2))


def tests_of(suite):
    if isinstance(suite, unittest.TestSuite):
        return itertools.chain.from_iterable(map(tests_of, suite))
    return [suite]


def result_of(test):
    result = unittest.TestResult()
    test(result)
    return result


class Runner:
    """For unittest.main(). A test that fails is told when it does, not at the end."""

    def __init__(self, at_once):
        self.at_once = at_once

    def run(self, suite):
        tests, start = list(tests_of(suite)), time.monotonic()
        total = unittest.TestResult()
        classes = dict.fromkeys(map(type, tests))
        for one in classes:
            one.setUpClass()
        with ThreadPoolExecutor(self.at_once) as pool:
            for done in as_completed([pool.submit(result_of, test) for test in tests]):
                result = done.result()
                total.testsRun += result.testsRun  # none ran is an error of unittest.main()
                for kind in ("failures", "errors", "skipped"):
                    getattr(total, kind).extend(getattr(result, kind))
                for test, text in result.failures + result.errors:
                    print(f"FAIL: {test}\n{text}", flush=True)
        for one in classes:
            one.tearDownClass()
            one.doClassCleanups()
        print(f"Ran {len(tests)} tests in {time.monotonic() - start:.1f} s")
        count, skipped = len(total.failures) + len(total.errors), len(total.skipped)
        for _, why in total.skipped:
            print(f"skipped: {why}")
        print(f"FAILED ({count})" if count else f"OK (skipped={skipped})" if skipped else "OK")
        return total


def main(at_once=AT_ONCE):
    """As unittest.main(): all tests, or those that are named."""
    unittest.main(testRunner=Runner(at_once))
