import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import sandbox_support  # noqa: E402
from egress_support import server, upstream  # noqa: E402
from fixtures import project, pytest_collection_modifyitems, pytest_configure  # noqa: E402

__all__ = ["project", "pytest_collection_modifyitems", "pytest_configure", "server", "upstream"]


@pytest.fixture(params=["root", "user"])
def someone(request):
    """A project of root's, if the tests run as root, and one of an ordinary user's."""
    yield from sandbox_support.projects(request.param)


@pytest.fixture
def small_disk(project):
    """A disk of one megabyte at the project's .ralph/, if this user may mount one."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    project.ralph.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=755", "tmpfs", str(project.ralph)],
                             capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip("mount was refused: " + mounted.stderr.strip())
    yield project
    project.clean_up()
    subprocess.run(["umount", "-l", str(project.ralph)], check=True)
