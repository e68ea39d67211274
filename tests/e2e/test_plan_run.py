"""ralph plan run: stories go their way from implementation over reviews to done, and only ralph's own checks count."""
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import unquote

import pytest

from plan_support import Plan, approved, rejected, story, submitted
from support import NOBODY, RALPH, Project, ordinary_user, wait_until

# Notes tasks.json as each turn finds it: before-2.json is what iteration 1 left, after all that ralph did to it.
NOTE_STATE = "(base / f'before-{iteration}.json').write_text(text())"
# One that fails in the iterations of a list, with something to read.
FAILS_IN = 'case ",{}," in *",$RALPH_ITERATION,"*) echo "the widget squeaks" >&2; exit 1;; esac'


def fails_in(*iterations):
    return FAILS_IN.format(",".join(map(str, iterations)))


def watched(*arguments, **how):
    return Plan(*arguments, **how).cheat(NOTE_STATE, phase="before", always=True)


def review_after(plan, iteration, id="US-001"):
    """(passes, reviewStatus, reviewCount, reviewFeedback) of a story when the iteration was over."""
    path = plan.project.base / f"before-{iteration + 1}.json"
    stories = json.loads(path.read_text())["userStories"] if path.exists() else plan.stories()
    one = next(one for one in stories if one["id"] == id)
    return one["passes"], one["reviewStatus"], one["reviewCount"], one["reviewFeedback"]


def reviews_made(plan):
    """{id: number of review iterations}, as the agent counted them."""
    made = {}
    for turn in plan.modes():
        mode, id = turn.split(" ", 1)
        made[id] = made.get(id, 0) + (mode == "review")
    return made


def outcomes(plan):
    return [(r["iteration"], r["story"], r["outcome"]) for r in plan.checked() if r["iteration"] > 0]


# ---- the life of a story (Verification Plan 9)

def test_a_story_is_implemented_reviewed_fixed_and_reviewed_again(project):
    plan = watched(project, reviews={"US-001": 2})
    result = plan.completes()
    assert plan.modes() == ["implement US-001", "review US-001", "review-fix US-001", "review US-001"]
    assert [review_after(plan, i) for i in (1, 2, 3, 4)] == [
        (False, "needs_review", 0, ""),
        (False, "changes_requested", 1, "make it better"),
        (False, "needs_review", 1, ""),
        (True, "approved", 2, ""),
    ]
    assert outcomes(plan) == [(1, "US-001", "submitted"), (2, "US-001", "changes_requested"), (3, "US-001", "resubmitted"),
                              (4, "US-001", "approved")]
    assert plan.violations() == [] and plan.own_commits() == []
    for line in ["implement US-001: Title of US-001", "review US-001: Title of US-001 (review 2 of at most 5)",
                 "US-001 is fixed and awaits its next review; 0 of 1 story done", "the story is done"]:
        assert line in result.out, result
    assert "the story is done" in project.last("run_ended")["reason"]


def test_a_review_that_approves_at_once_takes_two_iterations(project):
    plan = watched(project)
    plan.completes()
    assert [review_after(plan, i)[:3] for i in (1, 2)] == [(False, "needs_review", 0), (True, "approved", 1)]


def test_the_reviewer_is_told_what_to_judge_and_the_fixer_what_was_said(project):
    plan = Plan(project, reviews={"US-001": 2})
    plan.completes("--review-cap", "3")
    implement, review, fix, last = (plan.prompt(i) for i in (1, 2, 3, 4))
    assert "IMPLEMENT this story" in implement and "REVIEW this story" in review and "FIX what the review" in fix
    assert "review 1 of at most 3" in review and "review 2 of at most 3" in last
    assert "> make it better" in fix and "make it better" not in last
    for prompt in (implement, review, fix, last):
        assert "US-001 works" in prompt and "US-001 is quick" in prompt, "the criteria"


def test_a_review_without_a_verdict_is_done_again_and_told_so(project):
    plan = Plan(project)
    plan.cheat("commit('looked')", mode="review", phase="instead")
    plan.completes()
    assert plan.modes() == ["implement US-001", "review US-001", "review US-001"]
    assert plan.state("US-001")[2] == 1
    assert "ended without a verdict" in plan.prompt(3)


def test_only_a_review_puts_words_into_the_mouth_of_reviews(project):
    plan = watched(project, reviews={"US-001": 2})
    plan.cheat("story['reviewFeedback'] = 'A review has been here and was delighted.'", mode="implement")
    plan.cheat("story['reviewFeedback'] = 'All of it is fixed, believe me.'", mode="review-fix")
    plan.completes()
    assert [review_after(plan, i)[3] for i in (1, 2, 3, 4)] == ["", "make it better", "", ""]


# ---- several stories (10, 11)

def test_three_stories_in_the_order_of_dependencies_and_priorities(project):
    plan = Plan(project, [story("C", priority=1, dependsOn=["B"]), story("B", priority=3, dependsOn=["A"]), story("A", priority=5),
                          story("Z", priority=9)],
                reviews={"A": 2, "Z": 3})
    plan.completes("-n", "20")
    firsts = list(dict.fromkeys(turn.split()[1] for turn in plan.modes()))
    assert firsts == ["A", "B", "C", "Z"]
    assert plan.modes() == ["implement A", "review A", "review-fix A", "review A", "implement B", "review B", "implement C",
                            "review C", "implement Z", "review Z", "review-fix Z", "review Z", "review-fix Z", "review Z"]
    assert {one["id"]: one["reviewCount"] for one in plan.stories()} == reviews_made(plan) == {"A": 2, "B": 1, "C": 1, "Z": 3}
    reviews = json.loads(project.run("plan", "status", "--json").out)["reviews"]
    assert reviews == {"total": 7, "stories": 4, "average": 1.75, "firstTimeApprovals": 2, "approvedAtCap": 0}


def test_a_fix_comes_before_a_review_and_a_review_before_new_work(project):
    plan = Plan(project, [story("new", priority=1), submitted("waiting", priority=5), rejected("sent-back", priority=9)],
                reviews={"sent-back": 2})
    plan.completes()
    assert plan.modes() == ["review-fix sent-back", "review waiting", "review sent-back", "implement new", "review new"]


@pytest.mark.parametrize("priorities, order", [
    ([2, 1], ["b", "a"]),
    ([1, 1], ["a", "b"]),
    ([0.5, -1], ["b", "a"]),
    ([1e3, 999.5], ["b", "a"]),
])
def test_the_smallest_priority_comes_first_then_the_order_of_the_file(project, priorities, order):
    plan = Plan(project, [story("a", priority=priorities[0]), story("b", priority=priorities[1])])
    plan.completes("--max-iterations", "4")
    assert [turn.split()[1] for turn in plan.modes()][::2] == order


