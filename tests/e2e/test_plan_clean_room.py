"""plan.cleanRoom: reviews work in a clean checkout of the commit under review, and ralph carries back what they may write."""
import json
import os
import signal
import subprocess

import pytest

from check_support import write
from plan_support import Plan, as_nobody, python, story, submitted
from support import wait_until


def clean_plan(project, *stories, setup="", **top):
    plan = Plan(project, list(stories) or [story("US-001")], **top)
    project.settings({"plan": {"cleanRoom": {"setup": setup}}})
    (project.path / "code.py").write_text("good\n")
    plan.commit_all("code")
    return plan


def rooms(project):
    return [path for path in (project.home / ".cache/ralph/rooms").glob("*/*")]


def subjects_of(project, commit="HEAD"):
    return project.git("show", "--format=", "--name-only", commit).split()


@pytest.mark.parametrize("user", ["root", "ordinary user"])
def test_a_review_works_in_a_checkout_and_its_words_are_carried_back(project, user):
    plan = clean_plan(project)
    plan.cheat("(base / 'where').write_text(json.dumps({'cwd': os.getcwd(), 'files': sorted(os.listdir('.')),\n"
               "    'branch': git('branch', '--show-current'), 'log': git('log', '--format=%s'), 'status': git('status', '-s')}))",
               mode="review", phase="before")
    plan.cheat("Path('CLAUDE.md').write_text('Use bun.')\n"
               "tasks['userStories'].append({**story, 'id': 'US-002', 'title': 'More', 'passes': False, 'reviewStatus': None,\n"
               "                             'reviewCount': 0, 'notes': ''})", mode="review")
    who = as_nobody(project) if user != "root" else {}
    result = plan.run("-n", "2", **who)
    assert result.code == 1, result
    where = json.loads((project.base / "where").read_text())
    room = project.records("plan_work")[1]["room"]
    assert where["cwd"] == room and str(project.path) not in room
    assert where["branch"] == "main" and where["log"].splitlines()[0] == "implement US-001"
    assert where["status"] == "", "the plan is as committed, and the marker is ignored"
    assert ".ralph-active" in where["files"] and "code.py" in where["files"]
    assert plan.commits()[-1] == "review: [US-001] - approved"
    assert subjects_of(project) == ["CLAUDE.md", "ralph/progress.txt", "ralph/tasks.json"]
    assert plan.state("US-001") == (True, "approved", 1) and plan.story("US-002")["passes"] is False
    assert "2 review US-001" in (plan.folder / "progress.txt").read_text()
    assert project.git("status", "--porcelain") == ""
    assert plan.violations() == []
    assert not rooms(project), "removed at the end"
    assert room in project.run("runs", "show", **who).out
    verdict = json.loads((project.run_folder() / "receipt.json").read_text())["verdicts"][-1]
    assert verdict["room"] == room and verdict["inPlace"] == ""
    assert "You work in a clean checkout of commit" in plan.prompt(2)


def test_the_checks_of_a_review_run_there(project):
    plan = clean_plan(project, submitted("US-001"), verifyCommands=["test -f code.py", "test ! -e built", "pwd"])
    (project.path / ".git/info/exclude").write_text("built\n")
    (project.path / "built").touch()
    plan.completes()
    log = project.path / project.records("guardrail_ended")[2]["logFile"]
    assert log.read_text().strip() == project.records("plan_work")[0]["room"]


def test_the_collectors_of_a_review_look_at_the_checkout(project):
    plan = clean_plan(project, submitted("US-001"))
    write(project, "app.py", "x = 1\n")
    plan.commit_all("app")
    (project.path / ".git/info/exclude").write_text("left.py\n")
    write(project, "left.py", "print(x)\n")  # not committed: nobody reviews it
    folder = project.base / "bin"
    write(project, "../bin/ruff", "#!/bin/sh\npwd >> \"$BASE/looked\"\n"
          "test -e left.py && echo '[{\"filename\":\"left.py\",\"code\":\"F821\",\"message\":\"x\",\"location\":{\"row\":1,\"column\":1}}]' || echo '[]'\n", 0o755)
    project.settings(diagnostics={"criteria": {}})
    plan.completes(env={"PATH": f"{folder}:{os.environ['PATH']}", "BASE": str(project.base)})
    assert (project.base / "looked").read_text().splitlines() == [str(project.path), project.records("plan_work")[0]["room"]]
    assert project.last("diagnosed")["unmet"] == []


