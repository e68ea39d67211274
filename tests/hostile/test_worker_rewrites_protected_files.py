"""A worker that rewrites the protected tests and the Makefile behind them: in the tree, in a commit, behind a symlink, and
also the copies that ralph keeps."""
import pytest


def prepared(project):
    project.git_init()
    (project.path / "tests").mkdir()
    (project.path / "tests/t.sh").write_text("grep -q 42 answer\n")
    (project.path / "Makefile").write_text("test:\n\t@sh tests/t.sh\n")
    project.git("add", "-A")
    project.git("commit", "-qm", "tests")
    project.settings(protect={"paths": ["tests/**", "Makefile"]})
    project.guardrails("make test")


@pytest.mark.parametrize("cheat", [
    "echo true > tests/t.sh", "printf 'test:\\n\\t@true\\n' > Makefile", "echo true > tests/t.sh; git commit -qam pass", "rm -r tests; mkdir tests; echo true > tests/t.sh",
    "mkdir fake; echo true > fake/t.sh; rm -r tests; ln -s fake tests"], ids=["test", "Makefile", "committed", "folder", "symlink"])
def test_the_work_is_judged_by_the_files_of_the_start(project, whoever, cheat):
    prepared(project)
    project.agent_script(f"{cheat}; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "make the test pass", "-m", "2", **whoever())
    assert result.code == 1, result
    assert (project.path / "tests/t.sh").read_text() == "grep -q 42 answer\n"
    assert not (project.path / "tests").is_symlink()


def test_with_the_copies_destroyed_nothing_is_complete(project, whoever):
    prepared(project)
    project.agent_script("echo true > tests/t.sh; rm -rf \"$HOME\"/.local/state/ralph/*/*/*.watched; find \"$HOME\" -name '*.watched' -exec rm -r {} +; "
                         "echo '<response>DONE</response>'")
    result = project.run("run", "-p", "make the test pass", "-m", "2", **whoever())
    assert result.code == 1, result
    assert "could not be put back" in result.out
