"""A worker that upgrades the package of the agent that comes after it: all of it is put back, or nothing."""
import json
import os

MAIN = "#!/bin/sh\nhere=$(dirname \"$(readlink -f \"$0\")\")\n. \"$here/lib/part.sh\"\n. \"$here/../../helper/part.sh\"\n"
TURN = """if [ -e went ]; then echo '<response>DONE</response>'; else touch went; echo working; fi
"""


def install(project, large=False):
    modules = project.path / "node_modules"
    package = modules / "@x/agent"
    (package / "lib").mkdir(parents=True)
    (modules / "helper").mkdir()
    (modules / ".bin").mkdir()
    (package / "package.json").write_text(json.dumps({"name": "@x/agent", "version": "1.0.0", "dependencies": {"helper": "1"}}))
    (package / "run.sh").write_text(MAIN)
    (package / "run.sh").chmod(0o755)
    (package / "lib/part.sh").write_text(TURN + UPGRADE)
    (package / "old.sh").write_text("old")
    (modules / "helper/part.sh").write_text("version=1\n")
    if large:
        with open(package / "large.bin", "wb") as file:
            file.truncate(65 << 20)
    os.symlink("../@x/agent/run.sh", modules / ".bin/agent")
    project.settings({"agent": {"command": "node_modules/.bin/agent"}})
    return modules


UPGRADE = r"""if [ ! -e upgraded ]; then touch upgraded; m=node_modules
rm -rf $m/@x/agent $m/helper; mkdir -p $m/@x/agent/bin $m/helper
printf '#!/bin/sh\ntouch evil\n' > $m/@x/agent/bin/new.sh; chmod +x $m/@x/agent/bin/new.sh
echo 'version=2' > $m/helper/part.sh; ln -sf ../@x/agent/bin/new.sh $m/.bin/agent; fi
"""


def snapshot(modules):
    return {str(p.relative_to(modules)): os.readlink(p) if p.is_symlink() else p.read_bytes()
            for p in modules.rglob("*") if p.is_symlink() or p.is_file()}


def test_all_of_the_package_is_put_back(project, whoever):
    modules = install(project)
    before = snapshot(modules)
    result = project.run("run", "-p", "do it", "-m", "3", **whoever())
    assert result.code == 0, result
    assert snapshot(modules) == before and not (project.path / "evil").exists()
    assert os.access(modules / "@x/agent/run.sh", os.X_OK)
    assert "node_modules/.bin/agent was changed and put back: 7 files of its package; it is an agent's program" in result.out
    kept = project.run_folder() / project.records("triggers_changed")[0]["files"][0]["kept"]
    assert (kept / "node_modules/@x/agent/bin/new.sh").exists()


def test_installing_the_same_again_is_no_change(project):
    install(project)
    modules = project.path / "node_modules"
    part = modules / "@x/agent/lib/part.sh"
    part.write_text(TURN + "cp -r node_modules copy; rm -rf node_modules; mv copy node_modules\n")
    result = project.run("run", "-p", "do it", "-m", "3")
    assert result.code == 0 and not project.records("triggers_changed"), result


def test_what_is_too_large_for_a_copy_is_told_and_not_half_put_back(project):
    modules = install(project, large=True)
    result = project.run("run", "-p", "do it", "-m", "1")
    assert result.code == 1, result
    assert "none of its 8 changed files was restored; reinstall the original" in result.out
    assert not (modules / "@x/agent/run.sh").exists() and (modules / "@x/agent/bin/new.sh").exists()
