#!/usr/bin/env python3
"""Whether types of one name are the same type in all object files of ralph: one_definition.py BUILD.

Two classes of one name in two files are no error for a compiler or a linker, and the program works only as long as
nothing of them is shared. g++ compares them when it links with -flto -Wodr. This runs just the stage of that link which
compares (lto1 -fwpa), on objects that hold what it needs beside their code (-ffat-lto-objects), and first with one
more that must be refused.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

# A type of ours, otherwise.
CLASH = "namespace ralph { struct Decision { int other; int get(); }; int Decision::get() { return other; } }\n"


def output_of(*command, **how):
    return subprocess.run(command, check=True, capture_output=True, text=True, **how).stdout


def objects_of_ralph(build):
    paths = [build / line for line in output_of("ninja", "-C", build, "-t", "inputs", "ralph").splitlines() if line.endswith(".o")]
    without = [str(path) for path in paths if b".gnu.lto_" not in path.read_bytes()]
    if without or not paths:
        sys.exit(f"these were not compiled with -flto: {without}" if paths else f"{build} has no object files of ralph")
    return paths


def complaints_about(objects, scratch):
    """What g++ says; empty if nothing."""
    (scratch / "objects").write_text("".join(f'"{path}"\n' for path in objects))
    command = [output_of("g++", "-print-prog-name=lto1").strip(), "-quiet", "-O0", "-fwpa", "-flto-partition=one",
               f"-fltrans-output-list={scratch}/parts", "-Wodr", "-Werror=odr", f"@{scratch}/objects"]
    ended = subprocess.run(command, cwd=scratch, capture_output=True, text=True)
    return "" if ended.returncode == 0 else ended.stdout + ended.stderr or f"{command[0]} failed"


def main():
    objects = objects_of_ralph(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        (scratch / "clash.cc").write_text(CLASH)
        output_of("g++", "-O2", "-flto", "-ffat-lto-objects", "-c", "clash.cc", cwd=scratch)
        found = complaints_about([*objects, scratch / "clash.o"], scratch)
        if "struct Decision" not in found or "-Werror=odr" not in found:
            sys.exit(f"two types of one name were not seen; g++ said: {found or 'nothing'}")
        found = complaints_about(objects, scratch)
    if found:
        sys.exit(found)
    print(f"{len(objects)} object files agree about their types")


if __name__ == "__main__":
    main()
