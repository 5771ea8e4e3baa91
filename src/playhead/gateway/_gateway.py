"""The gateway as others see it: where its clients come in, and for whom it asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from playhead import _system
from playhead.boundary import HttpRequest, Lane, outside_runs
from playhead.errors import UsageError
from playhead.gateway._busy import Processes
from playhead.gateway._conversations import Conversations

if TYPE_CHECKING:
    from playhead.gateway._service import Service

_TOKEN_DIGITS = 32

LaneOf = Callable[[str, HttpRequest], "Lane | None"]
"""By route and request: the lane that it belongs to, or ``None`` for that of its conversation."""


class Gateway:
    """A loopback server whose requests cross the boundary in lanes below ``lane``: a ``with`` block.

    ``routes`` are the upstream base URLs by name; what stands in their paths stays before the path that is asked for.
    ``lane_of`` says which lane a request belongs to, where that is known better than by its conversation, and
    ``conversations`` makes those lanes otherwise than by default. Listens on 127.0.0.1 alone, and answers whoever does
    not know its random token with 404. Raises `UsageError` on entering where its extra is not installed.
    """

    def __init__(
        self,
        lane: Lane,
        routes: Mapping[str, str],
        *,
        lane_of: LaneOf | None = None,
        conversations: Conversations | None = None,
    ) -> None:
        self.lane = lane
        self.routes = {name: base.rstrip("/") for name, base in routes.items()}
        self.lane_of = lane_of
        self.conversations = conversations or Conversations(lane)
        self.token = _system.random_hex(_TOKEN_DIGITS)
        self.processes: Processes | None = None
        """Those that ask, where they are known."""
        self._service: Service | None = None

    def __enter__(self) -> Self:
        try:
            from playhead.gateway._service import Service
        except ModuleNotFoundError as error:
            raise UsageError(
                f"the gateway needs {error.name}, which is not installed", next="pip install 'playhead[gateway]'"
            ) from error
        with outside_runs():
            self._service = Service(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def url(self, route: str) -> str:
        """The base URL for the clients of a route, without a slash at the end. Raises `KeyError` for any other."""
        if route not in self.routes or self._service is None:
            raise KeyError(route)
        return f"http://127.0.0.1:{self._service.port}/{self.token}/{route}"

    def attend(self, pid: int) -> None:
        """The process that asks, with all that it starts: in a replay it is let come to rest after each answer.

        That is, where somebody else waits for a turn. Of a process that is not known it is taken that it rests soon.
        """
        self.processes = Processes(pid)

    def close(self) -> None:
        """Stop listening, and hang up on everybody. Can be called twice."""
        if self._service is not None:
            with outside_runs():
                self._service.close()
