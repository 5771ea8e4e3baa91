"""The judgement of one text: rules, registered secrets and decoders together."""

from __future__ import annotations

import re
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from playhead.errors import ConfigurationError, PlayheadWarning
from playhead.masking._assignments import ASSIGNMENT_RULES, cut_secret_parts
from playhead.masking._base64_runs import BASE64_PATTERN, list_runs, recode
from playhead.masking._credentials import CREDENTIAL_RULES
from playhead.masking._engine import OVERLAP, EngineName, Pattern, View, Windows, cut_windows, make_engine
from playhead.masking._literals import list_forms, sift_secrets
from playhead.masking._people import PEOPLE_RULES
from playhead.masking._placeholder import Pseudonyms, is_placeholder, list_placeholders
from playhead.masking._rules import Hit, Rule, Settled, Sign
from playhead.masking._splicing import splice, splice_pieces
from playhead.masking._tokens import CUT_TOKEN, TOKEN_RULES
from playhead.masking._unwrapping import PERCENT_PATTERN, UNWRAP_ALL_PATTERN, UNWRAP_PATTERN, unwrap

__all__ = ["TextMask", "default_rules"]

_UNWRAPS = 4
_RECODES = 2
_PERCENT, _ESCAPE, _BASE64, _FIRST_RULE = 0, 1, 2, 3
_LEAST_CUT = 4
_NEAR = 16
_LEAST_ADDRESS = 11
_SECRET_RANK, _BASE64_RANK, _JOINED_RANK = 1, 2, 3
_ROUNDS = 4


def default_rules() -> tuple[Rule, ...]:
    """The rules of the field, the most specific first: of two rules for one span, the earlier names it."""
    return (*TOKEN_RULES, *CREDENTIAL_RULES, *PEOPLE_RULES, *ASSIGNMENT_RULES)


