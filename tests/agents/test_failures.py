"""What a loop does when the model is limited, overloaded, not to be had, or the agent stops itself."""
import time

import pytest

import support
from support import DONE

# Google tells a wrong key by 400; the others by 401.
WRONG_KEY = {"gemini": (400, {"body": {"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.",
                                                 "status": "INVALID_ARGUMENT", "details": [{
                                                     "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                                                     "reason": "API_KEY_INVALID", "domain": "googleapis.com"}]}}})}


def outcomes(agent):
    return [r["outcome"] for r in agent.records("agent_ended")]


def decisions(agent, kind):
    return [r for r in agent.records("decided") if r["decision"] == kind]


def plan_limit(agent, reset):
    """Claude's limit of a plan. It is told to those who have one: a token instead of a key."""
    agent.more_environment = {"ANTHROPIC_API_KEY": None, "CLAUDE_CODE_OAUTH_TOKEN": "made-up-token"}
    headers = {"retry-after": "8", "anthropic-ratelimit-unified-status": "rejected",
               "anthropic-ratelimit-unified-reset": str(reset),
               "anthropic-ratelimit-unified-representative-claim": "five_hour"}
    return agent.error(429, "This request would exceed your account's rate limit.", headers=headers, until=reset)


@pytest.mark.only("claude")
def test_a_plan_limit_is_waited_for(agent):
    reset = int(time.time()) + 8
    agent.play(plan_limit(agent, reset), agent.says(f"Now it works. {DONE}"))
    result = agent.run("run", "-p", "do it", "-m", "1")
    assert result.code == 0, result
    assert time.time() >= reset and len(agent.requests()) == 2, "it waited, and did not knock before the time"
    assert decisions(agent, "wait") and outcomes(agent) == ["usage_limit", "ok"]


@pytest.mark.only("claude")
def test_another_agent_goes_on_while_one_is_limited(agent):
    reason = support.missing("codex")
    if reason:
        pytest.skip(f"skipped: {reason}")
    support.Codex.set_up(agent.home)
    limit = {**plan_limit(agent, int(time.time()) + 3600), "unless": "gpt-5.5"}
    agent.more_environment |= support.Codex.environment()
    agent.play(limit, agent.says("Not yet."), agent.says(f"Codex did it. {DONE}"))
    agent.settings({"agent": {"fallback": [str(support.install.program(support.AGENTS, "codex"))]}})
    result = agent.run("run", "-p", "do it", "-m", "2")
    assert result.code == 0, result
    assert [r["agent"].split("/")[-1] for r in agent.records("agent_ended")] == ["claude", "codex", "codex"]
    assert outcomes(agent) == ["usage_limit", "ok", "ok"]


@pytest.mark.only("codex")
def test_a_usage_limit_is_waited_for(agent):
    # Codex tells the minute, rounded down: this one may be over already when it says so. Late enough for its start.
    reset = int(time.time()) + 8
    body = {"error": {"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus",
                      "resets_at": reset, "resets_in_seconds": 8}}
    agent.play(agent.error(429, "", body=body, until=reset), agent.says(f"Now it works. {DONE}"))
    result = agent.run("run", "-p", "do it", "-m", "1", timeout=100)
    assert result.code == 0, result
    assert decisions(agent, "wait") and outcomes(agent)[0] == "usage_limit" and outcomes(agent)[-1] == "ok"


def test_an_overloaded_model_is_tried_again(agent):
    """The agent itself tries a few times; when it gives up, ralph goes on in the same iteration."""
    agent.play(agent.overload(), agent.says(f"Back. {DONE}"))
    result = agent.run("run", "-p", "do it", "-m", "1")
    assert result.code == 0, result
    assert outcomes(agent) == ["overloaded", "ok"] and len(agent.requests()) == agent.kind.tries + 1
    assert len(agent.records("iteration_started")) == 1


def test_a_wrong_key_ends_the_run_with_a_sentence(agent):
    status, more = WRONG_KEY.get(agent.name, (401, {}))
    agent.play(agent.error(status, "invalid api key", **more))
    result = agent.run("run", "-p", "do it", "-m", "2")
    assert result.code == 2, result
    assert outcomes(agent) == ["authentication"], "trying again is no use"
    assert agent.last("run_ended")["reason"] and agent.last("run_ended")["reason"] in result.text, result
    assert agent.last("run_ended")["status"] == "fatal"


@pytest.mark.only("claude", "opencode")
def test_an_unknown_model_ends_the_run_with_a_sentence(agent):
    agent.play(agent.error(404, "model: nosuch", code="model_not_found"))
    if agent.name == "claude":
        agent.settings({"agent": {"model": "nosuch"}})
    result = agent.run("run", "-p", "do it", "-m", "2")
    assert result.code == 2, result
    assert outcomes(agent) == ["model_not_found"]
    assert "model" in agent.last("run_ended")["reason"], result


@pytest.mark.only("claude")
def test_max_turns_of_the_agent_end_its_turn_not_the_loop(agent):
    agent.play(agent.shell("echo one"), agent.shell("echo two"), agent.says(f"Finished. {DONE}"), agent.says("not asked"))
    agent.settings({"agent": {"flags": [*agent.kind.flags, "--max-turns 2"]}})
    result = agent.run("run", "-p", "do it", "-m", "2")
    assert result.code == 0, result
    assert outcomes(agent) == ["max_turns", "ok"] and len(agent.records("iteration_started")) == 2


@pytest.mark.only("claude")
def test_a_turn_without_permissions_is_the_last_one(agent):
    agent.settings({"agent": {"flags": []}})
    agent.play(agent.calls(agent.write(agent.path / "made", "x")), agent.says("I may not write."), exhausted=agent.says("Again: no."))
    result = agent.run("run", "-p", "make it", "-n", "5")
    assert result.code == 2 and "--permission-mode acceptEdits" in result.err, result
    assert outcomes(agent) == ["permission_denied"] and not (agent.path / "made").exists()
