"""ralph plan draft: the agent asks in this terminal, writes the plan, and ralph looks at what it wrote."""
import json
import os
import signal

import pexpect
import pytest

from support import RALPH, helper, wait_until
from terminal import CTRL_C, end_of, in_terminal, screen, seen

QUESTION = "What shall it do? "
PLANNER = r'''
import json, os, signal, subprocess, sys, time
from pathlib import Path
base = Path(%(base)r)
ralph = Path(%(ralph)r)
(base / "argv").write_text(json.dumps(sys.argv[1:-1]))
(base / "instructions").write_text(sys.argv[-1])
(base / "place").write_text(os.getcwd())

def ask(question):
    sys.stdout.write(question)
    sys.stdout.flush()
    return sys.stdin.readline().strip()

def story(id, **fields):
    return {"id": id, "title": f"Title of {id}", "description": "", "acceptanceCriteria": ["It works"], "priority": 1, "passes": False,
            "reviewStatus": None, "reviewCount": 0, "reviewFeedback": "", "notes": "", "dependsOn": [], **fields}

def write_tasks(*stories, **top):
    (ralph / "tasks.json").write_text(json.dumps({"project": "Sheep", "branchName": "main", "description": "Counts.",
                                                  "verifyCommands": [], "userStories": list(stories), **top}, indent=2))

def write_prd(what):
    (ralph / "prd.md").write_text(f"# Sheep\n\n## Summary\n\n{what}\n")

'''
ASK_AND_WRITE = f"""
answer = ask({QUESTION!r})
if "mode 1" in sys.argv[-1].splitlines()[-1]: write_prd(answer)
write_tasks(story("US-001", title=answer), story("US-002", dependsOn=["US-001"]))
print("Written.")
"""


@pytest.fixture
def draft(project):
    """A project after `ralph plan init`, and an agent that asks and writes."""
    assert project.run("plan", "init", "--name", "sheep").code == 0
    planner(project, ASK_AND_WRITE)
    return project.path / "ralph"


def planner(project, code, ralph="ralph", **agent):
    return project.python_agent(PLANNER % {"base": str(project.base), "ralph": str(project.path / ralph)} + code, **agent)


def drafted(project, *arguments, answer=None, **how):
    """Runs it in a terminal, answers one question if there is an answer. Returns (exit code, screen)."""
    with in_terminal(project, "plan", "draft", *arguments, **how) as child:
        if answer is not None:
            child.expect_exact(QUESTION)
            child.sendline(answer)
        code = end_of(child)
        return code, screen(child)


def instructions(project):
    return (project.base / "instructions").read_text()


# ---- the two modes

def test_mode_1_asks_and_writes_both_files(project, draft):
    code, shown = drafted(project, answer="Count sheep")
    assert code == 0, shown
    assert "The plan is in order: 2 stories, about 6 iterations" in shown and "ralph plan run" in shown
    assert "Count sheep" in (draft / "prd.md").read_text()
    assert json.loads((draft / "tasks.json").read_text())["userStories"][0]["title"] == "Count sheep"
    told = instructions(project)
    assert told.rstrip().endswith("ralph/prd.md is empty or still the template: begin with full planning (mode 1).")
    assert "{{" not in told and "ralph/tasks.json" in told and "Ask** until the requirements are clear" in told
    assert (project.base / "place").read_text() == str(project.path)
    assert project.run("plan", "check").code == 0
    project.nothing_left()


@pytest.mark.parametrize("prd", ["", "\n \n", None, "# My feature\n"], ids=["empty", "blank", "missing", "only a title"])
def test_an_unwritten_prd_is_mode_1(project, draft, prd):
    if prd is None:
        (draft / "prd.md").unlink()
    else:
        (draft / "prd.md").write_text(prd)
    assert drafted(project, answer="Count sheep")[0] == 0
    assert "(mode 1)" in instructions(project)


