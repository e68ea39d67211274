"""A clone brings a run that can be resumed, with the attacker's arguments. Only runs that were started here go on."""
import shutil


def test_a_run_that_was_not_started_here_is_not_resumed(project):
    evil = project.script("echo x >> ../started", "evil")
    project.settings()
    assert project.run("run", "-p", "x", "-n", "1", "--agent", str(evil)).code == 1
    (project.base / "started").unlink()
    result = project.run("runs", "resume", "-n", "2", env={"XDG_STATE_HOME": str(project.base / "another machine")})
    assert result.code == 2 and "was not started here by this user" in result.err, result
    assert not (project.base / "started").exists()
    assert project.run("runs", "resume", "-n", "2").code == 1 and (project.base / "started").exists()
    shutil.rmtree(project.home / ".local/state/ralph")
    assert project.run("runs", "resume", "-n", "3").code == 2