def test_a_story_that_is_split_waits_for_its_parts(project):
    plan = Plan(project)
    plan.cheat("""
for part in "ab":
    tasks["userStories"].append({**story, "id": f"US-001-{part}", "reviewStatus": None, "notes": "", "priority": 7})
story.update(reviewStatus=None, notes="cut in two", dependsOn=["US-001-a", "US-001-b"])
""", at=1)
    plan.completes()
    assert plan.modes() == ["implement US-001", "implement US-001-a", "review US-001-a", "implement US-001-b",
                            "review US-001-b", "implement US-001", "review US-001"]
    assert plan.violations() == []


# ---- the cap on reviews

def test_at_the_cap_a_review_that_asks_for_changes_approves_with_a_note(project):
    plan = Plan(project, reviews={"US-001": 99})
    result = plan.run("--review-cap", "1")
    assert result.code == 0, result
    one = plan.story("US-001")
    assert plan.state("US-001") == (True, "approved", 1)
    assert one["reviewFeedback"] == "[AUTO-APPROVED AT CAP] make it better"
    assert plan.modes() == ["implement US-001", "review US-001"]
    assert outcomes(plan)[-1] == (2, "US-001", "auto_approved")
    assert plan.own_commits()[-1][1] == "ralph: US-001 auto approved" and json.loads(plan.committed())["userStories"][0] == one
    assert "the review cap is reached" in result.out
    project.nothing_left()


def test_the_cap_counts_reviews_and_not_fixes(project):
    plan = Plan(project, reviews={"US-001": 99})
    assert plan.run("--review-cap", "3").code == 0
    assert plan.modes() == ["implement US-001", "review US-001"] + ["review-fix US-001", "review US-001"] * 2
    assert plan.state("US-001") == (True, "approved", 3) and reviews_made(plan) == {"US-001": 3}


def test_a_reviewer_that_approves_at_the_cap_by_itself_is_left_alone(project):
    plan = Plan(project)
    plan.cheat("story['reviewFeedback'] = '[AUTO-APPROVED AT CAP] rough edges'", mode="review")
    plan.completes("--review-cap", "1")
    assert plan.story("US-001")["reviewFeedback"] == "[AUTO-APPROVED AT CAP] rough edges"
    assert plan.own_commits() == [] and plan.violations() == []
    assert "this is the last review" in plan.prompt(2)


def test_the_cap_never_approves_while_a_verify_command_fails(project):
    plan = watched(project, reviews={"US-001": 99}, verifyCommands=[fails_in(2, 4, 6, 8)])
    result = plan.run("--review-cap", "1", "-n", "8")
    assert result.code == 1, result
    assert all(review_after(plan, i)[:2] == (False, "changes_requested") for i in (2, 4, 6, 8))
    assert plan.state("US-001")[2] == 1, "it stays where another review is possible"
    assert plan.violations() == []


def test_the_cap_approves_once_the_verify_command_passes(project):
    plan = watched(project, reviews={"US-001": 99}, verifyCommands=[fails_in(2)])
    assert plan.run("--review-cap", "1").code == 0
    assert review_after(plan, 2)[:3] == (False, "changes_requested", 1)
    assert len(plan.modes()) == 4 and plan.story("US-001")["reviewFeedback"].startswith("[AUTO-APPROVED AT CAP]")


# ---- without reviews

def test_without_reviews_passing_alone_completes(project):
    plan = watched(project, [story("US-001"), story("US-002", dependsOn=["US-001"], priority=0)])
    plan.cheat("(base / 'marker.json').write_text(Path('.ralph-active').read_text())", phase="before")
    result = plan.run("--skip-review")
    assert result.code == 0, result
    assert plan.modes() == ["implement US-001", "implement US-002"]
    assert plan.state("US-001") == plan.state("US-002") == (True, None, 0)
    assert json.loads((project.base / "marker.json").read_text())["skipReview"] is True
    assert "reviews are switched off" in plan.prompt(1)
    assert outcomes(plan) == [(1, "US-001", "passed"), (2, "US-002", "passed")] and plan.violations() == []
    assert not plan.marker.exists()


def test_without_reviews_a_failing_verify_command_still_sends_a_story_back(project):
    plan = watched(project, verifyCommands=[fails_in(1)])
    result = plan.run("--skip-review")
    assert result.code == 0, result
    assert review_after(plan, 1) == (False, None, 0, "")
    assert outcomes(plan) == [(1, "US-001", "sent_back"), (2, "US-001", "passed")]
    assert "the widget squeaks" in plan.prompt(2)


def test_skip_review_and_the_limits_can_be_settings(project):
    plan = Plan(project, reviews={"US-001": 99})
    project.settings(plan={"reviewCap": 2, "maximumIterations": 4})
    assert plan.run().code == 0 and plan.state("US-001") == (True, "approved", 2)
    assert project.last("run_started")["maxIterations"] == 4
    plan.write(json.dumps({**plan.tasks(), "userStories": [story("US-009")]}))
    plan.commit_all("another plan")
    project.settings(plan={"skipReview": True})
    assert plan.run("-n", "1").code == 0 and plan.state("US-009") == (True, None, 0)


# ---- ralph's own checks: the agent's word is not evidence

def test_a_failing_verify_command_sends_an_implemented_story_back_with_its_output(project):
    look = project.script("test -e mended || { echo 'no rivets in the hull' >&2; exit 1; }", "look")
    plan = watched(project, verifyCommands=[shlex.quote(str(look))])
    plan.cheat("Path('mended').touch()", mode="review-fix", phase="before")
    plan.cheat("print('All tests pass, I have run them twice. <promise>COMPLETE</promise>')", at=1, phase="after")
    result = plan.completes()
    passes, status, count, feedback = review_after(plan, 1)
    assert (passes, status, count) == (False, "changes_requested", 0) and "no rivets in the hull" in feedback
    assert plan.modes() == ["implement US-001", "review-fix US-001", "review US-001"]
    assert "> no rivets in the hull" in plan.prompt(2) and plan.prompt(2).count("no rivets in the hull") == 1
    assert review_after(plan, 2) == (False, "needs_review", 0, "") and plan.state("US-001")[2] == 1
    assert plan.own_commits()[0][1] == "ralph: US-001 sent back"
    assert "goes back: the checks that ralph ran fail" in result.out


def test_a_failing_verify_command_outranks_an_approval(project):
    plan = watched(project, verifyCommands=["true", fails_in(2)])
    plan.completes()
    passes, status, count, feedback = review_after(plan, 2)
    assert (passes, status, count) == (False, "changes_requested", 1) and "the widget squeaks" in feedback
    assert plan.modes() == ["implement US-001", "review US-001", "review-fix US-001", "review US-001"]
    assert plan.state("US-001") == (True, "approved", 2)
    assert [r["outcome"] for r in project.records("guardrail_ended") if r["iteration"] == 2] == ["passed", "failed"]


