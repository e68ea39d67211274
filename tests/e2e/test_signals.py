"""Signals, terminals, and every way to kill ralph or one of its processes."""
import json
import os
import resource
import signal
import subprocess
import time

import pexpect
import pytest

from support import RALPH, children_of, helper, read_lines, wait_until

DONE = "echo '<response>DONE</response>'"
# Says when it has begun, notes every signal that reaches it, and works until the file `go` is there.
PATIENT = """
for s in INT TERM HUP QUIT; do trap "echo $s >> signals" $s; done
echo begun >> agent.log
while [ ! -e go ]; do sleep 0.02; done
echo finished >> agent.log
echo working
"""
LASTING = "echo begun >> agent.log; exec sleep 100"


def begun(project, times=1):
    wait_until(lambda: read_lines(project.path / "agent.log").count("begun") >= times, what="the agent's start")


def start(project, *arguments, **how):
    running = project.start("run", "-p", "do it", *arguments, **how)
    begun(project)
    return running


def noted(running, text="Received signal"):
    wait_until(lambda: text in running.err, what=text)


def state_shown(project):
    """What `ralph runs show` says of the last run: it must always be able to."""
    shown = project.run("runs", "show", "last")
    assert shown.code == 0, shown
    as_json = project.run("runs", "show", "last", "--json")
    assert as_json.code == 0, as_json
    return shown.out, json.loads(as_json.out)


def assert_new_run_works(project):
    project.agent_script(DONE, name="healthy")
    result = project.run("run", "-p", "again", "-m", "1", "--trust")
    assert result.code == 0, result


# ---- from a real terminal

def terminal(project, *arguments):
    child = pexpect.spawn(str(RALPH), ["run", "-p", "do it", *arguments], cwd=str(project.path), timeout=20,
                          env=project.environment(TERM="xterm", RALPH_TRUST="1"), encoding="utf-8", dimensions=(24, 120))
    begun(project)
    return child


def ended(child):
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus


def test_the_first_ctrl_c_lets_the_agent_finish_and_never_reaches_it(project):
    project.agent_script(PATIENT)
    child = terminal(project)
    child.sendintr()
    child.expect_exact("Received signal, shutting down...")
    assert read_lines(project.path / "agent.log") == ["begun"], "it still works"
    (project.path / "go").touch()
    assert ended(child) == 130
    assert read_lines(project.path / "agent.log") == ["begun", "finished"]
    assert not (project.path / "signals").exists(), "the agent itself got no signal"
    assert project.last("run_ended")["status"] == "interrupted" and project.last("agent_ended")["outcome"] == "ok"
    project.nothing_left()


def test_the_second_ctrl_c_ends_everything_quickly(project):
    project.agent_script(f"{helper('setsid_grandchild')}; " + LASTING)
    child = terminal(project)
    child.sendintr()
    child.expect_exact("Received signal, shutting down...")
    began = time.monotonic()
    child.sendintr()
    assert ended(child) == 130
    assert time.monotonic() - began < 4
    assert not project.processes()
    assert [s["count"] for s in project.records("signal_received")] == [1, 2]
    assert project.last("agent_ended")["outcome"] == "interrupted"


def test_the_second_ctrl_c_kills_even_an_agent_that_ignores_it_after_the_grace(project):
    project.agent_script(f"echo begun >> agent.log; exec {helper('ignore_sigterm')}")
    child = terminal(project)
    child.expect_exact("ready")
    child.sendintr()
    child.expect_exact("Received signal, shutting down...")
    began = time.monotonic()
    child.sendintr()
    assert ended(child) == 130
    assert 4.5 < time.monotonic() - began < 9
    assert not project.processes()


def test_closing_the_terminal_ends_everything_at_once(project):
    project.agent_script(LASTING)
    child = terminal(project)
    os.close(child.child_fd)  # as a terminal window that is closed
    project.nothing_left()
    assert project.last("signal_received")["signal"] == "SIGHUP"
    assert project.last("run_ended")["status"] == "interrupted"


def test_ctrl_backslash_ends_everything_at_once(project):
    project.agent_script(LASTING)
    child = terminal(project)
    child.send("\x1c")
    assert ended(child) == 130
    assert not project.processes()


