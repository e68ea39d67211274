"""An implementer leaves a process that its user can't end, to change what the reviewer looks at."""
import shutil

import pytest

from plan_support import Plan, story
from support import HELPERS, ordinary_user


def test_while_it_lives_nothing_is_approved(project):
    plan = Plan(project, [story("US-001")])
    foreign = project.base / "foreign"
    user = ordinary_user(project, project.base, *project.base.rglob("*"))
    shutil.copy(HELPERS / "become_root", foreign)
    foreign.chmod(0o4755)
    plan.cheat(f"subprocess.Popen([{str(foreign)!r}], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
               "time.sleep(0.2)", mode="implement", phase="after")
    result = plan.run(**user)
    if not project.processes():
        pytest.skip("set-user-id programs do not work on this file system")
    assert result.code == 2, result
    assert "while it lives nothing is approved" in result.text and "foreign" in result.text
    assert plan.modes() == ["implement US-001"]
    assert project.last("decided")["rule"] == "earlier_agent_lives"
