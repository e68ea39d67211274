#!/usr/bin/env python3
"""Plays `docker sandbox` (or `sbx`, by its name): a "virtual machine" is a folder, with one-way synchronisation of files.

    ls · create --name NAME TEMPLATE WORKSPACE [EXTRA] · exec [-i] [-u U] [-w DIR] [-e N=V] NAME COMMAND…
    run NAME -- ARGUMENTS… · stop NAME · rm [--force] NAME · network proxy NAME --policy P --allow-host H…
    policy allow|deny network --sandbox NAME HOSTS · policy check network --sandbox NAME --json HOST:PORT

Every call is recorded in $FAKE_VM/calls.jsonl. A machine starts with a copy of the host's files. Files that the host
overwrites later are ignored until a restart copies the host's files again. Files written inside are copied to the host
when a command has ended, or, with $FAKE_LAG, when the test says `carry NAME`. $FAKE_AGENT is the agent of the template.
Inside, `curl HOST` succeeds if the machine's network rules allow it; new rules add to the existing ones. $FAKE_PRESET is
the policy of sbx for all machines, "deny-all" by default, and each machine of sbx may reach kit.example.com, as if by the
rules of its template. $FAKE_SLOW names a file that `create` creates before it hangs for minutes. bubblewrap shows each
machine's own files at the host's paths.
"""
import contextlib
import fcntl
import filecmp
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(os.environ["FAKE_VM"])
HIDDEN = os.environ["FAKE_HIDDEN"]  # a host folder that machines do not have: that of ralph's own program
CURL = """#!/bin/sh
while read -r rule; do [ "$rule" = "$1" ] && { echo "reached $1"; exit 0; }; done < /etc/allowed
echo "curl: (56) blocked by network policy: $1" >&2; exit 56
"""


