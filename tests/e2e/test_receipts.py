"""Receipts, and `ralph runs verify`: what a third person can check of a run."""
import hashlib
import json
import shutil
import signal

import pytest

from plan_support import Plan, story
from support import wait_until

DONE = "echo '<response>DONE</response>'"


def receipt(project):
    return json.loads((project.run_folder() / "receipt.json").read_text())


def complete_run(project, **settings):
    """A run with a commit, two checks and a protected file that was put back."""
    project.git_init()
    (project.path / "test.sh").write_text("echo '3 passed in 0.10s'\n")
    project.git("add", "-A")
    project.git("commit", "-qm", "test")
    project.agent_script('case "$1" in Provide*) echo Work;; *) echo x > test.sh; echo hi > made; ' + DONE + ";; esac")
    project.guardrails("sh test.sh", "grep -q hi made")
    project.settings(scm={"command": "git", "tasks": ["commit"]}, protect={"paths": ["test.sh"]}, **settings)
    before = project.git("rev-parse", "HEAD").strip()
    result = project.run("run", "-p", "make hi")
    assert result.code == 0, result
    return before


def findings(project, *arguments):
    """{what: [(fits, text), ...]} and the exit code."""
    result = project.run("runs", "verify", "--json", *arguments)
    said = json.loads(result.out)
    assert said["fits"] == (result.code == 0), result
    found = {}
    for one in said["findings"]:
        found.setdefault(one["what"], []).append((one["fits"], one["text"]))
    return found, result.code


def wrong(project, *arguments):
    found, code = findings(project, *arguments)
    assert code == 1
    return {what: text for what, all in found.items() for fits, text in all if fits is False}


def test_a_receipt_says_what_was_asked_checked_and_made(project):
    before = complete_run(project)
    said = receipt(project)
    assert (said["v"], said["way"], said["status"], said["exitCode"], said["iterations"]) == (1, "run", "complete", 0, 1)
    assert said["asked"]["prompt"] == "make hi" and said["asked"]["sha256"] == hashlib.sha256(b"make hi").hexdigest()
    assert said["commits"] == {"before": before, "after": project.git("rev-parse", "HEAD").strip()}
    check = said["checks"][0]
    assert (check["command"], check["outcome"], check["exitCode"], check["testsPassed"]) == ("sh test.sh", "passed", 0, 3)
    assert check["logSha256"] == hashlib.sha256((project.path / check["logFile"]).read_bytes()).hexdigest()
    assert "testsPassed" not in said["checks"][1]
    assert [(c["path"], c["action"]) for c in said["changed"]] == [("test.sh", "put_back")]
    assert said["answers"][0]["response"] == "DONE" and said["scm"][0]["outcome"] == "done"
    assert said["versions"]["ralph"] and said["versions"]["agents"] == ["agent"]
    page = (project.run_folder() / "receipt.md").read_text()
    assert "make hi" in page and check["logSha256"] in page and "test.sh" in page


def test_a_run_fits_and_later_commits_are_fine(project):
    complete_run(project)
    (project.path / "later").write_text("x")
    project.git("add", "-A")
    project.git("commit", "-qm", "later")
    found, code = findings(project)
    assert code == 0, found
    assert {what: fits for what, all in found.items() for fits, _ in all} == {
        "journal": True, "its end": True, "receipt": True, "logs": True, "commits": True}
    result = project.run("runs", "verify")
    assert result.code == 0 and "everything matches" in result.out, result


def test_a_run_that_ended_at_its_limit_has_a_receipt_too(project):
    project.agent_script("true")
    assert project.run("run", "-p", "x", "-m", "1").code == 1
    assert receipt(project)["status"] == "limit"
    assert findings(project)[1] == 0


def test_a_resumed_run_gets_a_new_one(project):
    project.agent_script("[ $RALPH_ITERATION = 1 ] || " + DONE)
    assert project.run("run", "-p", "x", "-m", "1").code == 1
    assert project.run("runs", "resume", "--max-iterations", "2").code == 0
    said = receipt(project)
    assert (said["status"], said["iterations"]) == ("complete", 2)
    assert findings(project)[1] == 0


