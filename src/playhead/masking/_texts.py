"""The judgement of one text: rules, registered secrets and decoders together."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence

from playhead.errors import ConfigurationError, PlayheadWarning
from playhead.masking._assignments import ASSIGNMENT_RULE, cut_secret_parts
from playhead.masking._base64_runs import BASE64_PATTERN, list_runs, recode
from playhead.masking._credentials import CREDENTIAL_RULES
from playhead.masking._engine import OVERLAP, EngineName, Pattern, Windows, cut_windows, make_engine, view
from playhead.masking._literals import list_forms, sift_secrets
from playhead.masking._people import PEOPLE_RULES
from playhead.masking._placeholder import Pseudonyms, is_placeholder
from playhead.masking._rules import Hit, Rule, Settled, Sign
from playhead.masking._tokens import CUT_TOKEN, TOKEN_RULES
from playhead.masking._unwrapping import UNWRAP_ALL_PATTERN, UNWRAP_PATTERN, unwrap

__all__ = ["TextMask", "default_rules", "splice"]

_UNWRAPS = 4
_RECODES = 2
_UNWRAP, _BASE64, _FIRST_RULE = 0, 1, 2
_LEAST_CUT = 4
_SECRET_RANK, _BASE64_RANK = 1, 2


def default_rules() -> tuple[Rule, ...]:
    """The rules of the field, the most specific first: of two rules for one span, the earlier names it."""
    return (*TOKEN_RULES, *CREDENTIAL_RULES, *PEOPLE_RULES, ASSIGNMENT_RULE)


def splice(text: str, hits: Sequence[Hit]) -> str:
    """``text`` with ``hits``, ascending and apart, replaced; the same object if there are none."""
    if not hits:
        return text
    pieces = []
    position = 0
    for hit in hits:
        pieces += (text[position : hit.start], hit.replacement)
        position = hit.end
    return "".join((*pieces, text[position:]))


class TextMask:
    """Finds what to replace in a text, and with what."""

    def __init__(self, pseudonyms: Pseudonyms, rules: Sequence[Rule], secrets: Sequence[str], engine: EngineName) -> None:
        self.pseudonyms = pseudonyms
        self.secrets, self.refused = sift_secrets(secrets)
        own = (_registered(self.secrets),) if self.secrets else ()
        self._rules = [rule for rule in (*own, *rules) if _is_for_engine(rule)]
        self.callables = [(rule, _to_find(rule)) for rule in rules if not _is_for_engine(rule)]
        try:
            self.engine = make_engine(
                engine,
                [
                    Pattern(self._unwrap_pattern().encode(), Sign("text", (b"%", b"\\"))),
                    Pattern(BASE64_PATTERN.encode(), Sign("words")),
                    *(_to_pattern(rule) for rule in self._rules),
                ],
            )
        except ImportError:
            raise ConfigurationError("the mask engine RE2 is not installed", next="pip install google-re2") from None

    def _unwrap_pattern(self) -> str:
        plain = all(secret.isascii() and secret.isprintable() and not set(secret) & set("\"'\\") for secret in self.secrets)
        return UNWRAP_PATTERN if plain else UNWRAP_ALL_PATTERN

    def hits(self, text: str, *, cut: bool = False) -> list[Hit]:
        """All spans to replace, ascending and apart. ``cut``: ``text`` broke off, so its end may be a part of a secret."""
        data = view(text)
        return self._with_tail(text, self._judge(text, data, self.engine.scan(data), _UNWRAPS, _RECODES), cut=cut)

    def hits_of(self, text: str, indices: Iterable[int], *, cut: bool = False) -> list[Hit]:
        """The same where it is known which of the engine's patterns can match."""
        data = view(text)
        windows = {index: list(cut_windows(len(data))) for index in indices}
        return self._with_tail(text, self._judge(text, data, windows, _UNWRAPS, _RECODES), cut=cut)

    def _with_tail(self, text: str, found: list[Hit], *, cut: bool) -> list[Hit]:
        if cut and (tail := self._cut_tail(text)):
            return self._join(text, [*found, tail])
        return found

    def hits_under(self, name: str, value: str) -> list[Hit]:
        """The same for a ``value`` that is secret because of its ``name``."""
        named = [
            Hit(start, end, "secret", self.pseudonyms.plain("secret", part), _SECRET_RANK)
            for start, end, part in cut_secret_parts(name, value)
        ]
        return self._join(value, [*self._hits(value, _UNWRAPS, _RECODES), *named])

    def mask_bytes(self, data: bytes, recodes: int = _RECODES) -> bytes:
        """UTF-8 is masked as text; anything else is searched for keys and registered secrets byte by byte."""
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            binary = data.decode("latin-1")
            return splice(binary, self._hits_in_binary(binary)).encode("latin-1") if self._any(binary) else data
        hits = self._hits(text, _UNWRAPS, recodes)
        return splice(text, hits).encode("utf-8") if hits else data

    def _any(self, text: str) -> bool:
        return bool(self.callables) or bool(self.engine.scan(view(text)))

    def _hits(self, text: str, unwraps: int, recodes: int) -> list[Hit]:
        data = view(text)
        return self._judge(text, data, self.engine.scan(data), unwraps, recodes)

    def _judge(self, text: str, data: bytes, windows: Windows, unwraps: int, recodes: int) -> list[Hit]:
        if not windows:
            return self._join(text, self._call_all(text)) if self.callables else []
        here = self._match_all(text, data, windows)
        wrapped = unwraps and (self._is_in(_UNWRAP, data, windows) or ("\\" in text and self._is_touched(data, windows)))
        here += self._call_all(text)
        if recodes and _BASE64 in windows:
            here += self._recode_all(text, data, windows[_BASE64], recodes - 1)
        if wrapped and (unwrapped := unwrap(text)):
            below = unwrapped.lift(self._hits(unwrapped.text, unwraps - 1, recodes))
            here = below + unwrapped.trim(here)
        return self._join(text, here)

    def _is_in(self, index: int, data: bytes, windows: Windows) -> bool:
        """Whether the pattern at ``index`` does match: a scan may have said so for too little."""
        return any(
            self.engine.search(index, data, start, min(end + OVERLAP, len(data))) for start, end in windows.get(index, ())
        )

    def _is_touched(self, data: bytes, windows: Windows) -> bool:
        return any(self._is_in(index, data, windows) for index in windows)

    def _hits_in_binary(self, text: str) -> list[Hit]:
        data = view(text)
        hits = self._match_all(text, data, self.engine.scan(data))
        telling = (
            hit for hit in hits if hit.rule not in _PEOPLE or (hit.rule == "email" and hit.end - hit.start > 10)
        )
        return self._join(text, list(telling))

    def _match_all(self, text: str, data: bytes, windows: Windows) -> list[Hit]:
        found: list[Hit] = []
        for index in sorted(windows):
            if index >= _FIRST_RULE:
                found += self._match(self._rules[index - _FIRST_RULE], index, text, data, windows[index])
        return found

    def _match(
        self, rule: Rule, index: int, text: str, data: bytes, windows: Iterable[tuple[int, int]]
    ) -> Iterator[Hit]:
        settle = rule.settle or _settle_match
        position = 0
        for start, end in windows:
            position = max(position, start)
            reach = min(end + OVERLAP, len(data))
            while position < end and (place := self.engine.search(index, data, position, reach)):
                if place[0] >= end:
                    break
                settled = settle(text, *place)
                position = max(settled.resume, place[0] + 1)
                for first, last, value in settled.spans:
                    if not is_placeholder(value) and (rule.check is None or _passes(rule, rule.check, value)):
                        yield self._hit(rule, first, last, value)

    def _hit(self, rule: Rule, start: int, end: int, value: str) -> Hit:
        return Hit(start, end, rule.name, rule.form(self.pseudonyms, rule.name, value), rule.name == "secret")

    def _call_all(self, text: str) -> list[Hit]:
        found = []
        for rule, find in self.callables:
            try:
                spans = [(int(start), int(end)) for start, end in find(text)]
            except Exception as error:  # the gate fails closed; the error's text may quote the secret
                _warn_of_failure(rule, error)
                spans = [(0, len(text))]
            for start, end in spans:
                value = text[start:end]
                if 0 <= start < end <= len(text) and not is_placeholder(value):
                    if rule.check is None or _passes(rule, rule.check, value):
                        found.append(self._hit(rule, start, end, value))
        return found

    def _recode_all(self, text: str, data: bytes, windows: Sequence[tuple[int, int]], recodes: int) -> list[Hit]:
        found = []
        for start, end, offsets in list_runs(text, self._places(data, windows)):
            run = text[start:end]
            for offset in offsets:
                run = recode(run, offset, lambda decoded: self.mask_bytes(decoded, recodes)) or run
            if run != text[start:end]:
                found.append(Hit(start, end, "base64", run, _BASE64_RANK))
        return found

    def _places(self, data: bytes, windows: Iterable[tuple[int, int]]) -> Iterator[int]:
        for start, end in windows:
            reach = min(end + OVERLAP, len(data))
            while start < end and (place := self.engine.search(_BASE64, data, start, reach)):
                yield place[0]
                start = place[1]

    def _cut_tail(self, text: str) -> Hit | None:
        """The first characters of a secret at the end of a text that broke off."""
        for secret in self.secrets:
            for length in range(min(len(secret) - 1, len(text)), _LEAST_CUT - 1, -1):
                if text.endswith(secret[:length]):
                    start = len(text) - length
                    return Hit(start, len(text), "registered", self.pseudonyms.plain("registered", secret[:length]))
        if token := CUT_TOKEN.search(text, max(0, len(text) - OVERLAP)):
            return Hit(token.start(), len(text), "cut-key", self.pseudonyms.plain("cut-key", token.group()))
        return None

    def _join(self, text: str, hits: list[Hit]) -> list[Hit]:
        """``hits`` ascending and apart: what lies within another goes, two that overlap become one."""
        joined: list[Hit] = []
        for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end, hit.rank)):
            last = joined[-1] if joined else None
            if last is None or hit.start >= last.end:
                joined.append(hit)
            elif hit.end > last.end:
                whole = self.pseudonyms.plain(last.rule, text[last.start : hit.end])
                joined[-1] = Hit(last.start, hit.end, last.rule, whole)
        return joined


