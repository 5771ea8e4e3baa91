"""The locks of a run are told from real ones by nothing that a program may look at."""

from __future__ import annotations

import _thread
import copy
import dataclasses
import pickle
import queue
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import playhead

KIND = type(threading.Lock())
BEFORE = threading.Lock()


class Keeper:
    """Holds a lock of its class."""

    lock = threading.RLock()


@dataclasses.dataclass
class Made:
    """Makes its lock by a default factory."""

    lock: Any = dataclasses.field(default_factory=lambda: threading.Lock())


@pytest.fixture
def in_a_run(tmp_path: Path) -> Iterator[None]:
    with playhead.record(kind="locks", store=tmp_path):
        yield


makers = pytest.mark.parametrize("make", [lambda: threading.Lock(), lambda: threading.RLock()], ids=["lock", "rlock"])
Make = Callable[[], Any]


@makers
@pytest.mark.usefixtures("in_a_run")
def test_a_lock_locks(make: Make) -> None:
    lock = make()
    assert lock.acquire() is True
    other: list[bool] = []
    for arguments in ({"blocking": False}, {"timeout": 0.001}, {"timeout": 0}):
        thread = threading.Thread(target=lambda given=arguments: other.append(lock.acquire(**given)))
        thread.start()
        thread.join()
    assert other == [False, False, False]
    lock.release()
    with lock as held:
        assert held is True
    with pytest.raises(RuntimeError):
        lock.release()
    with pytest.raises(ValueError, match="timeout"):
        lock.acquire(False, 1)
    with pytest.raises(ValueError, match="timeout"):
        lock.acquire(timeout=-2)


@makers
@pytest.mark.usefixtures("in_a_run")
def test_a_lock_is_what_a_real_one_is(make: Make) -> None:
    lock = make()
    real = type(lock.native)
    assert isinstance(lock, real)
    assert lock.__class__ is real
    assert repr(lock).startswith("<unlocked ")
    assert weakref.ref(lock)() is lock
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(lock)
    with pytest.raises(TypeError, match="cannot pickle"):
        copy.deepcopy(lock)


@pytest.mark.usefixtures("in_a_run")
def test_types_asked_for_before_and_in_a_run_know_each_other() -> None:
    lock = threading.Lock()
    assert isinstance(lock, KIND)
    assert isinstance(lock, _thread.LockType)
    assert isinstance(_thread.allocate_lock(), threading.Lock)  # type: ignore[arg-type,unused-ignore]
    assert not isinstance(3, threading.Lock)  # type: ignore[arg-type,unused-ignore]
    assert lock.locked() is False


@makers
@pytest.mark.usefixtures("in_a_run")
def test_a_condition_takes_a_lock_of_the_run(make: Make) -> None:
    condition, log = threading.Condition(make()), []

    def wait() -> None:
        with condition:
            condition.wait_for(lambda: log)
            log.append("woken")

    thread = threading.Thread(target=wait)
    thread.start()
    with condition:
        log.append("told")
        condition.notify_all()
    thread.join()
    assert log == ["told", "woken"]


@pytest.mark.usefixtures("in_a_run")
def test_a_lock_held_twice_is_given_up_and_taken_back_by_a_condition() -> None:
    condition, log = threading.Condition(), []

    def wait() -> None:
        with condition, condition:
            condition.wait_for(lambda: log, timeout=20)
            log.append("woken")

    thread = threading.Thread(target=wait)
    thread.start()
    with condition:
        log.append("told")
        condition.notify_all()
    thread.join()
    with condition:
        assert log == ["told", "woken"]


@pytest.mark.usefixtures("in_a_run")
def test_the_locks_of_the_standard_library_are_left_alone() -> None:
    assert type(queue.Queue().mutex) is _thread.LockType
    assert type(threading.Event()._cond._lock) is _thread.LockType  # type: ignore[attr-defined]
    assert type(Made().lock) is not _thread.LockType


def test_the_locks_of_modules_and_classes_are_as_before_after_a_run(tmp_path: Path) -> None:
    lock, again, maker = BEFORE, Keeper.lock, threading.Lock
    with playhead.record(kind="locks", store=tmp_path):
        assert BEFORE is not lock
        assert Keeper.lock is not again
        with lock:
            assert BEFORE.locked()
        kept = threading.Lock()
    assert BEFORE is lock
    assert Keeper.lock is again
    assert threading.Lock is maker
    with kept:
        assert kept.locked()


def test_a_lock_whose_real_one_is_released_elsewhere_is_got_in_a_replay(tmp_path: Path) -> None:
    real = BEFORE

    def program() -> bool:
        held = threading.Event()

        def hold() -> None:
            with real:
                held.set()
                threading.Event().wait(0.01)

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        with BEFORE:
            thread.join()
            return True

    with playhead.record(kind="locks", store=tmp_path) as run:
        assert program()
    with playhead.replay(run.id, store=tmp_path):
        assert program()