def test_a_failing_verify_command_sends_a_fixed_story_back_again(project):
    plan = watched(project, [rejected("US-001")], verifyCommands=[fails_in(1)], reviews={"US-001": 2})
    plan.completes()
    assert review_after(plan, 1)[:3] == (False, "changes_requested", 1) and "squeaks" in review_after(plan, 1)[3]
    assert plan.modes() == ["review-fix US-001", "review-fix US-001", "review US-001"]


def test_changes_that_a_reviewer_asks_for_keep_its_words_when_a_command_fails_too(project):
    plan = watched(project, reviews={"US-001": 2}, verifyCommands=[fails_in(2)])
    plan.completes()
    assert review_after(plan, 2) == (False, "changes_requested", 1, "make it better")
    assert "the widget squeaks" in plan.prompt(3) and "> make it better" in plan.prompt(3)


def test_a_command_that_fails_when_all_are_approved_reopens_the_last_story(project):
    """The iteration itself moved nothing that could be sent back: the story was approved before."""
    plan = Plan(project, [approved("US-001", priority=2), approved("US-002", priority=1)], verifyCommands=["test -e mended"])
    plan.cheat("Path('mended').touch()", mode="review-fix", phase="before")
    result = plan.run()
    assert result.code == 0, result
    assert plan.modes() == ["review-fix US-001", "review US-001"], "the one that came last"
    assert plan.state("US-001") == (True, "approved", 2) and plan.state("US-002") == (True, "approved", 1)
    assert "ralph: US-001 sent back" in [subject for _, subject in plan.own_commits()]


def test_a_plan_that_is_done_is_checked_once_and_starts_no_agent(project):
    plan = Plan(project, [approved("US-001"), approved("US-002")], verifyCommands=["echo ran >> ../ran"])
    result = plan.run()
    assert result.code == 0, result
    assert plan.turns() == [] and (project.base / "ran").read_text() == "ran\n"
    ended = project.last("run_ended")
    assert ended["status"] == "complete" and ended["iterations"] == 0
    assert "all 2 stories are done and the check passed" in ended["reason"]
    assert not plan.marker.exists()


def test_a_plan_that_is_done_but_fails_is_not_complete(project):
    plan = Plan(project, [approved("US-001")], verifyCommands=["exit 3"])
    result = plan.run("-n", "2")
    assert result.code == 1, result
    assert plan.state("US-001")[:2] == (False, "changes_requested")
    assert "exit 3 still fails" in project.last("run_ended")["reason"]


def test_guardrails_of_the_settings_are_checks_too_and_each_command_runs_once(project):
    plan = watched(project, verifyCommands=["echo verify >> ../ran", "echo both >> ../ran"])
    project.guardrails("echo guardrail >> ../ran", "echo both >> ../ran", {"command": fails_in(2), "hint": "oil it"})
    plan.completes()
    assert (project.base / "ran").read_text().split() == ["guardrail", "both", "verify"] * 4
    assert review_after(plan, 2)[:2] == (False, "changes_requested") and "oil it" in review_after(plan, 2)[3]
    assert list(project.ralph.glob("guardrail_1_*verify*.log"))


def test_a_verify_command_that_the_agent_adds_counts_from_then_on(project):
    plan = watched(project)
    plan.cheat("tasks['verifyCommands'].append('test -e later')", at=1)
    plan.cheat("Path('later').touch()", mode="review-fix", phase="before")
    plan.completes()
    assert review_after(plan, 1)[:2] == (False, "changes_requested")
    assert plan.tasks()["verifyCommands"] == ["test -e later"]


# ---- the promise

def test_completion_needs_no_promise(project):
    plan = Plan(project)
    plan.cheat("print('Nothing to add.\\n<review story=\"US-001\">approved</review>'); sys.exit(0)", mode="review", phase="after")
    plan.completes()
    reason = project.last("run_ended")["reason"]
    assert "the story is done" in reason and "promised" not in reason


def test_a_promise_is_told_as_such(project):
    plan = Plan(project)
    plan.completes()
    assert project.last("run_ended")["reason"].endswith("as the agent promised")


def test_a_promise_that_comes_too_early_changes_nothing_and_is_told(project):
    plan = Plan(project, [story("US-001"), story("US-002")])
    plan.cheat("print('<promise>COMPLETE</promise>')", at=1, phase="after")
    plan.completes()
    assert len(plan.modes()) == 4
    assert "<promise>COMPLETE</promise> was said too early" in plan.prompt(2)
    assert "too early" not in plan.prompt(3)
    first = next(r for r in project.records("decided") if r["rule"] == "promise_too_early")
    assert first["iteration"] == 1 and "0 of 2 stories done" in first["reason"]


@pytest.mark.parametrize("words", ["<promise>complete</promise>", "<promise>DONE</promise>", "<response>COMPLETE</response>",
                                   "COMPLETE", "<promise> COMPLETE </promise>", "<promise>COMPLETE"])
def test_other_words_are_no_promise(project, words):
    plan = Plan(project)
    plan.cheat(f"print({words!r})", at=1, phase="after")
    plan.completes()
    assert "too early" not in plan.prompt(2)
    assert not [r for r in project.records("decided") if r["rule"] == "promise_too_early"]


def test_a_promise_in_the_last_allowed_iteration_counts(project):
    plan = Plan(project)
    plan.completes("-n", "2")
    assert project.last("run_ended")["iterations"] == 2


# ---- agents that fail

def test_an_empty_response_is_tried_again(project):
    plan = Plan(project)
    plan.cheat("sys.exit(0)", phase="before")
    plan.completes("-n", "2")
    assert [(r["iteration"], r["attempt"], r["outcome"]) for r in project.records("agent_ended")] == [
        (1, 1, "empty"), (1, 2, "ok"), (2, 1, "ok")]


def test_empty_responses_are_tried_again_only_so_often(project):
    plan = Plan(project)
    plan.cheat("sys.exit(0)", phase="before", always=True)
    plan.agent(retry={"attempts": 3})
    result = plan.run("-n", "2")
    assert result.code == 1, result
    assert [(r["iteration"], r["attempt"], r["outcome"]) for r in project.records("agent_ended")] == [
        (i, a, "empty") for i in (1, 2) for a in (1, 2, 3)]
    assert plan.state("US-001") == (False, None, 0)


@pytest.mark.parametrize("crash", ["os.kill(os.getpid(), signal.SIGKILL)", "sys.exit(7)", "raise ValueError"])
def test_a_crash_is_tried_again(project, crash):
    plan = Plan(project)
    plan.cheat(crash, phase="before")
    plan.completes("-n", "2")
    assert [r["outcome"] for r in project.records("agent_ended")] == ["crashed", "ok", "ok"]