_PEOPLE = frozenset(rule.name for rule in PEOPLE_RULES)


def _settle_match(text: str, start: int, end: int) -> Settled:
    return Settled(end, ((start, end, text[start:end]),))


def _is_for_engine(rule: Rule) -> bool:
    """Engines see no more than ASCII, and many strings at once, so that a pattern cannot ask where a string begins."""
    pattern = rule.pattern
    return rule.settle is not None or (
        pattern is not None and pattern.isascii() and not re.search(r"[$^]|\\[AzZ]", pattern.replace("[^", "["))
    )


def _to_pattern(rule: Rule) -> Pattern:
    assert rule.pattern is not None
    return Pattern(rule.pattern.encode("ascii"), rule.sign, rule.heavy, whole=rule.settle is None)


def _to_find(rule: Rule) -> Callable[[str], Iterable[tuple[int, int]]]:
    if rule.find is not None:
        return rule.find
    assert rule.pattern is not None
    compiled = re.compile(rule.pattern)
    return lambda text: (match.span() for match in compiled.finditer(text))


def _passes(rule: Rule, check: Callable[[str], bool], value: str) -> bool:
    try:
        return bool(check(value))
    except Exception as error:  # the gate fails closed; the error's text may quote the secret
        _warn_of_failure(rule, error)
        return True


def _warn_of_failure(rule: Rule, error: Exception) -> None:
    warnings.warn(
        f"playhead: the mask rule {rule.name!r} raised {type(error).__name__}; what it judged was masked as a whole",
        PlayheadWarning,
        stacklevel=2,
    )


def _registered(secrets: Sequence[str]) -> Rule:
    """One rule for all registered secrets in all forms in which they may stand."""
    forms = sorted(((form, secret) for secret in secrets for form in list_forms(secret)), key=lambda pair: -len(pair[0]))

    def settle(text: str, start: int, end: int) -> Settled:
        for form, secret in forms:
            if text.startswith(form, start):
                return Settled(start + len(form), ((start, start + len(form), secret),))
        return Settled(start + 1)

    seen = list(dict.fromkeys(view(form) for form, _ in forms))
    pattern = b"|".join(re.escape(form) for form in seen).decode("ascii")
    return Rule("registered", pattern=pattern, settle=settle, sign=Sign("text", tuple(seen)))
