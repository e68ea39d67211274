"""SCM tasks: commits with a message that the agent was asked for, and all that can go wrong with them."""
import shlex
import subprocess

import pytest

from plan_support import Plan, story

REQUEST = "Provide a short imperative commit message for the changes. Output only the message, no explanation."
WORK = "echo $RALPH_ITERATION >> work.txt; echo '<response>DONE</response>'"


def committing_agent(project, message="echo 'Add the work'", work=WORK, tasks=("commit",), **scm):
    """An agent that works, and says `message` (a shell command) when it is asked for one. Asked-for times are counted."""
    asked = shlex.quote(str(project.base / "asked"))
    project.agent_script(f'if [ "$1" = {shlex.quote(REQUEST)} ]; then echo x >> {asked}; {message}; else {work}; fi')
    project.settings(scm={"command": "git", "tasks": list(tasks), **scm})


def printed(text):
    return "printf '%s\\n' " + shlex.quote(text)


def times_asked(project):
    path = project.base / "asked"
    return len(path.read_text().splitlines()) if path.exists() else 0


def subjects(project):
    """The commit messages, oldest first, without the first commit of the test."""
    return project.git("log", "--reverse", "--format=%s").splitlines()[1:]


def committed_files(project):
    return sorted(project.git("ls-tree", "-r", "--name-only", "HEAD").splitlines())


# Commits


def test_the_work_is_committed_with_the_message_of_the_agent(project):
    project.git_init()
    committing_agent(project)
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert subjects(project) == ["Add the work"]
    assert times_asked(project) == 1
    assert project.git("status", "--porcelain") == ""
    assert "commit" in result.out and "Add the work" in result.out
    assert project.last("scm_ended")["outcome"] == "done"


def test_new_files_are_taken_along(project):
    project.git_init()
    committing_agent(project)
    assert project.run("run", "-p", "x").code == 0
    assert committed_files(project) == [".ralph/settings.json", "work.txt"]


def test_new_files_are_left_out_when_told_so(project):
    project.git_init()
    (project.path / "work.txt").write_text("")
    project.git("add", "-A")
    project.git("commit", "-qm", "known file")
    committing_agent(project, work=f"touch new.txt; {WORK}", addAll=False)
    assert project.run("run", "-p", "x").code == 0
    assert committed_files(project) == ["work.txt"]
    assert "?? new.txt" in project.git("status", "--porcelain")
    assert subjects(project)[-1] == "Add the work"


def test_deleted_files_are_deleted_in_the_commit(project):
    project.git_init()
    (project.path / "old.txt").write_text("x")
    project.git("add", "-A")
    project.git("commit", "-qm", "old")
    committing_agent(project, work=f"rm old.txt; {WORK}")
    assert project.run("run", "-p", "x").code == 0
    assert "old.txt" not in committed_files(project)


@pytest.mark.parametrize("text", [
    "Fix $(touch pwned) and `touch pwned`", "Say \"hello\" and 'goodbye'", "-A", "--amend", "-m sneaky", "Use $HOME; rm -rf x && false | true",
    "Größer ✔ 100%", "a\\nb \\ c", "#123 is fixed", "!important *"])
def test_any_message_is_passed_on_as_it_is(project, text):
    project.git_init()
    committing_agent(project, message=printed(text))
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert project.git("log", "-1", "--format=%B").strip() == text
    assert not (project.path / "pwned").exists()
    assert project.last("scm_ended")["outcome"] == "done"


@pytest.mark.parametrize("said, message", [
    ("\n\n  First line that counts  \n\nmore explanation", "First line that counts"),
    ("Here is it:\n<response>Tagged message</response>", "Tagged message"),
    ("<RESPONSE>Tagged</RESPONSE>", "Tagged"),
    ('{"type":"system","session_id":"1"}\n{"type":"result","result":"x"}\nPlain message', "Plain message"),
    ("```\nFenced message\n```", "Fenced message"), ('"Quoted message"', "Quoted message"), ("`Ticked message`", "Ticked message"),
    ("\x1b[32mGreen message\x1b[0m", "Green message")])
