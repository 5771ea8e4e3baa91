"""Answers that come piece by piece: teed while they pass, or played from a recording.

Each piece reaches the program as soon as it would without us. The session hears of a stream exactly once,
when it ends, in whichever way: read to its end, left, cancelled, broken, or dropped and collected.
"""

from __future__ import annotations

import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any

from playhead._system import SystemClock
from playhead.boundary._calls import End, HttpHead, Outcome, Raised, Streamed
from playhead.boundary._cancellation import is_cancellation
from playhead.boundary._lanes import enter_lane, in_lane, leave_lane
from playhead.boundary._loops import running_watch
from playhead.boundary._sessions import Ticket
from playhead.boundary._turns import Pace, Turn
from playhead.errors import DivergenceError

_OVER: Any = object()
_now = SystemClock.mono_ns


class Tap:
    """Collects the pieces of one stream and hands them in once.

    ``head`` may be set later than at the start, by who learns of it.
    """

    __slots__ = (
        "__weakref__",
        "_done",
        "_gaps",
        "_head",
        "_head_ns",
        "_head_turns",
        "_items",
        "_last",
        "_turns",
        "ticket",
    )

    def __init__(self, ticket: Ticket, head: HttpHead | None = None) -> None:
        self.ticket = ticket
        self._head = head
        self._items: list[Any] = []
        self._gaps: list[int] = []
        self._turns: list[Sequence[int]] = []
        self._last = ticket.began_ns or _now()
        self._head_ns: int | None = None
        self._head_turns: Sequence[int] = ()
        self._done = False

    @property
    def head(self) -> HttpHead | None:
        """The beginning of the answer, once it has come."""
        return self._head

    @head.setter
    def head(self, head: HttpHead | None) -> None:
        self._head = head
        if self.ticket.answer is not None:
            return
        self._head_ns = _now() - self._last
        watch = running_watch()
        if watch is not None:
            self._head_turns = watch.mark_piece(self.ticket, is_head=True)

    def take(self, item: Any, *, together: bool = False) -> None:
        """One more piece has come, ``together`` with the one before it where the program could not tell them apart."""
        now = _now()
        keep = self.ticket.keep
        self._gaps.append(0 if together and self._items else now - self._last)
        self._items.append(item if keep is None else keep(item))
        self._last = now
        watch = running_watch() if self.ticket.answer is None else None
        if watch is not None:
            self._turns.append(watch.mark_piece(self.ticket))

    def end(self, end: End, error: BaseException | None = None, value: Any = None) -> None:
        """The stream has ended; later calls change nothing."""
        came = (self._turns, self._head_ns, self._head_turns)
        self._hand_in(Streamed(self.head, self._items, self._gaps, end, error, value, *came))

    def miss(self, error: BaseException) -> None:
        """The call raised ``error`` before any stream began, or, where there is a head, the stream did."""
        if self.head is None:
            self._hand_in(Raised(error))
        else:
            self.fail(error)

    def _hand_in(self, outcome: Outcome) -> None:
        if self._done:
            return
        self._done = True
        self.ticket.lane.session.finish(self.ticket, outcome)

    def fail(self, error: BaseException) -> None:
        """The stream raised ``error`` to the program."""
        if isinstance(error, GeneratorExit):
            self.end("closed")
        elif is_cancellation(error):
            self.end("cancelled", error)
        else:
            self.end("broken", error)


class Stream:
    """A stream as the program's side sees it, whether teed or played; iterate it once."""

    __slots__ = ("__weakref__", "_finalizer", "head")

    def __init__(self, head: HttpHead | None, tap: Tap) -> None:
        self.head = head
        self._finalizer = weakref.finalize(self, tap.end, "closed")
        self._finalizer.atexit = True

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("this stream is asynchronous")

    def __aiter__(self) -> AsyncIterator[Any]:
        raise TypeError("this stream is not asynchronous")

    def close(self) -> None:
        """Leave the stream."""

    async def aclose(self) -> None:
        """Leave the stream."""
        self.close()