def test_a_crash_after_the_verdict_does_not_count_it_twice(project):
    plan = Plan(project)
    plan.cheat("sys.exit(9)", mode="review", phase="after")  # what it wrote is committed
    plan.cheat("if story['reviewCount'] == 1: print('It is reviewed already.\\n<review story=\"US-001\">approved</review>'); sys.exit(0)",
               mode="review", phase="before", always=True)
    plan.completes()
    assert plan.state("US-001") == (True, "approved", 1)
    assert [r["outcome"] for r in project.records("agent_ended")] == ["ok", "crashed", "ok"]


# ---- the end at a limit

def test_the_limit_ends_with_1_and_names_what_is_open(project):
    plan = Plan(project, [story(f"US-{n}") for n in range(5)])
    result = plan.run("-n", "1")
    assert result.code == 1, result
    reason = "1 iteration done, but 0 of 5 stories done; open: US-0 (needs_review), US-1, US-2 and 2 more"
    assert project.last("run_ended")["reason"] == reason and reason in result.out
    assert not plan.marker.exists()
    project.nothing_left()


def test_the_next_run_goes_on_where_the_limit_was(project):
    plan = Plan(project, [story("US-001"), story("US-002")], reviews={"US-002": 2})
    for _ in range(3):
        assert plan.run("-n", "2").code in (0, 1)
    assert plan.modes() == ["implement US-001", "review US-001", "implement US-002", "review US-002", "review-fix US-002",
                            "review US-002"]
    assert project.last("run_ended")["status"] == "complete" and plan.violations() == []


def test_what_a_run_failed_at_last_is_told_to_the_first_iteration_of_the_next(project):
    plan = watched(project, verifyCommands=["test -e mended"])
    assert plan.run("-n", "1").code == 1
    plan.cheat("Path('mended').touch()", mode="review-fix", phase="before")
    plan.completes()
    assert "> " in plan.prompt(1) and "test -e mended" in plan.prompt(1)


def test_a_budget_of_time_ends_a_plan_as_it_does_a_loop(project):
    plan = Plan(project)
    plan.cheat("time.sleep(100)", phase="before")
    project.settings(budget={"maxMinutes": 0.005})
    result = plan.run()
    assert result.code == 1, result
    assert "budget.maxMinutes" in project.last("run_ended")["reason"] and not plan.marker.exists()
    project.nothing_left()


def git_that_waits(project, at, seconds=1):
    """A git in the PATH that waits so long, once, at the nth `git status`, after it has made the file `waits`. Returns the environment."""
    folder = project.base / "bin"
    folder.mkdir()
    git = folder / "git"
    git.write_text(f"""#!/bin/sh
for word; do
  [ "$word" != status ] || echo >> '{project.base}/asked'
done
if [ "$(wc -l < '{project.base}/asked' 2> /dev/null)" = {at} ] && [ ! -e '{project.base}/waits' ]; then touch '{project.base}/waits'; sleep {seconds}; fi
exec /usr/bin/git "$@"
""")
    git.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


@pytest.mark.parametrize("at", [1, 3, 5])
def test_a_budget_that_ends_while_ralph_asks_git_is_a_limit_and_no_error(project, at):
    plan = Plan(project)
    project.settings(budget={"maxMinutes": 0.08})  # enough to come to the last of these questions on a busy machine
    result = plan.run(env=git_that_waits(project, at, seconds=5))
    assert result.code == 1 and (project.base / "waits").exists(), result
    assert "budget.maxMinutes" in project.last("run_ended")["reason"] and not plan.marker.exists()


@pytest.mark.parametrize("at", [1, 3, 5])
def test_a_second_interrupt_while_ralph_asks_git_is_an_interrupt_and_no_error(project, at):
    plan = Plan(project)
    running = project.start("plan", "run", env=git_that_waits(project, at))
    wait_until((project.base / "waits").exists)
    running.signal(signal.SIGINT)
    wait_until(lambda: project.records("signal_received"))
    running.signal(signal.SIGINT)
    result = running.wait()
    assert result.code == 130 and project.last("run_ended")["status"] == "interrupted", result
    assert not plan.marker.exists()
    project.nothing_left()


# ---- what people see at the beginning

@pytest.mark.parametrize("stories, arguments, line", [
    ([story(f"US-{n}") for n in range(5)], ["-n", "15"], "0 of 5 stories done; the rest takes about 15 iterations."),
    ([story(f"US-{n}") for n in range(5)], ["-n", "14"],
     "0 of 5 stories done; the rest takes about 15 iterations, and -n allows 14."),
    ([story("US-001")], ["--skip-review"], "0 of 1 story done; the rest takes about 1 iteration."),
    ([approved("US-001", reviewCount=3), story("US-002")], [], "1 of 2 stories done; the rest takes about 6 iterations."),
    ([approved("US-001")], [], "1 of 1 story done."),
], ids=["many", "more than allowed", "without reviews", "as the reviews so far", "done"])
def test_the_estimated_budget_is_shown_first(project, stories, arguments, line):
    shown = Plan(project, stories, git=False).run("--dry-run", *arguments)
    assert f"Demo: {line}\nThe agent runs directly, with your rights, not in a sandbox.\n" in shown.out, shown


def test_the_estimated_budget_is_the_first_line_of_a_run(project):
    result = Plan(project).completes()
    assert result.out.startswith("Demo: 0 of 1 story done; the rest takes about 3 iterations.\nThe agent runs directly")


def test_direct_mode_and_the_missing_sandbox(project):
    plan = Plan(project)
    folder = project.base / "without-bwrap"
    folder.mkdir()
    for name in ("git", "python3", "sh"):
        (folder / name).symlink_to(f"/usr/bin/{name}")
    refused = plan.run("--sandbox", env={"PATH": folder})
    assert refused.code == 2 and "--sandbox" in refused.err and "--no-sandbox" in refused.err and refused.out == ""
    assert plan.turns() == [] and not project.run_folders() and not plan.marker.exists()
    result = plan.run("--no-sandbox", "--max-iterations", "1")
    assert result.code == 1 and plan.modes() == ["implement US-001"] and plan.state("US-001") == (False, "needs_review", 0)


def test_runs_show_tells_the_story_of_a_plan(project):
    plan = Plan(project, reviews={"US-001": 2})
    plan.completes()
    shown = project.run("runs", "show", "last")
    assert shown.code == 0, shown
    for words in ["implement US-001", "US-001 needs changes", "review US-001: Title of US-001 (review 2 of at most 5)", "US-001 is approved"]:
        assert words in shown.out, shown
    assert "complete: the story is done" in project.run("runs", "list").out


def test_json_lines_and_nothing_else(project):
    plan = Plan(project)
    project.own_settings(trust="off")
    result = plan.completes("--json")
    records = [json.loads(line) for line in result.out.splitlines()]
    assert records == project.journal() and result.err == ""
    kinds = [r["type"] for r in records]
    assert kinds[0] == "run_started" and kinds[-1] == "run_ended" and records[0]["way"] == "plan"
    assert [(r["mode"], r["story"]) for r in records if r["type"] == "plan_work"] == [("implement", "US-001"), ("review", "US-001")]


