"""ralph stream, and runs of agents that print events: the recordings of real agents, played by scripts."""
import json
import subprocess
import time
from pathlib import Path

import pytest

from support import RALPH, ROOT

RECORDINGS = ROOT / "tests/fixtures/recordings"
EVENTS = ROOT / "tests/fixtures/events"


def stream(*arguments, stdin=b""):
    return subprocess.run([RALPH, "stream", *arguments], input=stdin, capture_output=True, timeout=60,
                          env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC"})


@pytest.mark.parametrize("agent,name", [("claude", "stream-write-bash-todo-promise"), ("codex", "exec-error-usage-limit"),
                                        ("gemini", "stream-write-shell-todo-promise"),
                                        ("opencode", "run-write-bash-todo-promise")])
def test_it_prints_the_events_of_a_recording(agent, name):
    result = stream("--agent", agent, stdin=(RECORDINGS / agent / f"{name}.ndjson").read_bytes())
    assert result.returncode == 0, result
    assert result.stdout.decode() == (EVENTS / agent / f"{name}.jsonl").read_text()


def test_pretty_shows_what_a_run_would_show():
    result = stream("--agent", "claude", "--pretty",
                    stdin=(RECORDINGS / "claude/stream-write-bash-todo-promise.ndjson").read_bytes())
    assert result.returncode == 0
    text = result.stdout.decode()
    assert "Write(" in text and "Complete (cost: $0.02" in text


def test_what_is_no_event_is_counted_and_never_fatal():
    result = stream("--agent", "claude", stdin=b"warning: something\n{\"type\":\"never_seen\"}\n\xff\xfe\n{\"type\":\n")
    assert result.returncode == 0, result
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert events and all(event["type"] == "unknown" for event in events)


@pytest.mark.parametrize("arguments", [[], ["--agent", "cloude"], ["--agent"], ["--prety", "--agent", "claude"]])
def test_a_missing_or_mistyped_agent_is_refused(arguments):
    result = stream(*arguments)
    assert result.returncode == 2 and result.stdout == b""
    assert b"ralph: " in result.stderr


def play(project, agent, *recordings, exit_codes=()):
    """An agent of this name that prints one recording after the other, one per turn, and forgets none of its arguments."""
    turns = "\n".join(f"  {i}) cat '{RECORDINGS / agent / (name + '.ndjson')}'; code={(list(exit_codes) + [0] * 9)[i]} ;;"
                      for i, name in enumerate(recordings))
    path = project.path / "bin" / agent
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"""#!/bin/sh
[ "$1" = --help ] || [ "$2" = --help ] && exit 0
cat > /dev/null
turn=$(cat "$0.turn" 2>/dev/null || echo 0)
echo $((turn + 1)) > "$0.turn"
echo "$@" >> "$0.arguments"
code=0
case $turn in
{turns}
  *) cat '{RECORDINGS / agent / (recordings[-1] + '.ndjson')}' ;;
esac
exit $code
""")
    path.chmod(0o755)
    return str(path)


def test_a_promise_in_another_tag_completes_nothing_and_cost_and_tokens_are_counted(project):
    command = play(project, "claude", "stream-write-bash-todo-promise")
    project.settings({"agent": {"command": command}, "maximumIterations": 2})
    result = project.run("run", "-p", "do it")
    assert result.code == 1, result
    ended = project.records("agent_ended")
    assert [e["outcome"] for e in ended] == ["ok", "ok"]
    assert all(abs(e["costUsd"] - 0.01975) < 1e-9 and e["tools"] > 0 for e in ended)
    assert "$0.04" in result.out and "Write(" in result.out


def test_a_missing_login_ends_the_run_at_once(project):
    command = play(project, "claude", "stream-error-401", exit_codes=[1])
    project.settings({"agent": {"command": command}})
    result = project.run("run", "-p", "do it")
    assert result.code == 2 and "Invalid API key" in result.err, result
    assert len(project.records("agent_started")) == 1


def test_a_budget_of_money_ends_the_run_after_the_checks(project):
    command = play(project, "claude", "stream-write-bash-todo-promise")
    project.settings({"agent": {"command": command}, "budget": {"maxCostUsd": 0.03}, "guardrails": [{"command": "true"}]})
    result = project.run("run", "-p", "do it")
    assert result.code == 1 and "budget.maxCostUsd" in result.out, result
    assert len(project.records("iteration_ended")) == 2


def test_a_budget_that_an_agent_cannot_be_held_to_is_refused(project):
    command = play(project, "codex", "exec-without-plan-tool")
    for budget, more in (({"maxCostUsd": 1}, {}), ({"maxTokens": 1000}, {"streamAgentOutput": False})):
        project.settings({"agent": {"command": command}, "budget": budget, **more})
        result = project.run("run", "-p", "do it")
        assert result.code == 2 and "budget.max" in result.err and "does not report" in result.err, result


# A limit that is told to be over is asked about once more, then not at once again: that could go on all night.
@pytest.mark.parametrize("resets_in,asked", [(3600, 1), (-3600, 2)])
def test_a_limited_agent_is_bridged_by_its_fallback(project, resets_in, asked):
    first = play(project, "claude", "stream-rate-limit-event-rejected", exit_codes=[1])
    script = Path(first)
    script.write_text(script.read_text().replace("cat '", f"sed s/1794800000/{int(time.time()) + resets_in}/ '"))
    second = play(project, "codex", "exec-reasoning-todo-command-patch-message")
    project.settings({"agent": {"command": first, "fallback": [second]}, "maximumIterations": 1})
    result = project.run("run", "-p", "do it")
    assert result.code == 1, result
    outcomes = [(e["agent"], e["outcome"]) for e in project.records("agent_ended")]
    assert outcomes == [("claude", "usage_limit")] * asked + [("codex", "ok")], outcomes


def test_an_agent_of_the_settings_speaks_the_stream_that_they_say(project):
    command = play(project, "claude", "stream-write-bash-todo-promise")
    wrapper = project.path / "house agent"
    wrapper.write_text(f"#!/bin/sh\nexec '{command}' \"$@\"\n")
    wrapper.chmod(0o755)
    project.settings({"agent": {"command": "house"}, "maximumIterations": 1,
                      "agents": {"house": {"command": str(wrapper), "promptVia": "stdin", "stream": "claude"}}})
    result = project.run("run", "-p", "do it")
    assert result.code == 1, result
    ended = project.records("agent_ended")[0]
    assert (ended["agent"], ended["outcome"]) == ("house", "ok") and ended["tools"] > 0
