"""`ralph loop run`: one session of an agent, driven from outside, with agents that speak claude's and codex's streams."""
import json
import signal

import pytest

from check_support import environment, fake, write
from session_support import PROMISE
from support import read_lines, wait_until

# Notes how it was started, then plays its next turn: words, and calls of tools before them.
AGENT = """
import json, os, sys, time
from pathlib import Path
base = Path(os.environ["BASE"])
if "--help" in sys.argv: sys.exit(0)  # ralph asks what it knows
turns = json.loads((base / "turns.json").read_text())
number = len(list(base.glob("turn-*.json"))) + 1
prompt = sys.stdin.read()
(base / f"turn-{number}.json").write_text(json.dumps({"argv": sys.argv[1:], "prompt": prompt}))
turn = turns[min(number, len(turns)) - 1]
if turn.get("repeats"): turn["says"] = "I was told:\\n" + prompt
def out(**event): print(json.dumps(event), flush=True)
def claude():
    session = {"session_id": "26d69ff4-4761"}
    if turn.get("session", True): out(type="system", subtype="init", cwd="/", tools=[], model="m", **session)
    for i in range(turn.get("tools", 0)):
        block = {"type": "tool_use", "id": f"toolu_{number}_{i}", "name": "Bash", "input": {"command": "true"}}
        out(type="assistant", message={"id": f"m{number}{i}", "role": "assistant", "content": [block]}, parent_tool_use_id=None, **session)
        result = {"type": "tool_result", "tool_use_id": block["id"], "content": turn.get("output", "ok"), "is_error": "denied" in turn}
        meta = {"tool_result_meta": [{"id": block["id"], **turn["meta"]}]} if "meta" in turn else {}
        out(type="user", message={"role": "user", "content": [result]}, parent_tool_use_id=None, **meta, **session)
    text = turn["says"]
    out(type="assistant", message={"id": f"m{number}", "role": "assistant", "model": turn.get("model", "m"), "content": [{"type": "text", "text": text}]},
        parent_tool_use_id=None, **session)
    out(type="result", subtype="success", is_error=False, result=text, num_turns=1, total_cost_usd=0.01, usage={}, **session)
def codex():
    out(type="thread.started", thread_id="01a1e07d-f420")
    out(type="turn.started")
    for i in range(turn.get("tools", 0)):
        item = {"id": f"item_{i}", "type": "command_execution", "command": "true", "aggregated_output": turn.get("output", "ok"),
                "exit_code": 0, "status": "completed"}
        out(type="item.started", item={**item, "status": "in_progress"})
        out(type="item.completed", item=item)
    out(type="item.completed", item={"id": "item_9", "type": "agent_message", "text": turn["says"]})
    out(type="turn.completed", usage={"input_tokens": 1, "output_tokens": 1})
(base / "begun").touch()
if turn.get("waits"):
    while not (base / "go").exists(): time.sleep(0.005)
if turn.get("crashes"): sys.exit(3)
{"claude": claude, "codex": codex}[os.environ["KIND"]]()
"""


class Outside:
    def __init__(self, project, kind, *turns):
        self.project, self.kind = project, kind
        project.python_agent(AGENT, kind=kind, retry={"attempts": 0})
        (project.base / "turns.json").write_text(json.dumps(turns))
        self.env = {"BASE": project.base, "KIND": kind}

    def run(self, *arguments, task="fix it", **how):
        return self.project.run("loop", "run", task, *arguments, env=self.env, **how)

    def turns(self):
        paths = sorted(self.project.base.glob("turn-*.json"), key=lambda p: int(p.stem.split("-")[1]))
        return [json.loads(path.read_text()) for path in paths]

    def resumed(self):
        """The session that each turn went on with."""
        ids = {"claude": "26d69ff4-4761", "codex": "01a1e07d-f420"}
        flag = {"claude": "--resume", "codex": "resume"}[self.kind]
        return [flag in t["argv"] and t["argv"][t["argv"].index(flag) + 1] == ids[self.kind] for t in self.turns()]


both = pytest.mark.parametrize("kind", ["claude", "codex"])


