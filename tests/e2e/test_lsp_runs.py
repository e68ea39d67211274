"""Language servers that a run keeps for its criteria: warm from one check to the next, and gone with the run."""
import json
import os
import signal
from pathlib import Path

import pytest

from check_support import write
from lsp_support import Servers
from plan_support import Plan, story
from sandbox_support import NEEDS_SANDBOX
from support import wait_until
from task_support import Tasks

DONE = "echo '<response>DONE</response>'"
# Mends the file in its second turn.
MENDS = "if test -e once; then echo 'int fine;' > a.c; fi; touch once"


def asks_clangd():
    return {"languageServers": ["clangd"], "exclude": ["gcc"], "criteria": {}}


@pytest.fixture
def servers(project):
    project.settings(diagnostics=asks_clangd())
    return Servers(project)


def run(servers, *words, **how):
    return servers.project.run(*(words or ("run", "-p", "x")), env={"PATH": servers.path}, **how)


def counts(records):
    return [record["snapshot"]["error_count"] for record in records if record["type"] == "diagnosed"]


def test_one_server_answers_all_checks_of_a_run(servers):
    servers.project.agent_script(f"{MENDS}; {DONE}")
    result = run(servers)
    assert result.code == 0, result
    assert counts(servers.project.journal()) == [1, 1, 0]
    assert len(servers.starts()) == 1
    servers.project.nothing_left()
    servers.lsp("status", code=1)


def test_so_it_does_in_a_task(servers):
    tasks = Tasks(servers.project)
    result = tasks.run(f"{MENDS}; touch $TASK_FOLDER/DONE", env={"PATH": servers.path})
    assert result.code == 0 and counts(tasks.records()) == [1, 1, 0], result
    assert len(servers.starts()) == 1
    servers.project.nothing_left()


# One session of claude's, which mends the file in its second turn.
SESSION = r"""
import json, os, sys
if "--help" in sys.argv: sys.exit(0)  # ralph asks what it knows
def out(**event): print(json.dumps({"session_id": "26d69ff4-4761", **event}), flush=True)
def says(block): out(type="assistant", message={"id": "m", "role": "assistant", "content": [block]}, parent_tool_use_id=None)
if os.path.exists("once"): open("a.c", "w").write("int fine;\n")
open("once", "w").close()
out(type="system", subtype="init", cwd="/", tools=[], model="m")
says({"type": "tool_use", "id": str(os.getpid()), "name": "Bash", "input": {"command": "true"}})
says({"type": "text", "text": "<promise>READY</promise>"})
out(type="result", subtype="success", is_error=False, result="<promise>READY</promise>", num_turns=1, total_cost_usd=0.01, usage={})
"""


def test_so_it_does_in_a_loop_from_outside(servers):
    servers.project.python_agent(SESSION, kind="claude")
    result = run(servers, "loop", "run", "x", "--completion-promise", "READY", "--zero-errors")
    assert result.code == 0 and counts(servers.project.journal()) == [1, 1, 0], result
    assert len(servers.starts()) == 1
    servers.project.nothing_left()


def test_so_it_does_in_a_plan(servers):
    servers.say("int fine;\n")
    plan = Plan(servers.project, [story("US-001")])
    result = run(servers, "plan", "run", "--no-sandbox", timeout=120)
    assert result.code == 0, result
    assert len(counts(servers.project.journal())) > 2 and len(servers.starts()) == 1, plan
    servers.project.nothing_left()


def test_servers_that_the_user_keeps_are_used_and_stay(servers):
    servers.lsp("start")
    servers.project.agent_script(f"{MENDS}; {DONE}")
    assert run(servers).code == 0
    status = json.loads(servers.lsp("status", "--json").out)
    assert len(servers.starts()) == 1 and status["servers"][0]["answers"] == 3
    servers.lsp("stop")


