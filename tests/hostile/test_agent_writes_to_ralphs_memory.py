"""An agent of the same user opens the memory of the loop and of the guardian through /proc, and attaches to them."""
from support import ordinary_user

AGENT = r"""
import os
found = []
pid = os.getpid()
while pid > 1:
    stat = open(f"/proc/{pid}/stat").read()
    name, parent = stat[stat.index("(") + 1:stat.rindex(")")], int(stat[stat.rindex(")") + 2:].split()[1])
    if name in ("loop", "ralph"):
        for file in ("mem", "environ", "maps"):
            try:
                open(f"/proc/{pid}/{file}", "rb+" if file == "mem" else "rb").close()
                found.append(f"{name}/{file}")
            except OSError:
                pass
        found.append(name)
    pid = parent
open("../found", "w").write(" ".join(found))
print("<response>DONE</response>")
"""


def test_it_can_open_neither(project):
    project.python_agent(AGENT)
    how = ordinary_user(project, project.base, *project.base.rglob("*"))
    assert project.run("run", "-p", "x", **how).code == 0
    assert (project.base / "found").read_text() == "loop ralph"
