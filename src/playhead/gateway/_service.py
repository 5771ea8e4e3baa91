"""The server itself: who may come in, where each request leads, and a thread for each connection."""

from __future__ import annotations

import hmac
import socket
import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from playhead.boundary import HttpRequest, at_work, outside_runs, pass_uncaptured
from playhead.errors import PlayheadError
from playhead.gateway._asker import Asked, Asker, BadRequestError
from playhead.gateway._conversations import Strand
from playhead.gateway._exchange import Exchange
from playhead.gateway._headers import end_to_end
from playhead.gateway._refusals import write_refusal
from playhead.gateway._upstream import Upstream

if TYPE_CHECKING:
    from playhead.gateway._gateway import Gateway

_BACKLOG = 512
_ENDS_WITHIN_S = 5.0


class Service:
    """Serves ``gateway`` from now on. It is made, and closed, outside of every run."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._upstream = Upstream()
        self._askers: dict[Asker, threading.Thread] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
        self.port: int = self._listener.getsockname()[1]
        self._acceptor = threading.Thread(target=self._accept, name="playhead-gateway", daemon=True)
        self._acceptor.start()

    def close(self) -> None:
        """Stop listening, and hang up on everybody. Can be called twice."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            askers = dict(self._askers)
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:  # not on every system
            socket.create_connection(("127.0.0.1", self.port)).close()
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
        known = hmac.compare_digest(token.encode("utf-8", "replace"), self._gateway.token.encode())
        route = rest.partition("?")[0].partition("/")[0]
        base = self._gateway.routes.get(route)
        if not known or base is None:
            self._refuse(asker, 404, "playhead: nothing is here", "not_found", head_only=asked.method == "HEAD")
            return
        request = _forward(asked, base + rest[len(route) :])
        if asked.upgrades:
            self._refuse_upgrade(asker, route, request)
            return
        gateway = self._gateway
        lane = gateway.lane_of(route, request) if gateway.lane_of is not None else None
        strand = gateway.conversations.enter(route, request) if lane is None else Strand(lane)
        with at_work(strand.lane.activity):
            Exchange(
                strand.lane,
                asker,
                self._upstream,
                request,
                route=route,
                processes=self._gateway.processes,
                begun=strand.begin,
                over=strand.end,
            ).run()

    def _refuse_upgrade(self, asker: Asker, route: str, request: HttpRequest) -> None:
        why = "playhead: the gateway does not carry websockets"
        try:
            pass_uncaptured(self._gateway.lane, "websocket", request.url.partition("?")[0])
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