class Machine:
    def __init__(self, name):
        self.folder = ROOT / name
        self.meta_path = self.folder / "meta.json"

    @property
    def meta(self):
        return json.loads(self.meta_path.read_text())

    def save(self, **changes):
        self.meta_path.write_text(json.dumps({**(self.meta if self.meta_path.exists() else {}), **changes}))

    def create(self, template, workspaces):
        for name in ("project", "home", "etc", "bin", "hidden", "rest"):
            (self.folder / name).mkdir(parents=True)
        for name in ("ld.so.cache", "nsswitch.conf", "group"):
            if Path("/etc", name).exists():
                shutil.copy(Path("/etc", name), self.folder / "etc" / name)
        (self.folder / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\nagent:x:0:0::/home/agent:/bin/sh\n")
        (self.folder / "etc/group").write_text("root:x:0:\nagent:x:0:\n")
        (self.folder / "etc/allowed").write_text("")
        (self.folder / "bin/curl").write_text(CURL)
        (self.folder / "bin/curl").chmod(0o755)
        (self.folder / "bin" / template).symlink_to(os.environ["FAKE_AGENT"])
        self.save(template=template, workspaces=workspaces, running=False, policy=None)

    def allow(self, hosts):
        with open(self.folder / "etc/allowed", "a") as allowed:
            allowed.write("".join(host + "\n" for host in hosts))

    def reaches(self, host):
        """According to the rules of sbx."""
        if self.meta["policy"] == "deny":
            return False
        allowed = (self.folder / "etc/allowed").read_text().split()
        preset = {"allow-all": True, "balanced": host == "github.com"}.get(os.environ.get("FAKE_PRESET"), False)
        return preset or host in allowed or "**" in allowed

    @contextlib.contextmanager
    def syncing(self):
        """The recorded state of the files inside, from when they last matched the host's. One user at a time."""
        with open(self.folder / "sync.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            state = self.folder / "synced.json"
            synced = json.loads(state.read_text()) if state.exists() else {}
            yield synced
            state.write_text(json.dumps(synced))

    def start(self):
        """Starts with a copy of the host's current files."""
        with self.syncing() as synced:
            if self.meta["running"]:
                return
            inside = self.folder / "project"
            shutil.rmtree(inside)
            shutil.copytree(self.meta["workspaces"][0], inside, symlinks=True, ignore=not_plain)
            self.save(running=True)
            synced.clear()
            synced.update(self.files())

    def take_new_files(self):
        """Copies new files from the host; existing ones are not updated."""
        host, inside = Path(self.meta["workspaces"][0]), self.folder / "project"
        with self.syncing() as synced:
            for path in host.rglob("*"):
                name = str(path.relative_to(host))
                if path.is_file() and not path.is_symlink() and name not in synced and not os.path.lexists(inside / name):
                    (inside / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(path, inside / name)
                    synced[name] = stamp(inside / name)

    def files(self):
        inside = self.folder / "project"
        return {str(p.relative_to(inside)): stamp(p) for p in inside.rglob("*") if p.is_symlink() or p.is_file()}

    def carry_to_host(self):
        host, inside = Path(self.meta["workspaces"][0]), self.folder / "project"
        with self.syncing() as synced:
            now = self.files()
            for name in sorted(now):
                source, target = inside / name, host / name
                if now[name] == synced.get(name):
                    continue
                if target.is_file() and not source.is_symlink() and not target.is_symlink() and filecmp.cmp(source, target, False):
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                if os.path.lexists(target):
                    target.unlink()
                shutil.copy2(source, target, follow_symlinks=False)
            for name in synced.keys() - now.keys():
                if os.path.lexists(host / name):
                    (host / name).unlink()
            synced.clear()
            synced.update(now)

    def stop(self):
        """Kills everything that runs in it."""
        self.save(running=False)
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and f"FAKE_MACHINE={self.folder}\0".encode() in (entry / "environ").read_bytes():
                    os.kill(int(entry.name), signal.SIGKILL)

    def do(self, command, user="agent", folder=None, variables=()):
        self.start()
        self.take_new_files()
        project, *extra = self.meta["workspaces"]
        words = ["bwrap", "--unshare-user", "--uid", "0", "--gid", "0", "--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev",
                 "--tmpfs", "/home", "--bind", self.folder / "home", "/home/agent", "--bind", self.folder / "etc", "/etc",
                 "--bind", self.folder / "rest", Path(project).parent, "--bind", self.folder / "hidden", HIDDEN,
                 "--bind", self.folder / "project", project]
        for path in (*extra, os.environ["FAKE_AGENT"], *filter(None, [os.environ.get("FAKE_MORE")])):
            words += ["--bind", path, path]
        words += ["--chdir", folder or project, "--clearenv", "--setenv", "HOME", "/home/agent" if user == "agent" else "/root",
                  "--setenv", "PATH", f"{self.folder}/bin:/usr/local/bin:/usr/bin:/bin", "--bind", self.folder / "bin", self.folder / "bin"]
        for pair in (*variables, f"FAKE_MACHINE={self.folder}"):
            words += ["--setenv", *pair.split("=", 1)]
        if os.environ.get("RALPH_TEST_MARKER"):
            words += ["--setenv", "RALPH_TEST_MARKER", os.environ["RALPH_TEST_MARKER"]]
        code = subprocess.run([*map(str, words), "--", *command]).returncode
        if os.environ.get("FAKE_LAG"):
            (self.folder / "pending").touch()
        else:
            self.carry_to_host()
        return code

    def carry_pending(self):
        (self.folder / "pending").unlink()
        self.carry_to_host()


def stamp(path):
    info = path.lstat()
    return [info.st_mtime_ns, info.st_size, info.st_ino]


def not_plain(folder, names):
    """Sockets and pipes are not copied."""
    return [name for name in names if not (p := Path(folder, name)).is_symlink() and not p.is_dir() and not p.is_file()]


def options_of(words, with_value, flags=()):
    """The leading options, and the rest."""
    found = []
    while words and words[0].startswith("-"):
        name = words.pop(0)
        if name in flags:
            found.append((name, ""))
        elif name in with_value:
            found.append((name, words.pop(0)))
        else:
            sys.exit(f"unknown flag: {name}")
    return found, words


def main(words):
    if Path(sys.argv[0]).name == "docker":
        if words[:1] != ["sandbox"] or os.environ.get("FAKE_NO_SANDBOX"):
            sys.exit(f"docker: '{' '.join(words[:1])}' is not a docker command.")
        words = words[1:]
    sbx = Path(sys.argv[0]).name == "sbx"
    ROOT.mkdir(exist_ok=True)
    with open(ROOT / "calls.jsonl", "a") as log:
        log.write(json.dumps([Path(sys.argv[0]).name, *words]) + "\n")
    verb, words = words[0], words[1:]
    if verb == "ls":
        print("SANDBOX  AGENT  STATUS")
        for meta in sorted(ROOT.glob("*/meta.json")):
            print(f"{meta.parent.name}  claude  running")
        return 0
    if verb == "create":
        options, (template, *workspaces) = options_of(words, ("--name",))
        name = dict(options)["--name"]
        if slow := os.environ.get("FAKE_SLOW"):
            Path(slow).touch()
            time.sleep(600)
        if sbx and "_" in name:
            sys.exit(f"invalid sandbox name {name}: letters, numbers, hyphens and periods only")
        if Machine(name).meta_path.exists():
            sys.exit(f"sandbox {name} already exists")
        Machine(name).create(template, workspaces)
        if sbx:
            Machine(name).allow(["kit.example.com"])
        return 0
    if verb == "network":
        assert words[0] == "proxy", words
        rules = words[2:]
        machine = Machine(words[1])
        machine.save(policy=rules[rules.index("--policy") + 1])
        machine.allow([rules[i + 1] for i, word in enumerate(rules) if word == "--allow-host"])
        return 0
    if verb == "policy":
        assert sbx and words[1:3] == ["network", "--sandbox"], words
        machine = Machine(words[3])
        if words[0] == "check":
            if os.environ.get("FAKE_OLD"):
                sys.exit("unknown command \"check\" for \"sbx policy\"")
            assert words[4] == "--json", words
            reached = machine.reaches(words[5].removesuffix(":443"))
            print(json.dumps({"allowed": reached}))
            return 0 if reached else 1
        if words[0] == "deny":
            assert words[4:] == ["**"], words
            machine.save(policy="deny")
            (machine.folder / "etc/allowed").write_text("")
        else:
            machine.allow(words[4].split(","))
        return 0
    if verb == "exec":
        options, (name, *command) = options_of(words, ("-u", "-w", "-e"), ("-i",))
        chosen = dict(options)
        return Machine(name).do(command, chosen.get("-u", "agent"), chosen.get("-w"), [v for n, v in options if n == "-e"])
    if verb == "rm":
        assert words[:-1] == (["--force"] if sbx else []), words
        shutil.rmtree(Machine(words[-1]).folder)
        return 0
    machine = Machine(words[0])
    if verb == "run":
        assert words[1] == "--", words
        script = '[ ! -f /etc/sandbox-persistent.sh ] || . /etc/sandbox-persistent.sh; exec "$0" "$@"'
        return machine.do(["sh", "-c", script, os.environ["FAKE_AGENT"], *words[2:]])
    if verb == "carry":
        machine.carry_pending()
        return 0
    if verb == "stop":
        machine.stop()
        return 0
    sys.exit(f"unknown command {verb}")


sys.exit(main(sys.argv[1:]))
