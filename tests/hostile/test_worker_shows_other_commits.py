"""A worker makes git show other commits than there are: by refs/replace and by grafts. ralph looks at what is there, and so does the
reviewer."""
import pytest

from plan_support import Plan, story

REWRITES = {
    "a graft": "Path('.git/info').mkdir(exist_ok=True); Path('.git/info/grafts').write_text(git('rev-parse', 'HEAD') + ' ' + old + '\\n')",
    "a replaced commit": "git('replace', '--graft', 'HEAD', old)",
}


@pytest.mark.parametrize("how", REWRITES)
def test_a_rewritten_history_does_not_pass_for_the_old_one(project, how):
    plan = Plan(project, [story("US-001"), story("US-002")])
    plan.cheat("old = git('rev-parse', 'HEAD'); git('commit', '-q', '--amend', '-m', 'nothing happened'); " + REWRITES[how] +
               "\n(base / 'pretends').write_text(str(subprocess.run(['git', 'merge-base', '--is-ancestor', old, 'HEAD']).returncode))",
               at=3, phase="before")
    result = plan.run("-n", "4")
    assert (project.base / "pretends").read_text() == "0", "the attack worked"
    assert "History was rewritten" in plan.violation(3), result
    assert "git shows commits that are not there" in result.out


def test_a_reviewer_sees_the_commit_itself(project):
    plan = Plan(project, [story("US-001")])
    project.settings({"plan": {"cleanRoom": {"mode": "off"}}})
    (project.path / "code.py").write_text("old\n")
    plan.commit_all("code")
    plan.cheat("""Path('code.py').write_text('evil\\n'); commit('evil'); evil = git('rev-parse', 'HEAD')
Path('code.py').write_text('innocent\\n'); git('commit', '-qam', 'innocent', '--date=2001-01-01T00:00:00'); fair = git('rev-parse', 'HEAD')
git('reset', '-q', '--hard', evil); git('replace', git('rev-parse', evil + ':code.py'), git('rev-parse', fair + ':code.py'))
(base / 'lie').write_text(git('show', 'HEAD:code.py'))""", mode="implement", phase="before")
    plan.cheat("(base / 'seen').write_text(git('show', 'HEAD:code.py') + git('log', '-1', '--format=%s', '--', 'code.py'))", mode="review", phase="before")
    plan.run("-n", "2")
    assert (project.base / "lie").read_text() == "innocent", "the attack worked"
    assert (project.base / "seen").read_text() == "evilevil"
