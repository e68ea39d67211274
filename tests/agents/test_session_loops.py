"""Session loops: real CLIs whose hooks are ralph's, as `ralph hooks install` or the plugin puts them there. What the model is
sent, what the loop decided, and that nobody else's session is touched."""
import json
import subprocess
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from support import e2e, wait_until

PROMISE = "<promise>DONE</promise>"
MISSING = "You attempted to end the loop, but you did not output the completion promise"
NO_WORK = "Promise detected, but no tool calls/work were performed"
CONTRACT = "You are in a ralph loop"
PLUGIN = e2e.ROOT / "share/claude-plugin"

LOOPED = {"claude": ["-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"],
          "codex": ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
                    "--dangerously-bypass-hook-trust"],
          "gemini": ["--yolo", "--skip-trust", "-m", "gemini-2.5-pro", "--output-format", "stream-json", "-p"]}

with_hooks = pytest.mark.only("claude", "codex")
in_claude = pytest.mark.only("claude")


# ---- a host with ralph's hooks

def ralph(agent, *arguments):
    """A command of ralph in the project, which has to succeed. Returns what it printed."""
    done = subprocess.run([str(e2e.RALPH), *arguments], cwd=agent.path, env=agent.environment(), text=True,
                          stdin=subprocess.DEVNULL, capture_output=True)
    assert done.returncode == 0, done
    return done.stdout


def install(agent, *more):
    ralph(agent, "hooks", "install", "--host", agent.name, *more)


def session(agent, prompt, *arguments):
    """One session from its prompt to its end; it must end well."""
    done = agent.by_hand(*LOOPED[agent.name], *arguments, prompt)
    assert done.returncode == 0, done
    return done


def loops(agent):
    """As `ralph loop status` tells it: the active ones first, then the newest."""
    return json.loads(ralph(agent, "loop", "status", "--json"))


def the_loop(agent):
    found = loops(agent)
    assert len(found) == 1, found
    return found[0]


def rules(loop):
    return [decision["rule"] for decision in loop["decisions"]]


def texts(value):
    """Every text in a JSON value, joined."""
    if isinstance(value, str):
        return value + "\n"
    if isinstance(value, (list, dict)):
        return "".join(texts(one) for one in (value.values() if isinstance(value, dict) else value))
    return ""


def told(agent, index):
    """What is new in one request since the one before it: the tail of the conversation, as texts."""
    requests = agent.requests()
    turns = [r["body"].get("messages") or r["body"].get("input") or r["body"].get("contents") for r in requests]
    before = len(turns[index - 1]) if index else 0
    return texts(turns[index][before:])


def turns_played(agent):
    return [request["turn"] for request in agent.requests()]


# ---- blocking and accepting

@with_hooks
def test_a_session_is_sent_on_twice_and_then_let_go(agent):
    install(agent)
    agent.play(agent.says("Half of it is done."), agent.shell("echo work > made"), agent.says("Nearly."),
               agent.says(f"All of it. {PROMISE}"))
    session(agent, "/ralph-loop mend the greeting --max-iterations=5")
    loop = the_loop(agent)
    assert loop["status"] == "PROMISE_ACCEPTED" and loop["iteration"] == 2, loop
    assert rules(loop) == ["promise_missing", "promise_missing", "promise_accepted"]
    assert [decision["decision"] for decision in loop["decisions"]] == ["continue", "continue", "stop"]
    assert loop["task"] == "mend the greeting" and loop["maxIterations"] == 5
    assert turns_played(agent) == [0, 1, 2, 3]
    assert CONTRACT in told(agent, 0) and MISSING not in agent.asked(0)
    assert "[ralph loop: iteration 1 of 5]" in told(agent, 1) and MISSING in told(agent, 1)
    assert "Original task:\nmend the greeting" in told(agent, 1)
    assert MISSING not in told(agent, 2), "a tool's result is no stop"
    assert "[ralph loop: iteration 2 of 5]" in told(agent, 3)
    agent.nothing_left()


