"""The sandbox as a person uses it: one command in it, its plan, and the attacks on it, as root and as an ordinary user."""
import json
import os
import re
import shutil
import signal

import pexpect
import pytest

from sandbox_support import NEEDS_SANDBOX
from support import RALPH, ROOT, Project, wait_until

pytestmark = NEEDS_SANDBOX


def inside(project, script, **how):
    return project.run("sandbox", "run", "--", "sh", "-c", script, **how)


def test_a_command_sees_the_project_and_nothing_of_the_home(someone):
    (someone.home / ".ssh").mkdir()
    (someone.home / ".ssh/key").write_text("secret")
    (someone.base / "beside").write_text("secret")
    result = inside(someone, "echo made > made; cat ~/.ssh/key ../beside; ls -A ~; echo x > ~/x; id -u; exit 7",
                    env={"MY_TOKEN": "secret"})
    assert result.code == 7, result
    assert "secret" not in result.text
    assert (someone.path / "made").read_text() == "made\n"
    assert not (someone.home / "x").exists()
    assert "\n0\n" not in result.out, "nobody is root inside"


def test_only_listed_variables_pass(someone):
    someone.settings({"sandbox": {"environment": ["MINE", "PRE_*"]}})
    env = {"MINE": "1", "PRE_A": "2", "AWS_SECRET_ACCESS_KEY": "3", "SSH_AUTH_SOCK": "4", "LC_ALL": "C"}
    names = {line.split("=")[0] for line in inside(someone, "env", env=env).out.splitlines()}
    assert {"MINE", "PRE_A", "LC_ALL", "PATH", "HOME", "RALPH_SANDBOX"} <= names
    assert not {"AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK"} & names


def test_the_private_home_stays_between_commands(someone):
    assert inside(someone, "echo kept > ~/note").code == 0
    assert inside(someone, "cat ~/note").out == "kept\n"


def test_git_python_and_compilers_work_inside(someone):
    someone.git_init()
    (someone.path / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.20)\nproject(x CXX)\nadd_executable(x x.cc)\n")
    (someone.path / "x.cc").write_text('#include <cstdio>\nint main() { std::puts("built"); }\n')
    script = """set -e
        git add -A && git commit -q -m inside
        python3 -c 'print("python", 6 * 7)'
        g++ -o direct x.cc && ./direct
        cmake -S . -B out >/dev/null && cmake --build out >/dev/null && out/x
    """
    result = inside(someone, script, timeout=120)
    assert result.code == 0, result
    assert "python 42" in result.out and result.out.count("built") == 2
    assert "inside" in someone.git("log", "--format=%s") if os.geteuid() != 0 or type(someone) is Project else True


@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
def test_npm_works_inside(someone):
    (someone.path / "dep").mkdir()
    (someone.path / "dep/package.json").write_text('{"name": "dep", "version": "1.0.0", "main": "index.js"}')
    (someone.path / "dep/index.js").write_text("module.exports = 'from the package'\n")
    (someone.path / "package.json").write_text(json.dumps({"name": "x", "version": "1.0.0", "dependencies": {"dep": "file:dep"},
                                                           "scripts": {"test": "node -e \"console.log(require('dep'))\""}}))
    result = inside(someone, "npm install --offline --no-audit --no-fund --loglevel=error && npm test", timeout=120)
    assert result.code == 0 and "from the package" in result.out, result


def test_toolchains_of_the_home_and_programs_in_the_path_are_found(someone):
    """A version manager's folder, and a folder that PATH names: both can be run and not changed. Tokens beside them are not seen."""
    folders = {".nvm/versions/bin": "node-of-nvm", "my tools/bin": "own-tool", ".cargo/bin": "cargo-tool"}
    for folder, name in folders.items():
        (someone.home / folder).mkdir(parents=True)
        (someone.home / folder / name).write_text("#!/bin/sh\necho ran $0\n")
        (someone.home / folder / name).chmod(0o755)
    (someone.home / ".cargo/credentials.toml").write_text("secret")
    path = ":".join(str(someone.home / folder) for folder in folders)
    result = inside(someone, f"for t in {' '.join(folders.values())}; do $t; echo x >> $(command -v $t); done; cat ~/.cargo/credentials.toml",
                    env={"PATH": f"{path}:/usr/bin:/bin"})
    assert result.out.count("ran ") == 3 and "secret" not in result.text, result
    for folder, name in folders.items():
        assert (someone.home / folder / name).read_text().endswith("ran $0\n")


