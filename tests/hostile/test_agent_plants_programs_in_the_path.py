"""The user's PATH has a folder of the project in front: a virtual environment, node_modules/.bin. An agent in a sandbox puts programs
there under the names of those that ralph and git run on the host. None of them runs."""
import shutil

import pytest

from sandbox_support import NEEDS_SANDBOX

pytestmark = NEEDS_SANDBOX
NAMES = ["git", "bwrap", "docker", "sbx", "git-lfs", "gpg", "ssh", "sh", "claude", "codex", "ralph", "env"]


def plant(owned):
    return "; ".join(f"printf '#!/bin/sh\\necho {name} >> {owned}\\nexec /usr/bin/{name} \"$@\"\\n' > .venv/bin/{name}; chmod +x .venv/bin/{name}"
                     for name in NAMES)


@pytest.fixture
def activated(someone):
    (someone.path / ".venv/bin").mkdir(parents=True)
    someone.git_init()
    (someone.home / ".gitconfig").open("a").write('[filter "lfs"]\nclean = git-lfs clean -- %f\nsmudge = git-lfs smudge -- %f\nrequired = true\n')
    return {"PATH": f"{someone.path}/.venv/bin:/usr/local/bin:/usr/bin:/bin"}


def test_neither_in_this_run_nor_in_the_next(someone, activated):
    owned = someone.base / "owned"
    someone.agent_script(f"{plant(owned)}; echo '*.bin filter=lfs' > .gitattributes; echo x > data.txt; " 'echo "<response>DONE</response>"')
    someone.settings({"sandbox": {"mode": "on"}, "scm": {"command": "git", "tasks": ["commit"]}})
    for _ in range(2):
        result = someone.run("run", "-p", "x", env=activated)
        assert result.code == 0, result
        assert not owned.exists(), owned.read_text()
    for words in (["sandbox", "run", "--", "true"], ["sandbox", "plan"], ["task", "run", "--root", someone.base / "tasks", "--project", "p", "--task", "t",
                   "--sandbox", "--max-restarts", "1", "--", "/bin/sh", "-c", ': > "$TASK_FOLDER/DONE"'], ["runs", "verify", "last"], ["run", "-p", "x", "--dry-run"]):
        assert someone.run(*words, env=activated).code == 0, words
        assert not owned.exists(), (words, owned.read_text())
    assert (someone.path / ".venv/bin/git").exists() and "data.txt" in someone.git("show", "--stat", "HEAD~1", "HEAD")


def test_a_bubblewrap_in_the_project_alone_is_none(project):
    folder = project.path / "bin"
    folder.mkdir()
    (folder / "bwrap").symlink_to(shutil.which("bwrap"))
    shutil.copy(shutil.which("bwrap"), folder / "bwrap2")
    (folder / "bwrap").unlink()
    (folder / "bwrap2").rename(folder / "bwrap")
    result = project.run("sandbox", "run", "--", "true", env={"PATH": folder})
    assert result.code == 2 and "is found only in the project" in result.err, result


def test_an_agent_of_the_system_comes_before_one_in_the_project(project):
    """And one that is only there is still found."""
    outside = project.base / "outside"
    outside.mkdir()
    for folder, words in ((project.path / "bin", "from the project"), (outside, "from outside")):
        folder.mkdir(exist_ok=True)
        (folder / "my-agent").write_text(f"#!/bin/sh\necho '{words}'; echo '<response>DONE</response>'\n")
        (folder / "my-agent").chmod(0o755)
    project.settings({"agent": {"command": "my-agent"}})
    path = f"{project.path}/bin:{outside}:/usr/bin:/bin"
    assert "from outside" in project.run("run", "-p", "x", env={"PATH": path}).out
    (outside / "my-agent").unlink()
    assert "from the project" in project.run("run", "-p", "x", env={"PATH": path}).out