def test_another_machine_can_not_check_the_end_and_says_so(project):
    complete_run(project)
    shutil.rmtree(project.home / ".local/state/ralph")
    found, code = findings(project)
    assert code == 0 and found["its end"][0][0] is None and "does not remember" in found["its end"][0][1]


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize("tamper, what, says", [
    (lambda run: change(run / "receipt.json", '"testsPassed": 3', '"testsPassed": 30'), "receipt", "checks"),
    (lambda run: change(run / "receipt.json", "{", '{"extra": 1,'), "receipt", "extra"),
    (lambda run: change(run / "receipt.md", "complete", "wonderful"), "receipt", "receipt.md"),
    (lambda run: (run / "receipt.json").unlink(), "receipt", "missing"),
    (lambda run: (run / "receipt.json").write_text("no"), "receipt", "receipt.json"),
    (lambda run: (run / "guardrail_1_sh_test_sh.log").write_text("4 passed in 0.10s\n"), "logs", "was changed"),
    (lambda run: (run / "guardrail_1_sh_test_sh.log").unlink(), "logs", "missing"),
    (lambda run: change(run / "journal.jsonl", '"testsPassed":3', '"testsPassed":4'), "journal", "does not follow"),
    (lambda run: (run / "journal.jsonl").write_text("".join((run / "journal.jsonl").read_text().splitlines(True)[:-1])), "journal", "has no end"),
    (lambda run: (run / "journal.jsonl").unlink(), "journal", "journal.jsonl"),
], ids=["receipt", "more in the receipt", "page", "no receipt", "no JSON", "log", "no log", "journal", "shortened", "no journal"])
def test_what_was_changed_afterwards_is_said_in_words(project, tamper, what, says):
    complete_run(project)
    tamper(project.run_folder())
    assert says in wrong(project)[what]


def test_a_journal_that_was_made_again_with_a_good_chain_does_not_lead_to_the_remembered_end(project):
    complete_run(project)
    path = project.run_folder() / "journal.jsonl"
    lines, prev = [], None
    for line in path.read_text().splitlines():
        record = json.loads(line)
        if record["type"] == "guardrail_ended":
            record["outcome"] = "passed"
            record["testsPassed"] = 300
        if prev:
            record["prev"] = prev
        lines.append(json.dumps(record, separators=(",", ":"), ensure_ascii=False))
        prev = hashlib.sha256(lines[-1].encode()).hexdigest()
    path.write_text("\n".join(lines) + "\n")
    said = wrong(project)
    assert "journal" not in said and "remembers is not in it" in said["its end"] and "receipt" in said


def test_a_final_commit_that_is_gone_or_cut_off_is_said(project):
    complete_run(project)
    after = receipt(project)["commits"]["after"]
    project.git("reset", "-q", "--hard", "HEAD~1")
    assert "not reachable" in wrong(project)["commits"]
    for ref in ("refs/stash", "refs/replace/" + "1" * 40):
        project.git("update-ref", ref, after)
        assert "not reachable" in wrong(project)["commits"], ref
        project.git("update-ref", "-d", ref)
    project.git("tag", "kept", after)
    assert findings(project)[1] == 0
    project.git("tag", "-d", "kept")
    project.git("reflog", "expire", "--expire=now", "--all")
    project.git("gc", "-q", "--prune=now")
    assert "is not in this repository" in wrong(project)["commits"]


def test_a_killed_run_does_not_fit(project):
    project.agent_script("touch ../started; sleep 60")
    running = project.start("run", "-p", "x")
    wait_until(lambda: (project.base / "started").exists())
    running.signal(signal.SIGKILL)
    running.wait()
    project.nothing_left()
    said = wrong(project)
    assert "has no end" in said["journal"] and "missing" in said["receipt"]


def test_an_unknown_run_is_exit_2(project):
    complete_run(project)
    assert project.run("runs", "verify", "19990101-000000-0000").code == 2
    assert project.run("runs", "verify", "--rerum").code == 2


def test_rerun_runs_the_checks_on_a_clean_checkout(project):
    complete_run(project)
    (project.path / "made").write_text("not what was committed\n")
    found, code = findings(project, "--rerun")
    assert code == 0, found
    assert [text for _, text in found["rerun"]] == ["sh test.sh: passed again, 3 tests passed", "grep -q hi made: passed again"]
    assert list(project.tmp.iterdir()) == []


