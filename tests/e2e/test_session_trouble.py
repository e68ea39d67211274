"""Session loops where something is wrong: damaged state, full disks, links, many hooks at once, hooks that are killed."""
import json
import os
import resource
import shutil
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from session_support import PROMISE, Session
from support import RALPH, ordinary_user
from test_disk import fill


def log_of(project):
    path = project.ralph / "loop/hooks.log"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"v":99}', '{"v":1}', "\0" * 100])
def test_damaged_state_lets_the_stop_pass_and_is_said_and_logged(project, damage):
    session = Session(project)
    session.starts()
    path = session.folder / "request.json"
    path.write_text(damage)
    result = session.hook("stop", session.payload("stop", last_assistant_message="no"))
    assert result.code == 0 and not result.out, result
    assert str(path) in result.err
    entry = log_of(project)[-1]
    assert (entry["hook"], entry["session"], entry["kind"]) == ("stop", session.id, "error") and str(path) in entry["what"]
    assert path.read_text() == damage, "it is kept for a person to see"


def test_a_payload_that_is_no_json_is_logged_where_there_is_a_project(project):
    session = Session(project)
    session.hook("stop", "nonsense", cwd=project.path)
    assert not project.ralph.exists(), "a hook makes no .ralph in a folder that has none"
    session.starts()
    session.hook("stop", "nonsense", cwd=project.path)
    assert [(e["hook"], e["kind"]) for e in log_of(project)] == [("stop", "error")]


def test_a_log_does_not_grow_for_ever(project):
    session = Session(project)
    session.starts()
    log = project.ralph / "loop/hooks.log"
    log.parent.mkdir()
    log.write_text("x" * 2_000_000)
    session.hook("stop", "nonsense", cwd=project.path)
    assert len(log_of(project)) == 1 and (project.ralph / "loop/hooks.log.old").stat().st_size == 2_000_000


def test_a_folder_that_cannot_be_written_lets_the_stop_pass(project):
    session = Session(project)
    session.starts()
    folder = session.folder
    owned = os.geteuid() == 0
    if owned:  # root may write anywhere: a folder stands in the way instead
        (folder / "journal.jsonl").unlink()
        (folder / "journal.jsonl").mkdir()
    else:
        (folder / "journal.jsonl").chmod(0o400)
    try:
        result = session.hook("stop", session.payload("stop", last_assistant_message="no"))
        assert result.code == 0 and not result.out and "cannot" in result.err, result
    finally:
        folder.chmod(0o700)


def test_a_full_disk_lets_the_stop_pass_and_leaves_the_state_sound(small_disk):
    session = Session(small_disk)
    session.starts()
    assert session.stops("no").goes_on
    fill(small_disk, 0)
    result = session.hook("stop", session.payload("stop", last_assistant_message="no"))
    assert result.code == 0 and (not result.out or "block" in result.out), result
    for _ in range(40):  # until the last block is used up
        result = session.hook("stop", session.payload("stop", last_assistant_message="no"))
    assert result.code == 0 and not result.out and "space" in result.err.lower(), result
    before = session.states()[0]["iteration"]
    (small_disk.ralph / "ballast").unlink()
    assert session.stops("no").state["iteration"] == before + 1, "the line that was cut off does not count"


@pytest.mark.parametrize("link", [".ralph", ".ralph/runs"])
def test_a_symbolic_link_in_the_place_of_the_state_is_refused(project, link):
    elsewhere = project.base / "elsewhere"
    (elsewhere / "runs").mkdir(parents=True)
    path = project.path / link
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(elsewhere)
    session = Session(project)
    assert "ralph: " in session.types("/ralph:loop x")
    assert project.run("loop", "start", "x").code == 2
    assert not [p for p in elsewhere.rglob("*") if p.is_file()]
    path.unlink()
    session.starts()
    moved = project.path / link
    shutil.rmtree(elsewhere)
    moved.rename(elsewhere)
    moved.symlink_to(elsewhere)
    before = {p: p.read_bytes() for p in elsewhere.rglob("*") if p.is_file()}
    assert not session.hook("stop", session.payload("stop", last_assistant_message="no")).out
    session.used_tool()
    assert {p: p.read_bytes() for p in elsewhere.rglob("*") if p.is_file()} == before


