"""`ralph check` with the real ruff, mypy, pyright, pytest and ast-grep."""
import pytest

from check_support import check, collector, found, statuses, write

BROKEN = "def add(a: int, b: int) -> int:\n    return a + c\n"
FIXED = "def add(a: int, b: int) -> int:\n    return a + b\n"
TESTS = "from app import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n"


def python(project, text):
    write(project, "app.py", text)
    write(project, "test_app.py", TESTS)


def test_ruff_and_pytest(project):
    python(project, BROKEN)
    code, report = check(project, "--only", "ruff,pytest", tools=("ruff", "pytest"))
    assert code == 1 and statuses(report) == {"ruff": "findings", "pytest": "findings"}
    assert ("app.py", 2, "F821") in found(report, "ruff")
    assert collector(report, "pytest")["tests"] == {"passed": 0, "failed": 1, "skipped": 0}
    assert [f["category"] for f in report["findings"] if f["tool"] == "pytest"] == ["test"]
    python(project, FIXED)
    code, report = check(project, "--only", "ruff,pytest", tools=("ruff", "pytest"))
    assert code == 0 and statuses(report) == {"ruff": "clean", "pytest": "clean"}, report
    assert collector(report, "pytest")["tests"] == {"passed": 1, "failed": 0, "skipped": 0}


@pytest.mark.parametrize("tests, reason", [("", "no tests"), ("import pytest\n\n\n@pytest.mark.skip\ndef test_x():\n    pass\n",
                                                             "no tests (1 skipped)")])
def test_zero_tests_are_never_passed(project, tests, reason):
    write(project, "test_none.py", tests)
    code, report = check(project, "--only", "pytest", tools=("pytest",))
    assert code == 1 and collector(report, "pytest")["status"] == "failed" and collector(report, "pytest")["reason"] == reason


def test_pytest_that_fails_though_no_test_did_is_not_clean(project):
    write(project, "conftest.py", "def pytest_sessionfinish(session):\n    session.exitstatus = 1\n")
    write(project, "test_a.py", "def test_a():\n    pass\n")
    code, report = check(project, "--only", "pytest", tools=("pytest",))
    assert code == 1 and collector(report, "pytest")["status"] == "failed", report
    assert collector(report, "pytest")["reason"].startswith("it failed though no test did (exit code 1)")


def test_pytest_with_options_of_its_cache_and_no_folder_for_it(project):
    write(project, "pytest.ini", "[pytest]\naddopts = --ff --strict-config\ncache_dir = .pc\nfilterwarnings = error\n")
    write(project, "test_a.py", "def test_a():\n    pass\n\n\ndef test_b():\n    assert 0\n")
    code, report = check(project, "--only", "pytest", tools=("pytest",))
    assert code == 1 and collector(report, "pytest")["tests"] == {"passed": 1, "failed": 1, "skipped": 0}, report
    assert not (project.path / ".pc").exists() and not (project.path / ".pytest_cache").exists()


def test_why_a_file_of_tests_cannot_be_loaded(project):
    write(project, "test_a.py", "import nothing_here\n")
    code, report = check(project, "--only", "pytest", tools=("pytest",))
    assert code == 1 and "ModuleNotFoundError: No module named 'nothing_here'" in report["findings"][0]["message"], report


def test_type_checkers_that_looked_at_nothing_are_not_clean(project):
    write(project, "mypy.ini", "[mypy]\n")
    write(project, "a.py", "def f(x: int) -> str:\n    return x\n")
    write(project, "gen.py", "# @generated\n(\n")
    code, report = check(project, "--only", "mypy", tools=("mypy",))
    assert code == 1 and collector(report, "mypy")["status"] == "failed" and "gave up at gen.py:" in collector(report, "mypy")["reason"], report


def test_type_checkers_run_where_they_are_configured_or_named(project):
    python(project, FIXED.replace("-> int", "-> str"))
    tools = ("mypy", "pyright")
    assert statuses(check(project, "--no-tests", tools=tools)[1]) == {"ruff": "unavailable", "ast-grep": "unavailable"}
    write(project, "pyproject.toml", "[tool.mypy]\nstrict = true\n")
    report = check(project, "--no-tests", tools=tools)[1]
    assert collector(report, "mypy")["status"] == "findings" and "pyright" not in statuses(report)
    code, report = check(project, "--only", "mypy,pyright", tools=tools)
    assert code == 1 and statuses(report) == {"mypy": "findings", "pyright": "findings"}
    assert ("app.py", 2, "return-value") in found(report, "mypy")
    assert ("app.py", 2, "reportReturnType") in found(report, "pyright")


def test_the_security_rules_find_and_a_fix_is_clean(project):
    write(project, "app.py", 'import subprocess\n\npassword = "hunter2hunter2"\n\n\ndef run(user):\n'
                             '    subprocess.run("ls " + user, shell=True)\n    return eval(user)\n')
    code, report = check(project, "--only", "ast-grep", tools=("ast-grep",))
    assert code == 1
    assert sorted(found(report, "ast-grep")) == [("app.py", 3, "py-hardcoded-secret"), ("app.py", 7, "py-shell-injection"),
                                                 ("app.py", 8, "py-eval")]
    assert report["summary"]["security"] == 3 and "hunter2" not in str(report)
    write(project, "app.py", 'import os\nimport subprocess\n\npassword = os.environ["PASSWORD"]\n\n\ndef run(user):\n'
                             '    subprocess.run(["ls", user])\n    return eval("1 + 1")\n')
    code, report = check(project, "--only", "ast-grep", tools=("ast-grep",))
    assert code == 0 and statuses(report) == {"ast-grep": "clean"}, report


LANGUAGES = {
    "a.js": ('function f(u) { eval(u); el.innerHTML = u; }\nconst apiKey = "abcdefgh1234";\n', {"js-eval", "js-inner-html", "js-hardcoded-secret"}),
    "a.ts": ("export const f = (u: string) => eval(u);\n", {"ts-eval"}),
    "a.tsx": ("export const f = (u: string) => eval(u);\n", {"tsx-eval"}),
    "a.go": ("package a\n\nimport \"crypto/tls\"\n\nvar c = tls.Config{InsecureSkipVerify: true}\n", {"go-tls-not-verified"}),
    "a.rs": ("fn f(b: B) { b.danger_accept_invalid_certs(true); }\n", {"rs-tls-not-verified"}),
    "a.c": ("#include <string.h>\nvoid f(char *a, char *b) { strcpy(a, b); system(b); }\n", {"c-unbounded-copy", "c-shell-injection"}),
    "a.cc": ("#include <cstring>\nvoid f(char *a, char *b) { strcpy(a, b); }\n", {"cpp-unbounded-copy"}),
}


def test_the_security_rules_know_every_language(project):
    for name, (text, _) in LANGUAGES.items():
        write(project, name, text)
    code, report = check(project, "--only", "ast-grep", tools=("ast-grep",))
    assert code == 1, report
    for name, (_, rules) in LANGUAGES.items():
        assert {rule for file, _, rule in found(report, "ast-grep") if file == name} == rules, name