class TextMask:
    """Finds what to replace in a text, and with what."""

    def __init__(
        self, pseudonyms: Pseudonyms, rules: Sequence[Rule], secrets: Sequence[str], engine: EngineName
    ) -> None:
        self.pseudonyms = pseudonyms
        self.secrets, self.refused = sift_secrets(secrets)
        own = (_registered(self.secrets),) if self.secrets else ()
        self._rules = [rule for rule in (*own, *rules) if _is_for_engine(rule)]
        self.callables = [(rule, _to_find(rule)) for rule in rules if not _is_for_engine(rule)]
        self._own = {rule.name for rule in rules if rule.settle is None}
        try:
            self.engine = make_engine(
                engine,
                (
                    Pattern(PERCENT_PATTERN.encode(), Sign("text", (b"%",)), heavy=False),
                    self._escape_pattern(),
                    Pattern(BASE64_PATTERN.encode(), Sign("words")),
                    *(_to_pattern(rule) for rule in self._rules),
                ),
            )
        except ImportError:
            raise ConfigurationError("the mask engine RE2 is not installed", next="pip install google-re2") from None

    def _escape_pattern(self) -> Pattern:
        plain = all(
            secret.isascii() and secret.isprintable() and not set(secret) & set("\"'\\") for secret in self.secrets
        )
        if plain:
            return Pattern(UNWRAP_PATTERN.encode(), Sign("text", (b"\\u00", b"\\x", b"\\/")), heavy=False)
        return Pattern(UNWRAP_ALL_PATTERN.encode(), Sign("text", (b"\\",)), heavy=False)

    def mask(self, text: str, *, cut: bool = False, indices: Iterable[int] | None = None) -> str:
        """``text`` with its secrets replaced; the same object if it has none.

        ``cut``: it broke off, perhaps in a secret. ``indices``: all of the engine's patterns that can match, if known.
        """
        return _repeat(text, self.hits(text, cut=cut, indices=indices), self.hits)

    def mask_under(self, name: str, value: str) -> str:
        """The same for a ``value`` that is secret because of its ``name``."""
        return _repeat(value, self._hits_under(name, value), lambda text: self._hits_under(name, text))

    def mask_pieces(self, pieces: Sequence[str]) -> list[str]:
        """The same for a text in pieces, which stay as many. It counts as cut."""
        out = list(pieces)
        hits = self.hits("".join(out), cut=True)
        for _ in range(_ROUNDS):
            out = splice_pieces(out, hits)
            if not any(hit.rank for hit in hits):
                break
            hits = self.hits("".join(out))
        return out

    def mask_bytes(self, data: bytes, recodes: int = _RECODES) -> bytes:
        """UTF-8 is masked as text; anything else is searched for keys and registered secrets byte by byte."""
        if not self.callables and not self.engine.scan(View(data)):
            return data
        find: Callable[[str], list[Hit]] = partial(self._hits, unwraps=_UNWRAPS, recodes=recodes)
        try:
            text, coding = data.decode("utf-8"), "utf-8"
        except UnicodeDecodeError:
            text, coding, find = data.decode("latin-1"), "latin-1", self._hits_in_binary
        masked = _repeat(text, find(text), find)
        return data if masked is text else masked.encode(coding)

    def hits(self, text: str, *, cut: bool = False, indices: Iterable[int] | None = None) -> list[Hit]:
        """What `mask` replaces at first, ascending and apart."""
        view = View(text)
        windows = self.engine.scan(view) if indices is None else dict.fromkeys(indices, cut_windows(len(view)))
        found = self._judge(text, view, windows, _UNWRAPS, _RECODES)
        tail = self._cut_tail(text) if cut else None
        return self._join(text, [*found, tail]) if tail else found

    def _hits_under(self, name: str, value: str) -> list[Hit]:
        named = [
            Hit(start, end, "secret", self.pseudonyms.plain("secret", part), _SECRET_RANK)
            for start, end, part in cut_secret_parts(name, value)
        ]
        return self._join(value, [*self._hits(value, _UNWRAPS, _RECODES), *named])

    def _hits(self, text: str, unwraps: int, recodes: int) -> list[Hit]:
        view = View(text)
        return self._judge(text, view, self.engine.scan(view), unwraps, recodes)

    def _judge(self, text: str, view: View, windows: Windows, unwraps: int, recodes: int) -> list[Hit]:
        if not windows:
            return self._join(text, self._call_all(text)) if self.callables else []
        here, wrapped = self._match_all(text, view, windows)
        here += self._call_all(text)
        if recodes and _BASE64 in windows:
            here += self._recode_all(text, view, windows[_BASE64], recodes - 1)
        if "masked" in text:
            here = self._clip(text, here)
        wrapped = wrapped or self._holds(_PERCENT, view, windows) or self._holds(_ESCAPE, view, windows)
        if unwraps and wrapped and (unwrapped := unwrap(text)):
            below = unwrapped.lift(self._hits(unwrapped.text, unwraps - 1, recodes))
            here = below + unwrapped.trim(here)
        return self._join(text, here)

    def _holds(self, index: int, view: View, windows: Windows) -> bool:
        """Whether the pattern at ``index`` does match: a scan may have said so for too little."""
        return index in windows and any(
            self.engine.search(index, view, start, min(end + OVERLAP, len(view))) for start, end in windows[index]
        )

    def _hits_in_binary(self, text: str) -> list[Hit]:
        """What is found in bytes taken for Latin-1: numbers tell nothing there, and an address has to be a long one."""
        view = View(text.encode("latin-1"))
        hits, _ = self._match_all(text, view, self.engine.scan(view))
        return self._join(
            text,
            [
                hit
                for hit in hits
                if hit.rule not in _PEOPLE or (hit.rule == "email" and hit.end - hit.start >= _LEAST_ADDRESS)
            ],
        )

    def _match_all(self, text: str, view: View, windows: Windows) -> tuple[list[Hit], bool]:
        """What the rules find here, and whether escapes stand so near that the text below them has to be seen too."""
        found: list[Hit] = []
        wrapped = False
        for index in sorted(windows):
            if index >= _FIRST_RULE:
                wrapped |= self._match(index, text, view, windows[index], found)
            elif index == _BASE64 and "\\" in text:
                wrapped |= any("\\" in text[max(0, a - 1) : b + 1] for a, b in self._places(view, windows[index]))
        return found, wrapped

    def _match(self, index: int, text: str, view: View, windows: Iterable[tuple[int, int]], found: list[Hit]) -> bool:
        rule = self._rules[index - _FIRST_RULE]
        settle = rule.settle or _settle_match
        search = self.engine.search
        position, wrapped = 0, False
        for start, end in windows:
            position = max(position, start)
            reach = min(end + OVERLAP, len(view))
            while position < end and (place := search(index, view, position, reach)):
                if place[0] >= end:
                    break
                settled = settle(text, *place)
                position = max(settled.resume, place[0] + 1)
                wrapped = wrapped or "\\" in text[max(0, place[0] - _NEAR) : position + _NEAR]
                for first, last, value in settled.spans:
                    if is_placeholder(value):
                        continue
                    if rule.check is None or _passes(rule, rule.check, value):
                        found.append(self._hit(rule, first, last, value))
        return wrapped

    def _hit(self, rule: Rule, start: int, end: int, value: str) -> Hit:
        rank = _SECRET_RANK if rule.name in _OPEN_ENDED else 0
        return Hit(start, end, rule.name, rule.form(self.pseudonyms, rule.name, value), rank)

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
                if not 0 <= start < end <= len(text) or is_placeholder(value):
                    continue
                if rule.check is None or _passes(rule, rule.check, value):
                    found.append(self._hit(rule, start, end, value))
        return found

    def _recode_all(self, text: str, view: View, windows: Sequence[tuple[int, int]], recodes: int) -> list[Hit]:
        found = []
        for run in list_runs(text, self._places(view, windows)):
            old = new = text[run.start : run.end]
            for offset in sorted(run.stretches):
                probe = run.probe(text, offset)
                if self.mask_bytes(probe, recodes) != probe:
                    new = recode(new, offset, lambda decoded: self.mask_bytes(decoded, recodes))
            if new != old:
                found.append(Hit(run.start, run.end, "base64", new, _BASE64_RANK))
        return found

    def _places(self, view: View, windows: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        for start, end in windows:
            reach = min(end + OVERLAP, len(view))
            while start < end and (place := self.engine.search(_BASE64, view, start, reach)):
                yield place
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

    def _clip(self, text: str, hits: list[Hit]) -> list[Hit]:
        """``hits`` without what they share with a placeholder that reaches over an edge of theirs.

        Within a placeholder, somebody's own rule finds nothing but the rule's name and the digest.
        """
        masked = list_placeholders(text)
        starts = [start for start, _ in masked]
        clipped = []
        for hit in hits:
            start, end = hit.start, hit.end
            before, within = bisect_right(starts, start) - 1, bisect_left(starts, end) - 1
            if before >= 0 and end <= masked[before][1] and hit.rule in self._own:
                continue
            if before >= 0 and masked[before][0] < start < masked[before][1] < end:
                start = masked[before][1]
            if within >= 0 and start <= masked[within][0] < end < masked[within][1]:
                end = masked[within][0]
            if start < end and not is_placeholder(text[start:end]):
                clipped.append(hit._replace(start=start, end=end))
        return clipped

    def _join(self, text: str, hits: list[Hit]) -> list[Hit]:
        """``hits`` ascending and apart: what lies within another goes, two that overlap become one."""
        if len(hits) < 2:
            return hits
        joined: list[Hit] = []
        for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end, hit.rank)):
            last = joined[-1] if joined else None
            if last is None or hit.start >= last.end:
                joined.append(hit)
            elif hit.end > last.end:
                whole = self.pseudonyms.plain(last.rule, text[last.start : hit.end])
                joined[-1] = Hit(last.start, hit.end, last.rule, whole, _JOINED_RANK)
            elif (hit.start, hit.end) != (last.start, last.end):
                joined[-1] = last._replace(rank=_JOINED_RANK)
        return joined


