"""Runs whose agents and checks are in a sandbox: run, plan run, loop run; which protection is in force; the way out."""
import json
import os
import shutil
import signal
import socket
import tempfile
import time

import pytest

from check_support import environment, fake, write
from plan_support import Plan, story
from sandbox_support import NEEDS_SANDBOX
from support import RALPH, wait_until

pytestmark = NEEDS_SANDBOX
DONE = 'echo "<response>DONE</response>"'


def without_bubblewrap(project):
    """A PATH with what tests need, but bwrap."""
    folder = project.base / "bin"
    folder.mkdir()
    for name in ("sh", "git", "python3", "touch", "env", "cat"):
        (folder / name).symlink_to(shutil.which(name, path="/usr/bin:/bin"))
    return {"PATH": folder}


# ---- agents and checks are inside


def test_agent_and_checks_are_inside(someone):
    (someone.home / "secret").write_text("hidden")
    someone.agent_script(f"echo $MY_KEY > agent.key; cat ~/secret; echo x > ../escaped; echo $RALPH_SANDBOX > where; {DONE}",
                         env={"MY_KEY": "for the agent"})
    someone.guardrails("env > check.env; test -f agent.key; cat .ralph/settings.local.json > local 2>&1; true")
    (someone.ralph / "settings.local.json").write_text('{"agent": {"env": {"LOCAL_KEY": "private"}}}')
    result = someone.run("run", "--sandbox", "-p", "x")
    assert result.code == 0, result
    assert (someone.path / "agent.key").read_text() == "for the agent\n"
    assert (someone.path / "where").read_text() == "bubblewrap\n"
    assert not (someone.base / "escaped").exists() and "hidden" not in result.text
    check = (someone.path / "check.env").read_text()
    assert "RALPH_SANDBOX=bubblewrap" in check and "MY_KEY" not in check and "LOCAL_KEY" not in check
    assert "private" not in (someone.path / "local").read_text()
    noted = someone.records("sandbox_noted")[0]["inForce"]
    assert noted.startswith("bubblewrap; network allowlist") and "without secrets" in noted
    assert f"Sandbox: {noted}"[:60] in result.out
    assert "bubblewrap" in someone.run("runs", "show", "last").out
    someone.nothing_left()


def test_collectors_of_diagnostics_are_inside_too(project):
    """They run the project's own tools over code that the agent wrote."""
    (project.home / "secret").write_text("hidden")
    write(project, "app.py", "x = 1\n")
    fake(project, "ruff", f"env > ruff.env; cat {str(project.home)!r}/secret >> ruff.env; echo '[]'")
    project.agent_script(DONE, env={"MY_KEY": "for the agent"})
    project.settings({"sandbox": {"mode": "on"}}, diagnostics={"criteria": {}})
    env = environment(project)
    result = project.run("run", "-p", "x", env={**env, "PATH": f"{env['PATH']}:/usr/bin:/bin"})
    seen = (project.path / "ruff.env").read_text()
    assert result.code == 0 and "RALPH_SANDBOX=bubblewrap" in seen and "MY_KEY" not in seen and "hidden" not in seen, (result, seen)


def test_checks_on_the_host_are_chosen_and_shown(project):
    project.agent_script(DONE)
    project.guardrails(f"touch {str(project.base)!r}/touched")
    project.settings({"sandbox": {"mode": "on", "checksOnHost": True}})
    result = project.run("run", "-p", "x")
    assert result.code == 0 and (project.base / "touched").exists(), result
    assert "checks on the host (sandbox.checksOnHost)" in project.records("sandbox_noted")[0]["inForce"]


def test_what_ralph_and_agents_obey_is_not_written(project):
    project.git_init()
    project.agent_script(f"""
        echo '{{}}' > .ralph/settings.json; rm -rf .ralph; mv .ralph gone
        echo x >> .git/config; echo x > .git/hooks/pre-commit; mv .git gone
        mkdir .claude; echo x > .claude/settings.json
        echo x >> check.sh
        {DONE}""")
    (project.path / "check.sh").write_text("#!/bin/sh\nexit 0\n")
    (project.path / "check.sh").chmod(0o755)
    project.guardrails("./check.sh")
    settings, config = (project.ralph / "settings.json").read_text(), (project.path / ".git/config").read_text()
    result = project.run("run", "--sandbox", "-p", "x")
    assert result.code == 0, result
    assert (project.ralph / "settings.json").read_text() == settings
    assert (project.path / ".git/config").read_text() == config
    assert not (project.path / ".git/hooks/pre-commit").exists() and not (project.path / ".claude").exists()
    assert (project.path / "check.sh").read_text() == "#!/bin/sh\nexit 0\n"
    taken = [line for record in project.records("sandbox_noted") for line in record["taken"]]
    assert len(taken) == 1 and ".claude appeared inside the sandbox" in taken[0]
    assert ".claude appeared" in result.out


