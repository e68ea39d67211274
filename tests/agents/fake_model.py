#!/usr/bin/env python3
"""A scripted stand-in for the model APIs that agent CLIs call: fake_model.py --scenario FILE --port N --log FILE

It listens on 127.0.0.1 and plays one turn of the scenario per model request, in the format of whichever API was called:

    POST /v1/messages                               Anthropic Messages     (claude)
    POST /v1/responses                              OpenAI Responses       (codex)
    POST /v1/chat/completions                       OpenAI Chat            (opencode)
    POST /v1beta/models/M:[stream]GenerateContent   Gemini                 (gemini)

A scenario is {"turns": [...], "exhausted": turn, "side": turn}, in JSON. Turns are played in order, one for each request that offers tools to
the model; other requests are helpers of the CLI (a title, a quota probe), get `side` ("ok") and use up no turn. A turn has

    text, thinking     what the model says, and its reasoning before that
    tool_calls         [{"name", "input"}]; an input that is a string makes a free-form call in the Responses API
    usage              {"input", "output", "cache_read", "cache_write", "reasoning"}
    stop_reason        instead of the natural one
    headers            more response headers
    error              an HTTP error instead: {"status", "message", "type", "code", "headers", "body"}
    drop               the connection is closed without an answer
    cut_after_events   the stream ends early, with `stream_error` (as `error`) in it if there is one
    delay_ms, event_delay_ms    waits before the answer, between its events
    when, unless       only for a request whose body has, or has not, this text
    repeat             so many times
    until              again and again until this time (Unix seconds), then never

Every request becomes one JSON line of the log: method, path, api, turn (its index, "side", "exhausted", "count_tokens" or
null), some headers (never credentials) and the whole body. Standard library only.
"""

import argparse
import json
import signal
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEPT_HEADERS = ("user-agent", "anthropic-version", "anthropic-beta", "content-type",
                "accept", "originator", "session_id", "x-app", "x-stainless-retry-count",
                "x-claude-code-session-id", "x-goog-api-client", "openai-beta", "upgrade")


# ---- scenario

class Scenario:
    """The turns still to be played.  Thread safe."""

    def __init__(self, data):
        self.turns = []
        for number, turn in enumerate(data.get("turns", [])):
            for _ in range(int(turn.get("repeat", 1))):
                self.turns.append((number, turn))
        self.used = [False] * len(self.turns)
        self.exhausted = data.get("exhausted", {"text": "(scenario exhausted)"})
        self.side = data.get("side", {"text": "ok"})
        self.lock = threading.Lock()

    def next(self, body_text):
        """The first unused turn whose conditions hold for this request."""
        with self.lock:
            for i, (number, turn) in enumerate(self.turns):
                if self.used[i]:
                    continue
                if "when" in turn and turn["when"] not in body_text:
                    continue
                if "unless" in turn and turn["unless"] in body_text:
                    continue
                if "until" in turn and time.time() < turn["until"]:
                    return number, turn
                self.used[i] = True
                if "until" in turn:
                    continue
                return number, turn
        return "exhausted", self.exhausted


def usage_of(turn):
    usage = {"input": 100, "output": 20, "cache_read": 0, "cache_write": 0, "reasoning": 0}
    usage.update(turn.get("usage", {}))
    return usage


def pieces(text, size=24):
    """A text cut in a few deltas, the way a stream delivers it."""
    return [text[i:i + size] for i in range(0, len(text), size)] or [""]


class Ids:
    def __init__(self):
        self.count = 0
        self.lock = threading.Lock()

    def make(self, prefix):
        with self.lock:
            self.count += 1
            return "%s%06d" % (prefix, self.count)


IDS = Ids()


# ---- Anthropic

def anthropic_blocks(turn):
    blocks = []
    if turn.get("thinking"):
        blocks.append({"type": "thinking", "thinking": turn["thinking"], "signature": "c2lnbmF0dXJl"})
    if turn.get("text"):
        blocks.append({"type": "text", "text": turn["text"]})
    for call in turn.get("tool_calls", []):
        blocks.append({"type": "tool_use", "id": call.get("id") or IDS.make("toolu_fake"),
                       "name": call["name"], "input": call.get("input", {})})
    return blocks


