import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import sandbox_support  # noqa: E402
from fixtures import project, pytest_collection_modifyitems, pytest_configure  # noqa: E402
from support import ordinary_user  # noqa: E402

__all__ = ["project", "pytest_collection_modifyitems", "pytest_configure"]


@pytest.fixture(params=["root", "user"])
def someone(request):
    """A project of root's, if the tests run as root, and one of an ordinary user's."""
    yield from sandbox_support.projects(request.param)


@pytest.fixture(params=["root", "ordinary user"])
def whoever(request, project):
    """Keywords for run(), in a function to be called when the project is ready: as root, and as a user who owns all of it."""
    if request.param == "root":
        return dict
    return lambda: ordinary_user(project, project.base, *project.base.rglob("*"))