def test_a_second_turn_has_the_home_of_the_first(project):
    project.agent_script(f'if [ -f ~/note ]; then cat ~/note; {DONE}; else echo kept > ~/note; fi')
    assert project.run("run", "--sandbox", "-p", "x", "-n", "2").code == 0
    assert not (project.home / "note").exists()


def test_credentials_are_copied_and_those_of_others_are_not(project):
    for name in (".claude/.credentials.json", ".codex/auth.json"):
        (project.home / name).parent.mkdir()
        (project.home / name).write_text("token")
    project.agent_script(f"find ~ -type f > files; {DONE}", kind="claude", stream="text")
    assert project.run("run", "--sandbox", "-p", "x").code == 0
    files = (project.path / "files").read_text()
    assert ".claude/.credentials.json" in files and ".codex" not in files
    plan = json.loads(project.run("sandbox", "plan", "--json").out)
    assert plan["copied"] == [str(project.home / ".claude/.credentials.json")]
    assert f"Copied into the private home\n  {project.home}/.claude/.credentials.json\n" in project.run("sandbox", "plan").out


def test_logins_of_earlier_agents_and_of_the_agent_are_hidden_from_those_who_need_none(someone):
    """The private home stays between turns, and with it what was copied there."""
    for name in (".claude/.credentials.json", ".codex/auth.json"):
        (someone.home / name).parent.mkdir()
        (someone.home / name).write_text("token of " + name)
    look = "cat ~/.claude/.credentials.json ~/.codex/auth.json"
    someone.agent_script(f"{look}; {DONE}", kind="codex", stream="text")
    someone.guardrails(f"{look} > checked; echo cached > ~/.cache-of-checks")
    first = someone.run("run", "--sandbox", "-p", "x")
    assert first.code == 0 and "token of .codex" in first.out and "token of .claude" not in first.text, first
    someone.settings({"agent": {"kind": "claude"}})
    second = someone.run("run", "--sandbox", "-p", "x")
    assert second.code == 0 and "token of .claude" in second.out and "token of .codex" not in second.text, second
    assert "token" not in (someone.path / "checked").read_text()
    assert next((someone.home / ".local/state/ralph/sandbox").rglob(".cache-of-checks")).read_text() == "cached\n"


def test_an_interrupted_agent_inside_may_clean_up(project):
    project.agent_script("trap 'echo cleaned > cleaned; exit 0' TERM; echo x > ready; while :; do sleep 0.05; done")
    running = project.start("run", "--sandbox", "-p", "x")
    wait_until((project.path / "ready").exists)
    running.signal(signal.SIGINT)
    wait_until(lambda: "Received signal" in running.err)  # or the two would be one
    running.signal(signal.SIGINT)
    assert running.wait().code == 130
    assert (project.path / "cleaned").exists()
    project.nothing_left()


def test_a_killed_run_leaves_nothing_not_even_its_proxy(project):
    project.agent_script("echo x > ready; setsid sleep 300 & sleep 300")
    running = project.start("run", "--sandbox", "-p", "x")
    wait_until((project.path / "ready").exists)
    assert any("sandbox proxy" in command for command in project.processes().values())
    running.signal(signal.SIGKILL)
    running.wait()
    project.nothing_left()


# ---- which protection is in force


@pytest.mark.parametrize("command", [["run", "-p", "x"], ["loop", "run", "x"], ["plan", "run"]])
def test_a_sandbox_that_is_demanded_and_missing_starts_nothing(project, command):
    plan = Plan(project)
    project.settings({"agent": {"kind": "claude"}})
    result = project.run(*command, "--sandbox", env=without_bubblewrap(project))
    assert result.code == 2 and "there is no sandbox: bubblewrap (bwrap) is not installed" in result.err, result
    assert "--no-sandbox" in result.err and plan.turns() == [] and not project.run_folders()
    both = project.run(*command, "--sandbox", "--no-sandbox")
    assert both.code == 2 and "--sandbox and --no-sandbox are both given" in both.err


def test_auto_says_what_is_missing_and_goes_on_directly(project):
    project.agent_script(f"echo ${{RALPH_SANDBOX:-direct}} > where; {DONE}")
    project.settings({"sandbox": {"mode": "auto"}})
    result = project.run("run", "-p", "x", env=without_bubblewrap(project))
    assert result.code == 0, result
    assert "No sandbox: bubblewrap (bwrap) is not installed; the agent runs directly, with your rights.\n" in result.err
    assert (project.path / "where").read_text() == "direct\n" and project.records("sandbox_noted") == []
    assert project.run("run", "-p", "x").code == 0
    assert (project.path / "where").read_text() == "bubblewrap\n"


