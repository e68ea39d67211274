"""Settings files: precise errors, layers, where values came from, and the schema that is shipped."""
import json

import pytest

DONE = 'echo "<response>DONE</response>"'
BASE, LOCAL = "settings.json", "settings.local.json"


def write(project, text, name=BASE):
    project.ralph.mkdir(exist_ok=True)
    (project.ralph / name).write_bytes(text.encode() if isinstance(text, str) else text)


def verdict(project, text, name=BASE):
    """What ralph says of a settings file: nothing if it is good."""
    write(project, text, name)
    before = {p: p.read_bytes() for p in project.path.rglob("*") if p.is_file()}
    result = project.run("settings", "show")
    assert {p: p.read_bytes() for p in project.path.rglob("*") if p.is_file()} == before
    assert result.code in (0, 2), result
    if result.code == 0:
        assert result.err == "", result
        return None
    assert result.out == "" and result.err.startswith("ralph: "), result
    return result.err


def effective(project, *arguments):
    """(settings, origins, files) as ralph sees them."""
    result = project.run("settings", "show", "--json", *arguments)
    assert result.code == 0, result
    document = json.loads(result.out)
    return document["settings"], document["origins"], document["files"]


# Broken JSON


@pytest.mark.parametrize("name", [BASE, LOCAL])
@pytest.mark.parametrize("text, place", [
    ("", "1:1"), ("{", "1:2"), ('{"a" 1}', "1:6"), ('{\n  "maximumIterations": 3,\n}', "2:25"), ('{\n"a": tru\n}', "2:6"),
    ("{'a': 1}", "1:2"), ('{"completionResponse": "x\n"}', "1:24"), ("// note\n{}", "1:1"), ("{} {}", "1:4"),
    ('{"maximumIterations": 01}', "1:23"), ('{"maximumIterations": NaN}', "1:23"), ('{"completionResponse": "\\x"}', "1:25"),
    (b'{"completionResponse": "\xff"}', "1:25")])
def test_broken_json_is_named_at_its_very_character(project, name, text, place):
    project.settings({"agent": {"command": "true"}})
    message = verdict(project, text, name)
    assert message and f".ralph/{name}:{place}: " in message


def test_broken_json_stops_a_run_before_anything_is_written(project):
    project.agent_script("touch agent-ran; " + DONE)
    write(project, "{ nonsense", LOCAL)
    result = project.run("run", "-p", "x")
    assert result.code == 2 and "settings.local.json:1:3" in result.err, result
    assert sorted(p.name for p in project.ralph.iterdir()) == [BASE, LOCAL]
    assert not (project.path / "agent-ran").exists()


@pytest.mark.parametrize("text", ["[]", "3", '"x"', "null", "true"])
def test_a_file_that_is_no_object_is_refused(project, text):
    message = verdict(project, text)
    assert f".ralph/{BASE}:1:1" in message and "object" in message


def test_a_byte_order_mark_is_accepted(project):
    assert verdict(project, b'\xef\xbb\xbf{"maximumIterations": 3}') is None
    assert effective(project)[0]["maximumIterations"] == 3
    assert f"{BASE}:2:22" in verdict(project, b'\xef\xbb\xbf{\n"maximumIterations": 0}')


def test_windows_line_ends_are_accepted_and_counted_right(project):
    assert verdict(project, '{\r\n"maximumIterations": 3\r\n}\r\n') is None
    assert f"{BASE}:2:22" in verdict(project, '{\r\n"maximumIterations": 0\r\n}\r\n')


def test_columns_count_characters_not_bytes(project):
    assert f"{BASE}:1:51" in verdict(project, '{"completionResponse": "é✔", "maximumIterations": 0}')


def test_a_key_that_stands_twice_is_refused(project):
    message = verdict(project, '{\n"maximumIterations": 3,\n"maximumIterations": 4\n}')
    assert f"{BASE}:3:1" in message and "maximumIterations" in message


def test_absurd_nesting_is_refused(project):
    assert BASE in verdict(project, '{"agent":' * 100000)
    assert BASE in verdict(project, "[" * 100000)


