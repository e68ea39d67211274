"""ralph plan archive: a plan is put away whole, with a summary, and exactly that is committed."""
import datetime
import json
import os

import pytest

from plan_support import Plan
from plan_support import story as plan_story
from test_plan_init import tiny_disk


def story(number, **values):
    return {"id": f"US-{number:03}", "title": f"Story {number}", "description": "", "acceptanceCriteria": ["it works"],
            "priority": number, "passes": False, "reviewStatus": None, "reviewCount": 0, "reviewFeedback": "", "notes": "",
            "dependsOn": [], **values}


def approved(number, reviews=1, **values):
    return story(number, passes=True, reviewStatus="approved", reviewCount=reviews, notes="built", **values)


def make_plan(project, *stories, branch="ralph/prices", git=True):
    if git:
        project.git_init()
    assert project.run("plan", "init", "--name", "prices").code == 0
    folder = project.path / "ralph"
    (folder / "prd.md").write_text("# PRD: prices\n\nCustomers have prices of their own.\n")
    (folder / "prompt.md").write_text("my own prompt\n")
    with (folder / "progress.txt").open("a") as progress:
        progress.write("## Iteration 1\n- Done: prices\n---\n")
    write_tasks(project, {"project": "prices", "branchName": branch, "description": "Prices.", "verifyCommands": [],
                          "userStories": list(stories) or [approved(1)]})
    if git:
        project.git("add", "-A")
        project.git("commit", "-q", "-m", "plan")
    return {name: (folder / name).read_bytes() for name in ["prd.md", "tasks.json", "progress.txt"]}


def write_tasks(project, tasks):
    (project.path / "ralph/tasks.json").write_text(tasks if isinstance(tasks, str) else json.dumps(tasks))


def archives(project):
    folder = project.path / "ralph-archive"
    return sorted(p.name for p in folder.iterdir()) if folder.exists() else []


def only_archive(project):
    name, = archives(project)
    return project.path / "ralph-archive" / name


def today():
    return {(datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=m)).strftime("%Y-%m-%d")
            for m in (-5, 0)}


def committed_files(project):
    return sorted(project.git("-c", "core.quotePath=false", "show", "--format=", "--name-only", "HEAD").split("\n")[:-1])


def contents(path):
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def test_a_plan_is_put_away_reset_and_committed(project):
    plan = make_plan(project)
    result = project.run("plan", "archive")
    assert result.code == 0 and result.err == "" and "Committed." in result.out, result
    assert "1 of 1 story done" in result.out, result
    folder = only_archive(project)
    assert folder.name in {f"{day}-ralph-prices" for day in today()}
    assert {k: v for k, v in contents(folder).items() if k != "summary.md"} == plan
    fresh = project.path / "ralph"
    assert (fresh / "prompt.md").read_text() == "my own prompt\n"
    assert "Customers" not in (fresh / "prd.md").read_text() and "## 1. Summary" in (fresh / "prd.md").read_text()
    assert "Iteration 1" not in (fresh / "progress.txt").read_text()
    tasks = json.loads((fresh / "tasks.json").read_text())
    assert tasks["project"] == "prices" and tasks["branchName"] == "ralph/pro-j-kt"
    assert tasks["userStories"][0]["passes"] is False
    assert project.git("status", "--porcelain") == ""
    inside = f"ralph-archive/{folder.name}/"
    assert committed_files(project) == sorted(
        [inside + n for n in ["prd.md", "progress.txt", "summary.md", "tasks.json"]] +
        [f"ralph/{n}" for n in ["prd.md", "progress.txt", "tasks.json"]])
    assert project.git("log", "-1", "--format=%s").strip() == f"chore: archive {folder.name}"