def test_the_message_is_cleaned(project, said, message):
    project.git_init()
    committing_agent(project, message=printed(said))
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert project.git("log", "-1", "--format=%B").strip() == message


@pytest.mark.parametrize("message", ["true", "echo", "printf '\\n \\n'", "echo Sorry; exit 3", "echo '```'"])
def test_without_a_usable_message_nothing_is_committed_and_the_reason_is_shown(project, message):
    project.git_init()
    committing_agent(project, message=message)
    result = project.run("run", "-p", "x", "-m", "1")
    assert result.code == 1 and "commit failed" in project.last("run_ended")["reason"], result
    assert subjects(project) == []
    assert "commit failed" in result.out and "message" in result.out
    assert project.last("scm_ended")["outcome"] == "failed"


def test_what_is_said_for_the_message_can_not_complete_the_loop(project):
    project.git_init()
    committing_agent(project, message="echo '<response>DONE</response>'", work="echo $RALPH_ITERATION >> work.txt; echo more")
    assert project.run("run", "-p", "x", "-m", "2").code == 1
    assert subjects(project) == ["DONE", "DONE"]


# When they run


def test_nothing_to_commit_is_a_note_and_the_agent_is_not_asked(project):
    project.git_init()
    committing_agent(project, work="echo '<response>DONE</response>'")
    project.git("add", "-A")
    project.git("commit", "-qm", "settings")
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert times_asked(project) == 0
    assert "nothing to commit" in result.out and "failed" not in result.out
    assert project.last("scm_ended")["outcome"] == "nothing_to_commit"


def test_with_only_new_files_and_add_all_off_the_agent_is_not_asked(project):
    project.git_init()
    committing_agent(project, work="touch new.txt; echo '<response>DONE</response>'", addAll=False)
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert project.last("scm_ended")["outcome"] == "nothing_to_commit"
    assert times_asked(project) == 0


def test_they_run_in_every_iteration_whose_guardrails_pass_and_in_no_other(project):
    project.git_init()
    committing_agent(project, message='echo "Work of $RALPH_ITERATION"',
                     work="echo $RALPH_ITERATION >> work.txt; [ $RALPH_ITERATION -lt 4 ] && echo more || echo '<response>DONE</response>'")
    project.guardrails("[ $(tail -n1 work.txt) != 2 ]")
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert subjects(project) == ["Work of 1", "Work of 3", "Work of 4"]
    assert [r["iteration"] for r in project.records("scm_ended")] == [1, 3, 4]
    assert "3 commits" in result.out


def test_they_never_run_when_a_guardrail_fails(project):
    project.git_init()
    committing_agent(project)
    project.guardrails("true", "false")
    assert project.run("run", "-p", "x", "-m", "2").code == 1
    assert subjects(project) == [] and times_asked(project) == 0
    assert project.records("scm_started") == []


# After the checks


def test_what_is_broken_while_a_message_is_asked_for_is_neither_committed_nor_complete(project):
    project.git_init()
    committing_agent(project, message="touch broken; echo Message", work=f"rm -f broken; {WORK}")
    project.guardrails("test ! -e broken", "true")
    result = project.run("run", "-p", "x", "-m", "2")
    assert result.code == 1 and "test ! -e broken still fails" in result.out, result
    assert "files were changed after the checks" in result.out
    assert subjects(project) == []
    assert [r["outcome"] for r in project.records("guardrail_ended")] == ["passed", "passed", "failed", "passed"] * 2
    assert "test ! -e broken" in (project.run_folder() / "prompt_2.txt").read_text(), "the next iteration is told"
    assert project.last("scm_ended")["outcome"] == "failed"
    logs = sorted(path.name for path in project.ralph.glob("guardrail_1_*"))
    assert logs == ["guardrail_1_test_e_broken.log", "guardrail_1_test_e_broken_1.log", "guardrail_1_true.log",
                    "guardrail_1_true_1.log"]


