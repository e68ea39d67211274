"""A worker that weakens the tests or what runs them: the review is told, with the difference."""
from plan_support import Plan, story

TEST = "def test_sum():\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n"


def prepared(project, **more):
    plan = Plan(project, [story("US-001")], **more)
    (project.path / "tests").mkdir()
    (project.path / "tests/test_sum.py").write_text(TEST)
    (project.path / "Makefile").write_text("check:\n\t@true\n")
    (project.path / "run.sh").write_text("true\n")
    plan.commit_all("tests")
    return plan


def test_a_skip_and_a_lost_assertion_are_told_with_the_difference(project):
    plan = prepared(project)
    plan.cheat("Path('tests/test_sum.py').write_text('import pytest\\n@pytest.mark.skip\\ndef test_sum():\\n    assert add(1, 2) == 3\\n')", at=1)
    plan.completes()
    told = plan.prompt(2)
    assert "- tests/test_sum.py: changed; tests are skipped or singled out in 1 new line; 1 assertion fewer than before" in told
    assert "    +@pytest.mark.skip\n" in told and "    -    assert add(0, 0) == 0\n" in told
    assert "tests/test_sum.py" not in plan.prompt(1)


def test_files_that_checks_use_are_told(project):
    plan = prepared(project, verifyCommands=["sh run.sh"])
    plan.cheat("Path('Makefile').write_text('check:\\n'); Path('run.sh').write_text('exit 0\\n'); "
               "Path('.github/workflows').mkdir(parents=True); Path('.github/workflows/ci.yml').write_text('on: push\\n'); "
               "Path('code.py').write_text('x = 1\\n')", at=1)
    plan.completes()
    told = plan.prompt(2)
    assert "- Makefile: changed\n" in told and "- .github/workflows/ci.yml: new\n" in told
    assert '- run.sh: changed; the check "sh run.sh" uses it\n' in told
    assert "code.py" not in told.partition("changed what the checks prove")[2]


def test_rewritten_assertions_are_told(project):
    plan = prepared(project)
    plan.cheat("p = Path('tests/test_sum.py'); p.write_text(p.read_text().replace('== 3', '== 4'))", at=1)
    plan.completes()
    assert "- tests/test_sum.py: changed; 1 assertion rewritten" in plan.prompt(2)


def test_a_settings_trick_of_the_repository_hides_nothing(project):
    plan = prepared(project)
    plan.cheat("git('config', 'diff.noprefix', 'true'); Path('.gitattributes').write_text('*.py -diff\\n'); "
               "p = Path('tests/test_sum.py'); p.write_text(p.read_text().replace('== 3', '== 4'))", at=1)
    plan.completes()
    assert "    -    assert add(1, 2) == 3\n" in plan.prompt(2)


def test_a_large_difference_is_cut(project):
    plan = prepared(project)
    plan.cheat("Path('tests/test_sum.py').write_text('assert 1\\n' * 20000)", at=1)
    plan.completes()
    assert "… (cut)" in plan.prompt(2) and len(plan.prompt(2)) < 40_000
