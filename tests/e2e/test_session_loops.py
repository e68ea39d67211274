"""Loops inside a host's session, through the real binary: payloads on standard input, transcripts as hosts write them."""
import json
import os
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plan_support import Plan
from session_support import PROMISE, Answer, Session, now
from support import RALPH, SANITIZED, is_ralph, wait_until

MISSING = "You attempted to end the loop, but you did not output the completion promise <promise>DONE</promise>."
NO_WORK = "Promise detected, but no tool calls/work were performed; you must actually complete the task"

both_hosts = pytest.mark.parametrize("host", ["claude", "codex"])


# ---- the five acceptance tests

@both_hosts
def test_stops_on_the_promise_after_work(project, host):
    session = Session(project, host=host)
    session.starts("fix the tests")
    session.uses_tool()
    answer = session.stops(f"All done.\n\n{PROMISE}")
    assert not answer.goes_on and answer.status == "PROMISE_ACCEPTED", answer
    assert answer.message == "ralph loop: PROMISE_ACCEPTED (the promise was given after 1 tool call)"


@both_hosts
def test_blocks_an_exit_without_the_promise_and_injects_the_task_again(project, host):
    session = Session(project, host=host)
    session.starts("fix the tests")
    answer = session.stops("I'm done.")
    assert answer.goes_on and MISSING in answer.reason and answer.reason.endswith("Original task:\nfix the tests"), answer
    assert answer.state["iteration"] == 1 and answer.rule == "promise_missing"


@both_hosts
def test_ends_after_the_iterations_that_are_allowed(project, host):
    session = Session(project, host=host)
    session.starts("fix it", "--max-iterations 3")
    answers = [session.stops("not yet") for _ in range(4)]
    assert [a.goes_on for a in answers] == [True, True, True, False]
    assert answers[-1].status == "MAX_ITERATIONS_REACHED"
    assert "MAX_ITERATIONS_REACHED (3 iterations done without the promise)" in answers[-1].message
    assert not session.stops("and again").result.out, "the loop is over"


@both_hosts
def test_rejects_a_promise_without_work(project, host):
    session = Session(project, host=host)
    session.starts("fix it")
    answer = session.stops(PROMISE)
    assert answer.goes_on and NO_WORK in answer.reason and answer.reason.endswith("Original task:\nfix it"), answer
    assert answer.rule == "promise_without_work"
    session.says(PROMISE)  # the host writes it now, and it does not count later
    session.uses_tool()
    assert session.stops("I have begun.").goes_on
    assert session.stops(PROMISE).status == "PROMISE_ACCEPTED"


@both_hosts
@pytest.mark.parametrize("text", [PROMISE, f"Done. {PROMISE}", f"```\n{PROMISE}\n```", f"- **{PROMISE}**\n\nBye!",
                                  "x" * 300_000 + f".{PROMISE}\n" + "y" * 300_000, f"{PROMISE}\n{PROMISE}", f"日本語: {PROMISE}\n😀"],
                         ids=range(7))
def test_a_promise_in_the_final_message_stops_the_loop(project, host, text):
    session = Session(project, host=host)
    session.starts("fix it")
    session.uses_tool()
    assert session.stops(text).status == "PROMISE_ACCEPTED"


# ---- known failures of such loops, one after the other

def test_the_prompt_contains_the_tag(project):
    task = f"Fix it. When you are done with all of it and have run the tests, print {PROMISE}"
    session = Session(project)
    contract = session.starts(task)
    session.write(session.host.user(session.id, f"/ralph:loop {task}"), session.host.user(session.id, contract))
    session.uses_tool()
    answer = session.stops("I read the task.")
    assert answer.goes_on, answer
    for echo in (contract, answer.reason, f"You asked me: {task}", f"> {task}\n\nI will."):
        assert session.stops(echo).goes_on, echo
    assert session.stops(f"The tests pass. {PROMISE}").status == "PROMISE_ACCEPTED"


@pytest.mark.parametrize("text", [
    f'The hook said: "{MISSING}" I will go on.',
    f"It says that you did not output the completion promise {PROMISE}, so I go on.",
    f"- Only when the task is fully done and you have verified it, output the completion promise {PROMISE} alone on a line.\n\nI will start now.",
    f'I read "you must actually complete the task before emitting the promise {PROMISE}" and will do that.'],
    ids=["a continuation", "the end of it", "the contract", "without work"])
def test_a_part_of_what_ralph_said_is_no_promise(project, text):
    session = Session(project)
    session.starts("fix the failing tests")
    session.uses_tool()
    assert session.stops(text).rule == "promise_missing"
    assert session.stops(f"{text}\n\nNow it is done. {PROMISE}").status == "PROMISE_ACCEPTED"


@pytest.mark.parametrize("text", [
    f"The task is fully done and I have verified it: {PROMISE}", f"I have verified it, and output the completion promise: {PROMISE}",
    f"Now I output the completion promise alone on a line:\n{PROMISE}", f"Here is the completion promise:\n\n{PROMISE}",
    f"All rules were kept. `{PROMISE}`", f"It is done. {PROMISE}\nTell me if it is not."])
def test_a_promise_in_ralphs_own_words_is_still_one(project, text):
    session = Session(project)
    session.starts("fix the failing tests")
    session.uses_tool()
    assert session.stops(text).status == "PROMISE_ACCEPTED"


@pytest.mark.parametrize("task", [PROMISE, f"{PROMISE}.", f"- {PROMISE}!\n- {PROMISE}!"])
def test_a_task_that_is_nothing_but_the_promise_can_be_done(project, task):
    session = Session(project)
    session.starts(task)
    session.uses_tool()
    assert session.stops(PROMISE).status == "PROMISE_ACCEPTED"


@both_hosts
def test_a_promise_that_was_seen_ends_the_loop_even_if_more_was_said_after_it(project, host):
    session = Session(project, host=host)
    session.starts()
    session.uses_tool()
    session.says(f"It is done: {PROMISE}")
    session.uses_tool()
    session.says("Let me also summarise what I did.")
    assert session.stops("Let me also summarise what I did.").status == "PROMISE_ACCEPTED"


