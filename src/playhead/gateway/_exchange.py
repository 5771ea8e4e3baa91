"""One request crosses the boundary: made live and passed on as it comes, or answered from a recording."""

from __future__ import annotations

import threading
from collections.abc import Callable
from urllib.parse import urlsplit

from playhead import _system
from playhead.boundary import Call, HttpHead, HttpRequest, Lane, PlayedStream, Tap, cross_stream
from playhead.errors import PlayheadError
from playhead.gateway._asker import Asker
from playhead.gateway._busy import Processes, linger
from playhead.gateway._refusals import write_refusal
from playhead.gateway._upstream import AskerGoneError, Reply, Upstream, has_gone, select_readable

_LEAVES_WITHIN_S = 10.0
_LOOK_S = 0.25
"""How long a client is waited for that went away here when recorded, and how often it is looked whether all is over."""


class Exchange:
    """A request of ``asker`` on its way through ``lane``.

    ``processes`` are those that may ask. ``begun`` is called when its answer begins to be given, ``over`` before the
    client can know that it is whole.
    """

    def __init__(
        self,
        lane: Lane,
        asker: Asker,
        upstream: Upstream,
        request: HttpRequest,
        *,
        route: str,
        processes: Processes | None,
        begun: Callable[[], None],
        over: Callable[[], None],
    ) -> None:
        self._lane = lane
        self._asker = asker
        self._upstream = upstream
        self._request = request
        self._route = route
        self._begun = begun
        self._over = over
        self._processes = processes
        self._is_answering = False

    def run(self) -> None:
        """Ask, and answer. Afterwards the connection is at its end, or ready for the next request."""
        target = urlsplit(self._request.url)
        place = f"{target.scheme}://{target.netloc.rpartition('@')[2]}{target.path}"
        call = Call("http", f"{self._request.method} {place}", self._request)
        try:
            cross_stream(self._lane, call, live=self._live, play=self._play)
        except AskerGoneError:
            self._asker.cut(reset=False)
        except PlayheadError as error:
            self._refuse(400, error.message, error.slug)
        except OSError as error:
            if type(error) is BrokenPipeError:  # it was the client that went away, when recorded
                self._await_leaving()
                self._asker.cut(reset=False)
            elif self._is_answering:
                self._asker.cut(reset=isinstance(error, ConnectionResetError))
            else:
                self._refuse(502, f"playhead: {place} cannot be reached: {error}", "upstream_unreachable")
        finally:
            self._over()

    def _refuse(self, status: int, message: str, code: str) -> None:
        if self._is_answering:
            self._asker.cut(reset=False)
            return
        body = write_refusal(status, message, code=code, route=self._route, path=self._request.url)
        try:
            self._asker.answer(status, body, head_only=self._request.method == "HEAD")
        except AskerGoneError:
            self._asker.cut(reset=False)

    def _live(self, tap: Tap) -> None:
        try:
            reply = self._upstream.ask(self._request, self._asker.sock)
        except AskerGoneError as error:
            raise BrokenPipeError(str(error)) from error
        except OSError as error:
            raise _plain(error) from error
        tap.head = reply.head
        self._is_answering = True
        try:
            self._asker.begin(reply.head)
            self._begun()
            self._pass_on(reply, tap)
        except AskerGoneError:
            tap.end("complete" if reply.ends_at_once() else "closed")
            reply.close()
            self._over()
            raise
        except OSError as error:
            reply.close()
            raise _plain(error) from error

    def _pass_on(self, reply: Reply, tap: Tap) -> None:
        for piece, together, is_last in reply.pieces():
            tap.take(piece, together=together)
            if is_last:
                tap.end("complete")
                self._over()
            self._asker.pass_on(piece, is_last=is_last)
        tap.end("complete")
        self._over()
        self._asker.end()

    def _play(self, stream: PlayedStream) -> None:
        try:
            self._asker.begin(stream.head or HttpHead(200, ()))
            self._is_answering = True
            self._begun()
            self._play_pieces(stream)
        except AskerGoneError:
            stream.close()
            raise
        finally:
            linger(self._lane.activity, self._processes)

    def _play_pieces(self, stream: PlayedStream) -> None:
        if stream.was_left:
            self._await_leaving()
        for piece in stream:
            is_over = stream.settle()
            if is_over:
                self._over()
            self._asker.pass_on(piece, is_last=is_over)
            if is_over:
                return
            if stream.was_left:
                self._await_leaving()
        self._over()
        self._asker.end()

    def _await_leaving(self) -> None:
        """When recorded the client went away here: let it, so that it finds nothing else than it did.

        Raises `AskerGoneError` as soon as it has; returns where it stays.
        """
        activity, key = self._lane.activity, threading.get_ident()
        deadline = _system.SystemClock.mono_ns() + int(_LEAVES_WITHIN_S * 1e9)
        activity.wait(key)
        try:
            while _system.SystemClock.mono_ns() < deadline and not self._lane.is_over:
                if select_readable([self._asker.sock], _LOOK_S) and has_gone(self._asker.sock):
                    raise AskerGoneError("the client went away")
        finally:
            activity.wake(key)


def _plain(error: OSError) -> OSError:
    """An error that any program can raise again: none of a library's own."""
    if type(error).__module__ == "builtins" and type(error) is not OSError:
        return error
    return ConnectionError(f"{type(error).__name__}: {error}")
