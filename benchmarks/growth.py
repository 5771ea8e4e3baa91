"""How a recording grows with the agent that it records: 50, 100, 200 and 300 steps.

Each step asks the model with the whole conversation so far, through the door and a transport that answers at once,
reads the clock and calls a tool with a result of 0.5 to 8 kB. Sizes are of the sealed recording; the processor time
is that of the caller's thread while a call crosses and of the writer's thread. Beside: every event with its whole
content as a line of JSON, and gzip of that.
"""

from __future__ import annotations

import gzip
import random
import tempfile
import threading
import time
from typing import Any

from _material import completion, dumped, message, rows, text, tools
from _measuring import Figure, gauge, report

import playhead
from playhead.boundary import Call, HttpHead, HttpRequest, Tap, TeedStream, cross_stream, current_lane
from playhead.recorder import Writer

STEPS = (50, 100, 200, 300)
URL = "https://api.openai.com/v1/chat/completions"
HEAD = HttpHead(200, (("content-type", "application/json"),))
HEADERS = (("content-type", "application/json"), ("authorization", "Bearer none"))
BUDGET_KB = {50: 100.0, 300: 550.0}
BUDGET_MS = {50: 1.0, 300: 1.5}


class Steps:
    """The material of one agent: what it sends and gets at each step, made beforehand."""

    def __init__(self, count: int) -> None:
        chance = random.Random(count)
        self._tools = tools(chance)
        self._messages = [message(chance, "system", 3000), message(chance, "user", 300)]
        self.each: list[tuple[bytes, bytes, str, Any]] = []
        for _ in range(count):
            path = text(chance, 50)
            call = {"name": f"tool_{chance.randrange(8)}", "arguments": dumped({"path": path}).decode()}
            number = f"call_{chance.getrandbits(96):024x}"
            said = message(chance, "assistant", chance.randrange(80, 500))
            said["tool_calls"] = [{"id": number, "type": "function", "function": call}]
            size = int(512 * 16 ** chance.random())
            result: Any = rows(chance, size) if chance.random() < 0.3 else text(chance, size)
            asked = {"model": "gpt-5-2026-08-01", "messages": self._messages, "tools": self._tools}
            self.each.append((dumped(asked), dumped(completion(chance, said)), path, result))
            shown = result if isinstance(result, str) else dumped(result).decode()
            self._messages = [*self._messages, said, {"role": "tool", "tool_call_id": number, "content": shown}]


class Ledger:
    """What the events would be as plain lines: all of it, and packed."""

    def __init__(self) -> None:
        self.plain = 0
        self._packed = 0

    def add(self, *events: Any) -> None:
        """One line for each event."""
        for event in events:
            line = dumped(event) + b"\n"
            self.plain += len(line)
            self._packed += len(gzip.compress(line, 6))

    @property
    def packed(self) -> int:
        """Bytes with each line packed when it is written, which a crash leaves readable."""
        return self._packed


def plain_lines(steps: Steps) -> Ledger:
    """The yardstick."""
    ledger = Ledger()
    for body, answer, path, result in steps.each:
        asked, said = body.decode(), answer.decode()
        ledger.add({"kind": "model.requested", "body": asked}, {"kind": "model.responded", "body": said})
        ledger.add({"kind": "tool.called", "path": path}, {"kind": "tool.returned", "value": result})
    return ledger


def ask(body: bytes, answer: bytes) -> None:
    """One model exchange."""
    lane = current_lane()
    assert lane is not None
    pieces = [answer]

    def live(tap: Tap) -> TeedStream:
        tap.head = HEAD
        return TeedStream(pieces, pieces.copy, tap)

    call = Call("http", f"POST {URL}", HttpRequest("POST", URL, HEADERS, body, "httpx2"))
    stream: Any = cross_stream(lane, call, live=live, play=iter)
    for _ in stream:
        pass
    stream.close()


class WriterClock:
    """Processor time of the writer's thread, read by jobs that run there."""

    def __init__(self, lane: Any) -> None:
        self._writer: Writer = lane.session._writer

    def read(self) -> float:
        """Seconds; waits until all before it has been written."""
        told = threading.Event()
        seen: list[float] = []

        def look() -> None:
            seen.append(time.thread_time())
            told.set()

        self._writer.put((look,))
        told.wait()
        return seen[0]


def measure(count: int) -> dict[str, float]:
    """Figures of an agent of ``count`` steps."""
    steps = Steps(count)
    results = iter([result for *_, result in steps.each])
    tool = playhead.tool(lambda path: next(results), name="look")
    caller = 0.0
    with tempfile.TemporaryDirectory() as folder:
        with playhead.record(kind="bench", store=folder) as run:
            writer = WriterClock(current_lane())
            before = writer.read()
            for at, (body, answer, path, _) in enumerate(steps.each):
                begun = time.thread_time()
                ask(body, answer)
                playhead.now()
                tool(path)
                caller += time.thread_time() - begun
                if at % 10 == 9:
                    gauge()
                    writer.read()
            used = writer.read() - before
        assert run.path is not None
        size = run.path.stat().st_size
    plain = plain_lines(steps)
    return {
        "recording_kb": size / 1000,
        "bytes_per_step": size / count,
        "caller_us_per_step": caller / count * 1e6,
        "writer_us_per_step": used / count * 1e6,
        "cpu_ms_per_step": (caller + used) / count * 1e3,
        "plain_json_mb": plain.plain / 1e6,
        "gzip_mb": plain.packed / 1e6,
    }


def main() -> None:
    measure(20)
    found = {count: measure(count) for count in STEPS}
    figures = []
    for count, seen in found.items():
        size = Figure(f"{count} steps: recording", seen["recording_kb"], "kB", BUDGET_KB.get(count))
        figures += [size.beside_of("JSON lines", seen["plain_json_mb"] * 1e3)]
        figures += [Figure("", seen["recording_kb"], "kB").beside_of("each gzipped", seen["gzip_mb"] * 1e3)]
        cpu = Figure(f"{count} steps: caller and writer, a step", seen["cpu_ms_per_step"], "ms", BUDGET_MS.get(count))
        figures += [cpu.beside_of("the caller's part", seen["caller_us_per_step"] / 1e3)]
    flat = [seen["bytes_per_step"] for seen in found.values()]
    figures.append(Figure("bytes a step, most to least of the four", max(flat) / min(flat), "x", 1.25))
    report("growth", figures, extra={"steps": found})


if __name__ == "__main__":
    main()
