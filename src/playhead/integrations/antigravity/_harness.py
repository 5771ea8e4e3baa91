"""The harness as the SDK holds it: a process with a stream of errors and an end, alive or as it was recorded."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from subprocess import Popen
from typing import Any

from playhead.boundary import Arguments, Call, cross, current_lane, outside_runs
from playhead.errors import ForkRefusedError
from playhead.gateway import Gateway

Lines = list[str]
_JOIN_S = 1.0


class ErrorReader:
    """Reads what a live harness writes to its standard error, in a thread that belongs to no run."""

    def __init__(self, stream: Any) -> None:
        self._lines: Lines = []
        self._lock = threading.Lock()
        with outside_runs():
            self._thread = threading.Thread(target=self._read, args=(stream,), name="playhead-harness", daemon=True)
            self._thread.start()

    def _read(self, stream: Any) -> None:
        with outside_runs():
            try:
                for raw in stream:
                    with self._lock:
                        self._lines.append(raw.decode("utf-8", errors="replace").rstrip())
            except ValueError:
                pass  # closed

    @property
    def has_ended(self) -> bool:
        """Whether nothing more comes."""
        return not self._thread.is_alive()

    def take(self, *, within: float = 0.0) -> Lines:
        """The lines that have come since the last time, waiting so many seconds for the last of all."""
        if within:
            self._thread.join(within)
        with self._lock:
            lines, self._lines = self._lines, []
        return lines


class HarnessErrors:
    """The standard error as the SDK sees it: its lines come with what crossed, so that they come again as they did."""

    def __init__(self, read: Callable[[], Lines]) -> None:
        self._read = read
        self._told: Lines = []
        self._kept: Any = None

    def keep_in(self, kept: Any) -> None:
        """Add all lines from now on to ``kept``, and those that have come."""
        self._kept = kept
        kept.extend(self._told)

    def tell(self, lines: Lines) -> None:
        """These lines have come."""
        self._told += lines
        if self._kept is not None:
            for line in lines:
                self._kept.append(line)
                logging.info("harness stderr: %s", line)

    def read(self) -> bytes:
        """All lines, up to the end."""
        self.tell(self._read())
        return "".join(f"{line}\n" for line in self._told).encode()

    def close(self) -> None:
        """Nothing: who reads it closes it."""


class _Input:
    """The standard input of the harness: closing it has the harness end."""

    def __init__(self, live: Any) -> None:
        self._live = live

    def close(self) -> None:
        if self._live is not None:
            self._live.close()


class HarnessProcess:
    """Stands for the process: the live one, or one that was recorded."""

    def __init__(self, live: Popen[bytes] | None) -> None:
        self._live = live
        self._reader = ErrorReader(live.stderr) if live is not None else None
        self.conversation = ""
        """What the conversation with it is called, once that is known."""
        self.gateway: Gateway | None = None
        """What stands before its models, until it has ended."""
        self.stdin = _Input(live.stdin if live is not None else None)
        self.stdout = live.stdout if live is not None else None
        self.stderr = HarnessErrors(self._read_rest)
        self.returncode: int | None = None

    @property
    def pid(self) -> int | None:
        """Its number; ``None`` where there is no process."""
        return self._live.pid if self._live is not None else None

    def take_lines(self) -> Lines:
        """What a live harness has written to its standard error since it was last asked."""
        return self._reader.take() if self._reader is not None else []

    @property
    def has_written_all(self) -> bool:
        """Whether nothing more comes from its standard error."""
        return self._reader is None or self._reader.has_ended

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, once it has ended."""
        if self.returncode is None:
            told = self._cross("antigravity.exit", lambda: self._end(timeout))
            self.returncode = told["code"]
            self.stderr.tell(told["stderr"])
        code: int = self.returncode
        return code

    def _end(self, timeout: float | None) -> dict[str, Any]:
        live, reader = self._alive()
        code = live.wait(timeout)
        if self.gateway is not None:
            self.gateway.close()
        return {"code": code, "stderr": reader.take(within=_JOIN_S)}

    def poll(self) -> int | None:
        """The exit code, if it has been waited for."""
        return self.returncode

    def kill(self) -> None:
        """End it at once."""
        if self._live is not None:
            self._live.kill()

    def terminate(self) -> None:
        """Ask it to end."""
        if self._live is not None:
            self._live.terminate()

    def send_signal(self, sig: int) -> None:
        """Send it a signal."""
        if self._live is not None:
            self._live.send_signal(sig)

    def _read_rest(self) -> Lines:
        lines: Lines = self._cross("antigravity.stderr", lambda: self._alive()[1].take(within=_JOIN_S))
        return lines

    def _alive(self) -> tuple[Popen[bytes], ErrorReader]:
        if self._live is None or self._reader is None:
            raise not_running()
        return self._live, self._reader

    def _cross(self, name: str, live: Callable[[], Any]) -> Any:
        lane = current_lane()
        if lane is None or lane.opaque:
            return live()
        asked = Arguments(HarnessProcess.wait, (), {"conversation": self.conversation})
        return cross(lane, Call("wrap", name, asked), live)


def not_running() -> ForkRefusedError:
    """The error where a fork goes live amid a conversation whose harness was never started."""
    return ForkRefusedError(
        "the Antigravity harness of this run is not running, so nothing can be asked of it live: what it holds in its "
        "memory is not in the recording",
        next="playhead fork RUN --at STEP --reexecute",
    )
