"""An agent writes to the journal of the run that it is in: shortens it, adds records, changes one in its place. A run whose journal proves
nothing is not complete. What is forged afterwards is said by `runs verify`."""
import hashlib
import json
import os

import pytest

from plan_support import Plan, story
from support import wait_until
from task_support import Tasks

WRITES = {
    "shortened": "open(journal, 'r+').truncate(300)",
    "emptied": "open(journal, 'w').close()",
    "added to": "last = open(journal, 'rb').read().splitlines()[-1]; "
                "open(journal, 'ab').write(json.dumps({'v': 2, 'seq': json.loads(last)['seq'] + 1, 'time': '2026-01-01T00:00:00.000Z', "
                "'prev': hashlib.sha256(last).hexdigest(), 'type': 'run_ended', 'status': 'complete', 'reason': 'all is well'}).encode() + b'\\n')",
    "an unfinished line": "open(journal, 'a').write('{')",
}
PYTHON = """import glob, hashlib, json, os, sys
journal = glob.glob('.ralph/runs/*/journal.jsonl')[-1]
%s
print('<response>DONE</response>')"""


@pytest.mark.parametrize("how", WRITES)
def test_the_run_ends_and_says_so(project, how, whoever):
    project.git_init()
    project.python_agent(PYTHON % WRITES[how])
    result = project.run("run", "-p", "do it", **whoever())
    assert result.code == 2, result
    assert "the journal" in result.err and "can't prove what the run did; start a new run" in result.err
    assert "Complete" not in result.out
    resumed = project.run("runs", "resume", **whoever())
    assert resumed.code == 2 and "is not as ralph wrote it" in resumed.err + resumed.out or "complete" not in resumed.out.lower(), resumed
    assert project.run("runs", "verify", **whoever()).code in (1, 2)


IN_PLACE = {
    "the prompt": "text.replace(b'do it', b'do in')",
    "a number": "text.replace(b'\"maxIterations\":10', b'\"maxIterations\":99')",
}


@pytest.mark.parametrize("how", IN_PLACE)
def test_a_record_that_was_changed_in_its_place_is_no_proof(project, how):
    project.git_init()
    project.python_agent(PYTHON % f"text = open(journal, 'rb').read(); new = {IN_PLACE[how]}; assert new != text and len(new) == len(text); open(journal, 'r+b').write(new)")
    result = project.run("run", "-p", "do it")
    assert result.code == 2, result
    assert "somebody changed the journal, so it no longer proves what the run did" in result.out
    assert project.last("decided")["rule"] == "journal_changed"
    verified = project.run("runs", "verify")
    assert verified.code == 1 and "does not follow from the line before it" in verified.out, verified


IN_PLACE_IN = "data = open(%s, 'rb').read(); new = data.replace(b'do it', b'do in'); assert new != data; open(%s, 'r+b').write(new)"


def test_a_promise_of_a_loop_from_outside_is_no_proof_either(project):
    project.git_init()
    project.session_agent("j=$(echo .ralph/runs/*/journal.jsonl); printf 'do in' | dd of=$j bs=1 conv=notrunc status=none "
                          "seek=$(grep -abo 'do it' $j | head -n 1 | cut -d: -f1)", "<promise>DONE</promise>")
    result = project.run("loop", "run", "do it", "--on-promise-no-work", "accept")
    assert result.code == 2 and "somebody changed the journal" in result.out, result


def test_nor_is_the_done_of_a_task(project):
    tasks = Tasks(project)
    agent = project.base / "agent.py"
    agent.write_text("import os; folder = os.environ['TASK_FOLDER'] + '/'; journal = folder + 'journal.jsonl'; "
                     + IN_PLACE_IN % ("journal", "journal") + "; open(folder + 'DONE', 'w')")
    result = tasks.run(f"python3 {agent}", "--prompt", "do it")
    assert result.code == 2 and "somebody changed the journal" in result.out, result
    again = tasks.run("echo never", "--prompt", "do it")
    assert again.code == 2 and "is not as ralph wrote it" in again.err and "move it away to begin anew" in again.err, again
    assert "never" not in again.out
    os.rename(tasks.folder() / "journal.jsonl", tasks.folder() / "damaged.jsonl")
    assert tasks.run("true", "--prompt", "do it").code == 0


