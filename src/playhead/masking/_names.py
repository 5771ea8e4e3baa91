"""Which names (keys of objects, headers, variables, query parameters) say that their value is a secret."""

from __future__ import annotations

from functools import lru_cache

from playhead.masking._patterns import regex

__all__ = ["NAME_STEMS", "is_secret_name", "is_secret_parameter", "may_name_secret"]

_KEYS = (
    "access",
    "account",
    "api",
    "encryption",
    "functions",
    "master",
    "private",
    "secret",
    "signing",
    "subscription",
)
_WORDS = (
    *("authorization", "cookie", "credential", "credentials", "passphrase", "passwd", "password", "pwd", "secret"),
    "token",
)
_WHOLE = (
    "accesstoken",
    "authtoken",
    "bearer",
    "cvc",
    "cvv",
    "jwt",
    "otp",
    "pin",
    "privatekey",
    "refreshtoken",
    "secretkey",
)
_PAIRS = tuple(f"{key}_key" for key in _KEYS)
_PARAMETERS = (
    "key",
    "sig",
    "signature",
    "x_amz_credential",
    "x_amz_signature",
    "x_goog_credential",
    "x_goog_signature",
)

_NO_SECRET_TOKEN = frozenset(
    {
        *("next", "page", "prev", "previous", "cursor", "continuation", "sync", "resume", "lookahead", "first", "last"),
        *("max", "min", "num", "total", "input", "output", "prompt", "completion"),
        *("bos", "eos", "pad", "unk", "sep", "cls", "mask", "start", "end", "stop", "special"),
        *("text", "image", "audio", "video"),
    }
)
"""What comes before ``token`` where it is a place in a list, a count or a piece of text."""

NAME_STEMS = (
    *_WORDS,
    *("apikey", "bearer", "cvc", "cvv", "jwt", "otp", "pin"),
    *(f"{key}[_-]key" for key in _KEYS),
    *(f"{key}key" for key in _KEYS if key != "api"),
)
"""Patterns in lower case, each beginning with a literal, one of which is at the end of every secret name."""

_ENDS = (*_WORDS, *_WHOLE, "key")
_LAST = "".join(sorted({end[-1] for end in _ENDS}))


def _ending_in(last: str) -> str:
    ends = "|".join(f'(?<={end}")' for end in _ENDS if end[-1] == last)
    return f'(?<={last}")(?:{ends})'


_NAME_END = regex(rf'"(?<=[{_LAST}\-. _]")(?:(?<=[-. _]")|{"|".join(map(_ending_in, _LAST))})'.encode())
"""A quote, then what is before it: most quotes in JSON are told by the one character before them."""

_HUMP = regex(r"(?<=[a-z0-9])(?=[A-Z])|[-. ]")


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


def may_name_secret(text: bytes) -> bool:
    """Whether a string in JSON ``text``, in lower case and without escapes, may be a secret name; ``False`` is sure."""
    return _NAME_END.search(text) is not None


def is_secret_parameter(name: str) -> bool:
    """Whether the value of ``name`` in the query of a URL is a secret: more names than elsewhere are."""
    return is_secret_name(name) or name.lower().replace("-", "_") in _PARAMETERS
