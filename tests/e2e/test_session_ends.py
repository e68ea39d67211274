"""How a session loop ends the turn of its host: a host with a goal of its own would otherwise go on alone."""
from session_support import PROMISE, Session


def ends_turn(answer):
    return answer.json.get("continue") is False and not answer.goes_on


def test_a_limit_ends_the_turn_and_a_kept_promise_only_allows_it(project):
    session = Session(project)
    session.starts("fix it", "--max-iterations 1")
    assert session.stops("no").goes_on
    answer = session.stops("no")
    assert ends_turn(answer) and "MAX_ITERATIONS_REACHED" in answer.json["stopReason"], answer
    assert session.stops("no").json == {}, "what comes later is not the loop's"
    session.starts("fix it")
    session.uses_tool()
    answer = session.stops(PROMISE)
    assert "continue" not in answer.json and "PROMISE_ACCEPTED" in answer.message, answer


def test_a_cancelled_session_hears_of_it_once(project):
    session = Session(project)
    session.starts("fix it")
    assert project.run("loop", "cancel").code == 0
    answer = session.stops("no")
    assert ends_turn(answer) and "CANCELLED" in answer.message, answer
    assert session.stops("no").json == {}


def test_what_the_user_types_after_a_cancel_is_no_turn_of_the_loop(project):
    session = Session(project)
    session.starts("fix it")
    assert project.run("loop", "cancel").code == 0
    session.types("/goal something else")
    assert session.stops("no").json == {}
