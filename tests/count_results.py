#!/usr/bin/env python3
"""Prints "PASSED FAILED SKIPPED" for the JUnit reports of one suite: count_results.py EXIT_CODE REPORT...

A suite that failed without a failure in its report (it crashed, or wrote none) counts as one failure; pytest's exit
code 5 says that no test was chosen, which is no failure.
"""
import sys
import xml.etree.ElementTree as ElementTree

NO_TEST_CHOSEN = 5


def count(path):
    """(passed, failed, skipped) over all suites of a report; zeros if it cannot be read."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return 0, 0, 0
    tests = failed = skipped = 0
    for suite in root.iter("testsuite"):
        tests += int(suite.get("tests", 0))
        failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped += int(suite.get("skipped", 0)) + int(suite.get("disabled", 0))
    return max(0, tests - failed - skipped), failed, skipped


def main():
    exit_code = int(sys.argv[1])
    passed, failed, skipped = map(sum, zip(*map(count, sys.argv[2:])))
    if exit_code not in (0, NO_TEST_CHOSEN) and failed == 0:
        failed = 1
    print(passed, failed, skipped)


if __name__ == "__main__":
    main()