def test_a_killed_task_does_not_go_on_with_a_journal_of_somebody_else(project):
    """All records follow from each other, but they are not the ones that ralph's seal names."""
    tasks = Tasks(project)
    running = tasks.start("cat > /dev/null; touch $TASK_FOLDER/begun; sleep 60", "--prompt", "do it", "--check", "echo 50 passed")
    wait_until(lambda: (tasks.folder() / "begun").exists(), what="the agent")
    running.kill_both()
    journal = tasks.folder() / "journal.jsonl"
    lines, prev = [], ""
    for line in journal.read_text().splitlines():
        record = json.loads(line)
        if prev:
            record["prev"] = prev
        if record["type"] == "run_started":
            record["maxIterations"] = 7
        lines.append(json.dumps(record))
        prev = hashlib.sha256(lines[-1].encode()).hexdigest()
    journal.write_text("".join(line + "\n" for line in lines))
    result = tasks.run("echo never", "--prompt", "do it")
    assert result.code == 2 and "is not as ralph wrote it (records are missing)" in result.err, result
    assert "never" not in result.out


def test_a_plan_is_not_complete_either(project):
    plan = Plan(project, [story("US-001")])
    plan.cheat("""import glob
journal = glob.glob(str(project / '.ralph/runs/*/journal.jsonl'))[-1]
data = Path(journal).read_bytes(); new = data.replace(b'Title of US-001', b'Title of US-009'); assert new != data; open(journal, 'r+b').write(new)""",
               mode="review", phase="after")
    result = plan.run()
    assert result.code == 2 and "somebody changed the journal" in result.out, result


@pytest.mark.parametrize("how", ["os.replace(journal, 'elsewhere')", "os.rename(os.path.dirname(journal), 'elsewhere')",
                                 "import shutil; shutil.rmtree('.ralph')",
                                 "os.unlink(journal); os.symlink('/dev/null', journal)",
                                 "open('mine', 'w').write('{}\\n'); os.replace('mine', journal)"])
def test_one_that_was_taken_away_or_exchanged_is_written_again(project, how):
    project.git_init()
    project.python_agent(PYTHON % how)
    result = project.run("run", "-p", "do it")
    assert result.code == 0, result
    assert [r["type"] for r in project.journal()][0] == "run_started" and project.last("run_ended")["status"] == "complete"
    verified = project.run("runs", "verify")
    assert verified.code == 0, verified


# ---- afterwards

def forged(project, change):
    """Changes the receipt, in both its forms, as somebody would who knows the format."""
    folder = project.run_folder()
    receipt = json.loads((folder / "receipt.json").read_text())
    change(receipt)
    (folder / "receipt.json").write_text(json.dumps(receipt, indent=2))


@pytest.mark.parametrize("what, change", [
    ("status", lambda r: r.update(status="complete", exitCode=0)),
    ("checks", lambda r: r["checks"][0].update(outcome="passed", exitCode=0)),
    ("commits", lambda r: r["commits"].update(after="0" * 40)),
    ("answers", lambda r: r["answers"][0].update(response="DONE")),
    ("journal", lambda r: r["journal"].update(sha256="0" * 64)),
    ("approvedBy", lambda r: r.update(approvedBy="a person")),
])
def test_a_receipt_that_was_made_better_does_not_fit(project, what, change):
    project.git_init()
    project.guardrails("exit 3")
    project.agent_script("echo no")
    assert project.run("run", "-p", "do it", "-m", "1").code == 1
    assert project.run("runs", "verify").code == 0
    forged(project, change)
    verified = project.run("runs", "verify")
    assert verified.code == 1 and "receipt.json is not what the journal says" in verified.out and what in verified.out, verified


def test_a_page_that_was_made_better_does_not_fit(project):
    project.git_init()
    project.guardrails("exit 3")
    project.agent_script("echo no")
    project.run("run", "-p", "do it", "-m", "1")
    page = project.run_folder() / "receipt.md"
    page.write_text(page.read_text().replace("failed", "passed"))
    verified = project.run("runs", "verify")
    assert verified.code == 1 and "receipt.md is missing, or not what the journal says" in verified.out, verified