@with_hooks
def test_a_promise_without_work_is_refused_and_counts_only_after_work_and_anew(agent):
    install(agent)
    agent.play(agent.says(f"Easy. {PROMISE}"), agent.shell("echo work > made"), agent.says("It is made."),
               agent.says(f"Now it is. {PROMISE}"))
    session(agent, "/ralph-loop make it")
    loop = the_loop(agent)
    assert rules(loop) == ["promise_without_work", "promise_missing", "promise_accepted"], loop
    assert loop["status"] == "PROMISE_ACCEPTED"
    assert NO_WORK in told(agent, 1) and NO_WORK not in told(agent, 3) and MISSING in told(agent, 3)
    assert (agent.path / "made").exists()


@with_hooks
def test_the_host_honours_many_blocks_in_a_row(agent):
    install(agent)
    blocks = 8 if agent.name == "claude" else 12  # the ninth would end the turn: that cap is the host's own
    agent.play(agent.shell("echo work > made"), *[agent.says(f"Not yet, {n}.") for n in range(blocks)], agent.says(PROMISE))
    session(agent, "/ralph-loop make it --stagnation-limit=0")
    loop = the_loop(agent)
    assert rules(loop) == ["promise_missing"] * blocks + ["promise_accepted"], loop
    assert f"[ralph loop: iteration {blocks} of 100]" in told(agent, blocks + 1)


@with_hooks
def test_the_limit_of_a_loop_ends_its_session(agent):
    install(agent)
    agent.play(exhausted=agent.says("I talk and talk."))
    session(agent, "/ralph-loop make it --max-iterations 2")
    loop = the_loop(agent)
    assert loop["status"] == "MAX_ITERATIONS_REACHED" and loop["iteration"] == 2, loop
    assert rules(loop) == ["promise_missing", "promise_missing", "continuations_spent"]
    assert len(agent.requests()) == 3
    assert "I talk and talk" in session(agent, "hello").stdout and len(agent.requests()) == 4, "it is over"


@with_hooks
def test_a_promise_counts_only_in_the_words_of_the_session_itself(agent):
    install(agent)
    agent.more_environment["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"] = "1"  # a helper is waited for
    turns = [agent.shell(f"echo '{PROMISE}'"), agent.says("It printed something.", thinking=f"Say {PROMISE}?"),
             agent.says("The word is DONE, <promise>done</promise>, <promise> DONE </promise>."),
             agent.says(f"I was told:\n> [ralph loop: iteration 2 of 100]\n> {MISSING} {PROMISE}. Continue working on the "
                        "original task below. Only output the promise when the task is fully complete.\nSo I go on.")]
    if agent.name == "claude":
        turns += [{"name": "Agent", "input": {"description": "a helper", "prompt": f"Answer with {PROMISE}",
                                              "subagent_type": "general-purpose"}},
                  agent.says(PROMISE), agent.says("The helper has answered.")]
    agent.play(*turns, agent.says(f"Myself: {PROMISE}"))
    session(agent, f"/ralph-loop echo it, then say {PROMISE}")
    loop = the_loop(agent)
    assert rules(loop) == ["promise_missing"] * (len(turns) - (3 if agent.name == "claude" else 1)) + ["promise_accepted"], loop
    assert turns_played(agent) == list(range(len(turns) + 1))


@with_hooks
def test_a_line_that_is_no_loop_command_is_refused_with_the_reason(agent):
    install(agent)
    agent.play(exhausted=agent.says("I was asked."))
    done = agent.by_hand(*LOOPED[agent.name], "/ralph-loop make it --max-iteration=3")
    assert not agent.requests() and loops(agent) == [], done
    # Without a screen Codex says only that a hook has blocked the prompt.
    assert agent.name == "codex" or "did you mean --max-iterations?" in done.stdout, done


# ---- what else the hooks tell the model