def test_ctrl_z_pauses_the_whole_tree_and_its_time_outs_and_fg_goes_on(project):
    project.agent_script(PATIENT + DONE, timeoutSeconds=1.5)
    shell = pexpect.spawn("/bin/bash", ["--norc", "--noprofile", "-i"], cwd=str(project.path), timeout=20, encoding="utf-8",
                          env=project.environment(TERM="dumb", PS1="$ ", RALPH_TRUST="1"), dimensions=(24, 120))
    shell.sendline(f"{RALPH} run -p 'do it' -m 1")
    begun(project)
    shell.send("\x1a")
    shell.expect_exact("Stopped")
    states = {pid: open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] for pid, command in project.processes().items()
              if "bash" not in command}
    assert len(states) >= 3 and set(states.values()) == {"T"}, "guardian, loop, agent and what it has started"
    time.sleep(1.6)  # longer than the agent may take, which does not count
    shell.sendline("touch go; fg; echo code=$?")
    shell.expect(r"code=(\d+)\r")
    assert shell.match.group(1) == "0"
    shell.close(force=True)
    project.nothing_left()


# ---- sent by others

@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_one_signal_lets_the_agent_finish_and_runs_no_guardrail(project, number):
    project.agent_script(PATIENT + DONE)
    project.guardrails("touch guarded")
    running = start(project)
    running.signal(number)
    noted(running, "Received signal, shutting down...")
    (project.path / "go").touch()
    result = running.wait()
    assert result.code == 130, result
    assert not (project.path / "guarded").exists() and not (project.path / "signals").exists()
    assert "Interrupted" in result.out
    project.nothing_left()


def test_two_sigterms_end_everything(project):
    project.agent_script(LASTING)
    running = start(project)
    running.signal(signal.SIGTERM)
    noted(running)
    running.signal(signal.SIGTERM)
    result = running.wait(10)
    assert result.code == 130 and not project.processes(), result


def test_sigterm_twice_to_the_loop_process_itself_is_the_same(project):
    project.agent_script(LASTING)
    running = start(project)
    loop = running.loop_pid
    os.kill(loop, signal.SIGTERM)
    noted(running)
    os.kill(loop, signal.SIGTERM)
    assert running.wait(10).code == 130 and not project.processes()


def test_sighup_ends_everything_at_once(project):
    project.agent_script(f"{helper('double_fork')}; " + LASTING)
    running = start(project)
    running.signal(signal.SIGHUP)
    result = running.wait(10)
    assert result.code == 130 and result.seconds < 8 and not project.processes(), result
    assert project.last("agent_ended")["outcome"] == "interrupted"


