"""ralph plan status: the board, what comes next, how much is left; and no story's words that do more than stand there."""
import json
import os
import re

import pytest

from plan_support import Plan, approved, rejected, story, submitted
from terminal import end_of, in_terminal, screen, seen

BOARD = [
    approved("US-001", title="The first one"),
    approved("US-002", title="The stubborn one", reviewCount=3, reviewFeedback="[AUTO-APPROVED AT CAP] still slow"),
    rejected("US-003", title="The leaking one", priority=4),
    submitted("US-004", title="The waiting one", reviewCount=1, priority=3),
    story("US-005", title="The free one", priority=9, reviewFeedback="[AUTO-APPROVED AT CAP] said before"),
    story("US-006", title="The blocked one", priority=2, dependsOn=["US-004", "US-003"]),
]


def status(project, *arguments, **how):
    result = project.run("plan", "status", *arguments, **how)
    assert result.code == 0 and result.err == "", result
    return result.out


def facts(project, *arguments):
    return json.loads(status(project, "--json", *arguments))


def columns(text):
    """{column: [lines]} of a board."""
    found, column = {}, None
    for line in text.splitlines():
        if match := re.fullmatch(r"(Changes requested|Needs review|To do|Passes, not reviewed|Done) \((\d+)\)", line):
            column = found.setdefault(match.group(1), [])
            count = int(match.group(2))
        elif line.startswith("  ") and column is not None:
            column.append(line.strip())
            assert len(column) <= count
        else:
            column = None
    return found


def test_the_board_by_state(project):
    Plan(project, BOARD)
    text = status(project)
    assert text.startswith("Demo · main\n")
    assert "████████░░░░░░░░░░░░░░░░ 33%  2 of 6 stories done\n" in text
    assert columns(text) == {
        "Changes requested": ["US-003  The leaking one · 1 review"],
        "Needs review": ["US-004  The waiting one · 1 review"],
        "To do": ["US-006  The blocked one · waits for US-004 and US-003", "US-005  The free one"],
        "Done": ["US-001  The first one · 1 review", "US-002  The stubborn one · 3 reviews · approved at the cap"],
    }, text
    assert "Next: review-fix US-003 (The leaking one)\n" in text
    # Two reviews per story so far: 2 for the fix and review of US-003, 1 for US-004, 4 for each of the others.
    assert "About 11 iterations left.\n" in text
    assert "Reviews: 6 reviews of 4 stories, 1.5 each; 1 approved at once; most: US-002 (3); approved at the cap, worth a look: 1.\n" in text
    assert "A run is under way" not in text


def test_the_same_as_json(project):
    Plan(project, BOARD)
    shown = facts(project)
    assert {k: v for k, v in shown.items() if k != "userStories"} == {
        "project": "Demo", "branchName": "main", "stories": 6, "done": 2, "skipReview": False, "reviewCap": 5,
        "nextMode": "review-fix", "nextStory": "US-003", "estimatedIterations": 11, "running": False,
        "reviews": {"total": 6, "stories": 4, "average": 1.5, "firstTimeApprovals": 1, "approvedAtCap": 1}}
    assert [one["id"] for one in shown["userStories"]] == [one["id"] for one in BOARD], "in the order of the file"
    assert shown["userStories"][1] == {"id": "US-002", "title": "The stubborn one", "priority": 1, "done": True, "passes": True,
                                       "reviewStatus": "approved", "reviewCount": 3, "waitsFor": []}
    assert shown["userStories"][5]["waitsFor"] == ["US-004", "US-003"] and shown["userStories"][5]["reviewStatus"] is None