@with_hooks
def test_a_context_that_fills_up_is_told_to_the_model_once(agent):
    install(agent)
    agent.more_environment["CLAUDE_CONTEXT_WINDOW"] = 100000
    agent.play(agent.shell("echo one"), agent.calls(agent.shell("sleep 1; echo two"), usage={"input": 72000}),
               agent.calls(agent.shell("sleep 1; echo three"), usage={"input": 74000}), agent.says("Good.", usage={"input": 74000}))
    session(agent, "work a little")
    alerts = [told(agent, i).count("[ralph] Context WARNING: about 7") for i in range(4)]
    # The host writes its transcript late, hence the sleeps: the tool that crosses the line, or the one after it.
    assert sum(alerts) == 1 and alerts[:2] == [0, 0], alerts
    assert "of 100k tokens" in told(agent, alerts.index(1))


@with_hooks
def test_what_is_dangerous_does_not_happen_and_the_model_is_told_why(agent):
    install(agent)
    key = agent.home / ".ssh/id_rsa"
    key.parent.mkdir()
    key.write_text("made-up-secret")
    settings = (agent.path / ".ralph/settings.json").read_text()
    agent.play(agent.shell("touch ran; cat ~/.ssh/id_rsa"), agent.shell("x=push; git $x -f origin main; touch ran"),
               agent.edit(".ralph/settings.json", settings.splitlines()[0], "{}"), agent.shell("echo harmless > made"),
               agent.says("I leave it."))
    session(agent, "look around")
    assert not (agent.path / "ran").exists() and "made-up-secret" not in agent.asked(-1)
    assert (agent.path / ".ralph/settings.json").read_text() == settings
    assert (agent.path / "made").exists(), "all else goes on"
    assert "credential-read" in told(agent, 1) and "holds credentials" in told(agent, 1), told(agent, 1)
    assert "history-rewrite" in told(agent, 2), told(agent, 2)
    assert "tamper-ralph" in told(agent, 3), told(agent, 3)


@with_hooks
def test_hooks_of_another_version_hold_nobody_up(agent):
    """Exit code 2, which wrong usage has elsewhere, would refuse every tool and every stop."""
    install(agent)
    path = agent.path / {"claude": ".claude/settings.json", "codex": ".codex/hooks.json"}[agent.name]
    text = path.read_text()
    for hook, other in (("pre-tool", "pre-tool --strict"), ("stop", "stop --later"), ("user-prompt", "unheard-of")):
        assert text.count(f"hooks {hook}") == 1
        text = text.replace(f"hooks {hook}", f"hooks {other}")
    path.write_text(text)
    agent.play(agent.shell("echo work > made"), agent.says("Made."))
    session(agent, "make it")
    assert turns_played(agent) == [0, 1] and (agent.path / "made").exists()


# ---- the plugin, and commands

def plug_in(agent):
    """The plugin as it ships, which calls the ralph on PATH."""
    folder = agent.base / "bin"
    folder.mkdir()
    (folder / "ralph").symlink_to(e2e.RALPH)
    agent.more_environment["PATH"] = f"{folder}:{agent.environment()['PATH']}"
    return ["--plugin-dir", str(PLUGIN)]


def session_id(done):
    return next(event["session_id"] for event in map(json.loads, done.stdout.splitlines()) if event.get("subtype") == "init")


@in_claude
def test_the_plugins_loop_is_bound_to_its_session_and_no_shell_sees_the_task(agent):
    plugin = plug_in(agent)
    task = "fix `touch ran-1` and $(touch ran-2); 'touch ran-3' --- \"$HOME\" | tee ran-4 # don't"
    agent.play(agent.says("So it begins."), agent.shell("echo work > made"), agent.says(f"Fixed. {PROMISE}"))
    done = session(agent, f"/ralph:loop {task} --max-iterations=3", *plugin)
    loop = the_loop(agent)
    assert loop["status"] == "PROMISE_ACCEPTED" and rules(loop) == ["promise_missing", "promise_accepted"], loop
    assert loop["session"] == session_id(done) and loop["task"] == task and loop["maxIterations"] == 3
    assert [p.name for p in agent.path.iterdir() if p.name.startswith("ran")] == []
    first = told(agent, 0)
    assert CONTRACT in first and f"Task:\n{task}\n" in first and "at most 3 iterations" in first
    assert f"Original task:\n{task}" in told(agent, 1)


