"""Protected paths: put back, failed or reported; compared with the start of the run, for every way in."""
import os

import pytest

from plan_support import Plan, story
from task_support import Tasks

PROMISE = "<promise>DONE</promise>"
FREE = ["--on-promise-no-work", "accept"]  # these agents call no tools
DONE = "echo '<response>DONE</response>'"


def protect(project, *paths, onChange="restore"):
    project.settings(protect={"paths": list(paths), "onChange": onChange})


def with_tests(project, git=True):
    if git:
        project.git_init()
    (project.path / "tests").mkdir()
    (project.path / "tests/a.py").write_text("assert True\n")
    (project.path / "Makefile").write_text("test:\n\t@grep -q True tests/a.py\n")
    if git:
        project.git("add", "-A")
        project.git("commit", "-qm", "tests")
    protect(project, "tests/**", "Makefile")


def changes(project):
    return [(f["path"], f["what"], f["action"]) for r in project.records("files_changed") for f in r["files"]]


@pytest.mark.parametrize("git", [True, False], ids=["git", "no git"])
def test_a_changed_and_a_deleted_file_are_put_back_before_the_checks(project, git):
    with_tests(project, git)
    project.agent_script("echo > tests/a.py; rm Makefile; " + DONE)
    project.guardrails("make test")
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert (project.path / "tests/a.py").read_text() == "assert True\n"
    assert "grep" in (project.path / "Makefile").read_text()
    assert changes(project) == [("Makefile", "deleted", "put_back"), ("tests/a.py", "changed", "put_back")]
    kept = project.records("files_changed")[0]["files"][1]["kept"]
    assert (project.run_folder() / kept).read_text() == "\n"
    assert "tests/a.py was changed and put back" in result.out
    assert "tests/a.py was changed and put back" in project.run("runs", "show").out


def test_the_next_prompt_says_so(project):
    with_tests(project)
    project.agent_script("[ $RALPH_ITERATION = 1 ] && echo > tests/a.py || " + DONE)
    assert project.run("run", "-p", "x").code == 0
    prompt = (project.run_folder() / "prompt_2.txt").read_text()
    assert "These files are protected and were put back" in prompt and "- tests/a.py was changed" in prompt


def test_a_committed_change_is_put_back_and_goes_into_the_next_commit(project):
    with_tests(project)
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    project.agent_script('case "$1" in Provide*) echo Message;; *) echo > tests/a.py; git commit -qam gone; ' + DONE + ";; esac")
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert project.git("show", "HEAD:tests/a.py") == "assert True\n"
    assert project.git("show", "HEAD~1:tests/a.py") == "\n"


def test_what_was_uncommitted_at_the_start_is_not_lost(project):
    with_tests(project)
    (project.path / "tests/a.py").write_text("assert True  # mine, not committed\n")
    project.agent_script("git checkout -q tests; " + DONE)
    assert project.run("run", "-p", "x").code == 0
    assert "mine" in (project.path / "tests/a.py").read_text()


def test_new_files_are_no_change_and_neither_is_writing_the_same(project):
    with_tests(project)
    project.agent_script("touch tests/b.py; cat tests/a.py > x; cat x > tests/a.py; " + DONE)
    assert project.run("run", "-p", "x").code == 0
    assert changes(project) == [] and (project.path / "tests/b.py").exists()


@pytest.mark.parametrize("act", [
    "rm -r tests && ln -s ../elsewhere tests", "rm tests/a.py && ln -s ../../elsewhere/a.py tests/a.py", "rm tests/a.py && mkdir tests/a.py",
    "rm -r tests && touch tests", "chmod +x tests/a.py", "rm tests/a.py && mkfifo tests/a.py"])
