"""Which names (keys of objects, headers, variables, query parameters) say that their value is a secret."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["NAME_STEMS", "is_secret_name", "is_secret_parameter"]

_KEYS = "api access secret private account signing encryption master subscription functions".split()
_WORDS = frozenset("authorization cookie password passwd pwd passphrase secret token credential credentials".split())
_WHOLE = frozenset("pin otp cvv cvc jwt bearer privatekey secretkey accesstoken refreshtoken authtoken".split())
_PAIRS = frozenset(f"{key}_key" for key in _KEYS)
_PARAMETERS = frozenset("key sig signature x_amz_signature x_amz_credential x_goog_signature x_goog_credential".split())

_NO_SECRET_TOKEN = frozenset(
    "next page prev previous cursor continuation sync max min num eos bos pad unk sep cls mask stop start end"
    " special input output first last image audio video text prompt completion total lookahead resume".split()
)
"""What comes before ``token`` where it is a place in a list, a count or a piece of text."""

NAME_STEMS = (
    *"authorization cookie password passwd pwd passphrase secret token credential credentials apikey".split(),
    *"pin otp cvv cvc jwt bearer".split(),
    *sorted(f"{pair[:-4]}[_-]key" for pair in _PAIRS),
    *sorted(f"{pair[:-4]}key" for pair in _PAIRS - {"api_key"}),
)
"""Patterns in lower case, each beginning with a literal, one of which is at the end of every secret name."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-. ]")


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether the whole value under ``name`` is a secret.

    >>> [is_secret_name(n) for n in ("X-Api-Key", "clientSecret", "max_tokens", "next_page_token", "GITHUB_TOKEN")]
    [True, True, False, False, True]
    """
    if len(name) > 64 or not name.isascii():
        return False
    words = _HUMP.sub("_", name).lower().strip("_").split("_")
    if len(words) > 1 and words[-1] == "token":
        return words[-2] not in _NO_SECRET_TOKEN
    return words[-1] in _WORDS or "_".join(words) in _WHOLE or "_".join(words[-2:]) in _PAIRS or words[-1] == "apikey"


def is_secret_parameter(name: str) -> bool:
    """Whether the value of ``name`` in the query of a URL is a secret: more names than elsewhere are."""
    return is_secret_name(name) or name.lower().replace("-", "_") in _PARAMETERS
