"""The turnstile: imposes the recorded order of completions on a replay.

An answer is held until all that was recorded before it has happened again, and until whatever was let go last has
come to rest: what a program does between two crossings is then done in the recorded order as well. Nothing waits for
a time to pass. Who comes to rest looks whose turn it is; where nobody runs and nobody's turn can come, the order
cannot be kept, and that is said.
"""

from __future__ import annotations

from _thread import allocate_lock, get_ident
from collections.abc import Callable
from typing import Any

from playhead.boundary import Activity, LoopWatch, lone_watch, running_watch
from playhead.player._comings import MOMENT
from playhead.player._course import Course
from playhead.player._holds import Hold
from playhead.player._order import Order
from playhead.player._queues import Queues
from playhead.player._stillness import Stillness
from playhead.player._turns import Turns

_JUMPS = 1000
"""So many timers of its own may a program let pass before something recorded has to happen."""


class Turnstile:
    """Whose turn it is.

    ``lock`` is held whenever anything here changes. ``blocked`` is told, where nothing can go on, the index of the
    moment that does not come (that of the end where all have come) and who waits; it gives the error that ends the
    replay, or ``None`` where that moment is to be passed over.
    """

    def __init__(
        self, order: Order, *, lock: Any, blocked: Callable[[int, Hold], BaseException | None], turns: Turns
    ) -> None:
        self.order = order
        self.activity = Activity(lock=lock, settled=self._settled)
        self.course = Course(order, self.activity, is_calm=self._is_calm)
        self._lock = lock
        self._blocked = blocked
        self._turns = turns
        self._queues = queues = Queues()
        self._held = queues.held
        self.still = Stillness(self.activity)
        self._jumps = 0
        self._polled = 0
        self._looked = 0
        """How much had happened when it was last looked who rests."""
        self._between: LoopWatch | None = None
        self._let_go = 0
        self.watches: list[LoopWatch] = []
        self.failure: BaseException | None = None
        self._is_over = False
        self.rested = allocate_lock()
        """Opened each time somebody has come to rest."""
        self.is_real = False
        """Whether something real is awaited, so that nothing can be said to be blocked."""
        self.is_awaited: Callable[[int, int], bool] = lambda head, since_ns: False
        """Whether a child process may yet bring what a moment waits for, nothing having happened since a time."""
        self.is_cut = False
        """Whether what was recorded was ended from outside: there nothing is waited for, and no time passes."""

    @property
    def waiting_lanes(self) -> set[str]:
        """The lanes that wait."""
        return {hold.lane for hold in self._queues.waiting()}

    @property
    def is_waited_for(self) -> bool:
        """Whether anyone waits."""
        return bool(self._queues)

    def happened(self, index: int, watch: LoopWatch | None) -> None:
        """The moment ``index`` has come by itself, in the loop of ``watch``."""
        self.order.happened(index)
        self.course.come(index, watch)
        if self._held:
            self._ready_others(index, watch)
            self.came(watch)
            self._advance()

    def passes(self, index: int, turns: int | None, watch: LoopWatch | None) -> bool:
        """Whether the moment ``index`` may come at once, which it then does: nothing else could come before it."""
        if not self.is_first(index, self.order.at_ns(index)):
            return False
        if not self._is_last_to_run(watch) and (turns != 0 or watch is None):
            return False
        self.order.happened(index)
        self.course.come(index, watch)
        if self._held:
            self.came(watch)
        return True

    def _is_calm(self) -> bool:
        return not (self._queues or self.failure is not None or self.order.is_another)

    def takes(self, hold: Hold) -> bool:
        """Whether ``hold`` may go on now, which it then does."""
        with self._lock:
            if self.failure is not None or self.order.head < hold.index:
                return False
            self._come(hold)
            hold.is_open = True
            return True

    def is_clear(self, index: int, at_ns: int) -> bool:
        """Whether what came before the moment ``index``, at ``at_ns``, may come at once."""
        return self.is_first(index, at_ns) and self._is_last_to_run(running_watch())

    def is_first(self, index: int, at_ns: int) -> bool:
        """Whether what came before the moment ``index``, at ``at_ns``, has nothing to wait for but its turn."""
        first = self._queues.first()
        return self.order.head >= index and (first is None or (first.index, first.at_ns) > (index, at_ns))

    def may_end(self, seq: int) -> bool:
        """Whether the end of a stream, the answer ``seq``, comes at once and alone."""
        with self._lock:
            return self.course.begins_alone(seq)

    def may_pass(self, index: int, turns: int | None) -> bool:
        """Whether the end of a stream, the moment ``index``, may come at once, which it then does."""
        with self._lock:
            return self.failure is None and self.passes(index, turns, running_watch())

    def _is_last_to_run(self, watch: LoopWatch | None) -> bool:
        """Whether nothing else runs, here or in another thread, until this thread waits."""
        return self.activity.alone == get_ident() and (watch is None or watch.is_idle)

    def enter(self, hold: Hold) -> None:
        """``hold`` begins to wait."""
        with self._lock:
            if self.failure is not None:
                hold.stop(self.failure, is_over=self._is_over)
                return
            self.activity.calm = None
            self._queues.add(hold)
            if hold.blocks:
                hold.beside = lone_watch() if hold.turns is not None else None
                self.activity.wait(hold.key)

    def leave(self, hold: Hold) -> None:
        """``hold`` waits no longer."""
        if not hold.is_open:
            with self._lock:
                hold.is_open = True
                if hold.blocks:
                    self.activity.wake(hold.key)
                self._queues.forget(hold)

    def pass_by(self, hold: Hold) -> None:
        """Nothing can be imposed here: the moment is taken as come."""
        with self._lock:
            if hold.moment is not None:
                self.order.happened(hold.moment)
            hold.is_open = True

    def fail(self, error: BaseException, *, is_over: bool = False) -> None:
        """The replay stops by ``error``: all who wait are told; where it ``is_over``, who sleeps goes on sleeping."""
        with self._lock:
            self.failure, self._is_over, self.activity.calm = error, is_over, None
            for hold in self._queues.clear():
                hold.stop(error, is_over=is_over)

    def poll_turn(self, watch: LoopWatch) -> bool:
        """The loop of ``watch`` begins another turn; whether a thread was let go on beside it."""
        with self._lock:
            self._between, self._let_go = watch, 0
            try:
                self._advance()
            finally:
                self._between = None
            return self._let_go > 0

    def poll(self) -> None:
        """Look again, since not all that threads wait for is known to us; not while things happen."""
        if self._polled != self.course.happenings:
            self._polled = self.course.happenings
            return
        with self._lock:
            if self.is_waited_for:
                self._advance(seen=True)

    def _settled(self) -> None:
        if self.rested.locked():
            self.rested.release()
        if self.is_waited_for:
            self._advance()

    def _begin_anew(self) -> None:
        """Before it is looked who rests, and how often time has jumped: forget what was before the last happening."""
        if self._looked != self.course.happenings:
            self._looked = self.course.happenings
            self._jumps = 0
            self.still.reset()

    def _is_quiet(self) -> bool:
        """Whether nobody runs, and no loop that says so has anything to do."""
        return self.activity.is_quiet and self._loops_rest()

    def _loops_rest(self) -> bool:
        """Whether no loop that waits for what is ready has been given anything to do: it only has to wake up."""
        return all(watch.is_idle for watch in self.watches if watch.is_selecting)

    def _advance(self, *, seen: bool = False) -> None:
        """Release whose turn it is; ``seen`` where time has passed since, so that threads may be looked at."""
        while True:
            self._begin_anew()
            hold = self._queues.first()
            if hold is not None and self.order.head >= hold.index and not hold.cancelled:
                if not self._may_come(hold, seen=seen):
                    return
                self._release(self._queues.pop())
                if self._let_go and self._between is not None:
                    return  # who comes next waits until that thread has come to rest
            elif not self._resolve(hold, seen=seen):
                return

    def _release(self, hold: Hold) -> None:
        """Let ``hold`` go on, and with it all that came in the same turn of its loop, or was made ready in it before.

        What goes on in the next turn stands in the loop's queue where it stood when recorded: before what came later.
        """
        self._come(hold)
        known = hold.index
        queue = [(hold.index, True, hold)]
        while hold.watch is not None and (follower := self._queues.first()) is not None:
            if self._turns.was_ready(follower, hold.index, hold.watch):
                queue.append((follower.index - follower.ready, False, follower))
            elif queue[-1][1] and self._turns.came_with(hold, follower, known=known):
                queue.append((follower.index, True, follower))
                known = follower.index
            else:
                break
            self._queues.pop()
            if not follower.cancelled:
                self._come(follower, in_next_turn=not queue[-1][1])
        self._let_go += hold.blocks
        for _, is_now, each in sorted(queue, key=lambda entry: entry[:2]):
            if each.cancelled:
                each.nudge(in_next_turn=True)
            else:
                each.open(in_next_turn=not is_now)

    def _ready_others(self, index: int, watch: LoopWatch | None) -> None:
        """Let those go on in the next turn who had been made ready before the moment ``index`` came in this one."""
        while watch is not None and (found := self._queues.first()) is not None:
            if not self._turns.was_ready(found, index, watch) or found.comes_amid(watch):
                return
            self._queues.pop()
            if found.cancelled:
                found.nudge()
            else:
                self._come(found, in_next_turn=True)
                found.open()

    def came(self, watch: LoopWatch | None) -> None:
        """Something has come amid a turn of the loop of ``watch``: what came in that turn after it goes on in it.

        It was in the loop's queue when the turn began, so before all that has been put there since.
        """
        found = self._queues.first()
        if watch is None or found is None or found.watch is not watch or found.cancelled or self.order.is_another:
            return
        is_now = found.coming.is_now(watch) if found.coming is not None else found.comes_amid(watch)
        if is_now and self.order.head >= found.index:
            self._queues.pop()
            found.open_amid(watch)
            self.course.come(found.index, watch, found.coming or MOMENT)

    def cancelling(self, hold: Hold) -> None:
        """``hold`` is about to be cancelled: those go first who were when recorded, in the same turn of the loop."""
        with self._lock:
            while (found := self._queues.first()) is not None and found.cancelled and found.index < hold.index:
                if found.watch is not hold.watch or self._turns.between(found.index, hold.index):
                    return
                self._queues.pop()
                found.nudge()

    def _come(self, hold: Hold, *, in_next_turn: bool = False) -> None:
        if hold.moment is not None:
            self.order.happened(hold.moment)
        watch = hold.watch
        is_told = watch is not None and watch.thread != get_ident()  # it only goes on in the next turn
        is_late = watch is not None and not (is_told or in_next_turn or watch is self._between or watch.is_selecting)
        ahead = is_told + in_next_turn
        self.course.come(hold.index, watch, hold.coming or MOMENT, ahead=ahead, late=int(is_late))

    def _may_come(self, hold: Hold, *, seen: bool) -> bool:
        return (
            self._is_time(hold)
            or self._is_quiet()
            or (seen and self._loops_rest() and self.still.allows(self.order.gap_ns(hold.index)))
        )

    def _is_time(self, hold: Hold) -> bool:
        """Whether a loop has come to that turn, and no thread is doing anything that comes before it.

        A thread goes on between two turns of the loop beside it. What came in the turn of the moment before it came
        after that one: a thread waits for the turn's end then.
        """
        watch, turns = hold.watch, hold.turns
        if watch is None:
            if turns is None:
                return False
            least = turns if self.course.is_beside else max(turns, 1)
            beside = hold.beside
            return beside is not None and beside is self._between and beside.since_mark >= least + self.course.late
        if turns is None and (hold.coming is None or not hold.coming.is_due(watch)):
            return False
        rest = watch is self._between or self.activity.rests_beside(watch.thread)
        return rest and (turns is None or watch.since_mark >= turns)

    def _resolve(self, hold: Hold | None, *, seen: bool) -> bool:
        """Nobody's turn has come. Where nobody runs either, let go on what can; whether anything could."""
        free = self._queues.first_free()
        if not self._queues:
            return False
        if not self._loops_rest():
            return False
        if not self.activity.is_quiet and not (seen and self.still.allows(0) and self.still.is_patient()):
            return False
        order = self.order
        is_past_cut = self.is_cut and order.is_over
        may_jump = free is not None and self._jumps < _JUMPS and not is_past_cut
        if free is not None and may_jump and (order.is_over or free.at_ns <= order.at_ns(order.head)):
            self._jump(free)
        elif not order.is_over and order.head_is_soft:
            order.happened(order.head)
        elif free is not None and may_jump:
            self._jump(free)
        elif self.is_awaited(order.head, self.still.since_ns):
            return False
        elif (yielding := self._queues.first_yielding()) is not None:
            self.still.reset()
            self._let_off(yielding)
        elif self.is_real or not (hold or free or self.is_cut or self._queues.is_stuck or self.still.is_long()):
            return False
        else:
            waiting = hold or free or self._queues.first_never()
            assert waiting is not None
            self._unblock(waiting)
        return True

    def _jump(self, free: Hold) -> None:
        """Let a time pass that was not recorded."""
        self._queues.pop_free()
        self.course.pass_time(free.at_ns)
        self._jumps += 1
        self.still.reset()
        free.open()

    def _unblock(self, waiting: Hold) -> None:
        error = self._blocked(self.order.head, waiting)
        if error is not None:
            self.fail(error)
        elif not self.order.is_over:
            self.order.happened(self.order.head)
        else:
            self._let_off(waiting)

    def _let_off(self, hold: Hold) -> None:
        self.leave(hold)
        hold.is_open = False
        hold.open()
