"""An agent puts a pipe, a link to a terminal or a file of a terabyte in the place of a file that ralph reads on the host after the turn.
ralph must neither wait for it nor take the machine's memory; it says what is wrong, or goes on without."""
import pytest

from sandbox_support import NEEDS_SANDBOX
from support import FLAT_KB

pytestmark = NEEDS_SANDBOX
DONE = 'echo "<response>DONE</response>"'

BAD = {"a pipe": "rm -rf {0}; mkfifo {0}", "a terabyte": "rm -rf {0}; truncate -s 1T {0}", "no end": "ln -sfn /dev/zero {0}",
       "a terminal": "ln -sfn /dev/tty {0}", "standard input": "ln -sfn /dev/stdin {0}", "a folder": "rm -rf {0}; mkdir {0}"}
# Where git itself reads in the work tree (.gitignore), it would wait at a pipe: SECURITY.md says so.
PLACES = [".git/HEAD", ".git/index", ".git/packed-refs", "package.json", ".gitmodules", "pyproject.toml",
          "compile_commands.json", "node_modules/.package-lock.json", "CLAUDE.md", "sub/.git"]


@pytest.mark.parametrize("what", BAD)
def test_a_run_ends_or_goes_on(project, what):
    project.git_init()
    (project.path / "PROMPT.md").write_text("the prompt")
    (project.path / "package.json").write_text("{}")
    plant = "; ".join(BAD[what].format(place) for place in PLACES)
    project.agent_script(f"mkdir -p node_modules sub; {plant}; {DONE}")
    project.guardrails("true", "npm test || true")
    project.settings({"sandbox": {"mode": "on"}, "scm": {"command": "git", "tasks": ["commit"]}})
    result = project.run("run", "-f", "PROMPT.md", "-n", "2", timeout=120)
    assert result.code in (0, 1, 2), result
    assert "terminate called" not in result.text and result.peak_kb < FLAT_KB + 64 * 1024, (result.peak_kb, result)
    project.nothing_left()


@pytest.mark.parametrize("what", BAD)
def test_the_prompt_itself(project, what):
    (project.path / "PROMPT.md").write_text("the prompt")
    project.agent_script(f"{BAD[what].format('PROMPT.md')}; echo working")
    result = project.run("run", "--sandbox", "-f", "PROMPT.md", "-n", "3", timeout=60)
    assert result.code == 2 and "PROMPT.md" in result.err, result
    assert result.peak_kb < FLAT_KB + 64 * 1024