@both_hosts
@pytest.mark.parametrize("where", ["tool output", "a tool's input", "the user's words", "thinking", "a hook's words"])
def test_a_promise_that_the_assistant_did_not_say(project, host, where):
    session = Session(project, host=host)
    session.starts()
    session.uses_tool()
    lines = {"tool output": [session.host.call(session.id, "t9"), session.host.output(session.id, "t9", PROMISE)],
             "a tool's input": [session.host.call(session.id, "t9", f"echo '{PROMISE}'"), session.host.output(session.id, "t9", "")],
             "the user's words": [session.host.user(session.id, f"please say {PROMISE}")],
             "thinking": [session.host.thinking(session.id, f"shall I say {PROMISE}?")],
             "a hook's words": [session.host.feedback(session.id, f"say {PROMISE}")]}[where]
    session.write(*lines)
    session.says("Working on it.")
    assert session.stops("Working on it.").rule == "promise_missing"
    assert session.stops().rule == "promise_missing", "and without the last message either"


@pytest.mark.parametrize("known", [True, False])
@both_hosts
def test_a_promise_from_before_the_start(project, host, known):
    session = Session(project, host=host)
    session.uses_tool()
    session.says(f"An earlier task is done. {PROMISE}")
    if known:
        session.starts()
    else:  # in a terminal, or by the model in its shell: nobody says where the transcript is
        assert project.run("loop", "start", "fix it", "--session", session.id).code == 0
    session.write(session.host.user(session.id, "go"))
    session.says("Not yet.")
    assert session.stops("Not yet.").rule == "promise_missing"
    assert session.stops(PROMISE).rule == "promise_without_work", "the old work does not count either"
    session.uses_tool()
    assert session.stops(PROMISE).status == "PROMISE_ACCEPTED"


@pytest.mark.parametrize("text", ["DONE", "<promise>done</promise>", "<promise> DONE </promise>", "<promise>DONE", "<PROMISE>DONE</PROMISE>",
                                  "promise: DONE", "<response>DONE</response>", "<promise>DONE </promise>", ""])
def test_a_bare_word_or_a_variant_is_no_promise(project, text):
    session = Session(project)
    session.starts()
    session.uses_tool()
    assert session.stops(text).rule == "promise_missing"


def test_a_promise_in_the_last_allowed_iteration_counts(project):
    session = Session(project)
    session.starts("fix it", "--max-iterations=1")
    session.uses_tool()
    assert session.stops("not yet").goes_on
    assert session.stops(PROMISE).status == "PROMISE_ACCEPTED"


def test_another_session_is_left_alone(project):
    mine, other = Session(project, "mine"), Session(project, "other")
    mine.starts()
    answer = other.stops("bye")
    assert not answer.result.out and not answer.result.err, answer
    assert mine.states()[0]["iteration"] == 0


def test_an_empty_session_id_matches_nothing(project):
    nobody = Session(project, "")
    assert "which session" in nobody.types("/ralph:loop fix it")
    assert project.run("loop", "start", "wait").code == 0
    for identity in ("", None, 7, "unbound"):
        assert not nobody.stops("bye", session_id=identity).result.out
    assert nobody.begins() is None
    assert project.run("loop", "start", "x", "--session", "").code == 2
    states = json.loads(project.run("loop", "status", "--json").out)
    assert [(s["session"], s["iteration"]) for s in states] == [("", 0)]


def test_two_sessions_at_once_in_one_project(project):
    sessions = [Session(project, f"s{i}", host=host) for i, host in enumerate(["claude", "codex", "claude", "codex"])]
    for i, session in enumerate(sessions):
        session.starts(f"task {i}", f"--max-iterations {i + 2}")

    def play(session):
        seen = []
        for _ in range(10):
            answer = session.stops("not yet")
            seen.append(answer.goes_on)
            if not answer.goes_on:
                return seen

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(play, sessions)) == [[True] * (i + 2) + [False] for i in range(4)]
    for i, session in enumerate(sessions):
        assert [s["task"] for s in session.states()] == [f"task {i}"]


def test_a_session_that_moves_to_a_sub_folder_or_a_worktree(project):
    project.git_init()
    (project.path / "a/b").mkdir(parents=True)
    tree = project.base / "worktree"
    project.git("worktree", "add", "-q", str(tree))
    session = Session(project)
    session.starts("fix it", "--max-iterations 9")
    for cwd in (project.path / "a/b", tree, project.base / "gone", "/", project.path):
        assert session.stops("not yet", cwd=str(cwd)).goes_on, cwd
    assert not (tree / ".ralph").exists() and not (project.path / "a/.ralph").exists()
    session.env = {"HOME": ""}  # without a home nobody knows which run a session has
    assert not session.stops("not yet", cwd=str(project.path / "a/b")).goes_on


def test_a_loop_that_starts_in_a_sub_folder_belongs_to_the_project(project):
    project.git_init()
    (project.path / "a/b").mkdir(parents=True)
    session = Session(project, cwd=project.path / "a/b")
    session.starts()
    assert session.folder.parent == project.ralph / "runs" and (session.folder / "request.json").exists()
    assert project.git("status", "--porcelain") == "", "what ralph keeps is ignored by git"


def test_a_second_loop_in_one_session_is_refused_until_the_first_has_ended(project):
    session = Session(project)
    session.starts("first")
    refusal = session.types("/ralph:loop second")
    assert "a loop is active in this session (iteration 0 of 100" in refusal and "ralph loop cancel --session" in refusal
    assert session.states()[0]["task"] == "first"
    session.types("/ralph:cancel")
    session.starts("second")
    assert [(s["task"], s["status"]) for s in session.states()] == [("second", "ACTIVE"), ("first", "CANCELLED")]


def test_the_state_of_a_dead_session_harms_nobody(project):
    Session(project, "dead").starts("old")
    living = Session(project, "living")
    assert living.begins() is None and not living.stops("bye").result.out
    living.starts("new")
    living.uses_tool()
    assert living.stops(PROMISE).status == "PROMISE_ACCEPTED"
    assert project.run("loop", "cancel").out.startswith("Cancelled in iteration 0 of 100: old")


def test_values_after_an_equals_sign(project):
    session = Session(project)
    session.types('/ralph-loop "fix it" --max-iterations=7 --completion-promise="ALL GOOD" --min-tool-calls=2 --on-promise-no-work=warn')
    state = session.states()[0]
    assert (state["task"], state["maxIterations"], state["completionPromise"], state["minToolCalls"], state["onPromiseNoWork"]) == (
        "fix it", 7, "ALL GOOD", 2, "warn")
    assert session.stops(PROMISE).goes_on
    assert session.stops("<promise>ALL GOOD</promise>").status == "PROMISE_ACCEPTED", "with a warning"
    assert "accepted with this warning" in session.states()[0]["reason"]


