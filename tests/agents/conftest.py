import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import support  # noqa: E402


@pytest.fixture(scope="session")
def private_network():
    reason = support.no_private_network()
    if reason:
        pytest.skip(f"skipped: {reason}")


def pytest_generate_tests(metafunc):
    """A test that takes `agent` is run with each CLI, or with those that its mark `only` names."""
    if "agent" in metafunc.fixturenames:
        only = metafunc.definition.get_closest_marker("only")
        metafunc.parametrize("agent", only.args if only else list(support.KINDS), indirect=True)


@pytest.fixture
def background():
    """For a session that has to be watched while it runs."""
    with ThreadPoolExecutor(1) as executor:
        yield executor


@pytest.fixture
def agent(request, tmp_path, private_network):
    """A project whose agent is a real CLI: see support.Agent."""
    reason = support.missing(request.param)
    if reason:
        pytest.skip(f"skipped: {reason}")
    fresh = support.Agent(tmp_path, support.KINDS[request.param])
    yield fresh
    fresh.clean_up()


def pytest_configure(config):
    config.addinivalue_line("markers", "only(*names): only with these agents")
