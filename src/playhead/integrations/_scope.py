"""Which code is the agent's own: the code whose reads of clock and chance are recorded.

By default everything is that lies neither in the standard library nor in an installed package. What a file
does not tell (a notebook cell, ``exec``) counts as the agent's own.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from fnmatch import fnmatchcase
from types import CodeType
from typing import Any

_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED = re.compile(r"[\\/](?:site|dist)-packages[\\/]")
_CARRIERS = frozenset({"pydantic"})


class Owner(Enum):
    """Whose a piece of code is."""

    AGENT = auto()
    OTHER = auto()
    CALLER = auto()
    """Whoever called it: code that a library generates, or runs, to fill in an object of the caller's."""


class Scope:
    """The rule by which code is told to be the agent's own.

    ``include`` and ``exclude`` are patterns with ``*`` and ``?``, matched against a module's dotted name (with
    everything beneath it) and against the path of its file. ``exclude`` wins; ``include`` brings in what lies
    in an installed package.
    """

    def __init__(self, *, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self.include = tuple(include)
        self.exclude = tuple(exclude)
        self._owned: dict[tuple[str, str], bool] = {}

    def owns_file(self, path: str, module: str) -> bool:
        """Whether the file at ``path``, loaded as ``module``, is the agent's own."""
        owned = self._owned.get((path, module))
        if owned is None:
            owned = self._owned[path, module] = self._decide(path, module)
        return owned

    def _decide(self, path: str, module: str) -> bool:
        if path.startswith(_HOME) or (self.exclude and _matches(self.exclude, path, module)):
            return False
        if self.include and _matches(self.include, path, module):
            return True
        return not path.startswith(_STANDARD) and _INSTALLED.search(path) is None

    def owns_module(self, namespace: Mapping[str, Any]) -> bool:
        """Whether the module with these globals is the agent's own; nothing is imported or looked up lazily."""
        path = namespace.get("__file__")
        name = namespace.get("__name__")
        if not isinstance(name, str):
            return False
        if not isinstance(path, str):
            return name == "__main__" or (namespace.get("__spec__") is None and name not in sys.builtin_module_names)
        return self.owns_file(path, name)

    def owner(self, code: CodeType, namespace: Mapping[str, Any]) -> Owner:
        """Whose ``code`` is, when it runs with the globals ``namespace``."""
        path = code.co_filename
        name = namespace.get("__name__")
        module = name if isinstance(name, str) else ""
        if path.startswith("<"):
            if path.startswith("<frozen "):
                return Owner.OTHER
            if path.startswith("<attrs generated "):
                return Owner.CALLER
            path = _file_of(namespace, module) or path
        if self.owns_file(path, module):
            return Owner.AGENT
        return Owner.CALLER if module.partition(".")[0] in _CARRIERS else Owner.OTHER


def _matches(patterns: tuple[str, ...], path: str, module: str) -> bool:
    return any(
        fnmatchcase(module, pattern) or fnmatchcase(module, f"{pattern}.*") or fnmatchcase(path, pattern)
        for pattern in patterns
    )


def _file_of(namespace: Mapping[str, Any], module: str) -> str | None:
    path = namespace.get("__file__")
    if path is None and module != "__main__" and module in sys.modules:
        path = object.__getattribute__(sys.modules[module], "__dict__").get("__file__")
    return path if isinstance(path, str) else None