@pytest.mark.parametrize("task", ["fix `touch ran` $(touch ran) && touch ran; touch ran | tee ran > ran", "one\ntwo\n\n---\nkey: v\n---\nthree",
                                  "it's \"quoted\" \\ and 'more' $HOME ${x} %s {} ~ * ?", "grüße 日本語 😀", "first -- then --color", "x" * 100_000],
                         ids=["metacharacters", "lines", "quotes", "unicode", "dashes", "long"])
def test_the_task_is_taken_as_it_was_typed(project, task):
    session = Session(project)
    contract = session.types(f"/ralph:loop {task} --max-iterations 2")
    assert f"Task:\n{task}\n" in contract
    assert session.states()[0]["task"] == task
    assert session.stops("no").reason.endswith(f"Original task:\n{task}")
    assert not (project.path / "ran").exists()


@pytest.mark.parametrize("payload", ["", "{", "[]", "nonsense", "null", "{}", '{"session_id":"26d69ff4-4761-40bc"', '{"session_id":{},"cwd":3}'])
def test_a_payload_without_what_is_needed_lets_the_stop_pass(project, payload):
    session = Session(project)
    session.starts()
    result = session.hook("stop", payload)
    assert result.code == 0 and not result.out, result
    for name in ("user-prompt", "session-start", "post-tool"):
        result = session.hook(name, payload)
        assert result.code == 0 and not result.out, result
    assert session.states()[0]["iteration"] == 0


def test_a_payload_with_the_session_alone_is_enough(project):
    session = Session(project)
    session.starts()
    answer = Answer(session, session.hook("stop", {"session_id": session.id}, cwd=project.path))
    assert answer.goes_on and answer.rule == "promise_missing", "missing text is no promise"
    assert session.stops("no", transcript_path=None, hook_event_name=None, permission_mode=[1], brand_new={"a": 1}).goes_on


def test_the_list_of_messages_is_understood(project):
    session = Session(project)
    session.starts()
    session.uses_tool()

    def stop(*messages):
        return Answer(session, session.hook("stop", {"session_id": session.id, "cwd": str(project.path), "messages": messages}))

    user, said = {"role": "user", "content": PROMISE}, {"role": "assistant", "content": [{"type": "text", "text": f"ok. {PROMISE}"}]}
    assert stop(user).goes_on
    assert stop(said, {"role": "assistant", "content": "more"}).goes_on, "the last one counts"
    assert stop(user, said).status == "PROMISE_ACCEPTED"


def test_a_cancel_while_it_is_stopping(project):
    """The hook waits for the host's text; the cancel comes meanwhile, does not wait for it, and is heard."""
    session = Session(project)
    session.starts()
    stopping = project.start("hooks", "stop", stdin=json.dumps(session.payload("stop")))
    wait_until(lambda: is_ralph(stopping.pid), what="the hook")
    cancelled = project.run("loop", "cancel", "--session", session.id)
    assert cancelled.code == 0 and "Cancelled" in cancelled.out, cancelled
    result = stopping.wait()
    # Sent on just before the cancel; or it has heard it, and ends the turn unless that was done already.
    assert result.code == 0 and (not result.out or "block" in result.out or "CANCELLED" in result.out), result
    assert [s["status"] for s in session.states()] == ["CANCELLED"]
    assert not session.stops("no").goes_on


@both_hosts
def test_a_text_that_is_not_yet_in_the_transcript_is_waited_for(project, host):
    session = Session(project, host=host)
    session.starts()
    session.uses_tool()
    writer = session.later(0.2, session.host.text(session.id, f"Done. {PROMISE}"))
    answer = session.stops()
    writer.join()
    assert answer.status == "PROMISE_ACCEPTED", answer


@both_hosts
def test_a_tool_call_that_is_not_yet_in_the_transcript_is_waited_for(project, host):
    session = Session(project, host=host)
    session.starts()
    writer = session.later(0.05, session.host.call(session.id, "t1"), session.host.output(session.id, "t1", "ok"),
                           session.host.text(session.id, PROMISE))
    answer = session.stops(PROMISE)
    writer.join()
    assert answer.status == "PROMISE_ACCEPTED", answer


def test_a_text_that_never_comes_is_no_promise_and_the_loop_goes_on(project):
    session = Session(project)
    session.starts()
    session.uses_tool()
    answer = session.stops()
    assert answer.goes_on and answer.rule == "promise_missing"
    assert answer.result.seconds < 8, "a bounded wait"


def task(name, status="running"):
    return {"id": name, "type": "shell", "status": status, "command": "make"}


def test_a_stop_beside_a_background_task_passes_uncounted_once_for_each_task(project):
    session = Session(project)
    session.starts("fix it", "--stagnation-limit 1")
    session.uses_tool()
    answer = session.stops("waiting for make", background_tasks=[task("b1"), task("b2", "completed")])
    assert not answer.goes_on and answer.status == "ACTIVE" and answer.state["iteration"] == 0, answer
    assert answer.rule == "background_task_runs" and answer.message == "ralph loop: waiting for 1 task in the background"
    answer = session.stops("still waiting", background_tasks=[task("b1")])
    assert answer.goes_on and answer.state["iteration"] == 1, "a task that never ends holds no loop up"
    assert "One task of yours is still running in the background" in answer.reason
    session.uses_tool()
    assert not session.stops("another", background_tasks=[task("b1"), task("b3")]).goes_on, "a new one"
    assert session.stops("and again", background_tasks=[task("b1"), task("b3")]).goes_on
    session.uses_tool()
    answer = session.stops(PROMISE, background_tasks=[task("b4")])
    assert answer.status == "PROMISE_ACCEPTED", "the promise is the session's to give"


def test_an_agent_that_only_asks_ends_its_loop_as_stagnant_with_its_last_words(project):
    session = Session(project)
    assert session.types("/ralph:loop make it")
    session.uses_tool()
    assert [session.stops("Which one?").goes_on for _ in range(3)] == [True] * 3
    answer = session.stops("Which database\ndo you want?")
    assert not answer.goes_on and answer.status == "STAGNANT" and answer.rule == "stagnant", answer
    why = "3 continuations in a row without a tool call; the agent's last words: \"Which database do you want?\""
    assert answer.state["reason"] == why and answer.message == f"ralph loop: STAGNANT ({why})"
    assert "STAGNANT  make it" in project.run("loop", "status").out
    assert session.states()[0]["stagnationLimit"] == 3


