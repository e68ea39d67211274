"""Plans: real agents work on stories, edit tasks.json with tools of their own and commit, each iteration as its prompt says.
And those that cheat gain nothing."""
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import textwrap
from pathlib import Path

import pytest

from support import e2e

COMPLETE = "<promise>COMPLETE</promise>"


def verdict(story, words="approved"):
    """How a review says its verdict, at the beginning of a line."""
    return f'\n<review story="{story}">{words}</review>\n'


ASSIGNMENT = {"implement": "IMPLEMENT this story", "review": "REVIEW this story, which an earlier iteration implemented",
              "review-fix": "FIX what the review of this story asked for"}
SUBMITTED = {"passes": False, "reviewStatus": "needs_review", "reviewCount": 0, "notes": "greet.sh, tried by hand"}
APPROVED = {"passes": True, "reviewStatus": "approved", "reviewCount": 1, "notes": "greet.sh, tried by hand"}

# The CLIs whose Stop hook can keep them at work.
pytestmark = pytest.mark.only("claude", "codex")


class Plan:
    """A plan in the agent's project. It knows how tasks.json will be at each step, so that an edit can name what it replaces."""

    def __init__(self, agent, *titles):
        self.agent, self.turns = agent, []
        self.stories = [{"id": f"US-00{n}", "title": title, "description": "", "acceptanceCriteria": [f"{title} works"],
                         "priority": n, "passes": False, "reviewStatus": None, "reviewCount": 0, "reviewFeedback": "",
                         "notes": "", "dependsOn": []} for n, title in enumerate(titles, 1)]
        agent.git_init()
        subprocess.run([str(e2e.RALPH), "plan", "init"], cwd=agent.path, env=agent.environment(), check=True, capture_output=True)
        self.path = agent.path / "ralph/tasks.json"
        self.path.write_text(self.text())
        agent.settings({"sandbox": {"mode": "off"}})  # test_sandbox.py has the CLIs in one
        if agent.name == "claude":  # as root it skips permissions only if it is told of a sandbox, and there is none
            agent.settings({"agent": {"flags": ["--permission-mode acceptEdits", "--allowedTools Bash"]}})
            agent.more_environment["IS_SANDBOX"] = None
        if agent.name == "gemini":  # it hides the variables that name the author
            agent.git("config", "user.name", "The agent")
            agent.git("config", "user.email", "agent@example.com")
        agent.git("add", "-A")
        agent.git("commit", "-q", "-m", "the plan")

    def text(self):
        return json.dumps({"project": "Greeter", "branchName": "main", "description": "It greets.",
                           "verifyCommands": ["sh greet.sh"], "userStories": self.stories}, indent=2) + "\n"

    # What the model does

    def change(self, story, **values):
        """The story as it is from now on, without a call."""
        next(one for one in self.stories if one["id"] == story).update(values)

    def edit(self, story, **values):
        """Changes the story in place, by the agent's own tool."""
        before = self._text_of(story)
        self.change(story, **values)
        edit = self.agent.edit("ralph/tasks.json", before, self._text_of(story))
        read = {"name": "Read", "input": {"file_path": str(self.path)}}  # or claude refuses to edit
        return self.agent.calls(read, edit) if self.agent.name == "claude" else edit

    def rewrite(self, story, **values):
        """Changes the story by a command that writes all of tasks.json."""
        self.change(story, **values)
        return self.agent.shell(f"cat > ralph/tasks.json <<'END'\n{self.text()}END")

    def commit(self, message):
        return self.agent.shell(f"git add -A && git commit -q -m {shlex.quote(message)} && git log --oneline -1")

    def expect(self, mode, story, *turns):
        """What the model does in an iteration with this assignment; with another one, it has nothing to say."""
        when = json.dumps(f"### Your assignment: {ASSIGNMENT[mode]}\n\nStory {story}: ")[1:-1]
        self.turns += [{**(self.agent.calls(turn) if "name" in turn else turn), "when": when} for turn in turns]

    def run(self, *arguments):
        self.agent.play(*self.turns, exhausted=self.agent.says("That is not in the script."))
        result = self.agent.run("plan", "run", *arguments)
        played = [r["turn"] for r in self.agent.requests()]
        assert played == list(range(len(self.turns))), f"{result}\nplayed {played} of {len(self.turns)}"
        assert self.path.read_text() == self.text(), "byte by byte"
        assert self.agent.git("status", "--porcelain") == "", "all is committed"
        assert not (self.agent.path / ".ralph-active").exists()
        self.agent.nothing_left()
        return result

    def completes(self):
        result = self.run()
        assert result.code == 0 and self.agent.last("run_ended")["status"] == "complete", result
        assert all(story["passes"] and story["reviewStatus"] == "approved" for story in self.stories)

    # What came of it

    def checked(self, field):
        return [r[field] for r in self.agent.records("plan_checked") if r["iteration"]]

    def commits(self):
        """The first lines of the commits since the plan, oldest first."""
        return self.agent.git("log", "--format=%s", "--reverse").splitlines()[2:]

    def sessions(self):
        """The requests of each session, as texts."""
        sessions = {}
        for i, request in enumerate(self.agent.requests()):
            session = request["headers"].get("x-claude-code-session-id") or request["body"]["prompt_cache_key"]
            sessions.setdefault(session, []).append(self.agent.asked(i))
        return list(sessions.values())

    def _text_of(self, story):
        """Whole lines, from its id to its notes."""
        text = json.dumps(next(one for one in self.stories if one["id"] == story), indent=2)
        return textwrap.indent("\n".join(text.splitlines()[1:-2]), "    ")