def test_mode_2_derives_tasks_and_leaves_the_prd(project, draft):
    (draft / "prd.md").write_text("# Sheep\n\n## Summary\n\nThere shall be a counter of sheep.\n")
    before = (draft / "prd.md").read_bytes()
    code, shown = drafted(project, answer="Count sheep")
    assert code == 0, shown
    assert instructions(project).rstrip().endswith("ralph/prd.md has content: derive the tasks from it (mode 2).")
    assert "It is the user's: don't rewrite it" in instructions(project)
    assert (draft / "prd.md").read_bytes() == before and "prd.md" not in shown
    assert len(json.loads((draft / "tasks.json").read_text())["userStories"]) == 2


def test_a_prd_that_was_rewritten_in_mode_2_is_pointed_out(project, draft):
    (draft / "prd.md").write_text("# Sheep\n\nMine.\n")
    planner(project, "write_prd('Something else.'); write_tasks(story('US-001'))")
    code, shown = drafted(project)
    assert code == 0 and "prd.md was changed" in shown, shown


def test_a_drafted_plan_can_be_run(project, draft):
    assert drafted(project, answer="Count sheep")[0] == 0
    project.git_init()
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "the plan")
    result = project.run("plan", "run", "--dry-run")
    assert result.code == 0 and "Next: implement US-001 (Count sheep)" in result.out


# ---- what it wrote is checked

BAD = [
    ("write_prd('x'); write_tasks(story('US-001', passes=True, notes='x'))", "does not start fresh"),
    ("write_prd('x'); write_tasks(story('US-001', reviewStatus='needs_review'))", "does not start fresh"),
    ("write_prd('x'); write_tasks(story('US-001', reviewCount=1))", "does not start fresh"),
    ("write_prd('x'); write_tasks(story('US-001', reviewFeedback='hm'))", "does not start fresh"),
    ("write_prd('x'); write_tasks(story('US-001', acceptanceCriteria=[]))", "acceptanceCriteria"),
    ("write_prd('x'); write_tasks(story('US-001', dependsOn=['US-009']))", "US-009"),
    ("write_prd('x'); write_tasks(story('US-001', dependsOn=['US-002']), story('US-002', dependsOn=['US-001']))", "cycle"),
    ("write_prd('x'); write_tasks(story('US-001'), story('US-001'))", "twice"),
    ("write_prd('x'); write_tasks()", "userStories"),
    ("write_prd('x'); (ralph / 'tasks.json').write_text('{ not JSON')", "tasks.json"),
    ("write_prd('x'); (ralph / 'tasks.json').unlink()", "tasks.json is missing"),
    ("write_prd('x'); (ralph / 'tasks.json').unlink(); (ralph / 'tasks.json').symlink_to('prd.md')", "symbolic link"),
    ("write_tasks(story('US-001'))", "prd.md is still the template"),
    ("write_prd('x')", "tasks.json is still the template"),
    ("pass", "tasks.json is still the template"),
    ("(ralph / 'prd.md').unlink(); write_tasks(story('US-001'))", "prd.md"),
]


@pytest.mark.parametrize("code, words", BAD, ids=range(len(BAD)))
def test_a_plan_that_is_not_ready_ends_with_1_and_says_what_is_wrong(project, draft, code, words):
    planner(project, code)
    exit_code, shown = drafted(project, width=300)
    assert exit_code == 1 and words in shown and "The plan is not ready" in shown, shown
    assert "in order" not in shown
    project.nothing_left()


def test_several_problems_are_listed(project, draft):
    planner(project, "write_prd('x'); write_tasks(story('A', passes='no'), story('B', priority=None), story('C', id=7))")
    code, shown = drafted(project, width=300)
    assert code == 1 and all(words in shown for words in ["passes", "priority", "id"]), shown


@pytest.mark.parametrize("end, words", [("sys.exit(3)", "exit code 3"), ("os.kill(os.getpid(), 9)", "exit code 137")])
def test_an_agent_that_fails_is_told_and_what_it_wrote_still_counts(project, draft, end, words):
    planner(project, f"write_prd('x'); write_tasks(story('US-001')); {end}")
    code, shown = drafted(project)
    assert code == 0 and words in shown and "The plan is in order: 1 story" in shown, shown
    planner(project, end)
    (draft / "tasks.json").write_text("")
    code, shown = drafted(project)
    assert code == 1 and words in shown, shown


