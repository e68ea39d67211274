"""A clone brings a run that can be resumed, with the attacker's arguments. Only runs that were started here go on."""
import hashlib
import json
import shutil

import pytest


def test_a_run_that_was_not_started_here_is_not_resumed(project):
    evil = project.script("echo x >> ../started", "evil")
    project.settings()
    assert project.run("run", "-p", "x", "-n", "1", "--agent", str(evil)).code == 1
    (project.base / "started").unlink()
    result = project.run("runs", "resume", "-n", "2", env={"XDG_STATE_HOME": str(project.base / "another machine")})
    assert result.code == 2 and "was not started here by this user" in result.err, result
    assert not (project.base / "started").exists()
    assert project.run("runs", "resume", "-n", "2").code == 1 and (project.base / "started").exists()
    shutil.rmtree(project.home / ".local/state/ralph")
    assert project.run("runs", "resume", "-n", "3").code == 2
    told = json.loads(project.run("runs", "list", "--json").out)[0]
    assert not told["resumable"] and "it was not started here by this user" in told["stuck"]


def complete_run(project):
    project.git_init()
    (project.path / ".gitignore").write_text(".ralph/\n")
    project.agent_script("echo x >> work; echo 'A message'; echo '<response>DONE</response>'")
    project.guardrails("touch ../../ran ../ran; true")
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    assert project.run("run", "-p", "x").code == 0
    return project.run_folder() / "journal.jsonl"


def forget_runs(project):
    for path in project.base.glob("**/ran"):
        path.unlink()


def evil(journal):
    """The same journal with another command, and a good chain: whoever can write it can do that."""
    lines, last = [], ""
    for line in journal.read_bytes().splitlines():
        record = json.loads(line)
        if last:
            record["prev"] = last
        record = json.loads(json.dumps(record).replace("touch ../../ran ../ran; true", "touch ../evil ../../evil; true"))
        new = json.dumps(record, separators=(",", ":")).encode()
        last = hashlib.sha256(new).hexdigest()
        lines.append(new)
    journal.write_bytes(b"".join(line + b"\n" for line in lines))


@pytest.mark.parametrize("how", ["of another machine", "changed here"])
def test_the_commands_in_a_journal_that_is_not_this_machines_do_not_run(project, how):
    journal = complete_run(project)
    if how == "of another machine":
        shutil.rmtree(project.home / ".local/state/ralph")
    evil(journal)
    forget_runs(project)
    result = project.run("runs", "verify", "--rerun", env={"TMPDIR": str(project.tmp)})
    assert result.code == 1, result
    assert "the checks were not run again" in result.out and 'touch ../evil ../../evil; true' in result.out and "add --trust" in result.out
    assert not list(project.base.glob("**/evil"))
    result = project.run("runs", "verify", "--rerun", "--trust")
    assert "the checks were not run again" not in result.out and list(project.base.glob("**/evil")), result


def test_an_agent_can_not_accept_them(project):
    journal = complete_run(project)
    evil(journal)
    result = project.run("runs", "verify", "--rerun", "--trust", env={"RALPH_RUN_ID": "20260101-000000-0000"})
    assert result.code == 2 and "--trust" in result.err, result
    assert not list(project.base.glob("**/evil"))


def test_those_of_an_own_run_do(project):
    complete_run(project)
    forget_runs(project)
    result = project.run("runs", "verify", "--rerun")
    assert result.code == 0 and list(project.base.glob("**/ran")), result