def said_by_hook(request):
    """The reasons that a hook gave last before a request."""
    return request[request.rfind("You can't stop yet:"):]


def test_two_stories_are_implemented_reviewed_fixed_and_approved(agent):
    plan = Plan(agent, "A greeting", "A name")
    says, shell = agent.says, agent.shell
    plan.expect("implement", "US-001", agent.write("greet.sh", "echo helo\n"), plan.edit("US-001", **SUBMITTED),
                plan.commit("feat: [US-001] - A greeting"), says("It greets."))
    plan.expect("review", "US-001", shell("sh greet.sh"),
                plan.edit("US-001", reviewStatus="changes_requested", reviewCount=1,
                          reviewFeedback="1. greet.sh:1 says helo, nöt hello."),
                plan.commit("review: [US-001] - changes requested"),
                says("It has to be mended." + verdict("US-001", "changes_requested\nIt says helo.\n")))
    plan.expect("review-fix", "US-001", shell("echo 'echo hello' > greet.sh"),
                plan.edit("US-001", reviewStatus="needs_review", reviewFeedback=""),
                plan.commit("fix: [US-001] - address review feedback"), says("Mended."))
    plan.expect("review", "US-001", plan.edit("US-001", **{**APPROVED, "reviewCount": 2}),
                plan.commit("review: [US-001] - approved"), says("This one is good; another is open." + verdict("US-001")))

    plan.expect("implement", "US-002", shell("echo 'echo hello $1' > greet.sh"), plan.rewrite("US-002", **SUBMITTED),
                plan.commit("feat: [US-002] - A name"), says("It knows names."))
    plan.expect("review", "US-002",
                plan.rewrite("US-002", reviewStatus="changes_requested", reviewCount=1, reviewFeedback='1. Quote "$1".'),
                plan.commit("review: [US-002] - changes requested"),
                says("It has to be mended." + verdict("US-002", "changes_requested\nIt is not quoted.")))
    plan.expect("review-fix", "US-002", shell("echo 'echo \"hello $1\"' > greet.sh"),
                plan.rewrite("US-002", reviewStatus="needs_review", reviewFeedback=""),
                plan.commit("fix: [US-002] - address review feedback"), says("Quoted."))
    plan.expect("review", "US-002", plan.rewrite("US-002", **{**APPROVED, "reviewCount": 2}),
                plan.commit("review: [US-002] - approved"), says(f"All is approved.{verdict('US-002')}{COMPLETE}"))
    plan.completes()

    assert [(r["mode"], r["story"]) for r in agent.records("plan_work")] == [
        (mode, story) for story in ("US-001", "US-002") for mode in ("implement", "review", "review-fix", "review")]
    assert plan.checked("outcome") == ["submitted", "changes_requested", "resubmitted", "approved"] * 2
    assert plan.checked("violations") == plan.checked("notes") == [[]] * 8
    assert plan.commits() == ["feat: [US-001] - A greeting", "review: [US-001] - changes requested",
                              "fix: [US-001] - address review feedback", "review: [US-001] - approved",
                              "feat: [US-002] - A name", "review: [US-002] - changes requested",
                              "fix: [US-002] - address review feedback", "review: [US-002] - approved"], "all by the agent"
    assert (agent.path / "greet.sh").read_text() == 'echo "hello $1"\n'
    assert [r["outcome"] for r in agent.records("guardrail_ended")] == ["passed"] * 8, "ralph ran the verify command itself"
    first = [requests[0] for requests in plan.sessions()]
    assert len(first) == 8, "each iteration begins afresh"
    assert "The review said:" in first[2] and "> 1. greet.sh:1 says helo, nöt hello." in first[2]
    assert "This is review 2 of at most 5" in first[3] and "nöt hello" not in first[3]