def test_without_criteria_or_without_the_name_no_server_is_asked(servers):
    servers.project.agent_script(DONE)
    for settings in ({"languageServers": [], "exclude": [], "criteria": {}}, {"languageServers": ["clangd"], "criteria": None}):
        servers.project.settings({"diagnostics": settings})
        assert run(servers).code == 0, "to gcc BAD is a name"
    assert servers.starts() == []


@pytest.mark.parametrize("names, message", [(["clangt"], 'did you mean "clangd"?'), (["gopls"], ""), (["clangd"], "clangd is not installed")])
def test_bad_names_are_refused_before_the_first_turn(servers, names, message):
    """But one that has nothing to look at here is no criterion."""
    (Path(servers.path) / "clangd").unlink()
    servers.project.settings({"diagnostics": {"languageServers": names, "exclude": []}})
    servers.say("int fine;\n")
    servers.project.agent_script(f"touch started; {DONE}")
    result = run(servers)
    assert result.code == (2 if message else 0) and message in result.err, result
    assert (servers.project.path / "started").exists() == (not message)


def test_a_check_asks_them_too_and_an_edit_does_not_start_one(servers):
    report = json.loads(run(servers, "check", "--json").out)
    assert {c["name"]: c["status"] for c in report["collectors"]}["clangd"] == "findings" and report["summary"]["errors"] == 1
    assert len(servers.starts()) == 1
    assert servers.project.run("trust").code == 0
    servers.after_edit()
    assert len(servers.starts()) == 1


# ---- whoever is killed

def waiting(servers):
    """A run whose agent waits in its first turn, after the server has looked once."""
    servers.project.agent_script(f"test -e once || {{ touch once; while ! test -e go; do sleep 0.05; done; }}; {MENDS}; {DONE}")
    (servers.folder / "child").touch()
    running = servers.project.start("run", "-p", "x", env={"PATH": servers.path})
    wait_until(lambda: (servers.project.path / "once").exists(), 30, "the agent runs")
    return running, servers.starts()[0]


@pytest.mark.parametrize("victim", ["guardian", "loop", "both"])
def test_they_end_with_the_run_whoever_is_killed(servers, victim):
    running, server = waiting(servers)
    loop = running.loop_pid
    if victim != "loop":
        os.kill(running.process.pid, signal.SIGKILL)
    if victim != "guardian":
        os.kill(loop, signal.SIGKILL)
    running.wait()
    wait_until(lambda: not Path(f"/proc/{server}").exists(), 30, "the server ends")
    servers.project.nothing_left(timeout=30)


def test_a_server_that_is_killed_is_started_again(servers):
    running, server = waiting(servers)
    os.kill(server, signal.SIGKILL)
    (servers.project.path / "go").touch()
    assert running.wait().code == 0 and len(servers.starts()) == 2
    servers.project.nothing_left()


def keeper_of(server):
    return int(Path(f"/proc/{server}/stat").read_text().rsplit(")", 1)[1].split()[1])


def test_without_its_keeper_a_server_is_started_for_each_check(servers):
    running, server = waiting(servers)
    os.kill(keeper_of(server), signal.SIGKILL)
    wait_until(lambda: not Path(f"/proc/{server}").exists(), 30, "the server ends with it")
    (servers.project.path / "go").touch()
    assert running.wait().code == 0 and counts(servers.project.journal())[-1] == 0
    assert len(servers.starts()) == 1 + len(counts(servers.project.journal())) - 1
    servers.project.nothing_left()


# ---- what an agent may not do with them

