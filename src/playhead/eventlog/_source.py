"""Where the bytes of a recording are: a file, an open file, or memory."""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO, BinaryIO, Final

from playhead.errors import NotARecordingError, StoreError, UnknownRunError
from playhead.eventlog._compression import MAGIC
from playhead.eventlog._format import UNNAMED, Form
from playhead.eventlog._printing import printable

_SMALL: Final = 8 * 1024 * 1024
"""Files up to this size are read whole, so that recordings in numbers do not hold as many open files."""

Source = Path | bytes | IO[bytes]


class Bytes:
    """The stored bytes of a recording: ``name`` for messages, ``path`` where it is a file, ``size``, ``form``."""

    def __init__(self, source: Source) -> None:
        self.path = source if isinstance(source, Path) else None
        self.file: BinaryIO = _open(source)
        self.name = str(self.path) if self.path is not None else UNNAMED
        self.size = self.file.seek(0, io.SEEK_END)
        start = self.read(0, len(MAGIC))
        if not start:
            raise NotARecordingError(f"{printable(self.name)} is empty", next="playhead runs")
        self.form: Form = "zstd" if start == MAGIC else "plain"

    def read(self, offset: int, length: int) -> bytes:
        """``length`` bytes from ``offset``, fewer at the end."""
        self.file.seek(offset)
        return self.file.read(length)

    def close(self) -> None:
        """Close the file. A later `read` raises `ValueError`."""
        self.file.close()


def _open(source: Source) -> BinaryIO:
    if isinstance(source, bytes):
        return io.BytesIO(source)
    if not isinstance(source, Path):
        return io.BytesIO(source.read())
    try:
        file = source.open("rb")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UnknownRunError(f"there is no recording at {printable(source)}", next="playhead runs") from error
    except IsADirectoryError as error:
        raise NotARecordingError(f"{printable(source)} is a folder", next="playhead runs") from error
    except OSError as error:
        raise StoreError(f"{printable(source)} cannot be read: {error.strerror}", next="playhead runs") from error
    if file.seek(0, io.SEEK_END) > _SMALL:
        return file
    with file:
        file.seek(0)
        return io.BytesIO(file.read())
