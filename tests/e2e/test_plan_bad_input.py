"""A plan run that cannot begin: it says which file or value is wrong and what to do, exits with 2, and changes nothing."""
import json
import os
import subprocess

import pytest

from plan_support import Plan, approved, as_nobody, files_below, rejected, story, submitted


def refused(plan, *said, arguments=(), **how):
    """Runs it: nothing may begin, and nothing in the project may change."""
    before = files_below(plan.project.path)
    result = plan.run(*arguments, **how)
    assert result.code == 2, result
    for words in said:
        assert words in result.err, result
    assert len(result.err) < 8000 and "Traceback" not in result.err
    assert files_below(plan.project.path) == before
    assert not os.path.lexists(plan.marker)
    assert plan.turns() == []
    return result


def with_tasks(project, text):
    plan = Plan(project)
    plan.tasks_path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return plan


def document(stories=None, **top):
    return {"project": "Demo", "branchName": "main", "description": "", "verifyCommands": [],
            "userStories": [story("US-001")] if stories is None else stories, **top}


def without(key, **more):
    """A story that lacks a field."""
    return {k: v for k, v in story("US-001", **more).items() if k != key}


# ---- tasks.json is no JSON, or no list of stories --------------------------------------------------------------------

TEXTS = {
    "empty": ("", ["tasks.json is empty", "ralph plan init'"]),
    "blank": (" \n\t\n", ["tasks.json is empty"]),
    "words": ("the plan is to do it", ["tasks.json:1:"]),
    "half": ('{"project": "x",\n "userStories": [', ["tasks.json:2:"]),
    "a comma too much": (json.dumps(document(), indent=1)[:-2] + ",\n}", ["tasks.json:"]),
    "a comment": ("// mine\n" + json.dumps(document()), ["tasks.json:1:1"]),
    "two": (json.dumps(document()) * 2, ["tasks.json:1:"]),
    "not UTF-8": (json.dumps(document()).replace("Demo", "Dem\u00e9").encode("latin-1").replace(b"\\u00e9", b"\xe9"), ["tasks.json"]),
    "UTF-16": (json.dumps(document()).encode("utf-16"), ["tasks.json"]),
    "NaN": (json.dumps(document([story("US-001", priority=float("nan"))])), ["tasks.json:1:"]),
    "a number": ("17", ["tasks.json:1:1"]),
    "null": ("null", ["tasks.json:1:1"]),
    "a list": ("[]", ["tasks.json:1:1"]),
    "nothing in it": ("{}", ["userStories", "branchName", "project"]),
    "very deep": ('{"project": ' + "[" * 100000 + "]" * 100000 + "}", ["tasks.json:1:"]),
}


@pytest.mark.parametrize("text, said", TEXTS.values(), ids=TEXTS.keys())
def test_tasks_that_are_no_plan(project, text, said):
    plan = with_tasks(project, text)
    result = refused(plan, *said)
    assert str(plan.tasks_path) in result.err


