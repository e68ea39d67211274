"""Processes that are not ralph's, waits that must end, and kernels that lack something."""
import errno
import fcntl
import gzip
import json
import os
import re
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest

from support import RALPH, SANITIZED, helper, ordinary_user, read_lines, wait_until
from task_support import Tasks

DONE = "echo '<response>DONE</response>'"
# The loop, which is the agent's parent, and its guardian.
LOOP = "$PPID"


# Before a command: no control group can be made, by root neither.
NO_GROUPS = "unshare -m --propagation private sh -c 'mount -t tmpfs none /sys/fs/cgroup && exec \"$@\"' - "


def run_on(project, *denied, arguments=("run", "-p", "do it", "-m", "1"), timeout=40, groups=True, **how):
    """Runs ralph where these system calls fail: {"pidfd_open": errno.ENOSYS}."""
    words = helper("old_kernel", *(f"{name}={number}" for name, number in denied), "--", RALPH, *arguments)
    return run_in(project, words, timeout, groups, **how)


def run_in(project, words, timeout=40, groups=True, **how):
    """Runs a command line, perhaps where no control group can be made."""
    if not groups and os.geteuid() == 0:
        words = NO_GROUPS + words
    return subprocess.run(["/bin/sh", "-c", "exec " + words], cwd=project.path, env=project.environment(), capture_output=True,
                          text=True, timeout=timeout, **how)


def skip_if_refused(ended):
    if "mount:" in ended.stderr or "unshare:" in ended.stderr:
        pytest.skip("a mount of its own was refused: " + ended.stderr.strip())
    if "hold_signals:" in ended.stderr:
        pytest.skip(ended.stderr.strip())


NO_PIDFD = [("pidfd_open", errno.ENOSYS), ("pidfd_send_signal", errno.ENOSYS)]


# ---- whose processes

def in_bash(project, script, timeout=30):
    return subprocess.run(["/bin/bash", "-c", script], cwd=project.path, env=project.environment(RALPH=RALPH), timeout=timeout,
                          capture_output=True, text=True)


def test_a_filter_that_the_shell_put_behind_ralph_gets_everything(project):
    project.agent_script(f"{helper('setsid_grandchild')}; {DONE}")
    ended = in_bash(project, '"$RALPH" run -p "do it" -m 1 > >(sleep 0.2; gzip > log.gz; touch zipped)')
    assert ended.returncode == 0, ended
    wait_until((project.path / "zipped").exists, what="the end of gzip")
    assert "Complete" in gzip.decompress((project.path / "log.gz").read_bytes()).decode()
    assert len(project.last("processes_swept")["ended"]) == 1, "what the agent left is ended as ever"
    project.nothing_left()


def test_what_an_entrypoint_has_started_before_is_neither_ended_nor_counted(project):
    project.agent_script(f"echo begun >> agent.log; sleep 100 & kill -9 {LOOP}; wait")
    ended = in_bash(project, """(sleep 301 & echo $! > grandchild; exec sleep 300) >/dev/null 2>&1 & echo $! > child
        until [ -s grandchild ]; do sleep 0.01; done; exec "$RALPH" run -p "do it" -m 1""")
    assert ended.returncode == 128 + signal.SIGKILL, ended
    # The sleep, and the agent itself if the kernel has not ended it yet.
    assert re.search("ended [12] process", ended.stderr), ended
    spared = [int((project.path / name).read_text()) for name in ("child", "grandchild")]
    assert set(spared) <= set(project.processes()), "both sleeps live"
    for pid in spared:
        os.kill(pid, signal.SIGKILL)
    project.nothing_left()


def test_an_orphan_of_what_was_there_before_is_spared_too(project):
    # It is started during the run and becomes the guardian's child.
    project.agent_script(f"until [ -s orphan ]; do sleep 0.02; done; kill -9 {LOOP}; sleep 100")
    ended = in_bash(project, """(sleep 0.3; (sleep 300 & echo $! > orphan)) >/dev/null 2>&1 & exec "$RALPH" run -p "do it" -m 1""")
    assert ended.returncode == 128 + signal.SIGKILL, ended
    orphan = int((project.path / "orphan").read_text())
    assert list(project.processes()) == [orphan]
    os.kill(orphan, signal.SIGKILL)


# ---- waits that never end

def test_a_leftover_whose_main_thread_has_exited_is_ended(project):
    project.agent_script(f"{helper('threads_only')}; {DONE}")
    result = project.run("run", "-p", "do it", "-m", "1", timeout=20)
    assert result.code == 0, result
    assert len(project.last("processes_swept")["ended"]) == 1
    project.nothing_left()


