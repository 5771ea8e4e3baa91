"""Plays recordings of one module's agents, each in a fork of a process that has imported the module.

``python -m playhead._program._serving DESCRIPTOR`` is told by its socket what to play, and tells how that ended. A
fork finds what a process of its own would find after the import, and leaves nothing to the next one; only the time
that starting an interpreter and importing takes is spent once.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import inspect
import os
import socket
import sys
import threading
from collections.abc import Iterator
from typing import Any

import msgspec

from playhead._program._ends import Ends, uncaught
from playhead._program._mailbox import Mailbox
from playhead._program._orders import Order, decode_order
from playhead._program._playing import play, start_replay
from playhead._program._talking import Done, receive, send
from playhead._replays import find_entry, find_function
from playhead.errors import PlayheadError
from playhead.integrations import current_scope


def main() -> None:
    """Serve until nobody asks any more."""
    server = Server(socket.socket(fileno=int(sys.argv[1])))
    atexit.register(server.leave)  # first, so that it comes after all that the program registers
    for order, output in server.orders():
        function = server.prepare(order)
        if function is None or not server.fork(order, output):
            continue
        server.play(order, function)
        return


class Server:
    """The process that imports, and then each of its forks."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock: socket.socket | None = sock
        self._ends: Ends | None = None
        self._known: set[str] = set()
        self._late: list[str] = []
        self._found: dict[tuple[str | None, str | None], Any] = {}

    def orders(self) -> Iterator[tuple[Order, int]]:
        """What is asked for, with the descriptor that takes what the program prints."""
        while self._sock is not None and (received := receive(self._sock)) is not None:
            message, output = received
            assert output is not None
            yield decode_order(message.decode()), output
            os.close(output)

    def prepare(self, order: Order) -> Any:
        """The function that was entered, imported once; where it cannot be, that is told and the answer is ``None``."""
        entry = order.entry
        key = entry.file if str(entry.call).startswith("__main__:") else None, entry.call
        if key not in self._found:
            sys.argv = list(entry.argv) or sys.argv[:1]
            if entry.file is not None and os.path.dirname(os.path.abspath(entry.file)) not in sys.path[:1]:
                sys.path.insert(0, os.path.dirname(os.path.abspath(entry.file)))
            try:
                self._found[key] = find_function(entry, order.run)
            except BaseException as error:
                said = error.message if isinstance(error, PlayheadError) else f"{type(error).__name__}: {error}"
                mailbox = Mailbox(order.mailbox)
                mailbox.claim()
                mailbox.fail(f"its module cannot be imported: {said}")
                self._tell(Done(code=PlayheadError.exit_code))
                return None
        return self._found[key]

    def fork(self, order: Order, output: int) -> bool:
        """Whether this is the fork that is to play. Where forking is not safe, that is told."""
        self._import_libraries()
        if _threads() > 1:
            self._tell(Done(forks=False))
            return False
        pid = os.fork()
        if pid == 0:
            self._become_program(output)
            return True
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self._late += Mailbox(order.mailbox).read_imported()
        self._tell(Done(code=code))
        return False

    def play(self, order: Order, function: Any) -> None:
        """Call the function under replay; the report is handed in when the process ends."""
        mailbox = Mailbox(order.mailbox)
        mailbox.claim()
        sys.argv = list(order.entry.argv) or sys.argv[:1]
        try:
            playing = start_replay(order, mailbox)
            _, args, kwargs = find_entry(playing.recording, order.entry, function)
        except PlayheadError as error:
            mailbox.fail(error.message)
            os._exit(error.exit_code)
        atexit.register(lambda: mailbox.tell_imported(self._new_libraries()))
        self._ends = play(playing, mailbox)
        result = function(*args, **kwargs)
        if inspect.isawaitable(result):
            run_to_end(result)

    def leave(self) -> None:
        """In a fork: the end of the process, without taking the interpreter apart."""
        if self._ends is None:
            return
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(1 if uncaught() is not None else self._ends.code or 0)

    def _become_program(self, output: int) -> None:
        """Let go of what is the server's, and print where the program is to print."""
        assert self._sock is not None
        self._sock.close()
        self._sock = None
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)

    def _new_libraries(self) -> list[str]:
        """Modules that were imported since the fork and are not the agent's own: nothing of theirs is played."""
        scope = current_scope()
        new = [(name, sys.modules[name]) for name in sys.modules if name not in self._known]
        files = [(name, str(getattr(module, "__file__", None) or "")) for name, module in new]
        return [name for name, file in files if file and not scope.owns_file(file, name)]

    def _import_libraries(self) -> None:
        """Have what the forks so far imported late, for those that come."""
        for name in self._late:
            try:
                importlib.import_module(name)
            except Exception:
                continue  # it cannot be imported by itself; each fork does it as the program does
        self._late.clear()
        if len(sys.modules) != len(self._known):
            self._known = set(sys.modules)
            gc.collect()
            gc.freeze()  # a fork has no need to look through, and so to copy, what was there before it

    def _tell(self, done: Done) -> None:
        assert self._sock is not None
        send(self._sock, msgspec.json.encode(done))


def _threads() -> int:
    """How many threads this process has, also those that Python does not know of."""
    try:
        return max(len(os.listdir("/proc/self/task")), threading.active_count())
    except OSError:
        return threading.active_count()


def run_to_end(result: Any) -> None:
    """Run what can be awaited."""
    import asyncio

    async def wait() -> None:
        await result

    asyncio.run(wait())


if __name__ == "__main__":
    main()
