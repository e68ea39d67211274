"""For tests of the sandbox: whether there can be one here, and a project of an ordinary user."""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from support import SANITIZED, Project

USER = 1000  # any that is not root


def no_sandbox():
    """Why there can be no sandbox here; nothing if there can."""
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed"
    done = subprocess.run(["bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"], capture_output=True, text=True)
    return done.stderr.strip() if done.returncode else None


# On the sanitized build too, the proxy is tested (test_sandbox_proxy.py); what is inside a sandbox is not: a sanitizer reserves terabytes of
# addresses, which the limits of a sandbox do not grant.
NEEDS_SANDBOX = [pytest.mark.skipif(bool(no_sandbox()), reason=str(no_sandbox())),
                 pytest.mark.skipif(SANITIZED, reason="a sanitizer's memory does not fit into a sandbox's limits")]


class UserProject(Project):
    """A project of an ordinary user, whoever runs the tests."""

    def start(self, *arguments, **how):
        if os.geteuid() == 0:
            for path in (self.base, *self.base.rglob("*")):
                os.chown(path, USER, USER, follow_symlinks=False)
            how = {"user": USER, "group": USER, "extra_groups": [], **how}
        return super().start(*arguments, **how)


def projects(kind):
    """A fresh project of root's or of an ordinary user's, removed afterwards."""
    if kind == "root" and os.geteuid() != 0:
        pytest.skip("only root can be root")
    base = Path(tempfile.mkdtemp(prefix="ralph-sandbox-"))
    base.chmod(0o755)
    fresh = (Project if kind == "root" else UserProject)(base)
    yield fresh
    fresh.clean_up()
    shutil.rmtree(base, ignore_errors=True)
