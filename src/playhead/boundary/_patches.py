"""Replacing attributes of other packages for as long as a session needs it, and putting them back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

_MISSING: Any = object()


class Patches:
    """A pile of replaced attributes that is undone from the top.

    An attribute that someone else has replaced meanwhile is left alone: ours, now below theirs, passes
    everything through outside a run.
    """

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def replace(self, owner: Any, name: str, new: Any) -> None:
        """Set ``owner.name`` to ``new`` until `undo`."""
        own = vars(owner).get(name, _MISSING)
        setattr(owner, name, new)
        placed = vars(owner).get(name, _MISSING)

        def put_back() -> None:
            if vars(owner).get(name, _MISSING) is not placed:
                return
            if own is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, own)

        self._undo.append(put_back)

    def add(self, undo: Callable[[], None]) -> None:
        """Have ``undo`` called in its turn."""
        self._undo.append(undo)

    def undo(self) -> None:
        """Put everything back, the last replaced first, also when one of them fails."""
        failures: list[Exception] = []
        while self._undo:
            try:
                self._undo.pop()()
            except Exception as error:
                failures.append(error)
        if failures:
            raise ExceptionGroup("some attributes could not be put back", failures)


Installer = Callable[[Patches], None]
"""Applies the patches of one integration."""


class Installation:
    """Patches shared by all sessions of the process: made for the first, undone after the last."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._users = 0
        self._patches = Patches()

    def enter(self, installers: tuple[Installer, ...]) -> None:
        """Apply ``installers`` unless they are applied already."""
        with self._lock:
            self._users += 1
            if self._users > 1:
                return
            try:
                for install in installers:
                    install(self._patches)
            except BaseException:
                self._users -= 1
                self._patches.undo()
                raise

    def leave(self) -> None:
        """Undo the patches if this was the last user."""
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._patches.undo()