def test_a_setup_makes_what_the_checks_need(project):
    plan = clean_plan(project, story("US-001"), story("US-002"), verifyCommands=["test -f deps/lib"],
                      setup="mkdir -p deps && cp package.json deps/lib && echo x >> " + str(project.base / "setups"))
    (project.path / ".gitignore").open("a").write("deps\n")
    (project.path / "package.json").write_text("{}")
    plan.commit_all("package")
    (project.path / "deps").mkdir()
    (project.path / "deps/lib").write_text("mine")
    plan.completes()
    assert (project.base / "setups").read_text() == "x\n", "once for a run"


def test_a_setup_runs_again_if_its_lock_file_changed_or_its_files_did(project):
    plan = clean_plan(project, story("US-001"), story("US-002"), story("US-003"),
                      setup="mkdir -p deps && cp package.json deps/lib && echo x >> " + str(project.base / "setups"))
    (project.path / ".gitignore").open("a").write("deps\n")
    (project.path / "package.json").write_text("{}")
    plan.commit_all("package")
    plan.cheat("Path('package.json').write_text('{\"new\": 1}')", at=3)
    plan.cheat("Path('deps/lib').write_text('poisoned')\nPath('deps/more').touch()", at=4)
    plan.cheat("(base / 'seen').write_text(Path('deps/lib').read_text() + str(os.listdir('deps')))", at=6, phase="before")
    plan.completes()
    assert (project.base / "setups").read_text() == "x\n" * 3
    assert (project.base / "seen").read_text() == "{\"new\": 1}['lib']"


@pytest.mark.parametrize("setup, told", [
    ("echo broken; exit 3", "plan.cleanRoom.setup (echo broken; exit 3) failed with exit code 3"),
    ("echo x > code.py", "plan.cleanRoom.setup (echo x > code.py) changes files of the commit (code.py)")])
def test_a_setup_that_fails_ends_the_run(project, setup, told):
    plan = clean_plan(project, submitted("US-001"), setup=setup)
    result = plan.run()
    assert result.code == 2 and told in result.err, result
    assert plan.modes() == []
    assert plan.state("US-001") == (False, "needs_review", 0)
    assert not rooms(project)


def make_lfs(project):
    (project.path / ".gitattributes").write_text("*.bin filter=lfs\n")
    project.git("add", ".gitattributes")


def make_submodule(project):
    subprocess.run("git init -q sub && git -C sub commit -q --allow-empty -m x && git add sub", shell=True, cwd=project.path,
                   env=project.environment(), check=True, capture_output=True)


OBSTACLES = {"submodules": (make_submodule, "sub is a submodule"), "lfs": (make_lfs, ".gitattributes keeps files in git-lfs"),
             "partial": (lambda project: project.git("config", "remote.origin.promisor", "true"),
                         "the repository is a partial clone")}


@pytest.mark.parametrize("obstacle", OBSTACLES)
@pytest.mark.parametrize("mode", ["auto", "on"])
def test_where_git_can_not_do_it(project, obstacle, mode):
    plan = clean_plan(project, submitted("US-001"))
    project.settings({"plan": {"cleanRoom": {"mode": mode}}})
    make, told = OBSTACLES[obstacle]
    make(project)
    project.git("commit", "-q", "--allow-empty", "-m", "more")
    result = plan.run()
    assert told in result.text, result
    if mode == "on":
        assert result.code == 2 and "plan.cleanRoom.mode is on, but" in result.err and plan.modes() == []
    else:
        assert result.code == 0 and project.records("plan_work")[0]["inPlace"] == told
        assert plan.commits()[-1] == "review US-001", "the reviewer's own commit"


def test_without_a_setup_the_review_is_in_place_and_says_what_to_add(project):
    plan = Plan(project, [submitted("US-001")])
    (project.path / "package-lock.json").write_text("{}")
    plan.commit_all("lock")
    result = plan.run()
    assert result.code == 0, result
    assert 'plan.cleanRoom.setup is not set' in result.out and '"plan": {"cleanRoom": {"setup": "npm ci"}}' in result.out


@pytest.mark.parametrize("settings, code", [({"mode": "off", "setup": ""}, 0), ({"mode": "on"}, 0)])
def test_modes(project, settings, code):
    plan = Plan(project, [submitted("US-001")])
    project.settings({"plan": {"cleanRoom": settings}})
    result = plan.run()
    assert result.code == code, result
    assert bool(project.records("plan_work")[0].get("room")) == (settings["mode"] == "on")
    assert "clean checkout: " not in result.out


def test_skipped_reviews_need_no_room(project):
    plan = clean_plan(project)
    assert plan.run("--skip-review").code == 0
    assert not (project.home / ".cache/ralph").exists()


