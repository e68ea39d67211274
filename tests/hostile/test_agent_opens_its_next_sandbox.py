"""What a sandbox shows is computed anew for each turn, also from files of the repository. An agent that writes them in one turn must not get
more in the next: not another folder, not another repository, not the hooks of its own."""
import pytest

from sandbox_support import NEEDS_SANDBOX

pytestmark = NEEDS_SANDBOX


def inside(project, script, **how):
    return project.run("sandbox", "run", "--", "sh", "-c", script, **how)


def private_repository(someone):
    other = someone.base / "other"
    someone.git("init", "-q", str(other))
    (other / "secret").write_text("hidden")
    for words in (["add", "secret"], ["commit", "-q", "-m", "hidden words"]):
        someone.git("-C", str(other), "-c", "user.name=a", "-c", "user.email=b", *words)
    return other / ".git"


@pytest.mark.parametrize("swap", [False, True])
def test_folders_named_as_shared_objects_are_not_shown(someone, swap):
    someone.git_init()
    (someone.home / ".ssh").mkdir()
    (someone.home / ".ssh/key").write_text("hidden")
    make_room = "mv .git/objects/info .git/objects/gone; mkdir -p .git/objects/info; " if swap else "mkdir -p .git/objects/info; "
    first = inside(someone, make_room + "echo $HOME/.ssh >> .git/objects/info/alternates")
    assert "alternates appeared inside the sandbox" in first.err or first.code != 0, first
    assert not (someone.path / ".git/objects/info/alternates").exists()
    assert "hidden" not in inside(someone, "cat ~/.ssh/key").text
    (someone.path / ".git/objects/info").mkdir(exist_ok=True)
    (someone.path / ".git/objects/info/alternates").write_text(f"{someone.home}/.ssh\n")  # as if ralph had been killed
    assert "hidden" not in inside(someone, "cat ~/.ssh/key").text


@pytest.mark.parametrize("plant", ['echo "gitdir: OTHER" > .git', 'mkdir .git; echo OTHER > .git/commondir; echo "ref: refs/heads/main" > .git/HEAD',
                                   'mkdir fake; echo OTHER > fake/commondir; echo "gitdir: fake" > .git'])
def test_another_repository_is_not_opened(someone, plant):
    other = private_repository(someone)
    inside(someone, plant.replace("OTHER", str(other)))
    result = inside(someone, f"touch {other}/planted; git log --format=%s; cat {other}/config")
    assert "hidden words" not in result.text and "[core]" not in result.text and not (other / "planted").exists(), result
    assert result.code == 2 and "does not name" in result.err and "core.worktree" in result.err, result


def test_a_submodule_and_a_separate_repository_that_name_their_work_tree_are_theirs(someone):
    someone.git_init()
    private_repository(someone)
    someone.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(someone.base / "other"), "sub")
    sub = someone.path / "sub"
    (sub / ".ralph").mkdir()
    commit = "echo x > x && git add x && git -c user.name=a -c user.email=b commit -q -m inside && git log -1 --format=%s"
    apart = someone.base / "apart"
    someone.git("clone", "-q", f"--separate-git-dir={someone.base}/apart.git", str(someone.base / "other"), str(apart))
    (apart / ".ralph").mkdir()
    result = inside(someone, commit, cwd=sub)
    assert result.code == 0 and result.out == "inside\n", result
    assert inside(someone, commit, cwd=apart).code == 2
    someone.git("config", "--file", f"{someone.base}/apart.git/config", "core.worktree", str(apart))
    result = inside(someone, commit, cwd=apart)
    assert result.code == 0 and result.out == "inside\n", result


@pytest.mark.parametrize("head", ["ref: hooks/x", "ref: refs/heads/../../hooks/x", "ref: ./x", "ref: refs/heads/ralph/link/x"])
def test_the_branch_of_a_work_tree_is_not_a_way_to_the_hooks(someone, head):
    someone.git_init()
    side = someone.base / "side"
    someone.git("worktree", "add", "-q", "-b", "ralph/side", str(side))
    (side / ".ralph").mkdir()
    git = someone.path / ".git"
    first = inside(someone, f"ln -s ../../../hooks {git}/refs/heads/ralph/link; echo {head!r} > {git}/worktrees/side/HEAD; cat {git}/worktrees/side/HEAD", cwd=side)
    assert head in first.out, first
    inside(someone, f"echo evil > {git}/hooks/pre-commit; echo evil >> {git}/config; echo evil > {git}/x; "
                    f"echo evil > {git}/refs/heads/ralph/link/post-commit", cwd=side)
    assert not (git / "hooks/pre-commit").exists() and not (git / "hooks/post-commit").exists() and not (git / "x").exists()
    assert "evil" not in (git / "config").read_text()


def test_the_folder_of_a_check_is_not_swapped(someone):
    checks = someone.path / "tools/checks"
    checks.mkdir(parents=True)
    (checks / "check.sh").write_text("#!/bin/sh\nexit 1\n")
    (checks / "check.sh").chmod(0o755)
    someone.guardrails("./tools/checks/check.sh")
    inside(someone, "mv tools/checks tools/gone; mv tools gone; mkdir -p tools/checks; echo 'exit 0' > tools/checks/check.sh; echo new > tools/checks/helper")
    assert (checks / "check.sh").read_text() == "#!/bin/sh\nexit 1\n"
    assert (checks / "helper").read_text() == "new\n"  # the folder itself is the project's