# What is wrong, and what the message says besides the file.
WRONG = {
    "project a number": (document(project=1), ["project", "string"]),
    "branchName null": (document(branchName=None), ["branchName", "string"]),
    "description a list": (document(description=[]), ["description", "string"]),
    "verifyCommands a text": (document(verifyCommands="make"), ["verifyCommands", "a list"]),
    "verifyCommands of numbers": (document(verifyCommands=[1]), ["verifyCommands[0]", "string"]),
    "verifyCommands blank": (document(verifyCommands=["make", " "]), ["verifyCommands[1]"]),
    "userStories an object": (document({}), ["userStories", "a list"]),
    "userStories null": (document(userStories=None), ["userStories", "a list"]),
    "no stories": (document([]), ["userStories is an empty list", "at least one story"]),
    "a story that is a text": (document(["US-001"]), ["userStories[0]", "object"]),
    "id missing": (document([without("id")]), ["userStories[0]", "id"]),
    "id a number": (document([story(1)]), ["userStories[0].id", "string"]),
    "id empty": (document([story("")]), ["userStories[0].id"]),
    "id blank": (document([story("  ")]), ["userStories[0].id"]),
    "title missing": (document([without("title")]), ["story US-001", "title"]),
    "passes missing": (document([without("passes")]), ["story US-001", "passes"]),
    "passes a text": (document([story("US-001", passes="false")]), ["story US-001", "passes", "true or false"]),
    "passes a number": (document([story("US-001", passes=0)]), ["passes", "true or false"]),
    "priority a text": (document([story("US-001", priority="high")]), ["priority", "number"]),
    "priority missing": (document([without("priority")]), ["priority"]),
    "criteria missing": (document([without("acceptanceCriteria")]), ["acceptanceCriteria"]),
    "criteria empty": (document([story("US-001", acceptanceCriteria=[])]), ["acceptanceCriteria"]),
    "criteria a text": (document([story("US-001", acceptanceCriteria="works")]), ["acceptanceCriteria", "a list"]),
    "criteria of numbers": (document([story("US-001", acceptanceCriteria=[1])]), ["acceptanceCriteria[0]", "string"]),
    "status missing": (document([without("reviewStatus")]), ["reviewStatus"]),
    "status unknown": (document([story("US-001", reviewStatus="done")]), ["reviewStatus", "done", "needs_review"]),
    "status false": (document([story("US-001", reviewStatus=False)]), ["reviewStatus"]),
    "count missing": (document([without("reviewCount")]), ["reviewCount"]),
    "count negative": (document([story("US-001", reviewCount=-1)]), ["reviewCount", "-1"]),
    "count a half": (document([story("US-001", reviewCount=0.5)]), ["reviewCount", "whole number"]),
    "count a text": (document([story("US-001", reviewCount="0")]), ["reviewCount", "whole number"]),
    "feedback missing": (document([without("reviewFeedback")]), ["reviewFeedback"]),
    "feedback null": (document([story("US-001", reviewFeedback=None)]), ["reviewFeedback", "string"]),
    "notes a list": (document([story("US-001", notes=[])]), ["notes", "string"]),
    "dependsOn a text": (document([story("US-001", dependsOn="US-002")]), ["dependsOn", "a list"]),
    "an id twice": (document([story("US-001"), story("US-002"), story("US-001")]), ["story US-001", "appears twice"]),
    "itself": (document([story("US-001", dependsOn=["US-001"])]), ["story US-001", "dependsOn names the story itself"]),
    "nobody": (document([story("US-001", dependsOn=["US-404"])]), ['dependsOn names "US-404"', "not a story of this list"]),
    "a circle of two": (document([story("US-001", dependsOn=["US-002"]), story("US-002", dependsOn=["US-001"])]),
                        ["dependsOn forms a cycle: US-001 -> US-002 -> US-001", "remove one"]),
    "a circle behind others": (document([story("A"), story("B", dependsOn=["A", "D"]), story("C", dependsOn=["B"]),
                                         story("D", dependsOn=["C"])]), ["dependsOn forms a cycle"]),
    "passes without notes": (document([approved("US-001", notes="")]), ["story US-001", "notes is empty"]),
    "passes, not approved": (document([story("US-001", passes=True, notes="x")]), ["passes=true but reviewStatus is 'null'"]),
    "passes, awaiting review": (document([submitted("US-001", passes=True)]), ["reviewStatus is 'needs_review', not 'approved'"]),
    "approved, not passing": (document([approved("US-001", passes=False)]), ["out of sync"]),
    "rejected without a word": (document([rejected("US-001", reviewFeedback=" ")]), ["reviewFeedback is empty"]),
}


@pytest.mark.parametrize("what, said", WRONG.values(), ids=WRONG.keys())
def test_stories_that_do_not_fit(project, what, said):
    plan = with_tasks(project, json.dumps(what, indent=2))
    result = refused(plan, *said)
    assert str(plan.tasks_path) in result.err
    # The same is said by the check, which finds something wrong instead of failing.
    check = project.run("plan", "check")
    assert check.code == 1, check
    for words in said:
        assert words in check.out, check


def test_a_problem_is_named_with_its_place(project):
    plan = with_tasks(project, json.dumps(document([story("US-001"), story("US-002", passes="no")]), indent=2))
    line = next(n for n, text in enumerate(plan.text().splitlines(), 1) if '"no"' in text)
    refused(plan, f"{plan.tasks_path}:{line}:", "story US-002", "userStories[1].passes")


def test_many_problems_are_told_and_not_all_of_them(project):
    plan = with_tasks(project, json.dumps(document([story(f"US-{n}", passes="x") for n in range(500)])))
    result = refused(plan, "US-0:", "more problems")
    assert len(result.err.splitlines()) < 30


def test_the_template_is_no_plan_yet(project):
    plan = Plan(project)
    assert project.run("plan", "init", "--force").code == 0
    refused(plan, str(plan.tasks_path), "still the template", "ralph plan draft")


