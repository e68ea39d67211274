"""A worker that answers DONE while its work can't be committed or pushed, or that sees to it that it can't be: that is not complete."""
import pytest

HOW = {
    "a hook of the user refuses it": "echo 'secret' > work",
    "a lock is left": "echo work > work; touch .git/index.lock",
    "the branch is gone": "echo work > work; echo 'ref: refs/heads/x.lock' > .git/HEAD",
    "nothing can be written": "echo work > work; rm -rf .git/objects; touch .git/objects",
}


@pytest.mark.parametrize("how", HOW)
def test_work_that_is_not_committed_is_not_complete(project, how):
    project.git_init()
    hook = project.path / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\n! grep -q secret work || { echo 'no secrets, please' >&2; exit 1; }\n")
    hook.chmod(0o755)
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    project.agent_script(f"{HOW[how]}; echo 'A message'; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it", "-m", "2")
    assert result.code in (1, 2), result  # 2: git can't be asked for anything
    assert "Complete" not in result.out, result
    if how.startswith("a hook"):
        assert result.code == 1 and "no secrets, please" in (project.run_folder() / "prompt_2.txt").read_text()


def test_a_push_that_is_rejected_is_not_complete_and_is_tried_again(project):
    project.git_init()
    remote = project.base / "remote.git"
    project.git("init", "-q", "--bare", str(remote))
    project.git("remote", "add", "origin", str(remote))
    project.git("config", "push.autoSetupRemote", "true")
    hook = remote / "hooks/pre-receive"
    hook.write_text(f"#!/bin/sh\ntest -e {project.base}/allowed || {{ echo 'not before it is allowed' >&2; exit 1; }}\n")
    hook.chmod(0o755)
    project.settings(scm={"command": "git", "tasks": ["commit", "push"]})
    project.agent_script(f"echo work > work; [ $RALPH_ITERATION = 1 ] || touch {project.base}/allowed; echo 'A message'; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it", "-m", "3")
    assert result.code == 0, result
    assert len(project.records("iteration_started")) == 2
    assert "not before it is allowed" in (project.run_folder() / "prompt_2.txt").read_text()
    assert project.git("rev-parse", "HEAD") == project.git("-C", str(remote), "rev-parse", "HEAD")