def with_own_proc(project, options, script, **how):
    """Runs a script of sh in which /proc is mounted anew with these options, or not at all."""
    mount = f"mount -t proc -o {options} proc /proc" if options else "mount -t tmpfs none /proc"
    words = ["unshare", "-m", "--propagation", "private", "/bin/sh", "-c", f"{mount} && {script}"]
    ended = subprocess.run(words, cwd=project.path, env=project.environment(RALPH=RALPH), capture_output=True, text=True,
                           timeout=40, **how)
    if ended.returncode != 0 and ("unshare" in ended.stderr or "mount:" in ended.stderr):
        pytest.skip("a mount of its own was refused: " + ended.stderr.strip())
    return ended


def test_what_proc_does_not_show_is_said_and_waited_for_once(project):
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    project.agent_script("echo begun >> agent.log; if [ $RALPH_ITERATION = 1 ]; then setsid sleep 100 >/dev/null 2>&1 & fi; echo working")
    began = time.monotonic()
    ended = with_own_proc(project, "", '"$RALPH" run -p "do it" -m 3')
    assert ended.returncode == 1 and len(read_lines(project.path / "agent.log")) == 3, ended
    assert "something unknown that /proc does not show" in ended.stdout, ended
    assert time.monotonic() - began < 20
    assert len(project.records("processes_swept")) == 1


def test_a_child_that_hidepid_hides_is_ended(project):
    how = ordinary_user(project, project.path, project.ralph.parent)
    # A program without read permission can't be inspected: its /proc entry belongs to root, and hidepid=2 hides it.
    hidden = project.base / "hidden"
    hidden.write_bytes(open("/bin/sleep", "rb").read())
    hidden.chmod(0o711)
    project.agent_script(f"setsid {hidden} 100 >/dev/null 2>&1 & echo begun; {DONE}")
    for path in [project.ralph, *project.ralph.rglob("*")]:
        os.chown(path, how["user"], how["group"])
    os.chown(project.home, how["user"], how["group"])
    program = how["executable"]
    ended = with_own_proc(project, "hidepid=2",
                          f"exec setpriv --reuid {how['user']} --regid {how['group']} --clear-groups {program} run -p 'do it' -m 1")
    assert ended.returncode == 0, ended
    assert "hidden by /proc" in "".join(project.last("processes_swept")["ended"]), ended
    project.nothing_left()


def test_an_inherited_ignored_sigchld_hangs_nothing(project):
    project.agent_script(f"{DONE}")
    project.guardrails("true")
    result = project.run("run", "-p", "do it", timeout=15, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert result.code == 0, result


def test_children_get_default_signals_and_keep_only_a_hangup_that_nohup_ignores(project):
    def ignore_many():
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGRTMIN):
            signal.signal(number, signal.SIG_IGN)
    project.agent_script("#!/usr/bin/python3 -S\nprint(open('/proc/self/status').read(), file=open('seen', 'w'))\n"
                         "print('<response>DONE</response>')")
    result = project.run("run", "-p", "do it", "-m", "1", preexec_fn=ignore_many)
    assert result.code == 0, result
    ignored = next(int(line.split()[1], 16) for line in (project.path / "seen").read_text().splitlines() if line.startswith("SigIgn"))
    # Python itself ignores SIGPIPE and SIGXFSZ.
    ignored &= ~(1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1)
    assert ignored == 1 << signal.SIGHUP - 1, hex(ignored)


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM], ids=["old kernel", "old seccomp profile"])
def test_without_process_descriptors_everything_is_ended_all_the_same(project, number):
    project.agent_script(f"{helper('setsid_grandchild')}; echo begun >> agent.log; exec sleep 100", timeoutSeconds=0.5,
                         retry={"attempts": 1})
    ended = run_on(project, ("pidfd_open", number), ("pidfd_send_signal", number))
    assert ended.returncode == 1, ended
    assert not project.processes()


def test_doctor_says_how_processes_are_ended_here(project):
    project.agent_script(DONE)
    assert "process descriptors and a subreaper" in project.run("doctor").out
    ended = run_on(project, *NO_PIDFD, arguments=["doctor"])
    assert ended.returncode == 0 and "by pid and start time" in ended.stdout, ended
    ended = run_on(project, *NO_PIDFD, ("kill", errno.EPERM), arguments=["doctor"])
    assert ended.returncode == 2 and "can't be ended" in ended.stdout, ended


def test_no_turn_begins_while_the_last_agent_lives(project):
    # Nothing can be ended here at all; the kernel ends the agent when the loop is gone.
    project.agent_script("echo begun >> agent.log; exec sleep 100", timeoutSeconds=0.2)
    ended = run_on(project, *NO_PIDFD, ("kill", errno.EPERM), arguments=["run", "-p", "do it", "-m", "3"], groups=False)
    assert ended.returncode == 2 and "the agent could not be ended" in ended.stderr, ended
    assert read_lines(project.path / "agent.log") == ["begun"]
    project.nothing_left()


