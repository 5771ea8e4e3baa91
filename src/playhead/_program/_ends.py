"""Every way in which a process can end, so that what is known only then is still said.

``sys.exit``, the last line, an uncaught exception and Ctrl-C come past ``atexit``; ``os._exit``, SIGTERM and
another program put in this one's place do not, and are seen here. SIGKILL and a crash of the interpreter leave what
the writer committed, and the parent sees them.
"""

from __future__ import annotations

import _thread
import atexit
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

_WITHIN_S = 5.0
"""How long a process that is ending abruptly is held up at most."""


class Ends:
    """Calls ``finish`` once, in this process and not in its forks, before the process ends."""

    def __init__(self, finish: Callable[[], None], *, replaced: Callable[[], dict[str, str]] | None = None) -> None:
        self._finish = finish
        self._replaced = replaced
        self._pid = os.getpid()
        self._done = _thread.allocate_lock()
        self.code: int | None = None
        """The exit code, as far as it is known before the end."""
        self.signal: str | None = None
        """The signal by which the process ends, where that is known before."""

    def watch(self) -> None:
        """Be there when the process ends. Called once, in the main thread."""
        atexit.register(self.conclude)
        self._watch_exit()
        self._watch_replacing()
        if hasattr(signal, "SIGTERM") and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            self._watch_termination()

    def conclude(self) -> None:
        """Finish now, unless it has been done."""
        if os.getpid() == self._pid and self._done.acquire(blocking=False):
            self._finish()

    def _conclude_abruptly(self) -> None:
        """Finish on another thread, for a bounded time: this one may hold a lock that finishing needs."""
        if os.getpid() != self._pid or self._done.locked():
            return
        finished = _thread.allocate_lock()
        finished.acquire()

        def work() -> None:
            try:
                self.conclude()
            finally:
                finished.release()

        _thread.start_new_thread(work, ())
        finished.acquire(timeout=_WITHIN_S)

    def _watch_exit(self) -> None:
        leave = os._exit

        def _exit(status: int) -> Any:
            self._say(status)
            self._conclude_abruptly()
            return leave(status)

        quit = sys.exit

        def exit(status: Any = None, /) -> Any:
            self._say(status)
            return quit(status)

        os._exit, sys.exit = _exit, exit

    def _say(self, status: Any) -> None:
        """Take note of an exit status, as ``sys.exit`` takes it."""
        if os.getpid() == self._pid:
            self.code = status if isinstance(status, int) else 0 if status is None else 1

    def _watch_replacing(self) -> None:
        """``os.exec…``: where nothing has crossed yet this was only a launcher, and the next program is meant."""
        for name in ("execv", "execve"):
            setattr(os, name, self._before_replacing(getattr(os, name)))

    def _before_replacing(self, replace: Callable[..., Any]) -> Callable[..., Any]:
        execve = os.execve

        def exec_(path: Any, args: Any, *env: Any) -> Any:
            if os.getpid() != self._pid or self._replaced is None or not os.access(path, os.X_OK):
                return replace(path, args, *env)
            added = self._replaced()
            if not added:
                self.conclude()
                return replace(path, args, *env)
            return execve(path, args, {**(env[0] if env else os.environ), **added})

        return exec_

    def _watch_termination(self) -> None:
        def terminate(number: int, frame: Any) -> None:
            if os.getpid() == self._pid:
                self.signal = "SIGTERM"
            self._conclude_abruptly()
            set_signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

        set_signal, get_signal = signal.signal, signal.getsignal
        set_signal(signal.SIGTERM, terminate)

        def shown(handler: Any) -> Any:
            return signal.SIG_DFL if handler is terminate else handler

        def change(signalnum: Any, handler: Any) -> Any:
            wanted = terminate if signalnum == signal.SIGTERM and handler is signal.SIG_DFL else handler
            return shown(set_signal(signalnum, wanted))

        def get(signalnum: Any) -> Any:
            return shown(get_signal(signalnum))

        signal.signal, signal.getsignal = change, get


def uncaught() -> BaseException | None:
    """The exception that ended the main program, as the interpreter leaves it."""
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    return error if isinstance(error, BaseException) else None
