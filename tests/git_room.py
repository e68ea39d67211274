"""Finds command lines of git and paths of its folder outside src/git; include_direction.py runs it.

Only src/git knows what git is told and what its files are called; whoever needs that calls a function of it. So three
things are faults anywhere else: a list that begins with a subcommand, as in git({"log", "-1"}); one that begins with
"git" itself; and a path into its folder (".git/config"). Sentences are not meant: what a person is told to type may say
all of this. Nor is the program that the user's settings name as their source control: that is data.
"""
import pathlib
import re
import tempfile

SUBCOMMANDS = """add am apply archive bisect blame branch bundle cat-file check-ignore checkout cherry-pick clean clone commit
    commit-tree config describe diff diff-index diff-tree fetch for-each-ref format-patch fsck gc grep hash-object init log
    ls-files ls-remote ls-tree merge merge-base mv notes pack-refs prune pull push read-tree rebase reflog remote replace
    reset restore rev-list rev-parse revert show show-ref sparse-checkout stash status submodule switch symbolic-ref tag
    update-index update-ref var worktree write-tree""".split()

# file: why it may
ALLOWED = {
    "engine/scm_command.cc": "the user's scm.command, by default git, is told to add and to commit",
    "policy/paths.cc": "the command policy knows what agents must not touch",
    "sandbox/attacks_git.cc": "attacks on a sandbox, made by hand as an agent would",
}

LIST = re.compile(r'(?:\bgit_?|\bask|\))\(\{"(?:%(sub)s)"|\{"(?:%(sub)s)", ?"-|[{(]"git", ?"(?:%(sub)s|-[cC])"' % {"sub": "|".join(SUBCOMMANDS)})
PATH = re.compile(r'"(?:[^"\\\s]*/)?\.git/[^"\\\s]*"')
COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*')


def faults_in(source):
    """One line per fault below the folder `source`, as "file:line: why"."""
    faults, needed = [], set()
    for path in sorted(source.rglob("*")):
        file = path.relative_to(source).as_posix()
        if path.suffix not in (".cc", ".h") or file.startswith("git/") or re.search(r"_test\.cc$|_for_tests\.h$", file):
            continue
        code = COMMENT.sub(lambda found: found[1] or "", path.read_text(encoding="utf-8"))
        for found in sorted([*LIST.finditer(code), *PATH.finditer(code)], key=lambda found: found.start()):
            needed.add(file)
            if file not in ALLOWED:
                line = code.count("\n", 0, found.start()) + 1
                faults.append(f"{path}:{line}: {found[0]} belongs into a function of src/git")
    return faults + [f"{source / file}:1: git_room.py allows it what it no longer has"
                     for file in sorted(set(ALLOWED) - needed) if (source / file).exists()]


# (file, its text, whether that is a fault)
SAMPLES = [
    ("plan/start.cc", 'git({"switch", "-q", branch});', True),
    ("plan/start.cc", 'return ask({"log"});', True),
    ("engine/checks.cc", 'contained_git(run, place)({"diff", head});', True),
    ("engine/checks.cc", 'std::vector<std::string> words = {"status", "--porcelain"};', True),
    ("sandbox/docker.cc", 'run({"git", "config", "--global"});', True),
    ("engine/reasons.cc", 'if (path == ".git/HEAD") return;', True),
    ("engine/reasons.cc", 'if (path.ends_with("/.git/HEAD")) return;', True),
    ("engine/reasons.cc", '// it is ".git/HEAD", as in git({"log"})', False),
    ("cli/doctor.cc", 'say("check .git/hooks and .git/config");', False),
    ("cli/doctor.cc", 'say("git switch -c x");', False),
    ("cli/doctor.cc", 'row("git", "none on PATH");', False),
    ("cli/plan_run.cc", 'on_resume({"switch", 0, "", "Switch to the branch."});', False),
    ("checks/finding.h", 'Worded<Status> kWords({"clean", "failed"});', False),
    ("agents/todo.cc", 'Wanted todo{{"status"}, {"tag"}};', False),
    ("agents/todo.cc", 'text_at(test, {"status"});', False),
    ("settings/layers.cc", 'join_path(at, ".git");', False),
    ("git/repository.cc", 'ask({"log", "-1"}); read(".git/HEAD");', False),
    ("plan/start_test.cc", 'git({"init", "-q"});', False),
    ("policy/paths.cc", 'read(".git/HEAD");', False),
    ("policy/paths.cc", "return;", True),
]


def self_test():
    """Plants every sample in a tree of its own; one line per sample that was judged wrongly."""
    wrong = []
    for file, text, fault in SAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, file)
            path.parent.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")
            if bool(faults_in(pathlib.Path(folder))) != fault:
                wrong.append(f"self-test: {text!r} in {file} should be {'a fault' if fault else 'allowed'}")
    return wrong
