"""How far a replay has come: in the recorded order, in recorded time, and how it came there."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable

from playhead.boundary import Activity, LoopWatch, lone_watch, near_watch
from playhead.player._comings import MOMENT, Coming
from playhead.player._order import Order


class Course:
    """What came last in one replay. All is done with the turnstile's lock held.

    ``is_calm`` says whether nobody waits, and nothing else keeps what is next from coming as soon as it is asked for.
    """

    __slots__ = (
        "_alone",
        "_count",
        "_is_beside",
        "_is_calm",
        "_late",
        "_latest_ns",
        "_seen",
        "_thread",
        "_watch",
        "activity",
        "order",
    )

    def __init__(self, order: Order, activity: Activity, *, is_calm: Callable[[], bool]) -> None:
        self.order = order
        self.activity = activity
        self._is_calm = is_calm
        self._latest_ns = order.start_ns
        self._count = 0
        self._is_beside = False
        self._late = 0
        self._alone = self._seen = 0
        """Up to which moment they came alone last, and where that was when something came otherwise.

        The time is told from it, and how what came last came, since that it be noted each time is what costs most.
        """
        self._watch: LoopWatch | None = None
        self._thread = 0
        """In which loop, or beside which, and in which thread they came alone."""

    @property
    def now_ns(self) -> int:
        """The recorded time that the replay has come to."""
        return max(self._latest_ns, self.order.at_ns(self._alone - 1)) if self._alone else self._latest_ns

    @property
    def happenings(self) -> int:
        """A number that has grown where anything has happened."""
        return self._count + self._alone

    @property
    def is_beside(self) -> bool:
        """Whether what came last came in a thread beside the loop."""
        if self._alone == self._seen:
            return self._is_beside
        return self._watch is None or self._watch.thread != self._thread

    @property
    def late(self) -> int:
        """How many turns after its release what was let go last goes on: one, where it was amid a turn."""
        return self._late if self._alone == self._seen else 0

    def comes_alone(self, asked: int, answered: int) -> bool:
        """Whether a question and its answer, by their ``seq``, are next and may come now, which they then do.

        Written out, since nearly every call of a program that does one thing after the other comes so: nobody waits,
        and nobody else runs.
        """
        order, me = self.order, get_ident()
        seqs, head = order.seqs, order.head
        if seqs[head] != asked or seqs[head + 1] != answered:
            return False
        if self.activity.calm != me and not self._becomes_calm(me):
            return False
        watch = self._watch
        if watch is None or watch.loop._thread_id != me:
            watch = self._watch = near_watch(me)
        if watch is not None and not watch.mark_alone():
            return False
        self._alone = head = head + 2
        order.head = order.after(head) if order.done[head] else head
        return True

    def begins_alone(self, seq: int) -> bool:
        """The same of one moment: the question of a stream, or its end."""
        order, me = self.order, get_ident()
        if order.seqs[order.head] != seq or (self.activity.calm != me and not self._becomes_calm(me)):
            return False
        watch = self._watch = near_watch(me)
        if watch is not None and not watch.mark_alone():
            return False
        self._alone = head = order.head + 1
        order.head = order.after(head) if order.done[head] else head
        return True

    def pieces_come(self, end: int, watch: LoopWatch | None) -> bool:
        """Whether the pieces of the stream whose end is the moment ``end`` may come now, likewise."""
        return self.order.head == end and self.activity.calm == get_ident() and (watch is None or watch.is_idle)

    def _becomes_calm(self, me: int) -> bool:
        """Whether this thread is the only one to run, nobody waiting: it stays so until somebody begins to."""
        if self.activity.alone != me or not self._is_calm():
            return False
        self.activity.calm = self._thread = me
        return True

    def come(
        self, index: int, watch: LoopWatch | None, coming: Coming = MOMENT, *, ahead: int = 0, late: int = 0
    ) -> None:
        """What belongs to the moment ``index`` has come, in the loop of ``watch`` and so many turns ``ahead``.

        Time does not run ahead with a question that comes early: whose limit was reached when recorded would not reach
        it, having begun to count later.
        """
        self.pass_time(self.order.at_ns(min(index, max(0, self.order.head - 1))))
        self._count += 1
        self._is_beside, self._late, self._seen = watch is None, late, self._alone
        if watch is None:
            watch = lone_watch()
        if watch is not None:
            coming.mark(watch, ahead)

    def pass_time(self, at_ns: int) -> None:
        """The recorded time has come to ``at_ns``, if it was not later."""
        self._latest_ns = max(self._latest_ns, at_ns)
