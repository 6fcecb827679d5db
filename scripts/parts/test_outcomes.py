#!/usr/bin/env python3
"""Ends test.sh: says from CTest's JUnit file what passed, failed and was skipped, and why."""

import sys
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # scripts/
from parts import command_line


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("junit", help="what ctest --output-junit has written")
    parser.add_argument("--gpu", action="store_true",
                        help="a GPU is present: a GPU test that was skipped has failed")
    options = parser.parse_args()
    try:
        cases = list(xml.etree.ElementTree.parse(options.junit).getroot().iter("testcase"))
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        sys.exit(f"test.sh: ctest has left no report: {error}")
    passed, failed, skipped = [], [], []
    for case in cases:
        output = (case.findtext("system-out") or "").strip()
        wants_gpu = "no usable CUDA device" in output
        # A test whose program is missing is "notrun" too, with another message.
        skip = case.find("skipped[@message]")
        if case.get("status") == "run":
            status = passed
        elif (skip is not None and skip.get("message").startswith("SKIP_")
              and not (options.gpu and wants_gpu)):
            status = skipped
        else:
            status = failed
        status.append((case.get("name"), output))
    print()
    for name, output in failed:
        print(f"--- {name}\n{output}\n")
    reasons = {}
    for name, output in skipped:
        reason = output.splitlines()[-1] if output else "no reason"
        reasons.setdefault(reason.replace("skipped: ", "", 1), []).append(name)
    for reason, names in reasons.items():
        print(f"skipped: {reason}: {', '.join(names)}")
    if not options.gpu:
        print("not checked: what needs a GPU")
    for name, _ in failed:
        print(f"FAILED: {name}; again with: ctest --test-dir build --output-on-failure -R '^{name}$'")
    print(f"{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    command_line.main(work, "test_outcomes.py")
