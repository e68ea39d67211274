"""An agent (or the author of a clone) names programs in the repository's own configuration. None of ralph's own calls of git
runs them: looking, putting back, committing its corrections, `plan check`, `plan archive`, `--switch`."""
import os
import subprocess

import pytest

from plan_support import Plan, approved, story

# {family: what makes git run `program`, as Python with config(key, value) and put(path, text)}. Each works for git itself: see
# test_git_itself_runs_it.
FAMILIES = {
    "hooks": "for name in ('pre-commit', 'post-commit', 'post-checkout', 'post-index-change', 'reference-transaction',\n"
             "             'prepare-commit-msg', 'commit-msg'): put(f'.git/hooks/{name}', f'#!/bin/sh\\n{program}\\n')",
    "hooks elsewhere": "put('evil/pre-commit', f'#!/bin/sh\\n{program}\\n'); put('evil/post-checkout', f'#!/bin/sh\\n{program}\\n')\n"
                       "put('.git/info/exclude', 'evil\\n'); config('core.hooksPath', 'evil')",
    "fsmonitor": "config('core.fsmonitor', program)",
    "a clean filter": "config('filter.evil.clean', program + '; cat'); config('filter.evil.smudge', program + '; cat')\n"
                      "put('.gitattributes', '* filter=evil\\n')",
    "a filter of .git/info": "config('filter.evil.clean', program + '; cat'); put('.git/info/attributes', '* filter=evil\\n')",
    "a filter that is required": "config('filter.a b.Evil.clean', program + '; cat'); config('filter.a b.Evil.required', 'true')\n"
                                 "config('filter.other.process', program); put('.git/info/attributes', '* filter=other\\n')",
    "a filter in an included file": "put('.git/more', '[filter \"evil\"]\\nclean = \"' + program + '; cat\"\\n')\n"
                                    "config('include.path', 'more'); put('.git/info/attributes', '* filter=evil\\n')",
    "a filter in a file that only git finds": "put('.git/more', '[filter \"evil\"]\\nclean = \"' + program + '; cat\"\\n')\n"
                                              "config('include.path', '~sys/../proc/self/cwd/.git/more'); put('.git/info/attributes', '* filter=evil\\n')",
    "a filter of the work tree": "config('extensions.worktreeConfig', 'true')\n"
                                 "put('.git/config.worktree', '[filter \"evil\"]\\nclean = \"' + program + '; cat\"\\n')\n"
                                 "put('.git/info/attributes', '* filter=evil\\n')",
    "an external diff": "config('diff.external', program); config('diff.evil.command', program)\n"
                        "config('diff.evil.textconv', program); put('.git/info/attributes', '* diff=evil\\n')",
    "signing": "config('commit.gpgSign', 'true'); config('gpg.program', program); config('gpg.format', 'openpgp')",
    "pager and editor": "config('core.pager', program); config('core.editor', program); config('pager.status', program)\n"
                        "config('pager.diff', program); config('sequence.editor', program)",
    "an alias": "config('alias.status', '!' + program); config('alias.commit', '!' + program)\n"
                "config('alias.rev-parse', '!' + program)",
    "a merge driver": "config('merge.evil.driver', program); put('.git/info/attributes', '* merge=evil\\n')",
    "a remote": "config('extensions.partialClone', 'evil'); config('core.repositoryformatversion', '1')\n"
                "config('remote.evil.url', 'ext::' + program); config('remote.evil.promisor', 'true')\n"
                "config('remote.evil.uploadpack', program); config('protocol.ext.allow', 'always')\n"
                "config('credential.helper', '!' + program); config('core.sshCommand', program)",
    "a submodule": "git('init', '-q', 'sub'); put('sub/x', 'x'); git('-C', 'sub', 'add', 'x')\n"
                   "git('-C', 'sub', 'commit', '-q', '-m', 'x'); git('-c', 'advice.addEmbeddedRepo=false', 'add', 'sub')\n"
                   "git('commit', '-q', '-m', 'sub'); git('-C', 'sub', 'config', 'filter.evil.clean', program + '; cat')\n"
                   "put('sub/.git/info/attributes', '* filter=evil\\n'); put('sub/x', 'y'); config('submodule.sub.ignore', 'none')\n"
                   "git('-C', 'sub', 'config', 'core.fsmonitor', program)",
}

# `program` runs nothing for the agent's own git, whose environment says so.
PLANT = r'''
import subprocess, pathlib
def git(*words): subprocess.run(["git", *words], check=True, capture_output=True)
def config(key, value): git("config", key, value)
def put(path, text):
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(path).write_text(text)
    pathlib.Path(path).chmod(0o755)
program = %r
'''


class Planted:
    def __init__(self, project):
        self.owned = project.tmp / "owned"
        self.program = project.script(f'[ -n "$BY_AGENT" ] || echo "$@" >> "{self.owned}"; exit 0', "planted")

    def code(self, family):
        return f"os.environ['BY_AGENT'] = '1'\n{PLANT % str(self.program)}\n{FAMILIES[family]}\n"

    def ran(self):
        return self.owned.exists()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_run_does_not(project, family):
    """The corrections of an implementer that approves itself are committed by ralph."""
    plan = Plan(project, [story("US-001"), story("US-002")])
    planted = Planted(project)
    plan.cheat("os.environ['BY_AGENT'] = '1'", phase="before", always=True)
    plan.cheat("for one in stories.values(): one.update(passes=True, reviewStatus='approved', reviewCount=1, notes='x')", at=1)
    plan.cheat(planted.code(family) + "Path('work.txt').touch()", at=1, phase="after")
    result = plan.run("-n", "2")
    assert result.code == 1, result
    assert plan.own_commits(), result
    assert not planted.ran(), planted.owned.read_text()


