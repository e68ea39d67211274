"""Disks that are full and folders that cannot be written."""
import json
import os
import shutil

import pytest

from support import HELPERS, NOBODY, SANITIZED, helper, ordinary_user, read_lines

DONE = "echo '<response>DONE</response>'"


def fill(project, leave):
    """Fills the disk up to `leave` bytes."""
    free = shutil.disk_usage(project.ralph).free
    (project.ralph / "ballast").write_bytes(b"b" * (free - leave))


def assert_said_and_clean(project, result, *names):
    assert result.code == 2, result
    assert any(n in result.err for n in names) and "space" in result.err.lower(), result
    project.nothing_left()
    project.journal()  # fails on a torn record


def test_a_disk_that_fills_with_the_agents_output_ends_the_run_with_the_file_named(small_disk):
    small_disk.agent_script(helper("flood_no_newline", 3) + f"; echo; {DONE}")
    result = small_disk.run("run", "-p", "do it", "--no-stream-agent-output")
    assert_said_and_clean(small_disk, result, "agent_1.out")
    assert "Complete" not in result.out


def test_a_disk_that_fills_with_the_agents_errors_ends_the_run_with_the_file_named(small_disk):
    small_disk.agent_script(helper("flood_no_newline", 3) + f" >&2; {DONE}")
    result = small_disk.run("run", "-p", "do it", "--no-stream-agent-output")
    assert_said_and_clean(small_disk, result, "agent_1.err")


def test_a_disk_that_fills_with_a_guardrails_log_ends_the_run_with_the_file_named(small_disk):
    small_disk.agent_script(DONE)
    small_disk.guardrails(helper("flood_no_newline", 3))
    result = small_disk.run("run", "-p", "do it")
    assert_said_and_clean(small_disk, result, "/guardrail_1_")
    assert "Complete" not in result.out


def test_an_agent_that_floods_for_ever_is_ended_when_the_disk_is_full(small_disk):
    small_disk.agent_script(f"{helper('setsid_grandchild')}; exec " + helper("flood_forever"))
    result = small_disk.run("run", "-p", "do it", "--no-stream-agent-output")
    assert_said_and_clean(small_disk, result, "agent_1.out")


@pytest.mark.parametrize("leave", [0, 4096, 8192, 12288, 16384, 20480, 28672, 40960])
def test_wherever_the_room_ends_no_record_is_torn_and_nothing_is_complete_that_is_not_written(small_disk, leave):
    small_disk.agent_script(f"head -c 3000 /dev/zero | tr '\\0' x; echo; {helper('setsid_grandchild')}; echo working")
    small_disk.guardrails("echo checked; false")
    fill(small_disk, leave)
    result = small_disk.run("run", "-p", "word " * 500, "-m", "30")
    assert result.code == 2 and "space" in result.err.lower() and ".ralph" in result.err, result
    small_disk.nothing_left()
    for folder in small_disk.run_folders():
        if (folder / "journal.jsonl").exists():
            small_disk.journal(folder)


@pytest.mark.parametrize("iteration", [1, 2])
def test_a_run_that_a_full_disk_ended_says_how_to_go_on_and_goes_on(small_disk, iteration):
    ballast = small_disk.ralph / "ballast"
    small_disk.agent_script(f'[ $RALPH_ITERATION = {iteration} ] && [ ! -e "{small_disk.base}/once" ] && : > "{small_disk.base}/once" && '
                            f'cat /dev/zero > "{ballast}"; [ $RALPH_ITERATION = 3 ] && {DONE}; echo working')
    result = small_disk.run("run", "-p", "do it")
    line = f"to go on: ralph runs resume {small_disk.run_folder().name}"
    assert result.code == 2 and line in result.text and "start again" not in result.err, result
    ballast.unlink()
    again = small_disk.run(*line.split("ralph ")[1].split())
    assert again.code == 0 and len(small_disk.records("iteration_started")) == 3, again


def test_after_room_is_made_a_new_run_works(small_disk):
    small_disk.agent_script(DONE)
    fill(small_disk, 0)
    assert small_disk.run("run", "-p", "do it").code == 2
    (small_disk.ralph / "ballast").unlink()
    result = small_disk.run("run", "-p", "do it", "-m", "1")
    assert result.code == 0, result


def test_a_run_that_cannot_begin_leaves_no_folder(full_state):
    full_state.agent_script(DONE)
    result = full_state.run("run", "-p", "do it")
    assert result.code == 2 and "space" in result.err.lower(), result
    assert json.loads(full_state.run("runs", "list", "--json").out) == []


def test_nor_does_a_loop_of_a_session(full_state):
    result = full_state.run("loop", "start", "do it")
    assert result.code == 2 and "space" in result.err.lower(), result
    assert json.loads(full_state.run("runs", "list", "--json").out) == []
    assert not list(full_state.path.rglob("request.json"))


def test_history_can_be_read_on_a_full_disk(small_disk):
    small_disk.agent_script(DONE)
    assert small_disk.run("run", "-p", "do it", "-m", "1").code == 0
    fill(small_disk, 0)
    for command in (["runs", "list"], ["runs", "show", "last"], ["settings", "show"]):
        result = small_disk.run(*command)
        assert result.code == 0, result


def test_a_file_size_limit_is_an_error_and_not_a_death_by_signal(project):
    import resource
    project.agent_script(helper("flood_no_newline", 3) + f"; {DONE}")
    limit = 1 << 20
    result = project.run("run", "-p", "do it", "--no-stream-agent-output",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert result.code == 2 and "agent_1.out" in result.err, result
    project.nothing_left()
    project.journal()


@pytest.mark.skipif(SANITIZED, reason="the sanitizers need descriptors of their own")
def test_too_few_file_descriptors_are_an_error_with_words(project):
    import resource
    project.agent_script(DONE)
    for count in (4, 6, 8, 10, 12):
        result = project.run("run", "-p", "do it", "-m", "1",
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count)))
        assert result.code in (0, 2), result
        if result.code == 2:
            assert "ralph: " in result.err, result
        project.nothing_left()