@both
def test_one_session_until_the_promise(project, kind):
    outside = Outside(project, kind, {"says": "a bit", "tools": 1}, {"says": "more"}, {"says": f"Done. {PROMISE}"})
    result = outside.run()
    assert result.code == 0, result
    first, second, third = outside.turns()
    assert first["prompt"].startswith("You are in a ralph loop") and "Task:\nfix it\n" in first["prompt"]
    assert second["prompt"].startswith("[ralph loop: iteration 2 of 100]\nYou attempted to end the loop")
    assert third["prompt"].endswith("Original task:\nfix it")
    assert outside.resumed() == [False, True, True]
    ended = project.last("run_ended")
    assert (ended["status"], ended["reason"], ended["iterations"]) == ("complete", "the promise was given after 1 tool call", 3)


@both
def test_a_promise_without_work_is_rejected_and_after_work_accepted(project, kind):
    outside = Outside(project, kind, {"says": PROMISE}, {"says": PROMISE, "tools": 2})
    assert outside.run("--min-tool-calls", "2").code == 0
    assert "Promise detected, but no tool calls/work were performed" in outside.turns()[1]["prompt"]
    assert len(outside.turns()) == 2


@both
def test_the_limit_holds_and_a_promise_in_the_last_turn_counts(project, kind):
    outside = Outside(project, kind, {"says": "no", "tools": 1})
    result = outside.run("--max-iterations", "3")
    assert result.code == 1 and len(outside.turns()) == 3, result
    assert project.last("run_ended")["reason"] == "3 iterations done without the promise"
    for path in project.base.glob("turn-*.json"):
        path.unlink()
    outside = Outside(project, kind, {"says": "no", "tools": 1}, {"says": PROMISE})
    assert outside.run("-n", "2").code == 0


@both
def test_only_the_agents_own_words_promise(project, kind):
    outside = Outside(project, kind, {"repeats": True, "says": "", "tools": 1, "output": PROMISE}, {"says": f"Good. {PROMISE}"})
    assert outside.run(task=f"Fix it, and then say {PROMISE}").code == 0
    assert len(outside.turns()) == 2


def test_what_was_told_in_an_earlier_turn_is_no_promise_when_it_is_quoted(project):
    quoted = f"You wrote: when you have verified it, output the completion promise {PROMISE} alone on a line. So I go on."
    outside = Outside(project, "claude", {"says": "a bit", "tools": 1}, {"says": quoted}, {"says": f"Verified. {PROMISE}"})
    assert outside.run().code == 0
    assert len(outside.turns()) == 3


def test_a_tool_call_that_a_hook_denied_is_no_work(project):
    denied = {"says": PROMISE, "tools": 2, "denied": True, "output": "PreToolUse:Bash hook error: Denied by ralph: privilege"}
    outside = Outside(project, "claude", denied, {"says": PROMISE, "tools": 1}, {"says": PROMISE, "tools": 1})
    assert outside.run("--min-tool-calls", "2").code == 0
    prompts = [turn["prompt"] for turn in outside.turns()]
    assert len(prompts) == 3 and "no tool calls/work were performed" in prompts[1], prompts
    assert "only 1 of at least 2 tool calls were performed" in prompts[2], prompts


@pytest.mark.parametrize("refused", [
    {"output": "Permission to use Bash with command make has been denied."},
    {"output": "No.", "meta": {"non_execution_kind": "user-rejected", "permission_decision": {"decision": "reject", "source": "config"}}}],
    ids=["a rule", "by its meta"])
def test_a_tool_call_that_was_refused_is_no_work_and_no_progress(project, refused):
    turn = {"says": PROMISE, "tools": 1, "denied": True, **refused}
    failed = {"says": PROMISE, "tools": 1, "denied": True, "output": "Exit code 1", "meta": {"permission_decision": {"decision": "accept"}}}
    outside = Outside(project, "claude", turn, failed)
    assert outside.run().code == 0, "a call that failed was made"
    assert "no tool calls/work were performed" in outside.turns()[1]["prompt"]
    assert [r["tools"] for r in project.records("agent_ended")] == [0, 1]


def test_a_permission_that_nobody_can_give_ends_it_at_once(project):
    output = "Claude requested permissions to write to /p/x, but you haven't granted it yet."
    outside = Outside(project, "claude", {"says": PROMISE, "tools": 1, "denied": True, "output": output})
    result = outside.run()
    assert result.code == 2 and "--dangerously-skip-permissions" in result.out + result.err, result
    assert len(outside.turns()) == 1


