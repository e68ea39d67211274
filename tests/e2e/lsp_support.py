"""A project with a language server that tests control: lsp_stand_in.py under the name of clangd."""
import json
import shutil
import sys
from pathlib import Path

from check_support import path_with, write
from session_support import Session

STAND_IN = Path(__file__).parent / "lsp_stand_in.py"


class Servers:
    """A C project whose clangd is the stand-in, on a PATH with little else."""

    def __init__(self, project, program=None, folder=None):
        self.project = project
        self.folder = folder or project.base / "server"  # what the stand-in goes by and notes; it writes here
        self.folder.mkdir()
        self.path = path_with(project)
        own = Path(self.path) / "lsp_stand_in.py"  # what is on PATH is seen in a sandbox too
        shutil.copyfile(STAND_IN, own)
        self.install(program or f'exec "{sys.executable}" -S "{own}" "{self.folder}"')
        write(project, "compile_commands.json", json.dumps([
            {"directory": str(project.path), "file": "a.c", "arguments": ["gcc", "-c", "a.c"]}]))
        self.say("int BAD;\n")

    def install(self, script, name="clangd"):
        (Path(self.path) / name).write_text(f"#!/bin/sh\n{script}\n")
        (Path(self.path) / name).chmod(0o755)

    def say(self, text, file="a.c"):
        write(self.project, file, text)

    def mode(self, mode):
        (self.folder / "mode").write_text(mode)

    def starts(self):
        """The processes of the server, in the order in which they were started."""
        log = self.folder / "starts"
        return [int(pid) for pid in log.read_text().split()] if log.exists() else []

    def lsp(self, *words, code=0, **env):
        result = self.project.run("lsp", *words, env={"PATH": self.path, **env})
        assert result.code == code, result
        return result

    def check(self, *words, **env):
        result = self.project.run("check", "--json", "--only", "clangd", *words, env={"PATH": self.path, **env}, timeout=120)
        report = json.loads(result.out)
        one, = report["collectors"]
        return result.code, one["status"], one["reason"], [(f["file"], f["line"], f["column"], f["rule"]) for f in report["findings"]]

    def after_edit(self, file="a.c", hook="post-tool-lsp"):
        session = Session(self.project)
        session.env = {"PATH": self.path}
        result = session.hook(hook, session.payload("tool", tool_use_id="t", tool_name="Edit",
                                                    tool_input={"file_path": str(self.project.path / file)}))
        assert result.code == 0, result
        return json.loads(result.out)["hookSpecificOutput"]["additionalContext"] if result.out else ""
