"""ralph task: restart until DONE, lose nothing, leave nothing."""
import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from support import HELPERS, RALPH, SANITIZED, children_of, helper, peak_kb, processes_with_marker, wait_until
from task_support import Tasks
from terminal import end_of, in_terminal, screen

DONE_NOW = 'echo work; : > "$TASK_FOLDER/DONE"'


@pytest.fixture
def tasks(project):
    return Tasks(project)


# The loop


def test_done_by_the_agent_ends_the_task(tasks):
    result = tasks.run(DONE_NOW, "--prompt", "do it")
    assert result.code == 0, result
    info = tasks.infos()[0]
    assert info["status"] == "completed" and info["exit_code"] == 0 and info["version"] == 1
    assert (tasks.folder() / "TASK.md").read_text() == "do it\n"
    assert [m["type"] for m in tasks.bus()] == ["RUN_START", "RUN_STOP", "FACT"]
    facts = tasks.bus(path=tasks.root / "p/PROJECT-MESSAGE-BUS.md")
    assert [(m["type"], m["task"]) for m in facts] == [("FACT", "t")]
    assert tasks.status()["status"] == "completed"


def test_done_before_the_first_attempt_starts_nothing(tasks):
    tasks.folder().mkdir(parents=True)
    (tasks.folder() / "DONE").touch()
    result = tasks.run("echo never")
    assert result.code == 0 and tasks.infos() == [], result


def test_exit_code_0_alone_never_stops(tasks):
    result = tasks.run("exit 0", "--max-restarts", "3")
    assert result.code == 1, result
    assert [i["exit_code"] for i in tasks.infos()] == [0, 0, 0]
    assert [m for m in tasks.bus() if m["type"] == "ERROR"][-1]["body"].startswith("max restarts exceeded")
    assert tasks.status()["status"] == "failed"


def test_restarts_until_done_whatever_the_exit_code(tasks):
    result = tasks.run('echo x >> "$TASK_FOLDER/n"; [ $(wc -l < "$TASK_FOLDER/n") -lt 3 ] && exit 7; ' + DONE_NOW, "--prompt", "go")
    assert result.code == 0, result
    infos = tasks.infos()
    assert [(i["status"], i["exit_code"]) for i in infos] == [("failed", 7), ("failed", 7), ("completed", 0)]
    assert [i["previous_run_id"] for i in infos[1:]] == [i["run_id"] for i in infos[:2]]


def test_an_attempt_that_wrote_done_and_failed_is_failed_and_the_task_complete(tasks):
    assert tasks.run(DONE_NOW + "; exit 5").code == 0
    assert (tasks.infos()[0]["status"], tasks.infos()[0]["exit_code"]) == ("failed", 5)


def test_what_an_attempt_is_told_and_what_it_leaves(tasks):
    script = 'printf "%s" "$0"; echo to stderr >&2; env > "$RUN_FOLDER/env"; cat "$RUN_FOLDER/run-info.yaml" > "$RUN_FOLDER/seen"; ' \
             'echo x >> "$TASK_FOLDER/n"; [ $(wc -l < "$TASK_FOLDER/n") -lt 2 ] || : > "$TASK_FOLDER/DONE"'
    assert tasks.run(script, "--prompt", "the prompt").code == 0
    first, second = tasks.infos()
    folder = tasks.folder() / "runs" / first["run_id"]
    assert (folder / "prompt.md").read_text() == "the prompt"
    assert (folder / "agent-stdout.txt").read_text() == "the prompt" == (folder / "output.md").read_text()
    assert (folder / "agent-stderr.txt").read_text() == "to stderr\n"
    again = (tasks.folder() / "runs" / second["run_id"] / "prompt.md").read_text()
    assert again.startswith("This continues earlier attempts") and str(folder / "output.md") in again.splitlines()[0]
    assert again.endswith("\n\nthe prompt")
    env = dict(line.split("=", 1) for line in (folder / "env").read_text().splitlines() if "=" in line)
    assert env["TASK_FOLDER"] == str(tasks.folder()) and env["RUN_FOLDER"] == str(folder)
    assert env["MESSAGE_BUS"] == str(tasks.folder() / "TASK-MESSAGE-BUS.md")
    assert (env["RALPH_PROJECT_ID"], env["RALPH_TASK_ID"], env["JRUN_PROJECT_ID"], env["JRUN_TASK_ID"]) == ("p", "t", "p", "t")
    assert env["RALPH_ATTEMPT_ID"] == env["JRUN_ID"] == first["run_id"] and env["RALPH_PARENT_RUN_ID"] == ""
    assert env["RALPH_RUN_ID"] == tasks.records("run_started")[0]["runId"] == first["ralph_run_id"]
    seen = (folder / "seen").read_text()
    assert "status: running" in seen and f"run_id: \"{first['run_id']}\"" in seen and "end_time: null" in seen
    for key in ("start_time", "end_time", "cwd", "commandline", "agent", "pid", "pgid", "process_start_time", "error_summary",
                "prompt_path", "output_path", "stdout_path", "stderr_path", "parent_run_id"):
        assert key in first
    assert first["pid"] == first["pgid"] > 0 and first["process_start_time"] > 0