def own_group():
    """The folder of this process's control group in the unified hierarchy, if groups can be made there."""
    path = next((line[3:] for line in read_lines("/proc/self/cgroup") if line.startswith("0::")), "")
    for mount in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
        folder = Path(mount + path)
        if path and (Path(mount) / "cgroup.controllers").exists() and os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK):
            return folder
    return None


def test_where_no_signal_can_be_sent_an_agent_is_ended_by_a_group(project):
    if not own_group():
        pytest.skip("no control group can be made here")
    project.agent_script("echo begun >> agent.log; exec sleep 100", timeoutSeconds=0.2)
    ended = run_on(project, *NO_PIDFD, ("kill", errno.EPERM), arguments=["run", "-p", "do it", "-m", "2"])
    assert ended.returncode == 1 and read_lines(project.path / "agent.log") == ["begun"] * 2, ended
    assert [one["outcome"] for one in project.records("agent_ended")] == ["timed_out"] * 2
    project.nothing_left()


def numbers_of(relay):
    """How many processes the relay had, and whether it came to its own end."""
    return struct.unpack("II", relay.read_bytes())


def test_processes_that_fork_and_exit_in_turn_are_caught(project):
    # Every signal comes too late for whoever was alive when ralph looked: nothing but the group can be hit.
    relay = project.path / "relay"
    project.agent_script(f"{helper('fork_relay', relay)}; {DONE}")
    ended = run_in(project, helper("hold_signals", relay, "--", RALPH, "run", "-p", "do it", "-m", "1"), groups=False)
    skip_if_refused(ended)
    assert ended.returncode == 0 and not project.processes(), ended
    assert not project.last("processes_swept")["survivors"]
    count, came_to_its_end = numbers_of(relay)
    assert count > 0 and not came_to_its_end, "the relay was not caught"


def test_where_no_group_can_be_made_everything_is_ended_all_the_same(project):
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    relays = "; ".join([helper("fork_relay")] * 4)
    project.agent_script(f"{relays}; {DONE}")
    ended = run_on(project, groups=False)
    skip_if_refused(ended)
    assert ended.returncode == 0 and not project.processes(), ended
    assert not project.last("processes_swept")["survivors"]


# ---- stopped processes

def test_an_agent_that_stops_the_loop_hangs_nothing(project):
    project.agent_script(f"kill -STOP {LOOP}; {DONE}")
    result = project.run("run", "-p", "do it", "-m", "1", timeout=15)
    assert result.code == 0, result


def test_an_agent_that_stops_the_loop_again_and_again_ends_the_run(project):
    project.agent_script(f"while :; do kill -STOP {LOOP}; done")
    result = project.run("run", "-p", "do it", "-m", "1", timeout=30)
    assert result.code == 128 + signal.SIGKILL and "stopped again and again" in result.err, result
    project.nothing_left()


def test_a_loop_that_is_stopped_when_its_guardian_is_killed_goes_on_to_end(project):
    project.agent_script("echo begun; [ -e agent.log ] && exit; echo begun >> agent.log; trap '' TERM; while :; do sleep 0.1; done")
    running = project.start("run", "-p", "do it", "-m", "1")
    wait_until(lambda: read_lines(project.path / "agent.log"), what="the agent")
    loop = running.loop_pid
    os.kill(running.pid, signal.SIGSTOP)  # so that it can't wake the loop
    os.kill(loop, signal.SIGSTOP)
    os.kill(running.pid, signal.SIGKILL)
    running.process.wait()
    # The agent ignores SIGTERM: the next run waits until the loop has ended it.
    result = project.run("run", "-p", "do it", "-m", "1")
    assert result.code == 1 and "kill " not in result.err, result
    project.nothing_left(12)


def test_a_guardian_that_somebody_has_stopped_is_woken_at_the_end(project):
    project.agent_script(f"kill -STOP $(sed -n 's|^PPid:||p' /proc/{LOOP}/status); {DONE}")
    result = project.run("run", "-p", "do it", "-m", "1", timeout=15)
    assert result.code == 0, result


# ---- a reader who sleeps

def is_over(project):
    """Whether the run has ended, as far as its journal tells, which may just be written."""
    path = project.run_folders() and project.run_folder() / "journal.jsonl"
    return path and path.exists() and b'"type":"run_ended"' in path.read_bytes()


def read_all(descriptor):
    with open(descriptor, "rb") as stream:
        return stream.read()


def test_a_reader_who_sleeps_switches_off_no_time_out_and_is_told_what_he_missed(project):
    project.agent_script("exec " + helper("flood_forever"), timeoutSeconds=1, retry={"attempts": 1})
    reader, writer = os.pipe()
    running = project.start("run", "-p", "do it", "-m", "1", stdout=writer)
    os.close(writer)
    wait_until(lambda: is_over(project), what="the end, although nobody reads")
    assert project.last("agent_ended")["outcome"] == "timed_out"
    text = read_all(reader).decode(errors="replace")
    assert running.wait(10).code == 1
    assert "not shown: nobody was reading" in text and "Stopped" in text.rpartition("nobody was reading")[2], text[-2000:]
    assert len(text) < 3_000_000