COMMANDS = {"plan check": ["plan", "check"], "plan archive": ["plan", "archive"],
            "switch": ["plan", "run", "--switch", "-n", "1", "--skip-review", "--accept-tasks"],
            "dry run": ["plan", "run", "--dry-run"], "doctor": ["doctor"]}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_command_in_a_clone_does_not(project, family):
    plan = Plan(project, [approved("US-001")], branchName="other")
    planted = Planted(project)
    project.git("branch", "other")
    subprocess.run(["python3", "-c", "import os\n" + planted.code(family)], cwd=project.path, check=True,
                   env=project.environment())
    (project.path / "work.txt").write_text("x")
    os.utime(plan.tasks_path)
    for name, words in COMMANDS.items():
        result = project.run(*words)
        assert not planted.ran(), (name, planted.owned.read_text(), result)


@pytest.mark.parametrize("family", [name for name in FAMILIES if name not in ("an alias", "a remote", "a merge driver")])
def test_git_itself_runs_it(project, family):
    """Otherwise the tests above prove nothing. Aliases of git's own commands, drivers without a merge and remotes without a
    missing object never run; they are there for a ralph that would call git in another way."""
    Plan(project)
    planted = Planted(project)
    (project.path / "work.txt").write_text("x\n")
    project.git("add", "-A")
    subprocess.run(["python3", "-c", "import os\n" + planted.code(family)], cwd=project.path, check=True,
                   env=project.environment())
    (project.path / "work.txt").write_text("y\n")
    for words in (["status"], ["diff"], ["add", "work.txt"], ["commit", "-q", "-m", "x"], ["commit", "--amend"] + ["--no-edit"] * ("editor" not in family), ["show"]):
        subprocess.run(["script", "-qec", "git -c safe.directory='*' " + " ".join(words), "/dev/null"] if "pager" in family
                       else ["git", *words], cwd=project.path, env=project.environment(TERM="xterm"), capture_output=True, stdin=subprocess.DEVNULL,
                       timeout=60)
    assert planted.ran()


def test_filters_of_the_user_stay(project):
    """git-lfs is installed in the user's configuration; a repository can't replace it, and does without it in ralph's eyes if it
    is only the repository's own."""
    plan = Plan(project, [story("US-001")])
    users = project.script(f'echo >> "{project.tmp}/users"; tr a-z A-Z', "users")
    own = project.script(f'[ -n "$BY_AGENT" ] || echo >> "{project.tmp}/own"; cat', "own")
    with (project.home / ".gitconfig").open("a") as config:
        config.write(f'[filter "big"]\nclean = "{users}"\nsmudge = cat\nrequired = true\n')
    project.git("config", "filter.big.clean", str(own))
    (project.path / ".gitattributes").write_text("*.big filter=big\n")
    plan.commit_all("attributes")
    plan.cheat("os.environ['BY_AGENT'] = '1'", phase="before", always=True)
    plan.cheat("Path('a.big').write_text('text')", at=1, phase="before")
    plan.cheat("Path('a.big').write_text('tex2')", at=1, phase="after")
    assert plan.run("-n", "1").code == 1
    assert (project.tmp / "users").exists()
    assert not (project.tmp / "own").exists()


def test_a_filter_that_can_not_be_switched_off_is_an_error(project):
    Plan(project)
    (project.path / ".git/config").open("a").write('[filter "a=b"]\nclean = x\n')
    result = project.run("plan", "check")
    assert result.code == 2 and "filter with '=' in its name (filter.a=b.clean)" in result.err, result


def test_source_control_tasks_keep_hooks_and_signing(project):
    """They are the user's own commands."""
    project.agent_script('echo x >> made; echo "<response>DONE</response>"')
    project.git_init()
    hook = project.path / ".git/hooks/pre-commit"
    hook.write_text(f'#!/bin/sh\necho >> "{project.tmp}/hook"\n')
    hook.chmod(0o755)
    gpg = project.script(f'echo >> "{project.tmp}/signed"; cat >/dev/null; echo "[GNUPG:] SIG_CREATED " >&2; echo x', "gpg")
    project.git("config", "commit.gpgSign", "true")
    project.git("config", "gpg.program", str(gpg))
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    result = project.run("run", "-p", "do it")
    assert result.code == 0, result
    assert (project.tmp / "hook").exists() and (project.tmp / "signed").exists()


def test_git_is_looked_up_once(project, whoever):
    """An agent puts another git into a folder of PATH that it can write to."""
    plan = Plan(project, [story("US-001")])
    first = project.base / "bin"
    first.mkdir()
    plan.cheat(f"fake = Path({str(first)!r}) / 'git'\n"
               f"fake.write_text('#!/bin/sh\\necho \"$@\" >> {project.tmp}/fake\\nexec /usr/bin/git \"$@\"\\n'); fake.chmod(0o755)",
               at=1, phase="after")
    plan.cheat("os.environ['PATH'] = '/usr/bin:/bin'", phase="before", always=True)
    plan.completes(env={"PATH": f"{first}:/usr/bin:/bin"}, **whoever())
    assert not (project.tmp / "fake").exists(), (project.tmp / "fake").read_text()
