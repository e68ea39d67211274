"""Agents that do not end when their work has."""
import pytest

from support import DONE

HANG = "tail -f /dev/null"


@pytest.mark.only("claude")
def test_a_background_job_does_not_hold_the_loop(agent):
    """Claude itself would wait 600 s for it."""
    agent.play(agent.shell(HANG, run_in_background=True), agent.says(f"The server runs in the background. {DONE}"))
    agent.settings({"agent": {"lingerSeconds": 2}})
    result = agent.run("run", "-p", "do it", "-m", "1")
    assert result.code == 0, result
    assert result.seconds < 40, result
    assert agent.last("run_ended")["status"] == "complete"
    agent.nothing_left()