# ---- files and folders -----------------------------------------------------------------------------------------------

def test_there_is_no_plan(project):
    plan = Plan(project)
    subprocess.run(["rm", "-r", str(plan.folder)], check=True)
    refused(plan, str(plan.folder), "is missing", "ralph plan init")
    refused(plan, "nowhere", "is missing", arguments=["--ralph-dir", "nowhere"])


@pytest.mark.parametrize("name", ["tasks.json", "prompt.md"])
def test_a_file_is_missing(project, name):
    plan = Plan(project)
    (plan.folder / name).unlink()
    refused(plan, str(plan.folder / name), "is missing", "ralph plan init")


def test_requirements_may_be_missing(project):
    plan = Plan(project)
    (plan.folder / "prd.md").unlink()
    plan.commit_all("no requirements")
    plan.completes()


def test_a_blank_prompt(project):
    plan = Plan(project)
    (plan.folder / "prompt.md").write_text(" \n")
    refused(plan, str(plan.folder / "prompt.md"), "is blank")


@pytest.mark.parametrize("name", ["tasks.json", "prompt.md"])
@pytest.mark.parametrize("kind, said", [("link", "symbolic link"), ("folder", "not a plain file"), ("fifo", "not a plain file"),
                                        ("huge", "64 MB"), ("loop", "symbolic link"), ("device", "symbolic link")])
def test_a_file_of_another_kind(project, name, kind, said):
    plan = Plan(project)
    path = plan.folder / name
    path.rename(project.base / "elsewhere")
    if kind == "link":
        path.symlink_to(project.base / "elsewhere")
    elif kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "huge":
        path.touch()
        os.truncate(path, 65 * 1024 * 1024)
    elif kind == "loop":
        path.symlink_to(path)
    else:
        path.symlink_to("/dev/zero")
    before = sorted(os.listdir(plan.folder))
    result = plan.run(timeout=20)
    assert result.code == 2 and str(path) in result.err and said in result.err, result
    assert sorted(os.listdir(plan.folder)) == before and plan.turns() == [] and not plan.marker.exists()


@pytest.mark.parametrize("name", ["tasks.json", "prompt.md", "."])
def test_a_file_that_may_not_be_read(project, name):
    plan = Plan(project)
    user = as_nobody(project)
    (plan.folder / name).chmod(0)
    result = plan.run(**user)
    assert result.code == 2 and str(plan.folder) in result.err and "ermission" in result.err, result
    assert plan.turns() == [] and not plan.marker.exists()


def test_the_folder_is_a_link_or_a_file(project):
    plan = Plan(project)
    plan.folder.rename(project.base / "elsewhere")
    plan.folder.symlink_to(project.base / "elsewhere")
    refused(plan, str(plan.folder), "symbolic link", "--ralph-dir")
    plan.folder.unlink()
    plan.folder.write_text("x")
    refused(plan, str(plan.folder), "not a folder")


def test_a_project_that_is_not_there(project):
    plan = Plan(project)
    refused(plan, "nowhere", "--project-dir", arguments=["-d", "nowhere"])
    refused(plan, "--project-dir is empty", arguments=["-d", ""])
    refused(plan, "--ralph-dir is empty", arguments=["--ralph-dir="])


def test_broken_settings(project):
    plan = Plan(project)
    (project.ralph / "settings.json").write_text('{"plan": {"reviewCap": "five"}}')
    refused(plan, ".ralph/settings.json:1:", "reviewCap")
    (project.ralph / "settings.json").write_text('{"plan": {"reviewCaps": 5}}')
    refused(plan, ".ralph/settings.json:1:", "reviewCaps")
    (project.ralph / "settings.json").write_text("{")
    refused(plan, ".ralph/settings.json:1:")


def test_an_agent_that_is_not_there(project):
    plan = Plan(project)
    project.settings({"agent": {"command": "/nowhere/agent"}})
    refused(plan, "/nowhere/agent")
    plan.agent()
    project.settings({"plan": {"agents": {"review": "nobody"}}})
    refused(plan, "nobody", "plan.agents.review")


# ---- the repository --------------------------------------------------------------------------------------------------

def test_not_a_repository(project):
    plan = Plan(project, git=False)
    refused(plan, str(project.path), "not a git repository", "git init")


def test_a_repository_without_a_work_tree(project):
    plan = Plan(project)
    project.git("config", "core.bare", "true")
    refused(plan, str(project.path), "git")