# Wrong values


WRONG = [
    ('{"maximumIterations": "x"}', "1:23", 'maximumIterations: expected a whole number of at least 1, found "x" (a string)'),
    ('{"maximumIterations": 0}', "1:23", "maximumIterations: "),
    ('{"maximumIterations": -3}', "1:23", "maximumIterations: "),
    ('{"maximumIterations": 1.5}', "1:23", "maximumIterations: "),
    ('{"maximumIterations": null}', "1:23", "maximumIterations: "),
    ('{"maximumIterations": 1000001}', "1:23", "maximumIterations: "),
    ('{"completionResponse": ""}', "1:24", "completionResponse: "),
    ('{"completionResponse": 3}', "1:24", "completionResponse: expected a string"),
    ('{"streamAgentOutput": "yes"}', "1:23", "streamAgentOutput: expected true or false"),
    ('{"agent": "claude"}', "1:11", "agent: expected an object"),
    ('{"agent": {"command": ["claude"]}}', "1:23", "agent.command: expected a string"),
    ('{"agent": {"command": " "}}', "1:23", "agent.command: expected the name or path of a program"),
    ('{"agent": {"flags": "--model opus"}}', "1:21", "agent.flags: expected a list"),
    ('{"agent": {"flags": ["--a", 3]}}', "1:29", "agent.flags[1]: expected a string"),
    ('{"agent": {"flags": ["--a \'b"]}}', "1:22", "agent.flags[0]: unclosed"),
    ('{"agent": {"promptVia": "pipe"}}', "1:25", "agent.promptVia: "),
    ('{"agent": {"env": {"A B": "x"}}}', "1:20", "agent.env: "),
    ('{"agent": {"env": {"A": 3}}}', "1:25", "agent.env.A: expected a string"),
    ('{"agent": {"timeoutSeconds": -1}}', "1:30", "agent.timeoutSeconds: "),
    ('{"agent": {"retry": {"attempts": 1.5}}}', "1:34", "agent.retry.attempts: "),
    ('{"guardrails": {}}', "1:16", "guardrails: expected a list"),
    ('{"guardrails": ["make"]}', "1:17", "guardrails[0]: expected an object"),
    ('{"guardrails": [{"command": "x", "failAction": "IGNORE"}]}', "1:48", "guardrails[0].failAction: "),
    ('{"guardrails": [{"failAction": "APPEND"}]}', "1:17", "command"),
    ('{"guardrails": [{"command": "  "}]}', "1:29", "guardrails[0].command: "),
    ('{"scm": {"tasks": ["commit"]}}', "1:9", "command"),
    ('{"scm": "git"}', "1:9", "scm: expected an object {...} or null"),
    ('{"scm": {"command": "git", "tasks": "commit"}}', "1:37", "scm.tasks: expected a list"),
    ('{"budget": {"maxMinutes": "10"}}', "1:27", "budget.maxMinutes: expected a number"),
    ('{"agent": {"command": "a\\u0000b"}}', "1:23", "NUL"),
]


@pytest.mark.parametrize("text, place, message", WRONG, ids=[w[0] for w in WRONG])
@pytest.mark.parametrize("name", [BASE, LOCAL])
def test_a_wrong_value_names_file_place_path_and_what_was_expected(project, name, text, place, message):
    said = verdict(project, text, name)
    assert said and f".ralph/{name}:{place}: " in said and message in said, said


def test_all_problems_of_a_file_are_listed_in_order(project):
    said = verdict(project, '{\n"maximumIterations": 0,\n"streamAgentOutput": 1,\n"agent": {"comand": "x"}\n}')
    places = [line.split(": ")[0].removeprefix("ralph: ") for line in said.replace("ralph: ", "").splitlines()]
    assert places == [f".ralph/{BASE}:2:22", f".ralph/{BASE}:3:22", f".ralph/{BASE}:4:11"], said


