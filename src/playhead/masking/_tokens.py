"""Keys and tokens that can be told by their shape: a prefix their vendor chose, then a long random tail."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from playhead.masking._patterns import regex
from playhead.masking._placeholder import ends_in_placeholder
from playhead.masking._rules import Rule, Settle, Settled, Sign

__all__ = ["CUT_TOKEN", "TOKEN_RULES", "starts_word"]

CUT_TOKEN = regex(
    r"(?:sk-ant-|sk-proj-|sk-or-|AIza|ya29\.|gsk_|xai-|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|[srp]k_(?:live|test)_"
    r"|whsec_|nvapi-|pplx-|tvly-|lsv2_|eyJ[A-Za-z0-9_-]{8})[A-Za-z0-9._-]+\Z"
)
"""The first part of a key at the very end of a text that was cut off, too short for its rule."""


def starts_word(text: str, start: int) -> bool:
    """Whether neither an ASCII letter or digit nor a placeholder stands right before ``start``."""
    if start == 0:
        return True
    before = text[start - 1]
    if before == "]":
        return not ends_in_placeholder(text, start)
    return not (before.isascii() and before.isalnum())


_DIGIT = regex("[0-9]")


def _has_digit(value: str) -> bool:
    return _DIGIT.search(value) is not None


def _looks_random(value: str) -> bool:
    """Words joined by hyphens are no key: ``sk-learn-compatible-estimators`` has neither a digit nor a long word."""
    return _has_digit(value) or re.search("[A-Za-z]{24}", value) is not None


def _token(
    name: str,
    prefix: str,
    *literals: str,
    of: str = "A-Za-z0-9",
    least: int,
    exact: bool = False,
    inside: bool = False,
    check: Callable[[str], bool] | None = None,
    where: Literal["text", "words"] = "words",
) -> Rule:
    """A rule for ``prefix`` (a pattern; ``literals`` cover it) and ``least`` or more characters ``of`` a class.

    ``exact``: no more than ``least``, and no letter or digit after it. ``inside``: the prefix is so telling that a
    letter or digit may stand right before it.
    """
    tail = regex(f"[{of}]*+") if not exact else regex(r"(?![A-Za-z0-9]|\[masked:)")
    return Rule(
        name,
        pattern=f"{prefix}[{of}]{{{least}}}",
        check=check,
        settle=_settle_token(tail, inside=inside),
        sign=Sign(where, tuple(literal.encode() for literal in literals or (prefix,))),
        heavy=prefix.startswith(("[", "(")),
    )


def _settle_token(tail: re.Pattern[str], *, inside: bool) -> Settle:
    def settle(text: str, start: int, end: int) -> Settled:
        rest = tail.match(text, end) if inside or starts_word(text, start) else None
        if rest is None:
            return Settled(start + 1)
        return Settled(rest.end(), ((start, rest.end(), text[start : rest.end()]),))

    return settle


_RUN = regex(r"[A-Za-z0-9_-]*+")
_SEGMENT = regex(r"\.[A-Za-z0-9_-]*+")


def _settle_jwt(text: str, start: int, end: int) -> Settled:
    """Two to five base64url segments joined by dots; a run that has no dot after it is passed over as a whole."""
    header = _RUN.match(text, end)
    cut = end if header is None else header.end()
    stop, segments = cut, 0
    while segments < 4 and (segment := _SEGMENT.match(text, stop)):
        if segments == 0 and segment.end() - segment.start() < 9:
            break
        stop, segments = segment.end(), segments + 1
    if segments == 0:
        return Settled(cut)
    if text[stop - 1] == ".":
        stop -= 1
    return Settled(stop, ((start, stop, text[start:stop]),))


_B64URL = "A-Za-z0-9_-"

TOKEN_RULES: tuple[Rule, ...] = (
    Rule("jwt", pattern="eyJ[A-Za-z0-9_-]{9}", settle=_settle_jwt, sign=Sign("words", (b"eyJ",)), heavy=False),
    _token("anthropic-key", "sk-ant-", of=_B64URL, least=12, inside=True),
    _token("openrouter-key", "sk-or-", of=_B64URL, least=20, inside=True),
    _token("openai-key", "sk-", of=_B64URL, least=16, check=_looks_random),
    _token("google-key", "AIza", of=_B64URL, least=30),
    _token("google-token", r"ya29\.", "ya29.", of="A-Za-z0-9._-", least=16, where="text"),
    _token("google-client-secret", "GOCSPX-", of=_B64URL, least=20),
    _token("groq-key", "gsk_", least=20),
    _token("xai-key", "xai-", least=20, check=_has_digit),
    _token("huggingface-token", "hf_", least=20),
    _token("replicate-token", "r8_", least=20),
    _token("perplexity-key", "pplx-", least=20),
    _token("tavily-key", "tvly-", of=_B64URL, least=20, check=_has_digit),
    _token("langsmith-key", "lsv2_", of="A-Za-z0-9_", least=24),
    _token("nvidia-key", "nvapi-", of=_B64URL, least=20),
    _token("github-token", "gh[pousr]_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", least=20, inside=True),
    _token("github-token", "github_pat_", of="A-Za-z0-9_", least=20, inside=True),
    _token("gitlab-token", "glpat-", of=_B64URL, least=16, inside=True),
    _token("slack-token", "xox[a-z]-", "xox", of="A-Za-z0-9-", least=10, check=_has_digit),
    _token("slack-token", "xapp-", of="A-Za-z0-9-", least=20, check=_has_digit),
    _token("stripe-key", "[srp]k_(?:live|test)_", "k_live_", "k_test_", least=10, inside=True),
    _token("stripe-webhook-secret", "whsec_", of="A-Za-z0-9+/", least=16, inside=True),
    _token("stripe-price", "price_", least=14, check=_has_digit),
    _token("npm-token", "npm_", least=30),
    _token("pypi-token", "pypi-", of=_B64URL, least=32, check=_has_digit),
    _token("aws-access-key", "A(?:KIA|SIA|BIA|CCA)", "AKIA", "ASIA", "ABIA", "ACCA", of="A-Z0-9", least=16, exact=True),
    _token("twilio-key", "SK", of="0-9a-f", least=32, exact=True),
    Rule(
        "sendgrid-key",
        pattern=r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16}",
        settle=_settle_token(_RUN, inside=False),
        sign=Sign("text", (b"SG.",)),
        heavy=False,
    ),
)