def test_rerun_says_what_passes_only_where_it_was_run(project):
    project.git_init()
    (project.path / ".gitignore").write_text("secret\n.ralph\n")
    project.agent_script('case "$1" in Provide*) echo Work;; *) echo "4 passed in 0.1s" > secret; echo x > f; ' + DONE + ";; esac")
    project.guardrails("cat secret || echo '2 passed in 0.1s'", "test -e secret")
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    assert project.run("run", "-p", "x").code == 0
    result = project.run("runs", "verify", "--rerun")
    assert result.code == 1, result
    assert "4 tests passed in the run, and 2 tests passed now" in result.out
    assert "test -e secret: passed in the run, and failed with exit code 1 now" in result.out


def test_a_plan_says_who_approved_what(project):
    plan = Plan(project, [story("US-001")], verifyCommands=["true"])
    assert plan.run().code == 0
    said = receipt(project)["verdicts"]
    assert [(v["mode"], v["story"], v["outcome"]) for v in said] == [
        ("implement", "US-001", "submitted"), ("review", "US-001", "approved")]
    assert all(v["agent"] for v in said) and '<review story="US-001">approved</review>' in said[1]["words"]
    assert findings(project)[1] == 0


def test_a_plan_says_what_was_asked(project):
    plan = Plan(project, [story("US-001")])
    assert plan.run().code == 0
    said = receipt(project)
    asked = (plan.folder / "prompt.md").read_text()
    assert said["asked"] == {"source": "ralph/prompt.md", "prompt": asked, "sha256": hashlib.sha256(asked.encode()).hexdigest()}
    assert [v["title"] for v in said["verdicts"]] == ["Title of US-001"] * 2
    assert "Title of US-001" in (project.run_folder() / "receipt.md").read_text()


def test_rerun_has_the_time_limits_and_tries_of_the_run(project):
    plan = Plan(project, [story("US-001")], verifyCommands=[f"[ ! -e {project.base}/slow ] || sleep 1000"])
    project.guardrails({"command": f"if [ -e {project.base}/flaky ]; then rm {project.base}/flaky; exit 1; fi", "flakeRetries": 1})
    project.settings({"plan": {"verifyTimeoutSeconds": 3}})
    plan.commit_all("checks")
    assert plan.run().code == 0
    (project.base / "flaky").touch()
    assert findings(project, "--rerun")[1] == 0 and not (project.base / "flaky").exists()
    (project.base / "slow").touch()
    found, code = findings(project, "--rerun")
    assert code == 1 and "timed out now" in found["rerun"][1][1], found


def test_a_secret_is_in_no_receipt(project):
    project.agent_script("echo '<response>hunter2-very-secret</response>'")
    project.run("run", "-p", "use hunter2-very-secret", "-m", "1", env={"DEPLOY_TOKEN": "hunter2-very-secret"})
    for name in ("receipt.json", "receipt.md"):
        assert "hunter2" not in (project.run_folder() / name).read_text()


def test_a_receipt_has_the_versions_of_the_agents(project):
    """As the package says in which the program is installed: no agent is started for it."""
    (project.base / "package").mkdir()
    (project.base / "package/package.json").write_text(json.dumps({"name": "x", "version": "9.8.7", "bin": {"claude": "cli"}}))
    answer = json.dumps({"type": "result", "subtype": "success", "result": "<response>DONE</response>", "session_id": "s"})
    project.agent_script(f"echo started >> {project.base}/starts; echo '{answer}'", name="package/cli", kind="claude")
    assert project.run("run", "-p", "do it").code == 0
    said = receipt(project)["versions"]
    assert said["agentVersions"] == {said["agents"][0]: "9.8.7"}
    assert f"{said['agents'][0]} 9.8.7" in (project.run_folder() / "receipt.md").read_text()
    assert (project.base / "starts").read_text() == "started\n"
    assert findings(project)[1] == 0


def test_an_agent_whose_version_is_unknown_is_no_failure(project):
    project.agent_script("echo '<response>DONE</response>'")
    assert project.run("run", "-p", "do it").code == 0
    assert receipt(project)["versions"]["agentVersions"] == {}
    assert "agent (version unknown)" in (project.run_folder() / "receipt.md").read_text().replace("\\", "")