def test_an_agent_that_failed_before_it_wrote_anything_has_drafted_no_plan(project, draft):
    planner(project, "write_prd('x'); write_tasks(story('US-001'))")
    assert drafted(project)[0] == 0
    planner(project, "sys.exit(3)")
    code, shown = drafted(project)
    assert code == 1 and "exit code 3" in shown and "It wrote nothing" in shown and "plan run" not in shown, shown


def test_words_of_a_plan_do_not_reach_the_terminal_as_commands(project, draft):
    planner(project, "write_prd('x'); write_tasks(story('US\\x1b[2J\\x07-1', reviewCount=1), story('\\x1b]0;x\\x07', priority='x'))")
    with in_terminal(project, "plan", "draft", env={"NO_COLOR": "1"}) as child:
        assert end_of(child) == 1
        assert "\x1b" not in seen(child) and "\x07" not in seen(child)


# ---- where it does not start

def test_without_a_terminal_it_says_what_to_do(project, draft):
    result = project.run("plan", "draft")
    assert result.code == 2 and "needs a terminal" in result.err and "--print" in result.err, result
    assert not (project.base / "instructions").exists()


def test_half_a_terminal_is_none(project, draft):
    """Its output goes to a file: nobody could answer what nobody sees."""
    script = project.script(f"{RALPH} plan draft > ../out 2> ../err; echo code=$?", "half")
    child = pexpect.spawn(str(script), cwd=str(project.path), env=project.environment(TERM="xterm", RALPH_TRUST="1"), encoding="utf-8", timeout=20)
    child.expect_exact("code=2")
    child.expect(pexpect.EOF)
    assert "needs a terminal" in (project.base / "err").read_text()


@pytest.mark.parametrize("terminal", [True, False])
def test_without_a_plan_folder_it_says_init(project, terminal):
    planner(project, ASK_AND_WRITE)
    if terminal:
        code, shown = drafted(project, width=300)
    else:
        result = project.run("plan", "draft", "--print")
        code, shown = result.code, result.err
    assert code == 2 and "ralph plan init" in shown, shown
    assert not (project.path / "ralph").exists() and not (project.base / "instructions").exists()


def test_while_a_run_works_it_is_refused(project, draft):
    (project.path / ".ralph-active").write_text(json.dumps({"pid": os.getpid()}))
    code, shown = drafted(project, width=300)
    assert code == 2 and str(os.getpid()) in shown and "run is under way" in shown, shown
    assert not (project.base / "instructions").exists()
    (project.path / ".ralph-active").write_text(json.dumps({"pid": os.getpid(), "pidStart": 1}))
    assert drafted(project, answer="x")[0] == 0, "a stale marker is none"


def test_an_agent_that_is_not_there(project, draft):
    project.settings(agent={"command": "no-such-planner"})
    code, shown = drafted(project, width=300)
    assert code == 2 and "no-such-planner" in shown, shown


def test_without_an_agent_it_says_ralph_init(project):
    assert project.run("plan", "init").code == 0
    code, shown = drafted(project, width=300)
    assert code == 2 and "ralph init" in shown, shown


def test_an_agent_that_cannot_be_talked_to_is_named_with_a_way_out(project, draft):
    planner(project, ASK_AND_WRITE, kind="amp", stream="text")
    code, shown = drafted(project, width=300)
    assert code == 2 and "amp" in shown and "--print" in shown, shown
    assert not (project.base / "instructions").exists()


# ---- how the agent is started

def test_flags_and_model(project, draft):
    planner(project, ASK_AND_WRITE, flags=["--friendly 'a b'"])
    assert drafted(project, answer="x")[0] == 0
    assert json.loads((project.base / "argv").read_text()) == ["--friendly", "a b"]
    planner(project, ASK_AND_WRITE, kind="claude", flags=[])
    assert drafted(project, "-m", "opus", answer="x")[0] == 0
    assert json.loads((project.base / "argv").read_text()) == ["--model", "opus"]
    blank = drafted(project, "-m", " ")
    assert blank[0] == 2 and "--model is blank" in blank[1]