def test_what_stands_in_its_place_is_moved_away_and_nothing_outside_is_written(project, act):
    with_tests(project)
    outside = project.base / "elsewhere"
    outside.mkdir()
    (outside / "a.py").write_text("outside\n")
    project.agent_script(act + "; " + DONE)
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    path = project.path / "tests/a.py"
    assert not (project.path / "tests").is_symlink() and not path.is_symlink()
    assert path.read_text() == "assert True\n" and not path.stat().st_mode & 0o111
    assert (outside / "a.py").read_text() == "outside\n"
    assert [c[0::2] for c in changes(project)] == [("tests/a.py", "put_back")]


def test_a_protected_link_is_put_back_as_a_link(project):
    (project.path / "tests").symlink_to("elsewhere")
    protect(project, "tests")
    project.agent_script("rm tests; mkdir tests; " + DONE)
    assert project.run("run", "-p", "x").code == 0
    assert os.readlink(project.path / "tests") == "elsewhere"


def test_fail_counts_like_a_failed_check_until_it_is_as_before(project):
    with_tests(project)
    protect(project, "tests/**", onChange="fail")
    project.settings(scm={"command": "git", "tasks": ["tag done"]})
    project.agent_script("[ $RALPH_ITERATION = 3 ] && git checkout -q tests || echo > tests/a.py; " + DONE)
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert [r["rule"] for r in project.records("decided") if r["moment"] == "after_checks"] == ["files_changed"] * 2 + ["complete"]
    assert "tests/a.py" in (project.run_folder() / "prompt_3.txt").read_text()
    assert [r["iteration"] for r in project.records("scm_ended")] == [3]


def test_fail_is_the_limit_if_nobody_mends_it(project):
    with_tests(project)
    protect(project, "tests/**", onChange="fail")
    project.agent_script("rm tests/a.py; " + DONE)
    result = project.run("run", "-p", "x", "-m", "2")
    assert result.code == 1 and "tests/a.py must not be changed" in result.out, result
    assert not (project.path / "tests/a.py").exists()


def test_report_tells_it_once(project):
    with_tests(project)
    protect(project, "tests/**", onChange="report")
    project.agent_script("echo > tests/a.py; [ $RALPH_ITERATION = 2 ] && " + DONE)
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert changes(project) == [("tests/a.py", "changed", "reported")]
    assert "tests/a.py" in (project.run_folder() / "prompt_2.txt").read_text()


def test_what_a_check_changes_is_put_back_and_not_complete(project):
    with_tests(project)
    project.agent_script(DONE)
    project.guardrails("[ $RALPH_ITERATION != 1 ] || echo > tests/a.py")
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert len(project.records("iteration_started")) == 2
    assert project.records("files_changed")[0]["after"] == "guardrail"
    assert (project.path / "tests/a.py").read_text() == "assert True\n"


def test_a_file_that_a_guardrail_names_is_reported_without_any_setting(project):
    (project.path / "check.sh").write_text("false\n")
    project.agent_script("echo true > check.sh; " + DONE)
    project.guardrails("sh check.sh")
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert changes(project) == [("check.sh", "changed", "reported")]
    assert 'check.sh was changed: the check "sh check.sh" uses it' in result.out


def test_a_plan_commits_what_it_put_back(project):
    plan = Plan(project, [story("US-001")], verifyCommands=["make test"])
    (project.path / "tests").mkdir()
    (project.path / "tests/a.py").write_text("assert True\n")
    (project.path / "Makefile").write_text("test:\n\t@grep -q True tests/a.py\n")
    plan.commit_all("tests")
    protect(project, "tests")
    plan.cheat("open('tests/a.py', 'w').write(''); open('Makefile', 'w').write('test:\\n')", mode="implement")
    plan.completes()
    assert project.git("show", "HEAD:tests/a.py") == "assert True\n"
    assert "ralph: put back protected files" in project.git("log", "--format=%s")
    assert ("Makefile", "changed", "reported") in changes(project)


def test_a_loop_from_outside_is_protected_too(project):
    with_tests(project)
    project.session_agent("echo > tests/a.py", PROMISE)
    assert project.run("loop", "run", "do it", *FREE).code == 0
    assert (project.path / "tests/a.py").read_text() == "assert True\n"


