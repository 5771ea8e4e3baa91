"""A turn that is waited for, by a thread, a task or a timer."""

from __future__ import annotations

import _thread
import math
from collections.abc import Callable, Generator
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from playhead import _system
from playhead.boundary import Gate, LoopWatch, is_cancellation, running_loop, running_watch

if TYPE_CHECKING:
    from playhead.player._comings import Coming
    from playhead.player._report import Divergence
    from playhead.player._turnstile import Turnstile

FREE = -1
"""The index of a hold that nothing recorded decides about: it comes when its time has come."""

_POLL_S = 0.002
_LONGEST_POLL_S = 0.05
_LOOKERS = 8
"""However many threads wait, no more of them than that look again and again whether all rest."""


class Hold:
    """Someone waits for all moments before ``index`` to have happened.

    ``moment`` is the moment that this is itself, if the release makes it happen. ``turns`` says after how many turns
    of its loop it came, where it did not come to an idle one; of a thread, those of the loop ``beside`` it. One that is
    ``cancelled`` was ended by the program itself when recorded. ``at_ns`` is the recorded time. One whose index is
    `FREE` goes by that alone, and one that is ``never`` does not come: the program had taken it back. One that
    ``yields`` gives nothing that was recorded: it need not keep its place where nothing else can go on. One that
    ``is_near`` came in the turn after its question. ``coming`` is there for pieces of streams, and for what came soon
    after one.
    """

    __slots__ = (
        "at_ns", "beside", "blocks", "cancelled", "coming", "error", "explain", "index", "is_amid", "is_gated",
        "is_near", "is_nudged", "is_open", "is_timer", "key", "lane", "loop", "moment", "never", "place", "ready",
        "seconds", "stile", "turns", "wake", "was_left", "watch", "yields",
    )  # fmt: skip

    def __init__(
        self,
        stile: Turnstile,
        index: int,
        *,
        lane: str,
        place: str,
        moment: int | None = None,
        turns: int | None = None,
        cancelled: bool = False,
        at_ns: int = 0,
        never: bool = False,
        yields: bool = False,
        is_near: bool = False,
        coming: Coming | None = None,
    ) -> None:
        self.stile = stile
        self.index = index
        self.lane = lane
        self.place = place
        self.moment = moment
        self.turns = turns
        self.cancelled = cancelled
        self.at_ns = at_ns
        self.never = never
        self.yields = yields
        self.is_near = is_near
        self.coming = coming
        self.key = _thread.get_ident()
        self.watch: LoopWatch | None = None
        self.beside: LoopWatch | None = None
        self.wake: Callable[[], None] = _nothing
        self.is_open = False
        self.is_timer = False
        self.is_nudged = False
        self.explain: Callable[[], Divergence] | None = None
        """Of a question that was never answered: what to say where nobody else goes on."""
        self.is_gated = False
        """Whether others may let its thread go on as well."""
        self.is_amid = False
        """Whether it goes on in the turn in which it was released, or at the beginning of the next."""
        self.loop: Any = None
        self.ready = 0
        """How many moments before its own its task had been made ready to go on."""
        self.blocks = False
        """Whether its thread can do nothing else meanwhile."""
        self.error: BaseException | None = None
        self.seconds: float | None = None
        """Of a sleep, how long it takes where time is real."""
        self.was_left = False
        """Whether it is a sleep that the replay did not see the end of."""

    @property
    def is_next(self) -> bool:
        """Whether all before it has happened."""
        return self.stile.order.head >= self.index

    @property
    def is_recorded(self) -> bool:
        """Whether something recorded decides when it comes."""
        return self.index != FREE

    def comes_amid(self, watch: LoopWatch) -> bool:
        """Whether its task had been made ready before the turn in which it came, but others went first in that."""
        return self.ready > 0 and self.turns == 0 and self.watch is watch and self.moment is not None

    def wait(self) -> None:
        """Block this thread until it is released.

        In another order than recorded a loop's own thread goes on at once: nothing else could come in its loop before.
        """
        if self.stile.order.is_another and running_loop() is not None:
            if not self.stile.takes(self):
                self.stile.pass_by(self)
            return
        gate = _thread.allocate_lock()
        gate.acquire()
        self.wake = gate.release
        self.key = _thread.get_ident()  # perhaps another thread than the one that asked
        self._block(gate)
        if self.was_left and self.seconds:
            _system.sleep(self.seconds)

    def wait_at(self, gate: Gate) -> bool:
        """Block this thread until others open ``gate`` or it is released, which opens it; whether it was the others."""
        self.wake = gate.expire
        self.is_gated = True
        return not gate.is_expired if self._block(gate) else self._wait_on(gate)

    def _block(self, gate: Any) -> bool:
        """Block this thread until ``gate`` is opened; it stays shut where a replay ended before a gated sleep did."""
        stile, poll_s = self.stile, _POLL_S
        self.blocks = True
        try:
            stile.enter(self)
            while not gate.acquire(timeout=poll_s * _crowd(stile)):
                if self.is_gated and self.was_left:
                    return False
                poll_s = min(2 * poll_s, _LONGEST_POLL_S)
                stile.poll()
        finally:
            stile.leave(self)
        if self.error is not None:
            raise self.error
        return True

    def _wait_on(self, gate: Gate) -> bool:
        seconds = self.seconds
        return gate.acquire(timeout=-1 if seconds is None or seconds == math.inf else seconds)

    def __await__(self) -> Generator[Any, None, None]:
        """Wait in the running loop."""
        loop = running_loop()
        if loop is None:  # another kind of loop: nothing is imposed on it
            self.stile.pass_by(self)
            return
        self.watch = running_watch()
        if self.is_near and self.watch is not None:
            yield None  # as the call itself did: whoever is behind it in the loop's queue stays behind it
            if not self.cancelled and self.stile.takes(self):
                return
        if self.watch is None:
            loop.call_later(_POLL_S, self._look_again, loop, -1)
        while True:
            future = _cancellable(self, loop) if self.cancelled else loop.create_future()
            wake = partial(_resolve, future)
            self.wake = wake if self.watch is not None else partial(loop.call_soon_threadsafe, wake)
            try:
                self.stile.enter(self)
                yield from future
            except BaseException as error:
                if self.cancelled and is_cancellation(error):
                    self.stile.leave(self)
                    yield from self._unwind()
                raise
            finally:
                self.stile.leave(self)
                if self.is_amid and self.watch is not None:
                    self.is_amid = False
                    self.watch.went_on()
            if self.error is not None:
                raise self.error
            if not self.is_nudged:
                return
            self.is_open = self.is_nudged = False

    def _unwind(self) -> Generator[Any, None, None]:
        """A call that was cancelled may have gone on for a while before it ended."""
        stile, watch = self.stile, self.watch
        if watch is None or stile.failure is not None:
            return
        if stile.order.head >= self.index and self.turns is not None and watch.since_mark >= self.turns:
            return
        rest = Hold(stile, self.index, lane=self.lane, place=self.place, moment=self.index, turns=self.turns)
        rest.at_ns, rest.ready = self.at_ns, self.ready
        yield from rest.__await__()

    def _look_again(self, loop: Any, seen: int) -> None:
        """In a loop that is not watched a timer looks whether all have come to rest, nothing having happened."""
        if self.is_open:
            return
        if seen == self.stile.course.happenings:
            self.stile.activity.wait(self.key)
            self.stile.poll()
            self.stile.activity.wake(self.key)
        loop.call_later(_POLL_S, self._look_again, loop, self.stile.course.happenings)

    def call(self, action: Callable[[], None]) -> None:
        """Have ``action`` called in the running loop's thread when it is released."""
        self.watch, self.loop = running_watch(), running_loop()
        self.key = _thread.get_ident()
        self.wake = action
        self.is_timer = True
        self.stile.enter(self)

    def nudge(self, *, in_next_turn: bool = False) -> None:
        """Have a task that is about to be cancelled take its place in the loop's queue; if it is not, it waits on."""
        self.is_nudged = True
        self.open(in_next_turn=in_next_turn)

    def drop(self) -> None:
        """Nobody waits any more."""
        self.stile.leave(self)

    def stop(self, error: BaseException, *, is_over: bool) -> None:
        """It does not come any more: ``error`` is raised, but whoever sleeps when all ``is_over`` goes on sleeping."""
        self.was_left = is_over and self.seconds is not None
        if not self.was_left:
            self.error = error
        elif self.is_timer:
            self.wake = partial(self._set_again, self.wake)
        elif self.is_gated:
            self.wake = _nothing  # the gate stays shut, and who waits there notices
        self.open()

    def _set_again(self, action: Callable[[], None]) -> None:
        seconds = self.seconds
        if seconds is not None and seconds < math.inf and not self.loop.is_closed():
            self.loop.call_later(seconds, action)

    def open(self, *, in_next_turn: bool = False) -> None:
        """Let whoever waits go on; ``in_next_turn`` of its loop, but before all who are told later."""
        self.is_open = True
        self.stile.activity.wake(self.key)
        watch = self.watch
        if watch is None:
            self.wake()
        elif watch.thread == _thread.get_ident():
            if in_next_turn:
                watch.loop.call_soon(self.wake)
            else:
                self.wake()
        elif not watch.loop.is_closed():
            watch.loop.call_soon_threadsafe(partial(watch.loop.call_soon, self.wake) if in_next_turn else self.wake)

    def open_amid(self, watch: LoopWatch) -> None:
        """Let it go on next in the loop of ``watch``, where a turn of that runs in this thread."""
        queued = len(watch.loop._ready)
        self.open()
        if len(watch.loop._ready) == queued + 1 and watch.thread == _thread.get_ident():
            self.is_amid = True
            watch.put_ahead()


def _crowd(stile: Turnstile) -> float:
    """How many times as long each of the threads that wait may leave it to the others to look again."""
    return max(1.0, stile.activity.waiting / _LOOKERS)


def _nothing() -> None:
    """Nobody waits yet."""


def _resolve(future: Any) -> None:
    if not future.done():
        future.set_result(None)


def _cancellable(hold: Hold, loop: Any) -> Any:
    future = _cancellable_future()(loop=loop)
    future.hold = hold
    return future


@cache
def _cancellable_future() -> Any:
    """Futures whose cancellation lets those go first who were cancelled before it when recorded.

    Whose task had something to do by then did not wait for its cancellation to go on. And a group of tasks cancels
    them in an order that is another in each process.
    """
    from asyncio import Future  # not to be imported by us where the program does not

    class CancellableFuture(Future[None]):
        """Tells the turnstile before it is cancelled."""

        hold: Hold

        def cancel(self, msg: Any | None = None) -> bool:
            if not self.done():
                self.hold.stile.cancelling(self.hold)
            return super().cancel(msg)

    return CancellableFuture
