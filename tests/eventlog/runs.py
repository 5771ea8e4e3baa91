"""Recordings to test with, written by the real writer."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from playhead._system import TickingClock
from playhead.eventlog import BlobPlace, Header, LogWriter, escape, list_ref, part_digest, part_ref
from playhead.events import (
    Body,
    Entry,
    Environment,
    ModelRequested,
    ModelResponded,
    PartKept,
    RunFinished,
    RunStarted,
    ToolCalled,
    ToolReturned,
    encode_body,
)

STARTED = RunStarted(
    id="triage-7f3a",
    kind="triage",
    task="T-42",
    entry=Entry(form="block"),
    environment=Environment(python="3.12.1", platform="linux"),
)


class Run:
    """One run being written, with a clock that ticks and a part key that is known."""

    def __init__(self, path: Path, *, blobs: BlobPlace | None = None, **options: Any) -> None:
        self.clock = TickingClock()
        header = Header(run="triage-7f3a", kind="triage", task="T-42", created_ns=self.clock.wall_ns())
        self.log = LogWriter(path, header, blobs=blobs, clock=self.clock, **options)

    def add(self, kind: str, body: Body | bytes, *, lane: str = "main", of: int | None = None) -> int:
        text = body if isinstance(body, bytes) else encode_body(body)
        return self.log.append(
            kind=kind, lane=lane, at_ns=self.clock.wall_ns(), mono_ns=self.clock.mono_ns(), body=text, of=of
        )

    def part(self, content: Any) -> dict[str, Any]:
        safe = escape(content)
        digest = part_digest(msgspec.json.encode(safe), key=b"known to the test")
        self.add("part.kept", PartKept(digest=digest, content=safe))
        return part_ref(digest)

    def started(self) -> int:
        return self.add("run.started", STARTED)

    def finished(self) -> int:
        return self.add("run.finished", RunFinished(outcome="success", result="done"))

    def conversation(self, cycles: int, *, commit: bool = True) -> list[list[dict[str, str]]]:
        """Model and tool exchanges whose conversation grows; gives the messages that each model call saw."""
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": "You triage."},
            {"role": "user", "content": "Hi"},
        ]
        seen = [list(messages)]
        refs = [self.part(message) for message in messages]
        asked = self.add("model.requested", ModelRequested(provider="openai", request={"messages": refs}))
        for cycle in range(cycles):
            self.add("model.responded", ModelResponded(status=200, content={"call": cycle}), of=asked)
            called = self.add("tool.called", ToolCalled(name="search", arguments={"n": cycle}))
            self.add("tool.returned", ToolReturned(value=f"result {cycle}"), of=called)
            messages.append({"role": "tool", "content": f"result {cycle}"})
            seen.append(list(messages))
            then = [self.part(messages[-1])]
            request = {"messages": list_ref(of=asked, path=["request", "messages"], keep=len(messages) - 1, then=then)}
            asked = self.add("model.requested", ModelRequested(provider="openai", request=request))
            if commit:
                self.log.commit()
        self.add("model.responded", ModelResponded(status=200, content={"text": "done"}), of=asked)
        return seen


def sealed_run(folder: Path, *, cycles: int = 3, name: str = "triage-7f3a", **options: Any) -> Path:
    """A whole run, sealed."""
    run = Run(folder / name, **options)
    run.started()
    run.conversation(cycles)
    run.finished()
    return run.log.seal()


def live_run(folder: Path, *, cycles: int = 3, name: str = "triage-7f3a", **options: Any) -> Path:
    """A run whose writer stopped after the last commit, without an end."""
    run = Run(folder / name, **options)
    run.started()
    run.conversation(cycles)
    run.log.commit()
    run.log.abandon()
    return run.log.path


def child_env() -> dict[str, str]:
    """The environment in which a child process finds what this one can import."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def plain_lines(path: Path) -> list[bytes]:
    """The lines of a recording in either form."""
    data = path.read_bytes()
    if not data.startswith(b"{"):
        from playhead.eventlog._compression import zstd

        data = zstd().decompress(data)
    return data.splitlines()
