"""A host agent's session as ralph's hooks see it: payloads on standard input and a transcript that the host writes.

    def test_it_goes_on(project):
        session = Session(project)
        session.types("/ralph:loop fix it --max-iterations 3")
        assert session.stops("I'm done.").goes_on
        session.uses_tool()
        assert session.stops("<promise>DONE</promise>").rule == "promise_accepted"
"""
import json
import threading
import time
from pathlib import Path
from datetime import datetime, timezone

PROMISE = "<promise>DONE</promise>"


def now():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Claude:
    """Its lines: one for each content block."""
    protocol = "claude"
    events = {"stop": "Stop", "prompt": "UserPromptSubmit", "tool": "PostToolUse", "start": "SessionStart", "end": "SessionEnd"}

    def _line(self, session, kind, content, **more):
        return {"parentUuid": "p", "isSidechain": False, "type": kind, "uuid": "u", "timestamp": now(), "sessionId": session,
                "version": "2.1.325", "message": {"role": kind, "content": content}, **more}

    def text(self, session, text, **more):
        return self._line(session, "assistant", [{"type": "text", "text": text}], **more)

    def thinking(self, session, text):
        return self._line(session, "assistant", [{"type": "thinking", "thinking": text, "signature": "s"}])

    def call(self, session, identity, text="true"):
        return self._line(session, "assistant", [{"type": "tool_use", "id": identity, "name": "Bash", "input": {"command": text}}])

    def output(self, session, identity, text):
        return self._line(session, "user", [{"type": "tool_result", "tool_use_id": identity, "content": text}],
                          toolUseResult={"stdout": text})

    def user(self, session, text):
        return self._line(session, "user", text)

    def feedback(self, session, text):
        return self.user(session, "Stop hook feedback:\n" + text)


class Codex:
    protocol = "codex"
    events = Claude.events

    def _line(self, payload):
        return {"timestamp": now(), "ordinal": 0, "type": "response_item", "payload": payload}

    def _message(self, role, kind, text):
        return self._line({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})

    def text(self, _session, text):
        return self._message("assistant", "output_text", text)

    def thinking(self, _session, text):
        return self._line({"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]})

    def call(self, _session, identity, text="true"):
        return self._line({"type": "function_call", "name": "exec_command", "arguments": json.dumps({"cmd": text}), "call_id": identity})

    def output(self, _session, identity, text):
        return self._line({"type": "function_call_output", "call_id": identity, "output": text})

    def user(self, _session, text):
        return self._message("user", "input_text", text)

    def feedback(self, session, text):
        return self.user(session, f"<hook_prompt hook_run_id=\"stop:1\">{text}</hook_prompt>")


HOSTS = {"claude": Claude(), "codex": Codex()}


class Answer:
    """What a Stop hook said, and what the loop's state is after it."""

    def __init__(self, session, result):
        self.result = result
        self.json = json.loads(result.out) if result.out else {}
        self.goes_on = self.json.get("decision") in ("block", "deny")
        self.reason = self.json.get("reason", "")
        self.message = self.json.get("systemMessage", "")
        states = session.states()
        self.state = states[0] if states else None
        self.status = self.state["status"] if states else None
        self.rule = self.state["decisions"][-1]["rule"] if states and self.state["decisions"] else None

    def __repr__(self):
        return f"{self.json} {self.state}\n{self.result}"


class Session:
    """One session of a host. Hooks are called as the host would; nothing is written to the transcript but by the test."""

    def __init__(self, project, identity="26d69ff4-4761-40bc", host="claude", cwd=None, transcript=True):
        self.project, self.id, self.host = project, identity, HOSTS[host]
        self.cwd = cwd or project.path
        self.transcript = project.base / f"{identity or 'nobody'}.jsonl"
        if transcript:
            self.transcript.touch()
        self.env, self._calls = {}, 0

    # What the host writes

    def write(self, *lines):
        with open(self.transcript, "a") as file:
            file.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))

    def says(self, text, at=None, **more):
        """`at`: when the host made the line, if it writes it late."""
        self.write({**self.host.text(self.id, text, **more), **({"timestamp": at} if at else {})})

    def uses_tool(self, text="true", output="ok"):
        self._calls += 1
        identity = f"toolu_{self._calls:04}"
        self.write(self.host.call(self.id, identity, text), self.host.output(self.id, identity, output))
        return identity

    def later(self, seconds, *lines):
        """Writes them after a while, as a host does that is slow."""
        def write():
            time.sleep(seconds)  # what is tested is the waiting of the hook
            self.write(*lines)
        thread = threading.Thread(target=write)
        thread.start()
        return thread

    # What it calls

    def payload(self, event, **fields):
        made = {"session_id": self.id, "transcript_path": str(self.transcript), "cwd": str(self.cwd),
                "permission_mode": "default", "hook_event_name": self.host.events[event], **fields}
        return {key: value for key, value in made.items() if value is not None}

    def hook(self, name, payload, *options, **how):
        text = payload if isinstance(payload, str) else json.dumps(payload)
        env = {**self.env, **how.pop("env", {})}
        return self.project.run("hooks", name, "--protocol", self.host.protocol, *options, stdin=text, env=env, **how)

    def types(self, line, **fields):
        """What the model is told besides, or the refusal."""
        result = self.hook("user-prompt", self.payload("prompt", prompt=line, **fields))
        assert result.code == 0, result
        answer = json.loads(result.out) if result.out else {}
        return answer.get("hookSpecificOutput", {}).get("additionalContext") or answer.get("reason")

    def starts(self, task="fix it", *options):
        """Most tests stop often and do nothing: without an option of their own they have no limit for that."""
        if not any("--stagnation-limit" in option for option in options):
            options = (*options, "--stagnation-limit 0")
        told = self.types(" ".join(["/ralph:loop", task, *options]))
        assert told and told.startswith("You are in a ralph loop") and task in told, told
        return told

    def stops(self, text=None, *options, **fields):
        message = {} if text is None else {"last_assistant_message": text}
        result = self.hook("stop", self.payload("stop", **{"stop_hook_active": False, **message, **fields}), *options)
        assert result.code == 0, result
        return Answer(self, result)

    def begins(self, source="startup", **fields):
        """A session that starts: what its model is told, or None."""
        result = self.hook("session-start", self.payload("start", source=source, **fields))
        assert result.code == 0, result
        return json.loads(result.out)["hookSpecificOutput"]["additionalContext"] if result.out else None

    def used_tool(self, **fields):
        """The hook after a tool call."""
        call = {"tool_name": "Bash", "tool_input": {"command": "true"}, **fields}
        result = self.hook("post-tool", self.payload("tool", **call))
        assert result.code == 0, result

    # What ralph knows

    @property
    def note(self):
        """Says which run this session has: a project and the id of a run."""
        state = self.env.get("XDG_STATE_HOME") or self.project.home / ".local/state"
        return Path(state) / "ralph/sessions" / self.id

    @property
    def folder(self):
        """Of this session's run."""
        project, run = self.note.read_text().split("\n")[:2]
        return Path(project) / ".ralph/runs" / run

    def states(self):
        """The loops of this session, the active one first."""
        result = self.project.run("loop", "status", "--session", self.id or "nobody", "--json", env=self.env)
        assert result.code == 0, result
        return json.loads(result.out)