def test_values_of_the_environment_are_never_repeated_in_messages(project):
    said = verdict(project, '{"agent": {"env": {"API_KEY": ["hunter2-secret"], "TOKEN": 12345678901}}}')
    assert "hunter2" not in said and "12345678901" not in said


# Unknown keys


@pytest.mark.parametrize("text, place, unknown, near", [
    ('{"maximumIteration": 3}', "1:2", "maximumIteration", "maximumIterations"),
    ('{"gaurdrails": []}', "1:2", "gaurdrails", "guardrails"),
    ('{"agent": {"comand": "x"}}', "1:12", "comand", "command"),
    ('{"agent": {"retry": {"attempt": 1}}}', "1:22", "attempt", "attempts"),
    ('{"guardrails": [{"command": "x", "failaction": "APPEND"}]}', "1:34", "failaction", "failAction"),
    ('{"scm": {"command": "git", "task": []}}', "1:28", "task", "tasks"),
    ('{"budget": {"maxMinute": 3}}', "1:13", "maxMinute", "maxMinutes")])
def test_an_unknown_key_is_refused_with_the_nearest_name(project, text, place, unknown, near):
    said = verdict(project, text)
    assert f".ralph/{BASE}:{place}: " in said and f'unknown key "{unknown}"; did you mean "{near}"?' in said


def test_an_unknown_key_with_no_near_name_is_refused_all_the_same(project):
    said = verdict(project, '{"frobnicate": 1}')
    assert 'unknown key "frobnicate"' in said and "did you mean" not in said


def test_the_schema_key_for_editors_is_accepted_and_has_no_effect(project):
    assert verdict(project, '{"$schema": "./settings.schema.json", "maximumIterations": 4}') is None
    settings, origins, _ = effective(project)
    assert settings["maximumIterations"] == 4 and "$schema" not in settings and "/$schema" not in origins


# Files that cannot be read


@pytest.mark.parametrize("name", [BASE, LOCAL])
def test_a_settings_file_that_is_a_folder_a_pipe_or_a_dead_link_is_an_error(project, name):
    import os
    project.ralph.mkdir()
    path = project.ralph / name
    for make in (path.mkdir, lambda: os.mkfifo(path), lambda: path.symlink_to("nowhere")):
        make()
        result = project.run("settings", "show", timeout=10)
        assert result.code == 2 and name in result.err, result
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


def test_a_link_to_a_good_file_is_followed(project):
    (project.base / "shared.json").write_text('{"maximumIterations": 7}')
    project.ralph.mkdir()
    (project.ralph / BASE).symlink_to(project.base / "shared.json")
    assert effective(project)[0]["maximumIterations"] == 7


# Layers


def test_defaults_are_those_of_the_seed(project):
    settings, origins, files = effective(project)
    assert {k: settings[k] for k in ("maximumIterations", "completionResponse", "outputTruncateChars", "streamAgentOutput",
                                     "includeIterationCountInPrompt", "guardrails")} == {
        "maximumIterations": 10, "completionResponse": "DONE", "outputTruncateChars": 5000, "streamAgentOutput": True,
        "includeIterationCountInPrompt": False, "guardrails": []}
    assert set(origins.values()) == {"default"} and files == []


def test_local_settings_merge_into_objects_and_replace_lists(project):
    write(project, json.dumps({"maximumIterations": 3, "agent": {"command": "claude", "flags": ["--model opus"], "env": {"A": "1", "B": "2"}},
                               "guardrails": [{"command": "one"}, {"command": "two"}], "scm": {"command": "git", "tasks": ["commit", "push"]}}))
    write(project, json.dumps({"agent": {"flags": ["--verbose"], "env": {"B": "3"}}, "guardrails": [{"command": "three"}],
                               "scm": {"tasks": []}}), LOCAL)
    settings, origins, files = effective(project)
    assert settings["agent"]["command"] == "claude" and settings["agent"]["flags"] == ["--verbose"]
    assert settings["agent"]["env"] == {"A": "1", "B": "3"}
    assert [g["command"] for g in settings["guardrails"]] == ["three"]
    assert settings["scm"]["command"] == "git" and settings["scm"]["tasks"] == []
    assert settings["maximumIterations"] == 3
    base, local = f".ralph/{BASE}", f".ralph/{LOCAL}"
    assert files == [base, local]
    assert origins["/agent/command"] == base and origins["/agent/flags"] == local
    assert origins["/agent/env/A"] == base and origins["/agent/env/B"] == local
    assert origins["/guardrails"] == local and origins["/guardrails/0/command"] == local
    assert origins["/guardrails/0/failAction"] == "default" and origins["/completionResponse"] == "default"