def test_run_is_direct_unless_it_is_asked_for(project):
    project.agent_script(f"echo ${{RALPH_SANDBOX:-direct}} > where; {DONE}")
    settings = json.loads((project.ralph / "settings.json").read_text())
    settings.pop("sandbox", None)
    (project.ralph / "settings.json").write_text(json.dumps(settings))
    assert project.run("run", "-p", "x").code == 0
    assert (project.path / "where").read_text() == "direct\n"
    assert project.run("run", "--sandbox", "-p", "x").code == 0
    assert (project.path / "where").read_text() == "bubblewrap\n"


def test_settings_that_no_sandbox_can_have_end_auto_too(project):
    project.agent_script(DONE)
    project.settings({"sandbox": {"mode": "auto", "writable": ["/nowhere/at/all"]}})
    result = project.run("run", "-p", "x")
    assert result.code == 2 and "/nowhere/at/all" in result.err and not project.run_folders()


@pytest.mark.parametrize("command", [["run", "-p", "x"], ["plan", "run"], ["task", "run", "--root", "tasks", "--project", "p", "--task", "t",
                                                                           "--prompt", "x"]])
def test_a_dry_run_says_which_protection_would_be_in_force(someone, command):
    Plan(someone)
    someone.settings({"sandbox": {"hosts": ["packages.example.com"]}})
    before = sorted(someone.base.rglob("*"))
    inside = someone.run(*command, "--dry-run", "--sandbox")
    assert inside.code == 0 and "\nSandbox      bubblewrap; network allowlist (packages.example.com" in inside.out, inside
    assert "checks in another one, without secrets, network none" in inside.out and "processes 1024 (" in inside.out
    assert json.loads(someone.run(*command, "--dry-run", "--sandbox", "--json").out)["sandbox"].startswith("bubblewrap; ")
    direct = someone.run(*command, "--dry-run", "--no-sandbox")
    assert direct.code == 0 and "\nSandbox      none: the agent runs directly, with your rights\n" in direct.out, direct
    assert json.loads(someone.run(*command, "--dry-run", "--no-sandbox", "--json").out)["sandbox"] is None
    assert [p for p in sorted(someone.base.rglob("*")) if not p.name.startswith(("out.", "err."))] == before, "nothing is written"
    bare = without_bubblewrap(someone)
    refused = someone.run(*command, "--dry-run", "--sandbox", env=bare)
    assert refused.code == 2 and "there is no sandbox: bubblewrap (bwrap) is not installed" in refused.err and not refused.out, refused
    someone.settings({"sandbox": {"mode": "auto"}})
    auto = someone.run(*command, "--dry-run", env=bare)
    assert auto.code == 0 and "\nSandbox      none (bubblewrap (bwrap) is not installed): the agent runs directly" in auto.out, auto


# ---- plans


def test_a_plan_is_worked_through_in_a_sandbox_by_default(someone):
    """Three stories, each with its whole review cycle; one is sent back first."""
    plan = Plan(someone, [story("US-001"), story("US-002", dependsOn=["US-001"]), story("US-003")], reviews={"US-002": 2},
                verifyCommands=["test \"$RALPH_SANDBOX\" = bubblewrap"])
    settings = json.loads((someone.ralph / "settings.json").read_text())
    settings.pop("sandbox", None)
    (someone.ralph / "settings.json").write_text(json.dumps(settings))
    result = plan.run()
    assert result.code == 0, result
    assert [(one["reviewStatus"], one["reviewCount"]) for one in plan.stories()] == [("approved", 1), ("approved", 2), ("approved", 1)]
    assert "bubblewrap" in someone.records("sandbox_noted")[0]["inForce"] and "directly" not in result.out
    assert len(someone.records("iteration_started")) == 8  # three times implement and review, once fix and review
    assert someone.git("status", "--porcelain") == ""
    someone.nothing_left()


