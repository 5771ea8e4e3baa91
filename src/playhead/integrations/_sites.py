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


class _Nowhere(dict[int, "str | None"]):
    """The sites of code that is not the agent's own: none, at every instruction."""

    def __missing__(self, instruction: int) -> None:
        return None


_NOWHERE = _Nowhere()
_scope = Scope()
_sites: dict[int, dict[int, str | None]] = {}
# Keyed by id, since hashing a code object hashes all that it holds. The codes are held so that no id is reused.
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
        return _sites[id(frame.f_code)][frame.f_lasti]
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
        code = frame.f_code
        sites = _sites.get(id(code))
        if sites is None:
            sites = _judge(code, frame.f_globals)
        if id(code) not in _carriers:
            if sites is not _NOWHERE and frame.f_lasti not in sites:
                sites[frame.f_lasti] = _describe(frame)
            return sites[frame.f_lasti]
        frame = frame.f_back
    return None


def _judge(code: CodeType, namespace: dict[str, Any]) -> dict[int, str | None]:
    if len(_sites) >= _LIMIT:
        _forget()
    owner = _scope.owner(code, namespace)
    _held[id(code)] = code
    if owner is Owner.CALLER:
        _carriers.add(id(code))
    sites = _sites[id(code)] = _NOWHERE if owner is Owner.OTHER else {}
    return sites


def _forget() -> None:
    _sites.clear()
    _carriers.clear()
    _elsewhere.clear()
    _held.clear()