def test_a_repository_without_a_commit(project):
    """Not wrong: the first commit is the agent's."""
    plan = Plan(project, git=False)
    (project.home / ".gitconfig").write_text("[user]\nname = T\nemail = t@example.org\n[init]\ndefaultBranch = main\n")
    project.git("init", "-q")
    plan.completes()


@pytest.mark.parametrize("branch", ["main", ""])
def test_a_detached_head(project, branch):
    plan = Plan(project, branchName=branch)
    project.git("checkout", "-q", "--detach")
    head = project.git("rev-parse", "HEAD")
    refused(plan, "HEAD is detached", "git switch main" if branch else "switch to a branch")
    assert project.git("rev-parse", "HEAD") == head and project.git("branch", "--show-current") == ""
    if branch:
        plan.completes("--switch")
        assert project.git("branch", "--show-current") == "main\n"


def test_another_branch_that_exists_is_not_switched_to_over_uncommitted_work(project):
    plan = Plan(project, branchName="ralph/feature")
    project.git("branch", "ralph/feature")
    (project.path / "mine.txt").write_text("mine")
    (project.path / "more.txt").write_text("more")
    refused(plan, "the branch is main", str(plan.tasks_path), "is ralph/feature", "mine.txt and 1 more are uncommitted",
            "'git switch ralph/feature'", "--switch", "--no-switch")
    assert project.git("branch", "--show-current") == "main\n"
    dry = plan.run("--dry-run")
    assert dry.code == 0 and "A run would refuse: the branch is main" in dry.out and "mine.txt" in dry.out, dry
    assert plan.run("--switch", "-n", "1").code == 1, "git itself has nothing against it"
    assert project.git("branch", "--show-current") == "ralph/feature\n" and (project.path / "mine.txt").exists()


@pytest.mark.parametrize("words", [[], ["--switch"]], ids=["by itself", "as asked"])
@pytest.mark.parametrize("there", [False, True], ids=["new", "old"])
def test_another_branch_is_switched_to(project, there, words):
    plan = Plan(project, branchName="ralph/feature")
    if there:
        project.git("branch", "ralph/feature")
    dry = plan.run("--dry-run", *words)
    assert "A run would switch: the branch is main" in dry.out, dry
    assert project.git("branch", "--show-current") == "main\n"
    result = plan.completes(*words)
    said = "switched to it" if there else "created it at HEAD and switched to it"
    assert f"is ralph/feature; {said}." in result.err and "the branch is main" in result.err, result
    assert project.git("branch", "--show-current") == "ralph/feature\n"
    assert "implement US-001" in plan.commits()
    assert "implement US-001" not in project.git("log", "--format=%s", "main")


def test_a_missing_branch_is_made_whatever_is_uncommitted(project):
    plan = Plan(project, branchName="ralph/feature", git=False)
    project.git_init()
    (project.path / "mine.txt").write_text("mine")
    assert plan.run("-n", "1").code == 1
    assert project.git("branch", "--show-current") == "ralph/feature\n"
    assert project.git("show", "HEAD:mine.txt") == "mine", "the agent commits all that it finds"


def test_an_existing_branch_gets_the_plan_that_is_not_committed_yet(project):
    """What plan init and plan draft wrote goes along; nothing else is carried."""
    plan = Plan(project, branchName="ralph/feature", git=False)
    project.git_init()
    project.git("branch", "ralph/feature")
    assert "A run would switch" in plan.run("--dry-run").out
    plan.completes()
    assert project.git("branch", "--show-current") == "ralph/feature\n"


def test_no_switch_stays_on_the_current_branch(project):
    plan = Plan(project, branchName="ralph/feature")
    refused(plan, "--switch and --no-switch are both given", arguments=["--switch", "--no-switch"])
    project.git("checkout", "-q", "--detach")
    project.git("branch", "ralph/feature")
    refused(plan, "HEAD is detached", arguments=["--no-switch"])
    project.git("branch", "-D", "ralph/feature")
    project.git("switch", "-q", "main")
    assert "A run would stay on the branch: the branch is main" in plan.run("--dry-run", "--no-switch").out
    result = plan.completes("--no-switch")
    assert "the branch is main" in result.err and "--no-switch: the run stays where it is." in result.err, result
    assert project.git("branch", "--format=%(refname:short)") == "main\n" and "implement US-001" in plan.commits()