@pytest.mark.parametrize("option, ends", [("--max-iterations 3", "MAX_ITERATIONS_REACHED"), ("--max-iterations 4", "STAGNANT"),
                                          ("--stagnation-limit 2 --max-iterations 2", "MAX_ITERATIONS_REACHED"),
                                          ("--stagnation-limit=0 --max-iterations 9", "MAX_ITERATIONS_REACHED")])
def test_the_iteration_limit_is_looked_at_before_stagnation(project, option, ends):
    session = Session(project)
    session.types(f"/ralph:loop make it {option}")
    while (answer := session.stops("No.")).goes_on:
        assert answer.state["iteration"] < 20
    assert answer.status == ends, answer


@both_hosts
@pytest.mark.parametrize("how", ["transcript", "hook"])
def test_a_tool_call_begins_a_new_count_of_idle_continuations_and_so_does_the_users_next_line(project, host, how):
    session = Session(project, host=host)
    session.types("/ralph:loop make it --stagnation-limit 2")
    work = session.uses_tool if how == "transcript" else session.used_tool
    assert session.stops("one").goes_on and session.stops("two").goes_on
    work()
    assert session.stops("three").goes_on and session.stops("four").goes_on
    assert session.types("use sqlite") is None
    assert session.stops("five").goes_on and session.stops("six").goes_on
    assert session.stops("seven").status == "STAGNANT"


def test_where_nobody_counts_tool_calls_nothing_is_said_about_progress(project):
    session = Session(project, transcript=False)
    session.types("/ralph:loop make it")
    assert all(session.stops("no").goes_on for _ in range(6))


@pytest.mark.parametrize("text", [
    f"When they pass I will output {PROMISE}", f"Once the tests are green, I'll say {PROMISE}.", f"{PROMISE} comes at the end.",
    f"I must not say {PROMISE} yet.", f'The tag is "{PROMISE}"', f"Not yet ({PROMISE})", f"ok{PROMISE}"], ids=range(7))
def test_a_mention_is_no_promise_and_the_session_is_told_how_to_make_one(project, text):
    session = Session(project)
    session.starts()
    session.uses_tool()
    answer = session.stops(text)
    assert answer.goes_on and answer.rule == "promise_mentioned" and answer.state["iteration"] == 1, answer
    assert "if you mean it, say it alone on a line" in answer.reason and MISSING not in answer.reason
    assert session.stops(answer.reason).goes_on, "what ralph says of it is none"
    assert session.stops(f"{text}\n{PROMISE}").status == "PROMISE_ACCEPTED"


def test_ralph_blocks_more_often_than_the_host_would_and_is_not_confused_by_the_hosts_cap(project):
    session = Session(project)
    session.starts()
    for i in range(20):
        assert session.stops("no", stop_hook_active=i > 0).goes_on
    # The host has overridden the block: the session is idle, the loop is not lost.
    session.uses_tool()
    assert session.stops(PROMISE).status == "PROMISE_ACCEPTED"
    project.run("hooks", "install")
    settings = json.loads((project.path / ".claude/settings.json").read_text())
    assert "env" not in settings, "the host's cap is its own, and the brake of its /goal"


# ---- who is meant

def test_sub_agents_may_stop_and_their_words_do_not_count(project):
    session = Session(project)
    session.starts()
    session.uses_tool()
    answer = session.stops(PROMISE, agent_id="a1", agent_type="general-purpose", hook_event_name="SubagentStop")
    assert not answer.result.out and answer.status == "ACTIVE"
    session.says(PROMISE, isSidechain=True)
    session.says("The sub-agent says that it is done.")
    assert session.stops("The sub-agent says that it is done.").goes_on


def test_an_agent_that_ralph_runs_has_no_loop_of_its_own(project):
    session = Session(project)
    project.run("loop", "start", "wait")
    session.env = {"RALPH_RUN_ID": "20261115-202233-abc"}
    assert session.types("/ralph:loop x") is None
    assert session.begins() is None
    assert project.run("loop", "start", "x", env=session.env).code == 2
    session.env = {}
    session.starts()
    session.env = {"RALPH_RUN_ID": "20261115-202233-abc"}
    assert not session.stops("bye").goes_on
    session.used_tool()
    session.env = {}
    assert session.stops(PROMISE).rule == "promise_without_work", "nothing was counted"


@pytest.mark.parametrize("name", ["RALPH_DISABLE_LOOP_CONTROLLER", "JIKIME_DISABLE_LOOP_CONTROLLER"])
def test_the_controller_can_be_switched_off(project, name):
    session = Session(project)
    session.starts()
    session.env = {name: "1"}
    assert not session.stops("no").goes_on
    session.env = {name: "0"}
    assert session.stops("no").state["iteration"] == 1


# ---- loops that wait for a session

@pytest.mark.parametrize("source", ["startup", "clear"])
def test_an_unbound_loop_is_adopted_once_by_the_next_session_that_starts(project, source):
    started = project.run("loop", "start", "wait for it", "-n", "4")
    assert "The next session that starts in this project adopts it." in started.out
    session = Session(project, "first")
    assert not session.stops("not mine").goes_on
    session.says(f"from before {PROMISE}")
    told = session.begins(source)
    assert told.startswith("You are in a ralph loop") and "wait for it" in told
    assert Session(project, "second").begins() is None
    assert session.begins() is None
    assert session.stops("no").state["maxIterations"] == 4
    session.uses_tool()
    assert session.stops(PROMISE).status == "PROMISE_ACCEPTED"


@pytest.mark.parametrize("source", ["resume", "compact", "fork"])
def test_a_session_that_goes_on_does_not_adopt(project, source):
    project.run("loop", "start", "wait")
    session = Session(project)
    assert session.begins(source) is None
    assert not session.stops("bye").goes_on


def test_many_sessions_that_start_at_once_adopt_one_loop(project):
    project.run("loop", "start", "wait")
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda i: Session(project, f"s{i}").begins(), range(8)))
    assert sum(t is not None for t in told) == 1
    assert len(json.loads(project.run("loop", "status", "--json").out)) == 1


# ---- what counts as work

def test_the_post_tool_hook_counts_where_the_transcript_says_nothing(project):
    session = Session(project, transcript=False)
    session.starts("fix it", "--min-tool-calls 3")
    for _ in range(2):
        session.used_tool()
    assert session.stops(PROMISE).rule == "promise_without_work"
    session.used_tool(agent_id="sub", tool_name="Read")
    answer = session.stops(PROMISE)
    assert answer.status == "PROMISE_ACCEPTED" and "after 3 tool calls" in answer.message


