"""What a run cost, as the agents tell it."""
import pytest

from support import DONE


def play_two_turns(agent):
    agent.play(agent.calls(agent.shell("true"), usage={"input": 1000, "output": 100, "cache_read": 300}),
               agent.says(DONE, usage={"input": 2000, "output": 50}))
    result = agent.run("run", "-p", "do it")
    assert result.code == 0, result
    return agent.last("agent_ended")


def test_tokens_are_in_the_journal(agent):
    ended = play_two_turns(agent)
    assert ended["outputTokens"] == 150 and ended["cacheReadTokens"] == 300, ended
    # Anthropic counts cached tokens apart from the others, the rest among them.
    assert ended["inputTokens"] == (3000 if agent.name == "claude" else 2700), ended
    assert ended["tools"] == 1 and ended["unknownEvents"] == 0 and ended["session"]


@pytest.mark.only("claude", "opencode")
def test_the_cost_is_in_the_journal(agent):
    ended = play_two_turns(agent)
    assert ended["costUsd"] > 0 and agent.last("run_ended")["costUsd"] == ended["costUsd"]


@pytest.mark.only("claude")
def test_a_budget_ends_the_agent_while_it_works(agent):
    agent.play(agent.calls(agent.shell("echo one"), usage={"input": 500000, "output": 100}),
               exhausted=agent.calls(agent.shell("echo more")))
    agent.settings({"budget": {"maxTokens": 100000}})
    result = agent.run("run", "-p", "do it")
    assert result.code == 1, result
    assert "budget" in agent.last("run_ended")["reason"].lower() or "token" in agent.last("run_ended")["reason"].lower()
    assert len(agent.requests()) < 20
    agent.nothing_left()
