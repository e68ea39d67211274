"""A worker that makes git run its programs: hooks, settings of the repository, filters. They would run in the reviewer's own
commit, in the user's and in ralph's SCM tasks."""
import os

import pytest

from plan_support import Plan, story
from support import wait_until

PLANTS = {
    "a hook": (".git/hooks/pre-commit", "hook('.git/hooks/pre-commit')"),
    "hooksPath": (".git/config", "hook('evil/pre-commit'); git('config', 'core.hooksPath', 'evil')"),
    "fsmonitor": (".git/config", "hook('evil/monitor'); git('config', 'core.fsmonitor', str(Path('evil/monitor').resolve()))"),
    "a filter": (".git/config", "hook('evil/clean'); git('config', 'filter.x.clean', str(Path('evil/clean').resolve())); "
                                "Path('.git/info/attributes').write_text('* filter=x\\n')"),
    "attributes": (".git/info/attributes", "Path('.git/info/attributes').write_text('* filter=x\\n')"),
    "an include": (".git/config", "Path('evil.ini').write_text('[core]\\nhooksPath = evil\\n'); git('config', 'include.path', '../evil.ini')"),
    "an include outside": (".git/config", "(base / 'evil.ini').write_text('[core]\\nhooksPath = evil\\n'); git('config', 'include.path', '../../evil.ini')"),
    "an include on a condition": (".git/config", "(base / 'evil.ini').write_text('[core]\\nhooksPath = evil\\n'); "
                                  "git('config', 'includeIf.onbranch:**.path', str(base / 'evil.ini'))"),
    "a text conversion": (".git/config", "hook('evil/conv'); git('config', 'diff.x.textconv', str(Path('evil/conv').resolve())); "
                                         "Path('.git/info/attributes').write_text('* diff=x\\n')"),
    "a merge driver": (".git/config", "hook('evil/merge'); git('config', 'merge.x.driver', str(Path('evil/merge').resolve())); "
                                      "Path('.git/info/attributes').write_text('* merge=x\\n')"),
    "settings behind a link": (".git/config", "hook('evil/pre-commit'); shutil.copy('.git/config', base / 'config'); os.unlink('.git/config'); "
                                              "os.symlink(base / 'config', '.git/config'); git('config', 'core.hooksPath', 'evil')"),
    "in capitals": (".git/config", "hook('evil/pre-commit'); open('.git/config', 'a').write('[CORE]\\n\\tHOOKSPATH = evil\\n')"),
    "on one line": (".git/config", "hook('evil/pre-commit'); open('.git/config', 'a').write('[core] hooksPath = evil ; as before')"),
    "a linked folder": (".git/hooks", "hook('evil/pre-commit'); shutil.rmtree('.git/hooks'); os.symlink('../evil', '.git/hooks')"),
}

HOOK = """
import shutil
def hook(path):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('#!/bin/sh\\ntouch ' + str(base / 'ran') + '\\ncat\\n')
    path.chmod(0o755)
"""


def changed(project):
    return {f["path"]: f for r in project.records("triggers_changed") for f in r["files"]}


@pytest.mark.parametrize("what", PLANTS)
def test_it_is_put_back_before_anybody_else_runs_git(project, what):
    path, code = PLANTS[what]
    plan = Plan(project, [story("US-001")])
    (project.path / ".gitignore").write_text((project.path / ".gitignore").read_text() + "evil*\n")
    plan.commit_all("ignore")
    config = (project.path / ".git/config").read_text()
    plan.cheat(HOOK + code, mode="implement", phase="after")
    result = plan.completes()
    assert not (project.base / "ran").exists()
    assert (project.path / ".git/config").read_text() == config
    assert not (project.path / ".git/info/attributes").exists() and not (project.path / ".git/hooks/pre-commit").exists()
    found = changed(project)[path]
    assert found["action"] == "put_back" and os.path.lexists(project.run_folder() / found["kept"])
    assert f"{path} was" in result.out and "put back" in result.out
    assert f"iteration 1: {path} was" in plan.prompt(2)  # the reviewer is told
    assert len(project.records("triggers_changed")) == 1


def test_it_is_put_back_as_root_and_as_an_ordinary_user(project, whoever):
    project.git_init()
    project.agent_script("printf '#!/bin/sh\\ntouch ran\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; "
                         "git config core.fsmonitor ./x; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it", **whoever())
    assert result.code == 0, result
    assert set(changed(project)) == {".git/hooks/pre-commit", ".git/config"}
    assert not (project.path / ".git/hooks/pre-commit").exists()
    assert "fsmonitor" not in (project.path / ".git/config").read_text()


