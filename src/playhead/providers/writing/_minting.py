"""Fresh ids, nonces and dates for the answers of a scripted model server."""

from __future__ import annotations

import base64
import hashlib

from playhead import _system

__all__ = ["Mint"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_FIXED_SECONDS = 1_700_000_000


class Mint:
    """Makes what a real server makes up for each answer.

    By default all of it is random, so an answer that came over the network can never equal one that did not.
    With ``seed`` every value follows from the seed and the order in which values are asked for.
    """

    def __init__(self, *, seed: int | None = None) -> None:
        self._seed = seed
        self._drawn = 0

    def token_bytes(self, count: int) -> bytes:
        """``count`` bytes that have not been seen before."""
        if self._seed is None:
            return _system.random_bytes(count)
        self._drawn += 1
        return hashlib.shake_256(f"{self._seed}/{self._drawn}".encode()).digest(count)

    def letters(self, count: int) -> str:
        """``count`` letters and digits."""
        return "".join(_LETTERS[byte % len(_LETTERS)] for byte in self.token_bytes(count))

    def hex(self, count: int) -> str:
        """``count`` hexadecimal digits."""
        return self.token_bytes((count + 1) // 2).hex()[:count]

    def base64(self, count: int) -> str:
        """``count`` bytes, in base64."""
        return base64.b64encode(self.token_bytes(count)).decode()

    def below(self, limit: int) -> int:
        """A whole number from 0 up to, not including, ``limit``."""
        return int.from_bytes(self.token_bytes(4)) % limit

    def seconds(self) -> int:
        """The date in seconds since 1970."""
        return _FIXED_SECONDS if self._seed is not None else _system.SystemClock.wall_ns() // 1_000_000_000
