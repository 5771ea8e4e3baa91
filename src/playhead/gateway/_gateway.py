"""The loopback server: who may come in, where each request leads, and a thread for each connection."""

from __future__ import annotations

import hmac
import socket
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from playhead import _system
from playhead.boundary import HttpRequest, Lane, at_work, outside_runs, pass_uncaptured
from playhead.errors import PlayheadError
from playhead.gateway._asker import Asked, Asker, BadRequestError
from playhead.gateway._conversations import Conversations, Strand
from playhead.gateway._exchange import Exchange
from playhead.gateway._headers import end_to_end
from playhead.gateway._refusals import write_refusal
from playhead.gateway._upstream import Upstream

_TOKEN_DIGITS = 32
_BACKLOG = 512
_ENDS_WITHIN_S = 5.0

LaneOf = Callable[[str, HttpRequest], "Lane | None"]
"""By route and request: the lane that it belongs to, or ``None`` for that of its conversation."""


class Gateway:
    """A loopback server whose requests cross the boundary in lanes below ``lane``.

    ``routes`` are the upstream base URLs by name; what stands in their paths stays before the path that is asked for.
    ``lane_of`` says which lane a request belongs to, where that is known better than by its conversation, and
    ``conversations`` makes those lanes otherwise than by default. Listens on 127.0.0.1 alone, and answers whoever does
    not know its random token with 404.
    """

    def __init__(
        self,
        lane: Lane,
        routes: Mapping[str, str],
        *,
        lane_of: LaneOf | None = None,
        conversations: Conversations | None = None,
    ) -> None:
        self._lane = lane
        self._routes = {name: base.rstrip("/") for name, base in routes.items()}
        self._lane_of = lane_of
        self._conversations = conversations or Conversations(lane)
        self._token = _system.random_hex(_TOKEN_DIGITS)
        self._upstream = Upstream()
        self._askers: dict[Asker, threading.Thread] = {}
        self._lock = threading.Lock()
        self._closed = False

    def __enter__(self) -> Self:
        with outside_runs():
            self._listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
            self._port: int = self._listener.getsockname()[1]
            self._acceptor = threading.Thread(target=self._accept, name="playhead-gateway", daemon=True)
            self._acceptor.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def url(self, route: str) -> str:
        """The base URL for the clients of a route, without a slash at the end."""
        if route not in self._routes:
            raise KeyError(route)
        return f"http://127.0.0.1:{self._port}/{self._token}/{route}"

    def close(self) -> None:
        """Stop listening, and hang up on everybody. Can be called twice."""
        with outside_runs():
            with self._lock:
                if self._closed:
                    return
                self._closed = True
                askers = dict(self._askers)
            try:
                self._listener.shutdown(socket.SHUT_RDWR)
            except OSError:  # not on every system
                socket.create_connection(("127.0.0.1", self._port)).close()
            self._acceptor.join(_ENDS_WITHIN_S)
            self._listener.close()
            for asker in askers:
                asker.hang_up()
            for thread in askers.values():
                thread.join(_ENDS_WITHIN_S)
            self._upstream.close()

    def _accept(self) -> None:
        with outside_runs():
            while not self._closed:
                try:
                    sock, _ = self._listener.accept()
                except OSError:
                    return
                asker = Asker(sock)
                thread = threading.Thread(target=self._serve, args=(asker,), name="playhead-gateway", daemon=True)
                with self._lock:
                    if self._closed:
                        sock.close()
                        return
                    self._askers[asker] = thread
                thread.start()

    def _serve(self, asker: Asker) -> None:
        with outside_runs():
            try:
                while (asked := asker.read()) is not None:
                    self._answer(asker, asked)
                    if asker.sock.fileno() < 0 or not asker.is_reusable():
                        break
            except BadRequestError as error:
                self._refuse(asker, 400, f"playhead: {error}", "bad_request")
            except OSError:
                pass  # it has gone
            finally:
                asker.cut(reset=False)
                with self._lock:
                    self._askers.pop(asker, None)

    def _answer(self, asker: Asker, asked: Asked) -> None:
        token, _, rest = asked.target.removeprefix("/").partition("/")
        known = hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode())
        route = rest.partition("?")[0].partition("/")[0]
        base = self._routes.get(route)
        if not known or base is None:
            self._refuse(asker, 404, "playhead: nothing is here", "not_found", head_only=asked.method == "HEAD")
            return
        request = _forward(asked, base + rest[len(route) :])
        if asked.upgrades:
            self._refuse_upgrade(asker, route, request)
            return
        lane = self._lane_of(route, request) if self._lane_of is not None else None
        strand = self._conversations.enter(route, request) if lane is None else Strand(lane)
        with at_work(strand.lane.activity):
            Exchange(
                strand.lane,
                asker,
                self._upstream,
                request,
                route=route,
                begun=strand.begin,
                over=strand.end,
            ).run()

    def _refuse_upgrade(self, asker: Asker, route: str, request: HttpRequest) -> None:
        why = "playhead: the gateway does not carry websockets"
        try:
            pass_uncaptured(self._lane, "websocket", request.url.partition("?")[0])
        except PlayheadError as error:
            why = error.message
        self._refuse(asker, 501, why, "websocket", route=route, path=request.url)

    def _refuse(
        self,
        asker: Asker,
        status: int,
        message: str,
        code: str,
        *,
        route: str = "",
        path: str = "",
        head_only: bool = False,
    ) -> None:
        body = write_refusal(status, message, code=code, route=route, path=path)
        asker.answer(status, body, head_only=head_only)


def _forward(asked: Asked, url: str) -> HttpRequest:
    """The request as the upstream is to get it."""
    host = urlsplit(url).netloc.rpartition("@")[2]
    headers = (("Host", host), *end_to_end(asked.headers, but=("host", "content-length")))
    if asked.body or asked.method in ("POST", "PUT", "PATCH"):
        headers = (*headers, ("Content-Length", str(len(asked.body))))
    return HttpRequest(asked.method, url, headers, asked.body, "playhead.gateway")
