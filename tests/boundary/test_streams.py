"""The doors for streams, the tap that collects one, and the stream that plays one."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playhead.boundary import (
    Activity,
    Call,
    HttpHead,
    HttpRequest,
    Lane,
    Outcome,
    PlayedStream,
    Raised,
    Streamed,
    Tap,
    TeedStream,
    Ticket,
    cross_stream,
    cross_stream_async,
    current_lane,
    pass_uncaptured,
)
from playhead.errors import ConnectionRefusedInReplayError, DivergenceError

HEAD = HttpHead(200, (("A", "1"),))
CALL = Call("http", "GET http://x/", HttpRequest("GET", "http://x/", (), b"", "test"))


class Session:
    """Answers everything with ``answer``, or lets it go live; keeps what came of it."""

    is_over = False

    def __init__(self, answer: Outcome | None = None, *, forbids_network: bool = False) -> None:
        self.answer = answer
        self.forbids_network = forbids_network
        self.outcomes: list[Outcome] = []
        self.notices: list[tuple[str, Any]] = []
        self.activity = Activity()

    def ignores(self, host: str) -> bool:
        return False

    def refuse(self, lane: Lane | None, place: str) -> BaseException | None:
        return ConnectionRefusedInReplayError(f"no {place}") if self.forbids_network else None

    def open(self, lane: Lane, *, waited: int | None = None) -> bool:
        return True

    def begin(self, lane: Lane, call: Call) -> Ticket:
        return Ticket(lane, call, answer=self.answer)

    def finish(self, ticket: Ticket, outcome: Outcome) -> None:
        self.outcomes.append(outcome)

    def read(self, lane: Lane, kind: str, fn: str, site: str, live: Callable[[], Any]) -> Any:
        return live()

    def tell_time(self, now: float) -> float:
        return now

    def follows(self, lane: Lane, after: Lane) -> None:
        pass

    def notice(self, lane: Lane, name: str, details: Any = None) -> None:
        self.notices.append((name, details))


def recorded(*pieces: bytes, **changes: Any) -> Streamed:
    return Streamed(**{"head": HEAD, "items": pieces, "gaps_ns": [1] * len(pieces), "end": "complete", **changes})


def answered(session: Session) -> PlayedStream:
    return cross_stream(Lane(session), CALL, live=lambda tap: pytest.fail("it went live"), play=lambda stream: stream)


def test_a_live_call_gives_its_own_result_and_taps_what_it_likes() -> None:
    session = Session()

    def live(tap: Tap) -> str:
        inner = current_lane()
        assert inner is not None
        assert inner.opaque
        tap.head = HEAD
        tap.take(b"one")
        tap.end("complete")
        return "result"

    lane = Lane(session)
    assert cross_stream(lane, CALL, live=live, play=lambda stream: "played") == "result"
    assert current_lane() is None
    (outcome,) = session.outcomes
    assert isinstance(outcome, Streamed)
    assert (outcome.head, list(outcome.items), outcome.end) == (HEAD, [b"one"], "complete")


def test_an_error_before_the_head_is_the_answer_and_one_after_it_breaks_the_stream() -> None:
    for head in (None, HEAD):
        session = Session()

        def live(tap: Tap, head: HttpHead | None = head) -> None:
            tap.head = head
            raise OSError("gone")

        with pytest.raises(OSError, match="gone"):
            cross_stream(Lane(session), CALL, live=live, play=lambda stream: None)
        (outcome,) = session.outcomes
        if head is None:
            assert isinstance(outcome, Raised)
        else:
            assert isinstance(outcome, Streamed)
            assert outcome.end == "broken"


def test_the_awaited_door_does_the_same() -> None:
    async def live(tap: Tap) -> str:
        tap.head = HEAD
        await asyncio.sleep(0)
        tap.end("closed")
        return "result"

    async def fail(tap: Tap) -> str:
        raise asyncio.CancelledError

    async def play(stream: PlayedStream) -> str:
        return "".join([piece.decode() async for piece in stream])

    async def program() -> None:
        session = Session()
        assert await cross_stream_async(Lane(session), CALL, live=live, play=play) == "result"
        with pytest.raises(asyncio.CancelledError):
            await cross_stream_async(Lane(session), CALL, live=fail, play=play)
        assert [type(outcome) for outcome in session.outcomes] == [Streamed, Raised]
        session = Session(recorded(b"a", b"b"))
        assert await cross_stream_async(Lane(session), CALL, live=live, play=play) == "ab"

    asyncio.run(program())


def test_a_recorded_error_is_given_its_live_objects_before_it_is_raised() -> None:
    session = Session(Raised(OSError("gone")))

    def revive(error: BaseException) -> None:
        error.pool = "mine"  # type: ignore[attr-defined]

    with pytest.raises(OSError, match="gone") as info:
        cross_stream(Lane(session), CALL, live=lambda tap: None, play=lambda stream: None, revive=revive)
    assert info.value.pool == "mine"  # type: ignore[attr-defined]


@given(st.lists(st.binary(max_size=5), max_size=6), st.integers(0, 7))
def test_however_much_of_a_recorded_stream_is_read_it_ends_once(pieces: list[bytes], count: int) -> None:
    session = Session(recorded(*pieces))
    stream = answered(session)
    got = [piece for piece, _ in zip(stream, range(count), strict=False)]
    stream.close()
    stream.close()
    del stream
    gc.collect(1)
    assert got == pieces[:count]
    (outcome,) = session.outcomes
    assert isinstance(outcome, Streamed)
    assert outcome.end == ("complete" if count >= len(pieces) else "closed")


def test_reading_on_where_the_recorded_program_left_diverges() -> None:
    session = Session(recorded(b"a", end="closed"))
    stream = iter(answered(session))
    assert next(stream) == b"a"
    with pytest.raises(DivergenceError, match="after 1 piece\n"):
        next(stream)


def test_a_recorded_break_is_raised_after_the_pieces_that_had_come() -> None:
    got = []
    with pytest.raises(ConnectionResetError):
        for piece in answered(Session(recorded(b"a", end="broken", error=ConnectionResetError(104, "reset")))):
            got.append(piece)
    assert got == [b"a"]


def test_pieces_that_came_together_are_known_by_the_time_between_them() -> None:
    session = Session()
    tap = Tap(session.begin(Lane(session), CALL), HEAD)
    for piece, together in ((b"a", True), (b"b", True), (b"c", False)):
        tap.take(piece, together=together)
    tap.end("complete")
    (outcome,) = session.outcomes
    assert isinstance(outcome, Streamed)
    first, second, third = outcome.gaps_ns
    assert first > 0 == second < third
    stream = answered(Session(outcome))
    assert [stream.next_is_together for _ in stream] == [True, False, False]


def test_a_teed_stream_closes_what_it_was_teed_from() -> None:
    closed: list[str] = []
    session = Session()
    stream = TeedStream([b"a", b"b"], lambda: closed.append("closed"), Tap(session.begin(Lane(session), CALL), HEAD))
    assert next(iter(stream)) == b"a"
    stream.close()
    assert closed == ["closed"]
    (outcome,) = session.outcomes
    assert isinstance(outcome, Streamed)
    assert (list(outcome.items), outcome.end) == ([b"a"], "closed")


def test_what_cannot_be_captured_is_noted_and_refused_where_nothing_may_go_live() -> None:
    session = Session()
    pass_uncaptured(Lane(session), "websocket", "ws://x/")
    assert session.notices == [("websocket", {"place": "ws://x/"})]
    session = Session(forbids_network=True)
    with pytest.raises(ConnectionRefusedInReplayError, match="websockets are not captured"):
        pass_uncaptured(Lane(session), "websocket", "ws://x/")
