"""What recording costs the thread that makes the call, beside others doing the same job.

The yardsticks: the standard library's logging of JSON lines to a file (a line for the question and one for the
answer), OpenTelemetry spans (batch processor, in-memory exporter), and for HTTP VCR.py. Figures are microseconds
on top of the bare call.
"""

from __future__ import annotations

import json
import logging
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from _material import completion, conversation, dumped, message, rows, tools
from _measuring import Figure, median_rounds, report

import playhead
from playhead.boundary import Call, HttpHead, HttpRequest, Tap, TeedStream, cross_stream, current_lane, in_lane
from playhead.recorder import drain_all

CHANCE = random.Random(7)
TOOLS = tools(CHANCE, 4)
HEAD = HttpHead(200, (("content-type", "application/json"),))
ANSWER = dumped(completion(CHANCE, message(CHANCE, "assistant", 700)))
HEADERS = (("content-type", "application/json"), ("authorization", "Bearer none"), ("accept", "*/*"))


def look_up(order: str, limit: int) -> dict[str, Any]:
    """A small tool."""
    return {"order": order, "status": "shipped", "days": 3, "limit": limit}


TOOL = playhead.tool(look_up)


def give(value: Any) -> Callable[[], Any]:
    """A tool that gives ``value``."""
    return playhead.tool(lambda: value, name="give")


class Bodies:
    """Requests of 12 kB, one after another: a conversation that goes on, or a new one each time."""

    def __init__(self, *, new: int) -> None:
        self._chance = random.Random(new)
        self._new = new
        self._messages = conversation(self._chance, 16, 600)

    def __iter__(self) -> Iterator[bytes]:
        while True:
            self._messages = [*self._messages[self._new :], *conversation(self._chance, self._new, 600)]
            yield dumped({"model": "gpt-5", "messages": self._messages, "tools": TOOLS})


def ask(bodies: Iterator[bytes]) -> None:
    """One model exchange over a transport that answers at once."""
    lane = current_lane()
    body = next(bodies)
    pieces = [ANSWER]
    if lane is None:
        for _ in pieces:
            pass
        return

    def live(tap: Tap) -> TeedStream:
        tap.head = HEAD
        return TeedStream(pieces, pieces.copy, tap)

    request = HttpRequest("POST", "https://api.openai.com/v1/chat/completions", HEADERS, body, "httpx2")
    call = Call("http", "POST https://api.openai.com/v1/chat/completions", request)
    stream: Any = cross_stream(lane, call, live=live, play=iter)
    for _ in stream:
        pass
    stream.close()


class JsonLog:
    """The standard library's logging, writing JSON lines to a file."""

    def __init__(self, path: Path) -> None:
        class Lines(logging.Formatter):
            def format(self, record: logging.LogRecord) -> str:
                said = {"at": record.created, "level": record.levelname, "event": record.getMessage()}
                return json.dumps({**said, **record.__dict__["body"]})

        handler = logging.FileHandler(path)
        handler.setFormatter(Lines())
        self._log = logging.Logger("bench", logging.INFO)
        self._log.addHandler(handler)

    def tool(self, tool: Callable[..., Any], **kwargs: Any) -> None:
        """Call ``tool`` between two lines."""
        self._log.info("tool.called", extra={"body": {"name": "look_up", "arguments": kwargs}})
        result = tool(**kwargs)
        self._log.info("tool.returned", extra={"body": {"name": "look_up", "value": result}})

    def model(self, body: bytes) -> None:
        """Log a request and its answer as they are."""
        self._log.info("model.requested", extra={"body": {"request": body.decode()}})
        self._log.info("model.responded", extra={"body": {"response": ANSWER.decode()}})


class Spans:
    """OpenTelemetry with a batch processor; bodies become attributes as JSON text."""

    def __init__(self) -> None:
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

        provider = TracerProvider()
        self._kept = InMemorySpanExporter()
        provider.add_span_processor(BatchSpanProcessor(self._kept))
        self._tracer = provider.get_tracer("bench")

    def tool(self, tool: Callable[..., Any], **kwargs: Any) -> None:
        """Call ``tool`` inside a span."""
        with self._tracer.start_as_current_span("execute_tool look_up") as span:
            span.set_attribute("gen_ai.tool.name", "look_up")
            span.set_attribute("gen_ai.tool.call.arguments", json.dumps(kwargs))
            result = tool(**kwargs)
            span.set_attribute("gen_ai.tool.call.result", result if isinstance(result, str) else json.dumps(result))

    def model(self, body: bytes) -> None:
        """A span of a request and its answer."""
        with self._tracer.start_as_current_span("chat gpt-5") as span:
            span.set_attribute("gen_ai.input.messages", body.decode())
            span.set_attribute("gen_ai.output.messages", ANSWER.decode())

    def forget(self) -> None:
        """Keep memory small."""
        self._kept.clear()


@contextmanager
def recording() -> Iterator[None]:
    """A run in a store of its own."""
    with tempfile.TemporaryDirectory() as folder, playhead.record(kind="bench", store=folder):
        yield


def outside(work: Callable[[], object]) -> Callable[[], object]:
    """``work`` where no run goes on."""

    def bare() -> None:
        with in_lane(None):
            work()

    return bare


def between() -> None:
    drain_all()


