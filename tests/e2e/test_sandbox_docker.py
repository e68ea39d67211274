"""Docker Sandbox mode, with a stand-in for the client (tests/helpers/fake_docker_sandbox.py) whose machines are folders with one-way
synchronisation. Docker Desktop itself is no part of these tests."""
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from docker_support import DONE, Docker
from plan_support import Plan
from sandbox_support import NEEDS_SANDBOX
from support import RALPH, wait_until

pytestmark = NEEDS_SANDBOX


@pytest.fixture
def docker(project):
    return Docker(project)


# ---- the seed's verification, items 1, 2 and 5


def test_a_machine_is_made_set_up_and_used(docker, project):
    (project.home / ".claude").mkdir()
    (project.home / ".claude/.credentials.json").write_text("login")
    (project.home / "secret").write_text("hidden")
    docker.agent_script(f'cat ~/.claude.json ~/.claude/.credentials.json; git config --global user.name; echo "in $RALPH_SANDBOX $RALPH_RUN_ID"; '
                        f'cat {project.home}/secret; printf "%s\\n" "$@" > args; "{RALPH}" --version; {DONE}')
    result = docker.run()
    assert result.code == 0, result
    for words in ("{}", "login", "Ralph Loop", f"in docker {project.last('run_started')['runId']}", "ralph "):
        assert words in result.out, (words, result)
    assert "hidden" not in result.text
    state = str(project.home / ".dclaude_state")
    assert docker.calls("create") == [["create", "--name", docker.name, "claude", str(project.path), state]]
    verbs = [call[0] for call in docker.calls()]
    assert verbs[:3] == ["ls", "ls", "create"] and verbs[3] == "network" and verbs[-1] == "stop"
    turn = docker.calls("run")[0]
    assert turn[:3] == ["run", docker.name, "--"] and "-p" in turn and any("do it" in word for word in turn)
    assert "do it" in (project.path / "args").read_text()  # what is made inside arrives
    noted = project.records("sandbox_noted")[0]["inForce"]
    assert noted.startswith(f"docker (docker sandbox, {docker.name}); network allowlist (api.anthropic.com")
    assert Path(state, ".claude.json").read_text() == "{}\n" and oct(os.stat(state).st_mode)[-3:] == "700"
    project.nothing_left()


def test_the_login_outlives_the_machine(docker, project):
    docker.agent_script(f"[ -f ~/.claude/token ] && echo known || echo token > ~/.claude/token; {DONE}")
    assert "known" not in docker.run().out
    shutil.rmtree(docker.vm / docker.name)
    result = docker.run()
    assert "known" in result.out and len(docker.calls("create")) == 2, result


def test_a_machine_that_is_there_is_used_again_and_begins_anew(docker, project):
    (project.path / "note").write_text("old")
    docker.agent_script(f"cat note; {DONE}")
    assert "old" in docker.run().out
    (project.path / "note").write_text("edited in a pause")  # a file that the machine knows: only a restart brings it
    result = docker.run()
    assert result.code == 0 and "edited in a pause" in result.out, result
    assert len(docker.calls("create")) == 1 and len(docker.calls("stop")) == 3


def test_rules_deny_by_default(docker, project):
    docker.agent_script(f"curl api.anthropic.com; curl packages.example.com; curl evil.example.com; {DONE}")
    project.settings({"sandbox": {"hosts": ["packages.example.com"]}})
    result = docker.run()
    assert "reached api.anthropic.com" in result.out and "reached packages.example.com" in result.out
    assert "reached evil" not in result.out
    rules, = docker.calls("network")
    assert rules[:5] == ["network", "proxy", docker.name, "--policy", "deny"]


@pytest.mark.parametrize("settings, reached", [({"hosts": []}, {"api.anthropic.com"}), ({"network": "none"}, set()),
                                               ({"hosts": ["packages.example.com", "more.example.com"]},
                                                {"api.anthropic.com", "packages.example.com", "more.example.com"})])
@pytest.mark.parametrize("program", ["docker", "sbx"])
def test_rules_that_were_taken_back_do_not_hold_any_more(project, program, settings, reached):
    """A machine keeps its rules; one that may reach more than it should is made anew."""
    docker = Docker(project, program)
    hosts = ("api.anthropic.com", "packages.example.com", "more.example.com")
    docker.agent_script("".join(f"curl {host}; " for host in hosts) + DONE)
    project.settings({"sandbox": {"hosts": ["packages.example.com"]}})
    assert "reached packages.example.com" in docker.run().out
    project.settings({"sandbox": settings})
    result = docker.run()
    assert result.code == 0 and {host for host in hosts if f"reached {host}" in result.out} == reached, result
    assert len(docker.calls("create")) == (1 if len(reached) == 3 else 2) and len(docker.calls("rm")) == len(docker.calls("create")) - 1