def test_a_clone_with_shared_objects_can_commit_inside_and_not_change_what_it_shares(someone):
    someone.git_init()
    clone = someone.base / "clone"
    someone.git("clone", "-q", "--shared", str(someone.path), str(clone))
    (clone / ".ralph").mkdir()
    objects = someone.path / ".git/objects"
    before = sorted(objects.rglob("*"))
    script = (f"git log --format=%s | wc -l; echo x > x && git add x && git commit -q -m shared && git log --format=%s -1; "
              f"touch {objects}/planted; echo x > {someone.path}/planted; cat {someone.path}/.git/config")
    result = someone.run("sandbox", "run", "--", "sh", "-c", script, cwd=clone)
    assert result.out.splitlines()[1] == "shared" and "[core]" not in result.out, result
    assert sorted(objects.rglob("*")) == before and not (someone.path / "planted").exists()
    refused = someone.run("sandbox", "run", "--", "sh", "-c", "echo /etc >> .git/objects/info/alternates", cwd=clone)
    assert refused.code != 0 and "/etc" not in (clone / ".git/objects/info/alternates").read_text(), refused


def test_a_work_tree_can_commit_inside(someone):
    someone.git_init()
    someone.git("worktree", "add", "-q", "-b", "ralph/side", str(someone.base / "side"))
    (someone.base / "side/.ralph").mkdir()
    result = someone.run("sandbox", "run", "--", "sh", "-c", "echo x > x && git add x && git commit -q -m side && git log --format=%s",
                         cwd=someone.base / "side")
    assert result.code == 0, result
    assert result.out.splitlines()[0] == "side"
    refused = someone.run("sandbox", "run", "--", "git", "config", "core.fsmonitor", "x", cwd=someone.base / "side")
    assert refused.code != 0


def test_the_plan_is_shown_and_nothing_is_made(someone):
    someone.ralph.mkdir()
    before = sorted(someone.base.rglob("*"))
    result = someone.run("sandbox", "plan", "--json")
    assert result.code == 0, result
    plan = json.loads(result.out)
    kinds = {mount["path"]: mount["kind"] for mount in plan["mounts"]}
    assert kinds[str(someone.path)] == "writable" and kinds["/usr"] == "read-only"
    assert kinds[str(someone.ralph)] == "read-only"
    assert plan["network"] == "allowlist" and plan["uid"] != 0
    ours = [p for p in sorted(someone.base.rglob("*")) if not p.name.startswith(("out.", "err."))]
    assert ours == before
    assert "read-only  /usr" in someone.run("sandbox", "plan").out


def test_settings_of_agents_that_appear_are_taken_away(someone):
    result = inside(someone, "echo '{}' > .mcp.json; mkdir .claude; echo x > .claude/settings.json")
    assert result.code == 0, result
    assert not (someone.path / ".mcp.json").exists() and not (someone.path / ".claude").exists()
    assert "appeared inside the sandbox" in result.err
    assert len(list((someone.ralph / "taken").iterdir())) == 2


def test_processes_are_limited(someone):
    someone.settings({"sandbox": {"processes": 40}})
    script = "import os, time\nn = 0\ntry:\n    while n < 80:\n        n += 1\n        if os.fork() == 0: time.sleep(20)\nexcept BlockingIOError: print('refused')\n"
    result = someone.run("sandbox", "run", "--", "python3", "-c", script)
    assert "refused" in result.out, result


def test_a_signal_reaches_what_is_inside_which_may_clean_up(someone):
    running = someone.start("sandbox", "run", "--", "sh", "-c", "trap 'echo cleaned > cleaned; exit 3' TERM; echo x > ready; "
                            "while :; do sleep 0.05; done")
    wait_until((someone.path / "ready").exists)
    running.signal(signal.SIGTERM)
    assert running.wait().code == 3
    assert (someone.path / "cleaned").exists()
    someone.nothing_left()


def test_a_person_at_a_terminal_has_a_shell_with_ctrl_c_and_job_control(project):
    """Ctrl-C ends what runs in the foreground inside, not the shell, and not ralph; the terminal itself is not inside."""
    env = project.environment(PS1="READY ", TERM="dumb")
    shell = pexpect.spawn(str(RALPH), ["sandbox", "run", "--", "bash", "--norc", "--noprofile", "-i"], cwd=project.path, env=env, encoding="utf-8",
                          timeout=20, dimensions=(33, 111))
    shell.sendline("PS1='READY '; stty size; jobs; echo begun")
    shell.expect("33 111")
    shell.expect("begun")
    shell.sendline("sleep 1000; echo code $?")
    project_has = lambda: any("sleep 1000" in command for command in project.processes().values())  # noqa: E731
    wait_until(project_has)
    shell.sendcontrol("c")
    shell.sendline("echo still $((40 + 2)); sleep 500 &")
    shell.expect("still 42")
    shell.sendline("jobs; kill %1; wait; echo over")
    shell.expect("Running")
    shell.expect("over\r\n")
    shell.sendline("exit 7")
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == 7, shell.before
    project.nothing_left()