def test_json_that_nobody_reads_is_complete_all_the_same(project):
    project.agent_script("echo working")
    project.settings(outputTruncateChars=100_000)
    project.guardrails("head -c 99000 /dev/zero | tr '\\0' x; false")
    reader, writer = os.pipe()
    running = project.start("run", "-p", "do it", "-m", "24", "--json", stdout=writer)
    os.close(writer)
    wait_until(lambda: is_over(project), timeout=40, what="the end, although nobody reads")
    text = read_all(reader)
    assert running.wait(10).code == 1
    journal = (project.run_folder() / "journal.jsonl").read_bytes()
    assert len(journal) > 2_000_000
    assert text == journal


def test_a_pipe_that_does_not_block_is_not_gone_when_it_is_full(project):
    project.agent_script(f"head -c 400000 /dev/zero | tr '\\0' 'x'; echo; {DONE}")
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    running = project.start("run", "-p", "do it", "-m", "1", stdout=writer)
    os.close(writer)
    wait_until(lambda: is_over(project), what="the end")
    text = read_all(reader).decode()
    assert running.wait(10).code == 0
    assert text.count("x") >= 400_000 and "Complete" in text


# ---- what else a system may lack or refuse

def test_the_pipes_of_an_agent_hold_a_quarter_of_a_megabyte(project):
    project.agent_script(f"""python3 -c 'import fcntl; open("sizes", "w").write(str([fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ) for fd in (1, 2)]))'; {DONE}""")
    assert project.run("run", "-p", "do it", "-m", "1").code == 0
    assert (project.path / "sizes").read_text() == "[262144, 262144]"


def test_without_close_range_an_agent_inherits_no_descriptor(project):
    project.agent_script(f"ls -l /proc/self/fd > seen; {DONE}")
    secret = os.open(project.base / "secret", os.O_CREAT | os.O_RDWR)
    os.set_inheritable(secret, True)
    ended = run_on(project, ("close_range", errno.ENOSYS), pass_fds=[secret])
    assert ended.returncode == 0, ended
    assert str(project.base / "secret") not in (project.path / "seen").read_text()


def test_signals_that_cannot_be_received_are_an_error_that_is_said(project):
    project.agent_script(DONE)
    ended = run_on(project, ("signalfd4", errno.ENFILE))
    assert ended.returncode == 2 and "Too many open files" in ended.stderr, ended


def test_a_guardian_that_would_not_inherit_orphans_is_an_error_that_is_said(project):
    project.agent_script(DONE)
    ended = run_on(project, ("prctl", errno.EINVAL))
    assert ended.returncode == 2 and "cannot start the process that guards the run: Invalid argument" in ended.stderr, ended


# Whatever the C library makes of poll().
NO_WAITING = [("poll", errno.ENOMEM), ("ppoll", errno.ENOMEM)]


def test_a_wait_that_fails_for_ever_ends_the_run_in_order(project):
    project.agent_script("echo begun >> agent.log; trap 'echo ended >> agent.log; exit' TERM; while :; do sleep 0.05; done")
    ended = run_on(project, *NO_WAITING, arguments=["run", "-p", "do it", "-m", "3"])
    assert ended.returncode == 2 and "cannot wait for events: Cannot allocate memory" in ended.stderr, ended
    assert read_lines(project.path / "agent.log") == ["begun", "ended"], "the agent was asked to end, and not called again"
    assert project.last("run_ended"), "the journal has its end"
    project.nothing_left()


def test_a_run_that_is_over_before_waits_are_given_up_is_complete(project):
    project.agent_script(DONE)
    ended = run_on(project, *NO_WAITING)
    assert ended.returncode == 0 and "Complete" in ended.stdout, ended
    project.nothing_left()


def test_a_wait_that_fails_between_two_turns_ends_the_run_too(project):
    project.agent_script("exit 7", retry={"attempts": 9, "backoffSeconds": 100})
    ended = run_on(project, *NO_WAITING)
    assert ended.returncode == 2 and "cannot wait for events" in ended.stderr, ended


def test_a_reader_who_sleeps_costs_nothing_where_waits_fail(project):
    project.agent_script(f"head -c 300000 /dev/zero | tr '\\0' 'x'; echo; {DONE}")
    words = helper("old_kernel", *(f"{name}={number}" for name, number in NO_WAITING), "--", RALPH, "run", "-p", "do it", "-m", "1")
    reader, writer = os.pipe()
    running = subprocess.Popen(["/bin/sh", "-c", "exec " + words], cwd=project.path, env=project.environment(), stdout=writer, stderr=writer)
    os.close(writer)
    wait_until(lambda: is_over(project), what="the end")
    text = read_all(reader).decode()
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    assert running.returncode in (0, 2) and ("Complete" in text or "cannot wait" in text), text[-500:]
    assert text.count("x") >= 300_000
    project.nothing_left()