REFUSALS = {
    "claude": {"by a hook": ("PreToolUse:Bash hook error: Denied by ralph: privilege", {}),
               "by the user": ("Claude requested permissions to use Bash", {"permissionDecision": {"decision": "reject", "source": "config"}})},
    "codex": {"by a hook": ("Command blocked by PreToolUse hook: Denied by ralph: privilege. Command: sudo ls", {})},
}


@pytest.mark.parametrize("host, how", [(host, how) for host in REFUSALS for how in REFUSALS[host]])
def test_a_call_that_was_refused_is_no_work(project, host, how):
    session = Session(project, host=host)
    session.starts("fix it", "--min-tool-calls 2")
    output, more = REFUSALS[host][how]
    for i in range(3):
        line = session.host.output(session.id, f"no{i}", output)
        if host == "claude":
            line = {**line, **more}
            line["message"]["content"][0]["is_error"] = True
        session.write(session.host.call(session.id, f"no{i}", "sudo ls"), line)
    assert session.stops(PROMISE).rule == "promise_without_work"
    session.says(PROMISE)
    session.uses_tool(output="bash: PreToolUse:Bash hook error: is only a text here")
    assert session.stops(PROMISE).rule == "promise_without_work", "one of two"
    session.says(PROMISE)
    session.uses_tool()
    assert "after 2 tool calls" in session.stops(PROMISE).message


def test_too_little_work_is_told_by_numbers(project):
    session = Session(project)
    assert "A promise after fewer than 3 tool calls does not count." in session.starts("fix it", "--min-tool-calls 3")
    assert NO_WORK in session.stops(PROMISE).reason
    session.says(PROMISE)
    session.uses_tool()
    session.uses_tool()
    reason = session.stops(PROMISE).reason
    assert "Promise detected, but only 2 of at least 3 tool calls were performed; you must actually complete the task" in reason, reason


def test_a_call_that_both_have_seen_counts_once(project):
    session = Session(project)
    session.starts("fix it", "--min-tool-calls 2")
    session.uses_tool()
    session.used_tool()
    assert session.stops(PROMISE).rule == "promise_without_work"


def test_the_call_that_starts_a_loop_is_no_work_of_it(project):
    session = Session(project, transcript=False)
    project.run("loop", "start", "fix it", env={"CLAUDE_CODE_SESSION_ID": session.id})
    session.used_tool(tool_input={"command": "ralph loop start 'fix it'"})
    assert session.stops(PROMISE).state["decisions"][-1]["reason"] != "the promise was given after 1 tool call"


def test_where_nothing_counts_a_change_of_the_tree_is_evidence(project):
    project.git_init()
    session = Session(project, transcript=False)
    session.starts()
    assert session.stops(PROMISE).rule == "promise_without_work"
    (project.path / "made").write_text("x")
    answer = session.stops(PROMISE)
    assert answer.status == "PROMISE_ACCEPTED" and "the tree has changed" in answer.message


def test_where_nothing_can_be_known_the_promise_is_accepted_and_that_is_said(project):
    session = Session(project, transcript=False)
    session.starts()
    answer = session.stops(PROMISE)
    assert answer.status == "PROMISE_ACCEPTED" and "can't be known" in answer.message


def test_min_tool_calls_zero_and_the_policy_accept_take_a_promise_at_once(project):
    for i, option in enumerate(("--min-tool-calls 0", "--on-promise-no-work accept")):
        session = Session(project, f"s{i}")
        session.starts("fix it", option)
        assert session.stops(PROMISE).status == "PROMISE_ACCEPTED"


@pytest.mark.slow
def test_a_huge_transcript_is_not_read_whole(project):
    session = Session(project)
    line = json.dumps(session.host.text(session.id, f"{PROMISE} " + "x" * 100_000)) + "\n"
    with open(session.transcript, "w") as file:
        for _ in range(2000):
            file.write(line)
    session.starts()
    answer = session.stops("no")
    assert answer.goes_on and answer.result.peak_kb < (400_000 if SANITIZED else 40_000), answer
    with open(session.transcript, "a") as file:  # more news than are read: the end counts
        for _ in range(200):
            file.write(json.dumps(session.host.output(session.id, "t", "y" * 100_000)) + "\n")
    session.uses_tool()
    session.says(PROMISE)
    assert session.stops("bye").status == "PROMISE_ACCEPTED"


# ---- ultrawork, and the words of each protocol

def test_ultrawork_comes_before_every_continuation(project):
    session = Session(project)
    contract = session.types("/ralph:ulw-loop fix it")
    assert contract.startswith("ULTRAWORK MODE: ")
    for text in ("no", PROMISE, "no"):
        assert session.stops(text).reason.startswith("ULTRAWORK MODE: ")


def test_gemini_is_denied_and_told_in_its_words(project):
    session = Session(project)
    session.starts()

    def after_agent(text):
        payload = {"session_id": session.id, "cwd": str(project.path), "hook_event_name": "AfterAgent", "prompt": "x",
                   "prompt_response": text, "transcript_path": str(project.base / "chat.json")}
        return project.run("hooks", "stop", "--protocol", "gemini", stdin=json.dumps(payload))

    denied = after_agent("First stop.")
    assert json.loads(denied.out)["decision"] == "deny" and MISSING in json.loads(denied.out)["reason"]
    session.used_tool()
    ended = json.loads(after_agent(f"First stop.\nSecond. {PROMISE} NE</promise>").out)
    assert "PROMISE_ACCEPTED" in ended["systemMessage"]


def test_the_exit_protocol_goes_on_with_1_and_ends_with_0(project):
    session = Session(project)
    session.starts()

    def stop(text):
        payload = session.payload("stop", last_assistant_message=text)
        return project.run("hooks", "stop", "--protocol", "exit", stdin=json.dumps(payload))

    result = stop("no")
    assert (result.code, result.out) == (1, "") and MISSING in result.err
    session.uses_tool()
    result = stop(PROMISE)
    assert result.code == 0 and "PROMISE_ACCEPTED" in result.out
    assert stop("no").code == 0


@pytest.mark.parametrize("line, said", [("/ralph:loop", "what is to be done?"), ("/ralph:loop x --max-iteration 5", "did you mean --max-iterations?"),
                                        ("/ralph:loop x --zero-errors", "the criterion zeroErrors can't be judged"),
                                        ("/ralph:loop Add a --cancel flag to the cli", "put the task in quotes"),
                                        ("/ralph:loop x \u2014max-iterations 5", "write it with two short ones: --max-iterations"),
                                        ("/ralph-loop x --max-iterations=lots", "is not a whole number")])