def test_a_command_without_a_prompt_gets_none(tasks):
    assert tasks.project.run("task", "run", *tasks.place(), "--restart-delay", "1ms", "--max-restarts", "2", "--", "sleep", "0.01").code == 1
    assert [i["exit_code"] for i in tasks.infos()] == [0, 0]


def test_a_large_prompt_comes_on_standard_input(tasks, project):
    large = project.base / "large"
    large.write_text("x" * 300_000)
    assert tasks.run('wc -c; : > "$TASK_FOLDER/DONE"', "--prompt-file", large).code == 0
    folder = next((tasks.folder() / "runs").iterdir())
    assert (folder / "agent-stdout.txt").read_text().strip() == "300000"


def test_an_agent_of_the_settings(tasks, project):
    project.agent_script(DONE_NOW)
    result = project.run("task", "run", *tasks.place(), "--prompt", "x")
    assert result.code == 0 and tasks.infos()[0]["status"] == "completed", result


def test_task_md_is_the_prompt(tasks):
    tasks.folder().mkdir(parents=True)
    (tasks.folder() / "TASK.md").write_text("from the file")
    assert tasks.run('echo "$0"; ' + DONE_NOW).code == 0
    assert "from the file" in next((tasks.folder() / "runs").glob("*/agent-stdout.txt")).read_text()


def test_done_during_the_restart_delay_ends_the_wait_at_once(tasks):
    running = tasks.start("echo x", "--restart-delay", "1h")
    wait_until(lambda: (tasks.folder() / "journal.jsonl").exists() and any(r["rule"] == "task_restart_delay" for r in tasks.records("decided")))
    (tasks.folder() / "DONE").touch()
    result = running.wait(timeout=10)
    assert result.code == 0 and len(tasks.infos()) == 1, result


def test_done_while_the_agent_runs_gives_it_its_grace(tasks):
    began = time.monotonic()
    result = tasks.run('trap "" TERM; : > "$TASK_FOLDER/DONE"; sleep 0.3; echo finished; exec sleep 1000', "--done-grace", "700ms")
    assert result.code == 0 and 0.6 < time.monotonic() - began < 20, result
    folder = next((tasks.folder() / "runs").iterdir())
    assert "finished" in (folder / "agent-stdout.txt").read_text()
    assert not processes_with_marker(tasks.project.marker)


@pytest.mark.parametrize("make", ["directory", "symlink"])
def test_a_done_that_is_no_file_is_an_error(tasks, make):
    tasks.folder().mkdir(parents=True)
    done = tasks.folder() / "DONE"
    done.mkdir() if make == "directory" else done.symlink_to("/nowhere")
    result = tasks.run("echo never")
    assert result.code == 2 and str(done) in result.err and tasks.infos() == [], result
    os.rmdir(done) if make == "directory" else done.unlink()
    result = tasks.run('mkdir "$TASK_FOLDER/DONE"')
    assert result.code == 2 and len(tasks.infos()) == 1, result


def test_a_fatal_start_error_is_not_retried(tasks, project):
    result = project.run("task", "run", *tasks.place(), "--", project.base / "missing")
    assert result.code == 2 and "missing" in result.err and not tasks.folder().exists(), result
    script = project.script("echo x", "not-executable")
    script.chmod(0o644)
    assert project.run("task", "run", *tasks.place(), "--", script).code == 2


def test_time_limits_count_as_failed_attempts(tasks):
    result = tasks.run("sleep 1000", "--run-timeout", "80ms", "--max-restarts", "2")
    assert result.code == 1, result
    assert [i["status"] for i in tasks.infos()] == ["failed", "failed"]
    result = tasks.run("echo x; sleep 1000", "--idle-timeout", "80ms", "--max-restarts", "1", task="idle")
    assert result.code == 1 and tasks.infos("idle")[0]["status"] == "failed", result