def test_twenty_hooks_at_once_on_one_session_leave_a_sound_state(project):
    session = Session(project)
    session.starts("fix it", "--max-iterations 1000")
    stop, tool = (json.dumps(session.payload("stop", last_assistant_message="no")), json.dumps(session.payload("tool")))
    running = [project.start("hooks", *(("post-tool",) if i % 2 else ("stop",)), stdin=tool if i % 2 else stop) for i in range(20)]
    results = [r.wait() for r in running]
    assert all(r.code == 0 and not r.err for r in results), results
    state = session.states()[0]
    assert state["iteration"] == 10 and len(state["decisions"]) == 10
    assert sorted(d["iteration"] for d in state["decisions"]) == list(range(1, 11))
    assert len((session.folder / "tools").read_text().splitlines()) == 10
    running = [project.start("hooks", "stop", stdin=stop) for _ in range(10)] + [project.start("loop", "cancel", "--session", session.id)]
    assert all(r.wait().code == 0 for r in running)
    assert [s["status"] for s in session.states()] == ["CANCELLED"]
    assert not session.stops("no").goes_on


def test_a_hook_that_is_killed_at_any_moment_leaves_a_sound_state(project):
    session = Session(project)
    session.starts("fix it", "--max-iterations 1000")
    stop = json.dumps(session.payload("stop", last_assistant_message="no"))
    env, last = project.environment(), 0
    for i in range(60):
        hook = subprocess.Popen([str(RALPH), "hooks", "stop"], cwd=project.path, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        hook.stdin.write(stop.encode())
        hook.stdin.close()
        killer = threading.Timer(i * 0.0001, lambda h=hook: h.send_signal(signal.SIGKILL))
        killer.start()
        hook.wait()
        killer.join()
        state = session.states()[0]
        assert state["status"] == "ACTIVE" and state["iteration"] in (last, last + 1), (i, state)
        assert len(state["decisions"]) == state["iteration"]
        last = state["iteration"]
    assert session.stops("no").state["iteration"] == last + 1


# ---- what a host or a machine may do wrong


def as_nobody(project, payload, folder=None):
    """A user-prompt hook of an ordinary user, whom / is closed to; without a folder, in one that is gone."""
    program = ordinary_user(project)["executable"] if os.geteuid() == 0 else RALPH
    gone = project.base / "gone"
    if not folder:
        gone.mkdir()

    def leave():
        if not folder:
            gone.rmdir()
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)

    return subprocess.run([program, "hooks", "user-prompt"], cwd=folder or gone, env=project.environment(), preexec_fn=leave,
                          input=json.dumps(payload), capture_output=True, text=True, timeout=30)


LOOP = {"session_id": "s", "prompt": "/ralph:loop x"}


@pytest.mark.skipif(Path("/.ralph").exists() or Path("/.git").exists(), reason="/ is a project here")
@pytest.mark.parametrize("payload, folder, said", [
    (LOOP, None, "the folder of this session is not known, or is gone"), ({**LOOP, "cwd": "."}, None, "is not known, or is gone"),
    ({**LOOP, "cwd": "/nowhere/at/all"}, "/", "is gone: /nowhere/at/all"), ({**LOOP, "cwd": "/"}, "/", "which / is not; start it in one")])
def test_a_loop_without_a_folder_is_refused(project, payload, folder, said):
    result = as_nobody(project, payload, folder)
    assert result.returncode == 0, result
    assert json.loads(result.stdout)["decision"] == "block" and said in json.loads(result.stdout)["reason"], result
    assert not Path("/.ralph").exists()


def test_a_session_that_starts_in_a_folder_that_is_gone_adopts_nothing(project):
    project.run("loop", "start", "wait")
    session = Session(project)
    result = session.hook("session-start", session.payload("start", source="startup", cwd=str(project.path / "gone")))
    assert result.code == 0 and not result.out and "or gone, so no loop can be found" in result.err, result
    assert session.begins() is not None


