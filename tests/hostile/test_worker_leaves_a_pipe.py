"""A worker puts a pipe where git reads a file: whoever starts git there waits for ever, ralph and the next agent too."""
import pytest

from plan_support import Plan, story

PIPES = {
    ".git/HEAD": "the repository is not the one that the run began with",
    ".git/index": ".git/index was replaced by something else",
    ".git/packed-refs": ".git/packed-refs was replaced by something else",
    ".git/info/exclude": ".git/info/exclude was replaced by something else",
    ".git/config": ".git/config was replaced by something else",
    ".git/commondir": ".git/commondir was replaced by something else",
    ".envrc": ".envrc was replaced by something else",
}


@pytest.mark.parametrize("path", PIPES)
@pytest.mark.parametrize("how", ["mkfifo", "a link to one"])
def test_it_is_moved_away_and_said(project, path, how):
    plan = Plan(project, [story("US-001")])
    target = path if how == "mkfifo" else str(project.base / "pipe")
    plan.cheat(f"path, target = Path({path!r}), Path({target!r}); path.parent.mkdir(exist_ok=True); path.unlink(missing_ok=True); os.mkfifo(target)\n"
               "if target != path: path.symlink_to(target)", mode="implement", phase="after")
    result = plan.run("-n", "2", timeout=120)
    assert result.code in (0, 1, 2) and PIPES[path] in result.out, result
    assert not (project.path / path).is_fifo()
    if path in (".git/config", ".git/commondir", ".envrc", ".git/info/exclude"):
        assert result.code == 0, result


@pytest.mark.parametrize("path", [".git/HEAD", ".git/index"])
def test_a_run_does_not_wait_for_it(project, path, whoever):
    project.git_init()
    project.agent_script(f"rm -f {path}; mkfifo {path}; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it", "-m", "1", timeout=120, **whoever())
    assert path + " was replaced by something else" in result.out, result
    assert result.code == 2 if path == ".git/HEAD" else result.code == 0