@in_claude
def test_ultrawork_is_in_every_continuation(agent):
    plugin = plug_in(agent)
    agent.play(agent.says("One."), agent.says("Two."), agent.shell("true"), agent.says("<promise>PORTED</promise>"))
    session(agent, "/ralph:ulw-loop port it --completion-promise PORTED", *plugin)
    loop = the_loop(agent)
    assert loop["ultrawork"] and rules(loop) == ["promise_missing", "promise_missing", "promise_accepted"], loop
    for i in range(3):
        assert "ULTRAWORK MODE" in told(agent, i) and "<promise>PORTED</promise>" in told(agent, i), i


@in_claude
@pytest.mark.parametrize("commands", ["plugin", "installed"])
def test_a_loop_outlives_its_process_and_is_cancelled_by_its_command(agent, commands):
    plugin = plug_in(agent) if commands == "plugin" else install(agent, "--commands") or []
    loop, status, cancel = {"plugin": ("/ralph:loop", "/ralph:status", "/ralph:cancel"),
                            "installed": ("/ralph-loop", "/ralph-status", "/cancel-ralph")}[commands]
    agent.play(exhausted=agent.says("Still at it."))
    name = str(uuid.uuid4())
    cut_off = agent.by_hand(*LOOPED["claude"], *plugin, "--session-id", name, "--max-turns", "1", f"{loop} make it")
    assert cut_off.returncode == 1 and the_loop(agent)["status"] == "SESSION_ENDED", cut_off
    assert CONTRACT in told(agent, 0) and "If there is no such message, no loop holds this session" in told(agent, 0)
    agent.by_hand(*LOOPED["claude"], *plugin, "--resume", name, "--max-turns", "1", "go on")
    assert the_loop(agent)["iteration"] == 2, "it goes on where it was"

    asked = len(agent.requests())
    shown = agent.by_hand(*LOOPED["claude"], *plugin, "--resume", name, status)
    assert "ACTIVE  make it" in shown.stdout and name in shown.stdout and PROMISE not in shown.stdout, shown
    assert the_loop(agent)["iteration"] == 2
    done = agent.by_hand(*LOOPED["claude"], *plugin, "--resume", name, cancel)
    assert "The ralph loop of this session was cancelled in iteration 2 of 100" in done.stdout, done
    assert len(agent.requests()) == asked, "the model was asked neither time"
    assert the_loop(agent)["status"] == "CANCELLED" and the_loop(agent)["session"] == name


@in_claude
def test_a_plugin_without_ralph_claims_no_loop(agent):
    agent.play(exhausted=agent.says("Good."))
    session(agent, "/ralph:loop make it", "--plugin-dir", str(PLUGIN))
    first = told(agent, 0)
    assert CONTRACT not in first.replace('begins with "You are in a ralph loop"', "") and "<promise>" not in first, first
    assert "the program `ralph` is not on PATH" in first and len(agent.requests()) == 1
    for command, terminal in (("status", "ralph loop status"), ("cancel", "ralph loop cancel")):
        session(agent, f"/ralph:{command}", "--plugin-dir", str(PLUGIN))
        assert "ralph's hooks do not run in this session" in agent.asked(-1) and terminal in agent.asked(-1)


@in_claude
def test_the_plugin_and_installed_hooks_together_make_one_loop(agent):
    plugin = plug_in(agent)
    install(agent)
    settings = agent.path / ".claude/settings.json"
    settings.write_text(settings.read_text().replace('"ralph hooks', f'"{agent.base}/bin/ralph hooks'))  # another line: both run
    agent.play(agent.says("Not yet."), agent.says("Not yet."), agent.shell("touch made"), agent.says("Not yet."), agent.says(PROMISE))
    session(agent, "/ralph:loop make it", *plugin)
    loop = the_loop(agent)
    assert loop["status"] == "PROMISE_ACCEPTED" and loop["iteration"] == 3, loop
    assert rules(loop) == ["promise_missing"] * 3 + ["promise_accepted"], loop
    assert loop["reason"] == "the promise was given after 1 tool call"
    assert turns_played(agent) == [0, 1, 2, 3, 4] and told(agent, 0).count("Task:\nmake it\n") == 1