NO_EPOLL = [("epoll_wait", errno.EPERM), ("epoll_pwait", errno.EPERM)]


@pytest.mark.parametrize("denied", [NO_WAITING, NO_EPOLL, NO_WAITING + NO_EPOLL])
def test_jobs_of_a_task_are_heard_and_ended_where_waits_fail(project, denied):
    tasks = Tasks(project)
    script = f'{RALPH} job -- sh -c "echo from the child"; echo "code $?"; : > "$TASK_FOLDER/DONE"'
    ended = run_on(project, *denied, arguments=["task", "run", *map(str, tasks.place()), "--", "sh", "-c", script])
    # Without poll() it depends on who is faster: the task, or the supervisor that gives up.
    gives_up = denied != NO_EPOLL and ended.returncode == 2 and "cannot wait for events" in ended.stderr
    assert gives_up or ended.returncode == 0, ended
    if not gives_up:
        parent, child = tasks.infos()
        out = (tasks.folder() / "runs" / parent["run_id"] / "agent-stdout.txt").read_text()
        assert "from the child" in out and "code 0" in out, out
    project.nothing_left()


def test_an_agent_that_cannot_be_forked_for_now_is_a_failed_attempt(project):
    project.agent_script(DONE, retry={"attempts": 2, "backoffSeconds": 0.02})
    ended = run_on(project, ("vfork", errno.EAGAIN))
    assert ended.returncode != 0, ended
    attempts = project.records("agent_ended")
    assert [a["outcome"] for a in attempts] == ["not_started", "not_started"], "tried again, not given up at once"
    assert all("Resource temporarily unavailable" in a["reason"] for a in attempts), attempts


def waits_for_lock(pid):
    """Whether /proc/locks has a waiter of this process, or it sleeps in flock."""
    lines = Path("/proc/locks").read_text().splitlines()
    return any("->" in line and f" {pid} " in line for line in lines)


def test_hooks_log_is_moved_away_only_by_who_has_its_lock(project):
    project.settings({})
    log = project.ralph / "loop" / "hooks.log"
    log.parent.mkdir()
    log.write_text('{"kind": "old"}\n' * 80_000)
    payload = json.dumps({"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}, "cwd": str(project.path), "session_id": "s"})
    with log.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        hooks = [project.start("hooks", "pre-tool", stdin=payload) for _ in range(6)]
        wait_until(lambda: all(waits_for_lock(hook.pid) for hook in hooks), what="six hooks at the lock")
        assert not log.with_suffix(".log.old").exists() and log.stat().st_size > 1 << 20, "somebody else writes just now"
    assert all(hook.wait().code == 0 for hook in hooks)
    kinds = [json.loads(line)["kind"] for line in read_lines(log)]
    assert kinds == ["denied"] * 6, "each wrote its line into the new log"
    assert len(read_lines(log.with_suffix(".log.old"))) == 80_000, "and nobody moved that over the old one"


# ---- after a kill

def test_what_a_killed_run_left_is_seen_by_doctor_and_put_away_by_the_next_run(project):
    project.git_init()
    project.agent_script(f"{helper('setsid_grandchild')}; touch .git/index.lock; echo begun >> agent.log; sleep 100")
    running = project.start("run", "-p", "do it", "-m", "1")
    wait_until(lambda: read_lines(project.path / "agent.log"), what="the agent")
    running.kill_both()
    left = wait_until(project.processes, what="what is left")
    doctor = project.run("doctor")
    assert left and re.search(r"left \d+ process", doctor.out) and "index.lock" in doctor.out, doctor
    project.agent_script(f"echo x > made; {DONE}", name="next")
    project.settings(scm={"command": "git", "tasks": ["commit"]}, guardrails=[])
    result = project.run("run", "-p", "do it", "-m", "1", "--trust")
    assert result.code == 0 and project.last("scm_ended")["outcome"] == "done", result
    assert project.last("processes_swept")["ended"] and not project.processes()
    assert "leftovers" not in project.run("doctor").out


def test_a_lock_of_git_that_is_older_than_any_run_is_left_alone(project):
    project.git_init()
    lock = project.path / ".git/index.lock"
    lock.touch()
    os.utime(lock, (1e9, 1e9))
    project.agent_script("echo begun >> agent.log; sleep 100")
    running = project.start("run", "-p", "do it", "-m", "1")
    wait_until(lambda: read_lines(project.path / "agent.log"), what="the agent")
    running.kill_both()
    project.agent_script(DONE, name="next")
    assert project.run("run", "-p", "do it", "-m", "1", "--trust").code == 0
    assert lock.exists()


def test_a_commit_gets_time_to_end_when_ralph_is_killed(project):
    project.git_init()
    hook = project.path / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\ntouch ../committing; sleep 100\n")
    hook.chmod(0o755)
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    project.agent_script(f"echo x > made; {DONE}")
    running = project.start("run", "-p", "do it", "-m", "1")
    wait_until((project.base / "committing").exists, what="the commit")
    assert (project.path / ".git/index.lock").exists()
    os.kill(running.loop_pid, signal.SIGKILL)
    running.wait()
    project.nothing_left()
    assert not (project.path / ".git/index.lock").exists(), "git has removed its own lock"


def test_gaps_and_doubles_in_a_journal_are_said(project):
    project.agent_script("echo working")
    project.run("run", "-p", "do it", "-m", "2")
    journal = project.run_folder() / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:3] + lines[5:7] + lines[6:]))
    shown = project.run("runs", "show").out
    assert "records 4 to 5 are missing" in shown and "record 7 is repeated" in shown, shown


