"""The agents that a run may start: what they are called, who takes over, and what is said before anything is started."""
import json
import re

import pytest

from terminal import end_of, in_terminal, screen

DONE = 'echo "<response>DONE</response>"'
# An agent that prints claude's events: what it is given is printed after the session.
EVENTS = r"""
[ "$1" = --help ] && exit
echo '{{"type":"system","subtype":"init","session_id":"s"}}'
{}
"""
LIMITED = r"""
[ "$2" = --help ] && exit
echo '{"type":"thread.started","thread_id":"t"}'
echo '{"type":"turn.failed","error":{"message":"You have hit your usage limit."}}'
exit 1"""


def test_two_commands_as_fallback_are_two_agents_called_by_their_commands(project):
    project.agent_script(LIMITED, name="first", kind="codex")
    (project.base / "other").mkdir()
    second, third = project.script(DONE, "helper.sh"), project.script(DONE, "other/helper.sh")
    project.settings({"agent": {"fallback": [str(second), str(third)]}})
    result = project.run("run", "-p", "x", "-n", "1")
    assert result.code == 0, result
    assert f"agent codex, then helper.sh, then {third}" in result.out, result
    assert [r["agent"] for r in project.records("agent_started")] == ["codex", "helper.sh"]


def test_a_fallback_that_is_the_same_command_is_refused_by_its_name(project):
    agent = project.agent_script(DONE)
    project.settings({"agent": {"fallback": [str(agent)]}})
    result = project.run("run", "-p", "x")
    assert result.code == 2 and "agent.fallback names agent twice" in result.err, result


@pytest.mark.parametrize("agent, budget, advised, not_advised", [
    ({}, {"maxCostUsd": 1}, ["budget.maxMinutes", "agent.stream"], ["maxTokens", "streamAgentOutput"]),
    ({}, {"maxTokens": 1}, ["budget.maxMinutes", "agent.stream"], ["streamAgentOutput"]),
    ({"kind": "codex"}, {"maxCostUsd": 1}, ["budget.maxTokens", "budget.maxMinutes"], ["streamAgentOutput", "agent.stream"]),
])
def test_the_advice_about_a_budget_fits_the_agent(project, agent, budget, advised, not_advised):
    project.agent_script(DONE, **agent)
    project.settings(budget=budget)
    result = project.run("run", "-p", "x")
    assert result.code == 2 and all(word in result.err for word in advised), result
    assert not any(word in result.err for word in not_advised), result


def test_a_budget_for_an_agent_in_text_mode_is_advised_to_stream(project):
    project.agent_script(DONE, kind="claude")
    project.settings(budget={"maxCostUsd": 1}, streamAgentOutput=False)
    result = project.run("run", "-p", "x")
    assert result.code == 2 and "set streamAgentOutput to true" in result.err and "maxTokens" not in result.err, result


def test_the_line_about_an_overload_says_when_it_is_tried_again_however_long_the_reason(project):
    project.agent_script(EVENTS.format(f"""
[ -e once ] && {{ echo '{json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "<response>DONE</response>", "session_id": "s"})}'; exit; }}
touch once
echo '{json.dumps({"type": "result", "subtype": "success", "is_error": True, "api_error_status": 529, "result": "API Error: Overloaded " + "x" * 200, "session_id": "s"})}'
exit 1"""), kind="claude", retry={"backoffSeconds": 0.02})
    with in_terminal(project, "run", "-p", "x", "-n", "1", width=80) as child:
        assert end_of(child) == 0
        lines = screen(child).splitlines()
    (again,) = [line for line in lines if "is overloaded" in line]
    assert re.search(r"again in \d", again) and len(again) <= 80, lines


# An agent that nobody gives permissions

DENIED = EVENTS.format(r"""
echo "turn" >> "$BASE/turns"
echo '{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"r","name":"Read","input":{"file_path":"a"}}]},"session_id":"s"}'
echo '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"r","content":"text"}]},"session_id":"s"}'
echo '{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"w","name":"Write","input":{"file_path":"a"}}]},"session_id":"s"}'
[ -n "$OLD" ] || echo '{"type":"system","subtype":"permission_denied","tool_name":"Write","tool_use_id":"w","session_id":"s"}'
echo '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"w","content":"Claude requested permissions to write to a, but you haven'"'"'t granted it yet.","is_error":true}]},"session_id":"s"}'
[ -z "$BASH_TOO" ] || echo '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"b","content":"ok"}]},"session_id":"s"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"I may not write.","session_id":"s"}'""")


@pytest.mark.parametrize("old", ["", "1"], ids=["with an event", "older versions"])
def test_a_turn_in_which_every_tool_was_refused_ends_the_run_and_names_the_flag(project, old):
    project.agent_script(DENIED, kind="claude")
    project.guardrails("true")
    result = project.run("run", "-p", "x", "-n", "5", env={"BASE": project.base, "OLD": old})
    assert result.code == 2 and "--permission-mode acceptEdits" in result.err and "agent.flags" in result.err, result
    assert (project.base / "turns").read_text() == "turn\n"
    assert project.last("agent_ended")["outcome"] == "permission_denied"


@pytest.mark.parametrize("old", ["", "1"], ids=["with an event", "older versions"])
def test_one_refused_tool_among_others_that_worked_ends_nothing(project, old):
    project.agent_script(DENIED, kind="claude")
    result = project.run("run", "-p", "x", "-n", "2", env={"BASE": project.base, "BASH_TOO": 1, "OLD": old})
    assert result.code == 1 and (project.base / "turns").read_text() == "turn\nturn\n", result


@pytest.mark.parametrize("flags, noted", [([], True), (["--model opus"], True), (["--permission-mode acceptEdits"], False),
                                          (["--allowedTools=Bash"], False)])
def test_init_from_flags_says_which_permissions_claude_needs(project, flags, noted):
    words = [word for flag in flags for word in ("--flag", flag)]
    result = project.run("init", "--agent", "claude", *words)
    assert result.code == 0 and ("--permission-mode acceptEdits" in result.err) == noted, result
    assert "permission" not in project.run("init", "--agent", "codex", "--force").err
