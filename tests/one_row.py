"""Finds names of agents and hook hosts outside their own files; include_direction.py runs it.

An agent is agents/<name>.cc and one row of agents/registry.h; a hook host is one row of hooks/host.h. Whatever needs all of
them reads these tables. So three things are faults anywhere else: a string that is such a name ("codex"), a string that
lists several ("codex or amp"), and a constant named after one (kCodex). One name in a sentence, as an example, is fine.
"""
import pathlib
import re
import tempfile

TABLES = {"agents/registry.h": r'ROW\(k\w+, "(\w+)"\)', "hooks/host.h": r'\.name = "(\w+)"'}

# file: why it may name them
ALLOWED = {
    "cli/init_dialogue.cc": "its question is that of seed 001, word for word",
    "session/transcript_line.cc": "\"gemini\" is a type of line in Gemini's transcripts",
}

TOKEN = re.compile(r'//[^\n]*|R"\((?P<raw>.*?)\)"|"(?P<text>(?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])+\'|(?P<word>\w+)', re.S)


def names_in(source):
    tables = [(source / file, row) for file, row in TABLES.items()]
    return sorted({name for file, row in tables if file.exists() for name in re.findall(row, file.read_text(encoding="utf-8"))})


def is_fault(token, names):
    name = "|".join(names)
    if token["word"]:
        return re.match(rf"k({'|'.join(n.capitalize() for n in names)})(?![a-z])", token["word"])
    text = token["raw"] or token["text"] or ""
    return text in names or re.search(rf"\b({name})(\||/|,? (?:or |and )?)({name})\b", text)


def faults_in(source):
    """One line per fault below the folder `source`, as "file:line: why"."""
    names = names_in(source)
    faults, needed = [], set()
    for path in sorted(source.rglob("*")):
        file = path.relative_to(source).as_posix()
        own = file in TABLES or (file.startswith("agents/") and path.stem.split("_")[0] in names)
        if path.suffix not in (".cc", ".h") or own or re.search(r"_test\.cc$|_for_tests\.h$", file):
            continue
        text = path.read_text(encoding="utf-8")
        for token in TOKEN.finditer(text):
            if not is_fault(token, names):
                continue
            needed.add(file)
            if file not in ALLOWED:
                line = text.count("\n", 0, token.start()) + 1
                faults.append(f"{path}:{line}: {token[0][:60]} belongs into a row of {' or '.join(TABLES)}")
    return faults + [f"{source / file}:1: one_row.py allows it names that it no longer has"
                     for file in sorted(set(ALLOWED) - needed) if (source / file).exists()]


# (file, its text, whether that is a fault)
SAMPLES = [
    ("cli/doctor.cc", 'if (name == "codex") return;', True),
    ("cli/doctor.cc", 'say("none of codex, amp is on PATH");', True),
    ("cli/doctor.cc", "if (host == Host::kCodex) return;", True),
    ("cli/doctor.cc", 'say(R"(codex or amp)");', True),
    ("cli/doctor.cc", 'say("such as codex"); // or "amp"', False),
    ("cli/doctor.cc", "kCodexes(kAmplitude);", False),
    ("agents/codex.cc", "const Adapter kCodex = {};", False),
    ("agents/codex_usage.cc", 'say("codex");', False),
    ("agents/agent.cc", "if (adapter == &kAmp) return;", True),
    ("agents/agent_test.cc", 'make("amp");', False),
    ("session/transcript_line.cc", 'if (word == "amp") return;', False),
    ("session/transcript_line.cc", "return;", True),
]


def self_test():
    """Plants every sample in a tree of its own; one line per sample that was judged wrongly."""
    wrong = []
    for file, text, fault in SAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder)
            for name, content in [("agents/registry.h", 'ROW(kCodex, "codex") ROW(kAmp, "amp")'), (file, text)]:
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                (source / name).write_text(content, encoding="utf-8")
            if bool(faults_in(source)) != fault:
                wrong.append(f"self-test: {text!r} in {file} should be {'a fault' if fault else 'allowed'}")
    return wrong