def test_an_implementer_that_approves_itself_is_told_and_goes_on_honestly(agent):
    """Without its Stop hook, which would have told it at once."""
    plan = Plan(agent, "A greeting")
    agent.more_environment["RALPH_DISABLE_LOOP_CONTROLLER"] = "1"
    plan.expect("implement", "US-001", agent.write("greet.sh", "echo hello\n"), plan.edit("US-001", **APPROVED),
                plan.commit("feat: [US-001] - A greeting, and good"), agent.says(f"No need for a review. {COMPLETE}"))
    plan.change("US-001", passes=False, reviewStatus=None, reviewCount=0)  # by ralph
    plan.expect("implement", "US-001", plan.edit("US-001", **SUBMITTED), plan.commit("feat: [US-001] - A greeting"),
                agent.says("It waits for its review."))
    plan.expect("review", "US-001", plan.edit("US-001", **APPROVED), plan.commit("review: [US-001] - approved"),
                agent.says(verdict("US-001") + COMPLETE))
    plan.completes()

    assert plan.checked("outcome") == ["", "submitted", "approved"]
    assert [len(violations) for violations in plan.checked("violations")] == [1, 0, 0]
    before, told, after = [requests[0] for requests in plan.sessions()]
    assert "In the last iteration ralph took back what was not allowed" in told
    assert "Implement iterations cannot set passes=true" in told
    assert "passes false → true, reviewStatus null → approved, reviewCount 0 → 1" in told
    assert f"{COMPLETE} was said too early" in told
    assert "In the last iteration" not in before and "In the last iteration" not in after
    assert plan.commits() == ["feat: [US-001] - A greeting, and good",
                              "ralph: take back what implement iteration 1 may not change",
                              "feat: [US-001] - A greeting", "review: [US-001] - approved"]


def test_the_stop_hook_makes_a_session_repair_what_it_did(agent):
    """The run itself gives the hook to its agent: nothing was installed."""
    plan = Plan(agent, "A greeting")
    plan.expect("implement", "US-001", agent.write("greet.sh", "echo hello\n"), plan.edit("US-001", **APPROVED),
                agent.says("Done and approved."),
                plan.edit("US-001", **SUBMITTED), agent.says("Done."),
                plan.commit("feat: [US-001] - A greeting"), agent.says("Done and committed."))
    plan.expect("review", "US-001", agent.says("It looks good."),
                plan.edit("US-001", **APPROVED), plan.commit("review: [US-001] - approved"),
                agent.says(verdict("US-001") + COMPLETE))
    plan.completes()

    assert plan.checked("outcome") == ["submitted", "approved"]
    assert plan.checked("violations") == plan.checked("notes") == [[], []], "nothing was left to take back or to tell"
    assert plan.commits() == ["feat: [US-001] - A greeting", "review: [US-001] - approved"]
    implement, review = plan.sessions()
    first, second, third = said_by_hook(implement[3]), said_by_hook(implement[5]), said_by_hook(review[1])
    assert "Implement iterations cannot set passes=true" in first and "reviewStatus null → approved" in first
    assert "There are uncommitted changes" in first and "greet.sh" in first
    assert "There are uncommitted changes" in second and "Implement iterations" not in second
    assert "The review gave no verdict" in third and "There are uncommitted changes" not in third


BY_FLAGS = "through flags: stop check, context monitor, command policy.\n"
BY_ENVIRONMENT = "through its environment: stop check, context monitor, command policy.\n"
GETS_HOOKS = {"claude": BY_FLAGS, "codex": BY_FLAGS, "gemini": BY_ENVIRONMENT,
              "opencode": "through its environment: context monitor, command policy. It can't be kept from stopping"}


@pytest.fixture
def guarded(agent):
    """The agent in a folder in which it believes the file with its hooks: gemini does where nobody but root may write."""
    if agent.name != "gemini":
        yield agent
        return
    if os.geteuid() != 0:
        pytest.skip("gemini believes only root's files")
    base = Path(tempfile.mkdtemp(prefix="ralph-test-", dir="/var/lib"))
    moved = type(agent)(base, agent.kind)
    yield moved
    moved.clean_up()
    shutil.rmtree(base, ignore_errors=True)


@pytest.mark.only("claude", "codex", "gemini", "opencode")
def test_the_command_policy_holds_in_a_plan_run_and_the_users_files_stay(guarded):
    agent = guarded
    plan = Plan(agent, "A greeting")
    plan.expect("implement", "US-001", agent.shell("sudo -n true; touch made"), agent.write("greet.sh", "echo hello\n"),
                plan.rewrite("US-001", **SUBMITTED), plan.commit("feat: [US-001] - A greeting"), agent.says("It greets."))
    result = plan.run("-n", "1")
    assert not (agent.path / "made").exists() and result.code == 1, result
    assert f"For this run {agent.name} gets ralph's hooks {GETS_HOOKS[agent.name]}" in result.out, result
    assert [record["outcome"] for record in agent.records("plan_checked") if record["iteration"]] == ["submitted"]
    assert "Denied by ralph" in agent.asked(1), "the model is told why"
    assert not [name for name in (".claude", ".codex", ".gemini", ".opencode") if (agent.path / name).exists()]
    for path in [*agent.home.rglob("*.json"), *agent.home.rglob("*.toml")]:  # the CLIs keep notes of their own there
        assert "hooks pre-tool" not in path.read_text(errors="replace"), path


