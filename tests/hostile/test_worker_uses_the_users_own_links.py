"""A worker that writes where the user's own git settings lead: files that .git/config includes, folders of hooks in the project, links
among the hooks. `scm.tasks` run on the host and obey them, with a sandbox too."""
import os

import pytest

from sandbox_support import NEEDS_SANDBOX

HOOK = "#!/bin/sh\necho {who} >> {log}\n"


def hook(path, who, log):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HOOK.format(who=who, log=log))
    path.chmod(0o755)


def included(project, log):
    hook(project.path / "mine/pre-commit", "user", log)
    (project.path / "team.ini").write_text("[core]\n\thooksPath = mine\n")
    project.git("config", "include.path", "../team.ini")
    return "team.ini", "printf '[core]\\n\\thooksPath = evil\\n[user]\\n\\tname = Kept\\n' > team.ini"


def included_if(project, log):
    hook(project.path / "mine/pre-commit", "user", log)
    (project.path / "team.ini").write_text("[include]\n\tpath = more.ini\n")
    (project.path / "more.ini").write_text("[core]\n\thooksPath = mine\n")
    project.git("config", f"includeIf.gitdir:{project.path}/.path", "../team.ini")
    return "more.ini", "printf '[core]\\n\\thooksPath = evil\\n' > more.ini"


def included_later(project, log):
    hook(project.path / ".git/hooks/pre-commit", "user", log)
    project.git("config", "include.path", "../team.ini")  # not there yet
    return "team.ini", "printf '[core]\\n\\thooksPath = evil\\n' > team.ini"


def included_by_the_user(project, log):
    hook(project.path / ".git/hooks/pre-commit", "user", log)
    (project.path / "team.ini").write_text("")
    (project.home / ".gitconfig").write_text((project.home / ".gitconfig").read_text() + f"[include]\n\tpath = {project.path}/team.ini\n")
    return "team.ini", "printf '[core]\\n\\thooksPath = evil\\n' > team.ini"


def linked_folder(project, log):
    hook(project.path / "mine/pre-commit", "user", log)
    os.rename(project.path / ".git/hooks", project.path / ".git/old")
    os.symlink("../mine", project.path / ".git/hooks")
    return "mine/pre-commit", "cp evil/pre-commit mine/pre-commit"


def exchanged_link(project, log):
    linked_folder(project, log)
    return ".git/hooks", "ln -sfn ../evil .git/hooks"


def link_made_a_folder(project, log):
    linked_folder(project, log)
    return ".git/hooks", "rm .git/hooks; cp -r evil .git/hooks"


def linked_hook(project, log):
    hook(project.path / "scripts/check.sh", "user", log)
    os.symlink("../../scripts/check.sh", project.path / ".git/hooks/pre-commit")
    return "scripts/check.sh", "cp evil/pre-commit scripts/check.sh"


def chain_of_links(project, log):
    hook(project.path / "tools/check.sh", "user", log)
    os.symlink("tools", project.path / "scripts")
    os.symlink("../../scripts/check.sh", project.path / ".git/hooks/pre-commit")
    return "scripts", "cp -r evil other; mv other/pre-commit other/check.sh; ln -sfn other scripts"


def husky(project, log):
    hook(project.path / ".husky/pre-commit", "user", log)
    own = project.path / ".husky/_/pre-commit"
    own.parent.mkdir()
    own.write_text('#!/bin/sh\nsh "$(dirname "$0")/../pre-commit"\n')
    own.chmod(0o755)
    project.git("config", "core.hooksPath", ".husky/_")
    return ".husky/pre-commit", "cp evil/pre-commit .husky/pre-commit"


PLACES = [included, included_if, included_later, included_by_the_user, linked_folder, exchanged_link, link_made_a_folder, linked_hook,
          chain_of_links, husky]


@pytest.mark.parametrize("sandbox", ["", pytest.param("--sandbox", marks=NEEDS_SANDBOX)])
@pytest.mark.parametrize("place", PLACES)
def test_scm_tasks_run_what_the_user_has_chosen(project, place, sandbox):
    project.git_init()
    log = project.base / "hooks"
    path, plant = place(project, log)
    project.git("add", "-A")
    project.git("commit", "-qm", "mine", "--no-verify", "--allow-empty")
    log.unlink(missing_ok=True)
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    evil = HOOK.format(who="agent", log=log).replace("\n", "\\n")
    project.agent_script(f"mkdir -p evil; printf '{evil}' > evil/pre-commit; chmod +x evil/pre-commit; {plant}; echo work >> work; "
                         "echo 'A message'; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it", *sandbox.split())
    assert result.code == 0, result
    found = {f["path"]: f["action"] for r in project.records("triggers_changed") for f in r["files"]}
    # In a sandbox the folder that .git/hooks leads to is read-only.
    assert found.get(path) == "put_back" or (sandbox and place is linked_folder), found
    assert log.read_text() == "user\n" and "work" in project.git("show", "--stat")
    if place is included:
        assert "team.ini was changed and put back: core.hooksPath; git runs what it says" in result.out
        assert "Kept" in (project.path / "team.ini").read_text()  # other settings keep the agent's change


def test_a_repository_that_an_agent_made_brings_no_hooks(project):
    project.git("init", "-q", str(project.base))  # the project is a folder of it
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    project.agent_script(f"git init -q; git config user.name X; git config user.email x@example.org; printf '#!/bin/sh\\ntouch {project.base}/ran\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; "
                         "git config core.pager evil; echo work > work; echo 'A message'; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it")
    assert result.code == 0, result
    assert not (project.base / "ran").exists()
    assert "pager" not in (project.path / ".git/config").read_text()
    assert {f["path"] for r in project.records("triggers_changed") for f in r["files"]} == {".git/config", ".git/hooks/pre-commit", ".git/info/exclude"}


def test_hooks_that_lie_in_the_project_itself_are_only_the_hooks(project):
    project.git_init()
    project.git("config", "core.hooksPath", ".")
    project.agent_script("echo work > work; echo evil > pre-commit; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it")
    assert result.code == 0, result
    assert [f["path"] for r in project.records("triggers_changed") for f in r["files"]] == ["pre-commit"]
    assert (project.path / "work").exists() and not (project.path / "pre-commit").exists()


def test_settings_of_an_agent_behind_a_link_are_compared(project):
    (project.path / "team").mkdir()
    (project.path / "team/claude.json").write_text('{"hooks": {"mine": 1}}')
    (project.path / ".claude").mkdir()
    os.symlink("../team/claude.json", project.path / ".claude/settings.json")
    project.agent_script("echo '{\"hooks\": {\"evil\": 1}}' > team/claude.json; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it")
    assert result.code == 0, result
    assert "mine" in (project.path / "team/claude.json").read_text()
    assert "team/claude.json was changed and put back: hooks; claude obeys it" in result.out