@pytest.mark.parametrize("check", [[], ["--check", "true"]], ids=["no check", "a check"])
def test_fail_outweighs_the_promise_of_a_loop_from_outside(project, check):
    with_tests(project)
    protect(project, "tests/**", onChange="fail")
    project.session_agent("[ $RALPH_ITERATION = 3 ] && git checkout -q tests || echo > tests/a.py", PROMISE)
    result = project.run("loop", "run", "do it", *FREE, *check)
    assert result.code == 0, result
    assert [r["rule"] for r in project.records("decided") if r["moment"] == "at_stop"][:2] == ["files_held"] * 2
    assert len(project.records("iteration_started")) == 3
    assert result.out.count("tests/a.py was changed, which is not allowed") == 2
    assert "- tests/a.py was changed" in (project.run_folder() / "prompt_2.txt").read_text()


def test_nobody_mends_it_in_a_loop_from_outside(project):
    with_tests(project)
    protect(project, "tests/**", onChange="fail")
    project.session_agent("echo > tests/a.py", PROMISE)
    result = project.run("loop", "run", "do it", *FREE, "-n", "2")
    assert result.code == 1 and "2 iterations done without success: tests/a.py must not be changed" in result.out, result


@pytest.mark.parametrize("check", [[], ["--check", "true"]], ids=["no check", "a check"])
def test_fail_outweighs_the_done_of_a_task(project, check):
    with_tests(project)
    protect(project, "tests/**", onChange="fail")
    tasks = Tasks(project)
    result = tasks.run("[ $RALPH_ITERATION = 3 ] && git checkout -q tests || echo > tests/a.py; cat > /dev/null; : > $TASK_FOLDER/DONE",
                       "--prompt", "do it", *check)
    assert result.code == 0 and len(tasks.infos()) == 3, result
    assert [r["rule"] for r in tasks.records("decided") if r["moment"] == "after_checks"] == ["task_unproved"] * 2 + ["task_done"]
    prompt = sorted(tasks.folder().glob("runs/*/prompt.md"))[1].read_text()
    assert "The file DONE existed, but it does not count:" in prompt and "- tests/a.py was changed" in prompt
    assert [m["body"] for m in tasks.bus() if m["type"] == "WARNING"] == ["DONE was removed: tests/a.py must not be changed"] * 2


def test_a_resumed_run_compares_with_its_first_start(project):
    with_tests(project)
    project.agent_script("echo > tests/a.py")
    protect(project, "tests/**", onChange="fail")
    assert project.run("run", "-p", "x", "-m", "1").code == 1
    project.agent_script(DONE)
    protect(project, "tests/**", onChange="restore")
    result = project.run("runs", "resume", "--max-iterations", "2")
    assert result.code == 0, result
    assert (project.path / "tests/a.py").read_text() == "assert True\n"


def test_copies_that_are_gone_are_said_and_nothing_goes_on_unprotected(project):
    with_tests(project)
    project.agent_script("true")
    assert project.run("run", "-p", "x", "-m", "1").code == 1
    for path in project.home.rglob("manifest.json"):
        path.unlink()
    result = project.run("runs", "resume", "--max-iterations", "2")
    assert result.code == 2 and "start a new run" in result.err, result


def test_nothing_is_left_outside_after_a_complete_run(project):
    with_tests(project)
    project.agent_script(DONE)
    assert project.run("run", "-p", "x").code == 0
    assert list(project.home.rglob("manifest.json")) == []


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", " "])
def test_a_path_that_is_not_in_the_project_is_refused(project, path):
    project.agent_script(DONE)
    protect(project, path)
    result = project.run("run", "-p", "x")
    assert result.code == 2 and "protect" in result.err, result
    assert project.records("agent_started") == [] if (project.ralph / "runs").exists() else True