def test_a_plan_that_names_another_branch_on_its_own_branch_is_not_followed_in_circles(project):
    plan = Plan(project, branchName="ralph/feature")
    project.git("switch", "-q", "-c", "ralph/feature")
    plan.write(plan.text().replace('"ralph/feature"', '"main"'))
    plan.commit_all("another branch")
    project.git("switch", "-q", "main")
    result = plan.run()
    assert result.code == 2 and plan.turns() == [], result
    for words in ["the branch is ralph/feature", "is main", "(the branch was switched to ralph/feature)"]:
        assert words in result.err, result


def test_the_plan_of_the_branch_counts_after_the_switch(project):
    """Not the one that lay there before: what was approved on the branch stays approved."""
    plan = Plan(project, [story("US-001"), story("US-002")], branchName="ralph/feature")
    assert plan.run("--switch", "-n", "2").code == 1
    assert plan.state("US-001") == (True, "approved", 1)
    project.git("switch", "-q", "main")
    assert plan.state("US-001") == (False, None, 0)
    (plan.folder / "prompt.md").write_text("An older prompt.\n")
    plan.commit_all("main goes on")
    plan.completes("--switch")
    assert plan.modes() == ["implement US-001", "review US-001", "implement US-002", "review US-002"]
    assert plan.violations() == [] and plan.own_commits() == []
    assert "An older prompt" not in plan.prompt(1)


def test_a_switch_that_git_refuses(project):
    plan = Plan(project, branchName="ralph/feature")
    project.git("switch", "-q", "-c", "ralph/feature")
    (project.path / "work.txt").write_text("theirs")
    plan.commit_all("on the branch")
    project.git("switch", "-q", "main")
    (project.path / "work.txt").write_text("mine")
    refused(plan, "cannot switch to the branch ralph/feature", arguments=["--switch"])
    assert (project.path / "work.txt").read_text() == "mine"
    assert project.git("branch", "--show-current") == "main\n"


@pytest.mark.parametrize("branch", ["-f", "--detach", "a b", "a..b", "x.lock", "HEAD"])
def test_a_branch_that_git_cannot_have(project, branch):
    """It is never taken for an option of git's."""
    plan = Plan(project, branchName=branch)
    refused(plan, branch, arguments=["--switch"])
    assert project.git("branch", "--show-current") == "main\n"


def test_git_is_not_installed(project):
    plan = Plan(project)
    bin = project.base / "bin"
    bin.mkdir()
    for name in ["python3", "sh"]:
        (bin / name).symlink_to(f"/usr/bin/{name}")
    refused(plan, "git", env={"PATH": str(bin)})


# ---- flags -----------------------------------------------------------------------------------------------------------

FLAGS = {
    "both": (["--sandbox", "--no-sandbox"], ["--sandbox and --no-sandbox"]),
    "n of nothing": (["-n", ""], ["--max-iterations", '""']),
    "n of zero": (["-n", "0"], ["--max-iterations", '"0"', "whole number from 1"]),
    "n below": (["-n", "-3"], ["-3"]),
    "n below, with =": (["--max-iterations=-3"], ["--max-iterations", '"-3"', "whole number"]),
    "n of a half": (["-n", "1.5"], ["--max-iterations", '"1.5"']),
    "n of words": (["-n", "many"], ["--max-iterations", '"many"']),
    "n with a unit": (["-n", "5x"], ["--max-iterations", '"5x"']),
    "n too large": (["-n", "99999999999999999999"], ["--max-iterations", '"99999999999999999999"']),
    "n without": (["-n"], ["-n"]),
    "cap of zero": (["--review-cap", "0"], ["--review-cap", '"0"']),
    "cap of words": (["--review-cap", "five"], ["--review-cap", '"five"']),
    "cap below": (["--review-cap=-1"], ["--review-cap", '"-1"']),
    "cap without": (["--review-cap"], ["--review-cap"]),
    "model blank": (["-m", " "], ["--model", "blank"]),
    "unknown": (["--reviewcap", "3"], ["--reviewcap", "--review-cap"]),
    "unknown letter": (["-x"], ["-x"]),
    "too much": (["now"], ["now"]),
    "a value for a switch": (["--skip-review=yes"], ["--skip-review"]),
}


@pytest.mark.parametrize("arguments, said", FLAGS.values(), ids=FLAGS.keys())
def test_bad_flags(project, arguments, said):
    refused(Plan(project), *said, arguments=arguments)


