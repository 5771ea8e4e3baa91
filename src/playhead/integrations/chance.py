"""Chance, drawn by the agent's own code: `random`, `secrets`, `uuid` and the operating system's bytes."""

from __future__ import annotations

import os
import random
import secrets
import sys
import uuid
from collections.abc import Callable
from typing import Any

from playhead.boundary import Patches, _lanes
from playhead.integrations._picks import DRAWS, answer_for
from playhead.integrations._reads import read_plain, read_with, reading_lane, stand_in
from playhead.integrations._rebinding import Rebinding

_SECRETS = ("choice", "randbelow", "randbits", "token_bytes", "token_hex", "token_urlsafe")
_UUIDS = ("uuid1", "uuid4", "uuid6", "uuid7", "uuid8")
_PLAIN = frozenset({"random", "uuid4"})
_SYSTEM = ("urandom", "getrandom")
_SEED_BYTES = 32
_urandom = os.urandom


def install(patches: Patches) -> None:
    """Have every draw by the agent's own code cross the boundary.

    A generator that the program makes without a seed is given a drawn one, which is the read: what it draws
    then follows from it. A generator that was made before is not caught (`find_captured` lists it).
    """
    rebinding = Rebinding.of(patches)
    modules: tuple[tuple[Any, tuple[str, ...]], ...] = (
        (random, DRAWS),
        (secrets, _SECRETS),
        (uuid, _UUIDS),
        (os, _SYSTEM),
    )
    for module, names in modules:
        for name in names:
            original = getattr(module, name, None)
            if original is not None:
                fn = f"{module.__name__}.{name}"
                if name in _PLAIN:
                    function = read_plain("random", fn, original, again=True)
                else:
                    function = read_with(fn, original, answer_for(name))
                rebinding.replace(module, name, stand_in(function, original, module.__name__), fn)
    seed = stand_in(_module_seed(random.seed), random.seed, "random")
    rebinding.replace(random, "seed", seed, "random.seed")
    rebinding.spread()
    _install_generators(patches)


def _install_generators(patches: Patches) -> None:
    seed, begin = random.Random.seed, random.Random.__init__
    new_seed = _seeding(seed)
    patches.replace(random.Random, "seed", new_seed)
    patches.replace(random.Random, "__init__", _beginning(begin, (seed, new_seed)))
    for name in DRAWS:
        original = getattr(random.SystemRandom, name, None)
        if original is not None:
            patches.replace(random.SystemRandom, name, _method(name, original))


def draw_seed(fn: str, frame: Any) -> bytes | None:
    """The seed for a generator that ``frame`` leaves unseeded, or ``None`` where that is no read of the agent's."""
    if _lanes._current.get() is None and _lanes._fallback is None:
        return None
    place = reading_lane(frame)
    if place is None:
        return None
    lane, site = place
    return lane.session.read(lane, "random", fn, site, lambda: _urandom(_SEED_BYTES))


def _module_seed(original: Callable[..., None]) -> Callable[..., None]:
    def seed(_: Any, /, a: Any = None, version: int = 2) -> None:
        original(draw_seed("random.seed", sys._getframe(1)) if a is None else a, version)

    return seed


def _seeding(original: Callable[..., None]) -> Callable[..., None]:
    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        original(self, draw_seed("random.Random.seed", sys._getframe(1)) if a is None else a, version)

    return _dress(seed, original)


def _beginning(original: Callable[..., None], seeds: tuple[Any, ...]) -> Callable[..., None]:
    def __init__(self: random.Random, x: Any = None) -> None:  # noqa: N807
        if x is None and type(self).seed in seeds:
            x = draw_seed("random.Random", sys._getframe(1))
        original(self, x)

    return _dress(__init__, original)


def _method(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    fn = f"random.SystemRandom.{name}"
    answer = answer_for(name)

    def draw(self: random.SystemRandom, /, *args: Any, **kwargs: Any) -> Any:
        if _lanes._current.get() is None and _lanes._fallback is None:
            return original(self, *args, **kwargs)
        place = reading_lane(sys._getframe(1))
        if place is None:
            return original(self, *args, **kwargs)
        return answer(original.__get__(self), fn, *place, args, kwargs)

    return _dress(draw, original)


def _dress(function: Callable[..., Any], original: Any) -> Callable[..., Any]:
    function.__name__ = original.__name__
    function.__qualname__ = original.__qualname__
    function.__module__ = "random"
    function.__doc__ = original.__doc__
    return function
