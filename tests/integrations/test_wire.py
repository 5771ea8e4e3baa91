"""Laws of HTTP/1.1 on the wire: what is taken out of it is what went in, wherever it is cut."""

from __future__ import annotations

import io
import itertools
from http.client import HTTPResponse
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from playhead.boundary import HttpHead, Lane, Outcome, PlayedStream, Streamed, Tap, Ticket
from playhead.integrations._wire import Played, WireTap
from tests.boundary.test_streams import CALL, Session

BODIES = st.lists(st.binary(min_size=1, max_size=40), max_size=6)
FRAMINGS = st.sampled_from(["chunked", "length", "rest"])


class Socket:
    """As much of a socket as a response needs."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, *_: Any) -> io.BytesIO:
        return io.BytesIO(self._data)


def head_of(framing: str, pieces: list[bytes]) -> HttpHead:
    said = {"chunked": ("Transfer-Encoding", "chunked"), "length": ("Content-Length", str(sum(map(len, pieces))))}
    headers = [("Set-Cookie", "a=1"), ("set-cookie", "b=2")]
    return HttpHead(200, (*headers, said[framing]) if framing in said else tuple(headers), "HTTP/1.1", "Fine")


def on_the_wire(framing: str, pieces: list[bytes]) -> bytes:
    stream = PlayedStream(Streamed(head_of(framing, pieces), pieces, [], "complete"), _tap(Session()))
    played = Played(stream, "GET")
    return played.head + b"".join(played.frames())


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({place % (len(data) + 1) for place in places} | {0, len(data)})
    return [data[a:b] for a, b in itertools.pairwise(ends)]


def _tap(session: Session) -> Tap:
    return Tap(Ticket(Lane(session), CALL))


def _only(session: Session) -> Streamed:
    outcomes: list[Outcome] = session.outcomes
    (outcome,) = outcomes
    assert isinstance(outcome, Streamed)
    return outcome


@given(FRAMINGS, BODIES)
def test_the_standard_library_reads_what_is_played(framing: str, pieces: list[bytes]) -> None:
    response = HTTPResponse(Socket(on_the_wire(framing, pieces)))  # type: ignore[arg-type]
    response.begin()
    assert (response.status, response.reason) == (200, "Fine")
    assert tuple(response.msg.items()) == head_of(framing, pieces).headers
    assert response.read() == b"".join(pieces)


@given(FRAMINGS, BODIES, st.lists(st.integers(0, 500), max_size=8), st.booleans())
def test_a_tap_finds_the_body_wherever_the_bytes_are_cut(
    framing: str, pieces: list[bytes], places: list[int], interim: bool
) -> None:
    session = Session()
    wire = WireTap(_tap(session), "GET")
    data = (b"HTTP/1.1 100 Continue\r\n\r\n" if interim else b"") + on_the_wire(framing, pieces)
    for part in cut(data, places):
        wire.feed(part)
    wire.eof()
    wire.leave()
    outcome = _only(session)
    assert outcome.end == "complete"
    assert outcome.head == head_of(framing, pieces)
    assert b"".join(outcome.items) == b"".join(pieces)
    if framing == "chunked":
        assert list(outcome.items) == pieces


@given(st.sampled_from(["chunked", "length"]), BODIES.filter(bool), st.integers(1, 500))
def test_a_connection_that_ends_early_breaks_the_stream(framing: str, pieces: list[bytes], lost: int) -> None:
    data = on_the_wire(framing, pieces)
    body = len(data) - len(
        Played(PlayedStream(Streamed(head_of(framing, pieces), (), (), "complete"), _tap(Session())), "GET").head
    )
    session = Session()
    wire = WireTap(_tap(session), "GET")
    wire.feed(data[: len(data) - 1 - lost % body])
    wire.eof()
    outcome = _only(session)
    assert outcome.end == "broken"
    assert b"".join(pieces).startswith(b"".join(outcome.items))


@given(st.binary(max_size=300))
def test_bytes_that_are_not_http_do_no_harm(data: bytes) -> None:
    session = Session()
    wire = WireTap(_tap(session), "GET")
    wire.feed(data)
    wire.leave()
    wire = WireTap(_tap(session), "GET", HttpHead(200, (("Transfer-Encoding", "chunked"),)))
    wire.feed(data)
    wire.leave()


@given(st.sampled_from(["HEAD", "GET"]), st.sampled_from([204, 304, 200]))
def test_bodiless_answers_are_complete_at_their_head(method: str, status: int) -> None:
    if method == "GET" and status == 200:
        return
    session = Session()
    WireTap(_tap(session), method, HttpHead(status, (("Content-Length", "30"),)))
    assert _only(session).end == "complete"