def test_under_nohup_sighup_is_ignored(project):
    project.agent_script(PATIENT + DONE)
    running = start(project, "-m", "1", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    running.signal(signal.SIGHUP)
    os.kill(running.loop_pid, signal.SIGHUP)
    (project.path / "go").touch()
    result = running.wait()
    assert result.code == 0 and not project.records("signal_received"), result


def test_sigterm_during_a_guardrail_lets_it_finish_and_stops_before_the_next(project):
    project.agent_script(DONE)
    project.guardrails("echo begun >> agent.log; while [ ! -e go ]; do sleep 0.02; done; touch first", "touch second")
    running = start(project)
    running.signal(signal.SIGTERM)
    noted(running)
    (project.path / "go").touch()
    assert running.wait().code == 130
    assert (project.path / "first").exists() and not (project.path / "second").exists()
    assert project.last("guardrail_ended")["outcome"] == "passed"


def test_two_sigterms_during_a_guardrail_end_it(project):
    project.agent_script(DONE)
    project.guardrails("echo begun >> agent.log; sleep 100")
    running = start(project)
    running.signal(signal.SIGTERM)
    noted(running)
    running.signal(signal.SIGTERM)
    assert running.wait(10).code == 130 and not project.processes()
    assert project.last("guardrail_ended")["outcome"] == "interrupted"


def test_a_signal_during_the_last_guardrail_is_an_interruption_and_not_complete(project):
    project.agent_script(DONE)
    project.guardrails("echo begun >> agent.log; while [ ! -e go ]; do sleep 0.02; done")
    running = start(project, "-m", "1")
    running.signal(signal.SIGINT)
    noted(running)
    (project.path / "go").touch()
    assert running.wait().code == 130


def test_a_signal_during_the_pause_before_a_retry_ends_the_pause(project):
    project.agent_script("echo begun >> agent.log; exit 1", retry={"backoffSeconds": 50})
    running = start(project)
    wait_until(lambda: "try 2 of" in running.out, what="the pause")
    began = time.monotonic()
    running.signal(signal.SIGTERM)
    assert running.wait(10).code == 130
    assert time.monotonic() - began < 2 and len(project.records("agent_started")) == 1


def test_a_signal_before_the_agent_has_begun_never_leaves_anything(project):
    project.agent_script("sleep 0.05; echo working")
    for delay in (0, 0.002, 0.005, 0.01, 0.02, 0.04):
        running = project.start("run", "-p", "do it", "-m", "2")
        time.sleep(delay)
        running.signal(signal.SIGTERM)
        result = running.wait(15)
        assert result.code in (130, -signal.SIGTERM, 128 + signal.SIGTERM), result
        project.nothing_left()


def test_signals_that_mean_nothing_are_ignored_or_end_ralph_but_leave_nothing(project):
    project.agent_script(LASTING)
    running = start(project)
    running.signal(signal.SIGUSR1)
    running.wait(10)
    project.nothing_left()


# ---- killed

def family():
    return f"{helper('setsid_grandchild')}; {helper('double_fork')}; {helper('stubborn_grandchild')}; sleep 99 & " + LASTING


def kill_started(running):
    os.kill(running.pid, signal.SIGKILL)


def kill_loop(running):
    os.kill(running.loop_pid, signal.SIGKILL)


def kill_group(running):
    os.killpg(running.pid, signal.SIGKILL)


def kill_agent_and_started(running):
    agents = [c for c in children_of(running.loop_pid)]
    for pid in [*agents, running.pid]:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("kill", [kill_started, kill_loop, kill_group, kill_agent_and_started])
def test_after_sigkill_nothing_is_left_and_the_journal_can_be_read(project, kill):
    project.agent_script(family())
    running = start(project, start_new_session=True)
    wait_until(lambda: len(project.processes()) >= 7, what="the whole family")
    kill(running)
    running.wait(10)
    project.nothing_left(8)
    # A process that is gone for everybody may hold its lock for another moment.
    wait_until(lambda: ": running" not in state_shown(project)[0], what="the lock is free")
    text, facts = state_shown(project)
    assert "crashed" in text or "interrupted" in text, text
    assert "complete" not in json.dumps(facts).lower().replace("completionresponse", ""), facts
    project.journal()
    assert_new_run_works(project)


def test_killing_the_loop_is_reported_by_the_process_that_the_user_started(project):
    project.agent_script(LASTING)
    running = start(project)
    os.kill(running.loop_pid, signal.SIGKILL)
    result = running.wait(10)
    assert result.code == 128 + signal.SIGKILL and "SIGKILL" in result.err, result
    assert f"to go on: ralph runs resume {project.run_folder().name}" in result.err, result


def test_killing_the_guardian_kills_the_run(project):
    """As if both had been killed: one state to resume from, and a line to type."""
    project.agent_script(LASTING)
    running = start(project)
    kill_started(running)
    running.wait(10)
    wait_until(lambda: f"ralph runs resume {project.run_folder().name}" in running.err, what="the line to type")
    project.nothing_left()
    assert not project.records("run_ended")
    listed = json.loads(project.run("runs", "list", "--json").out)
    assert [(run["state"], run["resumable"]) for run in listed] == [("crashed", True)]


def test_killing_the_guardian_during_a_guardrail_and_during_a_pause_leaves_nothing(project):
    project.agent_script("echo begun >> agent.log; exit 1", retry={"backoffSeconds": 50})
    running = start(project)
    wait_until(lambda: "try 2 of" in running.out, what="the pause")
    kill_started(running)
    running.wait(10)
    project.nothing_left(5)
    (project.path / "agent.log").unlink()
    project.agent_script(DONE)
    project.guardrails(f"{helper('setsid_grandchild')}; echo begun >> agent.log; sleep 100")
    running = start(project, "--trust")
    kill_started(running)
    running.wait(10)
    project.nothing_left(8)


@pytest.mark.slow
def test_sigkill_at_any_moment_leaves_a_readable_journal_and_no_process(project):
    project.agent_script(f"{helper('setsid_grandchild')}; echo working")
    project.guardrails("true")
    for n in range(12):
        running = project.start("run", "-p", "do it", "-m", "50")
        time.sleep(0.01 + 0.023 * n)
        (kill_started if n % 2 else kill_loop)(running)
        running.wait(10)
        project.nothing_left(8)
        for folder in project.run_folders():
            if (folder / "journal.jsonl").exists():
                project.journal(folder)
    listed = project.run("runs", "list")
    assert listed.code == 0, listed
    assert_new_run_works(project)


def test_an_agent_that_kills_the_loop_ends_with_it(project):
    project.agent_script(f"{helper('setsid_grandchild')}; kill -9 $PPID; " + LASTING)
    result = project.run("run", "-p", "do it", timeout=15)
    assert result.code == 128 + signal.SIGKILL, result
    project.nothing_left()
    assert_new_run_works(project)


def test_an_agent_that_stops_the_loop_does_not_make_it_immune_to_signals(project):
    project.agent_script("echo begun >> agent.log; kill -STOP $PPID; exec sleep 100")
    running = start(project)
    running.signal(signal.SIGTERM)
    noted(running)
    running.signal(signal.SIGTERM)
    assert running.wait(10).code == 130 and not project.processes()


def test_a_burst_of_signals_is_no_fault_and_one_more_ends_everything(project):
    # Signals of one kind that come faster than they are heard are one; the burst is one request or several.
    project.agent_script(LASTING)
    running = start(project)
    for _ in range(1000):
        running.signal(signal.SIGTERM)
    noted(running)
    running.signal(signal.SIGTERM)
    assert running.wait(10).code == 130 and not project.processes()
    project.journal()


def test_a_commit_hook_that_hangs_can_be_ended_and_leaves_nothing(project):
    project.git_init()
    project.agent_script('case "$1" in *"commit message"*) echo Change it;; *) date > file; ' + DONE + ";; esac")
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    hook = project.path / ".git/hooks/pre-commit"
    hook.write_text(f"#!/bin/sh\n{helper('double_fork')}\necho begun >> agent.log\nsleep 100\n")
    hook.chmod(0o755)
    running = start(project)
    running.signal(signal.SIGTERM)
    noted(running)
    running.signal(signal.SIGTERM)
    assert running.wait(12).code == 130 and not project.processes()


def test_what_a_commit_hook_leaves_behind_is_ended_and_reported(project):
    project.git_init()
    project.agent_script('case "$1" in *"commit message"*) echo Change it;; *) date > file; ' + DONE + ";; esac")
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    hook = project.path / ".git/hooks/post-commit"
    hook.write_text(f"#!/bin/sh\n{helper('double_fork')}\n")
    hook.chmod(0o755)
    result = project.run("run", "-p", "do it", "-m", "1")
    assert result.code == 0 and project.last("processes_swept")["after"] == "scm", result
    assert not project.processes()


# ---- two at once

def test_a_second_run_in_the_same_project_is_refused_and_the_first_is_undisturbed(project):
    project.agent_script(PATIENT + DONE)
    running = start(project, "-m", "1")
    second = project.run("run", "-p", "me too")
    assert second.code == 2, second
    assert str(running.pid) in second.err and project.run_folder().name in second.err, second
    assert len(project.run_folders()) == 1, "nothing is written for a run that was refused"
    assert running.process.poll() is None
    (project.path / "go").touch()
    assert running.wait().code == 0
    assert_new_run_works(project)


def test_of_many_runs_that_start_at_once_exactly_one_works(project):
    project.agent_script(PATIENT + DONE)
    many = [project.start("run", "-p", "do it", "-m", "1") for _ in range(6)]
    begun(project)
    wait_until(lambda: sum(r.process.poll() is not None for r in many) == 5, what="five refusals")
    (project.path / "go").touch()
    results = [r.wait() for r in many]
    assert sorted(r.code for r in results) == [0, 2, 2, 2, 2, 2], results
    assert all("another ralph run" in r.err for r in results if r.code == 2)
    assert read_lines(project.path / "agent.log") == ["begun", "finished"]


def test_the_pid_that_a_refusal_names_is_the_one_to_end(project):
    project.agent_script(LASTING)
    running = start(project)
    second = project.run("run", "-p", "me too")
    assert f"kill {running.pid}" in second.err, second
    running.signal(signal.SIGTERM)
    noted(running)
    running.signal(signal.SIGTERM)
    assert running.wait(10).code == 130


def test_a_run_in_another_folder_is_not_refused(project):
    project.agent_script(PATIENT + DONE)
    running = start(project)
    other = project.base / "other"
    (other / ".ralph").mkdir(parents=True)
    agent = project.script(DONE, "other agent")
    (other / ".ralph/settings.json").write_text(json.dumps({"agent": {"command": str(agent)}}))
    result = project.run("run", "-p", "do it", cwd=other)
    assert result.code == 0, result
    (project.path / "go").touch()
    running.wait()


def test_a_lock_of_a_dead_run_does_not_hinder(project):
    project.settings()
    (project.ralph / "lock").write_text('{"runId":"20200101-000000-0000","pid":1,"startTime":"2020-01-01T00:00:00.000Z"}\n')
    assert_new_run_works(project)


def test_a_leftover_of_a_killed_run_does_not_hold_the_lock(project):
    project.agent_script(LASTING)
    running = start(project)
    kill_loop(running)
    running.wait(10)
    assert_new_run_works(project)


def test_an_agent_that_starts_ralph_in_its_own_project_is_refused_and_goes_on(project):
    project.agent_script(f'[ "$1" = inner ] && exit 0; "{RALPH}" run -p inner; echo "code $?" > inner; {DONE}')
    result = project.run("run", "-p", "outer", "-m", "1")
    assert result.code == 0 and read_lines(project.path / "inner") == ["code 2"], result


# ---- nobody listens

def test_a_closed_standard_output_does_not_end_the_run(project):
    project.agent_script("echo line; echo line >> turns; [ $RALPH_ITERATION != 3 ] || " + DONE)
    script = f'"{RALPH}" run -p "do it" -m 3; echo $? > code'
    subprocess.run(["sh", "-c", f"({script}) | head -1"], cwd=project.path, env=project.environment(), timeout=30, check=True,
                   capture_output=True)
    wait_until(lambda: read_lines(project.path / "code") == ["0"], what="exit code 0")
    assert len(read_lines(project.path / "turns")) == 3 and project.last("run_ended")["status"] == "complete"


@pytest.mark.parametrize("arguments", [[], ["--json"], ["-V"]], ids=["plain", "json", "verbose"])
def test_a_full_device_as_output_does_not_break_the_run(project, arguments):
    project.agent_script("echo line; echo err >&2; [ $RALPH_ITERATION != 2 ] || " + DONE)
    project.guardrails("true")
    with open("/dev/full", "w") as full:
        result = project.run("run", "-p", "do it", "-m", "2", *arguments, stdout=full, stderr=full)
    assert result.code == 0, result


@pytest.mark.parametrize("redirect", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_never_mix_into_ralphs_own_files(project, redirect):
    project.agent_script("echo a line of the agent; echo err >&2; " + DONE)
    project.guardrails("true")
    code = subprocess.run(["sh", "-c", f'exec "{RALPH}" run -p "do it" -m 1 {redirect}'], cwd=project.path,
                          env=project.environment(), timeout=30, capture_output=True).returncode
    assert code == 0
    assert project.last("run_ended")["status"] == "complete"  # and every line of the journal parses
    assert list(json.loads((project.ralph / "lock").read_text())) == ["runId", "pid", "loop", "startTime"]
    assert (project.run_folder() / "agent_1.out").read_text() == "a line of the agent\n<response>DONE</response>\n"


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["run", "--help"], ["settings", "schema"], ["runs", "list"],
                                       ["nonsense"], ["doctor"], ["run", "-p", "x", "--dry-run"]])
