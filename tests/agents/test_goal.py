"""ralph beside the hosts' own /goal: what Claude Code says in the agent's name is not the agent's word, what it refuses to do is
said, and a loop that gives up really ends the turn."""
import pytest

from support import DONE

in_claude = pytest.mark.only("claude")


# ---- ralph run

@in_claude
def test_an_echoed_goal_is_no_answer(agent):
    agent.play(agent.says("I looked around."))
    result = agent.run("run", "-p", f"/goal mend it, then answer {DONE}", "-m", "1")
    assert "Goal set" in next(agent.path.glob(".ralph/runs/*/agent_1.out")).read_text(), "the host does echo it"
    assert result.code == 1 and agent.last("run_ended")["status"] == "limit", result


@in_claude
def test_a_goal_that_claude_code_does_not_take_ends_the_run(agent):
    agent.play(agent.says(DONE))
    result = agent.run("run", "-p", "/goal " + "mend it. " * 500, "-m", "3")
    assert result.code == 2 and agent.requests() == [], result
    assert [r["outcome"] for r in agent.records("agent_ended")] == ["refused"], "and it is not tried again"
    assert "4000" in agent.last("run_ended")["reason"], result
