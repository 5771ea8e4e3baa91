"""Where in the agent's own code a read stands: its *site*, found once for each place and then remembered.

A site reads ``module:qualname:lineno#digest``. The digest (6 hexadecimal digits) is of the line's own text
without its indentation, so a line that has moved is known again by everything but the number.
"""

from __future__ import annotations

import hashlib
import linecache
from types import CodeType, FrameType
from typing import Any

from playhead.integrations._scope import Owner, Scope

_LIMIT = 20_000
"""Pieces of code remembered at a time; a program that makes code without end starts the table anew."""


_scope = Scope()
_sites: dict[int, dict[int, str] | None] = {}
# By code, then by instruction; ``None`` for code that is not the agent's own. The code is known by its id, since
# hashing a code object hashes all that it holds; codes are held so that no id is used again.
_held: dict[int, CodeType] = {}
_carriers: set[int] = set()
_elsewhere: dict[tuple[int, int], str] = {}


def set_scope(scope: Scope) -> None:
    """Tell by ``scope``, from now on and in the whole process, which code is the agent's own."""
    global _scope
    _scope = scope
    _forget()


def current_scope() -> Scope:
    """The scope in force."""
    return _scope


def find_site(frame: FrameType) -> str | None:
    """The site at which ``frame`` stands, or ``None`` where its code is not the agent's own."""
    try:
        sites = _sites[id(frame.f_code)]
        return None if sites is None else sites[frame.f_lasti]
    except KeyError:
        return _locate(frame)


def find_any_site(frame: FrameType) -> str:
    """The site at which ``frame`` stands, whoever's code it is."""
    site = find_site(frame)
    if site is None:
        key = (id(frame.f_code), frame.f_lasti)
        site = _elsewhere.get(key)
        if site is None:
            site = _elsewhere[key] = _describe(frame)
    return site


def _describe(frame: FrameType) -> str:
    namespace = frame.f_globals
    linecache.checkcache(frame.f_code.co_filename)  # the file may have been edited and loaded again
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno, namespace).strip()
    digest = hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    module = namespace.get("__name__") or "?"
    return f"{module}:{frame.f_code.co_qualname}:{frame.f_lineno}#{digest}"


def _locate(frame: FrameType | None) -> str | None:
    while frame is not None:
        key = id(frame.f_code)
        if key not in _sites:
            _judge(frame.f_code, frame.f_globals)
        sites = _sites[key]
        if sites is None:
            return None
        if key not in _carriers:
            return sites.setdefault(frame.f_lasti, _describe(frame))
        frame = frame.f_back
    return None


def _judge(code: CodeType, namespace: dict[str, Any]) -> None:
    if len(_sites) >= _LIMIT:
        _forget()
    owner = _scope.owner(code, namespace)
    _held[id(code)] = code
    if owner is Owner.CALLER:
        _carriers.add(id(code))
    _sites[id(code)] = None if owner is Owner.OTHER else {}


def _forget() -> None:
    _sites.clear()
    _carriers.clear()
    _elsewhere.clear()
    _held.clear()