def test_bad_settings_are_refused(project):
    plan = Plan(project)
    project.settings({"plan": {"cleanRoom": {"mode": "maybe"}}})
    result = plan.run()
    assert result.code == 2 and "cleanRoom" in result.err, result


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_killed_review_is_resumed(project, when):
    plan = clean_plan(project, submitted("US-001"))
    plan.cheat("(base / 'waits').touch()\nwhile not (base / 'go').exists(): time.sleep(0.01)", at=1, phase=when)
    running = plan.start()
    plan.wait_for("waits")
    os.kill(running.loop_pid, signal.SIGKILL)
    running.wait()
    project.nothing_left()
    assert rooms(project)
    (project.base / "go").touch()
    result = project.run("runs", "resume")
    assert result.code == 0, result
    assert plan.state("US-001") == (True, "approved", 1)
    assert plan.commits()[-1] == "review: [US-001] - approved" and project.git("status", "--porcelain") == ""
    assert not rooms(project)


def test_what_a_killed_run_left_is_removed(project):
    plan = clean_plan(project, submitted("US-001"))
    plan.cheat("(base / 'waits').touch()\ntime.sleep(1000)", at=1, phase="before")
    running = plan.start()
    plan.wait_for("waits")
    os.kill(running.loop_pid, signal.SIGKILL)
    running.wait()
    left, = rooms(project)
    assert plan.run().code == 0
    assert not left.exists() and not rooms(project)


def test_a_linked_work_tree(project):
    plan = clean_plan(project, submitted("US-001"), branchName="other")
    tree = project.base / "a tree"
    project.git("worktree", "add", "-q", "-b", "other", str(tree))
    (tree / ".ralph").mkdir()
    (tree / ".ralph/settings.json").write_text(json.dumps(project.settings()))
    plan.folder = tree / "ralph"
    plan.agent()
    (tree / ".ralph/settings.json").write_text(json.dumps(project.settings()))
    result = project.run("plan", "run", cwd=tree)
    assert result.code == 0, result
    log = subprocess.run(["git", "log", "--format=%s", "-1", "other"], cwd=tree, env=project.environment(), capture_output=True,
                         text=True).stdout
    assert log == "review: [US-001] - approved\n"


def test_the_stop_hook_looks_at_the_plan_in_the_room(project):
    """It finds the plan by RALPH_RUN_ID: a review that has not given its verdict there may not stop."""
    plan = clean_plan(project, submitted("US-001"))
    plan.cheat("def stop(): return subprocess.run([%r, 'hooks', 'stop'], capture_output=True, text=True,\n"
               "    input=json.dumps({'session_id': 's', 'cwd': os.getcwd()})).stdout\n"
               "Path('code.py').write_text('half')\n(base / 'early').write_text(stop())\ngit('checkout', '-q', 'code.py')"
               % os.environ.get("RALPH_BINARY", "ralph"), mode="review", phase="before")
    plan.cheat("(base / 'late').write_text(stop())", mode="review", phase="after")
    assert plan.run().code == 0
    early, late = (project.base / "early").read_text(), (project.base / "late").read_text()
    assert "code.py" in early and '"block"' in early, early
    assert '"block"' not in late, late


def test_what_the_user_does_meanwhile_is_not_lost(project):
    plan = clean_plan(project, submitted("US-001"))
    (project.path / "CLAUDE.md").write_text("old\n")
    plan.commit_all("memory")
    plan.cheat("(project / 'CLAUDE.md').write_text('the user')\n"
               "new = json.loads((project / 'ralph/tasks.json').read_text())\n"
               "new['userStories'].append({**new['userStories'][0], 'id': 'US-009', 'reviewStatus': None, 'notes': ''})\n"
               "(project / 'ralph/tasks.json').write_text(json.dumps(new))\n"
               "Path('CLAUDE.md').write_text('the review')", mode="review", phase="before")
    result = plan.run("-n", "1")
    assert (project.path / "CLAUDE.md").read_text() == "the user"
    assert "changed CLAUDE.md in its clean checkout; that is dropped" in result.out, result
    assert plan.state("US-009") == (False, None, 0) and plan.state("US-001")[0] in (True, False)


def test_plan_init_suggests_a_setup(project):
    project.git_init()
    (project.path / "go.mod").write_text("module x\n")
    result = project.run("plan", "init")
    assert '"plan": {"cleanRoom": {"setup": "go mod download"}}' in result.out, result


