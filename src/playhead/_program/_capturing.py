"""Taking what a program prints, without a file: it has not been masked."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_WITHIN_S = 5.0
"""How long what the program has started may go on to hold its output open."""


class Captured:
    """What was printed to the descriptor ``fd``; ``text`` is whole when the block has been left."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.pieces: list[bytes] = []

    @property
    def text(self) -> str:
        """What was printed."""
        return b"".join(self.pieces).decode(errors="replace")


@contextmanager
def capture() -> Iterator[Captured]:
    """A descriptor to give to a program as its output."""
    source, sink = os.pipe()
    captured = Captured(sink)

    def read() -> None:
        with os.fdopen(source, "rb", buffering=0) as file:
            while piece := file.read(65536):
                captured.pieces.append(piece)

    reader = threading.Thread(target=read, name="playhead-output", daemon=True)
    reader.start()
    try:
        yield captured
    finally:
        os.close(sink)
        reader.join(_WITHIN_S)