def test_without_a_message_what_was_broken_is_checked_too(project):
    project.git_init()
    committing_agent(project, message="touch broken; exit 3")
    project.guardrails("test ! -e broken")
    assert project.run("run", "-p", "x", "-m", "1").code == 1


def test_what_a_message_brings_along_is_committed_if_it_passes(project):
    project.git_init()
    committing_agent(project, message="echo more >> work.txt; touch -d 2001-01-01 work.txt; echo Message")
    project.guardrails("true", "test -e work.txt")
    result = project.run("run", "-p", "x")
    assert result.code == 0 and "all 2 guardrails passed" in result.out, result
    assert subjects(project) == ["Message"] and project.git("show", "HEAD:work.txt") == "1\nmore\n"


def test_an_agent_that_only_says_a_message_is_not_checked_again(project):
    project.git_init()
    (project.path / "old.txt").touch()
    project.git("add", "-A")
    project.git("commit", "-qm", "old")
    committing_agent(project, work=f"echo x > old.txt; touch new.txt; mkdir -p deep; touch deep/er; {WORK}")
    project.guardrails("true")
    assert project.run("run", "-p", "x").code == 0
    assert len(project.records("guardrail_ended")) == 1 and subjects(project)[-1] == "Add the work"


def test_what_a_commit_hook_breaks_does_not_complete(project):
    project.git_init()
    hook = project.path / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch broken; git add broken\n")
    hook.chmod(0o755)
    committing_agent(project)
    project.guardrails("test ! -e broken")
    result = project.run("run", "-p", "x", "-m", "1")
    assert result.code == 1 and "still fails" in result.out, result


def test_with_another_scm_the_checks_always_run_again(project):
    """Whether something was changed can't be asked of it."""
    project.git_init()
    committing_agent(project, message="touch broken; echo Message")
    project.settings(scm={"command": str(project.script('exec git "$@"', "scm")), "tasks": ["commit"]})
    project.guardrails("test ! -e broken")
    result = project.run("run", "-p", "x", "-m", "1")
    assert result.code == 1 and subjects(project) == [], result


def test_what_git_warns_of_is_nothing_to_commit(project):
    project.git_init()
    committing_agent(project, work="echo '<response>DONE</response>'")
    project.git("add", "-A")
    project.git("commit", "-qm", "settings")
    result = project.run("run", "-p", "x", env={"GIT_TRACE": "1"})
    assert result.code == 0 and times_asked(project) == 0, result


def test_a_task_may_have_arguments_and_other_tasks_need_no_message(project):
    project.git_init()
    committing_agent(project, tasks=["commit --signoff", "tag 'v 1' || true".split()[0] + " v1"])
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert "Signed-off-by:" in project.git("log", "-1", "--format=%B")
    assert project.git("tag").split() == ["v1"]
    assert times_asked(project) == 1


def test_push_goes_to_the_remote(project):
    project.git_init()
    remote = project.base / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", remote], check=True, env=project.environment())
    project.git("remote", "add", "origin", str(remote))
    project.git("push", "-qu", "origin", "main")
    committing_agent(project, tasks=["commit", "push"])
    assert project.run("run", "-p", "x").code == 0
    assert project.git("rev-parse", "HEAD") == project.git("ls-remote", "origin", "main").split()[0] + "\n"
    assert [r["outcome"] for r in project.records("scm_ended")] == ["done", "done"]


def test_a_folder_below_the_root_of_the_repository(project):
    project.git_init()
    sub = project.path / "packages" / "one"
    sub.mkdir(parents=True)
    (sub / ".ralph").mkdir()
    committing_agent(project)
    (project.ralph / "settings.json").rename(sub / ".ralph" / "settings.json")
    project.ralph.rmdir()
    result = project.run("run", "-p", "x", cwd=sub)
    assert result.code == 0, result
    assert "packages/one/work.txt" in committed_files(project)


