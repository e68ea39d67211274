import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from kill_support import why_not_possible  # noqa: E402

def pytest_addoption(parser):
    parser.addoption("--kill-everywhere", action="store_true", help="kill at every point instead of at a sample of them")


@pytest.fixture
def everywhere(request):
    return request.config.getoption("kill_everywhere")


@pytest.fixture(scope="session", autouse=True)
def possible():
    reason = why_not_possible()
    if reason:
        pytest.skip(reason)


def pytest_terminal_summary(terminalreporter):
    """How many points were tried: each test tells its own by record_property."""
    passed, failed = terminalreporter.getreports("passed"), terminalreporter.getreports("failed")
    killed = sum(dict(report.user_properties).get("killed", 0) for report in passed + failed if report.when == "call")
    if killed or failed:
        end = f"NOT all resumed: {len(failed)} tests failed" if failed else "all resumed"
        terminalreporter.write_line(f"killed at {killed} points, {end}")
