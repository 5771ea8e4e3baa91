"""Patterns that are compiled when they are first used: there are hundreds, and a run comes to need a few."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, AnyStr, cast

__all__ = ["compiled_later", "regex"]


class _Later:
    """Stands for what ``compile`` gives; what was asked of that once is kept here, and costs no more from then on."""

    def __init__(self, compile: Callable[[], Any]) -> None:
        self._compile = compile

    def __getattr__(self, name: str) -> Any:
        if name == "_compiled":
            self._compiled = self._compile()
            return self._compiled
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found


def compiled_later(compile: Callable[[], Any]) -> Any:
    """What ``compile`` gives, which is called when the first is asked of it."""
    return _Later(compile)


def regex(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, for a ``source`` that is known to be right: it is looked at later."""
    return cast("re.Pattern[AnyStr]", _Later(lambda: re.compile(source, flags)))
