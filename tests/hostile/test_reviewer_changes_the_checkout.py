"""A reviewer (or what an implementer left for it to run) changes code in the clean checkout: it is dropped, and the user is told.
Neither its checks nor later reviews see it."""
import pytest

from plan_support import Plan, story, submitted

CHANGES = {
    "code": "Path('code.py').write_text('evil')",
    "a new file": "Path('new.py').write_text('evil')",
    "code, committed": "Path('code.py').write_text('evil'); commit('evil')",
    "git's own files": "Path('code.py').write_text('evil'); git('update-index', '--assume-unchanged', 'code.py')\n"
                       "Path('.git/info/attributes').write_text('* filter=x\\n')\n"
                       "git('config', 'filter.x.clean', 'echo good'); git('config', 'core.fsmonitor', 'touch ../owned; true')",
    "a link": "import shutil; shutil.rmtree('folder'); os.symlink('/etc', 'folder')",
}


@pytest.mark.parametrize("change", CHANGES)
def test_it_is_dropped(project, change, whoever):
    plan = Plan(project, [submitted("US-001"), story("US-002")], verifyCommands=["test \"$(cat code.py)\" = good", "test ! -e new.py",
                                                                                "test -f folder/file"])
    project.settings({"plan": {"cleanRoom": {"setup": ""}}})
    (project.path / "code.py").write_text("good\n")
    (project.path / "folder").mkdir()
    (project.path / "folder/file").touch()
    plan.commit_all("code")
    plan.cheat(CHANGES[change], at=1, mode="review")
    plan.cheat("(base / 'seen').write_text(Path('code.py').read_text() + git('status', '-s'))", at=3, phase="before")
    result = plan.run(**whoever())
    assert result.code == 0, result
    assert (project.path / "code.py").read_text() == "good\n" and not (project.path / "new.py").exists()
    assert "in its clean checkout; that is dropped" in result.out
    assert [one["outcome"] for one in project.records("guardrail_ended")] == ["passed"] * 9
    assert (project.base / "seen").read_text() == "good\n"
    assert plan.commits()[-3:] == ["review: [US-001] - approved", "implement US-002", "review: [US-002] - approved"]


def test_an_approval_of_another_story_is_taken_back(project):
    plan = Plan(project, [submitted("US-001"), submitted("US-002")])
    project.settings({"plan": {"cleanRoom": {"setup": ""}}})
    plan.cheat("stories['US-002'].update(passes=True, reviewStatus='approved', reviewCount=1)", at=1)
    plan.run("-n", "1")
    assert plan.state("US-002") == (False, "needs_review", 0)
    assert plan.commits()[-1].startswith("review: [US-001] - approved; what review iteration 1 may not change")