def test_a_machine_of_another_project_is_not_used(docker, project):
    """Its name is made of the path, and two paths may have one."""
    docker.agent_script(f"touch ran; {DONE}")
    assert docker.run().code == 0
    for record in (project.home / ".local/state/ralph/sandbox").rglob("machine-*.json"):
        record.write_text(json.dumps({**json.loads(record.read_text()), "project": "/another"}))
    (project.path / "ran").unlink()
    result = docker.run()
    assert result.code == 2 and "that ralph did not create for this project" in result.err and f"sandbox rm {docker.name}" in result.err, result
    assert not (project.path / "ran").exists() and len(docker.calls("run")) == 1


def test_a_plan_is_worked_through_in_machines(docker, project):
    plan = Plan(project)
    settings = json.loads((project.ralph / "settings.json").read_text())
    script = Path(settings["agent"]["command"])
    settings["agent"].update(kind="claude", stream="text")
    settings["sandbox"] = {"syncSeconds": 0}
    (project.ralph / "settings.json").write_text(json.dumps(settings))
    docker.env["FAKE_AGENT"] = project.script(f'exec {str(script)!r} "$2"', "machine-agent")  # -p PROMPT
    docker.env["FAKE_MORE"] = script
    result = plan.run(env=docker.env)
    assert result.code == 0, result
    assert [one["reviewStatus"] for one in plan.stories()] == ["approved"]
    assert "docker" in project.records("sandbox_noted")[0]["inForce"]
    assert "Reviews work in the project" in result.out


# ---- files


def test_what_the_host_changes_between_turns_is_written_into_the_machine(docker, project):
    """A guardrail on the host changes a file that the machine has; the next turn must see it."""
    docker.agent_script('cat data; if grep -q second data; then echo "<response>DONE</response>"; else echo working; echo first > data; echo gone > extra; fi')
    project.settings({"sandbox": {"checksOnHost": True}})
    project.guardrails("grep -q second data || { echo second > data; rm -f extra; exit 1; }")
    result = docker.run()
    assert result.code == 0 and len(docker.calls("run")) == 2, result
    written = [call for call in docker.calls("exec") if str(project.path / "data") in call]
    assert written and "-i" in written[0], docker.calls()
    assert [call for call in docker.calls("exec") if call[2:4] == ["rm", "-rf"] and call[-1] == str(project.path / "extra")]
    assert not (project.path / "extra").exists()


def test_many_changes_restart_the_machine(docker, project):
    docker.agent_script('ls | wc -l; if [ -f f99 ]; then echo "<response>DONE</response>"; else touch made; fi')
    project.settings({"sandbox": {"checksOnHost": True}})
    project.guardrails("test -f f99 || { for i in $(seq 100); do echo $i > f$i; done; exit 1; }")
    result = docker.run()
    assert result.code == 0 and len(docker.calls("stop")) == 2, result


def test_files_are_awaited_before_the_host_looks(docker, project):
    docker.agent_script(f"echo late > made; {DONE}")
    project.settings({"sandbox": {"syncSeconds": 4, "checksOnHost": True}})
    project.guardrails("grep late made")
    stop = threading.Event()

    def carry():  # as a daemon of Docker's does, some time later
        while not stop.is_set():
            if (docker.vm / docker.name / "pending").exists():
                time.sleep(0.5)
                subprocess.run([docker.bin / "docker", "sandbox", "carry", docker.name], env=project.environment(**docker.env))
            time.sleep(0.02)

    thread = threading.Thread(target=carry)
    thread.start()
    result = docker.run("run", "-p", "x", "-n", "1", env={"FAKE_LAG": "1"})
    stop.set()
    thread.join()
    assert result.code == 0, result


def test_what_the_host_obeys_is_put_back(docker, project):
    project.git_init()
    (project.path / ".claude").mkdir()
    (project.path / ".claude/settings.json").write_text("{}")
    docker.agent_script(f"""
        echo '{{"agent": {{"command": "evil"}}}}' > .ralph/settings.json; echo evil >> .git/config; echo evil > .git/hooks/pre-commit
        chmod +x .git/hooks/pre-commit; rm .claude/settings.json; echo x > .mcp.json; {DONE}""")
    before = {name: (project.path / name).read_text() for name in (".git/config", ".ralph/settings.json", ".claude/settings.json")}
    result = docker.run()
    assert result.code == 0, result
    for name, text in before.items():
        assert (project.path / name).read_text() == text, name
    assert not (project.path / ".git/hooks/pre-commit").exists() and not (project.path / ".mcp.json").exists()
    taken = " ".join(line for record in project.records("sandbox_noted") for line in record["taken"])
    for name in (".git/config was changed", "pre-commit appeared", "settings.json was removed", ".mcp.json appeared"):
        assert name in taken, taken


