"""ralph job: child runs of a supervised task."""
import json
import os
import signal

import pytest

from support import RALPH, processes_with_marker, wait_until
from task_support import Tasks


@pytest.fixture
def tasks(project):
    return Tasks(project)


def run(tasks, script, *options, **more):
    return tasks.run(script, *options, env={"RALPH": RALPH, **more.pop("env", {})}, **more)


def children(tasks):
    infos = tasks.infos()
    ids = {i["run_id"] for i in infos}
    return [i for i in infos if i["parent_run_id"] in ids]


def test_a_job_prints_and_returns_what_its_command_does(tasks):
    result = run(tasks, '"$RALPH" job -- sh -c "echo from the child; echo trouble >&2; exit 7"; echo "code $?"; : > "$TASK_FOLDER/DONE"')
    assert result.code == 0, result
    parent, child = tasks.infos()
    assert child["parent_run_id"] == parent["run_id"] and (child["status"], child["exit_code"]) == ("failed", 7)
    out = (tasks.folder() / "runs" / parent["run_id"] / "agent-stdout.txt").read_text()
    assert "from the child" in out and "code 7" in out
    assert (tasks.folder() / "runs" / child["run_id"] / "agent-stdout.txt").read_text() == "from the child\n"
    assert (tasks.folder() / "runs" / child["run_id"] / "agent-stderr.txt").read_text() == "trouble\n"
    assert [m["type"] for m in tasks.bus() if m["run"] == child["run_id"]] == ["RUN_START", "RUN_CRASH"]


def test_a_prompt_is_the_last_argument_and_an_agent_may_do_it(tasks, project):
    project.agent_script('echo "agent got $1"')
    result = run(tasks, '"$RALPH" job --prompt "do it" -- sh -c \'echo "got $0"\'; "$RALPH" job --prompt "and this"; : > "$TASK_FOLDER/DONE"')
    assert result.code == 0, result
    parent = tasks.infos()[0]
    out = (tasks.folder() / "runs" / parent["run_id"] / "agent-stdout.txt").read_text()
    assert "got do it" in out and "agent got and this" in out


def test_a_detached_job_outlives_its_attempt_and_done_waits_for_it(tasks):
    script = '''"$RALPH" job --detach -- sh -c 'until [ -e "$TASK_FOLDER/go" ]; do sleep 0.02; done; echo end' > "$TASK_FOLDER/id"; : > "$TASK_FOLDER/DONE"'''
    running = tasks.start(script, env={"RALPH": RALPH})
    wait_until(lambda: (tasks.folder() / "journal.jsonl").exists() and any(r["rule"] == "task_children_awaited" for r in tasks.records("decided")))
    child = children(tasks)[0]
    assert child["status"] == "running" and child["run_id"] == (tasks.folder() / "id").read_text().strip()
    (tasks.folder() / "go").touch()
    result = running.wait()
    assert result.code == 0 and children(tasks)[0]["status"] == "completed", result


def test_children_that_do_not_end_are_ended_and_the_task_succeeds(tasks, project):
    result = run(tasks, '"$RALPH" job --detach -- sleep 1000 > /dev/null; : > "$TASK_FOLDER/DONE"', "--child-wait", "100ms")
    assert result.code == 0, result
    assert [m["type"] for m in tasks.bus()].count("WARNING") == 1
    assert children(tasks)[0]["status"] in ("stopped", "failed")
    assert not processes_with_marker(project.marker)


def test_a_child_that_ignores_sigterm_and_its_grandchildren_end_too(tasks, project):
    script = '"$RALPH" job --detach -- sh -c "trap \\"\\" TERM; setsid sleep 1000 & while :; do sleep 0.1; done" > /dev/null; : > "$TASK_FOLDER/DONE"'
    result = run(tasks, script, "--child-wait", "300ms")
    assert result.code == 0, result
    assert not processes_with_marker(project.marker)
    assert children(tasks)[0]["status"] in ("stopped", "failed")