def test_the_summary_tells_stories_dates_and_reviews(project):
    make_plan(project, approved(1), approved(2, 2), approved(3, 5, reviewFeedback="[AUTO-APPROVED AT CAP] still slow"),
              story(4, reviewStatus="changes_requested", reviewCount=1, reviewFeedback="no"), story(5, title="A | B"))
    (project.path / "ralph/progress.txt").write_text("# Log\nStarted: 2025-03-04T10:00:00Z\nPRD: prices\n")
    result = project.run("plan", "archive")
    assert result.code == 0 and "3 of 5 stories done" in result.out, result
    summary = (only_archive(project) / "summary.md").read_text()
    for line in ["- Project: prices", "- Branch: ralph/prices", "- Stories completed: 3 of 5",
                 "| US-001 | Story 1 | approved | 1 |", "| US-002 | Story 2 | approved | 2 |",
                 "| US-003 | Story 3 | approved at the review cap | 5 |", "| US-004 | Story 4 | changes requested | 1 |",
                 "| US-005 | A \\| B | open | 0 |", "- Reviews: 9 of 4 stories, 2.2 each on average",
                 "- Most reviewed: US-003 (5)", "- Approved the first time: 1 of 3 approved",
                 "- Approved at the review cap: US-003", "- US-003: still slow", "- US-004 (changes requested): Story 4",
                 "- US-005 (open): A \\| B"]:
        assert line in summary.splitlines(), summary
    assert any(f"- Dates: 2025-03-04 to {day}" in summary for day in today()), summary


def test_without_a_started_line_the_first_commit_of_tasks_json_is_the_beginning(project):
    make_plan(project)
    (project.path / "ralph/progress.txt").write_text("lost\n")
    project.git("commit", "-q", "-am", "lost", "--date=2020-01-01T00:00:00Z")
    assert project.run("plan", "archive").code == 0
    summary = (only_archive(project) / "summary.md").read_text()
    assert any(f"- Dates: {day} to " in summary for day in today()), summary


def test_what_else_is_staged_or_changed_stays_as_it_is(project):
    make_plan(project)
    (project.path / "tracked").write_text("1\n")
    project.git("add", "tracked")
    project.git("commit", "-q", "-m", "tracked")
    (project.path / "tracked").write_text("2\n")
    (project.path / "staged").write_text("staged\n")
    project.git("add", "staged", "tracked")
    (project.path / "tracked").write_text("3\n")
    (project.path / "new").write_text("new\n")
    before = project.git("status", "--porcelain"), project.git("diff", "--cached")
    result = project.run("plan", "archive")
    assert result.code == 0 and "Committed." in result.out, result
    assert (project.git("status", "--porcelain"), project.git("diff", "--cached")) == before
    assert all(f.startswith(("ralph/", "ralph-archive/")) for f in committed_files(project))


def test_a_plan_that_was_never_committed_and_a_repository_without_commits(project):
    plan = make_plan(project, git=False)
    project.home.joinpath(".gitconfig").write_text("[user]\nname = T\nemail = t@example.org\n")
    project.git("init", "-q")
    result = project.run("plan", "archive")
    assert result.code == 0 and "Committed." in result.out, result
    assert project.git("show", f"HEAD:ralph-archive/{archives(project)[0]}/prd.md").encode() == plan["prd.md"]
    assert project.git("status", "--porcelain", "-uall").splitlines() == ["?? .gitignore", "?? ralph/prompt.md"]


def test_without_git_it_is_archived_and_said_not_to_be_committed(project):
    plan = make_plan(project, git=False)
    result = project.run("plan", "archive")
    assert result.code == 0 and "Not committed" in result.out and "not a git repository" in result.out, result
    assert (only_archive(project) / "tasks.json").read_bytes() == plan["tasks.json"]
    empty = project.base / "no programs"
    empty.mkdir()
    (project.path / "ralph/prd.md").write_text("another plan")
    result = project.run("plan", "archive", env={"PATH": empty})
    assert result.code == 0 and "Not committed" in result.out and "git" in result.out, result
    assert len(archives(project)) == 2


def test_what_git_ignores_is_archived_and_left_out_of_the_commit(project):
    make_plan(project, git=False)
    project.git_init()
    (project.path / ".gitignore").write_text("ralph/\n")
    result = project.run("plan", "archive")
    assert result.code == 0 and "Committed." in result.out, result
    assert all(f.startswith("ralph-archive/") for f in committed_files(project))
    (project.path / ".gitignore").write_text("ralph*/\n")
    (project.path / "ralph/prd.md").write_text("another plan")
    result = project.run("plan", "archive")
    assert result.code == 0 and "git ignores" in result.out, result
    assert len(archives(project)) == 2


def test_a_commit_that_git_refuses_loses_nothing(project):
    plan = make_plan(project)
    (project.path / ".git/index.lock").write_text("")  # as if another git were at work
    result = project.run("plan", "archive")
    assert result.code == 2 and "safe in" in result.err and "index.lock" in result.err, result
    folder = only_archive(project)
    assert {k: v for k, v in contents(folder).items() if k != "summary.md"} == plan