def test_null_in_the_local_file_turns_scm_off(project):
    write(project, '{"scm": {"command": "git", "tasks": ["commit"]}}')
    write(project, '{"scm": null}', LOCAL)
    assert effective(project)[0]["scm"] is None


def test_a_local_file_alone_works(project):
    agent = project.script(DONE, "agent")
    write(project, json.dumps({"agent": {"command": str(agent)}}), LOCAL)
    assert project.run("run", "-p", "x").code == 0


def test_flags_override_both_files(project):
    agent = project.script(DONE, "agent")
    write(project, json.dumps({"maximumIterations": 3, "completionResponse": "A", "streamAgentOutput": True, "agent": {"command": str(agent)}}))
    write(project, '{"maximumIterations": 4, "completionResponse": "B"}', LOCAL)
    result = project.run("run", "-p", "x", "-m", "5", "-c", "done", "--no-stream-agent-output", "--dry-run", "--json")
    settings = json.loads(result.out)["settings"]
    assert (settings["maximumIterations"], settings["completionResponse"], settings["streamAgentOutput"]) == (5, "done", False)


# Show


def test_show_prints_every_value_with_its_origin(project):
    write(project, '{"maximumIterations": 3, "agent": {"command": "claude"}, "guardrails": [{"command": "make test"}]}')
    write(project, '{"maximumIterations": 4}', LOCAL)
    rows = [line.split() for line in project.run("settings", "show").out.splitlines()]
    assert rows[0] == ["SETTING", "VALUE", "FROM"]
    assert ["maximumIterations", "4", f".ralph/{LOCAL}"] in rows
    assert ["agent.command", "claude", f".ralph/{BASE}"] in rows
    assert ["guardrails[0].command", "make", "test", f".ralph/{BASE}"] in rows
    assert ["completionResponse", "DONE", "default"] in rows


def test_show_without_settings_says_how_to_make_them(project):
    result = project.run("settings", "show")
    assert result.code == 0 and "ralph init" in result.out
    assert not project.ralph.exists()


def test_show_hides_secrets_and_terminal_codes(project):
    write(project, json.dumps({"agent": {"command": "a\x1b[2Jb", "env": {"API_KEY": "hunter2", "X": "ghp_" + "0123456789" * 4, "PLAIN": "seen"}}}))
    for arguments in ([], ["--json"]):
        result = project.run("settings", "show", *arguments)
        assert result.code == 0 and "hunter2" not in result.out and "ghp_" not in result.out and "seen" in result.out
        assert "\x1b" not in result.out


# The schema


def test_the_schema_is_valid_and_the_one_that_is_shipped(project):
    jsonschema = pytest.importorskip("jsonschema")
    from support import ROOT
    text = project.run("settings", "schema").out
    assert text == (ROOT / "schemas/settings.schema.json").read_text()
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


