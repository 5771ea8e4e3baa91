"""The two doors through which every call of the program leaves it, and the generators' versions of them.

They are alike but for the waiting: `cross` for plain code, `cross_async` for code that awaits. Neither knows
whether it is being recorded, replayed or forked; the session's ticket says whether to go live.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from typing import Any, TypeVar, cast

from playhead.boundary._calls import Call, Outcome, Raised, Returned, Streamed
from playhead.boundary._lanes import Lane, enter_lane, in_lane, leave_lane
from playhead.boundary._sessions import Ticket
from playhead.boundary._streams import PlayedStream, Tap

T = TypeVar("T")


def cross(lane: Lane, call: Call, live: Callable[[], T]) -> T:
    """Make ``call`` in ``lane``: answered by the session, or done by ``live``.

    ``live`` runs in the lane of the call's own body, so that what it does on its way belongs to it.
    """
    ticket = lane.session.begin(lane, call)
    await_turn(ticket)
    if ticket.answer is not None:
        return cast(T, _serve(ticket, ticket.answer))
    token = enter_lane(lane.inside())
    try:
        result = live()
    except BaseException as error:
        lane.session.finish(ticket, Raised(error))
        raise
    finally:
        leave_lane(token)
    lane.session.finish(ticket, Returned(result))
    return result


async def cross_async(lane: Lane, call: Call, live: Callable[[], Awaitable[T]]) -> T:
    """`cross` for a call that is awaited."""
    ticket = lane.session.begin(lane, call)
    await await_turn_async(ticket)
    if ticket.answer is not None:
        return cast(T, _serve(ticket, ticket.answer))
    ticket.body = lane.body()
    token = enter_lane(ticket.body)
    try:
        result = await live()
    except BaseException as error:
        lane.session.finish(ticket, Raised(error))
        raise
    finally:
        leave_lane(token)
    lane.session.finish(ticket, Returned(result))
    return result


def cross_stream(
    lane: Lane,
    call: Call,
    *,
    live: Callable[[Tap], T],
    play: Callable[[PlayedStream], T],
    revive: Callable[[BaseException], None] | None = None,
) -> T:
    """`cross` for an answer whose pieces the program pulls from an object of its client library.

    ``live`` makes the call, gives the tap its head and has every piece and the end told to it. ``play`` makes
    the same kind of object over a recorded answer, and ``revive`` gives a recorded error the live objects that
    no recording can hold. What ``live`` raises is noted here.
    """
    ticket = lane.session.begin(lane, call)
    await_turn(ticket)
    if ticket.answer is not None:
        return play(_play(ticket, ticket.answer, revive))
    tap = Tap(ticket)
    token = enter_lane(lane.inside())
    try:
        return live(tap)
    except BaseException as error:
        tap.miss(error)
        raise
    finally:
        leave_lane(token)


async def cross_stream_async(
    lane: Lane,
    call: Call,
    *,
    live: Callable[[Tap], Awaitable[T]],
    play: Callable[[PlayedStream], Awaitable[T]],
    revive: Callable[[BaseException], None] | None = None,
) -> T:
    """`cross_stream` for a call that is awaited."""
    ticket = lane.session.begin(lane, call)
    await await_turn_async(ticket)
    if ticket.answer is not None:
        return await play(_play(ticket, ticket.answer, revive))
    tap = Tap(ticket)
    ticket.body = lane.body()
    token = enter_lane(ticket.body)
    try:
        return await live(tap)
    except BaseException as error:
        tap.miss(error)
        raise
    finally:
        leave_lane(token)


def await_turn(ticket: Ticket) -> None:
    """Wait until the answer may be given, or the call made; what ends the waiting otherwise is what became of it."""
    if ticket.turn is not None:
        try:
            ticket.turn.wait()
        except BaseException as error:
            ticket.lane.session.finish(ticket, Raised(error))
            raise


async def await_turn_async(ticket: Ticket) -> None:
    """`await_turn` that lets other tasks go on."""
    if ticket.turn is not None:
        try:
            await ticket.turn
        except BaseException as error:
            ticket.lane.session.finish(ticket, Raised(error))
            raise


async def finish_async(ticket: Ticket, outcome: Outcome) -> Outcome:
    """End a call that was begun at the session itself, since what carries it out is none of our functions.

    In its turn it comes to what the session answers; where that went live, to ``outcome``.
    """
    await await_turn_async(ticket)
    ended = outcome if ticket.answer is None else ticket.answer
    ticket.lane.session.finish(ticket, ended)
    return ended


def pass_uncaptured(lane: Lane, name: str, place: str) -> None:
    """Let something go by that cannot be recorded, such as a websocket: it is noted, or refused in a replay.

    Raises the session's `DivergenceError` where no connection may be opened.
    """
    session = lane.session
    session.notice(lane, name, {"place": place})
    refusal = session.refuse(lane, f"{place} ({name}s are not captured)")
    if refusal is not None:
        raise refusal


def cross_items(lane: Lane, call: Call, live: Callable[[], Generator[Any, Any, Any]]) -> Generator[Any, Any, Any]:
    """`cross` for a generator: what it yields, returns and raises is kept; ``send`` and ``throw`` reach it live."""
    ticket = lane.session.begin(lane, call)
    await_turn(ticket)
    tap = Tap(ticket, None)
    if ticket.answer is not None:
        return (yield from _play_items(_streamed(ticket.answer), tap))
    inside = lane.inside()
    source = live()
    try:
        with in_lane(inside):
            item = next(source)
        while True:
            tap.take(item)
            try:
                sent = yield item
            except GeneratorExit:
                source.close()
                raise
            except BaseException as thrown:
                with in_lane(inside):
                    item = source.throw(thrown)
            else:
                with in_lane(inside):
                    item = source.send(sent)
    except StopIteration as stop:
        tap.end("complete", value=stop.value)
        return stop.value
    except BaseException as error:
        tap.fail(error)
        raise


async def cross_items_async(
    lane: Lane, call: Call, live: Callable[[], AsyncGenerator[Any, Any]]
) -> AsyncGenerator[Any, Any]:
    """`cross_items` for an asynchronous generator."""
    ticket = lane.session.begin(lane, call)
    await await_turn_async(ticket)
    tap = Tap(ticket, None)
    if ticket.answer is not None:
        async for item in PlayedStream(_streamed(ticket.answer), tap):
            yield item
        return
    inside = ticket.body = lane.body()
    source = live()
    try:
        with in_lane(inside):
            item = await source.__anext__()
        while True:
            tap.take(item)
            try:
                sent = yield item
            except GeneratorExit:
                await source.aclose()
                raise
            except BaseException as thrown:
                with in_lane(inside):
                    item = await source.athrow(thrown)
            else:
                with in_lane(inside):
                    item = await source.asend(sent)
    except StopAsyncIteration:
        tap.end("complete")
    except BaseException as error:
        tap.fail(error)
        raise


def _serve(ticket: Ticket, answer: Outcome) -> Any:
    if isinstance(answer, Streamed):
        return PlayedStream(answer, Tap(ticket, answer.head))
    ticket.lane.session.finish(ticket, answer)
    if isinstance(answer, Raised):
        raise answer.error
    return answer.value


def _play(ticket: Ticket, answer: Outcome, revive: Callable[[BaseException], None] | None) -> PlayedStream:
    """The recorded stream; raises what was raised in its place."""
    if isinstance(answer, Raised):
        if revive is not None:
            revive(answer.error)
        _serve(ticket, answer)
    return PlayedStream(_streamed(answer), Tap(ticket, answer.head if isinstance(answer, Streamed) else None))


def _streamed(answer: Outcome) -> Streamed:
    if isinstance(answer, Streamed):
        return answer
    if isinstance(answer, Raised):
        return Streamed(None, (), (), "broken", answer.error)
    return Streamed(None, tuple(answer.value), (), "complete")


def _play_items(answer: Streamed, tap: Tap) -> Generator[Any, Any, Any]:
    yield from PlayedStream(answer, tap)
    return answer.value
