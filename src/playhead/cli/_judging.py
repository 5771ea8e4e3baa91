"""How a replayed program came out, and whether that is as it should be."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any, Final

import msgspec

from playhead._configuration import read_settings
from playhead._masking import make_masker
from playhead._program import Replayed, capture, replay_program
from playhead.bisection import load_function
from playhead.editing import Edit, derive
from playhead.errors import CheckFailedError, NoReportError, UsageError
from playhead.eventlog import Recording, open_recording, printable
from playhead.stores import LocalStore

_LIMIT_S: Final = 120.0
_TELLING: Final = ("outcome", "error", "exit", "result", "output")
"""What two runs may have come out otherwise in, the most telling first."""


class CameOut(msgspec.Struct, frozen=True):
    """How a replayed program came out: what a check of one's own is given.

    ``outcome`` is that of its run, or what its exit code says; ``result`` and ``reason`` are its run's, ``error`` the
    exception that ended it, ``exit`` its exit code (a signal's is negative), ``output`` what it printed, masked. Where
    the answers were not enough for it, ``diverged`` says why and nothing else counts. ``unplayed`` are the questions
    that it did not ask, by their ``seq``.
    """

    diverged: str | None = None
    outcome: str = "success"
    result: Any = None
    reason: str | None = None
    error: Any = None
    exit: int = 0
    output: str = ""
    unplayed: tuple[int, ...] = ()


Judge = Callable[[CameOut], bool]


class Stage:
    """Replays a program with one recording after the other, each in a process of its own, and out of sight."""

    def __init__(self, store: LocalStore, command: Sequence[str]) -> None:
        self._store = store
        self._command = command
        self.masker = make_masker(read_settings(store=str(store.path)), store.mask_key())

    def play(self, recording: Recording, order: Sequence[int] | None = None) -> CameOut:
        """How the program comes out. Raises `UsageError` where the recording does not say what to start."""
        with capture() as captured, open(os.devnull, "wb") as nowhere:
            try:
                done = replay_program(
                    recording, self._store.path, match="loose", command=self._command, stdout=captured.fd,
                    stderr=nowhere.fileno(), instead=order, limit_s=_LIMIT_S,
                )  # fmt: skip
            except NoReportError as error:
                return CameOut(diverged=error.message)
        return _read(done, self.masker.text(captured.text))

    @contextmanager
    def deriving(
        self, recording: Recording, others: Mapping[str, Recording]
    ) -> Iterator[Callable[[Sequence[Edit]], Recording]]:
        """A writer of recordings derived from one, which are gone at the end."""
        numbers = count()
        with tempfile.TemporaryDirectory(prefix="playhead-") as folder:
            place = LocalStore(folder)

            def write(edits: Sequence[Edit]) -> Recording:
                if not edits:
                    return recording
                run = f"{recording.id}-{next(numbers)}"
                path = derive(recording, edits, run=run, store=place, masker=self.masker, others=others)
                return open_recording(path)

            yield write


def judge_by(failing: CameOut, passing: CameOut) -> tuple[str, Judge]:
    """What the two differ in, and whether another one is in that as the passing one.

    Raises `UsageError` where they came out alike, or one of them does not replay.
    """
    for which, came in (("failing", failing), ("passing", passing)):
        if came.diverged is not None:
            raise UsageError(
                f"the {which} run does not replay, so nothing can be tried with it: {came.diverged}",
                next="playhead replay RUN",
            )
    for what in _TELLING:
        good = getattr(passing, what)
        if getattr(failing, what) != good:
            return what, partial(_is_like, what, good)
    raise UsageError(
        "both runs come out alike: say with a check of your own which of them is good",
        next="playhead blame FAILING PASSING --check checks.py:function",
    )


def _is_like(what: str, good: Any, came: CameOut) -> bool:
    return came.diverged is None and bool(getattr(came, what) == good)


def judge_of(name: str) -> Judge:
    """A function of one's own, which is given a `CameOut`: true, or no `AssertionError`, is good."""
    function = load_function(name)

    def judge(came: CameOut) -> bool:
        if came.diverged is not None:
            return False
        try:
            said = function(came)
        except AssertionError:
            return False
        except Exception as error:
            raise _failed(name, f"it raised {type(error).__name__}: {error}") from error
        if said is not None and not isinstance(said, bool):
            raise _failed(name, f"it returned {type(said).__name__}, and neither true nor false")
        return said is not False

    return judge


def _failed(name: str, why: str) -> CheckFailedError:
    return CheckFailedError(
        f"the check {printable(name)} says nothing of how the run came out: {printable(why)}",
        next="playhead help check-failed",
    )


def _read(done: Replayed, output: str) -> CameOut:
    report, ended = done.report, done.ended
    if report.divergence is not None and report.divergence.kind != "unplayed":
        return CameOut(diverged=report.divergence.message)
    if ended.late:
        return CameOut(diverged="the program did not end, and was ended")
    code = ended.code if ended.signal is None else -ended.code
    told = done.runs[-1] if done.runs and isinstance(done.runs[-1], dict) else {}
    outcome = told.get("outcome", "success") if code == 0 and done.uncaught is None else "failure"
    return CameOut(
        outcome=outcome,
        result=told.get("result"),
        reason=told.get("reason"),
        error=done.uncaught or told.get("error"),
        exit=code,
        output=output,
        unplayed=tuple(each.seq for each in report.unplayed),
    )
