#!/usr/bin/env python3
"""Prints "PASSED FAILED SKIPPED" for the JUnit reports of one suite: count_results.py EXIT_CODE REPORT...

A test that stands in more than one report was run again: the last one counts. A suite that failed without a failure in its report (it crashed, or wrote none) counts as one failure; pytest's exit
code 5 says that no test was chosen, which is no failure.
"""
import sys
import xml.etree.ElementTree as ElementTree

NO_TEST_CHOSEN = 5


def outcomes(path):
    """{test: "passed", "failed" or "skipped"} of a report; empty if it cannot be read."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return {}
    found = {}
    for case in root.iter("testcase"):
        test = case.get("classname"), case.get("name")
        if case.find("failure") is not None or case.find("error") is not None:
            found[test] = "failed"
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            found.setdefault(test, "skipped")
        else:
            found.setdefault(test, "passed")
    return found


def main():
    exit_code = int(sys.argv[1])
    last = {}
    for path in sys.argv[2:]:
        last.update(outcomes(path))
    passed, failed, skipped = (list(last.values()).count(outcome) for outcome in ("passed", "failed", "skipped"))
    if exit_code not in (0, NO_TEST_CHOSEN) and failed == 0:
        failed = 1
    print(passed, failed, skipped)


if __name__ == "__main__":
    main()