def test_jobs_end_with_a_stopped_and_with_a_killed_supervisor(tasks, project):
    script = '"$RALPH" job --detach -- sleep 1000 > /dev/null; exec sleep 1000'
    running = tasks.start(script, env={"RALPH": RALPH})
    wait_until(lambda: children(tasks) and children(tasks)[0]["pid"])
    assert tasks.command("stop").code == 0 and running.wait().code == 130
    assert not processes_with_marker(project.marker)
    running = tasks.start(script, env={"RALPH": RALPH})
    wait_until(lambda: len(children(tasks)) == 2 and children(tasks)[1]["pid"])
    os.kill(running.loop_pid, signal.SIGKILL)
    running.wait()
    wait_until(lambda: not processes_with_marker(project.marker))
    state = tasks.status()
    assert {c["status"] for c in state["children"]} <= {"failed", "stopped"}


def test_jobs_are_at_most_eight_deep(tasks):
    script = '''
      cat > "$TASK_FOLDER/deeper" <<'X'
      echo "$1" >> "$TASK_FOLDER/depths"
      "$RALPH" job -- sh "$TASK_FOLDER/deeper" $(($1 + 1)) || echo "refused $1: $?" >> "$TASK_FOLDER/depths"
X
      "$RALPH" job -- sh "$TASK_FOLDER/deeper" 1; : > "$TASK_FOLDER/DONE"'''
    result = run(tasks, script)
    assert result.code == 0, result
    lines = (tasks.folder() / "depths").read_text().splitlines()
    assert lines[:8] == [str(n) for n in range(1, 9)] and lines[8] == "refused 8: 2", lines
    assert len(children(tasks)) == 8


@pytest.mark.slow
def test_at_most_sixty_four_jobs_live_at_once(tasks, project):
    script = 'for i in $(seq 70); do "$RALPH" job --detach -- sleep 1000 > /dev/null || echo refused $? >> "$TASK_FOLDER/refused"; done; : > "$TASK_FOLDER/DONE"'
    result = run(tasks, script, "--child-wait", "1ms")
    assert result.code == 0, result
    assert (tasks.folder() / "refused").read_text().split() == ["refused", "2"] * 6
    assert not processes_with_marker(project.marker)


def test_a_job_outside_a_task_is_refused(project):
    result = project.run("job", "--", "true")
    assert result.code == 2 and "supervised task" in result.err, result


def test_a_job_that_can_not_be_started_says_so(tasks):
    result = run(tasks, '"$RALPH" job -- /no/such/program; echo "code $?"; "$RALPH" job; echo "code $?"; : > "$TASK_FOLDER/DONE"')
    assert result.code == 0, result
    parent = tasks.infos()[0]
    assert (tasks.folder() / "runs" / parent["run_id"] / "agent-stdout.txt").read_text().split() == ["code", "2", "code", "2"]
    assert "/no/such/program" in children(tasks)[0]["error_summary"]
    told = (tasks.folder() / "runs" / parent["run_id"] / "agent-stderr.txt").read_text().splitlines()
    assert len(told) == 2 and "/no/such/program" in told[0] and "what is the job?" in told[1], told
    assert [m["body"] for m in tasks.bus() if m["type"] == "RUN_CRASH"] == [children(tasks)[0]["error_summary"]]


def test_a_long_path_has_its_socket_elsewhere(project):
    tasks = Tasks(project, project.base / ("x" * 100) / ("y" * 100))
    result = run(tasks, '"$RALPH" job -- echo deep; : > "$TASK_FOLDER/DONE"', env={"XDG_RUNTIME_DIR": project.tmp})
    assert result.code == 0 and len(children(tasks)) == 1, result
    assert not (tasks.folder() / "jobs.sock").exists()


def test_a_client_that_asks_nonsense_hurts_nobody(tasks, project):
    script = '''python3 - <<'X'
import os, socket
for text in (b"x", b"job 1", b"\\0" * 60000):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(os.environ["RALPH_JOB_SOCKET"])
    s.send(text)
    print(s.recv(4096).decode()[:200])
held = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(80)]
for s in held: s.connect(os.environ["RALPH_JOB_SOCKET"])
X
"$RALPH" job -- echo fine; : > "$TASK_FOLDER/DONE"'''
    result = run(tasks, script)
    assert result.code == 0, result
    out = (tasks.folder() / "runs" / tasks.infos()[0]["run_id"] / "agent-stdout.txt").read_text()
    assert out.count("does not understand the request") == 3 and "fine" in out
    assert json.loads(project.run("task", "status", *tasks.place(), "--json").out)["status"] == "completed"