def anthropic_message(turn, model):
    use = usage_of(turn)
    stop = turn.get("stop_reason") or ("tool_use" if turn.get("tool_calls") else "end_turn")
    return {"id": IDS.make("msg_fake"), "type": "message", "role": "assistant", "model": model,
            "content": anthropic_blocks(turn), "stop_reason": stop, "stop_sequence": None,
            "usage": {"input_tokens": use["input"], "output_tokens": use["output"],
                      "cache_read_input_tokens": use["cache_read"],
                      "cache_creation_input_tokens": use["cache_write"]}}


def anthropic_events(message):
    start = dict(message, content=[], stop_reason=None)
    start["usage"] = dict(message["usage"], output_tokens=1)
    yield "message_start", {"type": "message_start", "message": start}
    yield "ping", {"type": "ping"}
    for index, block in enumerate(message["content"]):
        kind = block["type"]
        if kind == "text":
            empty = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": p} for p in pieces(block["text"])]
        elif kind == "thinking":
            empty = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": p} for p in pieces(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        else:
            empty = {"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": p}
                      for p in pieces(json.dumps(block["input"]))]
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    yield "message_delta", {"type": "message_delta",
                            "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None},
                            "usage": {"output_tokens": message["usage"]["output_tokens"]}}
    yield "message_stop", {"type": "message_stop"}


# ---- OpenAI Responses

def responses_items(turn):
    items = []
    if turn.get("thinking"):
        items.append({"type": "reasoning", "id": IDS.make("rs_fake"),
                      "summary": [{"type": "summary_text", "text": turn["thinking"]}],
                      "content": [], "encrypted_content": "ZmFrZQ=="})
    if turn.get("text"):
        items.append({"type": "message", "id": IDS.make("msg_fake"), "role": "assistant", "status": "completed",
                      "content": [{"type": "output_text", "text": turn["text"], "annotations": []}]})
    for call in turn.get("tool_calls", []):
        call_id = call.get("id") or IDS.make("call_fake")
        if isinstance(call.get("input"), str):        # a free-form tool
            items.append({"type": "custom_tool_call", "id": IDS.make("ctc_fake"), "status": "completed",
                          "call_id": call_id, "name": call["name"], "input": call["input"]})
        else:
            item = {"type": "function_call", "id": IDS.make("fc_fake"), "status": "completed",
                    "call_id": call_id, "name": call["name"],
                    "arguments": json.dumps(call.get("input", {}))}
            if call.get("namespace"):
                item["namespace"] = call["namespace"]
            items.append(item)
    return items


def responses_object(turn, model):
    use = usage_of(turn)
    return {"id": IDS.make("resp_fake"), "object": "response", "created_at": int(time.time()),
            "status": "completed", "model": model, "output": responses_items(turn), "error": None,
            "usage": {"input_tokens": use["input"],
                      "input_tokens_details": {"cached_tokens": use["cache_read"]},
                      "output_tokens": use["output"],
                      "output_tokens_details": {"reasoning_tokens": use["reasoning"]},
                      "total_tokens": use["input"] + use["output"]}}