@both
def test_turns_without_a_tool_call_end_it_as_stagnant(project, kind):
    outside = Outside(project, kind, {"says": "a bit", "tools": 1}, {"says": "Hm."}, {"says": "Which one?"}, {"says": "Which database?"})
    result = outside.run()
    why = "3 continuations in a row without a tool call; the agent's last words: \"Which database?\""
    assert result.code == 1 and f"Stopped without progress: {why}" in result.out, result
    ended = project.last("run_ended")
    assert (ended["status"], ended["reason"], ended["exitCode"], ended["iterations"]) == ("stagnant", why, 1, 4)


@pytest.mark.parametrize("options, turns, status", [(["-n", "4"], 4, "limit"), (["--stagnation-limit", "0", "-n", "6"], 6, "limit"),
                                                    (["--stagnation-limit", "1"], 2, "stagnant")])
def test_the_limit_of_turns_is_looked_at_before_stagnation(project, options, turns, status):
    outside = Outside(project, "claude", {"says": "Hm."})
    assert outside.run(*options).code == 1
    assert len(outside.turns()) == turns and project.last("run_ended")["status"] == status


def test_a_mention_of_the_promise_does_not_end_it(project):
    outside = Outside(project, "claude", {"says": f"When it works I will say {PROMISE}", "tools": 1}, {"says": f"It works. {PROMISE}"})
    assert outside.run().code == 0
    assert "if you mean it, say it alone on a line" in outside.turns()[1]["prompt"]


@pytest.mark.parametrize("quote", ["> {}", "<!-- {} -->", "~~{}~~", "NOTES.md says:\n```\n{}\n```"])
def test_a_quoted_promise_does_not_end_it(project, quote):
    outside = Outside(project, "claude", {"says": quote.format(PROMISE), "tools": 1}, {"says": f"It works. {PROMISE}"})
    assert outside.run().code == 0 and len(outside.turns()) == 2
    assert "if you mean it, say it alone on a line" in outside.turns()[1]["prompt"]


def test_a_promise_that_claude_code_repeats_is_not_the_agents(project):
    outside = Outside(project, "claude", {"says": PROMISE, "tools": 1, "model": "<synthetic>"}, {"says": f"It works. {PROMISE}"})
    assert outside.run().code == 0 and len(outside.turns()) == 2


def test_a_turn_without_a_session_is_told_the_task_anew(project):
    outside = Outside(project, "claude", {"says": "", "crashes": True}, {"says": "no", "tools": 1}, {"says": PROMISE})
    result = outside.run()
    assert result.code == 0, result
    assert [t["prompt"].startswith("You are in a ralph loop") for t in outside.turns()] == [True, True, False]
    assert outside.resumed() == [False, False, True]


def test_ultrawork_and_another_promise(project):
    outside = Outside(project, "codex", {"says": PROMISE, "tools": 1}, {"says": "<promise>PORTED</promise>"})
    assert outside.run("--ultrawork", "--completion-promise", "PORTED").code == 0
    assert all(t["prompt"].startswith("ULTRAWORK MODE: ") for t in outside.turns()) and len(outside.turns()) == 2


@pytest.mark.parametrize("arguments, said", [(["x", "--zero-errors"], "the criterion zeroErrors can't be judged: nothing here looks for errors"), ([" "], "the task is blank"), ([], "TASK"),
                                             (["x", "--agent", " "], "--agent is blank"), (["x", "--max-iterations", "none"], "--max-iterations")])
def test_what_is_wrong_is_refused_before_anything_runs(project, arguments, said):
    outside = Outside(project, "claude", {"says": PROMISE})
    result = project.run("loop", "run", *arguments, env=outside.env)
    assert result.code == 2 and said in result.err, result
    assert not outside.turns() and not project.run_folders()


def test_an_agent_that_has_no_sessions_is_refused(project):
    project.agent_script("echo hello")
    result = project.run("loop", "run", "fix it")
    assert result.code == 2 and "can't be driven in one session" in result.err and "use 'ralph run'" in result.err, result
    assert not project.run_folders()


