import contextlib
import os
import shutil
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


@contextlib.contextmanager
def disk_of_a_megabyte(project, folder):
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    folder.mkdir(parents=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=755", "tmpfs", str(folder)], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip("mount was refused: " + mounted.stderr.strip())
    yield project
    project.clean_up()
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def small_disk(project):
    """A disk of one megabyte at the project's .ralph/, if this user may mount one."""
    with disk_of_a_megabyte(project, project.ralph):
        yield project


@pytest.fixture
def full_state(project):
    """The state folder is on a disk that is full."""
    folder = project.home / ".local/state"
    with disk_of_a_megabyte(project, folder):
        (folder / "ballast").write_bytes(b"b" * shutil.disk_usage(folder).free)
        yield project
