"""A worker that deletes the repository, damages it, or puts another one in its place: commits and branches are gone, whatever its
answer."""
import json
import shutil

import pytest

from plan_support import Plan, story


@pytest.mark.parametrize("how", ["rm -rf .git", "rm -rf .git; git init -q", "mv .git elsewhere",
                                 "rm -rf .git/refs", "rm -rf .git/objects/*", "echo 'ref: ../../../secret' > .git/HEAD",
                                 "rm -rf .git; git init -q; git add -A; git -c user.name=x -c user.email=x@y commit -qm all"])
def test_the_run_ends_and_is_not_complete(project, whoever, how):
    project.git_init()
    project.agent_script(f"{how}; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it", "-m", "5", **whoever())
    assert result.code == 2, result
    assert "the repository is not the one that the run began with: .git was deleted, replaced or damaged" in result.out
    assert "ralph has no copy of its commits and branches; restore it from a backup or from a clone" in result.out
    assert "Failed: the repository" in result.out and "to go on" not in result.out
    assert len(project.records("iteration_started")) == 1
    if how in ("rm -rf .git", "mv .git elsewhere"):
        assert not (project.path / ".git").exists()  # no half of a repository is left


@pytest.mark.parametrize("how", ["git update-ref -d refs/heads/main", "echo 'ref: refs/heads/nothing' > .git/HEAD"])
def test_a_head_without_a_commit_is_not_complete(project, how):
    """The commits are still there: the agent is told, and may mend it."""
    project.git_init()
    project.git("branch", "-M", "main")
    commit = project.git("rev-parse", "HEAD").strip()
    project.agent_script(f"{how}; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it", "-m", "1")
    assert result.code == 1, result
    assert f"check out a branch that has commits; the run began at commit {commit[:12]}" in result.out
    assert "1 iteration done, but .git/HEAD leads to no commit" in result.out
    resumed = project.run("runs", "resume", "-n", "2")
    assert resumed.code == 2 and f"it began at commit {commit[:12]}, and HEAD leads to no commit now" in resumed.err, resumed
    verified = project.run("runs", "verify")
    assert verified.code == 1 and f"it began at {commit[:12]}, and at the end there was no commit" in verified.out, verified


@pytest.mark.parametrize("how", ["rm -rf .git/refs", "rm -rf .git/objects/*", "echo 'ref: ../../../secret' > .git/HEAD",
                                 "find .git/objects -type f -delete", "git update-ref -d refs/heads/main",
                                 "echo 'ref: refs/heads/nothing' > .git/HEAD"])
def test_what_was_whole_after_one_turn_is_looked_at_after_the_next(project, how):
    project.git_init()
    project.git("branch", "-M", "main")
    project.agent_script(f"[ ! -e once ] || {{ {how}; echo '<response>DONE</response>'; }}; touch once; echo more")
    result = project.run("run", "-p", "do it", "-m", "2")
    assert result.code in (1, 2) and ("HEAD leads to no commit" in result.out or ".git was deleted, replaced or damaged" in result.out), result
    assert len(project.records("iteration_started")) == 2


def test_a_head_that_the_agent_mends_is_fine(project):
    project.git_init()
    project.agent_script("if [ ! -e once ]; then touch once; git checkout -q --orphan fresh\n"
                         "else git -c user.name=x -c user.email=x@y commit -q --allow-empty -m fresh; fi; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it", "-m", "3")
    assert result.code == 0, result
    assert "HEAD leads to no commit any more" in (project.run_folder() / "prompt_2.txt").read_text()
    assert len(project.records("iteration_started")) == 2


def test_a_repository_without_a_commit_may_stay_so(project):
    project.git("init", "-q")
    project.agent_script("echo '<response>DONE</response>'")
    assert project.run("run", "-p", "do it").code == 0


def test_a_repository_above_does_not_hide_that_one_is_damaged(project):
    project.git("init", "-q", str(project.base))
    project.git("-C", str(project.base), "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "--allow-empty", "-m", "above")
    project.git_init()
    project.agent_script("rm -rf .git/refs; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it")
    assert result.code == 2 and ".git was damaged" in result.out, result


def test_a_plan_ends_too(project):
    plan = Plan(project, [story("US-001")])
    plan.cheat("import shutil; shutil.rmtree('.git')", mode="implement", phase="after")
    result = plan.run()
    assert result.code == 2, result
    assert "the repository is not the one that the run began with" in result.out
    for untrue in ("The branch was changed", "History was rewritten", "taken back", "to go on", "limit"):
        assert untrue not in result.out, result


def test_a_repository_above_the_project_counts_too(project):
    project.git("init", "-q", str(project.base))
    project.agent_script("rm -rf ../.git; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it")
    assert result.code == 2 and "the repository is not the one" in result.out, result


def listed(project):
    return json.loads(project.run("runs", "list", "--json").out)[0]


def test_a_run_that_ended_so_is_not_resumable(project):
    project.git_init()
    project.agent_script("rm -rf .git; echo '<response>DONE</response>'")
    project.run("run", "-p", "do it", "-m", "5")
    assert not listed(project)["resumable"] and ", resumable" not in project.run("runs", "list").out
    for words in (["runs", "resume"], ["run", "--resume"]):
        result = project.run(*words)
        assert result.code == 2 and "can't be resumed: it ended because its repository was deleted, replaced or damaged" in result.err, result
        assert "then start a new run" in result.err


@pytest.mark.parametrize("how", ["deleted", "recreated", "one above"])
def test_a_run_whose_repository_was_lost_later_is_not_resumable(project, how):
    project.git_init()
    project.agent_script("echo working")
    assert project.run("run", "-p", "do it", "-m", "1").code == 1
    assert listed(project)["resumable"]
    commit = project.git("rev-parse", "HEAD").strip()
    shutil.rmtree(project.path / ".git")
    if how != "deleted":
        place = str(project.path if how == "recreated" else project.base)
        project.git("init", "-q", place)
        project.git("-C", place, "commit", "-q", "--allow-empty", "-m", "another beginning")
    told = listed(project)
    assert not told["resumable"] and f"it began at commit {commit[:12]}, which is not in the repository any more" in told["stuck"]
    assert "which is not in the repository any more" in project.run("runs", "show").out
    result = project.run("runs", "resume", "-n", "2")
    assert result.code == 2 and f"it began at commit {commit[:12]}, which is not in the repository any more" in result.err, result


def test_a_killed_run_whose_repository_was_lost_is_not_resumable(project):
    from support import wait_until
    project.git_init()
    project.agent_script(f"touch {project.base}/at-work; sleep 60")
    running = project.start("run", "-p", "do it")
    wait_until((project.base / "at-work").exists)
    running.kill_both()
    assert listed(project)["resumable"]
    shutil.rmtree(project.path / ".git")
    project.git("init", "-q")
    assert not listed(project)["resumable"]
    result = project.run("runs", "resume")
    assert result.code == 2 and "which is not in the repository any more" in result.err, result
