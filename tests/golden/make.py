"""Make the golden recording of this format: ``python -m tests.golden.make FOLDER``. Those released stay as they are."""

from __future__ import annotations

import sys
from pathlib import Path

from playhead.eventlog import BlobPlace, erase_body, escape, pack
from playhead.events import NoteAdded, RunFinished, encode_body, freeze
from tests.eventlog.runs import Run, plain_lines

VALUES = [1, 1.0, 1e-7, -0.0, 9007199254740993, float("nan"), 10**40, "a\ud800", b"\x00", {"$part": (1, 2)}]


def make(folder: Path) -> None:
    """Write it in both forms, as if it had been recorded."""
    run = Run(folder / "format-1", blobs=BlobPlace(folder / "blobs"))
    run.started()
    run.conversation(3)
    for value in VALUES:
        run.add("note.added", encode_body(NoteAdded(name="value", details=escape(freeze(value)))))
    run.add("tool.returned", b'{"value":"%b"}' % (b"large " * 15_000), lane="main/search#1")
    run.add("note.added", b'{"name":"erased later"}')
    run.add("x.later", b'{"z":1.50,"a":[1e2]}')
    run.add("run.finished", encode_body(RunFinished(outcome="failure", reason="HTTP 403")))
    path = erase_body(run.log.seal(key=b"golden recording, not a secret!!"), [run.log.count - 4])
    packed = pack(path, folder / "packed.playhead.jsonl")
    lines = plain_lines(packed)
    (folder / "format-1.playhead.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    packed.unlink()


if __name__ == "__main__":
    make(Path(sys.argv[1]))