# ---- what is no work, and what is no promise

@pytest.mark.only("claude", "codex", "gemini")
def test_an_agent_that_only_asks_is_not_sent_on_for_ever(agent):
    agent.more_environment["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    install(agent)
    agent.play(agent.shell("touch made"), exhausted=agent.says("Which database do you want?"))
    session(agent, "/ralph-loop make it")
    loop = the_loop(agent)
    assert loop["status"] == "STAGNANT" and rules(loop) == ["promise_missing"] * 3 + ["stagnant"], loop
    assert loop["reason"].endswith("the agent's last words: \"Which database do you want?\"") and len(agent.requests()) == 5


@pytest.mark.only("claude", "codex", "gemini")
def test_an_announcement_is_no_promise(agent):
    agent.more_environment["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    install(agent)
    agent.play(agent.shell("touch made"), agent.says(f"When the tests pass I will output {PROMISE}"), agent.says(f"They pass. {PROMISE}"))
    session(agent, "/ralph-loop make it")
    assert rules(the_loop(agent)) == ["promise_mentioned", "promise_accepted"]
    assert "if you mean it, say it alone on a line" in told(agent, 2)


@in_claude
def test_a_background_command_does_not_burn_the_loop(agent):
    install(agent)
    agent.play(agent.shell("until [ -e go ]; do sleep 0.05; done; touch made", run_in_background=True), agent.says("I wait for it."),
               agent.says(f"It has ended. {PROMISE}"), exhausted=agent.says("Hm."))
    with ThreadPoolExecutor(1) as executor:
        running = executor.submit(session, agent, "/ralph-loop make it")
        try:
            wait_until(lambda: loops(agent) and rules(loops(agent)[0]) == ["background_task_runs"])
        finally:
            (agent.path / "go").touch()
        running.result()
    loop = the_loop(agent)
    assert loop["status"] == "PROMISE_ACCEPTED" and loop["iteration"] == 0, loop
    assert rules(loop) == ["background_task_runs", "promise_accepted"] and turns_played(agent) == [0, 1, 2]


@in_claude
def test_a_cancel_typed_while_the_agent_works_is_heard_at_its_next_stop(agent):
    """Claude Code keeps the line in its queue until the turn ends, which a loop prevents."""
    install(agent)
    agent.play(agent.shell(wait_for("go")), exhausted=agent.says("Still at it."))
    talk = subprocess.Popen([str(agent.program), *LOOPED["claude"], "--input-format", "stream-json"], cwd=agent.path, text=True,
                            env=agent.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            preexec_fn=agent._enter_network)

    def types(line):
        talk.stdin.write(json.dumps({"type": "user", "message": {"role": "user", "content": line}}) + "\n")
        talk.stdin.flush()

    def is_queued():
        transcripts = (agent.home / ".claude/projects").rglob("*.jsonl")
        return any('"enqueue"' in line and "/cancel-ralph" in line for path in transcripts for line in path.read_text().splitlines())

    try:
        types("/ralph-loop make it --stagnation-limit 0 --max-iterations 9")
        wait_until(lambda: (agent.path / "waiting").exists())
        types("/cancel-ralph")
        wait_until(is_queued)
        (agent.path / "go").touch()
        output = talk.communicate(timeout=60)[0]
    finally:
        (agent.path / "go").touch()
        talk.kill()
        talk.wait()
    loop = the_loop(agent)
    assert loop["status"] == "CANCELLED" and rules(loop) == ["cancelled"] and loop["iteration"] == 0, (loop, output)
    assert turns_played(agent) == [0, "exhausted"], output


@pytest.mark.only("claude")
def test_in_loop_run_a_call_that_needs_a_permission_is_no_work(agent):
    agent.settings({"agent": {"flags": []}})
    agent.play(agent.write("made", "x"), agent.says(PROMISE), exhausted=agent.says("Hm."))
    result = agent.run("loop", "run", "make it")
    # Nor does it get a second turn: without that permission, no turn could do anything.
    assert result.code == 2 and "--permission-mode acceptEdits" in result.err, result
    assert [r["tools"] for r in agent.records("agent_ended")] == [0] and not (agent.path / "made").exists()


@pytest.mark.only("claude", "codex", "gemini")
def test_a_session_that_ends_takes_its_loop_out_of_the_active_ones(agent):
    """Gemini CLI calls no hook when its model fails, but then its process is gone."""
    agent.more_environment["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    install(agent)
    ralph(agent, "loop", "start", "make it")
    agent.play(agent.says("I begin."), exhausted=agent.error(400, "made-up trouble"))
    agent.by_hand(*LOOPED[agent.name], "let us begin")
    assert CONTRACT in told(agent, 0), "adopted"
    assert the_loop(agent)["status"] == "SESSION_ENDED" and the_loop(agent)["iteration"] == 1, the_loop(agent)


# ---- whose loop it is

def wait_for(file):
    return f"touch waiting; until [ -e {file} ]; do sleep 0.05; done"


@with_hooks
def test_a_loop_that_is_cancelled_from_outside_lets_the_next_stop_pass(agent, background):
    install(agent)
    agent.play(agent.says("I begin."), agent.shell(wait_for("go")), agent.says("No promise."))
    running = background.submit(session, agent, "/ralph-loop make it")
    wait_until(lambda: (agent.path / "waiting").exists())
    assert "Cancelled in iteration 1 of 100: make it" in ralph(agent, "loop", "cancel")
    (agent.path / "go").touch()
    running.result()
    assert turns_played(agent) == [0, 1, 2]
    loop = the_loop(agent)
    assert loop["status"] == "CANCELLED" and rules(loop) == ["promise_missing", "cancelled"]


@with_hooks
def test_sessions_side_by_side_have_loops_of_their_own_and_others_none(agent, background):
    install(agent)
    first = [agent.shell(wait_for("go")), agent.says("<promise>TWO</promise>"), agent.says("<promise>ONE</promise>")]
    second = [agent.says("<promise>ONE</promise>"), agent.shell("touch made"), agent.says("<promise>TWO</promise>")]
    agent.play(*[{**(agent.calls(t) if "name" in t else t), "when": task} for task, turns in
                 (("task-alpha", first), ("task-beta", second)) for t in turns], exhausted=agent.says("Hello to you."))
    running = background.submit(session, agent, "/ralph-loop task-alpha --completion-promise=ONE")
    wait_until(lambda: (agent.path / "waiting").exists())
    session(agent, "/ralph-loop task-beta --completion-promise=TWO")
    assert "Hello to you." in session(agent, "hello").stdout
    (agent.path / "go").touch()
    running.result()
    assert turns_played(agent).count("exhausted") == 1 and len(agent.requests()) == 7
    alpha, beta = sorted(loops(agent), key=lambda loop: loop["task"])
    assert rules(alpha) == rules(beta) == ["promise_missing", "promise_accepted"]
    assert alpha["session"] != beta["session"]


@with_hooks
def test_a_loop_of_a_terminal_is_adopted_by_the_next_session_that_starts_and_once(agent):
    install(agent)
    ralph(agent, "loop", "start", "make it", "--max-iterations", "4")
    assert the_loop(agent)["session"] == ""
    agent.play(agent.says("What now?"), agent.shell("touch made"), agent.says(PROMISE), exhausted=agent.says("Hello."))
    session(agent, "let us begin")
    assert CONTRACT in told(agent, 0) and "Task:\nmake it\n" in told(agent, 0)
    assert the_loop(agent)["status"] == "PROMISE_ACCEPTED" and the_loop(agent)["session"]
    assert rules(the_loop(agent)) == ["promise_missing", "promise_accepted"]
    session(agent, "hello")
    assert len(agent.requests()) == 4 and CONTRACT not in agent.asked(3) and len(loops(agent)) == 1


@with_hooks
def test_in_an_agent_that_ralph_runs_hooks_make_no_second_loop(agent):
    install(agent)
    if agent.name == "codex":
        agent.settings({"agent": {"flags": [*agent.kind.flags, "--dangerously-bypass-hook-trust"]}})
    ralph(agent, "loop", "start", "wait for a session")
    agent.play(agent.shell("touch made"), exhausted=agent.says("I stop here."))
    result = agent.run("run", "-p", "/ralph-loop make it", "-m", "1")
    assert result.code == 1, result
    assert turns_played(agent) == [0, "exhausted"] and CONTRACT not in agent.asked(0)
    assert the_loop(agent)["session"] == "" and the_loop(agent)["status"] == "ACTIVE", "it still waits"
    agent.nothing_left()


# ---- from outside

@pytest.mark.only("claude", "codex", "opencode")
def test_loop_run_goes_on_in_one_session(agent):
    more = [] if agent.name == "opencode" else [agent.says("It is made.")]  # that one needs long to start
    agent.play(agent.says(f"Easy. {PROMISE}"), agent.shell("touch made"), *more, agent.says(PROMISE))
    result = agent.run("loop", "run", "make it", "--agent", str(agent.program), "--max-iterations", "5")
    assert result.code == 0, result
    assert turns_played(agent) == list(range(3 + len(more)))
    ended = agent.records("agent_ended")
    assert len(ended) == 2 + len(more) and len({r["session"] for r in ended}) == 1 and ended[0]["session"], ended
    assert "Task:\\nmake it\\n" in agent.asked(0)
    assert NO_WORK in told(agent, 1) and "Original task:\nmake it" in told(agent, 1)
    assert not more or MISSING in told(agent, 3)
    assert "Easy." in agent.asked(-1), "the history of one session"
    assert agent.last("run_ended")["status"] == "complete"
    agent.nothing_left()


@in_claude
def test_loop_run_ends_at_its_limit(agent):
    install(agent)  # the hooks of a run's agent start and keep no loop of their own
    agent.play(exhausted=agent.says("I talk and talk."))
    result = agent.run("loop", "run", "make it", "--max-iterations", "2")
    assert result.code == 1 and agent.last("run_ended")["status"] == "limit", result
    assert len({r["session"] for r in agent.records("agent_ended")}) == 1
    assert loops(agent) == []
    agent.nothing_left()


# ---- Gemini CLI

@pytest.mark.only("gemini")
def test_gemini_is_sent_on_and_let_go(agent):
    """It hands all that was said so far to its hook, garbled: what was refused is in there again each time."""
    agent.more_environment["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    install(agent)
    agent.play(agent.says(f"Easy. {PROMISE}"), agent.shell("echo work > made"), agent.says("It is made."),
               agent.says(f"All of it. {PROMISE}"))
    session(agent, "/ralph-loop make it")
    loop = the_loop(agent)
    assert loop["status"] == "PROMISE_ACCEPTED", loop
    assert rules(loop) == ["promise_without_work", "promise_missing", "promise_accepted"], loop
    assert NO_WORK in told(agent, 1) and MISSING in told(agent, 3) and turns_played(agent) == [0, 1, 2, 3]
    agent.nothing_left()


@pytest.mark.only("gemini")
def test_gemini_is_let_go_at_the_limit(agent):
    agent.more_environment["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    install(agent)
    agent.play(exhausted=agent.says("I talk and talk."))
    session(agent, "/ralph-loop make it --max-iterations 1")
    assert the_loop(agent)["status"] == "MAX_ITERATIONS_REACHED" and len(agent.requests()) == 2