def test_a_dry_run_shows_the_next_prompt_and_touches_nothing(project):
    plan = Plan(project, [approved("US-001"), submitted("US-002", title="Wash the car")], verifyCommands=["true"])
    before = {p: p.read_bytes() for p in project.path.rglob("*") if p.is_file()}
    result = plan.run("--dry-run", "--review-cap", "2")
    assert result.code == 0, result
    assert "Next: review US-002 (Wash the car)\n" in result.out and "Iteration 1." in result.out
    assert "REVIEW this story" in result.out and "review 1 of at most 2" in result.out
    for line in ["Agent        ", "Command      ", f"Folder       {project.path}\n", "Check        true\n",
                 "Iterations   up to 15, complete when every story is approved by a review and all checks pass\n"]:
        assert line in result.out, line
    shown = json.loads(plan.run("--dry-run", "--json").out)
    assert (shown["nextMode"], shown["nextStory"], shown["settings"]["plan"]["reviewCap"]) == ("review", "US-002", 5)
    assert "REVIEW this story" in shown["prompt"] and shown["argv"]
    assert {p: p.read_bytes() for p in project.path.rglob("*") if p.is_file()} == before
    assert plan.turns() == [] and not (project.home / ".local").exists()


def test_a_dry_run_of_a_plan_that_is_done_says_so(project):
    plan = Plan(project, [approved("US-001")])
    result = plan.run("--dry-run")
    assert result.code == 0 and "No story is left" in result.out and not project.run_folders()


def test_a_dry_run_says_that_a_run_would_switch_the_branch(project):
    plan = Plan(project, [story("US-001")], branchName="ralph/other")
    result = plan.run("--dry-run")
    assert result.code == 0 and "A run would switch: the branch is main" in result.out, result
    assert "'git switch -c ralph/other'" in result.out, result
    os.system(f"cd {str(project.path)!r} && git switch -q -c ralph/other")
    assert "A run would" not in plan.run("--dry-run").out


def test_the_prompt_names_the_plans_folder_where_it_is_now(project):
    """Moved since plan init: every path in the prompt is the new one."""
    project.git_init()
    assert project.run("plan", "init", "--ralph-dir", "plans/old").code == 0
    prompt = (project.path / "plans/old/prompt.md").read_text()
    plan = Plan(project, folder="plans/new")
    (plan.folder / "prompt.md").write_text(prompt)
    plan.commit_all("moved")
    assert plan.run("--ralph-dir", "plans/new", "-n", "1").code == 1
    told = plan.prompt(1)
    assert "`plans/new/prd.md`" in told and "plans/old" not in told and "{{" not in told


def test_that_reviews_are_off_is_said_with_where_it_comes_from(project):
    plan = Plan(project, [story("US-001")])
    assert "No reviews (--skip-review): a story that passes is done.\n" in plan.run("--dry-run", "--skip-review").out
    (project.ralph / "settings.local.json").write_text(json.dumps({"plan": {"skipReview": True}}))
    result = plan.run("-n", "1")
    assert "No reviews (.ralph/settings.local.json): a story that passes is done.\n" in result.out, result


@pytest.mark.parametrize("how", ["link", "folder"])
def test_a_prd_that_cannot_be_pinned_is_refused(project, how):
    plan = Plan(project, [story("US-001")])
    prd = project.path / "ralph/prd.md"
    prd.unlink(missing_ok=True)
    prd.symlink_to("../elsewhere.md") if how == "link" else prd.mkdir()
    result = plan.run()
    assert result.code == 2 and str(prd) in result.err and plan.turns() == [], result


# ---- prompts

def test_every_name_in_the_prompt_is_filled_in(project):
    plan = Plan(project)
    plan.folder.joinpath("prompt.md").write_text(
        "A {{RALPH_ITERATION}} of {{RALPH_MAX_ITERATIONS}}\nB $RALPH_ITERATION of $RALPH_MAX_ITERATIONS\n"
        "C {{RALPH_MODE}} {{RALPH_STORY}} {{RALPH_REVIEW_CAP}}\nD {{OTHER}} $OTHER {{RALPH_ITERATION\n{{RALPH_ASSIGNMENT}}\nend\n")
    plan.commit_all("prompt")
    plan.completes("-n", "7", "--review-cap", "4")
    for iteration, mode in ((1, "implement"), (2, "review")):
        lines = plan.prompt(iteration).splitlines()
        assert lines[:4] == [f"A {iteration} of 7", f"B {iteration} of 7", f"C {mode} US-001 4", "D {{OTHER}} $OTHER {{RALPH_ITERATION"]
        assert lines[-1] == "end" and lines[4].startswith("### Your assignment: ")


def test_a_prompt_without_a_place_for_the_assignment_gets_it_at_the_end(project):
    plan = Plan(project, [story("US-001", title="Sing {{RALPH_MODE}} $RALPH_ITERATION", description="At {{RALPH_ITERATION}} o'clock.")])
    plan.folder.joinpath("prompt.md").write_text("Work well.\n")
    plan.commit_all("prompt")
    plan.completes()
    prompt = plan.prompt(2)
    assert prompt.startswith("Work well.\n") and "\n### Your assignment: REVIEW" in prompt
    assert "Story US-001: Sing {{RALPH_MODE}} $RALPH_ITERATION\n" in prompt, "a story's own words are left alone"
    assert "At {{RALPH_ITERATION}} o'clock." in prompt


def test_the_prompt_that_init_makes_leaves_no_place_open(project):
    plan = Plan(project, verifyCommands=["true"])
    for name in ("prompt.md", "prd.md", "progress.txt", "tasks.json"):
        (plan.folder / name).rename(project.base / name)
    assert project.run("plan", "init").code == 0
    for name in ("prd.md", "tasks.json"):
        (project.base / name).replace(plan.folder / name)
    plan.commit_all("the real templates")
    plan.completes()
    for iteration in (1, 2):
        prompt = plan.prompt(iteration)
        assert "{{" not in prompt and "### Your assignment: " in prompt
        assert f"# Ralph loop: iteration {iteration} of 15" in prompt


def test_an_agent_knows_its_run_and_its_iteration(project):
    plan = Plan(project)
    plan.cheat("(base / 'env').open('a').write(os.environ['RALPH_RUN_ID'] + ' ' + os.environ['RALPH_ITERATION'] + '\\n')",
               phase="before", always=True)
    plan.completes()
    run = project.run_folder().name
    assert (project.base / "env").read_text().splitlines() == [f"{run} 1", f"{run} 2"]