# ---- bounds, and files that are not what they seem

def test_new_files_follow_the_umask_and_a_settings_file_that_is_a_mount_is_written_in_place(project):
    result = project.run("init", "--agent", "cat", preexec_fn=lambda: os.umask(0o077))
    settings = project.ralph / "settings.json"
    assert result.code == 0 and settings.stat().st_mode & 0o777 == 0o600, result
    if os.geteuid() != 0:
        return
    before = settings.stat().st_ino
    words = ["unshare", "-m", "--propagation", "private", "/bin/sh", "-c",
             'mount --bind .ralph/settings.json .ralph/settings.json && exec "$RALPH" init --agent true --force']
    ended = subprocess.run(words, cwd=project.path, env=project.environment(RALPH=RALPH), capture_output=True, text=True, timeout=20)
    if "mount:" in ended.stderr:
        pytest.skip("mounting was refused")
    assert ended.returncode == 0, ended
    assert '"true"' in settings.read_text() and settings.stat().st_ino == before
    assert sorted(p.name for p in project.ralph.iterdir() if "ralph-" in p.name) == [], "no temporary file stays"


def test_settings_of_more_than_a_megabyte_are_refused_unread(project):
    project.agent_script(DONE)
    with open(project.ralph / "settings.json", "r+b") as settings:
        settings.truncate(3_000_000_000)  # sparse
    result = project.run("run", "-p", "do it")
    assert result.code == 2 and "settings.json" in result.err and "at most" in result.err, result
    assert result.peak_kb < 100_000


def test_feedback_of_many_guardrails_is_bounded_and_the_rest_is_named_by_its_log(project):
    project.agent_script('if [ $RALPH_ITERATION = 2 ]; then printf %s "$1" > prompt; cat >> prompt; fi; echo working')
    project.settings(outputTruncateChars=100_000)
    project.guardrails(*(f"head -c 90000 /dev/zero | tr '\\0' {letter}; false" for letter in "abcd"))
    project.run("run", "-p", "do it", "-m", "2")
    prompt = (project.path / "prompt").read_text()
    assert len(prompt) < 210_000 and prompt.count("a" * 80_000) == 1 and prompt.count("b" * 80_000) == 1
    assert "ddd" not in prompt and prompt.count("Read it in the log") == 2 and prompt.count("Output file: ") == 4


def test_lines_about_many_leftovers_are_summed_up(project):
    project.agent_script(f"for i in 1 2 3 4 5 6 7 8; do sleep 100 >/dev/null 2>&1 & done; {DONE}")
    result = project.run("run", "-p", "do it", "-m", "1")
    assert result.out.count("left behind") == 4 and "ended 5 more" in result.out, result
    assert len(project.last("processes_swept")["ended"]) == 8


@pytest.mark.parametrize("name", ["lock", "runs/{id}/scm.log", "runs/{id}/journal.jsonl"])
def test_a_hard_link_below_ralphs_folder_is_never_written_through(project, name):
    precious = project.base / "precious"
    precious.write_text("mine\n")
    if name == "lock":
        project.agent_script(DONE)
        os.link(precious, project.ralph / "lock")
        result = project.run("run", "-p", "do it", "-m", "1")
        assert result.code == 2 and "hard link" in result.err, result
    else:
        project.git_init()
        project.settings(scm={"command": "git", "tasks": ["commit"]})
        path = name.replace("{id}", "$RALPH_RUN_ID")
        project.agent_script(f'echo x > made; rm -f ".ralph/{path}"; ln "{precious}" ".ralph/{path}"; {DONE}')
        project.run("run", "-p", "do it", "-m", "1")
    assert precious.read_text() == "mine\n"


