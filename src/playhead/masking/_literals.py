"""Secrets that the program's owner registered by their value."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["RefusedSecret", "list_forms", "sift_secrets"]

LEAST_LENGTH = 6
"""In code points, after blanks around it are taken off."""

_FOUND_BY_DECODING = 12
"""Bytes of printable ASCII that hold three whole groups of base64 wherever they begin: `list_runs` finds these."""

_COMMON = frozenset(
    {
        *("access", "account", "anthropic", "apikey", "assistant", "authorization", "bearer", "changeme", "content"),
        *(
            "cookie",
            "default",
            "development",
            "disabled",
            "enabled",
            "example",
            "function",
            "gemini",
            "github",
            "google",
        ),
        *(
            "health",
            "localhost",
            "master",
            "message",
            "openai",
            "password",
            "private",
            "production",
            "public",
            "python",
        ),
        *("request", "response", "result", "secret", "server", "staging", "status", "string", "system", "testing"),
        *("unknown", "username"),
    }
)


@dataclass(frozen=True, slots=True)
class RefusedSecret:
    """A registered value that is not masked, because masking it would damage nearly every text.

    ``place`` is its place among the values given, from 1. The value itself is not kept.
    """

    place: int
    why: str

    def __str__(self) -> str:
        return f"secret number {self.place} is not masked: {self.why}"


def sift_secrets(values: Sequence[str]) -> tuple[list[str], list[RefusedSecret]]:
    """The values that can be masked, longest first, and those that cannot."""
    kept: dict[str, None] = {}
    refused = []
    for place, value in enumerate(values, start=1):
        if why := _why_refused(value):
            refused.append(RefusedSecret(place, why))
        else:
            kept[value.strip()] = None
    return sorted(kept, key=len, reverse=True), refused


def _why_refused(value: object) -> str | None:
    if not isinstance(value, str):
        return "it is not a string"
    stripped = value.strip()
    if not stripped:
        return "it is empty"
    if len(stripped) < LEAST_LENGTH:
        return f"it is shorter than {LEAST_LENGTH} characters"
    if stripped.lower() in _COMMON:
        return "it is a common word"
    if len(set(stripped)) == 1:
        return "it is one character repeated"
    if stripped.isdecimal() and len(stripped) < 9:
        return "it is a short number"
    return None


def list_forms(secret: str) -> list[str]:
    """How ``secret`` may stand in a text below its escapes: itself, its UTF-8 as code points, its base64."""
    octets = secret.encode("utf-8", "surrogatepass")
    forms = [secret, octets.decode("latin-1")]
    if len(octets) >= _FOUND_BY_DECODING and secret.isascii() and secret.isprintable():
        return forms[:1]
    for shift in range(3):
        coded = base64.b64encode(b"\0" * shift + octets).decode("ascii").rstrip("=")
        end = len(coded) - (1 if (shift + len(octets)) % 3 else 0)
        inner = coded[(0, 2, 3)[shift] : end]
        forms += [inner, inner.translate(str.maketrans("+/", "-_"))]
    return list(dict.fromkeys(form for form in forms if len(form) >= 5))