def responses_events(response):
    sequence = [0]

    def event(name, **fields):
        fields.update(type=name, sequence_number=sequence[0])
        sequence[0] += 1
        return name, fields

    start = dict(response, status="in_progress", output=[], usage=None)
    yield event("response.created", response=start)
    yield event("response.in_progress", response=start)
    for index, item in enumerate(response["output"]):
        where = {"output_index": index, "item_id": item["id"]}
        kind = item["type"]
        if kind == "message":
            text = item["content"][0]["text"]
            yield event("response.output_item.added", output_index=index,
                        item=dict(item, status="in_progress", content=[]))
            yield event("response.content_part.added", content_index=0,
                        part={"type": "output_text", "text": "", "annotations": []}, **where)
            for piece in pieces(text):
                yield event("response.output_text.delta", content_index=0, delta=piece, **where)
            yield event("response.output_text.done", content_index=0, text=text, **where)
            yield event("response.content_part.done", content_index=0, part=item["content"][0], **where)
        elif kind == "reasoning":
            text = item["summary"][0]["text"]
            yield event("response.output_item.added", output_index=index, item=dict(item, summary=[]))
            yield event("response.reasoning_summary_part.added", summary_index=0,
                        part={"type": "summary_text", "text": ""}, **where)
            for piece in pieces(text):
                yield event("response.reasoning_summary_text.delta", summary_index=0, delta=piece, **where)
            yield event("response.reasoning_summary_text.done", summary_index=0, text=text, **where)
            yield event("response.reasoning_summary_part.done", summary_index=0,
                        part=item["summary"][0], **where)
        elif kind == "function_call":
            yield event("response.output_item.added", output_index=index,
                        item=dict(item, status="in_progress", arguments=""))
            for piece in pieces(item["arguments"]):
                yield event("response.function_call_arguments.delta", delta=piece, **where)
            yield event("response.function_call_arguments.done", arguments=item["arguments"], **where)
        else:
            yield event("response.output_item.added", output_index=index,
                        item=dict(item, status="in_progress", input=""))
            for piece in pieces(item["input"]):
                yield event("response.custom_tool_call_input.delta", delta=piece, **where)
            yield event("response.custom_tool_call_input.done", input=item["input"], **where)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=response)


# ---- OpenAI chat

def chat_completion(turn, model):
    use = usage_of(turn)
    message = {"role": "assistant", "content": turn.get("text")}
    if turn.get("thinking"):
        message["reasoning_content"] = turn["thinking"]
    if turn.get("tool_calls"):
        message["tool_calls"] = [
            {"id": call.get("id") or IDS.make("call_fake"), "type": "function",
             "function": {"name": call["name"], "arguments": json.dumps(call.get("input", {}))}}
            for call in turn["tool_calls"]]
    finish = turn.get("stop_reason") or ("tool_calls" if turn.get("tool_calls") else "stop")
    return {"id": IDS.make("chatcmpl-fake"), "object": "chat.completion", "created": int(time.time()),
            "model": model, "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": use["input"], "completion_tokens": use["output"],
                      "total_tokens": use["input"] + use["output"],
                      "prompt_tokens_details": {"cached_tokens": use["cache_read"]},
                      "completion_tokens_details": {"reasoning_tokens": use["reasoning"]}}}


def chat_events(completion):
    base = {"id": completion["id"], "object": "chat.completion.chunk",
            "created": completion["created"], "model": completion["model"]}
    choice = completion["choices"][0]
    message = choice["message"]

    def chunk(delta, finish=None):
        return None, dict(base, choices=[{"index": 0, "delta": delta, "finish_reason": finish}])

    yield chunk({"role": "assistant", "content": ""})
    if message.get("reasoning_content"):
        for piece in pieces(message["reasoning_content"]):
            yield chunk({"reasoning_content": piece})
    if message["content"]:
        for piece in pieces(message["content"]):
            yield chunk({"content": piece})
    for index, call in enumerate(message.get("tool_calls", [])):
        yield chunk({"tool_calls": [{"index": index, "id": call["id"], "type": "function",
                                     "function": {"name": call["function"]["name"], "arguments": ""}}]})
        for piece in pieces(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, choice["finish_reason"])
    yield None, dict(base, choices=[], usage=completion["usage"])
    yield None, "[DONE]"


# ---- Gemini

def gemini_parts(turn):
    parts = []
    if turn.get("thinking"):
        parts.append({"text": turn["thinking"], "thought": True})
    if turn.get("text"):
        parts.append({"text": turn["text"]})
    for call in turn.get("tool_calls", []):
        parts.append({"functionCall": {"id": call.get("id") or IDS.make("call_fake"),
                                       "name": call["name"], "args": call.get("input", {})}})
    return parts


def gemini_response(turn, model, parts, last):
    use = usage_of(turn)
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}}
    response = {"candidates": [candidate], "modelVersion": model, "responseId": IDS.make("resp-fake")}
    if last:
        candidate["finishReason"] = turn.get("stop_reason") or "STOP"
        response["usageMetadata"] = {
            "promptTokenCount": use["input"], "candidatesTokenCount": use["output"],
            "cachedContentTokenCount": use["cache_read"], "thoughtsTokenCount": use["reasoning"],
            "totalTokenCount": use["input"] + use["output"]}
    return response


