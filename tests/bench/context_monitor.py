"""The work of `ralph hooks context-monitor` as a Python hook script would do it: a baseline for the bench."""
import hashlib
import json
import os
import sys

THRESHOLDS = [(50, "NOTICE"), (60, "NOTICE"), (70, "WARNING"), (80, "WARNING"), (90, "CRITICAL")]


def last_usage(path):
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 65536))
        for line in reversed(file.read().split(b"\n")):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if record.get("type") == "assistant" and not record.get("isSidechain"):
                usage = record["message"]["usage"]
                return sum(usage.get(key, 0) for key in ("input_tokens", "cache_read_input_tokens",
                                                         "cache_creation_input_tokens", "output_tokens"))
    return size // 4


def main():
    payload = json.load(sys.stdin)
    name = hashlib.sha256(payload["session_id"].encode()).hexdigest()
    state = os.path.join(os.environ["XDG_STATE_HOME"], name)
    spent = 0
    if os.path.exists(state):
        with open(state, encoding="utf-8") as file:
            spent = int(file.read())
    percent = last_usage(payload["transcript_path"]) * 100 // 200_000
    crossed = [(limit, severity) for limit, severity in THRESHOLDS if spent < limit <= percent]
    if not crossed:
        return
    with open(state + ".new", "w", encoding="utf-8") as file:
        file.write(str(crossed[-1][0]))
    os.replace(state + ".new", state)
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": crossed[-1][1]}}))


if __name__ == "__main__":
    main()
