"""Session loops where something is wrong: damaged state, full disks, links, many hooks at once, hooks that are killed."""
import json
import os
import signal
import subprocess
import threading

import pytest

from session_support import Session
from support import RALPH
from test_disk import fill


def log_of(project):
    path = project.ralph / "loop/hooks.log"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"v":99}', '{"v":1}', "\0" * 100])
def test_damaged_state_lets_the_stop_pass_and_is_said_and_logged(project, damage):
    session = Session(project)
    session.starts()
    path = project.ralph / f"loop/{session.id}.json"
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
    log.write_text("x" * 2_000_000)
    session.hook("stop", "nonsense", cwd=project.path)
    assert len(log_of(project)) == 1 and (project.ralph / "loop/hooks.log.old").stat().st_size == 2_000_000


def test_a_folder_that_cannot_be_written_lets_the_stop_pass(project):
    session = Session(project)
    session.starts()
    folder = project.ralph / "loop"
    owned = os.geteuid() == 0
    if owned:  # root may write anywhere: a folder stands in the way instead
        (folder / f"{session.id}.jsonl").mkdir()
    else:
        folder.chmod(0o500)
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


@pytest.mark.parametrize("link", [".ralph", ".ralph/loop"])
def test_a_symbolic_link_in_the_place_of_the_state_is_refused(project, link):
    elsewhere = project.base / "elsewhere"
    (elsewhere / "loop/history").mkdir(parents=True)
    (elsewhere / "history").mkdir()
    path = project.path / link
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(elsewhere)
    session = Session(project)
    assert "ralph: " in session.types("/ralph:loop x")
    assert project.run("loop", "start", "x").code == 2
    assert not [p for p in elsewhere.rglob("*") if p.is_file()]
    if link == ".ralph/loop":
        (elsewhere / f"{session.id}.json").write_text('{"v":1,"completionPromise":"DONE","maxIterations":5,"task":"x"}')
        assert not session.stops("no").result.out
        session.used_tool()
        assert sorted(p.name for p in elsewhere.iterdir()) == [f"{session.id}.json", "history", "loop"]


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
    assert (project.ralph / f"loop/{session.id}.tools").stat().st_size == 10
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