# Names


@pytest.mark.parametrize("label, name", [
    ("first attempt", "first-attempt"), ("../../etc/passwd", "etc-passwd"), ("a/b\\c", "a-b-c"), (".hidden", "hidden"),
    ("$(touch x)`touch y`;&|", "touch-x--touch-y"), ("grün 🙂", "gr-n"), ("...", "plan"), ("-n", "n"), ("v1.2_3", "v1.2_3"),
    ("l" * 3000, "l" * 100), ("a\nb", "a-b"), ("*", "plan")])
def test_odd_labels_become_plain_names(project, label, name):
    make_plan(project)
    result = project.run("plan", "archive", f"--label={label}")
    assert result.code == 0 and "Committed." in result.out, result
    assert only_archive(project).name in {f"{day}-{name}" for day in today()}
    assert sorted(os.listdir(project.path)) == [".git", ".gitignore", "ralph", "ralph-archive"]


def test_a_second_archive_of_the_same_name_gets_a_number(project):
    make_plan(project)
    for _ in range(3):
        (project.path / "ralph/prd.md").write_text("something to build\n")
        assert project.run("plan", "archive", "--label", "x").code == 0
    names = archives(project)
    assert [n[10:] for n in names] == ["-x", "-x-2", "-x-3"]
    assert project.git("rev-list", "--count", "HEAD").strip() == "5"


def test_archiving_twice_in_a_row_archives_once(project):
    make_plan(project)
    assert project.run("plan", "archive").code == 0
    before = contents(project.path)
    result = project.run("plan", "archive")
    assert result.code == 2 and "nothing to archive" in result.err, result
    assert contents(project.path) == before


def test_the_folders_may_be_elsewhere(project):
    project.git_init()
    inner = project.path / "inner project"
    inner.mkdir()
    assert project.run("plan", "init", "-d", "inner project", "--ralph-dir", "inner project/my plan").code == 0
    (inner / "my plan/prd.md").write_text("A thing.\n")
    result = project.run("plan", "archive", "-d", "inner project", "--ralph-dir", "inner project/my plan", "--label", "z")
    assert result.code == 0 and "Committed." in result.out, result
    assert all(f.startswith(("inner project/ralph-archive/", "inner project/my plan/")) for f in committed_files(project))
    outside = project.base / "outside"
    assert project.run("plan", "init", "--ralph-dir", outside).code == 0
    (outside / "prd.md").write_text("Another thing.\n")
    result = project.run("plan", "archive", "--ralph-dir", outside)
    assert result.code == 0 and "Committed." in result.out, result
    assert all(f.startswith("ralph-archive/") for f in committed_files(project))


def test_a_project_whose_name_is_a_pattern(project):
    odd = project.path / "a[b]*?"
    (project.path / "ab").mkdir(parents=True)
    odd.mkdir()
    project.git_init()
    (project.path / "ab/mine").write_text("x")
    assert project.run("plan", "init", cwd=odd).code == 0
    (odd / "ralph/prd.md").write_text("A thing.\n")
    result = project.run("plan", "archive", cwd=odd)
    assert result.code == 0 and "Committed." in result.out, result
    assert all(f.startswith("a[b]*?/ralph") for f in committed_files(project))


# A plan that is not in order can be put away too


@pytest.mark.parametrize("text", ["", "{", "null", "[]", '{"a":1,"a":2}', '{"userStories": 5}', "\xff", "[" * 5000])
def test_a_broken_tasks_json_is_archived_as_it_is(project, text):
    make_plan(project)
    (project.path / "ralph/tasks.json").write_bytes(text.encode("latin-1"))
    result = project.run("plan", "archive", "--label", "x")
    assert result.code == 0 and "tasks.json has errors" in result.err, result
    assert (only_archive(project) / "tasks.json").read_bytes() == text.encode("latin-1")
    assert "tasks.json has errors" in (only_archive(project) / "summary.md").read_text()
    assert project.git("status", "--porcelain") == ""


def test_stories_that_break_the_rules_are_shown_as_they_are(project):
    make_plan(project, approved(1), story(1, passes="yes"), story(2, passes=True, reviewStatus="needs_review"), 5)
    result = project.run("plan", "archive")
    assert result.code == 0 and "has errors" in result.err, result
    summary = (only_archive(project) / "summary.md").read_text()
    assert "- Stories completed: 1 of 3" in summary, summary
    assert "| US-002 | Story 2 | passes, but needs review | 0 |" in summary, summary