@pytest.mark.parametrize("stories, words, bar", [
    ([story("A"), story("B")], ["Next: implement A (Title of A)", "About 6 iterations left."], "░" * 24 + " 0%  0 of 2 stories done"),
    ([story("A")], ["About 3 iterations left."], "░" * 24 + " 0%  0 of 1 story done"),
    ([approved("A"), approved("B")], ["All stories are done."], "█" * 24 + " 100%  2 of 2 stories done"),
    ([approved("A")] * 1 + [story(f"B{n}") for n in range(199)], [], "░" * 24 + " 0%  1 of 200 stories done"),
    ([approved(f"B{n}") for n in range(199)] + [story("A")], ["About 2 iterations left."], "█" * 23 + "░ 99%  199 of 200 stories done"),
], ids=["new", "one", "done", "hardly begun", "almost done"])
def test_the_progress_bar(project, stories, words, bar):
    """It is full when all is done and not before."""
    Plan(project, stories, git=False)
    text = status(project)
    assert f"\n{bar}\n" in text, text
    for word in words:
        assert word + "\n" in text
    if "All stories are done." in words:
        assert "Next:" not in text and "left" not in text
        shown = facts(project)
        assert "nextStory" not in shown and shown["estimatedIterations"] == 0


@pytest.mark.parametrize("stories, next_one, left", [
    ([submitted("A")], ("review", "A"), 2),
    ([rejected("A")], ("review-fix", "A"), 2),
    ([story("A", dependsOn=["B"]), story("B", priority=5)], ("implement", "B"), 6),
    ([approved("A", reviewCount=4), submitted("B", reviewCount=3)], ("review", "B"), 1),
    ([approved("A", reviewCount=4), story("B")], ("implement", "B"), 8),
], ids=["review", "fix", "depends", "reviewed often", "by what others needed"])
def test_what_comes_next_and_how_much(project, stories, next_one, left):
    Plan(project, stories, git=False)
    shown = facts(project)
    assert (shown["nextMode"], shown["nextStory"], shown["estimatedIterations"]) == (*next_one, left)


def test_without_reviews(project):
    Plan(project, [story("A", passes=True, notes="x"), story("B")], git=False)
    assert facts(project)["done"] == 0
    project.settings(plan={"skipReview": True})
    shown = facts(project)
    assert (shown["done"], shown["estimatedIterations"], shown["skipReview"]) == (1, 1, True)
    assert "Reviews:" not in status(project)


def test_what_a_run_without_reviews_leaves_is_not_called_done(project):
    plan = Plan(project, [story("A"), story("B")])
    assert plan.run("--skip-review").code == 0
    text = status(project)
    assert list(columns(text)) == ["Passes, not reviewed"] and "0 of 2 stories done" in text, text
    assert "All stories are done" not in text and "--skip-review" in text, text
    assert "nextStory" not in facts(project) and facts(project)["estimatedIterations"] == 0
    text = status(project, "--skip-review")
    assert list(columns(text)) == ["Done"] and "All stories are done.\n" in text and facts(project, "--skip-review")["done"] == 2
    assert project.run("plan", "check").code == 1 and project.run("plan", "check", "--skip-review").code == 0


def test_status_needs_no_repository_and_no_agent_and_changes_nothing(project):
    plan = Plan(project, BOARD, git=False)
    (project.ralph / "settings.json").unlink()
    before = {p: p.read_bytes() for p in project.base.rglob("*") if p.is_file() and p.parent != project.base}
    status(project)
    facts(project)
    assert {p: p.read_bytes() for p in project.base.rglob("*") if p.is_file() and p.parent != project.base} == before
    assert plan.turns() == []


def test_from_elsewhere(project):
    Plan(project, [story("A")], folder="plans/next", git=False)
    elsewhere = project.base / "elsewhere"
    elsewhere.mkdir()
    there = ["-d", project.path, "--ralph-dir", project.path / "plans/next"]
    assert "Next: implement A" in status(project, *there, cwd=elsewhere)
    assert facts(project, "--ralph-dir", "plans/next")["stories"] == 1
    none = project.run("plan", "status")
    assert none.code == 2 and "ralph plan init" in none.err and none.out == ""


@pytest.mark.parametrize("text, words", [("", "empty"), ("{", "tasks.json"), ('{"userStories": []}', "project")])
def test_a_list_that_cannot_be_read_is_an_error_with_its_place(project, text, words):
    Plan(project, tasks=text, git=False)
    result = project.run("plan", "status")
    assert result.code == 2 and result.out == "" and words in result.err and "tasks.json" in result.err


# ---- terminals