def test_uncommitted_work_is_told_to_the_next_iteration(project):
    plan = Plan(project)
    plan.cheat("Path('left over.txt').write_text('x')\nfor n in range(9): Path(f'x{n}').touch()", at=1, phase="after")
    result = plan.completes()
    assert "left uncommitted changes" in plan.prompt(2) and "left over.txt" in plan.prompt(2) and "5 more" in plan.prompt(2)
    assert "uncommitted: " in result.out


def test_feedback_of_an_iteration_is_told_once(project):
    plan = Plan(project, [story("US-001"), story("US-002")])
    plan.cheat("Path('extra').touch()", at=1, phase="after")
    plan.completes()
    assert ["uncommitted changes" in plan.prompt(i) for i in (1, 2, 3, 4)] == [False, True, False, False]


# ---- agents by mode

def wrapper(project, name):
    """A script that notes its name and arguments and is the agent else; its prompt is the last argument, or its input."""
    agent = shlex.quote(str(project.base / "agent"))
    note = shlex.quote(str(project.base / "calls"))
    return project.script(f"""
call={name} prompt=
for word; do case $word in *"Your assignment"*) prompt=$word ;; *) call="$call $word" ;; esac; done
echo "$call" >> {note}
exec {agent} "${{prompt:-$(cat)}}"
""", name)


def calls(project):
    return (project.base / "calls").read_text().splitlines()


def test_another_agent_reviews(project):
    plan = Plan(project, reviews={"US-001": 2})
    project.settings(agents={"critic": {"command": str(wrapper(project, "critic-script")), "flags": ["--strict --deep"]}},
                     plan={"agents": {"review": "critic"}})
    plan.completes()
    assert [r["agent"] for r in project.records("agent_started")] == ["agent", "critic", "agent", "critic"]
    assert calls(project) == ["critic-script --strict --deep"] * 2
    assert project.last("run_started")["agent"] == "agent, critic for review"


def test_every_mode_can_have_its_agent(project):
    plan = Plan(project, reviews={"US-001": 2})
    names = {"implement": "maker", "review": "judge", "reviewFix": "mender"}
    project.settings(agents={name: {"command": str(wrapper(project, name))} for name in names.values()}, plan={"agents": names})
    plan.completes()
    assert calls(project) == ["maker", "judge", "mender", "judge"]


def test_a_command_can_be_named_where_an_agent_is_asked_for(project):
    plan = Plan(project)
    project.settings(plan={"agents": {"review": shlex.quote(str(wrapper(project, "plain")))}})
    plan.completes()
    assert calls(project) == ["plain"]


def test_models_by_flag_and_by_mode(project):
    plan = Plan(project)
    like_claude = {"kind": "claude", "stream": "text"}
    project.settings(agent={**like_claude, "command": str(wrapper(project, "first"))},
                     agents={"strict": {**like_claude, "command": str(wrapper(project, "second")), "model": "opus-9"}},
                     plan={"agents": {"review": "strict"}})
    plan.completes("-m", "sonnet-7")
    first, second = calls(project)
    assert "--model sonnet-7" in first and "opus-9" not in first
    assert "--model opus-9" in second and "sonnet" not in second


def test_a_model_for_an_agent_without_that_flag_is_refused(project):
    plan = Plan(project)
    result = plan.run("--model", "opus")
    assert result.code == 2 and "opus" in result.err and plan.turns() == [] and not project.run_folders()
    blank = plan.run("-m", " ")
    assert blank.code == 2 and "--model is blank" in blank.err


def test_a_reviewer_that_is_not_there_is_found_out_before_anything_starts(project):
    plan = Plan(project)
    project.settings(plan={"agents": {"review": "no-such-critic"}})
    result = plan.run()
    assert result.code == 2 and "no-such-critic" in result.err and "plan.agents.review" in result.err, result
    assert plan.turns() == [] and not project.run_folders() and not plan.marker.exists()


# ---- SCM tasks of the settings

def test_scm_tasks_commit_what_the_agent_left(project):
    plan = Plan(project)
    plan.cheat("do_honest(); save(); Path('new.txt').write_text('x')", mode="implement", phase="instead")
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    result = plan.completes()
    assert plan.commits()[-2:] == ["A commit message", "review US-001"], plan.commits()
    assert "new.txt" in project.git("ls-files") and "uncommitted" not in plan.prompt(2)
    assert [r["purpose"] for r in project.records("agent_started")][:2] == ["work", "commit message"], result


def test_scm_tasks_wait_for_checks_that_pass(project):
    plan = Plan(project, verifyCommands=[fails_in(1)])
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    plan.cheat("do_honest(); save(); Path('new.txt').write_text('x')", at=1, phase="instead")
    plan.completes()
    assert not [r for r in project.records("scm_started") if r["iteration"] == 1]


# ---- places

def test_the_plan_can_lie_elsewhere_in_the_project(project):
    plan = Plan(project, folder="plans/next one", verifyCommands=[fails_in(1)])
    plan.cheat("(base / 'marker.json').write_text(Path('.ralph-active').read_text())", phase="before")
    plan.completes("--ralph-dir", "plans/next one")
    assert json.loads((project.base / "marker.json").read_text())["ralphDir"] == str(plan.folder)
    assert "plans/next one/tasks.json" in plan.prompt(1)
    assert project.last("run_started")["promptSource"] == "plans/next one/prompt.md"
    assert not (project.path / "ralph").exists()
    assert "ralph: US-001 sent back" in [subject for _, subject in plan.own_commits()]


def test_the_plan_can_lie_outside_of_the_project(project):
    """Nothing of it can be committed then; ralph says so where it changed something."""
    plan = Plan(project, folder="../a plan", verifyCommands=[fails_in(1)])
    result = plan.run("--ralph-dir", "../a plan")
    assert result.code == 0, result
    assert plan.state("US-001") == (True, "approved", 1)
    assert str((project.base / "a plan").resolve()) in plan.prompt(1)
    assert not plan.marker.exists()


@pytest.mark.parametrize("how", ["-d", "--project-dir", "-C"])
def test_from_another_folder(project, how):
    plan = Plan(project)
    elsewhere = project.base / "elsewhere"
    elsewhere.mkdir()
    words = ["-C", project.path, "plan", "run"] if how == "-C" else ["plan", "run", how, "../" + project.path.name]
    result = project.run(*words, cwd=elsewhere)
    assert result.code == 0, result
    assert plan.state("US-001") == (True, "approved", 1) and list(elsewhere.iterdir()) == []
    assert not plan.marker.exists() and project.run_folder()


def test_a_plan_in_a_part_of_a_repository(project):
    """The project is a folder below the repository's root; paths of both are not mixed up."""
    plan = Plan(project, folder="parts/one/ralph", verifyCommands=[fails_in(1)])
    part = project.path / "parts/one"
    (part / ".ralph").mkdir()
    (part / ".ralph/settings.json").write_text((project.ralph / "settings.json").read_text())
    result = project.run("plan", "run", cwd=part)
    assert result.code == 0, result
    assert plan.state("US-001") == (True, "approved", 1) and not (part / ".ralph-active").exists()
    assert "ralph: US-001 sent back" in plan.commits() and project.git("status", "--porcelain") == ""