def test_ctrl_c_lets_the_turn_end_and_then_stops(project):
    outside = Outside(project, "claude", {"says": "no", "waits": True})
    running = project.start("loop", "run", "fix it", env=outside.env)
    wait_until((project.base / "begun").exists, what="the agent")
    running.signal(signal.SIGINT)
    wait_until(lambda: "topping" in running.out + running.err or "finish" in running.out + running.err, what="an answer to Ctrl-C")
    (project.base / "go").touch()
    assert running.wait().code == 130
    assert project.last("run_ended")["status"] == "interrupted" and len(outside.turns()) == 1
    project.nothing_left()


def test_ctrl_c_during_a_check_that_passes_stops_and_a_resumed_loop_is_complete_without_another_turn(project):
    """Whoever asks for a stop gets it: what the check proves is told by the next run, at no cost."""
    agent = Outside(project, "claude", {"says": PROMISE, "tools": 1})
    check = 'touch "$BASE/checking"; while [ ! -e "$BASE/go" ]; do sleep 0.01; done'
    running = project.start("loop", "run", "fix it", "--check", check, env=agent.env)
    wait_until((project.base / "checking").exists, what="the check")
    running.signal(signal.SIGINT)
    wait_until(lambda: project.records("signal_received"), what="the record of the signal")
    (project.base / "go").touch()
    assert running.wait().code == 130 and project.last("run_ended")["status"] == "interrupted"
    result = project.run("runs", "resume", env=agent.env)
    assert result.code == 0 and len(agent.turns()) == 1, result


def test_a_resumed_loop_finds_its_targets_from_where_it_was_typed(project):
    project.git_init()
    write(project, "src/foo.c", "int x;\n")
    agent = Outside(project, "claude", {"tools": 1, "says": "not yet"}, {"tools": 1, "says": PROMISE})
    assert agent.run("-n", "1", task="@foo.c fix it", cwd=project.path / "src").code == 1
    result = project.run("loop", "run", "--resume", "-n", "2", env=agent.env)
    assert result.code == 0 and "src/foo.c" in agent.turns()[0]["prompt"], result


def test_a_target_limits_what_counts(project):
    judged(project, ["first"])
    write(project, "src/b.py", "x = 1\n")
    agent = Outside(project, "claude", {"tools": 1, "says": PROMISE})
    agent.env = {**environment(project), **agent.env}
    result = agent.run("--zero-errors", task="@src/ fix it")
    assert result.code == 0 and "This is about src/" in agent.turns()[0]["prompt"], result


def test_json_has_a_record_for_each_step(project):
    outside = Outside(project, "codex", {"says": "no", "tools": 1}, {"says": PROMISE})
    result = outside.run("--json")
    types = [json.loads(line)["type"] for line in result.out.splitlines()]
    assert types[0] == "run_started" and types[-1] == "run_ended" and types.count("iteration_started") == 2
    assert read_lines(project.run_folder() / "journal.jsonl")


# ---- checks

def test_a_promise_counts_only_when_the_checks_pass(project):
    (project.path / "check.sh").write_text('n=$(ls "$BASE"/turn-* | wc -l); echo "turn $n"; test "$n" -ge 3\n')
    agent = Outside(project, "claude", {"tools": 1, "says": "Not yet."}, {"tools": 1, "says": PROMISE})
    result = agent.run("--check", "sh check.sh", "--check", "true")
    assert result.code == 0, result
    assert "ralph runs these checks itself" in agent.turns()[0]["prompt"]
    assert [r["outcome"] for r in project.records("guardrail_ended")] == ["failed", "passed", "passed", "passed"], "none without a promise"
    told = agent.turns()[2]["prompt"]
    assert 'Guardrail "sh check.sh" failed with exit code 1' in told and "turn 2\n" in told, told
    assert project.last("run_ended")["reason"].endswith("and all 2 checks passed")


def test_without_a_promise_the_checks_complete_it(project):
    agent = Outside(project, "claude", {"tools": 1, "says": "Working."})
    result = agent.run("--no-promise", "--check", 'test $(ls "$BASE"/turn-* | wc -l) -ge 2')
    assert result.code == 0 and len(project.records("guardrail_ended")) == 2, result
    assert project.last("run_ended")["reason"] == "the check passed"


def test_at_the_limit_the_failing_check_is_named(project):
    agent = Outside(project, "claude", {"tools": 1, "says": PROMISE})
    result = agent.run("--check", "exit 7", "-n", "2")
    assert result.code == 1 and "exit 7 failed" in project.last("run_ended")["reason"], result


# ---- criteria over what the project's tools say

