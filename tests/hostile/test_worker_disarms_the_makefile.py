"""A worker that rewrites the Makefile to @true: nothing protects it, but it does not stay unseen."""


def test_a_disarmed_makefile_is_reported(project, whoever):
    (project.path / "Makefile").write_text("test:\n\t@false\n")
    project.guardrails("make test")
    project.agent_script("printf 'test:\\n\\t@true\\n' > Makefile; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "make the test pass", **whoever())
    assert result.code == 0, result
    assert 'Makefile was changed: the check "make test" uses it' in result.out
    assert [f["path"] for r in project.records("files_changed") for f in r["files"]] == ["Makefile"]


def test_a_makefile_that_make_prefers_is_reported_too(project, whoever):
    (project.path / "Makefile").write_text("test:\n\t@false\n")
    project.guardrails("make test")
    project.agent_script("printf 'test:\\n\\t@true\\n' > GNUmakefile; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "make the test pass", **whoever())
    assert result.code == 0, result
    assert 'GNUmakefile was created: the check "make test" uses it' in result.out


def test_one_that_hides_its_tests_is_not_complete(project, whoever):
    (project.path / "Makefile").write_text("test:\n\t@echo '3 passed in 0.10s'; false\n")
    project.guardrails({"command": "make test", "baseline": True})
    project.agent_script("printf 'test:\\n\\t@true\\n' > Makefile; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "make the test pass", "-m", "1", **whoever())
    assert result.code == 1 and "no longer says how many tests" in result.out, result
