"""Plain locks: who of several threads gets one next is decided by luck, and decides what each of them finds.

The locks that the agent's own code makes in a run are ours, around real ones. One that had to be waited for is noted
when it was got, and a replay gives it in that order. What the standard library and installed packages make is left
alone, and so are locks that were made before the run, but for those in the globals and classes of the agent's modules.
"""

from __future__ import annotations

import _thread
import sys
import threading
from collections import deque
from collections.abc import Callable
from functools import wraps
from types import FrameType
from typing import Any, Self

from playhead.boundary import Call, Lane, Patches, Pause, Returned, Turn, current_lane
from playhead.integrations._gates import Gate
from playhead.integrations._places import hand_to
from playhead.integrations._rebinding import Rebinding
from playhead.integrations._sites import find_site

_ENDED = Returned(None)
_FOREVER = -1
_LOOK_S = 0.05
"""So often a thread in a replay looks whether a lock is free: it may be released by whoever has the real one."""


def install(patches: Patches) -> None:
    """Have the agent's own code make our locks, and keep those that its modules hold already."""
    rebinding = Rebinding.of(patches)
    rebinding.replace_maker(threading, "Lock", Lock)
    rebinding.replace_maker(threading, "RLock", RLock)
    rebinding.spread()
    kept: dict[int, Any] = {}
    rebinding.replace_made(
        frozenset(_KEPT), lambda native: kept.setdefault(id(native), _KEPT[type(native)].around(native))
    )
    patches.replace(threading.Condition, "__init__", _making_condition(threading.Condition.__init__))


def _making_condition(original: Callable[..., None]) -> Callable[..., None]:
    @wraps(original)
    def init(self: Any, lock: Any = None) -> None:
        original(self, RLock.around(_thread.RLock()) if lock is None and _is_own(sys._getframe(1)) else lock)

    return init


def _is_own(frame: FrameType) -> bool:
    """Whether ``frame`` is of the agent's own code, in a run."""
    lane = current_lane()
    return lane is not None and not lane.opaque and find_site(frame) is not None


class _Maker(type):
    """Of a class whose instances may also be the real locks around which it would be made."""

    real: type

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.real)


class _Kept(metaclass=_Maker):
    """A lock of the agent's own, around the real one."""

    __slots__ = ("__weakref__", "_acquire", "_gates", "_last", "native")
    native: Any
    _last: str | None
    _acquire: Callable[..., bool]
    _gates: deque[Gate]

    @classmethod
    def around(cls, native: Any) -> Self:
        """One around ``native``, which may be held by now."""
        self = object.__new__(cls)
        self.native = native
        self._acquire = native.acquire
        self._gates = deque()
        maker = current_lane()
        self._last = maker.name if maker is not None else None
        return self

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The real lock's: whoever asks is to find no other type."""
        return type(self.native)

    def acquire(self, blocking: int = 1, timeout: float = _FOREVER) -> bool:
        """As of the real lock. One that has to be waited for is got in the recorded order."""
        lane = current_lane()
        if lane is None or lane.opaque or not blocking or (timeout <= 0 and timeout != _FOREVER) or self._is_mine():
            return self._acquire(blocking, timeout)
        number = lane.count("wait")
        if timeout != _FOREVER:
            return self._acquire_within(lane, number, timeout)
        if lane.activity.is_followed:
            lane.session.open(lane, waited=number)
            return self._acquire(False) or self._wait(lane)
        is_free = self._acquire(False) or not self._acquire()
        self._note(lane, number, is_free=is_free)
        return True

    def _note(self, lane: Lane, number: int, *, is_free: bool) -> None:
        """Keep the moment at which ``lane`` has got it, where it waited or another one had had it."""
        self._last, is_handed = hand_to(lane, self._last)
        if is_handed or not is_free:
            lane.session.open(lane, waited=number)

    def _is_mine(self) -> bool:
        """Whether this thread holds it and may take it once more."""
        return False

    def _acquire_within(self, lane: Lane, number: int, seconds: float) -> bool:
        ticket = lane.session.begin(lane, Call("sleep", "wait", Pause(float(seconds))))
        if ticket.turn is None:
            is_free = self._acquire(False)
            acquired = is_free or self._acquire(True, seconds)
            if acquired:
                self._note(lane, number, is_free=is_free)
        elif ticket.turn.is_recorded:
            acquired = ticket.turn.wait_at(Gate(lane.activity))
        else:
            lane.session.open(lane, waited=number)
            acquired = self._acquire(False) or self._wait_until(ticket.turn, lane)
        if not acquired:
            lane.session.finish(ticket, _ENDED)
        return acquired

    def _wait_until(self, turn: Turn, lane: Lane) -> bool:
        """`_wait`, unless the turn comes while it is not free."""
        gate = Gate(lane.activity)
        self._gates.append(gate)
        try:
            return self._acquire(False) or (turn.wait_at(gate) and (self._acquire(False) or self._wait(lane)))
        finally:
            self._forget(gate)

    def _wait(self, lane: Lane) -> bool:
        """Take it as soon as it is free, known to wait meanwhile."""
        while True:
            gate = Gate(lane.activity)
            self._gates.append(gate)
            try:
                if self._acquire(False):
                    return True
                gate.wait(_LOOK_S)
            finally:
                self._forget(gate)

    def _forget(self, gate: Gate) -> None:
        if gate in self._gates:
            self._gates.remove(gate)

    def release(self) -> None:
        """As of the real lock; whoever waits for it in a replay tries again."""
        self.native.release()
        if self._gates:
            self._open()

    def _open(self) -> None:
        for gate in tuple(self._gates):
            gate.release()

    acquire_lock = acquire
    release_lock = release

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()

    def _release_save(self) -> Any:
        """Give it up altogether, for a condition."""
        self.release()

    def _acquire_restore(self, saved: Any) -> None:
        """Have it again as it was; the wait was the condition's."""
        lane = current_lane()
        if lane is None or lane.opaque or not lane.activity.is_followed:
            self._acquire()
        elif not self._acquire(False):
            self._wait(lane)

    def _at_fork_reinit(self) -> None:
        self.native._at_fork_reinit()
        self._gates.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.native, name)

    def __repr__(self) -> str:
        return repr(self.native)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.native.__reduce_ex__(protocol)


class Lock(_Kept):
    """Stands for ``threading.Lock``: makes a real lock, or for the agent's own code one of ours."""

    __slots__ = ()
    real = _thread.LockType

    def __new__(cls) -> Any:
        native = _thread.allocate_lock()
        return cls.around(native) if _is_own(sys._getframe(1)) else native


class RLock(_Kept):
    """Stands for ``threading.RLock``."""

    __slots__ = ()
    real = _thread.RLock

    def __new__(cls) -> Any:
        native = _thread.RLock()
        return cls.around(native) if _is_own(sys._getframe(1)) else native

    def _is_mine(self) -> bool:
        return bool(self.native._is_owned())

    def _release_save(self) -> Any:
        saved = self.native._release_save()
        if self._gates:
            self._open()
        return saved

    def _acquire_restore(self, saved: Any) -> None:
        super()._acquire_restore(saved)
        for _ in range(saved[0] - 1):
            self._acquire()


_KEPT: dict[type, Any] = {Lock.real: Lock, RLock.real: RLock}