def judged(project, *findings):
    """A project whose ruff finds in turn N what the Nth of these lists says; the first is before the first turn, the last stays."""
    write(project, "app.py", "x = 1\n")
    for number, messages in enumerate(findings):
        items = [{"filename": "app.py", "code": "F1", "message": m, "location": {"row": row, "column": 1}} for row, m in enumerate(messages or [], 1)]
        write(project, f"found/{number}.json", json.dumps(items) if messages is not None else "")
    fake(project, "ruff", f'n=$(ls "$BASE"/turn-* 2>/dev/null | wc -l); test $n -gt {len(findings) - 1} && n={len(findings) - 1}; cat found/$n.json')


def run_judged(project, agent, *arguments):
    agent.env = {**environment(project), **agent.env}
    return agent.run(*arguments)


def test_errors_of_the_projects_tools_are_fed_back_until_they_are_gone(project):
    judged(project, ["first", "second"], ["first"], [])
    agent = Outside(project, "claude", {"tools": 1, "says": PROMISE})
    result = run_judged(project, agent, "--zero-errors")
    assert result.code == 0 and len(agent.turns()) == 2, result
    assert [(d["iteration"], d["baseline"], d["snapshot"]["error_count"]) for d in project.records("diagnosed")] == [(0, True, 2), (1, False, 1), (2, False, 0)]
    told = agent.turns()[1]["prompt"]
    assert "ralph has run the checks itself" in told and "app.py:1:1: error: first (F1, ruff)" in told, told
    assert "no errors from the project's compilers" in agent.turns()[0]["prompt"]
    assert "diagnostics 2 → 1 → 0 errors" in result.out and "the diagnostic criteria hold" in project.last("run_ended")["reason"]


def test_without_a_promise_the_criteria_complete_it_and_with_one_they_are_asked_only_then(project):
    judged(project, ["first"], ["first"], [])
    agent = Outside(project, "claude", {"tools": 1, "says": "Working."})
    result = run_judged(project, agent, "--no-promise", "--zero-errors", "--check", "true")
    assert result.code == 0 and len(agent.turns()) == 2, result
    assert project.last("run_ended")["reason"] == "1 check passed and the diagnostic criteria hold"


def test_they_are_asked_only_at_a_promise(project):
    judged(project, [], ["first"], [])
    agent = Outside(project, "claude", {"tools": 1, "says": "Not yet."}, {"tools": 1, "says": PROMISE})
    result = run_judged(project, agent, "--zero-errors")
    assert result.code == 0 and [d["iteration"] for d in project.records("diagnosed")] == [0, 2], result


def test_the_same_errors_again_and_again_are_stagnation(project):
    judged(project, ["first"])
    agent = Outside(project, "claude", {"tools": 1, "says": PROMISE})
    result = run_judged(project, agent, "--zero-errors", "--stagnation-limit", "2")
    ended = project.last("run_ended")
    assert result.code == 1 and (ended["status"], ended["reason"]) == ("stagnant", "no improvement in 2 snapshots"), ended


def test_a_tool_that_fails_is_unknown_in_the_trend_and_meets_the_stagnation_limit(project):
    judged(project, ["first", "second"], None)
    agent = Outside(project, "claude", {"tools": 1, "says": PROMISE})
    result = run_judged(project, agent, "--zero-errors", "--stagnation-limit", "2")
    assert result.code == 1 and project.last("run_ended")["status"] == "stagnant", result
    assert "diagnostics 2 → ? → ? errors" in result.out, result


def test_criteria_of_the_settings_are_not_those_of_a_loop(project):
    judged(project, ["first"])
    project.settings(diagnostics={"criteria": {"testsPass": True}})
    agent = Outside(project, "claude", {"tools": 1, "says": PROMISE})
    assert run_judged(project, agent).code == 0 and not project.records("diagnosed")


def test_a_resumed_loop_still_has_its_criteria(project):
    judged(project, ["first"], ["first"], [])
    agent = Outside(project, "claude", {"tools": 1, "says": PROMISE})
    assert run_judged(project, agent, "--zero-errors", "-n", "1").code == 1
    result = project.run("loop", "run", f"--resume={project.run_folder().name}", "-n", "2", env=agent.env)
    assert result.code == 0 and project.records("diagnosed")[-1]["unmet"] == [], result