class TeedStream(Stream):
    """A live stream that is passed on piece by piece and collected meanwhile.

    What its library does to get a piece, such as to set a time limit, belongs to the call and is not recorded.
    ``close`` is the live one's own way of being left, plain or to be awaited.
    """

    __slots__ = ("_close", "_items", "_tap")

    def __init__(self, items: Any, close: Callable[[], Any], tap: Tap) -> None:
        super().__init__(tap.head, tap)
        self._items = items
        self._close = close
        self._tap = tap

    def __iter__(self) -> Iterator[Any]:
        tap = self._tap
        inside = tap.ticket.inside
        try:
            with in_lane(inside):
                items = iter(self._items)
            while True:
                token = enter_lane(inside)
                try:
                    item = next(items, _OVER)
                finally:
                    leave_lane(token)
                if item is _OVER:
                    break
                tap.take(item)
                yield item
        except BaseException as error:
            tap.fail(error)
            raise
        tap.end("complete")

    async def __aiter__(self) -> AsyncIterator[Any]:
        tap = self._tap
        inside = tap.ticket.inside
        items = self._items.__aiter__()
        try:
            while True:
                token = enter_lane(inside)
                try:
                    item = await items.__anext__()
                except StopAsyncIteration:
                    break
                finally:
                    leave_lane(token)
                tap.take(item)
                yield item
        except BaseException as error:
            tap.fail(error)
            raise
        finally:
            if isinstance(items, AsyncGenerator):
                with in_lane(inside):
                    await items.aclose()
        tap.end("complete")

    def close(self) -> None:
        self._tap.end("closed")
        with in_lane(self._tap.ticket.inside):
            self._close()

    async def aclose(self) -> None:
        self._tap.end("closed")
        with in_lane(self._tap.ticket.inside):
            await self._close()


class PlayedStream(Stream):
    """A recorded stream: the same pieces, the same end."""

    __slots__ = ("_answer", "_given", "_pieces", "_tap")

    def __init__(self, answer: Streamed, tap: Tap) -> None:
        super().__init__(answer.head, tap)
        self._answer = answer
        self._given = 0
        self._pieces = _paced(answer, tap.ticket.pace)  # who iterates it anew goes on where it is
        self._tap = tap

    @property
    def is_spent(self) -> bool:
        """Whether all pieces of a stream that was read to its end have been given."""
        return self._answer.end == "complete" and self._given == len(self._answer.items)

    @property
    def was_left(self) -> bool:
        """Whether the program, when recorded, left the stream where it is now."""
        return self._answer.end == "closed" and self._given == len(self._answer.items)

    def settle(self) -> bool:
        """After a piece: end the stream in its turn, if that was the last and nothing comes in between; whether it has.

        Blocks until whoever else goes on has come to rest, so that the last piece can be given as its end.
        """
        if not self.is_spent:
            return False
        turn = self._last_turn()
        if turn is not None:
            if not turn.is_next:
                return False
            turn.wait()
        self._conclude()
        return True

    @property
    def next_is_together(self) -> bool:
        """Whether the next piece came together with the one given last."""
        gaps = self._answer.gaps_ns
        return 0 < self._given < min(len(gaps), len(self._answer.items)) and gaps[self._given] == 0

    def __iter__(self) -> Iterator[Any]:
        try:
            for turn, item in self._pieces:
                if turn is not None:
                    turn.wait()
                self._tap.take(item)
                self._given += 1
                yield item
            turn = self._last_turn()
            if turn is not None:
                turn.wait()
            self._conclude()
        except BaseException as error:
            self._tap.fail(error)
            raise

    async def __aiter__(self) -> AsyncIterator[Any]:
        try:
            for turn, item in self._pieces:
                if turn is not None:
                    await turn
                self._tap.take(item)
                self._given += 1
                yield item
            turn = self._last_turn()
            if turn is not None:
                await turn
            self._conclude()
        except BaseException as error:
            self._tap.fail(error)
            raise

    def _last_turn(self) -> Turn | None:
        """When a stream ends that the program did not leave."""
        pace = self._tap.ticket.pace
        return None if pace is None or self._answer.end == "closed" else pace.end()

    def _conclude(self) -> None:
        answer = self._answer
        if answer.end == "complete":
            self._tap.end("complete")
        elif answer.error is not None:
            raise answer.error
        else:
            pieces = len(answer.items)
            raise DivergenceError(
                "the program reads on where the recorded run left this stream, "
                f"after {pieces} piece{'' if pieces == 1 else 's'}",
                next="playhead show RUN",
                facts={"pieces": pieces, "lane": self._tap_lane()},
            )

    def _tap_lane(self) -> str:
        return self._tap.ticket.lane.name

    def close(self) -> None:
        """Leave the stream; after its last piece that is its end."""
        self._tap.end("complete" if self.is_spent else "closed")


def _paced(answer: Streamed, pace: Pace | None) -> Iterator[tuple[Turn | None, Any]]:
    """The pieces of a recorded stream, each with the turn at which it came."""
    after_ns = 0
    gaps = answer.gaps_ns[: len(answer.items)]
    for item, gap, turns in zip(answer.items, chain(gaps, repeat(0)), chain(answer.turns, repeat(())), strict=False):
        after_ns += gap
        yield None if pace is None else pace.piece(after_ns, turns), item
