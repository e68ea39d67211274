"""ralph demo: the first thing that a new user sees."""
import json
import os
import re
import subprocess
import tempfile

import pytest

from terminal import end_of, in_terminal, screen, seen

STORY = [r"A project with a failing test", r"▶ Iteration 1/5", r"That should be all", r"✔ agent finished and answered \"DONE\"",
         r"✘ sh test\.sh failed with exit code 1", r"FAILED: sum of 1 2 3 4 is 10, got 3", r"▶ Iteration 2/5", r"✔ sh test\.sh passed", r"✔ commit .*Add up all arguments",
         r"✔ Complete: the agent answered \"DONE\" and the guardrail passed", r"What to type next"]


def scratch(project):
    folders = list(project.tmp.glob("ralph-demo-*"))
    assert len(folders) == 1, folders
    return folders[0]


@pytest.fixture
def short_tmp():
    """A temporary folder with a name as short as on a user's machine."""
    with tempfile.TemporaryDirectory(prefix="t", dir="/tmp") as folder:
        yield folder


def follow(story, text):
    """The lines of the story stand in the text, in this order."""
    at = 0
    for pattern in story:
        found = re.compile(pattern).search(text, at)
        assert found, f"no {pattern} after {text[:at][-200:]!r}\n{text}"
        at = found.end()


def test_the_demo_shows_a_complete_loop(project):
    result = project.run("demo")
    assert result.code == 0 and result.err == "", result
    follow(STORY, result.out)
    for command in ("runs show", "log -p", "ralph init", "ralph run -f PROMPT.md"):
        assert command in result.out.partition("What to type next")[2]
    assert list(project.path.iterdir()) == [], "the demo wrote into the folder where it was started"
    project.nothing_left()


def test_what_the_demo_says_to_type_next_works(project):
    result = project.run("demo")
    folder = scratch(project)
    tail = result.out.partition("What to type next")[2]
    assert f"ralph -C {folder} runs show" in tail and f"git -C {folder} log -p" in tail
    shown = project.run("-C", folder, "runs", "show")
    assert shown.code == 0 and "sh test.sh" in shown.out, shown
    log = subprocess.run(["git", "-C", folder, "log", "-p"], capture_output=True, text=True, env=project.environment())
    assert "Add up all arguments" in log.stdout and "total=$((total + number))" in log.stdout
    assert subprocess.run(["sh", "test.sh"], cwd=folder, capture_output=True).returncode == 0
    status = subprocess.run(["git", "-C", folder, "status", "--porcelain"], capture_output=True, text=True, env=project.environment())
    assert status.stdout == ""


def test_the_demo_works_without_git(project):
    tools = project.base / "bin"
    tools.mkdir()
    for name in ("sh", "cat"):
        (tools / name).symlink_to(f"/bin/{name}")
    result = project.run("demo", env={"PATH": tools})
    assert result.code == 0 and result.err == "", result
    follow([s for s in STORY if "commit" not in s], result.out)
    assert "git" not in result.out


def test_the_demo_needs_no_settings_of_git(project):
    (project.home / ".gitconfig").write_text("[commit]\ngpgsign = true\n[core]\nhooksPath = /nowhere\n[user]\nuseConfigOnly = true\n"
                                             "[init]\ntemplateDir = /nowhere\n")
    result = project.run("demo")
    assert result.code == 0, result
    follow(STORY, result.out)


def test_the_demo_inside_a_git_hook_environment_is_not_confused(project):
    project.git_init()
    result = project.run("demo", env={"GIT_DIR": project.path / ".git", "GIT_WORK_TREE": project.path})
    assert result.code == 0, result
    assert project.git("log", "--format=%s").splitlines() == ["start"], "the demo committed into the user's repository"


def test_the_demo_as_json_prints_records_only(project):
    result = project.run("demo", "--json")
    assert result.code == 0 and result.err == ""
    records = [json.loads(line) for line in result.out.splitlines()]
    assert records[0]["type"] == "run_started" and records[-1]["type"] == "run_ended"
    assert [r["outcome"] for r in records if r["type"] == "guardrail_ended"] == ["failed", "passed"]


def test_the_demo_looks_right_in_a_terminal(project, short_tmp):
    with in_terminal(project, "demo", env={"TMPDIR": short_tmp}) as child:
        assert end_of(child) == 0
        text = screen(child)
        follow(STORY, text)
        assert max(map(len, text.splitlines())) <= 100, [line for line in text.splitlines() if len(line) > 100]
        assert "\x1b[32m" in seen(child)
        assert "is working" not in text and "asking demo" not in text, "a passing line was left"
    project.nothing_left()


def test_the_demo_fits_a_narrow_terminal_without_passing_lines_left(project):
    with in_terminal(project, "demo", width=60) as child:
        assert end_of(child) == 0
        follow(STORY, re.sub(r"\r?\n    (?=passed)", " ", screen(child)))  # the verdict takes two lines
        assert "is working" not in screen(child)


def test_the_demo_without_colour_and_unicode(project):
    result = project.run("demo", env={"LANG": "C", "NO_COLOR": "1"})
    assert result.code == 0 and result.out.isascii(), result
    assert "[ERR] sh test.sh failed" in result.out


def test_a_temporary_folder_that_is_not_there_is_named(project):
    result = project.run("demo", env={"TMPDIR": "/nowhere"})
    assert result.code == 2 and "/nowhere" in result.err, result


def test_two_demos_at_once(project):
    first, second = project.start("demo"), project.start("demo")
    assert first.wait().code == 0 and second.wait().code == 0


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_the_demo_as_a_plain_user(project):
    from test_command_line import as_nobody
    done = as_nobody(project, "demo")
    assert done.returncode == 0 and done.stderr == "", done
    follow(STORY, done.stdout)