# ---- the copy outside ------------------------------------------------------------------------------------------------

def without_home(plan, **more):
    """Runs with exactly this instead of HOME and XDG_STATE_HOME."""
    environment = plan.project.environment
    plan.project.environment = lambda **own: {k: v for k, v in {**environment(**own), **more}.items() if k != "HOME"}
    try:
        return plan.run()
    finally:
        plan.project.environment = environment


@pytest.mark.parametrize("more", [{}, {"XDG_STATE_HOME": ""}, {"XDG_STATE_HOME": "relative/path"}],
                         ids=["neither", "empty", "relative"])
def test_nowhere_to_keep_the_copy(project, more):
    plan = Plan(project)
    before = files_below(project.path)
    result = without_home(plan, **more)
    assert result.code == 2 and "XDG_STATE_HOME" in result.err and "HOME" in result.err and "set one" in result.err, result
    assert files_below(project.path) == before and plan.turns() == [] and not plan.marker.exists()


def test_a_state_home_is_enough(project):
    plan = Plan(project)
    (project.home / ".gitconfig").rename(project.base / "gitconfig")
    result = without_home(plan, XDG_STATE_HOME=str(project.base / "state"), GIT_CONFIG_GLOBAL=str(project.base / "gitconfig"))
    assert result.code == 0, result
    assert list((project.base / "state/ralph/plans").glob("*.json"))


@pytest.mark.parametrize("kind", ["a file", "read-only", "a file below"])
def test_a_state_home_that_cannot_be_written(project, kind):
    plan = Plan(project)
    state, how = project.base / "state", {}
    if kind == "a file":
        state.write_text("x")
    elif kind == "a file below":
        (state / "ralph").mkdir(parents=True)
        (state / "ralph/plans").write_text("x")
    else:
        how = as_nobody(project)
        state.mkdir(mode=0o555)
    refused(plan, str(state), "XDG_STATE_HOME", env={"XDG_STATE_HOME": state}, **how)


BROKEN_COPIES = {
    "nonsense": ("{", []),
    "of another version": ('{"v": 99}', ["another version"]),
    "empty": ("", []),
    "a list": ("[]", ["another version"]),
    "an open one without tasks": ('{"v": 1, "open": true, "tasks": ""}', []),
    "an open one with other tasks": ('{"v": 1, "open": true, "tasks": "{}"}', ["has no plan in it", "missing"]),
}


@pytest.mark.parametrize("text, said", BROKEN_COPIES.values(), ids=BROKEN_COPIES.keys())
def test_a_broken_copy_is_named(project, text, said):
    plan = Plan(project)
    assert plan.run("-n", "1").code == 1
    copy = plan.state_file()
    copy.write_text(text)
    (project.base / "agent.log").unlink()
    refused(plan, str(copy), "remove it to start over with tasks.json as it is now", *said)


@pytest.mark.parametrize("kind", ["folder", "fifo", "link to a device"])
def test_a_copy_of_another_kind(project, kind):
    plan = Plan(project)
    assert plan.run("-n", "1").code == 1
    copy = plan.state_file()
    copy.unlink()
    if kind == "folder":
        copy.mkdir()
    elif kind == "fifo":
        os.mkfifo(copy)
    else:
        copy.symlink_to("/dev/zero")
    (project.base / "agent.log").unlink()
    refused(plan, str(copy), timeout=20)


# ---- sizes -----------------------------------------------------------------------------------------------------------

@pytest.mark.slow  # without optimisation it takes longer than anybody waits
def test_ten_thousand_stories(project):
    stories = [approved(f"US-{n:05}", dependsOn=[f"US-{n - 1:05}"] if n else []) for n in range(10000)]
    stories[-1] = story("US-09999", dependsOn=["US-09998"])
    plan = Plan(project, stories)
    plan.cheat("stories['US-05000'].update(passes=False); tasks['userStories'].remove(stories['US-00007'])", at=1)
    plan.completes()
    assert len(plan.violations(1)) == 2


def test_a_chain_of_ten_thousand_that_ends_in_a_circle(project):
    stories = [story(f"US-{n:05}", dependsOn=[f"US-{(n + 1) % 10000:05}"]) for n in range(10000)]
    plan = with_tasks(project, json.dumps(document(stories)))
    result = plan.run()
    assert result.code == 2 and "dependsOn forms a cycle" in result.err, result
    assert len(result.err) < 4000, "all of a long circle is more than anybody reads"