def test_secrets_are_masked(tasks, project):
    secret = "hunter2-secret-value"
    result = tasks.run(f'echo "key {secret}"; echo "key {secret}" >&2; "$RALPH" job -- echo {secret}; : > "$TASK_FOLDER/DONE"', "--prompt", "x",
                       env={"API_TOKEN": secret, "RALPH": RALPH})
    assert result.code == 0, result
    found = [path for path in tasks.root.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert not found and secret not in result.text


# Waiting for a person


@pytest.mark.parametrize("script", [
    "exit 42",
    '"$RALPH" bus post --type wait_without_restart --body "which colour?" > /dev/null',
    ': > "$TASK_FOLDER/WAIT_WITHOUT_RESTART"',
], ids=["exit", "message", "marker"])
def test_wait_without_restart_stops_and_can_go_on(tasks, script):
    result = tasks.run(script, env={"RALPH": RALPH})
    assert result.code == 3, result
    assert [i["status"] for i in tasks.infos()] == ["stopped"]
    state = tasks.status()
    assert state["status"] == "stopped" and state["waits"]
    assert tasks.run(DONE_NOW).code == 0
    assert [i["status"] for i in tasks.infos()] == ["stopped", "completed"]
    assert not (tasks.folder() / "WAIT_WITHOUT_RESTART").exists()


# Stopping


def running_attempt(tasks, task="t"):
    return wait_until(lambda: [i for i in tasks.infos(task) if i and i["status"] == "running" and i["pid"]], what="a running attempt")[0]


def test_the_first_signal_lets_the_attempt_finish(tasks):
    running = tasks.start('until [ -e "$TASK_FOLDER/go" ]; do sleep 0.02; done; echo finished')
    running_attempt(tasks)
    running.signal(signal.SIGINT)
    wait_until(lambda: "shutting down" in running.out + running.err)
    (tasks.folder() / "go").touch()
    result = running.wait()
    assert result.code == 130 and [i["status"] for i in tasks.infos()] == ["completed"], result
    assert tasks.status()["status"] == "stopped"


def test_stop_ends_the_agent_and_restarts_nothing(tasks):
    running = tasks.start("echo started; exec sleep 1000")
    info = running_attempt(tasks)
    result = tasks.command("stop")
    assert result.code == 0 and "stopped" in result.out, result
    assert running.wait().code == 130
    assert [i["status"] for i in tasks.infos()] == ["stopped"] and not os.path.exists(f"/proc/{info['pid']}")
    assert tasks.status()["status"] == "stopped" and (tasks.folder() / "STOP-REQUESTED").exists()
    assert tasks.run(DONE_NOW).code == 0 and not (tasks.folder() / "STOP-REQUESTED").exists()


def test_stop_during_the_restart_delay(tasks):
    running = tasks.start("exit 1", "--restart-delay", "1h")
    wait_until(lambda: tasks.infos() and tasks.infos()[0]["status"] == "failed")
    assert tasks.command("stop").code == 0
    assert running.wait().code == 130 and len(tasks.infos()) == 1


def test_stop_of_a_task_that_does_not_run(tasks):
    tasks.run(DONE_NOW)
    result = tasks.command("stop")
    assert result.code == 0 and not (tasks.folder() / "STOP-REQUESTED").exists()
    assert tasks.project.run("task", "stop", *tasks.place("other")).code == 2


def test_done_from_outside(tasks):
    running = tasks.start("exec sleep 1000", "--done-grace", "50ms")
    running_attempt(tasks)
    assert tasks.command("done", "--message", "good enough").code == 0
    assert running.wait().code == 0 and (tasks.folder() / "DONE").read_text() == "good enough\n"


def test_the_bus_tells_of_every_attempt_and_of_a_completion_once(tasks):
    tasks.run('echo x >> "$TASK_FOLDER/n"; [ $(wc -l < "$TASK_FOLDER/n") -lt 2 ] && exit 7; ' + DONE_NOW)
    told = [(m["type"], m["body"]) for m in tasks.bus()]
    assert told[:4] == [("RUN_START", "attempt 1"), ("RUN_CRASH", "exit code 7"), ("RUN_START", "attempt 2"), ("RUN_STOP", "exit code 0")]
    again = tasks.run("echo never")
    assert again.code == 0 and [(m["type"], m["body"]) for m in tasks.bus()] == told, again
    assert len(tasks.bus(path=tasks.root / "p/PROJECT-MESSAGE-BUS.md")) == 1


def test_the_console_speaks_of_attempts_and_calls_no_good_one_failed(tasks):
    result = tasks.run('case $RALPH_ITERATION in 1) exit 0;; 2) exit 42;; esac')
    assert result.code == 3, result
    lines = result.out.splitlines()
    assert lines[0].endswith("up to 100 attempts") and "▶ Attempt 1/100" in lines and "  2 attempts" in result.out, result
    assert any(line.startswith("✔ agent finished and said nothing") for line in lines), result
    assert any("agent ended with exit code 42" in line for line in lines) and "crashed" not in result.out, result


# What an agent removes


@pytest.mark.parametrize("folder", ["RUN_FOLDER", "TASK_FOLDER"])
def test_an_agent_that_removes_its_folder_ends_no_task(tasks, folder):
    result = tasks.run(f'[ $RALPH_ITERATION = 1 ] && rm -rf "${folder}" && exit 5; {DONE_NOW}', "--prompt", "go")
    assert result.code == 0, result
    assert [r["type"] for r in tasks.records("iteration_started")] == ["iteration_started"] * 2
    assert [i["status"] for i in tasks.infos()] == ["failed", "completed"]
    assert tasks.status()["status"] == "completed"


@pytest.mark.parametrize("folder", ["RUN_FOLDER", "TASK_FOLDER"])
def test_an_agent_that_goes_on_removing_its_folder_ends_no_task(tasks, folder):
    removing = f'i=0; while [ $i -lt 40 ]; do rm -rf "${folder}"; i=$((i+1)); done; exit 5'
    result = tasks.run(f'[ $RALPH_ITERATION = 5 ] || {{ {removing}; }}; {DONE_NOW}', "--prompt", "go")
    assert result.code == 0, result
    assert len(tasks.records("iteration_started")) == 5
    assert tasks.infos()[-1]["status"] == tasks.status()["status"] == "completed"


def test_an_agent_that_removes_its_folder_lets_no_second_supervisor_in(tasks):
    running = tasks.start('rm -rf "$TASK_FOLDER"; mkdir -p "$TASK_FOLDER"; : > "$TASK_FOLDER/gone"; exec sleep 1000')
    wait_until(lambda: (tasks.folder() / "gone").exists(), what="the folder is made anew")
    second = tasks.run(DONE_NOW)
    assert second.code == 2 and f"pid {running.pid}" in second.err, second
    running.signal(signal.SIGHUP)
    assert running.wait().code == 130


def test_a_folder_that_was_made_anew_is_watched(tasks):
    running = tasks.start('[ $RALPH_ITERATION = 1 ] && rm -rf "$TASK_FOLDER" && exit; exec sleep 1000', "--done-grace", "10ms")
    wait_until(lambda: len(tasks.infos()) == 2 and tasks.infos()[1]["pid"], what="the second attempt")
    (tasks.folder() / "DONE").touch()
    assert running.wait(20).code == 0


# Nothing is left


@pytest.mark.parametrize("bad", ["setsid_grandchild", "ignore_sigterm", "double_fork", "stubborn_grandchild"])
def test_nothing_of_an_attempt_is_left(tasks, project, bad):
    assert (HELPERS / bad).exists()
    result = tasks.run(f'{helper(bad)} & sleep 0.2; : > "$TASK_FOLDER/DONE"; exit 0')
    assert result.code == 0, result
    assert not processes_with_marker(project.marker)


@pytest.mark.parametrize("which", ["guardian", "loop"])
def test_a_killed_supervisor_leaves_nothing_and_status_tells_the_truth(tasks, project, which):
    running = tasks.start(f'{helper("setsid_grandchild")} & exec sleep 1000')
    info = running_attempt(tasks)
    os.kill(running.pid if which == "guardian" else running.loop_pid, signal.SIGKILL)
    running.wait()
    wait_until(lambda: not processes_with_marker(project.marker), what="nothing is left")
    state = tasks.status()
    assert state["status"] == "failed" and "killed" in state["reason"] and state["pid"] == 0
    assert tasks.infos()[0]["status"] == "failed" and "killed" in tasks.infos()[0]["error_summary"]
    assert tasks.infos()[0]["run_id"] == info["run_id"] and tasks.infos()[0]["end_time"]
    assert f"ralph runs resume {state['runId']}" in running.err, running.err
    assert "exit code unknown" in tasks.command("status").out
    assert tasks.run(DONE_NOW).code == 0
    assert [i["status"] for i in tasks.infos()] == ["failed", "completed"]
    assert len({r["runId"] for r in tasks.records("run_started") + tasks.records("run_resumed")}) == 1


@pytest.mark.parametrize("killed", [True, False], ids=["killed", "ended"])
def test_gits_lock_of_a_killed_attempt_is_removed_but_not_that_of_another_task(tasks, project, killed):
    project.git_init()
    lock = project.path / ".git/index.lock"
    if killed:
        running = tasks.start("touch .git/index.lock; echo begun >> agent.log; exec sleep 1000")
        wait_until(lambda: (project.path / "agent.log").exists(), what="the agent")
        os.kill(running.loop_pid, signal.SIGKILL)
        running.wait()
    else:
        tasks.run("touch .git/index.lock", "--max-restarts", "1")
    assert lock.exists()
    assert tasks.run(DONE_NOW).code == 0
    assert lock.exists() != killed


def test_a_killed_supervisor_whose_pid_is_another_process_now(tasks):
    tasks.run("exit 0", "--max-restarts", "1")
    path = next((tasks.folder() / "runs").glob("*/run-info.yaml"))
    text = path.read_text().replace("status: completed", "status: running")
    lines = [f"pid: {os.getpid()}" if line.startswith("pid:") else line for line in text.splitlines()]
    path.write_text("\n".join(lines) + "\n")
    assert tasks.command("status").code == 0
    assert tasks.infos()[0]["status"] == "failed"


# Bad input


@pytest.mark.parametrize("options, names", [
    (["--project", "p", "--task", "t"], "--root"),
    (["--root", "r", "--project", "a/b", "--task", "t"], "a/b"),
    (["--root", "r", "--project", "p", "--task", ".."], ".."),
    (["--root", "r", "--project", "p", "--task", "../x"], "../x"),
    (["--root", "r", "--project", "p", "--task", "a\nb"], "control characters"),
    (["--root", "r", "--project", "p", "--task", "x" * 201], "200 bytes"),
    (["--root", "r", "--project", "p", "--task", "t", "--resume"], "ralph runs resume"),
    (["--root", "r", "--project", "p", "--task", "t", "--restart-delay", "5"], "5s"),
    (["--root", "r", "--project", "p", "--task", "t", "--max-restarts", "0"], "--max-restarts"),
    (["--root", "r", "--project", "p", "--task", "t", "--max-restart", "3"], "--max-restarts"),
    (["--root", "r", "--project", "p", "--task", "t", "--poll", "0s"], "--poll"),
    (["--root", "r", "--project", "p", "--task", "t", "--prompt", "a", "--prompt-file", "b"], "--prompt-file"),
    (["--root", "r", "--project", "p", "--task", "t", "--prompt-file", "missing"], "missing"),
    (["--root", "r", "--project", "p", "--task", "t", "--depends-on", "nobody"], "nobody"),
    (["--root", "r", "--project", "p", "--task", "t", "--depends-on", "t"], "itself"),
])
def test_bad_input_is_refused_and_writes_nothing(project, options, names):
    result = project.run("task", "run", *options, "--", "true")
    assert result.code == 2 and names in result.err, result
    assert not (project.path / "r").exists()


def test_a_second_supervisor_is_refused(tasks):
    running = tasks.start("exec sleep 1000")
    running_attempt(tasks)
    tasks.folder("other").mkdir()
    result = tasks.run("echo never", "--depends-on", "other", "--prompt", "another one")
    assert result.code == 2 and str(running.pid) in result.err, result
    assert len(tasks.infos()) == 1
    assert not (tasks.folder() / "TASK.md").exists() and not (tasks.folder() / "task.yaml").exists(), "nothing is written"
    tasks.command("stop")


def test_dry_run_starts_and_writes_nothing(tasks, project):
    result = tasks.run("echo x", "--dry-run", "--prompt", "the prompt")
    assert result.code == 0 and "the prompt" in result.out and not tasks.root.exists(), result
    assert "Guardrails" not in result.out and "within an iteration" not in result.out, result
    limited = tasks.run("echo x", "--dry-run", "--run-timeout", "90s", "--check", "make test")
    assert "attempt 1m30s, silence none" in limited.out and "Check        make test" in limited.out, limited


# Dependencies


def test_a_task_waits_for_what_it_depends_on(tasks):
    first = tasks.start('until [ -e "$TASK_FOLDER/go" ]; do sleep 0.02; done; ' + DONE_NOW, task="first")
    running_attempt(tasks, "first")
    second = tasks.start(DONE_NOW, "--depends-on", "first", task="second")
    wait_until(lambda: (tasks.folder("second") / "journal.jsonl").exists() and
               any(r["rule"] == "task_depends" for r in tasks.records("decided", "second")))
    assert tasks.infos("second") == []
    (tasks.folder("first") / "go").touch()
    assert first.wait().code == 0 and second.wait().code == 0
    assert tasks.status("second")["dependsOn"] == ["first"]


def test_a_wait_does_not_outlast_the_run(tasks):
    tasks.run("exit 0", "--max-restarts", "1", task="first")
    tasks.project.settings(budget={"maxMinutes": 0.02})
    result = tasks.run(DONE_NOW, "--depends-on", "first", task="second")  # "first" is never done
    assert result.code == 1 and "budget.maxMinutes" in result.out, result
    assert [r["rule"] for r in tasks.records("decided", "second")] == ["task_depends", "run_time_spent"]


def test_cycles_are_refused(tasks):
    for task in ("a", "b", "c"):
        tasks.run("exit 0", "--max-restarts", "1", task=task)
    assert tasks.run("exit 0", "--max-restarts", "1", "--depends-on", "a", "--dry-run", task="b").code == 0
    for task, on in (("b", "a"), ("c", "b")):
        running = tasks.start("exit 0", "--depends-on", on, task=task)
        wait_until(lambda task=task: any(r["rule"] == "task_depends" for r in tasks.records("decided", task)))
        tasks.command("stop", task=task)
        running.wait()
    result = tasks.run("exit 0", "--depends-on", "c", task="a")
    assert result.code == 2 and "cycle" in result.err and "a waits for c" in result.err, result
    assert tasks.status("a")["dependsOn"] == []


# Looking and cleaning up


def test_list_output_and_runs(tasks, project):
    tasks.run("echo hello; " + DONE_NOW, task="one")
    tasks.run("echo oops >&2; exit 1", "--max-restarts", "1", task="two")
    listed = json.loads(project.run("task", "list", "--root", tasks.root, "--json").out)
    assert [(t["task"], t["status"]) for t in listed] == [("one", "completed"), ("two", "failed")]
    assert "hello" in project.run("task", "output", *tasks.place("one")).out
    assert project.run("task", "output", *tasks.place("two"), "--file", "stderr").out == "oops\n"
    runs = json.loads(project.run("runs", "list", "--json").out)
    assert {r["folder"] for r in runs} == {str(tasks.folder("one")), str(tasks.folder("two"))}
    run_id = tasks.status("one")["runId"]
    assert run_id in project.run("runs", "show", run_id).out


@pytest.mark.parametrize("command", ["list", "status"])
def test_what_is_told_of_tasks_fits_a_terminal(tasks, project, command):
    tasks.run(f'"{RALPH}" job -- sh -c "echo a rather long complaint that a program prints when it fails >&2; exit 3"; exit 1',
              "--max-restarts", "1")
    where = ["--root", tasks.root] if command == "list" else tasks.place()
    with in_terminal(project, "task", command, *where, width=80) as child:
        assert end_of(child) == 0
        lines = screen(child).splitlines()
    long = [line for line in lines if len(line) > 80 and str(tasks.root) not in line]
    assert not long and any("failed" in line for line in lines), lines
    if command == "status":
        parent, child = tasks.infos()
        assert [line.index(i["run_id"]) for i in (parent, child) for line in lines if i["run_id"] in line] == [2, 4], lines


def test_output_follows_an_attempt_to_its_end(tasks, project):
    running = tasks.start('echo one; until [ -e "$TASK_FOLDER/go" ]; do sleep 0.02; done; echo two; ' + DONE_NOW)
    running_attempt(tasks)
    follow = project.start("task", "output", *tasks.place(), "--follow")
    wait_until(lambda: "one" in follow.out)
    (tasks.folder() / "go").touch()
    assert follow.wait().out.split() == ["one", "two", "work"] and running.wait().code == 0


def test_gc_is_dry_by_default(tasks, project):
    tasks.run(DONE_NOW, task="done")
    tasks.run("exit 1", "--max-restarts", "1", task="failed")
    result = project.run("task", "gc", "--root", tasks.root)
    assert "p/done" in result.out and "--yes" in result.out and tasks.folder("done").exists(), result
    assert "p/failed" not in result.out
    assert project.run("task", "gc", "--root", tasks.root, "--older-than", "1", "--yes").code == 0 and tasks.folder("done").exists()
    assert project.run("task", "gc", "--root", tasks.root, "--yes").code == 0
    assert not tasks.folder("done").exists() and tasks.folder("failed").exists()
    project.run("task", "gc", "--root", tasks.root, "--all", "--yes")
    assert not tasks.folder("failed").exists()


def test_gc_keeps_what_others_wait_for(tasks, project):
    tasks.run(DONE_NOW, task="base")
    tasks.run("exit 1", "--max-restarts", "1", "--depends-on", "base", task="top")
    project.run("task", "gc", "--root", tasks.root, "--yes")
    assert tasks.folder("base").exists()


# At rest, and many at once


def switches(pid):
    """How often a process has given up or lost its processor: one that never runs makes no system call."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        return [line for line in status if "ctxt_switches" in line]


def test_an_idle_supervisor_makes_no_system_calls(tasks):
    running = tasks.start("exec sleep 1000")
    running_attempt(tasks)
    time.sleep(0.5)
    before = [switches(pid) for pid in (running.pid, running.loop_pid)]
    time.sleep(10)
    assert [switches(pid) for pid in (running.pid, running.loop_pid)] == before
    tasks.command("stop")


@pytest.mark.slow
def test_two_hundred_tasks_at_once(tasks, project):
    count = 200
    running = [tasks.start('until [ -e "$GO" ]; do sleep 1; done; ' + DONE_NOW, "--poll", "200ms", task=f"t{n}",
                           env={"GO": tasks.root / "go"}) for n in range(count)]
    wait_until(lambda: len(list(tasks.root.glob("p/t*/runs/*/run-info.yaml"))) == count, timeout=120, what="200 attempts")
    peaks = [peak_kb(pid) for r in running for pid in [r.pid, *children_of(r.pid)]]
    if not SANITIZED:
        assert max(peaks) < 32 * 1024, max(peaks)
    (tasks.root / "go").touch()
    assert {r.wait(timeout=120).code for r in running} == {0}
    assert not processes_with_marker(project.marker)


def test_tasks_need_no_inotify(tasks):
    """Of which a user often has 128 instances."""
    hold = subprocess.Popen(["python3", "-c", "import ctypes,sys\nlibc=ctypes.CDLL(None)\n"
                             "while libc.inotify_init1(0) >= 0: pass\nprint('full', flush=True)\nsys.stdin.read()"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096)))
    try:
        assert hold.stdout.readline() == b"full\n"
        running = tasks.start("echo x", "--restart-delay", "1h", "--poll", "50ms")
        wait_until(lambda: (tasks.folder() / "journal.jsonl").exists() and any(r["rule"] == "task_restart_delay" for r in tasks.records("decided")))
        (tasks.folder() / "DONE").touch()
        assert running.wait(timeout=10).code == 0
    finally:
        hold.kill()
        hold.wait()


# Checks


def test_done_counts_only_when_its_checks_pass(tasks):
    script = 'cat >> "$TASK_FOLDER/told"; echo "$1" >> "$TASK_FOLDER/told"; echo x >> "$TASK_FOLDER/n"; ' + DONE_NOW
    check = f"echo looked; test $(wc -l < {tasks.folder()}/n) -ge 3"
    result = tasks.run(script, "--prompt", "do it", "--check", check, "--check", "true")
    assert result.code == 0, result
    assert len(tasks.infos()) == 3 and (tasks.folder() / "DONE").exists()
    assert [r["outcome"] for r in tasks.records("guardrail_ended")] == ["failed", "passed", "failed", "passed", "passed", "passed"]
    assert [r["rule"] for r in tasks.records("decided") if r["moment"] == "after_checks"] == ["task_unproved"] * 2 + ["task_done"]
    prompts = [path.read_text() for path in sorted(tasks.folder().glob("runs/*/prompt.md"))]
    assert "they don't pass" not in prompts[0] and "failed with exit code 1" in prompts[1] and "looked\n" in prompts[1], prompts
    log = tasks.records("guardrail_ended")[0]["logFile"]
    assert log in result.out
    assert log.startswith(str(tasks.folder())) and open(log).read() == "looked\n" and log in prompts[1]
    assert [m["type"] for m in tasks.bus()].count("WARNING") == 2


def test_a_done_that_is_there_already_is_checked_before_the_first_attempt(tasks):
    tasks.folder().mkdir(parents=True)
    (tasks.folder() / "DONE").touch()
    assert tasks.run("echo never", "--check", "true").code == 0 and tasks.infos() == []
    result = tasks.run(DONE_NOW, "--check", f"test -f {tasks.folder()}/mended", "--max-restarts", "1")
    assert result.code == 1 and len(tasks.infos()) == 1, result
    assert "DONE was removed" in tasks.records("run_ended")[-1]["reason"] and not (tasks.folder() / "DONE").exists()


def test_a_blank_check_is_refused(tasks):
    result = tasks.run(DONE_NOW, "--check", " ")
    assert result.code == 2 and "--check is blank" in result.err and not tasks.folder().exists(), result


# ---- settings, and going on with a task by its run


def test_settings_of_tasks_hold_and_options_win(tasks, project):
    other = project.script("echo 'I am the other'", "other")
    project.settings({"agent": {"command": "no-such-agent"}, "agents": {"other": {"command": str(other)}},
                      "task": {"maxRestarts": 2, "restartDelaySeconds": 0.01, "runTimeoutSeconds": 60, "agent": "other"}})
    words = ["task", "run", *tasks.place(), "-p", "x"]
    result = project.run(*words)
    assert result.code == 1 and len(tasks.infos()) == 2 and tasks.infos()[0]["agent"] == "other", result
    shown = project.run("settings", "show", "--json")
    assert '"maxRestarts": 2' in shown.out, shown
    result = project.run(*words, "--max-restarts", "3")
    assert result.code == 1 and len(tasks.infos()) == 5, result
    settings = tasks.records("run_resumed")[-1]["settings"]["task"]
    assert settings["maxRestarts"] == 3 and settings["restartDelaySeconds"] == 0.01 and settings["childWaitSeconds"] == 300
    result = project.run(*words, "--agent", "no-such-agent")
    assert result.code == 2 and "no-such-agent" in result.err, result


@pytest.mark.parametrize("value, message", [({"maxRestarts": 0}, "maxRestarts"), ({"pollSeconds": 0}, "pollSeconds"),
                                            ({"agent": " "}, "the name of an agent"), ({"restartDelay": 1}, "restartDelay")])
def test_bad_settings_of_tasks_are_refused(tasks, project, value, message):
    project.settings({"task": value})
    result = tasks.run("true")
    assert result.code == 2 and message in result.err and not tasks.folder().exists(), result


def test_runs_of_tasks_are_named_found_and_verified(tasks, project):
    script = '[ "$(ls "$TASK_FOLDER/runs" | wc -l)" -lt 2 ] || : > "$TASK_FOLDER/DONE"'
    assert tasks.run(script, "--max-restarts", "1", "--check", "echo good").code == 1
    run_id = tasks.records("run_started")[0]["runId"]
    elsewhere = project.base / "elsewhere"
    elsewhere.mkdir()
    assert "  p/t  " in project.run("runs", "list").out
    assert f"  p/t in {project.path}  " in project.run("runs", "list", cwd=elsewhere).out
    listed = json.loads(project.run("runs", "list", "--json", cwd=elsewhere).out)
    assert [(r["task"], r["project"]) for r in listed] == [("p/t", str(project.path))]
    # Without an id it is the newest run here; elsewhere there is none.
    assert run_id in project.run("runs", "show").out
    for command in ["show", "verify", "resume"]:
        result = project.run("runs", command, cwd=elsewhere)
        assert result.code == 2 and "there are no runs" in result.err, result
    assert project.run("runs", "verify").code == 0
    result = project.run("runs", "resume")
    assert result.code == 0 and tasks.folder().joinpath("DONE").exists(), result
    for where in [project.path, elsewhere]:
        result = project.run("runs", "verify", run_id, "--json", cwd=where)
        said = {one["what"]: one["fits"] for one in json.loads(result.out)["findings"]}
        assert said == {"journal": True, "its end": True, "receipt": True, "logs": True, "commits": True}, result
    assert json.loads((tasks.folder() / "receipt.json").read_text())["way"] == "task"
    log = tasks.folder() / tasks.records("guardrail_ended")[0]["logFile"]
    log.write_text("better\n")
    result = project.run("runs", "verify", run_id)
    assert result.code == 1 and "was changed" in result.out, result
    assert project.run("runs", "verify", "20200101-000000-0000").code == 2


def test_what_is_put_back_in_a_task_is_kept_as_it_was(tasks, project):
    """The version in the task's folder is masked; the exact one is the user's alone."""
    secret = "hunter2-very-secret"
    (project.path / "conf.env").write_text("A=1\n")
    project.settings(protect={"paths": ["conf.env"]})
    result = tasks.run(f'echo TOKEN={secret} > conf.env; : > "$TASK_FOLDER/DONE"', env={"MY_TOKEN": secret})
    assert result.code == 0 and (project.path / "conf.env").read_text() == "A=1\n", result
    changed, = tasks.records("files_changed")[0]["files"]
    exact = Path(changed["exact"])
    assert exact.read_text() == f"TOKEN={secret}\n" and exact.stat().st_mode & 0o777 == 0o600
    assert not exact.is_relative_to(tasks.root) and secret not in (tasks.folder() / changed["kept"]).read_text()
    assert tasks.run(': > "$TASK_FOLDER/DONE"').code == 0
    (tasks.folder() / "DONE").unlink()
    assert tasks.run(': > "$TASK_FOLDER/DONE"').code == 0, "it goes on after it was done"
    assert project.run("task", "gc", "--root", tasks.root, "--yes").code == 0 and not exact.exists()


def test_a_task_goes_on_by_the_id_of_its_run(tasks, project):
    script = 'echo "attempt"; [ "$(ls "$TASK_FOLDER/runs" | wc -l)" -lt 3 ] || : > "$TASK_FOLDER/DONE"'
    result = tasks.run(script, "--max-restarts", "1")
    run_id = tasks.records("run_started")[0]["runId"]
    assert result.code == 1 and f"ralph runs resume {run_id}" in result.text, result
    listed = json.loads(project.run("runs", "list", "--json").out)
    assert [(r["id"], r["resumable"]) for r in listed] == [(run_id, True)]
    elsewhere = project.base / "elsewhere"
    elsewhere.mkdir()
    result = project.run("runs", "resume", run_id, cwd=elsewhere)
    assert result.code == 1 and len(tasks.infos()) == 2, result
    assert tasks.infos()[1]["cwd"] == str(project.path)  # it goes on where it was started
    result = project.run("runs", "resume", run_id, "--max-minutes", "5")
    assert result.code == 0 and len(tasks.infos()) == 3, result
    assert tasks.records("run_resumed")[-1]["settings"]["budget"]["maxMinutes"] == 5
    result = project.run("runs", "resume", run_id)
    assert result.code == 2 and "it is complete" in result.err, result


def test_a_task_that_can_not_be_resumed_says_why(tasks, project):
    env = {"MY_API_TOKEN": "secret-word-of-mine-1234"}
    assert tasks.run('true "secret-word-of-mine-1234"', "--max-restarts", "1", env=env).code == 1
    run_id = tasks.records("run_started")[0]["runId"]
    result = project.run("runs", "resume", run_id, "-n", "5")
    assert result.code == 2 and "--max-restarts" in result.err, result
    result = project.run("runs", "resume", run_id)
    assert result.code == 2 and "secret" in result.err and "secret-word" not in result.err, result
    assert tasks.run("true", "--max-restarts", "1", task="u").code == 1
    journal = tasks.folder("u") / "journal.jsonl"
    run_id = tasks.records("run_started", task="u")[0]["runId"]
    for seal in (project.home / ".local/state/ralph/projects").glob(f"*/{run_id}"):
        seal.unlink()
    result = project.run("runs", "resume", run_id)
    assert result.code == 2 and "was not started here by this user" in result.err and journal.exists(), result


def test_gc_of_a_project_that_is_not_there_is_a_mistake(project):
    (project.base / "tasks").mkdir()
    result = project.run("task", "gc", "--root", project.base / "tasks", "--project", "nosuch", "--yes")
    assert result.code == 2 and '"nosuch"' in result.err, result