def test_checks_that_change_files_send_the_story_back(project):
    plan = clean_plan(project, submitted("US-001"), verifyCommands=[python("open('code.py', 'a').write('x')")])
    plan.run("-n", "1")
    assert plan.state("US-001")[0] is False
    assert "The checks changed code.py" in plan.story("US-001")["reviewFeedback"]


def test_a_second_signal_ends_a_review_at_once_and_it_is_taken_again(project):
    plan = clean_plan(project, submitted("US-001"))
    plan.cheat("(base / 'waits').touch()\nwhile True: time.sleep(1)", at=1, phase="before")
    running = plan.start()
    plan.wait_for("waits")
    running.signal(signal.SIGHUP)
    assert running.wait().code == 130
    assert plan.state("US-001") == (False, "needs_review", 0) and not rooms(project)
    assert project.run("runs", "resume").code == 0
    assert plan.state("US-001") == (True, "approved", 1)


def go_on(project, plan, how):
    return project.run("runs", "resume") if how == "runs resume" else plan.run()


def is_checked_in_a_room(project, plan, result):
    assert result.code == 0, result
    assert plan.state("US-001") == (True, "approved", 1) and plan.modes() == ["review US-001"], "not reviewed again"
    where = (project.base / "where").read_text().split()
    assert where and all("/ralph/rooms/" in path for path in where), where
    assert not rooms(project)


def is_asked_to_stop_in_its_first_turn(project, plan):
    plan.cheat("(base / 'waits').touch()\nwhile not (base / 'go').exists(): time.sleep(0.01)", at=1, phase="before")
    running = plan.start()
    plan.wait_for("waits")
    running.signal(signal.SIGINT)
    wait_until(lambda: project.records("signal_received"), what="the signal's record")
    (project.base / "go").touch()
    assert running.wait().code == 130


@pytest.mark.parametrize("how", ["runs resume", "plan run"])
def test_a_verdict_that_was_held_back_is_checked_in_a_clean_room(project, how):
    plan = clean_plan(project, submitted("US-001"), verifyCommands=[f"pwd >> {project.base / 'where'}", "test ! -e built"])
    project.settings({"plan": {"cleanRoom": {"mode": "on"}}})
    (project.path / ".git/info/exclude").write_text("built\n")
    (project.path / "built").touch()
    is_asked_to_stop_in_its_first_turn(project, plan)
    assert plan.state("US-001") == (False, "needs_review", 0) and not (project.base / "where").exists()
    is_checked_in_a_room(project, plan, go_on(project, plan, how))


@pytest.mark.parametrize("verdict", ["written and said", "only said"])
@pytest.mark.parametrize("how", ["runs resume", "plan run"])
def test_a_verdict_whose_checks_were_killed_is_checked_in_a_clean_room(project, how, verdict):
    base = project.base
    plan = clean_plan(project, submitted("US-001"), verifyCommands=[
        f"pwd >> {base / 'where'}; if [ ! -e {base / 'go'} ]; then touch {base / 'waits'}; sleep 1000; fi"])
    plan.cheat("Path('CLAUDE.md').write_text('Use bun.')", mode="review")
    if verdict == "only said":
        plan.cheat("load()", mode="review")
    running = plan.start()
    plan.wait_for("waits")
    os.kill(running.loop_pid, signal.SIGKILL)
    running.wait()
    project.nothing_left()
    killed = project.run_folder()
    (base / "go").touch()
    is_checked_in_a_room(project, plan, go_on(project, plan, how))
    assert plan.violations() == plan.violations(folder=killed) == [] and not plan.rejected()
    assert project.git("status", "--porcelain") == "", "what the review wrote is committed"
    assert plan.commits()[-1] == "review: [US-001] - approved"
    assert subjects_of(project) == ["CLAUDE.md", "ralph/progress.txt", "ralph/tasks.json"]
    assert plan.committed(name="progress.txt").count("1 review US-001") == 1


def test_a_verdict_that_was_held_back_and_whose_checks_were_killed(project):
    base = project.base
    plan = clean_plan(project, submitted("US-001"), verifyCommands=[
        f"pwd >> {base / 'where'}; if [ ! -e {base / 'more'} ]; then touch {base / 'checked'}; sleep 1000; fi"])
    plan.cheat("(base / 'waits').touch()\nwhile not (base / 'go').exists(): time.sleep(0.01)", at=1, phase="before")
    running = plan.start()
    plan.wait_for("waits")
    running.signal(signal.SIGINT)
    wait_until(lambda: project.records("signal_received"), what="the signal's record")
    (base / "go").touch()
    assert running.wait().code == 130
    running = project.start("runs", "resume")
    plan.wait_for("checked")
    os.kill(running.loop_pid, signal.SIGKILL)
    running.wait()
    project.nothing_left()
    (base / "more").touch()
    is_checked_in_a_room(project, plan, project.run("runs", "resume"))


