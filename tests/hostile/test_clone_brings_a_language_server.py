"""A clone brings programs with the names of language servers, in the places where a project keeps its tools."""
import json
import os

import pytest

from check_support import path_with, write
from session_support import Session

PLACES = ["node_modules/.bin/clangd", ".venv/bin/clangd", "venv/bin/clangd"]


@pytest.mark.parametrize("place", PLACES)
def test_it_is_not_started_before_the_project_is_accepted(project, place):
    write(project, place, f'#!/bin/sh\ntouch "{project.base}/ran"\n', 0o755)
    write(project, "compile_commands.json", json.dumps([{"directory": str(project.path), "file": "a.c", "arguments": ["gcc", "-c", "a.c"]}]))
    write(project, "a.c", "int x;\n")
    env = {"PATH": path_with(project)}
    refused = project.run("lsp", "start", env=env)
    assert refused.code == 2 and "ralph trust" in refused.err, refused
    report = json.loads(project.run("check", "--json", "--only", "clangd", env=env).out)
    assert report["collectors"][0]["status"] == "failed" and "ralph trust" in report["collectors"][0]["reason"]
    session = Session(project)
    session.env = env
    told = session.hook("post-tool-lsp", session.payload("tool", tool_use_id="t", tool_name="Edit",
                                                         tool_input={"file_path": str(project.path / "a.c")}))
    assert told.code == 0 and not told.out, told
    assert not os.path.exists(project.base / "ran")
    assert not list(project.home.rglob("lsp.sock"))


def test_a_path_that_leads_into_the_project_does_not_help(project):
    write(project, "bin/clangd", f'#!/bin/sh\ntouch "{project.base}/ran"\n', 0o755)
    write(project, "a.c", "int x;\n")
    for path in (str(project.path / "bin"), "bin", "./bin"):
        result = project.run("lsp", "start", "clangd", env={"PATH": f"{path}:/usr/bin:/bin"})
        # A relative entry may not be looked at: then another clangd is found, or none.
        project.run("lsp", "stop")
        assert not os.path.exists(project.base / "ran"), result
