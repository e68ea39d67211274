"""The implementer leaves something in the project that would make the review or its checks pass: a hook, git configuration, an
untracked file, an ignored artefact, settings of the agent. A review in a clean checkout never sees it."""
import pytest

from plan_support import Plan, story

PLANTS = {
    "a hook": "hook = project / '.git/hooks/pre-commit'; hook.write_text('#!/bin/sh\\ntouch %s'); hook.chmod(0o755)\n"
              "hook = project / '.git/hooks/post-checkout'; hook.write_text('#!/bin/sh\\ntouch %s'); hook.chmod(0o755)",
    "configuration": "git('config', 'core.fsmonitor', 'touch %s; true'); git('config', 'filter.x.clean', 'touch %s; cat')\n"
                     "git('config', 'filter.x.smudge', 'touch %s; cat')\n"
                     "Path('.git/info/attributes').write_text('* filter=x\\n')",
    "hooks elsewhere": "(base / 'tmp/hooks').mkdir(); hook = base / 'tmp/hooks/pre-commit'\n"
                       "hook.write_text('#!/bin/sh\\ntouch %s'); hook.chmod(0o755)\n"
                       "git('config', 'core.hooksPath', str(base / 'tmp/hooks'))",
}


def make(project, **top):
    plan = Plan(project, [story("US-001")], **top)
    project.settings({"plan": {"cleanRoom": {"setup": ""}}})
    plan.commit_all("settings")
    return plan


@pytest.mark.parametrize("plant", PLANTS)
def test_programs_of_the_repository_do_not_run_for_a_reviewer(project, plant, whoever):
    plan = make(project)
    owned = project.tmp / "owned"
    plan.cheat(PLANTS[plant].replace("%s", str(owned)), mode="implement", phase="after")
    plan.cheat("(base / 'tmp/owned').unlink(missing_ok=True)", mode="review", phase="before")
    plan.cheat("(base / 'tmp/ran').write_text(str((base / 'tmp/owned').exists()))", mode="review", phase="after")
    result = plan.run(**whoever())
    assert result.code == 0, result
    assert (project.tmp / "ran").read_text() == "False"
    assert plan.commits()[-1] == "review: [US-001] - approved"


FILES = {"untracked": "Path('made').write_text('pass')", "ignored": "Path('.git/info/exclude').write_text('made\\n')\n"
         "Path('made').write_text('pass')"}


@pytest.mark.parametrize("how", FILES)
def test_files_that_no_commit_has_do_not_make_its_checks_pass(project, how):
    """The check needs a file that the implementer made and did not commit."""
    plan = make(project, verifyCommands=["test -f made"])
    plan.cheat(FILES[how], mode="implement", phase="after", at=1)
    result = plan.run("-n", "2")
    assert result.code == 1, result
    checks = [(one["iteration"], one["outcome"]) for one in project.records("guardrail_ended")]
    assert (1, "passed") in checks and (2, "failed") in checks
    assert plan.state("US-001") == (False, "changes_requested", 1)