def test_colours_on_a_terminal_only(project):
    Plan(project, BOARD, git=False)
    assert "\x1b" not in status(project)
    with in_terminal(project, "plan", "status") as child:
        assert end_of(child) == 0
        coloured, plain = seen(child), screen(child)
    assert "\x1b[" in coloured
    assert columns(plain)["Changes requested"] == ["US-003  The leaking one · 1 review"]


def test_no_color(project):
    Plan(project, BOARD, git=False)
    with in_terminal(project, "plan", "status", env={"NO_COLOR": "1"}) as child:
        assert end_of(child) == 0
        assert "\x1b" not in seen(child) and "█" in seen(child)


@pytest.mark.parametrize("locale", [{"LANG": "C"}, {"LANG": "en_US.ISO-8859-1"}, {"LC_ALL": "POSIX", "LANG": "C.UTF-8"}])
def test_plain_characters_where_the_locale_has_no_others(project, locale):
    Plan(project, [approved("A"), story("B")], git=False)
    text = status(project, env=locale)
    assert text.isascii() and "############............ 50%" in text


@pytest.mark.parametrize("width", [40, 80, 200])
def test_long_titles_are_cut_to_the_terminal(project, width):
    Plan(project, [story("US-001", title="long " * 100), story("US-" + "9" * 60, title="its id is long"),
                   story("US-003", title="a title of twenty co", dependsOn=["US-001", "US-" + "9" * 60])], git=False)
    with in_terminal(project, "plan", "status", width=width) as child:
        assert end_of(child) == 0
        lines = screen(child).splitlines()
    board = lines[lines.index("To do (3)") + 1:lines.index("To do (3)") + 4]
    assert all(len(line.rstrip()) <= width for line in board), board
    assert "…" in board[0] and board[0].startswith("  US-001 ")


def test_long_titles_are_cut_for_files_too(project):
    Plan(project, [story("US-001", title="long " * 10000)], git=False)
    assert max(map(len, status(project).splitlines())) <= 160
    assert facts(project)["userStories"][0]["title"] == "long " * 10000


HOSTILE = ["\x1b[2J\x1b[H", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\", "\x9b31m", "\r\nDone (9)\n", "\x08\x08\x08", "\0", "\u202e", "\x7f",
           "\x1bc", "a\tb"]


CONTROLS = {chr(c) for c in [*range(0, 10), *range(11, 32), *range(127, 160)]} | {"\u202e"}


def hostile_plan(project, evil, **how):
    stories = [story(f"A{evil}Z", title=f"begin{evil}end"), approved(f"B{evil}", title=evil, dependsOn=[f"A{evil}Z"])]
    return Plan(project, tasks=json.dumps({"project": f"P{evil}Q", "branchName": "", "description": evil, "userStories": stories}), **how)


@pytest.mark.parametrize("evil", HOSTILE, ids=range(len(HOSTILE)))
def test_no_words_of_a_plan_reach_the_terminal_as_commands(project, evil):
    hostile_plan(project, evil, git=False)
    plain = status(project)
    assert not set(plain) & CONTROLS, repr(plain)
    assert len([line for line in plain.splitlines() if line.startswith("Done (")]) == 1
    with in_terminal(project, "plan", "status", env={"NO_COLOR": "1"}) as child:
        assert end_of(child) == 0
        assert not set(seen(child)) & CONTROLS
    assert facts(project)["project"] == f"P{evil}Q", "machines get the words as they are"