@pytest.mark.only("gemini")
def test_gemini_is_kept_at_work_by_the_stop_check(guarded):
    agent = guarded
    plan = Plan(agent, "A greeting")
    plan.expect("implement", "US-001", agent.write("greet.sh", "echo hello\n"), plan.rewrite("US-001", **SUBMITTED),
                agent.says("Done."), plan.commit("feat: [US-001] - A greeting"), agent.says("Done and committed."))
    result = plan.run("-n", "1")
    assert "There are uncommitted changes" in said_by_hook(agent.asked(3)), result
    assert plan.checked("outcome") == ["submitted"] and plan.checked("violations") == [[]]


@pytest.mark.only("claude")
def test_a_model_that_does_not_listen_to_the_hook_gains_nothing(agent):
    plan = Plan(agent, "A greeting")
    # The CLI lets it go at the ninth attempt: no hook can guard anything alone.
    plan.expect("implement", "US-001", agent.write("greet.sh", "echo hello\n"), plan.edit("US-001", **APPROVED),
                plan.commit("feat: [US-001] - A greeting"), *[agent.says(f"It stays approved. {COMPLETE}")] * 9)
    plan.change("US-001", passes=False, reviewStatus=None, reviewCount=0)  # by ralph
    result = plan.run("-n", "1")
    assert result.code == 1 and agent.last("run_ended")["status"] == "limit", result
    assert len(plan.sessions()) == 1 and "Implement iterations cannot" in said_by_hook(plan.sessions()[0][-1])
    assert [len(violations) for violations in plan.checked("violations")] == [1]


def test_a_verdict_that_is_only_said_is_written_by_ralph(agent):
    plan = Plan(agent, "A greeting")
    plan.expect("implement", "US-001", agent.write("greet.sh", "echo hello\n"), plan.edit("US-001", **SUBMITTED),
                plan.commit("feat: [US-001] - A greeting"), agent.says("It greets."))
    plan.expect("review", "US-001", agent.shell("sh greet.sh"), agent.says("I tried it." + verdict("US-001")))
    plan.change("US-001", **APPROVED)  # by ralph
    plan.completes()
    assert plan.checked("outcome") == ["submitted", "approved"]
    assert plan.commits()[-1] == "ralph: US-001 approved"


def test_a_verdict_that_is_only_written_does_not_count(agent):
    plan = Plan(agent, "A greeting")
    plan.expect("implement", "US-001", agent.write("greet.sh", "echo hello\n"), plan.edit("US-001", **SUBMITTED),
                plan.commit("feat: [US-001] - A greeting"), agent.says("It greets."))
    for _ in range(2):
        plan.expect("review", "US-001", plan.edit("US-001", **APPROVED), plan.commit("review: [US-001] - approved"),
                    agent.says(COMPLETE))
        plan.change("US-001", **SUBMITTED)  # by ralph
    result = plan.run()
    assert result.code == 1 and '<review story="US-001">approved</review>' in result.text, result
    assert plan.checked("outcome") == ["submitted", "", ""]


def test_a_stop_hook_that_was_planted_is_gone_before_the_review(agent):
    """Seen for real: a Stop hook in the project's settings ran in the reviewer's session and flipped its verdict."""
    path = {"claude": ".claude/settings.local.json", "codex": ".codex/hooks.json"}[agent.name]
    ran = agent.path.parent / "ran"
    hooks = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": f"echo $RALPH_ITERATION >> {ran}"}]}]}}
    plan = Plan(agent, "A greeting")
    plan.expect("implement", "US-001", agent.write("greet.sh", "echo hello\n"), plan.edit("US-001", **SUBMITTED),
                # The command policy would deny the line itself.
                agent.write("plant.sh", f"mkdir -p $(dirname {path})\necho {shlex.quote(json.dumps(hooks))} > {path}\n"),
                agent.shell("sh plant.sh"),
                plan.commit("feat: [US-001] - A greeting"), agent.says("It greets."))
    plan.expect("review", "US-001", plan.edit("US-001", **APPROVED), plan.commit("review: [US-001] - approved"),
                agent.says("Fine." + verdict("US-001") + COMPLETE))
    plan.completes()
    assert not (agent.path / path).exists()
    assert not ran.exists() or "2" not in ran.read_text().split()
    assert [f["path"] for r in agent.records("triggers_changed") for f in r["files"]] == [path]
