"""Proof by killing: wherever ralph is killed, the resumed run ends as the undisturbed one."""
import hashlib
import json
from datetime import datetime, timedelta

import pytest

from kill_support import (RESUME, SCENARIOS, VICTIMS, Strike, arm, complete, differences, fresh, kill, records_before,
                          sample, strikes, undisturbed, under_kill_at)

HOUR = 3600 * 1000  # ms
SAMPLE = {"prompt": 14, "plan": 10}  # points
PLACES = [(name, place) for name, one in SCENARIOS.items() for place in one.places]
FAILURES = [("write", "ENOSPC:{}+"), ("fdatasync", "EIO:{}"), ("write", "ENOSPC:{}"), ("fdatasync", "EIO:{}+")]


def sets_of(everywhere):
    """{test: (names, values)}: all that is to be tried, or a sample of it."""
    shares = 24 if everywhere else 4  # tests for each scenario, so that each core can work on some
    return {
        "killed_anywhere": ("name, share, shares", [(name, i, shares) for name in SCENARIOS for i in range(shares)]),
        "while_something_runs": ("name, place, victim", [
            (*where, victim) for i, where in enumerate(PLACES) for j, victim in enumerate(VICTIMS)
            if everywhere or i % 3 == j]),
        "again_and_again": ("name, first, step", [
            (name, *how) for name in SCENARIOS for how in [(2, 3), (3, 7), (5, 2)][:3 if everywhere else 1]]),
        "torn": ("name, cut", [(name, cut) for name in SCENARIOS for cut in ([1, 2, 40, 100] if everywhere else [2])]),
        "disk": ("name, call, how, eighth", [
            (name, *failure, eighth) for i, name in enumerate(SCENARIOS) for eighth in (range(9) if everywhere else [3 + i])
            for j, failure in enumerate(FAILURES) if everywhere or j % 2 == i]),
        "is_synced": ("name", list(SCENARIOS)),
        "clock": ("record", ["agent_started", "agent_ended", "scm_started", "iteration_ended"][:4 if everywhere else 1]),
    }


def pytest_generate_tests(metafunc):
    everywhere = metafunc.config.getoption("kill_everywhere")
    for word, (names, values) in sets_of(everywhere).items():
        if word in metafunc.function.__name__:
            ids = ["-".join(map(str, one)) if isinstance(one, tuple) else one for one in values]
            metafunc.parametrize(names, values, ids=ids)


@pytest.fixture
def scenario(name):
    return SCENARIOS[name]


@pytest.fixture
def folder(tmp_path_factory):
    """For all tests of a process, so that each kind of run has to be undisturbed only once."""
    return tmp_path_factory.getbasetemp()


def test_killed_anywhere_and_resumed(scenario, share, shares, everywhere, folder, record_property):
    points, expected = undisturbed(scenario, folder)
    by_point = strikes(points)
    chosen = [one for ways in by_point for one in ways] if everywhere else sample(points, by_point, SAMPLE[scenario.name])
    killed, wrong = 0, []
    for one in chosen[share::shares]:
        point = points[one.point - 1]
        where = f"{scenario.name}: {one.victim} killed {one.kind} point {one.point} of {len(points)}, {point.call} {point.what}"
        with fresh(scenario, folder) as project:
            struck = kill(project, scenario.command, one)
            if not struck.log:
                assert struck.code == 0, struck
                continue  # this time there were fewer points
            killed += 1
            records = records_before(project)
            try:
                complete(project, scenario)
                different = differences(project, expected)
            except AssertionError as error:
                different = [str(error)]
            if different:
                wrong.append("\n  ".join([where, records, *different]))
    record_property("killed", killed)
    assert not wrong, f"{len(wrong)} of {killed}:\n" + "\n".join(wrong)


def test_killed_while_something_runs_and_resumed(scenario, place, victim, folder, record_property):
    """By the agent, a guardrail, or a hook of git: what ralph has started."""
    _, expected = undisturbed(scenario, folder)
    with fresh(scenario, folder) as project:
        arm(project, place, victim)
        killed = project.run(*scenario.command)
        assert killed.code in (128 + 9, -9) and not (project.base / "armed").exists(), killed
        record_property("killed", 1)
        records = records_before(project)
        complete(project, scenario)
        assert differences(project, expected) == [], records


# Killed again