# ---- a .ralph that is not a writable folder

@pytest.fixture
def as_nobody(project):
    return ordinary_user(project, project.path, project.home, project.tmp)


def test_a_ralph_folder_that_cannot_be_written_is_an_error_that_names_it(project, as_nobody):
    project.agent_script("touch ran; " + DONE)
    project.ralph.chmod(0o555)
    result = project.run("run", "-p", "do it", **as_nobody)
    assert result.code == 2 and ".ralph" in result.err and "ermission" in result.err, result
    assert not (project.path / "ran").exists(), "nothing was started"


def test_a_project_that_cannot_be_written_is_an_error_that_names_it(project, as_nobody):
    agent = project.script(DONE)
    project.home.joinpath("x").mkdir()
    os.chown(project.path, 0, 0)
    project.ralph.mkdir()
    (project.ralph / "settings.json").write_text('{"agent":{"command":"%s"}}' % agent)
    result = project.run("run", "-p", "do it", **as_nobody)
    assert result.code == 2 and ".ralph" in result.err and "ermission" in result.err, result


def test_a_runs_folder_that_belongs_to_another_user_is_an_error_that_names_it(project, as_nobody):
    project.agent_script("touch ran; " + DONE)
    os.chown(project.ralph, NOBODY, NOBODY)
    (project.ralph / "runs").mkdir(mode=0o755)
    result = project.run("run", "-p", "do it", **as_nobody)
    assert result.code == 2 and ".ralph/runs" in result.err and "ermission" in result.err, result
    assert not (project.path / "ran").exists()


def test_a_lock_that_belongs_to_another_user_is_an_error_that_names_it(project, as_nobody):
    project.agent_script("touch ran; " + DONE)
    os.chown(project.ralph, NOBODY, NOBODY)
    (project.ralph / "lock").touch(mode=0o600)
    result = project.run("run", "-p", "do it", **as_nobody)
    assert result.code == 2 and ".ralph/lock" in result.err, result
    assert not (project.path / "ran").exists()


def test_an_ordinary_user_can_run_in_an_ordinary_folder(project, as_nobody):
    project.agent_script(DONE)
    os.chown(project.ralph, NOBODY, NOBODY)
    result = project.run("run", "-p", "do it", "-m", "1", **as_nobody)
    assert result.code == 0, result


@pytest.mark.slow
def test_a_process_that_this_user_may_not_end_is_named_and_the_run_goes_on(project, as_nobody):
    foreign = project.base / "foreign"
    shutil.copy(HELPERS / "become_root", foreign)
    foreign.chmod(0o4755)
    project.agent_script(f'"{foreign}" & sleep 0.1; echo working')
    os.chown(project.ralph, NOBODY, NOBODY)
    result = project.run("run", "-p", "do it", "-m", "1", **as_nobody)
    if not project.processes():
        pytest.skip("set-user-id programs do not work on this file system")
    assert result.code == 1 and result.seconds < 14, result
    assert "could not end" in result.out and "foreign" in result.out
    assert "foreign" in project.last("processes_swept")["survivors"][0]


def test_a_file_named_ralph_is_refused_and_kept(project):
    project.ralph.write_text("mine")
    result = project.run("run", "-p", "do it")
    assert result.code == 2 and ".ralph" in result.err, result
    assert project.ralph.read_text() == "mine"


def test_a_ralph_folder_that_is_a_symlink_is_refused_and_nothing_is_written_through_it(project):
    elsewhere = project.base / "elsewhere"
    elsewhere.mkdir()
    agent = project.script("touch ran; " + DONE)
    (elsewhere / "settings.json").write_text('{"agent":{"command":"%s"}}' % agent)
    project.ralph.symlink_to(elsewhere)
    result = project.run("run", "-p", "do it")
    assert result.code == 2 and "link" in result.err, result
    assert [p.name for p in elsewhere.iterdir()] == ["settings.json"] and not (project.path / "ran").exists()


@pytest.mark.parametrize("name", ["runs", "lock"])
def test_a_symlink_inside_ralphs_folder_is_never_written_through(project, name):
    outside = project.base / "outside"
    if name == "runs":
        outside.mkdir()
    else:
        outside.write_text("precious")
    project.agent_script("touch ran; " + DONE)
    (project.ralph / name).symlink_to(outside)
    result = project.run("run", "-p", "do it")
    assert result.code == 2 and f".ralph/{name}" in result.err, result
    assert list(outside.iterdir()) == [] if name == "runs" else outside.read_text() == "precious"
    assert not (project.path / "ran").exists()


def test_a_project_without_ralph_folder_needs_nothing_but_an_agent_to_say_what_is_missing(project):
    result = project.run("run", "-p", "do it")
    assert result.code == 2 and "ralph init" in result.err, result
    assert not project.ralph.exists(), "refused before anything was written"


def test_ralphs_own_files_never_make_a_repository_dirty(project):
    project.git_init()
    project.agent_script(DONE)
    project.guardrails("true")
    assert project.run("run", "-p", "do it", "-m", "1").code == 0
    assert read_lines(project.ralph / ".gitignore")
    assert project.git("status", "--porcelain", "-uall").split() == ["??", ".ralph/settings.json"] or \
        ".ralph/runs" not in project.git("status", "--porcelain", "-uall")