def test_a_prompt_that_begins_with_a_dash_reaches_a_custom_agent_as_a_prompt(project):
    project.settings(agent={"command": "head", "flags": []})  # would take "-n 5" for options
    project.agent_script(f'case "$1" in -*) exit 9;; esac; printf %s "$1" > prompt; {DONE}')
    result = project.run("run", "-p", "-n 5: fix it", "-m", "1")
    assert result.code == 0, result
    assert (project.path / "prompt").read_text().strip() == "-n 5: fix it"
    assert project.last("agent_started")["argv"][-1] == "<prompt>"


def test_a_journal_that_is_a_pipe_is_not_called_empty(project):
    folder = project.ralph / "runs/20260101-000000-abcd"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "journal.jsonl")
    listed = project.run("runs", "list", timeout=10)
    assert "can't be read" in listed.out and "empty" not in listed.out, listed


def test_output_that_cannot_be_written_is_said(project):
    with open("/dev/full", "w") as full:
        result = project.run("doctor", stdout=full)
    assert result.code == 2 and "cannot write to standard output" in result.err, result


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["--version"]])
def test_help_that_cannot_be_written_is_an_error(project, words):
    with open("/dev/full", "w") as full:
        result = project.run(*words, stdout=full)
    assert result.code == 2 and result.err.count("cannot write to standard output") == 1, result


def test_a_run_whose_output_cannot_be_written_says_so_once_and_goes_on(project):
    project.agent_script(DONE)
    with open("/dev/full", "w") as full:
        result = project.run("run", "-p", "do it <response>", stdout=full)
    assert result.code == 0 and result.err.count("cannot write to standard output: No space left on device") == 1, result


@pytest.mark.skipif(SANITIZED, reason="the sanitizers reserve more memory than that")
def test_out_of_memory_is_an_error_with_a_sentence(project):
    project.agent_script(DONE)
    import resource
    prompt = project.base / "prompt"
    prompt.write_bytes(b"x" * 200_000_000)
    result = project.run("run", "-f", str(prompt), "--dry-run",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (150 << 20, 150 << 20)))
    assert result.code == 2 and result.out == "", result
    assert result.err == "ralph: out of memory; give it more, or make what it reads smaller\n", result


def test_gc_lists_old_runs_and_removes_them_only_with_yes(project):
    project.agent_script(DONE)
    project.guardrails("echo fine")
    for _ in range(4):
        assert project.run("run", "-p", "do it", "-m", "1").code == 0
    folders = project.run_folders()
    log = project.ralph / "guardrail_1_echo_fine.log"
    for folder in folders[:2]:
        os.utime(folder / "journal.jsonl", (1e9, 1e9))
    listed = project.run("runs", "gc", "--older-than", "30")
    assert listed.code == 0 and "2 of 4 runs" in listed.out and "--yes" in listed.out, listed
    assert project.run_folders() == folders
    assert project.run("runs", "gc", "--older-than", "30", "--yes").code == 0
    assert project.run_folders() == folders[2:]
    assert "Removed 1 of 2 runs" in project.run("runs", "gc", "--keep", "1", "--yes").out
    assert project.run_folders() == folders[3:], "the newest stays"
    assert "Nothing to remove: the run is kept" in project.run("runs", "gc", "--max-mb", "1", "--older-than", "1", "--yes").out
    assert log.read_text() == "fine\n", "that of a run that stays"
    refused = project.run("runs", "gc")
    assert refused.code == 2 and "--older-than" in refused.err, refused


def test_gc_removes_the_second_names_of_a_runs_logs(project):
    project.agent_script(DONE)
    for word in ("old", "new"):
        project.guardrails(f"echo {word}")
        assert project.run("run", "-p", "do it", "-m", "1").code == 0
    old, new = (project.ralph / f"guardrail_1_echo_{word}.log" for word in ("old", "new"))
    assert old.read_text() == "old\n" and new.read_text() == "new\n"
    assert "Removed 1 of 2 runs" in project.run("runs", "gc", "--keep", "1", "--yes").out
    assert not old.exists() and new.read_text() == "new\n"


def test_gc_in_a_folder_below_the_settings_means_the_same_runs(project):
    project.git_init()
    project.agent_script(DONE)
    for _ in range(3):
        assert project.run("run", "-p", "do it", "-m", "1").code == 0
    below = project.path / "src/deep"
    below.mkdir(parents=True)
    assert "Removed 2 of 3 runs" in project.run("runs", "gc", "--keep", "1", "--yes", cwd=below).out
    assert len(project.run_folders()) == 1


