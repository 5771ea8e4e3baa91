"""What a thread waits at in a replay: whoever opens it says that the thread runs again, before it gets to run."""

from __future__ import annotations

import _thread
import threading

from playhead.boundary import Activity


class Gate:
    """What a thread waits at: opened by who notifies it, or by its time limit."""

    def __init__(self, activity: Activity) -> None:
        self._activity = activity
        self._key = threading.get_ident()
        self._lock = _thread.allocate_lock()
        self._lock.acquire()
        self.acquire = self._lock.acquire
        self.is_expired = False

    def wait(self, seconds: float) -> None:
        """Wait until others open it, or for so many seconds."""
        self._activity.wait(self._key)
        try:
            self._lock.acquire(timeout=seconds)
        finally:
            self._activity.wake(self._key)

    def release(self) -> None:
        """Let the thread go on; it counts as running from now on, not from when it gets to run."""
        self._activity.wake(self._key)
        try:
            self._lock.release()
        except RuntimeError:
            pass  # notified and out of time at once

    def expire(self) -> None:
        """The time is over."""
        self.is_expired = True
        self.release()
