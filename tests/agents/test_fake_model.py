"""The scripted model itself: it speaks each API as the CLIs expect, and plays its script in order."""
import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

TOOLS = [{"name": "x"}]
CALL = {"text": "Hello, world.", "thinking": "Hm.", "tool_calls": [{"name": "x", "input": {"a": 1}}]}


class Model:
    def __init__(self, folder, turns):
        self.log = folder / "log"
        (folder / "scenario").write_text(json.dumps({"turns": turns}))
        program = Path(__file__).with_name("fake_model.py")
        command = [sys.executable, str(program), "--scenario", str(folder / "scenario"), "--log", str(self.log)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())

    def post(self, path, body):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", json.dumps(body).encode(),
                                         {"content-type": "application/json"})
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def events(self, path, body):
        lines = [line[6:] for line in self.post(path, body)[1].splitlines() if line.startswith("data: ")]
        return [json.loads(line) for line in lines if line != "[DONE]"]


@pytest.fixture
def model(tmp_path):
    started = []

    def start(*turns):
        started.append(Model(tmp_path, turns))
        return started[-1]
    yield start
    for one in started:
        one.process.terminate()
        one.process.wait(5)
        one.process.stdout.close()


def test_anthropic(model):
    events = model(CALL).events("/v1/messages?beta=true", {"tools": TOOLS, "stream": True})
    assert [events[0]["type"], events[-1]["type"]] == ["message_start", "message_stop"]
    assert "".join(e["delta"]["text"] for e in events if e.get("delta", {}).get("type") == "text_delta") == "Hello, world."


def test_responses(model):
    events = model(CALL).events("/v1/responses", {"tools": TOOLS, "stream": True})
    assert [item["type"] for item in events[-1]["response"]["output"]] == ["reasoning", "message", "function_call"]
    assert [e["sequence_number"] for e in events] == list(range(len(events)))


def test_chat(model):
    chunks = model(CALL).events("/v1/chat/completions", {"tools": TOOLS, "stream": True})
    calls = [c for chunk in chunks for choice in chunk["choices"] for c in choice["delta"].get("tool_calls", [])]
    assert json.loads("".join(c["function"]["arguments"] for c in calls)) == {"a": 1}
    assert chunks[-1]["usage"]["prompt_tokens"] == 100


def test_gemini(model):
    chunks = model(CALL).events("/v1beta/models/g:streamGenerateContent?alt=sse", {"tools": TOOLS})
    assert chunks[-1]["candidates"][0]["finishReason"] == "STOP"
    assert "functionCall" in chunks[-1]["candidates"][0]["content"]["parts"][0]


def test_requests_without_tools_use_up_no_turn(model):
    played = model({"text": "main"})
    played.post("/v1/messages", {})
    assert "main" in played.post("/v1/messages", {"tools": TOOLS})[1]
    played.post("/v1/messages", {"tools": TOOLS})
    assert [json.loads(line)["turn"] for line in played.log.read_text().splitlines()] == ["side", 0, "exhausted"]


def test_errors_conditions_and_times(model):
    played = model({"error": {"status": 529}, "until": 1}, {"error": {"status": 429, "headers": {"retry-after": "1"}}},
                   {"when": "needle", "text": "found"}, {"text": "other"})
    status, text = played.post("/v1/messages", {"tools": TOOLS})
    assert (status, json.loads(text)["error"]["type"]) == (429, "rate_limit_error"), "the time of the first is over"
    assert "other" in played.post("/v1/messages", {"tools": TOOLS})[1]
    assert "found" in played.post("/v1/messages", {"tools": TOOLS, "x": "needle"})[1]
