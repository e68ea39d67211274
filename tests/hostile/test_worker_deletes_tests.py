"""A worker that makes the suite pass by taking tests away, skipping them, or hiding how many there are."""
import pytest

# A runner that counts what is in tests/, one file a test, in the words of TAP.
RUNNER = r'''#!/bin/sh
n=0; echo "TAP version 13"
for file in tests/*.sh; do
  [ -e "$file" ] || continue
  n=$((n+1))
  if grep -q SKIP "$file"; then echo "ok $n - $file # SKIP"; elif sh "$file"; then echo "ok $n - $file"; else echo "not ok $n - $file"; bad=1; fi
done
echo "1..$n"
exit ${bad:-0}
'''


def suite(project):
    (project.path / "tests").mkdir()
    for name in "abc":
        (project.path / f"tests/{name}.sh").write_text("true\n")
    (project.path / "tests/d.sh").write_text("false\n")  # what the worker is to make pass
    runner = project.script(RUNNER, "runner")
    project.guardrails({"command": f"'{runner}'", "baseline": True})


@pytest.mark.parametrize("cheat, why", [
    ("rm tests/d.sh", "ran 3 tests; at the start of the run there were 4"),
    ("echo '# SKIP' > tests/d.sh", "ran 3 tests; at the start of the run there were 4"),
    ("rm tests/*", "ran no tests"),
    ("for t in tests/*; do echo '# SKIP' > $t; done", "ran no tests"),
], ids=["deleted", "skipped", "all deleted", "all skipped"])
def test_a_suite_that_shrinks_is_not_complete(project, whoever, cheat, why):
    suite(project)
    project.agent_script(f"{cheat}; echo '<response>DONE</response>'")
    result = project.run("run", "-p", "make the tests pass", "-m", "2", **whoever())
    assert result.code == 1, result
    assert why in (project.run_folder() / "prompt_2.txt").read_text()


def test_honest_work_is(project, whoever):
    suite(project)
    project.agent_script("echo true > tests/d.sh; echo '<response>DONE</response>'")
    assert project.run("run", "-p", "make the tests pass", "-m", "2", **whoever()).code == 0