def test_the_stop_hook_inside_does_its_duty(project):
    """It compares with ralph's own copy of the plan, which it can read there and nobody can write."""
    ask = f"""
import os
said = subprocess.run([{str(RALPH)!r}, "hooks", "stop"], input=json.dumps({{"cwd": os.getcwd(), "session_id": "s"}}),
                      capture_output=True, text=True)
open("hook.txt", "a").write(said.stdout + said.stderr + "\\n")
for folder, _, names in os.walk(os.path.expanduser("~/.local/state/ralph/plans")):
    for name in names:
        try: open(os.path.join(folder, name), "a").write("tampered")
        except OSError as error: open("hook.txt", "a").write(f"refused: {{error}}\\n")
"""
    plan = Plan(project).cheat("import os\nstory.update(passes=True, reviewStatus='approved', reviewCount=1); save()\n" + ask,
                               mode="implement")
    result = plan.run("--sandbox", "-n", "1")
    said = (project.path / "hook.txt").read_text()
    assert '"block"' in said, (said, result)
    assert "refused: [Errno 30] Read-only file system" in said
    for path in (project.home / ".local/state/ralph/plans").iterdir():
        assert "tampered" not in path.read_text(), "what hooks write inside stays inside"


def test_a_review_in_a_clean_checkout_sees_nothing_else(someone):
    """The checkout is the writable project there; the project itself is not to be seen, and the objects are not to be changed."""
    plan = Plan(someone, verifyCommands=["test -f deps"])
    someone.settings({"plan": {"cleanRoom": {"setup": "touch deps"}}, "sandbox": {"mode": "on"}})
    (someone.path / ".gitignore").open("a").write("deps\n")
    (someone.path / "deps").touch()
    plan.commit_all("settings")
    plan.cheat("def tried(path):\n"
               "    try: (path / 'planted').write_text('x')\n"
               "    except OSError as error: return type(error).__name__\n"
               "seen = {'project': (project / 'ralph/tasks.json').exists(), 'here': os.listdir('.'), 'head': git('log', '--format=%s', '-1'),\n"
               "        'objects': tried(Path(Path('.git/objects/info/alternates').read_text().strip())),\n"
               "        'hooks': tried(Path('.git/hooks'))}\n"
               "Path('CLAUDE.md').write_text(json.dumps(seen))", mode="review")
    result = plan.run()
    assert result.code == 0, result
    seen = json.loads((someone.path / "CLAUDE.md").read_text())
    assert seen["project"] is False and "deps" in seen["here"] and seen["head"] == "implement US-001"
    assert seen["objects"] and seen["hooks"], seen
    assert plan.commits()[-1] == "review: [US-001] - approved" and plan.violations() == []
    assert someone.git("status", "--porcelain") == ""


# ---- the way out


def fetch(url):
    return (f"""python3 -c 'import urllib.request, urllib.error
try: print(urllib.request.urlopen("{url}", timeout=10).read().decode())
except urllib.error.HTTPError as error: print(error.code, error.read().decode())
except Exception as error: print("failed", error)' >> fetched""")


def test_only_listed_hosts_are_reached_and_the_rest_is_told(project, server):
    port = server.server_port
    project.agent_script("\n".join([
        fetch(f"http://model.test:{port}/a"), fetch("http://other.test/b"), fetch("http://other.test/c"),
        fetch(f"http://127.0.0.1:{port}/d"), fetch(f"http://model.test:{port + 1}/e"), DONE]))
    project.settings({"sandbox": {"mode": "on", "hosts": [f"model.test:{port}"], "resolve": {"model.test": "127.0.0.1"}}})
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    fetched = (project.path / "fetched").read_text()
    assert "hello /a" in fetched and server.asked == [("/a", f"model.test:{port}")]
    refused = [line for line in fetched.splitlines() if line.startswith("403 ")]
    assert len(refused) == 3 and all("A person can add it to sandbox.hosts" in line for line in refused), fetched
    assert 'blocked 2 requests to other.test:80 (not in the list of hosts); to allow it, add "other.test" to sandbox.hosts' in result.out
    assert f'add "model.test:{port + 1}" to sandbox.hosts' in result.out
    assert "3 requests blocked" in result.out


def test_the_line_to_add_is_the_one_that_helps(project):
    """A name that is listed and leads to a private address needs its address."""
    project.agent_script(f"env -u no_proxy -u NO_PROXY {fetch('http://localhost/')}; {DONE}")
    project.settings({"sandbox": {"mode": "on", "hosts": ["localhost"]}})
    result = project.run("run", "-p", "x")
    assert result.code == 0, result
    assert 'localhost:80 (its address is a private one); to allow it, add "localhost" with its address to sandbox.resolve' in result.out, result
    assert "A person can add it to sandbox.resolve" in (project.path / "fetched").read_text()


