"""Files that are on disk when we say so."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playhead.errors import StoreNotWritableError
from playhead.eventlog._printing import printable

_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}

if hasattr(os, "fdatasync"):
    sync_data = os.fdatasync
else:  # macOS and Windows
    sync_data = os.fsync


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the operating system says against writing at ``path`` into `StoreNotWritableError`."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        why = "it is full" if error.errno in _FULL else (error.strerror or str(error)).lower()
        raise StoreNotWritableError(
            f"cannot write to {printable(path)}: {why}",
            next="playhead doctor",
            facts={"path": str(path), "errno": error.errno},
        ) from error


def sync_folder(folder: Path) -> None:
    """Put the names in ``folder`` on disk, where the system can."""
    if os.name == "nt":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_all(fd: int, data: bytes) -> None:
    """Write all of ``data``, however little the system takes at a time."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
