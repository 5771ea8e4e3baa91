"""Having on disk what was written, on a thread of its own.

What the system has taken survives the process, however it ends; only to survive a loss of power it has to be on
disk. A slow disk holds up that, and nothing else.
"""

from __future__ import annotations

import _thread
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from playhead.boundary import outside_runs
from playhead.recorder._threads import start_unwatched

_PATIENCE_S = 0.5


class Syncer:
    """Calls ``sync`` when asked to; requests that come while it is at it are met by one more call."""

    def __init__(self, sync: Callable[[], Any]) -> None:
        self._sync = sync
        self._asked: deque[Any] = deque()
        self._bell = _thread.allocate_lock()
        self._bell.acquire()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="playhead-sync", daemon=True)
        start_unwatched(self._thread)

    @property
    def ident(self) -> int | None:
        """Which thread it is."""
        return self._thread.ident

    def ask(self, told: Any = None) -> None:
        """Have what is written now on disk soon; then ``told``, a lock, is released."""
        self._asked.append(told)
        if self._is_running():
            self._ring()
        else:
            self._meet()

    def stop(self) -> None:
        """Meet what has been asked, and end the thread."""
        self._stopping = True
        self._ring()
        while self._is_running():
            self._thread.join(_PATIENCE_S)
        self._meet()

    def _ring(self) -> None:
        try:
            self._bell.release()
        except RuntimeError:
            pass  # rung already

    def _is_running(self) -> bool:
        return self._thread.is_alive() and not sys.is_finalizing()

    def _run(self) -> None:
        with outside_runs():
            while not self._stopping:
                self._bell.acquire()
                self._meet()

    def _meet(self) -> None:
        asked = []
        while self._asked:
            asked.append(self._asked.popleft())
        if asked:
            self._sync()
        for told in asked:
            if told is not None:
                told.release()