def test_a_command_that_is_wrong_is_refused_and_starts_nothing(project, line, said):
    session = Session(project)
    result = session.hook("user-prompt", session.payload("prompt", prompt=line))
    answer = json.loads(result.out)
    assert answer["decision"] == "block" and said in answer["reason"], result
    assert not session.states() and not (project.ralph / "loop").exists()


def test_any_other_line_passes_unseen(project):
    session = Session(project)
    for line in ("fix it", "/loop x", "what does /ralph:loop do?", "", "x" * 1_000_000):
        assert session.types(line) is None
    assert not project.ralph.exists()


# ---- cancel and status

def test_cancel_from_the_session_and_from_a_terminal(project):
    session = Session(project)
    assert session.types("/ralph:cancel") == "ralph: No ralph loop is active in this session."
    for cancel in (lambda: session.types("/cancel-ralph"), lambda: session.types("/ralph:cancel please"),
                   lambda: project.run("loop", "cancel").out,
                   lambda: project.run("loop", "cancel", env={"CLAUDE_CODE_SESSION_ID": session.id}, cwd=project.base).out):
        session.starts()
        session.stops("no")
        assert "ancelled in iteration 1 of 100" in cancel()
        assert session.states()[0]["status"] == "CANCELLED"
        assert not session.stops("no").goes_on


@pytest.mark.parametrize("line", ["/ralph:cancel", "/cancel-ralph", "/ralph:loop --cancel", "  /ralph-loop --cancel "])
def test_a_cancel_that_waits_in_the_hosts_queue_is_heard_at_the_next_stop(project, line):
    session = Session(project)

    def queue(operation, content=None):
        session.write({"type": "queue-operation", "operation": operation, "timestamp": now(), "sessionId": session.id,
                       **({} if content is None else {"content": content})})

    queue("enqueue", line)
    session.starts()
    assert session.stops("no").goes_on, "that was before the loop"
    queue("enqueue", f"do not type {line}")
    queue("enqueue", line)
    queue("remove", line)
    assert session.stops("no").goes_on, "taken back"
    queue("enqueue", line)
    queue("enqueue", "and tell me why")
    answer = session.stops("no")
    assert not answer.goes_on and answer.status == "CANCELLED" and answer.rule == "cancelled", answer
    assert [d["rule"] for d in answer.state["decisions"]].count("cancelled") == 1
    assert session.types(line) == "ralph: The ralph loop of this session was cancelled in iteration 2 of 100.", "when it gets through"


def test_a_promise_that_is_kept_is_kept_whatever_was_typed_meanwhile(project):
    session = Session(project)
    session.starts()
    session.uses_tool()
    session.write({"type": "queue-operation", "operation": "enqueue", "timestamp": now(), "sessionId": session.id, "content": "/ralph:cancel"})
    assert session.stops(f"Done. {PROMISE}").status == "PROMISE_ACCEPTED"
    assert session.types("/ralph:cancel") == "ralph: No ralph loop is active in this session."


@pytest.mark.parametrize("line", ["/ralph:status", "/ralph-status", " /ralph:status now"])
def test_status_is_answered_without_the_model_and_never_with_the_live_tag(project, line):
    session = Session(project)
    assert session.types(line) == "ralph: No ralph loop is active in this session."
    session.starts(f"make it, then say {PROMISE}", "--stagnation-limit 1")
    assert session.stops(f"I will say {PROMISE} soon").goes_on
    shown = session.types(line)
    assert shown.startswith("ralph: ACTIVE  make it, then say DONE\n") and "iteration  1 of 100" in shown, shown
    assert "continue: the promise was mentioned" in shown and session.states()[0]["iteration"] == 1
    assert not session.stops(f"I said that I will say {PROMISE} soon").goes_on
    for words in (shown, session.types(line), project.run("loop", "status").out, project.run("loop", "status", "--json").out,
                  project.run("runs", "show").out, project.run("loop", "cancel").out):
        assert "<promise>" not in words, words
    assert json.loads(project.run("loop", "status", "--json").out)[0]["task"] == "make it, then say DONE"
    assert "STAGNANT" in session.types(line)


def test_cancel_with_json_tells_what_was_cancelled(project):
    Session(project, "s1").starts("one")
    Session(project, "s2").starts("two")
    result = project.run("loop", "cancel", "--all", "--json")
    assert result.code == 0 and {(s["session"], s["status"], s["task"]) for s in json.loads(result.out)} == {
        ("s1", "CANCELLED", "one"), ("s2", "CANCELLED", "two")}, result
    assert json.loads(project.run("loop", "cancel", "--json").out) == []


def test_a_loop_about_a_path_says_so_and_a_path_that_is_not_there_is_refused(project):
    (project.path / "src/services").mkdir(parents=True)
    session = Session(project)
    refusal = session.types("/ralph:loop @src/service fix all lint errors")
    assert refusal.startswith("ralph: @src/service does not exist") and not session.states(), refusal
    told = session.types('/ralph:loop @src/services/ "fix all lint errors" --max-iterations 3')
    about = "fix all lint errors\n(This is about src/services/: leave everything else as it is.)"
    assert f"Task:\n{about}\n" in told, told
    assert session.stops("no").reason.endswith(f"Original task:\n{about}")
    state = session.states()[0]
    assert state["task"] == "fix all lint errors" and state["paths"] == ["src/services/"]
    assert "about      src/services/" in project.run("loop", "status").out
    session.types("/ralph:cancel")
    assert "Task:\n@someone asked for it\n" in session.types('/ralph:loop "@someone asked for it"')


@both_hosts
def test_the_same_start_and_the_same_stop_from_two_hooks_are_one(project, host):
    """The plugin and an installed hook: both get the same payload."""
    session = Session(project, host=host)
    name = {"claude": "prompt_id", "codex": "turn_id"}[host]
    assert "You are in a ralph loop" in session.types("/ralph:loop make it --stagnation-limit 0", **{name: "p1"})
    assert session.types("/ralph:loop make it --stagnation-limit 0", **{name: "p1"}) is None
    assert "a loop is active" in session.types("/ralph:loop make it", **{name: "p2"}), "another line"
    said = now()
    assert session.stops("Not yet.", **{name: "p1"}).goes_on
    session.says("Not yet.", at=said)  # the host writes it late, and what the first hook said before the second has ended
    session.write(session.host.feedback(session.id, "go on"))
    again = session.stops("Not yet.", **{name: "p1"})
    assert not again.result.out and again.state["iteration"] == 1, again
    session.says("Not yet.")
    time.sleep(A_TICK)
    assert session.stops("Not yet.", **{name: "p1"}).state["iteration"] == 2, "the next stop, in the same words"
    assert session.types("/ralph:cancel", **{name: "p3"}) == session.types("/ralph:cancel", **{name: "p3"})