@pytest.mark.parametrize("whole", [True, False])
def test_an_input_that_does_not_end_is_not_waited_for(project, whole):
    session = Session(project)
    session.starts()
    text = json.dumps(session.payload("stop", last_assistant_message="no"))
    hook = subprocess.Popen([str(RALPH), "hooks", "stop"], cwd=project.path, env=project.environment(), stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    hook.stdin.write(text if whole else text[:-5])
    hook.stdin.flush()
    code = hook.wait(timeout=9)  # hosts give it ten seconds
    out, err = hook.stdout.read(), hook.stderr.read()
    hook.stdin.close()
    assert code == 0
    if whole:
        assert json.loads(out)["decision"] == "block" and not err
    else:
        assert not out and "the hook's input did not end within 4 s" in err


@pytest.mark.slow
def test_an_input_that_is_too_large_is_said_to_be(project):
    session = Session(project)
    session.starts()
    result = session.hook("stop", session.payload("stop", last_assistant_message="x" * (65 * 1024 * 1024)))
    assert result.code == 0 and not result.out and "larger than 64 MB" in result.err, result


def test_pipes_in_the_place_of_files_hold_nobody_up(project):
    session = Session(project)
    session.starts()
    (project.ralph / "loop").mkdir()
    (session.folder / "journal.jsonl").unlink()
    for path in (project.ralph / "loop/hooks.log", session.folder / "tools", session.folder / "journal.jsonl"):
        os.mkfifo(path)
    result = session.hook("stop", session.payload("stop", last_assistant_message="no"), timeout=20)
    assert result.code == 0 and not result.out and "journal.jsonl" in result.err, result
    session.used_tool()
    denied = session.hook("pre-tool", session.payload("tool", tool_name="Bash", tool_input={"command": "sudo ls"}), timeout=20)
    assert "deny" in denied.out, denied


def test_secrets_are_masked_in_the_log_on_the_console_and_in_the_history(project):
    token, password = "ghp_" + "a1B2c3D4e5F6" * 3, "hunter2-correct-horse"
    session = Session(project)
    session.env = {"DB_PASSWORD": password}
    session.starts(f"use {token} and {password}")
    assert f"use {token} and {password}" in session.stops("no").reason, "the session is told its task as it was typed"
    assert (session.folder / "request.json").stat().st_mode & 0o777 == 0o600
    command = f"sudo curl -H 'Authorization: {token}' -u me:{password} https://x.example"
    for text in (command, "x" * 3980 + token):
        session.hook("pre-tool", session.payload("tool", tool_name="Bash", tool_input={"command": f"sudo {text}"}))
    (project.ralph / "settings.json").write_text(json.dumps({f"{token} {password}": 1}))
    broken = session.hook("pre-tool", session.payload("tool", tool_name="Bash", tool_input={"command": "ls"}))
    assert "********" in broken.err and {"denied", "error"} == {entry["kind"] for entry in log_of(project)}, broken
    shown = [project.run("loop", "status", *more, env=session.env).out for more in ([], ["--json"])]
    shown.append(project.run("loop", "cancel", env=session.env).text + broken.err)
    (project.ralph / "settings.json").unlink()
    kept = [content.decode() for content in project.everything_on_disk().values()]
    assert any("Authorization: ****" in text for text in kept)
    for text in [*shown, *kept]:
        assert token not in text and token[:12] not in text and password not in text, text


def test_a_damaged_loop_is_named_by_status_and_cancel(project):
    good, bad = Session(project, "good"), Session(project, "bad")
    good.starts("sound")
    bad.starts("damaged")
    path = bad.folder / "request.json"
    path.write_text("{")
    result = project.run("loop", "status")
    assert result.code == 2 and "sound" in result.out and str(path) in result.err, result
    assert project.run("loop", "status", "--session", "good").code == 0
    for arguments in (["status", "--session", "bad"], ["status", "--session", "bad", "--json"], ["cancel", "--session", "bad"],
                      ["cancel", "--all"]):
        result = project.run("loop", *arguments)
        assert result.code == 2 and str(path) in result.err, result
    assert path.read_text() == "{" and good.states()[0]["status"] == "CANCELLED"


def test_a_limit_on_the_size_of_files_does_not_kill_a_hook(project):
    session = Session(project)
    session.starts()
    payload = json.dumps(session.payload("stop", last_assistant_message=PROMISE))
    result = subprocess.run([str(RALPH), "hooks", "stop"], cwd=project.path, env=project.environment(), input=payload, capture_output=True,
                            text=True, timeout=30, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    assert result.returncode == 0 and not result.stdout and "cannot write" in result.stderr, result
