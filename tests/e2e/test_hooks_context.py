"""The hooks around a session's context and its loop's tool calls, through the real binary: `context-monitor`, `session-start`
and `post-tool`."""
import json
import os
import subprocess
import time

import pytest

from plan_support import Plan
from support import RALPH, ROOT

RECORDED = ROOT / "tests/fixtures/hooks"
NOTICE = "Be mindful of remaining space. Plan to finish your current task within this session."


class Host:
    """A host agent that keeps a transcript and calls hooks."""

    def __init__(self, project):
        self.project = project
        self.transcript = project.base / "transcript.jsonl"
        self.transcript.write_text("")
        self.state = project.base / "state"

    def write(self, line):
        with open(self.transcript, "a") as file:
            file.write((line if isinstance(line, str) else json.dumps(line)) + "\n")

    def used(self, tokens, **more):
        self.write({"type": "assistant", "isSidechain": False, "sessionId": "s1", "message": {
            "role": "assistant", "content": [], "usage": {"input_tokens": 10, "cache_read_input_tokens": tokens - 10}}, **more})

    def hook(self, name, *options, env=None, payload=None, **fields):
        """Calls it and returns (what the model is told, or None; the Result)."""
        fields = {"session_id": "s1", "transcript_path": str(self.transcript), "cwd": str(self.project.path), **fields}
        text = payload if payload is not None else json.dumps(fields)
        result = self.project.run("hooks", name, *options, stdin=text, env={"XDG_STATE_HOME": self.state, **(env or {})})
        assert result.code == 0, result
        if not result.out:
            return None, result
        told = json.loads(result.out)["hookSpecificOutput"]
        assert told["hookEventName"] == fields.get("hook_event_name", "PostToolUse"), result
        return told["additionalContext"], result

    def after_tool(self, **fields):
        return self.hook("context-monitor", **fields)[0]

    def session_start(self, source, **fields):
        return self.hook("session-start", source=source, hook_event_name="SessionStart", **fields)[0]


@pytest.fixture
def host(project):
    return Host(project)


def test_each_threshold_once_and_then_silence(host):
    told = []
    for tokens in range(10_000, 200_000, 10_000):
        host.used(tokens)
        told += [host.after_tool(), host.after_tool()]
    told = [text for text in told if text]
    assert [text.split(":")[0] for text in told] == ["[ralph] Context NOTICE"] * 2 + ["[ralph] Context WARNING"] * 2 + [
        "[ralph] Context CRITICAL"]
    assert told[0] == f"[ralph] Context NOTICE: about 50% of the context window is used (100k of 200k tokens). {NOTICE}"
    assert "about 90%" in told[-1] and "Do NOT start new work" in told[-1]


def test_the_files_of_a_plan_are_named_only_where_a_plan_runs(project):
    host, plan = Host(project), Plan(project)
    host.used(100_000)
    assert "tasks.json" not in host.after_tool()
    plan.marker.write_text(json.dumps({"pid": os.getpid(), "mode": "direct", "ralphDir": str(plan.folder)}))
    host.used(140_000)
    assert "create new stories in tasks.json" in host.after_tool()


def test_a_jump_tells_the_highest_only(host):
    host.used(150_000)
    assert "WARNING: about 75%" in host.after_tool()
    host.used(155_000)
    assert host.after_tool() is None


@pytest.mark.parametrize("recorded", ["claude/post-tool-use-bash", "codex/post-tool-use-bash", "gemini/after-tool"])
def test_every_host_is_answered_in_its_own_words(host, recorded):
    payload = json.loads((RECORDED / f"{recorded}.json").read_text())
    payload.update(transcript_path=str(host.transcript), cwd=str(host.project.path))
    host.used(120_000)
    protocol = recorded.split("/")[0]
    result = host.project.run("hooks", "post-tool", "--protocol", protocol, stdin=json.dumps(payload))
    told = json.loads(result.out)["hookSpecificOutput"]
    assert told["hookEventName"] == payload["hook_event_name"]
    assert "about 60%" in told["additionalContext"]


def test_a_codex_rollout_says_its_window(host):
    line = (RECORDED / "codex/rollout.jsonl").read_text().splitlines()[-1]
    record = json.loads(line)
    record["payload"]["info"]["last_token_usage"]["total_tokens"] = 155_040
    host.write(record)
    assert "about 60% of the context window is used (155k of 258k tokens)" in host.after_tool()


def test_a_transcript_without_records_is_estimated_by_its_size(host):
    host.transcript.write_text("x" * 420_000)
    assert "about 52% of the context window is used (estimated 105k of 200k tokens)" in host.after_tool()
    assert host.after_tool() is None