def test_two_hooks_at_once_start_one_loop_and_count_one_stop(project):
    session = Session(project)
    prompt = json.dumps(session.payload("prompt", prompt="/ralph:loop make it", prompt_id="p1"))
    results = [r.wait() for r in [project.start("hooks", "user-prompt", stdin=prompt) for _ in range(2)]]
    assert sorted(bool(r.out) for r in results) == [False, True] and all("block" not in r.out for r in results), results
    stop = json.dumps(session.payload("stop", last_assistant_message="no", prompt_id="p1"))
    results = [r.wait() for r in [project.start("hooks", "stop", stdin=stop) for _ in range(2)]]
    assert sorted("block" in r.out for r in results) == [False, True], results
    assert session.states()[0]["iteration"] == 1
    for call in ("toolu_1", "toolu_1", "toolu_2"):
        session.used_tool(tool_use_id=call)
    session.says("I did it.")
    assert session.stops(f"I did it. {PROMISE}", prompt_id="p1").state["reason"] == "the promise was given after 2 tool calls"


A_TICK = 0.02  # the kernel says when a process began to a hundredth of a second, and no agent answers that soon


def is_asleep(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S" and is_ralph(pid)


def test_a_second_hook_does_not_wait_for_what_it_can_know(project):
    """It was called before the first had decided: that is the same stop, whatever the transcript says."""
    session = Session(project)
    session.types("/ralph:loop make it", prompt_id="p1")
    second = subprocess.Popen([str(RALPH), "hooks", "stop"], cwd=project.path, env=project.environment(), text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    wait_until(lambda: is_asleep(second.pid), what="it waits for its input")
    assert session.stops("no", prompt_id="p1").goes_on
    session.says("no")  # would be proof of another stop
    out, _ = second.communicate(json.dumps(session.payload("stop", last_assistant_message="no", prompt_id="p1")))
    assert out == "" and second.returncode == 0 and session.states()[0]["iteration"] == 1
    time.sleep(A_TICK)
    assert session.stops("no", prompt_id="p1").goes_on, "the next one counts"


def ends(session, reason="other"):
    assert not session.hook("session-end", session.payload("end", reason=reason)).err


def test_a_loop_whose_session_has_ended_is_not_shown_as_active_and_goes_on_with_the_session(project):
    dead, living = Session(project, "dead"), Session(project, "living")
    dead.starts("old")
    ends(dead)
    assert dead.states()[0]["status"] == "SESSION_ENDED"
    shown = project.run("loop", "status").out
    assert "SESSION_ENDED  old" in shown and "goes on when the session is resumed (other)" in shown, shown
    living.starts("new")
    assert project.run("loop", "cancel").out.startswith("Cancelled in iteration 0 of 100: new"), "the one that lives is meant"
    assert dead.begins("resume") is None and dead.states()[0]["status"] == "ACTIVE"
    ends(dead)
    assert dead.stops("no").goes_on and dead.states()[0]["status"] == "ACTIVE", "as after --continue, whose start has another id"
    ends(dead)
    assert project.run("loop", "cancel").out.startswith("Cancelled in iteration 1 of 100: old"), "the only one that is left"
    ends(living)


def test_clear_ends_the_loop_of_its_session_and_says_so(project):
    session, next_session = Session(project, "s1"), Session(project, "s2")
    session.starts(f"make it and say {PROMISE}")
    session.stops("no")
    ends(session, "clear")
    assert session.states()[0]["status"] == "CANCELLED" and session.states()[0]["reason"] == "its session was cleared (/clear)"
    result = next_session.hook("session-start", next_session.payload("start", source="clear"))
    assert json.loads(result.out) == {"systemMessage": 'ralph: /clear has ended the loop "make it and say DONE" in iteration 1 of 100; '
                                                       "start it again with /ralph:loop"}, result
    assert next_session.begins("startup") is None


def test_a_session_without_a_loop_ends_without_a_word(project):
    ends(Session(project))
    assert not project.ralph.exists()


def test_a_loop_that_was_cancelled_before_any_session_had_it_is_not_adopted(project):
    project.run("loop", "start", "make it")
    project.run("loop", "cancel")
    assert Session(project, "s1").begins() is None and Session(project, "s1").states() == []
    project.run("loop", "start", "make it")
    project.run("loop", "cancel", env={"CLAUDE_CODE_SESSION_ID": "s2"})
    assert Session(project, "s3").begins() is None


def test_cancel_with_several_loops_wants_to_know_which(project):
    for i in range(3):
        Session(project, f"s{i}").starts(f"task {i}")
    result = project.run("loop", "cancel")
    assert result.code == 2 and "3 loops are active here" in result.err
    assert "task 1" in project.run("loop", "cancel", "--session", "s1").out
    assert project.run("loop", "cancel", "--session", "s1").out == "No loop is active here.\n"
    assert "task 2" in project.run("loop", "cancel", env={"CLAUDE_CODE_SESSION_ID": "s2"}).out
    project.run("loop", "start", "nobody's")
    assert project.run("loop", "cancel", "--all").out.count("Cancelled") == 2
    states = json.loads(project.run("loop", "status", "--json").out)
    assert [s["status"] for s in states] == ["CANCELLED"] * 4
    assert {s["decisions"][-1]["rule"] for s in states} == {"cancelled"}


def test_cancel_inside_a_session_finds_the_loop_that_waits_and_no_other_sessions(project):
    inside = {"CLAUDE_CODE_SESSION_ID": "abc"}
    project.run("loop", "start", "waiting")
    assert "One waits in this project" in Session(project, "abc").types("/ralph:cancel")
    assert "Cancelled in iteration 0 of 100: waiting" in project.run("loop", "cancel", env=inside).out
    Session(project, "other").starts("not mine")
    result = project.run("loop", "cancel", env=inside)
    assert result.code == 0 and result.out == "No loop is active here. Not of this session: 1 loop (ralph loop status --all).\n", result
    assert project.run("loop", "cancel", "--session", "abc").out == "No loop is active here.\n"


def test_status_inside_a_session_is_that_of_its_loop(project):
    mine, other = Session(project, "mine"), Session(project, "other")
    inside = {"CLAUDE_CODE_SESSION_ID": "mine"}
    other.starts("theirs")
    assert "Not of this session: 1 loop" in project.run("loop", "status", env=inside).out
    mine.starts("my own")
    elsewhere = project.base / "elsewhere"
    elsewhere.mkdir()
    for cwd in (project.path, elsewhere):
        text = project.run("loop", "status", env=inside, cwd=cwd).out
        assert "my own" in text and "theirs" not in text, text
    assert [s["task"] for s in json.loads(project.run("loop", "status", "--json", env=inside).out)] == ["my own"]
    for arguments, env in ((["--all"], inside), ([], {})):
        text = project.run("loop", "status", *arguments, env=env).out
        assert "my own" in text and "theirs" in text, text
    assert "theirs" in project.run("loop", "status", "--session", "other", env=inside).out


def test_status_tells_every_decision_and_its_reason(project):
    assert "No loops here." in project.run("loop", "status").out
    session = Session(project)
    session.starts("fix it\x1b[31m now")
    session.stops("no")
    session.stops(PROMISE)
    text = project.run("loop", "status").out
    for part in ("ACTIVE  fix it", "iteration  2 of 100", "promise    DONE, after at least 1 tool call (else reject)",
                 "continue: the promise is missing (promise_missing)",
                 "continue: the promise was made, but 0 tool calls of at least 1 done (promise_without_work)"):
        assert part in text, text
    assert "\x1b" not in text
    state = session.states()[0]
    assert [(d["iteration"], d["rule"]) for d in state["decisions"]] == [(1, "promise_missing"), (2, "promise_without_work")]
    assert all(d["time"].endswith("Z") for d in state["decisions"])
    assert project.run("loop", "status", "--session", "other").out.startswith("No loops here.")
    assert project.run("loop", "status", "--session", "").code == 2


def test_start_in_a_terminal(project):
    result = project.run("loop", "start", "fix `it`", "--session", "s1", "-n", "5", "--completion-promise", "OK", "--ultrawork", "--json")
    state = json.loads(result.out)
    assert (state["task"], state["session"], state["maxIterations"], state["completionPromise"], state["ultrawork"]) == (
        "fix `it`", "s1", 5, "OK", True)
    assert "a loop is active" in project.run("loop", "start", "again", "--session", "s1").err
    assert "bound to session s2" in project.run("loop", "start", "x", env={"CLAUDE_CODE_SESSION_ID": "s2"}).out
    result = project.run("loop", "start", "x", "--session", "s3", env={"HOME": "", "XDG_STATE_HOME": ""})
    assert result.code == 2 and "XDG_STATE_HOME" in result.err, result


@pytest.mark.parametrize("arguments, said", [
    ([], "TASK"), (["  "], "the task is blank"), (["x", "--max-iterations", "0"], "--max-iterations"), (["x", "--tests-pass"], "the criterion testsPass can't be judged"),
    (["x", "--stagnation-limit", "-1"], "--stagnation-limit"), (["x", "--completion-promise", "<b>"], "without < and >"),
    (["x", "--on-promise-no-work", "maybe"], "reject"), (["x", "--max-iteration", "3"], "--max-iterations")])
def test_start_refuses_what_is_wrong(project, arguments, said):
    result = project.run("loop", "start", *arguments)
    assert result.code == 2 and said in result.err, result
    assert not project.ralph.exists()


def test_a_plan_that_is_under_way_is_asked_first(project):
    """A marker without a run binds everybody: what it wants comes before the loop's own continuation."""
    plan = Plan(project)
    session = Session(project)
    session.starts()
    (project.path / "uncommitted").write_text("x")
    plan.marker.write_text(json.dumps({"pid": os.getpid(), "mode": "direct", "ralphDir": str(plan.folder)}))
    answer = session.stops("no")
    assert answer.goes_on and "ralph loop: iteration" not in answer.reason, answer
    assert answer.state["iteration"] == 0
    plan.marker.unlink()
    assert "ralph loop: iteration 1" in session.stops("no").reason


def test_the_history_keeps_what_has_ended(project):
    session = Session(project)
    for end in (PROMISE, "cancel", "limit"):
        session.starts(end, "--max-iterations 1")
        session.uses_tool()
        if end == "cancel":
            session.types("/ralph:cancel")
        else:
            session.stops(end)
            session.stops(end)
    states = session.states()[::-1]
    assert [s["status"] for s in states] == ["PROMISE_ACCEPTED", "CANCELLED", "MAX_ITERATIONS_REACHED"]
    assert all(s["decisions"] and s["reason"] for s in states)
    assert not session.note.exists() and not list(project.ralph.glob("runs/*/request.json"))
    runs = json.loads(project.run("runs", "list", "--json").out)
    assert [r["state"] for r in runs] == ["limit", "cancelled", "complete"] and {r["iterations"] for r in runs} <= {0, 1}, runs
    shutil.rmtree(project.ralph)
    assert not session.stops("no").goes_on


def test_a_loop_of_version_0_1_that_is_active_goes_on_as_a_run(project):
    session = Session(project)
    session.starts("to learn where things are")
    session.types("/ralph:cancel")
    old = {"v": 1, "status": "ACTIVE", "iteration": 3, "transcript": str(session.transcript), "transcriptRead": 0, "transcriptCalls": 1,
           "recentCalls": [], "refusedLate": False, "session": session.id, "task": "an old task", "completionPromise": "DONE",
           "maxIterations": 9, "minToolCalls": 1, "onPromiseNoWork": "reject", "ultrawork": False, "started": "2026-11-15T18:23:37.302Z",
           "updated": "2026-11-15T18:23:37.302Z", "transcriptStart": 0, "tree": "", "reason": "", "decisions": []}
    path = project.ralph / f"loop/{session.id}.json"
    path.parent.mkdir()
    path.write_text(json.dumps(old))
    assert not session.stops("no").goes_on, "no note of this machine's leads there"
    session.note.write_text(f"{project.path}\n")
    answer = session.stops("no")
    assert answer.goes_on and "iteration 4 of 9" in answer.reason and "an old task" in answer.reason, answer
    assert not path.exists() and (session.folder / "request.json").exists()
    assert session.stops(PROMISE).status == "PROMISE_ACCEPTED"


def test_runs_show_tells_the_story_of_a_session_loop(project):
    session = Session(project)
    session.starts("fix it")
    session.stops("no")
    assert "active" in project.run("runs", "list").out
    session.uses_tool()
    session.stops(PROMISE)
    shown = project.run("runs", "show").out
    assert "complete" in shown and session.id in shown and "the promise is missing" in shown and "1 iteration" in shown, shown