def gemini_events(turn, model):
    parts = []
    for part in gemini_parts(turn):
        if "text" in part:
            parts.extend(dict(part, text=piece) for piece in pieces(part["text"]))
        else:
            parts.append(part)
    for i, part in enumerate(parts):
        yield None, gemini_response(turn, model, [part], i == len(parts) - 1)
    if not parts:
        yield None, gemini_response(turn, model, [{"text": ""}], True)


# ---- errors

def error_body(api, spec):
    status = int(spec.get("status", 500))
    kind = spec.get("type")
    message = spec.get("message", "scripted error")
    if "body" in spec:
        return spec["body"]
    if api == "anthropic":
        kind = kind or {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error",
                        404: "not_found_error", 529: "overloaded_error"}.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": IDS.make("req_fake")}
    if api == "gemini":
        return {"error": {"code": status, "message": message,
                          "status": kind or {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 404: "NOT_FOUND",
                                             429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}.get(status, "INTERNAL")}}
    kind = kind or {400: "invalid_request_error", 401: "invalid_request_error", 403: "invalid_request_error",
                    404: "invalid_request_error", 429: "rate_limit_exceeded"}.get(status, "server_error")
    code = spec.get("code") or {401: "invalid_api_key", 404: "model_not_found"}.get(status)
    return {"error": {"message": message, "code": code, "param": None, "type": kind}}


def stream_error_event(api, spec):
    """How each API reports an error after the stream has begun."""
    body = error_body(api, spec)
    if api == "anthropic":
        return "error", body
    if api == "responses":
        error = {"code": spec.get("code") or body["error"]["type"], "message": body["error"]["message"]}
        return "response.failed", {"type": "response.failed", "sequence_number": 999,
                                   "response": {"id": IDS.make("resp_fake"), "object": "response",
                                                "status": "failed", "output": [], "error": error}}
    return None, body


TITLE = "Do not answer the request.\n\nUser prompt:"  # of Codex in a terminal, which offers a tool for that


def offers_tools(body):
    """Whether a request gives the model tools to work with, in any of the places clients put them."""
    if TITLE in json.dumps(body.get("input", ""), ensure_ascii=False).replace("\\n", "\n"):
        return False
    if body.get("tools"):
        return True
    items = body.get("input")
    return isinstance(items, list) and any(
        isinstance(item, dict) and item.get("type") == "additional_tools" for item in items)