# ---- checks, ends, and what is refused


def test_checks_are_in_a_machine_without_the_login(docker, project):
    (project.home / ".claude").mkdir()
    (project.home / ".claude/.credentials.json").write_text("login")
    docker.agent_script(f"echo made > made; {DONE}")
    project.guardrails("cat made; cat ~/.claude/.credentials.json && exit 1; curl api.anthropic.com && exit 1; env > check.env; true")
    result = docker.run()
    assert result.code == 0, result
    create = docker.calls("create")[1]
    assert create == ["create", "--name", docker.name + "-checks", "claude", str(project.path)]
    env = (project.path / "check.env").read_text()
    assert "RALPH_SANDBOX=docker" in env and "ANTHROPIC" not in env


def test_an_agent_that_is_ended_leaves_nothing_in_its_machine(docker, project):
    docker.agent_script("touch started; sleep 1000")
    running = project.start("run", "-p", "x", env=docker.env)
    wait_until(lambda: (docker.vm / docker.name / "project/started").exists())
    running.process.send_signal(signal.SIGINT)
    wait_until(lambda: "Received signal" in running.err)
    running.process.send_signal(signal.SIGINT)
    result = running.wait()
    assert result.code == 130 and docker.calls("stop"), result
    project.nothing_left()


# ---- sbx


def test_sbx_is_used_where_docker_does_not_answer(project):
    docker = Docker(project, "sbx")
    docker.agent_script(f"curl api.anthropic.com; curl kit.example.com; {DONE}")
    project.guardrails("curl kit.example.com && exit 1; true")
    result = docker.run()
    assert result.code == 0 and "reached api" in result.out, result
    assert f"docker (sbx, {docker.name})" in project.records("sandbox_noted")[0]["inForce"]
    allow, *_ = docker.calls("policy")
    assert allow[:5] == ["policy", "allow", "network", "--sandbox", docker.name] and "api.anthropic.com" in allow[5].split(",")
    # What a template may reach by itself is denied to checks.
    assert ["policy", "deny", "network", "--sandbox", docker.name + "-checks", "**"] in docker.calls("policy")


@pytest.mark.parametrize("env, message", [({"FAKE_PRESET": "allow-all"}, "may reach ralph-probe.invalid, which is not in sandbox.hosts"),
                                          ({"FAKE_PRESET": "balanced"}, "may reach github.com, which is not in sandbox.hosts"),
                                          ({"FAKE_OLD": "1"}, "sbx does not say which hosts")])
def test_rules_of_sbx_that_let_more_through_are_not_accepted(project, env, message):
    docker = Docker(project, "sbx")
    docker.agent_script(f"touch ran; {DONE}")
    result = docker.run(env=env)
    assert result.code == 2 and message in " ".join(result.err.split()), result
    assert not (project.path / "ran").exists() and not docker.calls("run")
    project.settings({"sandbox": {"network": "open"}})
    assert docker.run(env=env).code == 0 and (project.path / "ran").exists()


# ---- other agents


@pytest.mark.parametrize("program", ["docker", "sbx"])
@pytest.mark.parametrize("kind", ["codex", "gemini", "opencode"])
def test_other_agents_are_started_in_their_own_machine_if_they_are_sent_there(project, program, kind):
    """By the name that their template has them under, and `exec`. No measurement says what `run` does for them."""
    docker = Docker(project, program)
    docker.agent_script('echo "in $RALPH_SANDBOX with $MINE"; pwd > where; { printf "%s\\n" "$@"; cat; } > asked; '
                        f"[ -z $RALPH_SANDBOX ] || echo more >> ~/.codex/auth.json; {DONE}", kind)
    project.settings({"agent": {"env": {"MINE": "a secret"}}, "sandbox": {"backend": "docker"}})
    (project.home / ".codex").mkdir()
    (project.home / ".codex/auth.json").write_text("login\n")
    result = docker.run()
    assert result.code == 0 and "in docker with a secret" in result.out, result
    machine = f"{docker.name}-{kind}"
    assert docker.calls("create")[0][1:4] == ["--name", machine, kind] and not docker.calls("run")
    assert (project.path / "where").read_text() == f"{project.path}\n" and "do it" in (project.path / "asked").read_text()
    turn = next(call for call in docker.calls("exec") if kind in call)
    assert turn[turn.index(kind) - 5:turn.index(kind) - 4] == [machine] and not any("a secret" in word for call in docker.calls() for word in call)
    if kind == "codex":
        assert (project.home / ".dclaude_state/.codex/auth.json").read_text() == "login\nmore\n"
    assert (project.home / ".codex/auth.json").read_text() == "login\n"


