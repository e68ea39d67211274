"""The private home of a sandbox stays between turns. What an implementer leaves there, memory or settings of an agent, git's
configuration, a program, must not be what a reviewer finds."""
from plan_support import Plan
from sandbox_support import NEEDS_SANDBOX

pytestmark = NEEDS_SANDBOX

PLANT = """
home = Path.home()
for name in (".claude/CLAUDE.md", ".claude/settings.json", ".claude.json", ".gitconfig", ".bashrc", "bin/git", ".local/bin/git"):
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    if not (home / name).exists(): (home / name).write_text("planted")
(home / "locked/folder").mkdir(parents=True); os.chmod(home / "locked", 0)
"""
LOOK = """
found = [str(path) for path in Path.home().rglob("*") if path.is_file() and "planted" in path.read_text(errors="replace")]
Path("CLAUDE.md").write_text(json.dumps(found))
(Path.home() / "mine").write_text("planted")
"""


def test_a_reviewer_in_a_clean_checkout_has_a_home_of_its_own(someone):
    plan = Plan(someone, reviews={"US-001": 2})
    someone.settings({"plan": {"cleanRoom": {"setup": ""}}, "sandbox": {"mode": "on"}})
    plan.commit_all("settings")
    plan.cheat(PLANT, mode="implement").cheat(LOOK, mode="review")
    plan.cheat("Path('kept').write_text(str((Path.home() / '.bashrc').exists()))", mode="review-fix")
    result = plan.run()
    assert result.code == 0, result
    assert (someone.path / "CLAUDE.md").read_text() == "[]"
    assert (someone.path / "kept").read_text() == "True"  # its own is still there for the implementer