def test_elsewhere(project):
    assert project.run("plan", "init", "--ralph-dir", "plans/next").code == 0
    planner(project, ASK_AND_WRITE, ralph="plans/next")
    elsewhere = project.base / "elsewhere"
    elsewhere.mkdir()
    code, shown = drafted(project, "-d", project.path, "--ralph-dir", project.path / "plans/next", answer="x", cwd=elsewhere)
    assert code == 0, shown
    assert "plans/next/tasks.json" in instructions(project) and (project.base / "place").read_text() == str(project.path)


@pytest.mark.parametrize("mode", [1, 2])
def test_print(project, draft, mode):
    if mode == 2:
        (draft / "prd.md").write_text("# Sheep\n\nThere shall be sheep.\n")
    result = project.run("plan", "draft", "--print")
    assert result.code == 0 and result.err == "" and f"(mode {mode})" in result.out.splitlines()[-1], result
    assert "{{" not in result.out and not (project.base / "instructions").exists()
    (project.ralph / "settings.json").unlink()
    assert project.run("plan", "draft", "--print").out == result.out, "no agent is needed for that"


# ---- signals and what is left

def test_ctrl_c_is_for_the_agent(project, draft):
    planner(project, f"""
signal.signal(signal.SIGINT, lambda *_: (base / "interrupted").touch())
answer = ask({QUESTION!r})
write_prd(answer); write_tasks(story("US-001"))
""")
    with in_terminal(project, "plan", "draft") as child:
        child.expect_exact(QUESTION)
        child.send(CTRL_C)
        wait_until((project.base / "interrupted").exists, what="the agent's signal")
        child.sendline("Count sheep")
        assert end_of(child) == 0, seen(child)
        assert "The plan is in order" in seen(child)
    project.nothing_left()


def test_an_agent_that_ends_by_ctrl_c_is_judged_all_the_same(project, draft):
    # Without Python's handler: a signal right before a read would be noticed only after it.
    planner(project, "signal.signal(signal.SIGINT, signal.SIG_DFL)\n" + ASK_AND_WRITE)
    with in_terminal(project, "plan", "draft") as child:
        child.expect_exact(QUESTION)
        child.send(CTRL_C)
        assert end_of(child) == 1, seen(child)
        assert "The plan is not ready" in seen(child)
    project.nothing_left()


@pytest.mark.parametrize("leftover", ["setsid_grandchild", "double_fork", "plain_grandchild"])
def test_what_the_agent_leaves_behind_is_ended(project, draft, leftover):
    planner(project, f"write_prd('x'); write_tasks(story('US-001'))\nsubprocess.Popen({helper(leftover)!r}, shell=True, "
                     "stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).wait()")
    code, shown = drafted(project)
    assert code == 0, shown
    assert not project.processes()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=["SIGTERM", "SIGHUP", "SIGKILL"])
def test_if_ralph_is_ended_the_agent_is_too(project, draft, number):
    """Not the terminal's doing: the shell that has it lives on."""
    shell = project.script(f"{RALPH} plan draft\necho ended\nread line", "shell")
    child = pexpect.spawn(str(shell), cwd=str(project.path), env=project.environment(TERM="xterm", RALPH_TRUST="1"), encoding="utf-8", timeout=20)
    child.expect_exact(QUESTION)
    ralph, = (pid for pid, command in project.processes().items() if command == f"{RALPH} plan draft")
    os.kill(ralph, number)
    child.expect_exact("ended")
    wait_until(lambda: list(project.processes()) == [child.pid], what="the agent's end")
    child.close(force=True)


def test_the_terminal_is_the_agents_while_it_works(project, draft):
    planner(project, f"""
import termios, tty
assert os.isatty(0) and os.isatty(1) and os.isatty(2)
(base / "size").write_text(str(os.get_terminal_size().columns))
old = termios.tcgetattr(0)
tty.setcbreak(0)
sys.stdout.write({QUESTION!r}); sys.stdout.flush()
key = os.read(0, 1).decode()
termios.tcsetattr(0, termios.TCSADRAIN, old)
write_prd(key); write_tasks(story("US-001"))
""")
    with in_terminal(project, "plan", "draft", width=77) as child:
        child.expect_exact(QUESTION)
        child.send("y")  # one key, no line
        assert end_of(child) == 0, seen(child)
    assert (project.base / "size").read_text() == "77"