def test_gc_keeps_a_run_that_is_alive_and_follows_no_symlink(project):
    project.agent_script(DONE)
    project.run("run", "-p", "do it", "-m", "1")
    outside = project.base / "outside"
    outside.mkdir()
    (outside / "precious").write_text("mine")
    (project.run_folder() / "link").symlink_to(outside)
    old = project.run_folder()
    project.agent_script("echo begun >> agent.log; sleep 100", name="slow")
    running = project.start("run", "-p", "do it", "-m", "1")
    wait_until(lambda: read_lines(project.path / "agent.log"), what="the agent")
    assert project.run("runs", "gc", "--keep", "1", "--yes").code == 0
    assert not old.exists() and (outside / "precious").read_text() == "mine" and len(project.run_folders()) == 1
    running.signal(signal.SIGTERM)
    running.signal(signal.SIGHUP)
    running.wait()


# ---- what is shown

def test_escape_sequences_from_files_reach_no_terminal_by_doctor(project):
    project.settings(agent={"command": "no-\u001b[2Jsuch\u009b31m"})
    out = project.run("doctor").out
    assert "\u001b[2J" not in out and "\u009b" not in out, repr(out)
    text = project.run("doctor", "--json").out
    assert "\u009b" not in text and "\u001b" not in text, repr(text)


def test_secrets_in_every_form_of_a_url_are_masked(project):
    import urllib.parse
    secret = "s3cr~t/va(ue with+bl*nks!"
    forms = {urllib.parse.quote(secret), urllib.parse.quote(secret, safe=""), urllib.parse.quote_plus(secret),
             urllib.parse.quote(secret, safe="-_.~!*'()")}
    # As Python and browsers would print them; lower-case digits throughout.
    forms = {f for form in forms for f in (form, "".join("%" + part[:2].lower() + part[2:] if i else part
                                                         for i, part in enumerate(form.split("%"))))}
    project.script("\n".join(sorted(forms)), "forms")
    project.agent_script(f"tail -n +2 {project.base / 'forms'}; {DONE}", env={"MY_API_TOKEN": secret})
    result = project.run("run", "-p", "do it", "-m", "1")
    assert result.code == 0, result
    for form in forms:
        assert form not in result.text, form
        for path, content in project.everything_on_disk().items():
            assert path.name == "settings.json" or form.encode() not in content, (form, path)


# ---- raw output

def test_the_raw_output_of_a_run_is_bounded_and_its_end_is_kept(project):
    project.settings({"journal": {"maxStreamMb": 1}, "streamAgentOutput": False})
    project.python_agent("import os\nfor i in range(300000): print(f'line {i:06}')\n"
                         "print('<response>DONE</response>' if os.environ['RALPH_ITERATION'] == '2' else 'more')")
    result = project.run("run", "-p", "x <response>", "-V", timeout=120)
    assert result.code == 0, result
    folder = project.run_folder()
    streams = sorted(p.name for p in folder.iterdir() if p.suffix in (".out", ".err"))
    assert streams == ["agent_2.out"], "that of the first turn made room"
    kept = (folder / "agent_2.out").read_text()
    assert 400_000 < len(kept) <= 1024 * 1024 and kept.endswith("line 299999\n<response>DONE</response>\n")
    assert kept.startswith("line "), "whole lines"
    assert project.last("agent_ended")["outputBytes"] == 300000 * 12 + len("<response>DONE</response>\n")
    assert "journal.maxStreamMb" in result.out + result.err, "and it is said"


def test_what_killed_commands_left_half_written_goes_with_a_later_run(project):
    project.agent_script(DONE)
    state = project.home / ".local/state/ralph/plans"
    state.mkdir(parents=True)
    left = [project.ralph / ".settings.json.ralph-Ab3xYz", state / ".x.json.ralph-Ab3xYz"]
    for path in left:
        path.write_text("half")
        os.utime(path, (1, 1))
    assert project.run("run", "-p", "x <response>").code == 0
    assert not any(path.exists() for path in left)


@pytest.mark.parametrize("variable, value", [(name, "a/b") for name in (
    "CODEX_HOME", "CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "GIT_CONFIG_GLOBAL", "HOME")] + [
    ("HOME", "."), ("HOME", "..")])
def test_a_relative_folder_in_the_environment_is_looked_for_from_the_project(project, variable, value):
    project.git_init()
    project.agent_script(DONE)
    result = project.run("run", "-p", "x", env={variable: value})
    assert result.code == 0, result


def test_a_prompt_that_no_record_can_hold_is_refused_before_the_agent_starts(project):
    project.agent_script(f"touch {project.base}/started; {DONE}")
    result = project.run("run", "-f", "-", stdin="y" * (11 << 20))
    assert result.code == 2 and "the prompt from standard input is 11.5 MB long" in result.err and "-f FILE" in result.err, result
    assert not (project.base / "started").exists()
    project.settings({"agent": {"command": "true"}})
    (project.path / "long.md").write_text("y" * (11 << 20))
    assert project.run("run", "-f", "long.md", "-n", "1", "--dry-run").code == 0