@pytest.mark.parametrize("evil", HOSTILE, ids=range(len(HOSTILE)))
def test_nor_do_they_when_the_plan_is_run_or_checked(project, evil):
    plan = hostile_plan(project, evil)
    plan.cheat("print('nothing'); sys.exit(0)", phase="before", always=True)
    project.python_agent("print('nothing')")
    refused = plan.run("-n", "1")
    assert refused.code == 2 and "--accept-tasks" in refused.err and not set(refused.text) & CONTROLS, repr(refused.text)
    result = plan.run("-n", "1", "--accept-tasks")
    assert result.code == 1 and not set(result.text) & CONTROLS, repr(result.text)
    dry = plan.run("--dry-run")
    assert dry.code == 0 and not set(dry.out[:dry.out.index("\nPrompt ")]) & CONTROLS, repr(dry.out)
    checked = project.run("plan", "check")
    assert not set(checked.text) & CONTROLS, repr(checked.text)
    shown = project.run("runs", "show", "last")
    assert shown.code == 0 and not set(shown.text) & CONTROLS, repr(shown.text)
    # And when it is wrong, in the error.
    plan.write(plan.text().replace('"reviewCount": 0', '"reviewCount": -1'))
    for words in (["run"], ["status"], ["check"]):
        wrong = project.run("plan", *words)
        assert wrong.code in (1, 2) and "reviewCount" in wrong.text and not set(wrong.text) & CONTROLS, repr(wrong.text)


def test_wide_characters_are_measured_as_wide(project):
    Plan(project, [story("日本-1", title="漢字" * 60), story("e\u0301-2", title="combining e\u0301"), story("🎉", title="party 🎉" * 30)],
         git=False)
    with in_terminal(project, "plan", "status", width=60) as child:
        assert end_of(child) == 0
        lines = screen(child).splitlines()
    board = lines[lines.index("To do (3)") + 1:lines.index("To do (3)") + 4]
    wide = [sum(2 if ord(c) > 0x2E7F else 0 if c == "\u0301" else 1 for c in line.rstrip()) for line in board]
    assert all(columns <= 60 for columns in wide), board
    titles = [line.index(word) for line, word in zip(board, ["漢字", "combining", "party"])]
    starts = [sum(2 if ord(c) > 0x2E7F else 0 if c == "\u0301" else 1 for c in line[:at]) for line, at in zip(board, titles)]
    assert len(set(starts)) == 1, "titles stand below each other"


# ---- while a run is live

def test_while_a_run_works(project):
    plan = Plan(project, [story("US-001"), story("US-002", passes=True, notes="x")])
    plan.cheat("(base / 'begun').touch()\nwhile not (base / 'go').exists(): time.sleep(0.005)", at=1, phase="before")
    running = plan.start("-n", "7", "--skip-review")
    plan.wait_for("begun")
    since = json.loads(plan.marker.read_text())["timestamp"]
    text = status(project)
    assert f"A run is under way: pid {running.pid}, iteration 1 of 7 (implement US-001), since {since}.\n" in text
    assert "1 of 2 stories done" in text, "by the rules of that run"
    shown = facts(project)
    assert shown["running"] is True and shown["skipReview"] is True
    (project.base / "go").touch()
    assert running.wait().code == 0
    assert facts(project)["running"] is False
    project.nothing_left()


def test_a_stale_marker_is_no_run(project):
    plan = Plan(project, [story("A")], git=False)
    plan.marker.write_text(json.dumps({"pid": os.getpid(), "pidStart": 1, "skipReview": True}))
    assert "A run is under way" not in status(project) and facts(project)["skipReview"] is False


def test_a_hostile_marker_prints_nothing_strange(project):
    plan = Plan(project, [story("A")], git=False)
    plan.marker.write_text(json.dumps({"timestamp": "\x1b[2Jnow", "story": "\x1b[2J", "iterationMode": "implement", "pid": os.getpid()}))
    text = status(project)
    assert "\x1b" not in text and f"pid {os.getpid()}" in text


def test_a_marker_that_says_little_makes_a_short_sentence(project):
    plan = Plan(project, [story("A")], git=False)
    pid = os.getpid()
    for marker, words in [({}, f"A run is under way: pid {pid}.\n"),
                          ({"iteration": 2, "iterationMode": "review"}, f"A run is under way: pid {pid}, iteration 2 (review).\n")]:
        plan.marker.write_text(json.dumps({"pid": pid, **marker}))
        assert words in status(project)


def test_ten_thousand_stories(project):
    Plan(project, [story(f"US-{n:05}", dependsOn=[f"US-{n - 1:05}"] if n else []) for n in range(10000)], git=False)
    result = project.run("plan", "status")
    assert result.code == 0 and result.out.count("waits for") == 9999