_IN_NAMES = ("-", "_", ".")
_OPEN_ENDED = frozenset({"phone", "private-key", "registered", "secret"})
_PEOPLE = frozenset(rule.name for rule in PEOPLE_RULES)


def _repeat(text: str, hits: list[Hit], find: Callable[[str], list[Hit]]) -> str:
    """``text`` with ``hits`` replaced, and what comes to light by that.

    That may be where hits touched, where values had names, and where one stood in the name of something else.
    """
    for _ in range(_ROUNDS):
        if not hits:
            break
        opens = any(hit.rank or text[hit.end : hit.end + 1] in _IN_NAMES for hit in hits)
        text = splice(text, hits)
        if not opens:
            break
        hits = find(text)
    return text


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
    return Pattern(rule.pattern.encode("ascii"), rule.sign, rule.heavy, rule.settle is None, rule.folded, rule.numeric)


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
    forms = sorted(
        ((form, secret) for secret in secrets for form in list_forms(secret)), key=lambda pair: -len(pair[0])
    )

    def settle(text: str, start: int, end: int) -> Settled:
        for form, secret in forms:
            if text.startswith(form, start):
                return Settled(start + len(form), ((start, start + len(form), secret),))
        return Settled(start + 1)

    seen = list(dict.fromkeys(View(form).data for form, _ in forms))
    pattern = b"|".join(re.escape(form) for form in seen).decode("ascii")
    return Rule("registered", pattern=pattern, settle=settle, sign=Sign("text", tuple(seen)))