def test_an_agent_can_not_stop_them(servers):
    servers.project.python_agent("""
import glob, json, socket
said = []
for path in glob.glob("/tmp/ralph-lsp-*/lsp.sock"):
    for line in ({"do": "stop"}, {"do": "start"}, {"do": "check", "server": "clangd", "files": ["../../etc/passwd.c"]}):
        s = socket.socket(socket.AF_UNIX)
        if s.connect_ex(path): continue  # that of a run that was killed
        s.sendall(json.dumps(line).encode() + b"\\n")
        said.append(json.loads(s.makefile().readline())["failure"])
open("said", "w").write("\\n".join(said))
open("a.c", "w").write("int fine;\\n")
print("<response>DONE</response>")
""")
    assert run(servers).code == 0
    said = (servers.project.path / "said").read_text().splitlines()
    assert "these servers belong to a run, and end with it" in said and any(one.endswith(f"is not in {servers.project.path}") for one in said)
    assert len(servers.starts()) == 1


def test_a_program_that_the_agent_put_in_its_place_is_not_asked(servers):
    write(servers.project, ".venv/bin/clangd", (Path(servers.path) / "clangd").read_text(), 0o755)
    servers.project.settings(maximumIterations=1)
    servers.project.agent_script(f"echo 'exit 0' >> .venv/bin/clangd; {DONE}")
    result = run(servers)
    assert result.code == 1, result
    assert "clangd is not the program that was there when the run began" in str(servers.project.last("diagnosed")["unmet"]), result


def test_a_change_of_its_configuration_is_told(servers):
    servers.say("int fine;\n")
    servers.project.agent_script(f"printf 'Diagnostics:\\n  Suppress: \"*\"\\n' > .clangd; {DONE}")
    result = run(servers)
    assert result.code == 0 and ".clangd was created" in result.out and "clangd reads it" in result.out, result


# ---- in a sandbox

@pytest.mark.parametrize("way", ["run", "task"])
class TestInASandbox:
    pytestmark = NEEDS_SANDBOX

    def test_they_run_in_the_sandbox_of_the_checks(self, project, way):
        (project.home / "secret").write_text("hidden")
        project.settings({"sandbox": {"mode": "on"}}, diagnostics=asks_clangd())
        servers = Servers(project, folder=project.path / "server")
        servers.install(f'cat {str(project.home)!r}/secret > server/seen 2>&1; env > server/env\n'
                        f'exec python3 -S "{servers.path}/lsp_stand_in.py" "{servers.folder}"')
        env = {"PATH": servers.path + ":/usr/bin:/bin"}
        if way == "run":
            project.agent_script(f"ls /tmp > tmp; {MENDS}; {DONE}", env={"MY_KEY": "for the agent"})
            result, records = project.run("run", "-p", "x", env=env), project.journal
        else:
            tasks = Tasks(project)
            result = tasks.run(f"ls /tmp > tmp; {MENDS}; touch $TASK_FOLDER/DONE", "--sandbox", env=env)
            records = tasks.records
        assert result.code == 0 and counts(records()) == [1, 1, 0], result
        assert len(servers.starts()) == 1, "one was kept"
        assert "hidden" not in (servers.folder / "seen").read_text()
        seen = (servers.folder / "env").read_text()
        assert "RALPH_SANDBOX=bubblewrap" in seen and "MY_KEY" not in seen
        assert "lsp" not in (project.path / "tmp").read_text(), "the agent does not see their socket"
        project.nothing_left()

    def test_those_that_the_user_keeps_outside_are_not_asked(self, project, way):
        project.settings({"sandbox": {"mode": "on"}}, diagnostics=asks_clangd())
        servers = Servers(project, folder=project.path / "server")
        env = {"PATH": servers.path + ":/usr/bin:/bin"}
        servers.install(f'exec python3 -S "{servers.path}/lsp_stand_in.py" "{servers.folder}"')
        assert project.run("lsp", "start", env=env).code == 0
        servers.say("int fine;\n")
        if way == "run":
            project.agent_script(DONE)
            result = project.run("run", "-p", "x", env=env)
        else:
            result = Tasks(project).run("touch $TASK_FOLDER/DONE", "--sandbox", env=env)
        assert result.code == 0 and len(servers.starts()) == 2, result
        assert json.loads(project.run("lsp", "status", "--json").out)["servers"][0]["answers"] == 0
        project.run("lsp", "stop")