@pytest.mark.parametrize("missing", ["prd.md", "tasks.json", "progress.txt", "prompt.md"])
def test_a_plan_with_a_file_missing_is_archived_with_the_rest(project, missing):
    plan = make_plan(project)
    (project.path / "ralph" / missing).unlink()
    result = project.run("plan", "archive")
    assert result.code == 0, result
    plan.pop(missing, None)
    assert {k: v for k, v in contents(only_archive(project)).items() if k != "summary.md"} == plan
    assert sorted(os.listdir(project.path / "ralph")) == ["prd.md", "progress.txt", "prompt.md", "tasks.json"]
    assert project.git("status", "--porcelain") == ""


# What can't be done changes nothing


def test_without_a_plan_it_says_how_to_make_one(project):
    result = project.run("plan", "archive")
    assert result.code == 2 and "plan init" in result.err, result
    (project.path / "ralph").mkdir()
    result = project.run("plan", "archive")
    assert result.code == 2 and "plan init" in result.err, result
    assert not (project.path / "ralph-archive").exists()


def test_links_are_not_followed(project):
    make_plan(project)
    (project.base / "elsewhere").mkdir()
    archive = project.path / "ralph-archive"
    archive.symlink_to(project.base / "elsewhere")
    before = contents(project.path / "ralph")
    result = project.run("plan", "archive")
    assert result.code == 2 and "symbolic link" in result.err, result
    assert os.listdir(project.base / "elsewhere") == [] and contents(project.path / "ralph") == before
    archive.unlink()
    secret = project.base / "secret"
    secret.write_text("secret")
    (project.path / "ralph/tasks.json").unlink()
    (project.path / "ralph/tasks.json").symlink_to(secret)
    result = project.run("plan", "archive")
    assert result.code == 2 and "symbolic link" in result.err and not archive.exists(), result
    os.rename(project.path / "ralph", project.path / "real")
    (project.path / "ralph").symlink_to("real")
    result = project.run("plan", "archive")
    assert result.code == 2 and "symbolic link" in result.err and not archive.exists(), result


def test_a_full_disk_leaves_the_plan_where_it_was(project):
    make_plan(project)
    (project.path / "ralph/progress.txt").write_text("x" * 20000)
    before = contents(project.path / "ralph")
    with tiny_disk(project.path / "ralph-archive", 16):
        result = project.run("plan", "archive")
        assert result.code == 2 and "space" in result.err, result
        assert contents(project.path / "ralph") == before and archives(project) == []


def test_a_run_that_is_under_way_keeps_its_plan(project):
    make_plan(project)
    (project.path / ".ralph-active").write_text(json.dumps({"timestamp": "2026-11-15T10:30:00Z", "pid": os.getpid(),
                                                            "max_iterations": 15, "mode": "direct"}))
    result = project.run("plan", "archive")
    assert result.code == 2 and str(os.getpid()) in result.err, result
    assert not (project.path / "ralph-archive").exists()


def test_mistyped_words_are_explained(project):
    make_plan(project)
    result = project.run("plan", "archive", "--lable", "x")
    assert result.code == 2 and "--label" in result.err, result
    result = project.run("plan", "archive", "--label=")
    assert result.code == 2 and "--label" in result.err, result
    result = project.run("plan", "archive", "surplus")
    assert result.code == 2 and "surplus" in result.err, result
    assert not (project.path / "ralph-archive").exists()


def test_escape_sequences_of_a_plan_do_not_reach_the_terminal(project):
    plan = Plan(project, [plan_story("US-\x1b]0;owned\x07", title="\x1b[2Jgone")], branchName="main\u009b31m")
    plan.write(plan.text().replace('"Demo"', '"shop\\u001b[31m"').replace('"reviewCount": 0', '"reviewCount": "\\u001b[31mmany"'))
    (plan.folder / "progress.txt").write_text("Started: \x1b[31m\nPRD: x\n")
    plan.commit_all("odd")
    result = project.run("plan", "archive", "--label", "a\x1b[31mb\u009bc")
    assert result.code == 0 and "has errors" in result.err, result
    for text in (result.out, result.err):
        assert not [c for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)], text