def test_the_window_can_be_set_and_a_bad_value_is_said(host):
    host.used(55_000)
    assert "about 55%" in host.hook("context-monitor", env={"CLAUDE_CONTEXT_WINDOW": "100000"})[0]
    host.used(110_000)
    told, result = host.hook("context-monitor", session_id="other", env={"CLAUDE_CONTEXT_WINDOW": "big"})
    assert "about 55%" in told
    assert "CLAUDE_CONTEXT_WINDOW" in result.err


def test_a_session_that_starts_is_told_again_and_a_resumed_one_is_not(host):
    host.used(120_000)
    assert host.after_tool()
    host.session_start("resume")
    assert host.after_tool() is None
    host.session_start("startup")
    assert host.after_tool()


def test_after_a_compaction_the_old_record_counts_no_more(host):
    host.used(185_000)
    assert "CRITICAL" in host.after_tool()
    host.session_start("compact")
    assert host.after_tool() is None
    host.used(105_000)
    assert "NOTICE" in host.after_tool()


def test_sessions_are_apart_and_no_session_is_nobody(host):
    host.used(120_000)
    assert host.after_tool(session_id="a")
    assert host.after_tool(session_id="b")
    assert host.after_tool(session_id="") is None
    assert host.after_tool(session_id="../../../escape")
    assert all(path.parent.name == "context" for path in host.state.rglob("*.json"))


def test_sub_agents_are_not_told(host):
    host.used(120_000)
    assert host.after_tool(agent_id="a1") is None
    assert host.after_tool()


def test_parallel_hooks_tell_once(host):
    host.used(120_000)
    text = json.dumps({"session_id": "s1", "transcript_path": str(host.transcript), "cwd": "/"})
    hooks = [subprocess.Popen([RALPH, "hooks", "post-tool"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env=host.project.environment(XDG_STATE_HOME=host.state)) for _ in range(12)]
    outputs = [hook.communicate(text.encode())[0] for hook in hooks]
    assert sum(1 for out in outputs if out) == 1


@pytest.mark.parametrize("payload", ["", "{", "[]", "null", '{"session_id": 5}',
                                     '{"transcript_path": "/dev/zero", "session_id": "s"}',
                                     '{"transcript_path": "/nonexistent/x", "session_id": "s"}', "\0\xff", "x" * 100_000])
@pytest.mark.parametrize("hook", ["context-monitor", "session-start", "post-tool"])
def test_no_payload_breaks_the_host(host, hook, payload):
    told, result = host.hook(hook, payload=payload)
    assert told is None and result.out == "", result


def test_a_state_folder_that_cannot_be_written_is_said_and_breaks_nothing(host):
    host.used(120_000)
    host.state.write_text("in the way")
    told, result = host.hook("context-monitor")
    assert told is None
    assert "ralph hooks context-monitor: " in result.err


def test_old_memory_goes_when_a_session_starts(host):
    host.used(120_000)
    host.after_tool(session_id="old")
    [path] = host.state.rglob("old.json")
    os.utime(path, (time.time() - 8 * 86400,) * 2)
    host.session_start("startup")
    assert not path.exists()


def test_a_huge_transcript_is_not_read_whole(host):
    with open(host.transcript, "wb") as file:
        file.truncate(1_000_000_000_000)  # a hole; nobody would wait until it is read
    host.write("")
    host.used(120_000)
    told, result = host.hook("post-tool")
    assert "about 60%" in told, result


# ---- loops ----------------------------------------------------------------------------------------------------------


def loop(host, *arguments):
    return host.project.run("loop", *arguments, env={"XDG_STATE_HOME": host.state})


def counted_calls(host):
    return [len(path.read_text().splitlines()) for path in (host.project.path / ".ralph/runs").glob("*/tools")]


def test_tool_calls_are_counted_for_the_sessions_loop_and_sub_agents_calls_too(host):
    host.project.git_init()
    assert loop(host, "start", "do it", "--session", "s1").code == 0
    host.hook("post-tool")
    host.hook("post-tool", agent_id="a1")
    host.hook("post-tool", session_id="other")
    host.hook("post-tool", env={"RALPH_RUN_ID": "r"})
    assert counted_calls(host) == [2]


def test_in_an_agent_of_ralph_the_context_is_watched_all_the_same(host):
    host.used(120_000)
    assert host.hook("post-tool", env={"RALPH_RUN_ID": "r"})[0]


def test_a_loop_without_a_session_is_adopted_by_the_next_that_starts(host):
    host.project.git_init()
    assert loop(host, "start", "do it", "--completion-promise", "FERTIG").code == 0
    for source in ("resume", "compact"):
        assert host.session_start(source) is None
    assert host.session_start("startup", env={"RALPH_RUN_ID": "r"}) is None
    assert "FERTIG" in host.session_start("startup")
    assert host.session_start("startup", session_id="s2") is None
    host.hook("post-tool")
    assert counted_calls(host) == [1]