GOOD = [{}, {"$schema": "x"}, {"maximumIterations": 1}, {"maximumIterations": 10.0}, {"maximumIterations": 1000000},
        {"completionResponse": "ALL DONE"}, {"outputTruncateChars": 1}, {"streamAgentOutput": False},
        {"agent": {}}, {"agent": {"command": "x", "flags": []}}, {"agent": {"flags": ["--a b"]}}, {"agent": {"env": {"_A1": ""}}},
        {"agent": {"promptVia": "file"}}, {"agent": {"timeoutSeconds": 0.5}}, {"agent": {"retry": {"attempts": 0}}},
        {"guardrails": []}, {"guardrails": [{"command": "x"}]}, {"guardrails": [{"command": "x", "failAction": "append"}]},
        {"guardrails": [{"command": "x", "failAction": ""}]}, {"guardrails": [{"command": "x", "failAction": " "}]},
        {"guardrails": [{"command": "x", "failAction": "RePlAcE", "hint": "", "name": "", "timeoutSeconds": 0}]},
        {"scm": None}, {"scm": {"command": "git"}}, {"scm": {"command": "git", "tasks": ["commit"], "addAll": False}},
        {"plan": {}}, {"plan": {"maximumIterations": 1, "reviewCap": 1, "skipReview": True, "agents": {}}},
        {"plan": {"agents": {"implement": "claude", "review": "codex", "reviewFix": "./fix me.sh"}}},
        {"budget": {"maxMinutes": 0}}, {"budget": {"maxMinutes": 0.001}},
        {"output": {}}, {"output": {"emoji": "auto", "color": True, "maxToolLines": 0}}, {"output": {"emoji": False, "thinking": True}}]
BAD = [{"maximumIterations": v} for v in (0, -1, 1.5, "3", None, True, [], 1000001, 1e300)] + \
      [{"completionResponse": v} for v in ("", "  ", None, 3, False)] + \
      [{"outputTruncateChars": v} for v in (0, -5, "many", 1e9)] + \
      [{"streamAgentOutput": v} for v in (0, 1, "true", None)] + \
      [{"agent": v} for v in (None, [], "claude", {"command": ""}, {"command": None}, {"flags": [""]}, {"flags": None},
                              {"flags": [["a"]]}, {"env": {"1A": "x"}}, {"env": {"A": None}}, {"env": {"": "x"}}, {"env": []},
                              {"promptVia": "STDIN"}, {"promptVia": None}, {"timeoutSeconds": -0.1}, {"timeoutSeconds": "5"},
                              {"retry": {"attempts": -1}}, {"retry": 3}, {"retry": {"pause": 1}}, {"Command": "x"})] + \
      [{"guardrails": v} for v in (None, {}, [None], [{}], [{"command": ""}], [{"command": 3}], [{"hint": "x"}],
                                   [{"command": "x", "failAction": "DROP"}], [{"command": "x", "failAction": None}],
                                   [{"command": "x", "failAction": "APPEND "}], [{"command": "x", "timeoutSeconds": -1}],
                                   [{"command": "x", "nane": "y"}], [{"command": "x"}, 3])] + \
      [{"scm": v} for v in ({}, [], "git", {"command": ""}, {"command": "git", "tasks": "commit"}, {"command": "git", "tasks": [" "]},
                            {"command": "git", "addAll": "yes"}, {"command": "git", "extra": 1}, False)] + \
      [{"budget": v} for v in (None, {"maxMinutes": -1}, {"maxMinutes": "1"}, {"maxMinutes": 1e9}, {"minutes": 3})] + \
      [{"plan": v} for v in (None, [], {"maximumIterations": 0}, {"maximumIterations": "9"}, {"reviewCap": 0}, {"reviewCap": 1.5},
                             {"reviewCap": 1001}, {"skipReview": "yes"}, {"skip_review": True}, {"agents": {"review": ""}},
                             {"agents": {"review": None}}, {"agents": {"review-fix": "x"}}, {"agents": "claude"})] + \
      [{"output": v} for v in (None, {"emoji": "yes"}, {"color": 1}, {"maxToolLines": -1}, {"maxToolChars": "5"}, {"colour": True})] + \
      [{"unknown": 1}, {"Guardrails": []}, {"": 1}, [], 3, None]


def test_ralph_and_an_independent_validator_agree_on_good_and_bad_documents(project):
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(json.loads(project.run("settings", "schema").out))
    for expected, documents in ((True, GOOD), (False, BAD)):
        for document in documents:
            said = verdict(project, json.dumps(document))
            assert validator.is_valid(document) == expected, f"the schema is wrong about {document}"
            assert (said is None) == expected, f"ralph disagrees about {document}: {said}"