# What goes wrong


def test_a_folder_that_is_no_repository_is_refused_at_the_start_with_advice(project):
    committing_agent(project)
    result = project.run("run", "-p", "x")
    assert result.code == 2, result
    assert "not a git repository" in result.err and "git init" in result.err
    assert not (project.path / "work.txt").exists() and not (project.ralph / "runs").exists()


def test_a_repository_that_git_refuses_is_not_called_a_missing_one(project):
    project.git_init()
    committing_agent(project)
    other = {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    result = project.run("run", "-p", "x", env=other)
    assert result.code == 2 and "dubious ownership" in result.err and "safe.directory" in result.err, result
    assert "git init" not in result.err and not (project.path / "work.txt").exists()
    health = project.run("doctor", env=other)
    assert health.code == 2 and health.out.count("dubious ownership") == 2 and "git init" not in health.out, health


def test_an_scm_program_that_is_not_there_is_refused_at_the_start(project):
    committing_agent(project)
    project.settings(scm={"command": "no-such-scm"})
    result = project.run("run", "-p", "x")
    assert result.code == 2 and "no-such-scm" in result.err and "scm.command" in result.err, result
    assert not (project.path / "work.txt").exists()


def test_scm_without_tasks_asks_nothing_of_the_folder(project):
    committing_agent(project, tasks=[])
    assert project.run("run", "-p", "x").code == 0


def refusing_hook(project, script="echo 'hook says no' >&2\nexit 1"):
    hook = project.path / ".git/hooks/pre-commit"
    hook.write_text(f"#!/bin/sh\n{script}\n")
    hook.chmod(0o755)


def test_a_refused_commit_is_told_to_the_next_iteration_which_can_mend_it(project):
    project.git_init()
    refusing_hook(project, "[ -e mended ] || { echo 'hook says no: no file mended' >&2; exit 1; }")
    committing_agent(project, work='echo "$1" > "../prompt.$RALPH_ITERATION"; case "$1" in *"no file mended"*) touch mended;; esac; ' + WORK)
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert [r["outcome"] for r in project.records("scm_ended")] == ["failed", "done"]
    prompt = (project.base / "prompt.2").read_text()
    assert 'task "commit" failed' in prompt and "hook says no: no file mended" in prompt
    assert [r["rule"] for r in project.records("decided") if r["moment"] == "after_checks"] == ["scm_failed", "complete"]
    assert project.git("status", "--porcelain") == ""


def test_a_commit_that_is_refused_each_time_is_never_complete(project):
    project.git_init()
    refusing_hook(project)
    committing_agent(project)
    result = project.run("run", "-p", "x", "-m", "2")
    assert result.code == 1 and "2 iterations done, but commit failed" in result.out, result


def closed_remote(project):
    """A remote that refuses every push until there is a file `open` beside the project."""
    remote = project.base / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", remote], check=True, env=project.environment())
    project.git("remote", "add", "origin", str(remote))
    project.git("push", "-qu", "origin", "main")
    (remote / "hooks/pre-receive").write_text(f"#!/bin/sh\n[ -e '{project.base}/open' ] || {{ echo 'closed today'; exit 1; }}\n")
    (remote / "hooks/pre-receive").chmod(0o755)


def is_pushed(project):
    return project.git("rev-parse", "HEAD").strip() == project.git("ls-remote", "origin", "main").split()[0]


def test_a_failed_push_is_tried_again_also_with_nothing_to_commit(project):
    project.git_init()
    closed_remote(project)
    work = "[ $RALPH_ITERATION = 1 ] && touch work.txt || touch ../open; echo '<response>DONE</response>'"
    committing_agent(project, work=work, tasks=["commit", "push"])
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert [(r["task"], r["outcome"]) for r in project.records("scm_ended")] == [
        ("commit", "done"), ("push", "failed"), ("commit", "nothing_to_commit"), ("push", "done")]
    assert "closed today" in (project.run_folder() / "prompt_2.txt").read_text()
    assert is_pushed(project)


def test_a_plan_is_not_complete_either_before_it_is_pushed(project):
    plan = Plan(project, [story("US-001")])
    closed_remote(project)
    project.settings(scm={"command": "git", "tasks": ["push"]})
    plan.cheat("(base / 'open').touch()", mode="review-fix")
    result = plan.run()
    assert result.code == 0, result
    assert plan.modes() == ["implement US-001", "review US-001", "review-fix US-001", "review US-001"]
    assert "closed today" in plan.prompt(2) and "closed today" in plan.prompt(3)
    assert is_pushed(project)


def test_a_failing_commit_hook_is_shown_and_the_run_ends_as_it_should(project):
    project.git_init()
    refusing_hook(project)
    committing_agent(project, tasks=["commit", "tag never"], onFailure="ignore")
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert "commit failed: hook says no" in result.out
    assert project.git("tag") == "", "tasks after the failed one ran"
    assert "1 SCM task failed" in result.out


def test_push_without_a_remote_is_shown_and_the_run_ends_as_it_should(project):
    project.git_init()
    committing_agent(project, tasks=["commit", "push"], onFailure="ignore")
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert "push failed: fatal: No configured push destination" in result.out
    assert subjects(project) == ["Add the work"]
    assert [r["outcome"] for r in project.records("scm_ended")] == ["done", "failed"]


def test_a_missing_git_identity_is_shown_with_what_git_says(project):
    project.git_init()
    (project.home / ".gitconfig").write_text("[user]\nuseConfigOnly = true\n")
    committing_agent(project, onFailure="ignore")
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert "commit failed" in result.out and ("identity" in result.out or "user.email" in result.out or "email" in result.out)
    assert subjects(project) == []


def test_a_push_that_wants_a_password_fails_at_once(project):
    project.git_init()
    project.git("remote", "add", "origin", "https://user@127.0.0.1:9/x.git")
    committing_agent(project, tasks=["commit", "push origin main"], onFailure="ignore")
    result = project.run("run", "-p", "x", timeout=20)
    assert result.code == 0 and "push origin main failed" in result.out, result


def test_an_editor_is_never_opened(project):
    project.git_init()
    committing_agent(project, tasks=["commit --edit"])
    result = project.run("run", "-p", "x", env={"GIT_EDITOR": f"touch '{project.base}/opened' && cat"}, timeout=20)
    assert result.code == 0, result


def test_the_story_of_the_run_tells_a_commit_once(project):
    project.git_init()
    committing_agent(project)
    assert project.run("run", "-p", "x").code == 0
    story = project.run("runs", "show").out
    assert len([line for line in story.splitlines() if " scm " in line]) == 1 and "not finished" not in story, story


def test_the_journal_says_what_was_run_before_it_was(project):
    project.git_init()
    committing_agent(project)
    assert project.run("run", "-p", "x").code == 0
    started = [r["argv"] for r in project.records("scm_started")]
    assert started == [["git", "add", "-A"], ["git", "commit", "-am", "Add the work"]]
    assert "$ git add -A" in (project.run_folder() / "scm.log").read_text()


def test_a_commit_message_with_a_secret_in_it_is_not_written_to_disk(project):
    project.git_init()
    committing_agent(project, message="echo Use $DEPLOY_TOKEN")
    assert project.run("run", "-p", "x", env={"DEPLOY_TOKEN": "hunter2-very-secret"}).code == 0
    for path, data in project.everything_on_disk().items():
        assert b"hunter2" not in data, path
    assert "hunter2" not in project.git("log", "-1", "--format=%B")
