import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
from support import Project, ordinary_user  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than a few seconds; leave out with -m 'not slow'")


@pytest.fixture
def project(tmp_path):
    """A fresh project folder and all that a test does with it: see support.Project."""
    fresh = Project(tmp_path)
    yield fresh
    fresh.clean_up()


@pytest.fixture(params=["root", "ordinary user"])
def whoever(request, project):
    """Keywords for run(), in a function to be called when the project is ready: as root, and as a user who owns all of it."""
    if request.param == "root":
        return dict
    return lambda: ordinary_user(project, project.base, *project.base.rglob("*"))