# ---- HTTP

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "fake-model"

    def log_message(self, *_):
        pass

    # -- plumbing

    def read_body(self):
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            data = b""
            while True:
                size = int(self.rfile.readline().split(b";")[0].strip() or b"0", 16)
                data += self.rfile.read(size)
                self.rfile.readline()
                if size == 0:
                    return data
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def send_json(self, value, status=200, headers=None):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, text in (headers or {}).items():
            self.send_header(name, str(text))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def send_stream(self, events, turn, api):
        """Server-sent events, in full or cut short as the turn says."""
        named = api in ("anthropic", "responses")      # these also send an event: line
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("connection", "close")
        for name, text in turn.get("headers", {}).items():
            self.send_header(name, str(text))
        self.end_headers()
        self.close_connection = True
        pause = turn.get("event_delay_ms", 0) / 1000.0
        cut = turn.get("cut_after_events")
        for sent, (name, data) in enumerate(events):
            if cut is not None and sent >= cut:
                if turn.get("stream_error"):
                    self.write_event(*stream_error_event(api, turn["stream_error"]), named)
                return
            self.write_event(name, data, named)
            if pause:
                time.sleep(pause)

    def write_event(self, name, data, named):
        text = data if isinstance(data, str) else json.dumps(data)
        head = "event: %s\n" % name if named and name else ""
        self.wfile.write(("%sdata: %s\n\n" % (head, text)).encode())
        self.wfile.flush()

    def record(self, api, turn, body):
        headers = {k.lower(): v for k, v in self.headers.items() if k.lower() in KEPT_HEADERS}
        self.server.record({"method": self.command, "path": self.path, "api": api, "turn": turn,
                            "headers": headers, "body": body})

    # -- requests

    def do_HEAD(self):
        self.record("other", None, None)
        self.send_json({})

    def do_GET(self):
        path = self.path.split("?")[0]
        self.record("other", None, None)
        if path.endswith("/models"):
            model = {"id": "fake-model", "object": "model", "type": "model", "display_name": "Fake model"}
            self.send_json({"object": "list", "data": [model], "models": []})
        else:
            self.send_json({"error": {"message": "not found"}}, 404)

    def do_POST(self):
        raw = self.read_body().decode("utf-8", "replace")
        try:
            body = json.loads(raw) if raw else {}
        except ValueError:
            body = {"unparsed": raw[:2000]}
        path = self.path.split("?")[0]
        try:
            self.dispatch(path, body, raw)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def dispatch(self, path, body, raw):
        if path.endswith("/messages/count_tokens"):
            self.record("anthropic", "count_tokens", body)
            self.send_json({"input_tokens": len(raw) // 4})
        elif path.endswith("/messages"):
            self.play("anthropic", body, raw)
        elif path.endswith("/chat/completions"):
            self.play("chat", body, raw)
        elif path.endswith("/responses"):
            self.play("responses", body, raw)
        elif path.endswith(":countTokens"):
            self.record("gemini", "count_tokens", body)
            self.send_json({"totalTokens": len(raw) // 4})
        elif path.endswith(":generateContent") or path.endswith(":streamGenerateContent"):
            self.play("gemini", body, raw)
        else:
            self.record("other", None, body)
            self.send_json({"error": {"message": "not found"}}, 404)

    def play(self, api, body, raw):
        number, turn = self.server.scenario.next(raw) if offers_tools(body) else ("side", self.server.scenario.side)
        self.record(api, number, body)
        if turn.get("delay_ms"):
            time.sleep(turn["delay_ms"] / 1000.0)
        if turn.get("drop"):
            self.close_connection = True
            return
        if turn.get("error"):
            spec = turn["error"]
            self.send_json(error_body(api, spec), int(spec.get("status", 500)), spec.get("headers"))
            return

        if api == "gemini":
            model = self.path.split("/models/")[-1].split(":")[0]
            if ":streamGenerateContent" in self.path:
                self.send_stream(gemini_events(turn, model), turn, api)
            else:
                self.send_json(gemini_response(turn, model, gemini_parts(turn), True))
            return
        make, stream = {"anthropic": (anthropic_message, anthropic_events),
                        "responses": (responses_object, responses_events),
                        "chat": (chat_completion, chat_events)}[api]
        answer = make(turn, body.get("model", "fake-model"))
        if body.get("stream"):
            self.send_stream(stream(answer), turn, api)
        else:
            self.send_json(answer, headers=turn.get("headers"))


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port, scenario, log_path):
        super().__init__(("127.0.0.1", port), Handler)
        self.scenario = scenario
        self.log = open(log_path, "a", encoding="utf-8")
        self.log_lock = threading.Lock()
        self.count = 0

    def record(self, entry):
        with self.log_lock:
            self.count += 1
            self.log.write(json.dumps({"seq": self.count, "time": round(time.time(), 3), **entry}) + "\n")
            self.log.flush()


def main():
    parser = argparse.ArgumentParser(description="A scripted stand-in for the model APIs, on 127.0.0.1.")
    parser.add_argument("--scenario", required=True, help="a JSON file")
    parser.add_argument("--port", type=int, default=0, help="a free one if not said")
    parser.add_argument("--log", required=True, help="every request is appended to this file")
    options = parser.parse_args()
    with open(options.scenario, encoding="utf-8") as file:
        server = Server(options.port, Scenario(json.load(file)), options.log)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown, daemon=True).start())
    print(server.server_address[1], flush=True)  # it listens now
    server.serve_forever(poll_interval=0.1)


if __name__ == "__main__":
    main()