def test_a_verdict_on_a_commit_that_is_gone_does_not_count(project):
    plan = clean_plan(project, submitted("US-001"), verifyCommands=["true"])
    is_asked_to_stop_in_its_first_turn(project, plan)
    project.git("reset", "-q", "--soft", "HEAD~2")
    project.git("commit", "-q", "-m", "all in one")
    result = plan.run()
    assert result.code == 0, result
    assert plan.modes() == ["review US-001"] * 2 and plan.state("US-001") == (True, "approved", 1)


@pytest.mark.parametrize("signals", [1, 2])
@pytest.mark.parametrize("how", ["runs resume", "plan run"])
def test_a_stop_while_the_room_is_set_up_starts_no_agent(project, signals, how):
    base = project.base
    plan = clean_plan(project, submitted("US-001"), setup=f"touch {base / 'waits'}; while [ ! -e {base / 'go'} ]; do sleep 0.02; done")
    running = plan.start()
    plan.wait_for("waits")
    for count in range(1, signals + 1):
        running.signal(signal.SIGINT)
        wait_until(lambda: len(project.records("signal_received")) == count, what="the signal's record")
    if signals == 1:
        (base / "go").touch()
    assert running.wait().code == 130
    assert plan.modes() == [] and plan.state("US-001") == (False, "needs_review", 0)
    assert not rooms(project) and not plan.marker.exists()
    project.nothing_left()
    (base / "go").touch()
    result = go_on(project, plan, how)
    assert result.code == 0 and "ended in the middle" not in result.text, result
    assert plan.modes() == ["review US-001"] and plan.state("US-001") == (True, "approved", 1) and plan.violations() == []


NEW_STORY = ("new = json.loads((project / 'ralph/tasks.json').read_text())\n"
             "new['userStories'].append({**new['userStories'][0], 'id': 'US-009', 'reviewStatus': None, 'notes': ''})\n"
             "(project / 'ralph/tasks.json').write_text(json.dumps(new))\n")


@pytest.mark.parametrize("more", ["", NEW_STORY], ids=["log", "log and plan"])
def test_what_the_user_adds_to_the_log_meanwhile_is_there_once(project, more):
    plan = clean_plan(project, submitted("US-001"))
    before = "# Log\n\n## Codebase Patterns\n- times are UTC\n\n---\n## Iteration 1\n- a\n---\n"
    (plan.folder / "progress.txt").write_text(before)
    plan.commit_all("log")
    plan.cheat("with open(project / 'ralph/progress.txt', 'a') as file: file.write('the user\\n')\n" + more,
               mode="review", phase="before")
    result = plan.run("-n", "1")
    assert (plan.folder / "progress.txt").read_text() == before + "the user\n1 review US-001\n", result
    assert not any("lost entries" in violation for violation in plan.violations())


@pytest.mark.parametrize("commits", [False, True])
def test_a_story_that_the_user_adds_meanwhile_is_kept_and_not_called_deleted(project, commits):
    plan = clean_plan(project, submitted("US-001"))
    plan.cheat("import json\npath = project / 'ralph/tasks.json'\nown = json.loads(path.read_text())\n"
               "own['userStories'].append({**own['userStories'][0], 'id': 'US-009', 'title': 'The user', 'passes': False, 'reviewStatus': None})\n"
               "own['userStories'][0]['acceptanceCriteria'].append('The user wants more')\npath.write_text(json.dumps(own, indent=2))\n"
               + ("import subprocess\nsubprocess.run(['git', '-C', str(project), 'commit', '-qam', 'The user'], check=True)\n" if commits else ""),
               mode="review", phase="before")
    result = plan.run("-n", "1")
    stories = plan.tasks()["userStories"]
    assert [one["id"] for one in stories] == ["US-001", "US-009"], result
    assert "The user wants more" in stories[0]["acceptanceCriteria"]
    assert not plan.violations() and "never deleted" not in result.out, result
    assert "tasks.json was edited while a review worked in its clean checkout; what was added counts" in result.out
    assert plan.state("US-001") == (True, "approved", 1)


def test_what_a_setup_leaves_behind_is_named_as_its(project):
    plan = clean_plan(project, submitted("US-001"), setup="sleep 1000 >/dev/null 2>&1 & true")
    result = plan.run()
    assert result.code == 0, result
    assert "ended a process that the setup left behind: " in result.out, result
    project.nothing_left()
