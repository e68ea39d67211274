"""ralph task: restart until DONE, lose nothing, leave nothing."""
import json
import os
import resource
import signal
import subprocess
import time

import pytest

from support import HELPERS, RALPH, SANITIZED, children_of, helper, peak_kb, processes_with_marker, wait_until
from task_support import Tasks

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
    assert [m["type"] for m in tasks.bus()] == ["RUN_STOP", "FACT"]
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
    assert tasks.run(DONE_NOW).code == 0
    assert [i["status"] for i in tasks.infos()] == ["failed", "completed"]
    assert len({r["runId"] for r in tasks.records("run_started") + tasks.records("run_resumed")}) == 1


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
    result = tasks.run("echo never")
    assert result.code == 2 and str(running.pid) in result.err, result
    assert len(tasks.infos()) == 1
    tasks.command("stop")


def test_dry_run_starts_and_writes_nothing(tasks, project):
    result = tasks.run("echo x", "--dry-run", "--prompt", "the prompt")
    assert result.code == 0 and "the prompt" in result.out and not tasks.root.exists(), result


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