# ---- people who edit while the checks run

SLOW_CHECK = "touch ../checking-$RALPH_ITERATION; while [ ! -e ../go ]; do sleep 0.01; done"


def while_it_checks(project, edit, *, stop=None):
    plan = Plan(project, [story("US-001"), story("US-002")], verifyCommands=[SLOW_CHECK])
    running = plan.start()
    plan.wait_for("checking-1")
    edit(plan)
    if stop:
        running.signal(stop)
        wait_until(lambda: "Received signal" in running.err, what="its answer")
    (project.base / "go").touch()
    return plan, running.wait()


@pytest.mark.parametrize("stop", [None, signal.SIGINT])
def test_a_story_that_is_added_while_the_checks_run_is_kept(project, stop):
    def edit(plan):
        tasks = plan.tasks()
        tasks["userStories"][1]["priority"] = 9
        plan.write(json.dumps({**tasks, "userStories": tasks["userStories"] + [story("US-003", priority=5)]}))
    plan, result = while_it_checks(project, edit, stop=stop)
    if stop:
        assert result.code == 130 and plan.story("US-002")["priority"] == 9 and plan.story("US-003")
        result = plan.run()
    assert result.code == 0, result
    assert plan.modes()[2::2] == ["implement US-003", "implement US-002"]
    assert plan.rejected() == [] and not any(plan.violations(folder=folder) for folder in project.run_folders())


def test_what_may_not_be_edited_while_the_checks_run_is_kept_beside(project):
    def edit(plan):
        tasks = plan.tasks()
        tasks["userStories"][1].update(passes=True, reviewStatus="approved", notes="I did it")
        tasks["verifyCommands"].append("true")
        tasks["userStories"].append(story("US-003"))
        plan.write(json.dumps(tasks))
        for name in ("prd.md", "prompt.md"):
            with open(plan.folder / name, "a") as file:
                file.write("a person's own words\n")
    plan, result = while_it_checks(project, edit)
    assert result.code == 0, result
    said = plan.violation(1)
    assert all(words in said for words in ("ralph/tasks.json was changed while the checks ran", "ralph/prd.md is pinned",
                                           "ralph/prompt.md is pinned")), said
    kept = {path.name.partition(".rejected-")[0]: path.read_text() for path in plan.rejected()}
    assert kept.keys() == {"tasks.json", "prd.md", "prompt.md"}
    assert "I did it" in kept["tasks.json"] and "a person's own words" in kept["prd.md"] and "own words" in kept["prompt.md"]
    assert "implement US-002" in plan.modes() and "implement US-003" in plan.modes(), "what is allowed of it counts"
    assert plan.tasks()["verifyCommands"] == [SLOW_CHECK]


# ---- time limits of verify commands

def test_a_verify_command_that_takes_too_long_is_ended_and_has_failed(project):
    plan = Plan(project, verifyCommands=["test -e mended || sleep 60"])
    project.settings(plan={"verifyTimeoutSeconds": 0.3})
    plan.cheat("Path('mended').touch()", mode="review-fix", phase="before")
    plan.completes()
    assert plan.modes() == ["implement US-001", "review-fix US-001", "review US-001"]
    assert "timed out after 0.3s" in plan.prompt(2), plan.prompt(2)


def test_without_reviews_an_iteration_completes_one_story(project):
    plan = Plan(project, [story("US-001"), story("US-002"), story("US-003", dependsOn=["US-002"])])
    plan.cheat("for one in tasks['userStories']: one.update(passes=True, notes='x')\n"
               "tasks['userStories'].append({**story, 'id': 'BORN-DONE'})", at=1)
    result = plan.run("--skip-review")
    assert result.code == 0, result
    assert plan.modes() == [f"implement {id}" for id in ("US-001", "US-002", "US-003", "BORN-DONE")]
    assert len(plan.violations(1)) == 3


# ---- what a plan run gives its agents

def known_agent(project, name, **settings):
    """A program that passes for a known agent, and does nothing."""
    folder = project.base / "bin"
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    project.settings({"agent": {"command": str(program), **settings}})
    return program


