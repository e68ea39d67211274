"""A worker writes an index in which a changed file has the size and the times that it has now, and the content that it had before:
git takes it for unchanged, and shows and commits nothing of it."""
import pytest

from plan_support import Plan, story

FORGE = '''
import hashlib, os, struct
def forge(path='.git/index'):
    data = bytearray(open(path, 'rb').read()[:-20])
    at = 12
    for _ in range(struct.unpack('>I', data[8:12])[0]):
        length = struct.unpack('>H', data[at + 60:at + 62])[0] & 0xfff
        name = bytes(data[at + 62:at + 62 + length])
        if os.path.lexists(name):
            st = os.lstat(name)
            times = [st.st_ctime_ns // 10**9, st.st_ctime_ns % 10**9, st.st_mtime_ns // 10**9, st.st_mtime_ns % 10**9]
            data[at:at + 24] = struct.pack('>6I', *times, st.st_dev & 0xffffffff, st.st_ino & 0xffffffff)
            data[at + 28:at + 40] = struct.pack('>3I', st.st_uid, st.st_gid, st.st_size & 0xffffffff)
        at += (62 + length + 8) // 8 * 8
    open(path, 'wb').write(bytes(data) + hashlib.sha1(bytes(data)).digest())
    os.utime(path, (4e9, 4e9))  # nothing is as new as the index, and has to be read
'''
VERIFY = ["grep -q good code.py"]


def test_what_git_does_not_see_is_not_approved(project):
    plan = Plan(project, [story("US-001")], verifyCommands=VERIFY)
    project.settings({"plan": {"cleanRoom": {"mode": "off"}}})
    (project.path / "code.py").write_text("bad\n")
    plan.commit_all("code")
    plan.cheat(FORGE + "Path('code.py').write_text('good\\n'); forge(); (base / 'status').write_text(git('status', '--porcelain'))",
               mode="implement", phase="after")
    result = plan.run("-n", "2")
    assert (project.base / "status").read_text() == "", "the attack worked"
    assert result.code == 1 and not plan.story("US-001")["passes"], result
    assert "• uncommitted: code.py (hidden from git by its index: git read-tree HEAD shows it)" in result.out
    assert "code.py (hidden from git by its index" in plan.prompt(2), "the reviewer is told"


def test_one_that_a_check_forges_is_seen_too(project):
    forge = project.script(f"#!/usr/bin/python3\nimport time\n{FORGE}\nopen('code.py', 'w').write('good\\n'); forge()", "forge")
    plan = Plan(project, [story("US-001")], verifyCommands=[f"'{forge}'; grep -q good code.py"])
    project.settings({"plan": {"cleanRoom": {"mode": "off"}}})
    (project.path / "code.py").write_text("bad\n")
    plan.commit_all("code")
    result = plan.run("-n", "2")
    assert result.code == 1 and not plan.story("US-001")["passes"], result
    assert "• uncommitted: code.py (hidden from git by its index" in result.out


def test_what_a_commit_does_not_take_along_is_not_complete(project, whoever):
    project.git_init()
    (project.path / "code.py").write_text("bad\n")
    (project.path / ".gitignore").write_text(".ralph/\n")
    project.git("add", "-A")
    project.git("commit", "-qm", "code")
    project.guardrails(*VERIFY)
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    project.python_agent(FORGE + """
if os.environ['RALPH_ITERATION'] == '1':
    open('code.py', 'w').write('good\\n')
    forge()
else:
    os.system('git read-tree HEAD')
print('A message'); print('<response>DONE</response>')""")
    result = project.run("run", "-p", "do it", "-m", "3", **whoever())
    assert result.code == 0, result
    assert "the commit does not have code.py (hidden from git by its index: git read-tree HEAD shows it)" in result.out
    assert "the commit does not have code.py" in (project.run_folder() / "prompt_2.txt").read_text()
    assert len(project.records("iteration_started")) == 2
    assert project.git("show", "HEAD:code.py") == "good\n"


def test_a_forged_copy_of_ralphs_own_is_not_used(project):
    plan = Plan(project, [story("US-001")], verifyCommands=VERIFY)
    project.settings({"plan": {"cleanRoom": {"mode": "off"}}})
    (project.path / "code.py").write_text("bad\n")
    plan.commit_all("code")
    plan.cheat(FORGE + """Path('code.py').write_text('good\\n'); forge()
import shutil
for copy in (base / 'home/.local/state/ralph').rglob('*.watched/git/index'): shutil.copy('.git/index', copy); (base / 'found').touch()""",
               mode="implement", phase="after")
    result = plan.run("-n", "2")
    assert (project.base / "found").exists()
    assert result.code == 1 and not plan.story("US-001")["passes"], result
    assert "code.py (hidden from git by its index" in result.out


def test_one_that_was_forged_in_an_earlier_run_is_said_when_the_next_begins(project):
    plan = Plan(project, [story("US-001")], verifyCommands=VERIFY)
    project.settings({"plan": {"cleanRoom": {"mode": "off"}}})
    (project.path / "code.py").write_text("bad\n")
    plan.commit_all("code")
    plan.cheat(FORGE + "Path('code.py').write_text('good\\n'); forge()", at=1, mode="implement", phase="after")
    assert plan.run("-n", "1").code == 1
    project.python_agent(FORGE + "forge(); print('<response>DONE</response>')")
    assert "code.py" not in project.git("status", "--porcelain")
    result = project.run("run", "-p", "do it")
    assert "Not committed, and hidden from git by its index: git read-tree HEAD shows it: code.py" in result.text, result


def test_what_the_line_ends_of_a_file_hide_is_nobodys_work(project):
    """Files that were committed before .gitattributes asked for other line ends differ as soon as git reads them again."""
    project.git_init()
    (project.path / "old.txt").write_bytes(b"a\r\n")
    (project.path / ".gitignore").write_text(".ralph/\n")
    project.git("add", "-A")
    project.git("commit", "-qm", "CRLF")
    (project.path / ".gitattributes").write_text("* text=auto\n")
    project.git("add", "-A")
    project.git("commit", "-qm", "attributes")
    project.settings(scm={"command": "git", "tasks": ["commit"]})
    project.agent_script("echo x >> work; echo 'A message'; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "do it", "-m", "2")
    assert result.code == 0 and len(project.records("iteration_started")) == 1, result


@pytest.mark.parametrize("attributes, settings", [("* text eol=crlf\n", {}), ("* text=auto\n", {"core.autocrlf": "true"})])
def test_a_file_that_is_checked_out_with_other_line_ends_is_no_change(project, attributes, settings):
    """Its size is another one than when the run began."""
    plan = Plan(project, [story("US-001")], verifyCommands=["true"])
    project.settings({"plan": {"cleanRoom": {"mode": "off"}}})
    (project.path / ".gitattributes").write_text(attributes)
    (project.path / "b.txt").write_text("one\ntwo\n")
    plan.commit_all("files")
    for name, value in settings.items():
        project.git("config", name, value)
    plan.cheat("os.remove('b.txt'); git('checkout', '--', 'b.txt'); Path('w.txt').write_text('x\\n')\ndo_honest(); save(); commit('implement')",
               mode="implement", phase="instead")
    plan.completes()
    assert b"\r\n" in (project.path / "b.txt").read_bytes()
    assert plan.modes() == ["implement US-001", "review US-001"]