def test_the_same_again_is_put_back_and_told_again(project):
    project.git_init()
    project.agent_script("echo x > .git/hooks/pre-commit; echo x > .envrc; [ $RALPH_ITERATION = 3 ] && echo '<response>DONE</response>'; true")
    result = project.run("run", "-p", "do it", "-m", "3")
    assert result.code == 0, result
    assert len(project.records("triggers_changed")) == 3 and result.out.count(".git/hooks/pre-commit was created") == 3
    assert result.out.count(".envrc was created") == 1  # only shown
    assert not (project.path / ".git/hooks/pre-commit").exists()
    assert "make other programs run code" in (project.run_folder() / "prompt_2.txt").read_text()
    assert "make other programs run code" in (project.run_folder() / "prompt_3.txt").read_text()


def test_what_git_writes_by_itself_is_left_alone(project):
    project.git_init()
    project.agent_script("git checkout -qb work; git remote add origin https://example.org/x.git; git config user.name Me; "
                         "git config branch.work.remote origin; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it")
    assert result.code == 0 and not project.records("triggers_changed"), result
    config = (project.path / ".git/config").read_text()
    assert 'remote "origin"' in config and "name = Me" in config and 'branch "work"' in config


def test_scm_tasks_run_the_users_hook_and_not_the_agents(project):
    project.git_init()
    hook = project.path / ".git/hooks/pre-commit"
    hook.write_text(f"#!/bin/sh\necho user >> {project.base}/hooks\n")
    hook.chmod(0o755)
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    project.agent_script(f"echo work >> work; printf '#!/bin/sh\\necho agent >> {project.base}/hooks\\n' > .git/hooks/pre-commit; "
                         "echo 'A message'; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it")
    assert result.code == 0, result
    assert (project.base / "hooks").read_text() == "user\n"
    assert len(project.git("log", "--format=%h").split()) == 2


def test_a_reviewers_own_commit_runs_no_hook_at_all(project):
    plan = Plan(project, [story("US-001")])
    hook = project.path / ".git/hooks/pre-commit"
    hook.write_text(f"#!/bin/sh\necho $RALPH_ITERATION >> {project.base}/hooks\n")
    hook.chmod(0o755)
    plan.completes()
    assert (project.base / "hooks").read_text() == "1\n"  # the implementer's commit; the review is iteration 2


def test_what_lies_outside_is_only_shown(project):
    project.git_init()
    project.agent_script("printf '[core]\\n\\tpager = evil\\n' >> \"$HOME/.gitconfig\"; echo 'echo hi' > .envrc; "
                         "echo '*.c filter=x' > .gitattributes; mkdir -p .claude/commands; echo x > .claude/commands/x.md; "
                         "mkdir -p .claude/rules; echo x > .claude/rules/x.md; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it")
    assert result.code == 0, result
    found = changed(project)
    assert set(found) == {str(project.home / ".gitconfig"), ".envrc", ".gitattributes", ".claude/commands/x.md"}
    assert {f["action"] for f in found.values()} == {"reported"}
    assert "evil" in (project.home / ".gitconfig").read_text() and (project.path / ".envrc").exists()


def test_what_hides_files_in_the_home_is_only_shown(project):
    project.git_init()
    (project.home / "ignored").write_text("")
    (project.home / ".gitconfig").open("a").write(f"[core]\n\texcludesFile = {project.home}/ignored\n")
    project.agent_script("cd; printf '[core]\\n\\texcludesFile = other\\n' >> .gitconfig; echo ok.txt > ignored; mkdir -p .config/git; "
                         "echo ok.txt > .config/git/ignore; echo 'x ident' > .config/git/attributes; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it")
    assert result.code == 0, result
    found = changed(project)
    assert set(found) == {str(project.home / name) for name in (".gitconfig", "ignored", ".config/git/ignore", ".config/git/attributes")}
    assert {f["action"] for f in found.values()} == {"reported"}
    assert (project.home / "ignored").read_text() == "ok.txt\n" and "core.excludesFile" in result.text


def test_a_run_that_goes_on_after_a_kill_knows_how_it_was(project):
    project.git_init()
    project.agent_script("if [ -e went ]; then echo '<response>DONE</response>'; else touch went; echo x > .git/hooks/pre-commit; "
                         f"touch {project.base}/at-work; sleep 60; fi")
    running = project.start("run", "-p", "do it")
    wait_until((project.base / "at-work").exists)
    running.process.kill()
    running.wait()
    project.nothing_left()
    assert (project.path / ".git/hooks/pre-commit").exists()
    result = project.run("runs", "resume")
    assert result.code == 0, result
    assert not (project.path / ".git/hooks/pre-commit").exists()
    assert list(changed(project)) == [".git/hooks/pre-commit"]


def test_a_repository_that_is_another_one_is_never_complete(project):
    project.git_init()
    project.agent_script("mv .git elsewhere; echo 'gitdir: elsewhere' > .git; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it", "-m", "2")
    assert result.code == 2 and "could not be put back" in result.out, result
