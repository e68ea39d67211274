"""ralph plan init: the four files of a plan, made without ever touching what is there."""
import contextlib
import json
import os
import re
import subprocess

import pytest

from support import NOBODY, ordinary_user

FILES = ["prd.md", "progress.txt", "prompt.md", "tasks.json"]
REJECTED = b".ralph-active.rejected-*\ntasks.json.rejected-*\nprd.md.rejected-*\nprompt.md.rejected-*\nprogress.txt.rejected-*\n"


def files_below(path):
    """{relative path: content} of all files, links as where they lead."""
    return {str(p.relative_to(path)): os.readlink(p) if p.is_symlink() else p.read_bytes()
            for p in path.rglob("*") if p.is_symlink() or p.is_file()}


@contextlib.contextmanager
def tiny_disk(path, kilobytes):
    """A disk of that size at a new folder, if this user may mount one."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k,mode=755", "tmpfs", str(path)],
                             capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip("mount was refused: " + mounted.stderr.strip())
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def tasks_of(path):
    return json.loads((path / "ralph/tasks.json").read_text())


def test_the_four_files_are_made_and_next_steps_shown(project):
    result = project.run("plan", "init")
    assert result.code == 0 and result.err == "", result
    assert sorted(os.listdir(project.path / "ralph")) == FILES
    assert (project.path / ".gitignore").read_text() == ".ralph-active\n" + REJECTED.decode()
    for word in ["ralph plan draft", "ralph plan run", "verifyCommands", "the branch ralph/pro-j-kt", *FILES]:
        assert word in result.out, result


def test_tasks_json_has_every_field_of_the_format(project):
    assert project.run("plan", "init").code == 0
    tasks = tasks_of(project.path)
    assert tasks["project"] == project.path.name and tasks["branchName"] == "ralph/pro-j-kt"
    assert tasks["verifyCommands"] == []
    story, = tasks["userStories"]
    assert story["acceptanceCriteria"] and all(story["acceptanceCriteria"])
    assert {k: v for k, v in story.items() if k not in ("title", "description", "acceptanceCriteria")} == {
        "id": "US-001", "priority": 1, "passes": False, "reviewStatus": None, "reviewCount": 0, "reviewFeedback": "",
        "notes": "", "dependsOn": []}


def test_the_name_is_the_project_and_its_branch(project):
    result = project.run("plan", "init", "--name", "login/step-1")
    assert result.code == 0 and "the branch ralph/login/step-1" in result.out, result
    assert tasks_of(project.path)["branchName"] == "ralph/login/step-1"
    assert tasks_of(project.path)["project"] == "login/step-1"
    progress = (project.path / "ralph/progress.txt").read_text()
    assert "\nPRD: login/step-1\n" in progress and "{{" not in progress
    assert progress.splitlines()[1].startswith("Started: 20")
    assert (project.path / "ralph/prd.md").read_text().startswith("# PRD: login/step-1\n")


@pytest.mark.parametrize("name", ["two words", "a..b", "a~b", "a^b", "a:b", "a?", "a*", "a[b", "a\\b", "-a", "a/", "/a",
                                  "a//b", "a.lock", ".a", "a/.b", "a.", "a@{b", "a\tb", "", "x" * 300])
def test_a_name_that_is_no_branch_is_refused_and_nothing_made(project, name):
    result = project.run("plan", "init", f"--name={name}")
    assert result.code == 2 and "--name" in result.err, result
    assert files_below(project.path) == {}


def test_names_that_git_takes_are_those_that_ralph_takes(project):
    project.git_init()
    for name in ["a", "ü", "a/b", "x.y", "@", "a@b", "1.2.3", "a-", "a_b", "%", "a'b", 'a"b', "a$b"]:
        project.git("check-ref-format", "--branch", f"ralph/{name}")  # fails the test if git would not
        result = project.run("plan", "init", "--force", f"--name={name}")
        assert result.code == 0, result
        assert tasks_of(project.path)["branchName"] == f"ralph/{name}"


@pytest.mark.parametrize("present", FILES)
def test_nothing_that_exists_is_replaced(project, present):
    folder = project.path / "ralph"
    folder.mkdir()
    (folder / present).write_text("mine")
    result = project.run("plan", "init")
    assert result.code == 0 and re.search(rf"{re.escape(present)} +exists and stays", result.out), result
    assert (folder / present).read_text() == "mine" and sorted(p.name for p in folder.iterdir()) == sorted(FILES)
    before = files_below(project.path)
    result = project.run("plan", "init")
    assert result.code == 2 and result.out == "", result
    assert present in result.err and "--force" in result.err, result
    assert files_below(project.path) == before


def test_force_replaces_the_four_files_and_no_others(project):
    folder = project.path / "ralph"
    folder.mkdir()
    for name in [*FILES, "notes.md"]:
        (folder / name).write_text("mine")
    (folder / "prd.md").chmod(0o600)
    assert project.run("plan", "init", "--force").code == 0
    assert (folder / "notes.md").read_text() == "mine"
    for name in FILES:
        assert (folder / name).read_text() != "mine"
    assert (folder / "prd.md").stat().st_mode & 0o777 == 0o600


def test_a_folder_elsewhere_is_named_from_where_one_stands(project):
    other = project.path / "sub folder" / "the shop"
    other.mkdir(parents=True)
    result = project.run("plan", "init", "-d", "../the shop", "--name", "x", cwd=project.path / "sub folder" / "the shop")
    assert result.code == 0, result
    assert sorted(os.listdir(other)) == [".gitignore", "ralph"]
    assert "ralph plan run --project-dir '../the shop'" in result.out, result
    assert not (project.path / "ralph").exists()


def test_the_ralph_folder_may_be_another(project):
    result = project.run("plan", "init", "--ralph-dir", "plans/first one")
    assert result.code == 0, result
    assert sorted(os.listdir(project.path / "plans/first one")) == FILES
    assert "`{{RALPH_DIR}}/tasks.json`" in (project.path / "plans/first one/prompt.md").read_text()
    assert "--ralph-dir 'plans/first one'" in result.out, result
    outside = project.base / "outside"
    assert project.run("plan", "init", "--ralph-dir", outside).code == 0
    assert "`{{RALPH_DIR}}/tasks.json`" in (outside / "prompt.md").read_text()


def test_the_steps_begin_with_what_is_missing_for_a_run(project):
    steps = project.run("plan", "init").out.split("What comes next")[1]
    assert "1. git init " in steps and "2. ralph init  No agent is set yet.\n" in steps, steps
    project.git_init()
    project.settings({"agent": {"command": "claude"}})
    steps = project.run("plan", "init", "--force").out.split("What comes next")[1]
    assert "1. ralph plan draft" in steps and "ralph init" not in steps and "git init" not in steps, steps
    other = project.base / "other"
    other.mkdir()
    steps = project.run("plan", "init", "-d", other).out
    assert f"ralph -C {other} init" in steps, steps


def test_the_branch_is_one_that_can_be_made(project):
    """Whatever branches there are: git makes no ralph/x beside a branch ralph, and an older plan has its own."""
    project.git_init()
    wanted = ["ralph/pro-j-kt", "ralph/pro-j-kt-2", "ralph-login"]
    for branch, words in zip(wanted, [[], [], ["--name", "login"]]):
        assert project.run("plan", "init", "--force", *words).code == 0
        assert json.loads((project.path / "ralph/tasks.json").read_text())["branchName"] == branch
        project.git("branch", branch)
        if branch.endswith("-2"):
            project.git("branch", "-D", *wanted[:2])
            project.git("branch", "ralph")


def test_the_steps_name_the_branch_of_a_plan_that_stays(project):
    assert project.run("plan", "init", "--name", "first").code == 0
    (project.path / "ralph/prd.md").unlink()
    result = project.run("plan", "init", "--name", "second")
    assert result.code == 0 and "the branch ralph/first" in result.out, result


def test_only_a_runs_own_places_are_left_to_fill_in(project):
    assert project.run("plan", "init").code == 0
    prompt = (project.path / "ralph/prompt.md").read_text()
    for place in ["ASSIGNMENT", "DIR", "ITERATION", "MAX_ITERATIONS", "MODE", "STORY", "REVIEW_CAP"]:
        assert "{{RALPH_%s}}" % place in prompt
        prompt = prompt.replace("{{RALPH_%s}}" % place, "")
    assert "{{" not in prompt
    for name in ["prd.md", "tasks.json", "progress.txt"]:
        assert "{{" not in (project.path / "ralph" / name).read_text()


def test_a_folder_with_an_odd_name_gives_valid_files(project):
    odd = project.base / 'say "hi" \\ {{DATE}}\nbye'
    odd.mkdir()
    result = project.run("plan", "init", cwd=odd)
    assert result.code == 0, result
    assert tasks_of(odd)["project"] == 'say "hi" \\ {{DATE}} bye'


# .gitignore


@pytest.mark.parametrize("before, after", [
    (b"build/\n", b"build/\n.ralph-active\n" + REJECTED),
    (b"build/", b"build/\n.ralph-active\n" + REJECTED[:-1]),
    (b"build/\r\n", (b"build/\n.ralph-active\n" + REJECTED).replace(b"\n", b"\r\n")),
    (b".ralph-active\n", b".ralph-active\n" + REJECTED),
    (REJECTED + b"/.ralph-active\n", REJECTED + b"/.ralph-active\n"),
    (b"", b".ralph-active\n" + REJECTED),
    (b"\xff\xfe\n", b"\xff\xfe\n.ralph-active\n" + REJECTED),
])
def test_gitignore_gets_what_it_lacks_in_its_own_style(project, before, after):
    (project.path / ".gitignore").write_bytes(before)
    assert project.run("plan", "init").code == 0
    assert (project.path / ".gitignore").read_bytes() == after


def test_git_really_ignores_what_runs_leave_and_not_the_plan(project):
    project.git_init()
    assert project.run("plan", "init").code == 0
    for name in [".ralph-active", "ralph/tasks.json.rejected-1", "ralph/prompt.md.rejected-1", "work.rejected-1.py"]:
        (project.path / name).write_text("x")
    seen = project.git("status", "--porcelain", "-uall").splitlines()
    assert seen.pop() == "?? work.rejected-1.py", "not a name of ralph's"
    assert seen == ["?? .gitignore"] + [f"?? ralph/{name}" for name in FILES]


def test_a_gitignore_that_is_a_link_is_left_alone_and_said(project):
    (project.base / "shared").write_text("x\n")
    (project.path / ".gitignore").symlink_to(project.base / "shared")
    result = project.run("plan", "init")
    assert result.code == 0 and ".gitignore" in result.err and ".ralph-active" in result.err, result
    assert (project.path / ".gitignore").is_symlink() and (project.base / "shared").read_text() == "x\n"


# What can't be done leaves no trace


def test_a_ralph_folder_that_is_a_link_is_refused(project):
    (project.base / "elsewhere").mkdir()
    (project.path / "ralph").symlink_to(project.base / "elsewhere")
    for force in [[], ["--force"]]:
        result = project.run("plan", "init", *force)
        assert result.code == 2 and "symbolic link" in result.err, result
    assert os.listdir(project.base / "elsewhere") == [] and not (project.path / ".gitignore").exists()


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_file_that_is_a_link_or_a_folder_is_not_replaced(project, force):
    folder = project.path / "ralph"
    folder.mkdir()
    (project.base / "target").write_text("mine")
    (folder / "tasks.json").symlink_to(project.base / "target")
    result = project.run("plan", "init", *force)
    assert result.code == 2 and "tasks.json" in result.err, result
    (folder / "tasks.json").unlink()
    (folder / "tasks.json").mkdir()
    result = project.run("plan", "init", *force)
    assert result.code == 2 and "tasks.json" in result.err, result
    assert os.listdir(folder) == ["tasks.json"] and (project.base / "target").read_text() == "mine"


def test_a_file_where_the_folder_should_be_is_an_error(project):
    (project.path / "ralph").write_text("mine")
    result = project.run("plan", "init")
    assert result.code == 2 and "ralph" in result.err and "not a folder" in result.err, result
    assert files_below(project.path) == {"ralph": b"mine"}


def test_a_project_that_is_no_folder_is_an_error(project):
    (project.path / "file").write_text("")
    for where in ["nowhere", "file", ""]:
        result = project.run("plan", "init", f"--project-dir={where}")
        assert result.code == 2 and "project-dir" in result.err, result


@pytest.fixture
def as_nobody(project):
    return ordinary_user(project, project.home, project.tmp)


def test_a_project_that_cannot_be_written_is_an_error_that_names_it(project, as_nobody):
    result = project.run("plan", "init", **as_nobody)
    assert result.code == 2 and str(project.path / "ralph") in result.err and "ermission" in result.err, result
    assert os.listdir(project.path) == []


def test_what_was_made_is_taken_back_if_gitignore_cannot_be_written(project, as_nobody):
    folder = project.path / "ralph"
    folder.mkdir()
    (folder / "prd.md").write_text("mine")
    for path in [folder, folder / "prd.md"]:
        os.chown(path, NOBODY, NOBODY)
    result = project.run("plan", "init", "--force", **as_nobody)  # only ralph/ may be written
    assert result.code == 2 and ".gitignore" in result.err, result
    assert files_below(project.path) == {"ralph/prd.md": b"mine"}


def test_a_full_disk_leaves_all_as_it_was(project):
    folder = project.path / "ralph"
    with tiny_disk(folder, 16):  # has room for some of the files
        (folder / "prd.md").write_text("mine")
        result = project.run("plan", "init", "--force")
        assert result.code == 2 and "space" in result.err, result
        assert files_below(project.path) == {"ralph/prd.md": b"mine"}


def test_mistyped_words_are_explained(project):
    result = project.run("plan", "init", "--nmae", "x")
    assert result.code == 2 and "--name" in result.err, result
    result = project.run("plan", "init", "surplus")
    assert result.code == 2 and "surplus" in result.err, result
    result = project.run("plan", "init", "--name")
    assert result.code == 2 and "--name" in result.err, result
    result = project.run("plan", "inti")
    assert result.code == 2 and "plan init" in result.err, result
    assert files_below(project.path) == {}


def test_a_live_run_is_not_pulled_its_files_from_under_it(project):
    assert project.run("plan", "init").code == 0
    before = files_below(project.path)
    (project.path / ".ralph-active").write_text(json.dumps({"timestamp": "2026-11-15T10:30:00Z", "pid": os.getpid(),
                                                            "max_iterations": 15, "mode": "direct"}))
    result = project.run("plan", "init", "--force")
    assert result.code == 2 and str(os.getpid()) in result.err, result
    (project.path / ".ralph-active").unlink()
    assert files_below(project.path) == before