def test_a_resumed_run_can_be_killed_again_and_again(scenario, first, step, everywhere, folder, record_property):
    """Each time a little later; whatever is redone is redone once for each kill."""
    points, expected = undisturbed(scenario, folder)
    with fresh(scenario, folder) as project:
        killed_in_the_middle(project, scenario, points, first)
        kills = 1
        for number in range(1, 40 if everywhere else 12, step):
            struck = kill(project, RESUME, Strike(number, ("before", "after")[number % 2], "both"))
            if not struck.log:
                break  # it was completed before
            kills += 1
        record_property("killed", kills)
        complete(project, scenario)
        assert differences(project, expected, kills) == []


# The last record of the killed run, and the disk


def killed_in_the_middle(project, scenario, points, part=2, record=None):
    """Kills both after the write of a record, at this part of the run, or of such records. Returns the journal."""
    writes = [point for point in points if point.call == "write" and record in (None, point.what)]
    struck = kill(project, scenario.command, Strike(writes[len(writes) // part].number, "after", "both"))
    assert struck.code == 128 + 9 and struck.log, struck
    return project.run_folder() / "journal.jsonl"


def test_a_torn_last_record_is_as_if_it_had_not_been_written(scenario, cut, folder, record_property):
    """A power cut may leave a part of it."""
    points, expected = undisturbed(scenario, folder)
    with fresh(scenario, folder) as project:
        journal = killed_in_the_middle(project, scenario, points)
        record_property("killed", 1)
        journal.write_bytes(journal.read_bytes()[:-cut])
        complete(project, scenario)
        assert differences(project, expected) == []


def test_a_disk_that_fails_ends_the_run_which_can_be_resumed(scenario, call, how, eighth, folder):
    """Full or broken, from that part of the run on or once."""
    points, expected = undisturbed(scenario, folder)
    calls = sum(point.call == call for point in points)  # all are on the journal
    number = max(1, eighth * calls // 8)
    with fresh(scenario, folder) as project:
        run = under_kill_at(project, scenario.command, "--fail", f"{call}:{how.format(number)}")
        assert run.log, "nothing failed"
        assert run.code == 2, run
        assert str(project.run_folder() / "journal.jsonl") in run.err, run
        complete(project, scenario)
        assert differences(project, expected) == []


def test_an_ended_iteration_is_synced_before_anything_else_happens(scenario, folder):
    points, _ = undisturbed(scenario, folder)
    steps = [point.what if point.call == "write" else point.call for point in points if point.call in ("write", "fdatasync")]
    ends = [i for i, step in enumerate(steps) if step == "iteration_ended"]
    assert len(ends) > 1, steps
    assert {steps[end + 1] for end in ends} == {"fdatasync"}, steps


# The clock


def moved(journal, by):
    """Rewrites the journal as if its clock had been ahead, with a chain that holds."""
    lines, before = [], None
    for line in journal.read_text().splitlines():
        record = json.loads(line)
        time = datetime.strptime(record["time"], "%Y-%m-%dT%H:%M:%S.%fZ") + by
        record["time"] = time.isoformat(timespec="milliseconds") + "Z"
        if before is not None:
            record["prev"] = before
        lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")))
        before = hashlib.sha256(lines[-1].encode()).hexdigest()
    journal.write_text("".join(line + "\n" for line in lines))
    return before


def seal_again(project, run_id, digest):
    """What ralph knows outside the project: the run is this user's, and its journal leads to this hash."""
    seals = list((project.home / ".local/state/ralph").rglob(run_id))
    assert len(seals) == 1, seals
    seals[0].write_text(digest)


def test_a_clock_that_went_backwards_counts_no_time(record, folder, record_property):
    """The killed run's clock was a day ahead."""
    scenario = SCENARIOS["prompt"]
    points, expected = undisturbed(scenario, folder)
    scenario = scenario._replace(command=(*scenario.command, "--max-minutes", "60"))
    with fresh(scenario, folder) as project:
        journal = killed_in_the_middle(project, scenario, points, record=record)
        record_property("killed", 1)
        seal_again(project, journal.parent.name, moved(journal, timedelta(days=1)))
        complete(project, scenario)
        assert differences(project, expected) == []
        times = [(key, time) for record in project.journal() for key, time in record.items() if key.endswith("Ms")]
        assert len(times) > 10 and all(0 <= time < HOUR for _, time in times), times