def test_the_network_is_none_or_open_if_the_settings_say_so(someone, server):
    port = server.server_port
    someone.agent_script(f"env -u http_proxy -u HTTP_PROXY {fetch(f'http://127.0.0.1:{port}/open')}; env > agent.env; {DONE}")
    for network, asked in (("none", []), ("open", ["/open"])):
        someone.settings({"sandbox": {"mode": "on", "network": network}})
        result = someone.run("run", "-p", "x")
        assert result.code == 0 and f"bubblewrap; network {network};" in result.out, result
        assert [path for path, _ in server.asked] == asked
        assert "PROXY" not in (someone.path / "agent.env").read_text()


def test_checks_have_no_network_unless_it_is_set(project, server):
    port = server.server_port
    project.agent_script(DONE)
    project.guardrails(fetch(f"http://model.test:{port}/check"))
    project.settings({"sandbox": {"mode": "on", "hosts": [f"model.test:{port}"], "resolve": {"model.test": "127.0.0.1"}}})
    assert project.run("run", "-p", "x").code == 0 and server.asked == []
    project.settings({"sandbox": {"checkNetwork": "allowlist"}})
    assert project.run("run", "-p", "x").code == 0 and len(server.asked) == 1


def test_one_command_has_the_same_way_out(project, server):
    port = server.server_port
    project.settings({"sandbox": {"hosts": [f"model.test:{port}"], "resolve": {"model.test": "127.0.0.1"}}})
    result = project.run("sandbox", "run", "--", "sh", "-c", fetch(f"http://model.test:{port}/x") + "; " + fetch("http://no.test/"))
    assert result.code == 0 and "hello /x" in (project.path / "fetched").read_text(), result
    assert "blocked 1 request to no.test:80" in result.err
    project.nothing_left()


@pytest.mark.parametrize("hosts, resolve, message", [
    (["a b"], {}, "expected a host"), (["name:99999"], {}, "has an invalid port"), ([], {"x": "1.2"}, "is not an address")])
def test_bad_hosts_are_refused(project, hosts, resolve, message):
    project.agent_script(DONE)
    project.settings({"sandbox": {"mode": "on", "hosts": hosts, "resolve": resolve}})
    result = project.run("run", "-p", "x")
    assert result.code == 2 and message in result.err, result


def test_a_run_goes_through_the_users_proxy_or_says_that_it_can_not(project, upstream):
    project.agent_script(f"""python3 -c "
import urllib.request as u
print(u.urlopen('http://far.invalid/').read())"; {DONE}""")
    project.settings({"sandbox": {"mode": "on", "hosts": ["far.invalid"]}})
    result = project.run("run", "-p", "x", env={"http_proxy": f"http://127.0.0.1:{upstream.port}"})
    assert result.code == 0 and "b'up'" in result.out and len(upstream.heads) == 1, result
    result = project.run("run", "-p", "x", env={"ALL_PROXY": "socks5://u:hidden-word@127.0.0.1:1"})
    assert result.code == 2 and "ALL_PROXY names a socks5:// proxy" in result.err and "hidden-word" not in result.text, result


def test_folders_of_killed_runs_are_removed_and_those_of_living_ones_are_not(project):
    made = {name: tempfile.mkdtemp(prefix="ralph-proxy-", dir="/tmp") for name in ("dead", "alive", "young", "odd")}
    sockets = {}
    for name, folder in made.items():
        sockets[name] = socket.socket(socket.AF_UNIX)
        sockets[name].bind(f"{folder}/proxy.sock")
        if name == "alive":
            sockets[name].listen()
        else:
            sockets[name].close()
        if name == "odd":
            open(f"{folder}/keep", "w").close()
        if name != "young":
            os.utime(folder, (time.time() - 100,) * 2)
    project.agent_script(DONE)
    try:
        assert project.run("run", "--sandbox", "-p", "x").code == 0
        left = {name for name, folder in made.items() if os.path.exists(folder)}
        assert left == {"alive", "young", "odd"} and os.path.exists(f"{made['odd']}/keep")
    finally:
        for folder in made.values():
            shutil.rmtree(folder, ignore_errors=True)


def test_a_resumed_run_keeps_its_own_way_out(project, server):
    """What a killed run left is ended before the proxy of the resumed one is started, which carries the same id."""
    port = server.server_port
    project.agent_script("\n".join(["[ -e seen ] || { touch seen; exit 1; }", fetch(f"http://model.test:{port}/a"), DONE]))
    project.settings({"agent": {"retry": {"attempts": 1}}, "sandbox": {"mode": "on", "hosts": [f"model.test:{port}"],
                                                                       "resolve": {"model.test": "127.0.0.1"}}})
    assert project.run("run", "-p", "x", "-n", "1").code == 1
    result = project.run("runs", "resume", "-n", "2")
    assert result.code == 0, result
    assert "hello /a" in (project.path / "fetched").read_text() and "left behind" not in result.out, result