def test_nothing_inside_outlives_a_killed_ralph(someone):
    running = someone.start("sandbox", "run", "--", "sh", "-c", "setsid sleep 300 & echo x > ready; sleep 300")
    wait_until((someone.path / "ready").exists)
    running.signal(signal.SIGKILL)
    running.wait()
    someone.nothing_left()


def test_without_bubblewrap_nothing_is_started(project):
    folder = project.base / "bin"
    folder.mkdir()
    for name in ("sh", "touch"):
        (folder / name).symlink_to(shutil.which(name))
    result = project.run("sandbox", "run", "--", "touch", "made", env={"PATH": folder})
    assert result.code == 2 and "bubblewrap (bwrap) is not installed" in result.err
    assert not (project.path / "made").exists()


@pytest.mark.parametrize("recipe", re.findall(r"```json\n(.*?)```", (ROOT / "docs/sandbox.md").read_text(), re.DOTALL))
def test_the_recipes_of_the_documentation_are_settings(project, recipe):
    settings = json.loads(recipe)
    command = settings.setdefault("agent", {}).get("command", "true")
    if command == "true" or "/" in command:
        settings["agent"]["command"] = str(project.script("true", "own-agent"))
    else:
        settings["agent"]["command"] = str(project.script("true", command))
        settings["agent"]["kind"] = command
    (project.home / ".cache/ccache").mkdir(parents=True)
    project.settings(settings)
    plan = project.run("sandbox", "plan", "--json")
    assert plan.code == 0 and set(settings["sandbox"].get("hosts", [])) <= set(json.loads(plan.out)["hosts"]), plan
    assert project.run("run", "--dry-run", "-p", "x").code == 0


@pytest.mark.parametrize("settings, message", [
    ({"writable": ["/nowhere/at/all"]}, "there is no /nowhere/at/all"),
    ({"writable": ["."]}, "the project is writable already"),
    ({"environment": ["NOT A NAME"]}, "expected the name of a variable"),
    ({"network": "some"}, "none"),
])
def test_bad_settings_are_refused(project, settings, message):
    project.settings({"sandbox": settings})
    result = project.run("sandbox", "run", "--", "true")
    assert result.code == 2 and message in result.err, result


def test_a_project_that_has_the_home_in_it_is_refused(project):
    result = project.run("sandbox", "run", "--", "true", env={"HOME": project.path / "home"})
    assert result.code == 2 and "can't be put into a sandbox" in result.err


def test_every_attack_is_stopped(someone):
    result = someone.run("sandbox", "check", "--json", timeout=120)
    report = json.loads(result.out)
    assert [a for a in report["attacks"] if not a["stopped"]] == []
    assert result.code == 0 and report["stopped"] >= 30
    assert [a for a in report["attacks"] if "the attacker ended" in a["how"]] == []
    someone.nothing_left()


def test_without_a_sandbox_the_attacks_do_work(someone):
    """Or their being stopped would prove nothing."""
    result = someone.run("sandbox", "check", "--direct", "--json", timeout=120)
    through = {a["attack"] for a in json.loads(result.out)["attacks"] if not a["stopped"]}
    assert result.code == 1
    assert {"read-ssh-key", "read-credentials", "read-other-project", "write-shell-profile", "write-beside-project",
            "write-ralph-settings", "write-journal", "write-guardrail", "write-agent-settings", "new-agent-settings",
            "swap-ralph-folder", "environment", "git-hook", "git-config", "git-rename", "git-commondir", "git-config-by-lock",
            "worktree-commondir", "worktree-git-file", "worktree-main-config", "process-list", "signal", "process-memory",
            "outlive", "fork-bomb", "memory", "tcp", "udp", "unix-socket", "abstract-socket"} <= through


def test_the_table_names_each_attack(project):
    result = project.run("sandbox", "check", "--only", "environment", "--only", "tcp")
    assert result.code == 0, result
    assert "stopped  environment" in result.out and "2 of 2 attacks were stopped" in result.out
    assert project.run("sandbox", "check", "--only", "envirnment").code == 2


def test_check_tries_the_bubblewrap_that_runs_use(project):
    """Not one that it finds elsewhere."""
    (project.base / "bin").mkdir()
    project.script("exit 1", "bin/bwrap")
    for path in ("/nonexistent", str(project.base / "bin")):
        result = project.run("sandbox", "check", env={"PATH": path})
        assert result.code == 2 and "attacks were stopped" not in result.out, (path, result)
