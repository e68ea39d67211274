"""What every folder of end-to-end tests has in its conftest.py."""
import pytest

from support import Project


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than a few seconds; leave out with -m 'not slow'")


@pytest.fixture
def project(tmp_path):
    """A fresh project folder and all that a test does with it: see support.Project."""
    fresh = Project(tmp_path)
    yield fresh
    fresh.clean_up()
