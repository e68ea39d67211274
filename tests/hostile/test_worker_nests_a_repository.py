"""A worker that makes a repository within the project: `git commit` starts git in it, which obeys its configuration, on the host."""
import pytest

NEST = ("mkdir sub; git init -q sub; git -C sub config user.name x; git -C sub config user.email x@example.org; echo 1 > sub/f; git -C sub add f; "
        "git -C sub commit -qm s; ")
PROGRAM = "printf '#!/bin/sh\\ntouch {ran}\\n' > sub/mon; chmod +x sub/mon; "
PLANTS = {"core.fsmonitor": PROGRAM + "git -C sub config core.fsmonitor \"$PWD/sub/mon\"; ",
          "sub/.git/hooks/post-index-change": PROGRAM + "cp sub/mon sub/.git/hooks/post-index-change; "}


@pytest.mark.parametrize("tracked", [False, True])
@pytest.mark.parametrize("what", PLANTS)
def test_nothing_of_it_runs_in_a_commit(project, what, tracked):
    ran = project.base / "ran"
    project.git_init()
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    project.agent_script(f"if [ ! -e sub ]; then {NEST}{PLANTS[what].format(ran=ran)} {'git add sub; ' if tracked else ''} rm -f {ran}; fi; "
                         "echo 2 >> sub/f; echo work >> work; echo 'A message'; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it", "-m", "2")
    assert result.code == 1, result
    assert not ran.exists(), result
    assert what in result.out and "git would run what a repository within the project names" in result.out
    assert "let .gitignore name the folder" in (project.run_folder() / "prompt_2.txt").read_text()


def test_one_that_names_nothing_is_committed(project):
    project.git_init()
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    project.agent_script(NEST + "echo 'A message'; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it")
    assert result.code == 0, result
    assert "160000" in project.git("ls-tree", "HEAD", "sub")
