"""What every folder of end-to-end tests has in its conftest.py."""
import itertools
import os

import pytest

from support import Project


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than a few seconds; leave out with -m 'not slow'")


def pytest_collection_modifyitems(config, items):
    """RALPH_FEW_PARAMETERS=N: every test, but with N of its parameters at the most, spread over all of them."""
    most = int(os.environ.get("RALPH_FEW_PARAMETERS", "0"))
    if not most:
        return
    kept, left_out = [], []
    for _, group in itertools.groupby(items, key=lambda item: (item.path, getattr(item, "originalname", item.name))):
        group = list(group)
        chosen = {round(i * (len(group) - 1) / max(most - 1, 1)) for i in range(most)} if len(group) > most else range(len(group))
        for i, item in enumerate(group):
            (kept if i in chosen else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


@pytest.fixture
def project(tmp_path):
    """A fresh project folder and all that a test does with it: see support.Project."""
    fresh = Project(tmp_path)
    yield fresh
    fresh.clean_up()