def test_no_command_crashes_when_its_output_goes_to_a_full_device(project, arguments):
    project.agent_script(DONE)
    with open("/dev/full", "w") as full:
        result = project.run(*arguments, stdout=full, stderr=full)
    assert 0 <= result.code <= 2, result


def test_a_console_that_nobody_reads_does_not_make_ralph_deaf_to_signals(project):
    project.agent_script("echo begun >> agent.log; exec " + helper("flood_forever"))
    reader, writer = os.pipe()
    running = start(project, stdout=writer)
    os.close(writer)
    time.sleep(0.3)  # the pipe of the console is full by now; there is no event for that
    running.signal(signal.SIGTERM)
    noted(running)
    running.signal(signal.SIGTERM)
    result = running.wait(12)
    os.close(reader)
    assert result.code == 130 and not project.processes(), result


def test_a_console_that_nobody_reads_does_not_keep_anything_alive_when_ralph_is_killed(project):
    project.agent_script("echo begun >> agent.log; exec " + helper("flood_forever"))
    reader, writer = os.pipe()
    running = start(project, stdout=writer)
    os.close(writer)
    time.sleep(0.3)
    kill_started(running)
    try:
        project.nothing_left(8)
    finally:
        os.close(reader)


def test_a_command_that_ends_ralph_by_time_gives_the_agent_its_chance(project):
    # timeout(1) sends SIGTERM to its child, and at once to its whole group: the kernel makes one of two that nobody has taken. That
    # ralph is not as quick as to take the first one before the second is sent is left to chance, hence it is stopped meanwhile.
    project.agent_script(PATIENT)
    process = subprocess.Popen(["timeout", "1", str(RALPH), "run", "-p", "do it"], cwd=project.path, env=project.environment(),
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        begun(project)
        ralph = int(open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()[0])
        os.kill(ralph, signal.SIGSTOP)  # timeout continues it after its signals
        wait_until(lambda: project.records("signal_received"), what="the signal")
        time.sleep(0.2)
        assert [s["count"] for s in project.records("signal_received")] == [1]
        (project.path / "go").touch()
        process.communicate(timeout=10)
        assert read_lines(project.path / "agent.log") == ["begun", "finished"]
    finally:
        (project.path / "go").touch()
        process.communicate(timeout=15)


@pytest.mark.slow  # the sanitizers' build needs descriptors for libraries of its own
def test_without_a_guardian_nothing_is_started(project):
    project.agent_script(f"touch started; {DONE}")
    for most in (3, 4, 5):  # descriptors: none is left for the pipe between guardian and loop
        result = subprocess.run([str(RALPH), "run", "-p", "do it"], cwd=project.path, env=project.environment(), capture_output=True, text=True,
                                timeout=30, preexec_fn=lambda n=most: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)))
        assert result.returncode == 2, result
        assert not (project.path / "started").exists()
    result = subprocess.run([str(RALPH), "run", "-p", "do it"], cwd=project.path, env=project.environment(), capture_output=True, text=True,
                            timeout=30, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4)))
    assert "cannot start the process that guards the run" in result.stderr, result


def test_an_agent_that_removes_ralphs_folder_ends_no_journal(project):
    project.agent_script("rm -rf .ralph; echo working")
    result = project.run("run", "-p", "do it", "-m", "3")
    assert result.code == 1, result
    types = [record["type"] for record in project.journal()]
    assert types[0] == "run_started" and types[-1] == "run_ended" and types.count("iteration_ended") == 3, types
    shown = project.run("runs", "show")
    assert "damaged" not in shown.out, shown


def test_every_decision_says_what_was_seen(project):
    project.agent_script("echo working")
    project.run("run", "-p", "do it", "-m", "2")
    decided = project.records("decided")
    assert decided and all(record["observation"]["clock"]["now"] for record in decided), decided