def test_what_others_set_for_a_machine_stays_set(docker, project):
    docker.agent_script(f'echo "theirs: $THEIRS, ours: $RALPH_SANDBOX"; {DONE}')
    assert docker.run().code == 0
    persistent = docker.vm / docker.name / "etc/sandbox-persistent.sh"
    assert persistent.read_text().count("\n") == 1
    persistent.write_text("export THEIRS=kept\n" + persistent.read_text())
    result = docker.run()
    assert "theirs: kept, ours: docker" in result.out, result
    assert persistent.read_text().count("\n") == 2


def test_a_signal_is_answered_while_files_are_awaited(docker, project):
    """The first one is noted at once; the second one ends the wait."""
    docker.agent_script(f"touch ran; {DONE}")
    project.settings({"sandbox": {"syncSeconds": 600}})
    running = project.start("run", "-p", "x", env=docker.env)
    wait_until(lambda: (project.path / "ran").exists())
    wait_until(lambda: not any("sandbox run" in command for command in project.processes().values()))
    running.process.send_signal(signal.SIGINT)
    wait_until(lambda: "Received signal" in running.err)
    running.process.send_signal(signal.SIGINT)
    result = running.wait()
    assert result.code == 130 and docker.calls("stop"), result
    project.nothing_left()


def test_a_signal_ends_the_making_of_a_machine(docker, project):
    docker.agent_script(f"touch ran; {DONE}")
    slow = project.base / "slow"
    running = project.start("run", "-p", "x", env={**docker.env, "FAKE_SLOW": slow})
    wait_until(slow.exists)
    running.process.send_signal(signal.SIGINT)
    result = running.wait()
    assert result.code == 130 and not (project.path / "ran").exists(), result
    project.nothing_left()


def test_which_backend_is_taken(docker, project):
    docker.agent_script(f'echo "in $RALPH_SANDBOX"; {DONE}')
    assert "in docker" in docker.run().out
    project.settings({"sandbox": {"backend": "bubblewrap"}})
    assert "in bubblewrap" in docker.run().out
    project.settings({"sandbox": {"backend": "auto"}})
    assert "in bubblewrap" in docker.run(env={"FAKE_NO_SANDBOX": "1"}).out
    project.settings({"sandbox": {"backend": "docker"}})
    result = docker.run(env={"FAKE_NO_SANDBOX": "1"})
    assert result.code == 2 and "'docker sandbox ls' says: docker: 'sandbox' is not a docker command" in result.err, result
    project.settings({"agent": {"kind": "custom"}})
    result = docker.run()
    assert result.code == 2 and "Docker Sandbox has no template for the agent" in result.err, result
    project.settings({"agent": {"kind": "codex"}, "sandbox": {"backend": "auto"}})
    assert "in bubblewrap" in docker.run().out  # not sent there
    project.settings({"agent": {"kind": "custom"}})
    project.settings({"sandbox": {"backend": "auto"}})
    assert "in bubblewrap" in docker.run().out  # an agent that no template has


def test_a_machine_that_can_not_be_made_ends_the_run_before_its_agent(docker, project):
    docker.agent_script(f"touch ran; {DONE}")
    (docker.bin / "docker").write_text('#!/bin/sh\n[ "$2" = ls ] || { echo "no space for machines" >&2; exit 1; }\n')
    result = docker.run()
    assert result.code == 2 and "cannot create the Docker Sandbox" in result.err and "no space for machines" in result.err, result
    assert not (project.path / "ran").exists()


def test_the_plan_of_a_machine_is_shown_and_nothing_is_made(docker, project):
    docker.agent_script(DONE)
    shown = docker.run("sandbox", "plan")
    assert shown.code == 0 and f"sandbox create --name {docker.name} claude" in shown.out and "--policy deny" in shown.out, shown
    plan = json.loads(docker.run("sandbox", "plan", "--for", "check", "--json").out)
    assert plan["name"] == docker.name + "-checks" and plan["state"] == "" and plan["network"] == "none"
    dry = docker.run("run", "-p", "x", "--dry-run")
    assert dry.code == 0 and f"Sandbox      docker (docker sandbox, {docker.name}); network allowlist (" in dry.out, dry
    assert {call[0] for call in docker.calls()} == {"ls"} and not (project.home / ".dclaude_state").exists()