def test_claude_gets_the_hooks_of_the_run_by_its_flags(project):
    plan = Plan(project)
    known_agent(project, "claude")
    before = {p: p.read_bytes() for p in project.base.rglob("*") if p.is_file()}
    shown = json.loads(plan.run("--dry-run", "--json").out)["argv"]
    assert "--dangerously-skip-permissions" in shown
    hooks = json.loads(shown[shown.index("--settings") + 1])["hooks"]
    assert {event: [h["command"].split(" hooks ")[1] for group in groups for h in group["hooks"]] for event, groups in hooks.items()} == {
        "PreToolUse": ["pre-tool"], "PostToolUse": ["post-tool"], "PostToolUseFailure": ["post-tool"], "Stop": ["stop"]}
    assert hooks["PreToolUse"][0]["matcher"] == ".*" and hooks["Stop"][0]["hooks"][0]["timeout"] == 600
    payload = {"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}, "cwd": str(project.path), "session_id": "s"}
    denied = subprocess.run(hooks["PreToolUse"][0]["hooks"][0]["command"], shell=True, input=json.dumps(payload), text=True,
                            capture_output=True, cwd="/", env=project.environment())
    assert json.loads(denied.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny", denied
    text = plan.run("--dry-run").out
    assert "For this run claude gets ralph's hooks through flags: stop check, context monitor, command policy.\n" in text
    new = {p for p in project.base.rglob("*") if p.is_file()} - set(before)
    assert not [p for p in new if ".claude" in p.parts], "no file of the user's is touched"


def test_codex_gets_them_too_and_no_hooks_of_others_are_trusted(project):
    plan = Plan(project)
    known_agent(project, "codex")
    shown = json.loads(plan.run("--dry-run", "--json").out)["argv"]
    given = [shown[i + 1] for i, word in enumerate(shown) if word == "-c"]
    assert [one.split("=")[0] for one in given] == ["hooks.PreToolUse", "hooks.PostToolUse", "hooks.Stop", "hooks.state"]
    assert given[-1].count("trusted_hash") == 3 and "--dangerously-bypass-hook-trust" not in shown


def test_an_agent_that_has_no_hooks_is_said_to_have_none(project):
    plan = Plan(project)
    assert "agent has no hooks: no command policy checks its commands.\n" in plan.run("--dry-run").out
    known_agent(project, "claude", flags=["--settings mine.json"])
    text = plan.run("--dry-run").out
    assert "claude does not get ralph's hooks: agent.flags has a --settings of its own.\n" in text
    assert json.loads(plan.run("--dry-run", "--json").out)["argv"].count("--settings") == 1


@pytest.fixture
def of_root(request):
    """A project in a folder that nobody but root may write to, as /tmp is none."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    base = Path(tempfile.mkdtemp(prefix="ralph-test-", dir="/var/lib"))
    fresh = Project(base)
    yield fresh
    fresh.clean_up()
    shutil.rmtree(base)


def test_gemini_gets_them_by_a_file_of_the_run(of_root):
    project, plan = of_root, Plan(of_root)
    program = known_agent(project, "gemini", flags=[])
    program.write_text('#!/bin/sh\ncat "$GEMINI_CLI_SYSTEM_DEFAULTS_PATH" >> ../seen; echo {} > "$GEMINI_CLI_SYSTEM_DEFAULTS_PATH"; exit 7\n')
    assert "For this run gemini gets ralph's hooks through its environment: stop check, context monitor, command policy.\n" in plan.run("--dry-run").out
    project.settings({"agent": {"retry": {"attempts": 2, "backoffSeconds": 0.01}}})
    plan.run("-n", "1")
    first, second = re.findall(r'\{"hooks".*?\}\]\}\]\}\}', (project.base / "seen").read_text(), re.DOTALL)
    assert first == second, "what an agent has changed is written again"
    hooks = json.loads(first)["hooks"]
    assert {event: groups[0]["hooks"][0]["command"].split(" hooks ")[1] for event, groups in hooks.items()} == {
        "BeforeTool": "pre-tool --protocol gemini", "AfterTool": "post-tool --protocol gemini", "AfterAgent": "stop --protocol gemini"}
    assert hooks["AfterAgent"][0]["hooks"][0]["timeout"] == 600_000, "in its own unit"


def test_gemini_gets_none_where_it_would_not_believe_the_file(project):
    plan = Plan(project)
    known_agent(project, "gemini", flags=[])
    assert re.search("gemini does not get ralph's hooks: it reads hooks for a single run only (where nobody but root can write, unlike /|from a file of root)"
                     ".*'ralph hooks install --host gemini' sets up the command policy.\n", plan.run("--dry-run").out)


def test_opencode_gets_a_plugin_by_its_environment(project):
    plan = Plan(project)
    program = known_agent(project, "opencode", flags=[])
    program.write_text('#!/bin/sh\nprintf %s "$OPENCODE_CONFIG_CONTENT" > ../seen; exit 7\n')
    project.settings({"agent": {"retry": {"attempts": 1}}})
    said = plan.run("-n", "1").out
    assert "For this run opencode gets ralph's hooks through its environment: context monitor, command policy. It can't be kept from stopping" in said
    url = json.loads((project.base / "seen").read_text())["plugin"][0]
    text = Path(unquote(url.removeprefix("file://"))).read_text()
    assert f'const RALPH = "{RALPH}"' in text and "tool.execute.before" in text


def test_a_variable_of_the_users_own_leaves_no_room(project):
    plan = Plan(project)
    known_agent(project, "opencode", flags=[])
    said = plan.run("--dry-run", env={"OPENCODE_CONFIG_CONTENT": "{}"}).out
    assert "opencode does not get ralph's hooks: OPENCODE_CONFIG_CONTENT is set. 'ralph hooks install --host opencode' sets up the command policy.\n" in said


def test_a_prompt_loop_gets_no_hooks(project):
    known_agent(project, "claude")
    assert "--settings" not in project.run("run", "-p", "x <response>", "--dry-run").out


def test_that_claude_will_refuse_root_is_foreseen(project):
    plan = Plan(project)
    known_agent(project, "claude")
    refusal = "claude refuses --dangerously-skip-permissions as root"
    nobody = ordinary_user(project, project.base, *project.base.rglob("*"))  # skips where this test is not root
    for path in [project.base, *project.base.rglob("*")]:
        os.chown(path, 0, 0, follow_symlinks=False)
    assert f"Refusal      the agent would not start: {refusal}" in plan.run("--dry-run").out
    assert json.loads(plan.run("--dry-run", "--json").out)["refusal"].startswith(refusal)
    assert refusal in project.run("doctor").out
    assert refusal not in plan.run("--dry-run", env={"IS_SANDBOX": "1"}).out
    project.settings({"agent": {"flags": ["--permission-mode acceptEdits"]}})
    assert refusal not in plan.run("--dry-run").out and refusal not in project.run("doctor").out
    for flags in ["--dangerously-skip-permissions", "--permission-mode bypassPermissions"]:
        project.settings({"agent": {"flags": [flags]}})
        doctor = project.run("doctor")
        assert doctor.code == 2 and refusal in doctor.out, doctor
        assert refusal in project.run("run", "-p", "x <response>", "--dry-run").out
    for path in [project.base, *project.base.rglob("*")]:
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    assert refusal not in project.run("doctor", **nobody).out


# ---- what the closing line says

def test_a_story_that_the_cap_approved_is_said_in_the_closing_line(project):
    plan = Plan(project, [story("US-001"), story("US-002", priority=2)], reviews={"US-001": 99})
    result = plan.run("--review-cap", "1")
    assert result.code == 0, result
    reason = project.last("run_ended")["reason"]
    assert reason.startswith("all 2 stories are done (US-001 by the review cap, with open points in its reviewFeedback)"), reason
    assert reason in result.out, result


def test_ctrl_c_after_a_story_has_moved_says_so(project):
    plan = Plan(project)
    plan.cheat("(base / 'moved').touch()\nwhile not (base / 'go').exists(): time.sleep(0.005)", phase="after", at=1)
    running = plan.start()
    plan.wait_for("moved")
    running.signal(signal.SIGINT)
    wait_until(lambda: "shutting down" in running.out + running.err)
    (project.base / "go").touch()
    result = running.wait()
    assert result.code == 130 and "no story moved" not in result.out, result
    assert "US-001 moved, but was not checked before the stop; 0 of 1 story done" in result.out, result


# ---- from a run without reviews to one with them

def test_after_a_run_without_reviews_one_with_reviews_goes_on(project):
    plan = Plan(project, [story("US-001"), story("US-002", priority=2)])
    assert plan.run("--skip-review", "-n", "1").code == 1
    assert plan.state("US-001") == (True, None, 0)
    dry = plan.run("--dry-run")
    assert "Next: review US-001" in dry.out and plan.state("US-001") == (True, None, 0), dry
    result = plan.completes()
    assert "US-001 was finished without a review (--skip-review), and is reviewed now." in result.err, result
    assert plan.modes()[1:] == ["review US-001", "implement US-002", "review US-002"]
    assert plan.violations() == []


def test_a_story_that_a_person_passed_by_hand_is_still_asked_about(project):
    plan = Plan(project, [story("US-001", passes=True, notes="n"), story("US-002")])
    result = plan.run()
    assert result.code == 2 and "has passes=true but reviewStatus is 'null'" in result.err, result