def small(log: JsonLog, spans: Spans) -> list[Figure]:
    """A small tool, both events."""
    with recording():
        cases = {
            "bare": lambda: look_up(order="A-1042", limit=10),
            "playhead": lambda: TOOL(order="A-1042", limit=10),
            "log": lambda: log.tool(look_up, order="A-1042", limit=10),
            "spans": lambda: spans.tool(look_up, order="A-1042", limit=10),
        }
        at = median_rounds(cases, calls=20, rounds=200, between=between)
        rested = median_rounds({"rested": cases["playhead"]}, rounds=40, between=lambda: time.sleep(0.02))["rested"]
    outside_run = median_rounds({"out": cases["playhead"], "bare": cases["bare"]}, calls=20, rounds=200)
    cost = at["playhead"] - at["bare"]
    return [
        Figure("small tool exchange", cost, "us", 5, "JSON logging", at["log"] - at["bare"], 0.4),
        Figure("small tool exchange", cost, "us", yardstick="OpenTelemetry", beside=at["spans"] - at["bare"]),
        Figure("the same, one call after 20 ms of rest", rested, "us", yardstick="in bursts", beside=cost),
        Figure("a marked tool outside every run", outside_run["out"] - outside_run["bare"], "us"),
    ]


def model(log: JsonLog, spans: Spans) -> list[Figure]:
    """A model exchange of 12 kB, through the door and a transport that answers at once."""
    figures = []
    for new, label, budget in ((2, "two messages new", 35), (16, "all messages new", 60)):
        bodies = iter(Bodies(new=new))
        ready = [next(bodies) for _ in range(700)]
        with recording():
            feed = iter(ready)
            same = ready[0]
            cases = {
                "playhead": lambda feed=feed: ask(feed),
                "log": lambda same=same: log.model(same),
                "spans": lambda same=same: spans.model(same),
            }
            at = median_rounds(cases, calls=4, rounds=100, between=between)
            bare = median_rounds({"bare": outside(lambda same=same: ask(iter([same])))}, calls=4, rounds=100)["bare"]
        cost = at["playhead"] - bare
        figures.append(Figure(f"12 kB model exchange, {label}", cost, "us", budget, "JSON logging", at["log"]))
        figures.append(Figure("", cost, "us", yardstick="OpenTelemetry", beside=at["spans"]))
    spans.forget()
    return figures


def large(log: JsonLog, spans: Spans) -> list[Figure]:
    """Tool results of a megabyte."""
    figures = []
    line = conversation(CHANCE, 1, 1000)[0]["content"] + "\n"
    words = line * 1049
    for what, value, budget in (
        ("str", words, 50.0),
        ("bytes", words.encode(), 50.0),
        ("nested", rows(CHANCE, 1 << 20), 2000.0),
    ):
        marked = give(value)
        logged = value if not isinstance(value, bytes) else words
        with recording():
            cases: dict[str, Callable[[], object]] = {
                "playhead": marked,
                "log": lambda logged=logged: log.tool(lambda: logged),
                "spans": lambda logged=logged: spans.tool(lambda: logged),
            }
            at = median_rounds(cases, rounds=20, between=between)
        spans.forget()
        figures.append(Figure(f"1 MB {what} from a tool", at["playhead"], "us", budget, "JSON logging", at["log"]))
        figures.append(Figure("", at["playhead"], "us", yardstick="OpenTelemetry", beside=at["spans"]))
    return figures


def over_http(folder: Path) -> list[Figure]:
    """A 12 kB request over loopback: processor time of the caller's thread on top of the unrecorded call."""
    import httpx
    import httpx2
    import vcr

    from playhead.testing import ModelServer, Text

    bodies = iter(Bodies(new=2))
    with ModelServer(lambda request: Text("done"), padding=False) as server, httpx2.Client() as client:
        url = server.openai_url + "/chat/completions"
        with httpx.Client() as other:
            send = {"httpx2": client.post, "httpx": other.post}

            def post(library: str) -> None:
                send[library](url, content=next(bodies), headers={"content-type": "application/json"}).read()

            keeper = vcr.VCR(record_mode="new_episodes", match_on=["method", "uri"])

            def taped() -> None:
                with in_lane(None):
                    post("httpx")

            with recording():
                cases = {"bare": outside(lambda: post("httpx2")), "playhead": lambda: post("httpx2")}
                at = median_rounds(cases, rounds=150, timer=time.thread_time, between=between)
            plain = median_rounds({"bare": taped}, rounds=150, timer=time.thread_time)["bare"]
            with keeper.use_cassette(str(folder / "kept.yaml"), record_mode="all"):
                kept = median_rounds({"vcr": taped}, rounds=150, timer=time.thread_time)["vcr"]
    cost = at["playhead"] - at["bare"]
    return [
        Figure("12 kB over httpx2, on top of the call", cost, "us", None, "VCR.py on httpx", kept - plain),
        Figure("12 kB over httpx2, whole call", at["playhead"], "us", None, "not recorded", at["bare"]),
    ]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        log, spans = JsonLog(Path(folder) / "log.jsonl"), Spans()
        figures = [*small(log, spans), *model(log, spans), *large(log, spans), *over_http(Path(folder))]
    report("caller", figures, note="Medians of short bursts with the writer at rest; over HTTP processor time.")


if __name__ == "__main__":
    main()
