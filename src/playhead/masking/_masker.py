"""The one gate: what has not passed it reaches no file, hash, index, message or log."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote_plus

from playhead.errors import ConfigurationError
from playhead.masking._engine import EngineName
from playhead.masking._labels import label_items, label_members
from playhead.masking._literals import RefusedSecret
from playhead.masking._names import is_secret_name, is_secret_parameter, may_name_secret
from playhead.masking._patterns import regex
from playhead.masking._placeholder import Pseudonyms, is_placeholder
from playhead.masking._rules import Finding, Rule
from playhead.masking._texts import TextMask, default_rules
from playhead.masking._trees import TreeMask

__all__ = ["MASK_RULE_VERSION", "Masker"]

MASK_RULE_VERSION = 1
"""Raised when what the built-in rules mask changes."""

_GLANCE = 4096
"""JSON of so many bytes is looked at as text: in more of it something looks like a secret more often than not."""

_PARAMETER = regex(r"([?&;#])([^=&;?#\s]{1,128})=([^&;#\s]+)")


class Masker:
    """Takes secrets out of what leaves the program, and leaves placeholders that keep equality.

    ``key`` makes the digests in placeholders: with the same key equal values get equal placeholders, in all
    recordings of a store. ``rules`` replace the built-in ones (`default_rules`); ``secrets`` are values to be
    masked wherever they stand, in any encoding. Those that cannot be masked without damaging nearly every text are
    in ``refused``. ``engine`` is RE2 where it is installed; both engines give the same answers.

    Masking what is masked already changes nothing. Every method takes a time in proportion to the length of its
    argument, whatever that is, and may be called from several threads.

    Raises `ConfigurationError` for an empty key, and for ``engine="re2"`` where RE2 is not installed.

    >>> masker = Masker(key=b"of a store")
    >>> masker.text("ask ana@example.org")
    'ask masked-a731105c8d@masked.invalid'
    """

    version: int = MASK_RULE_VERSION

    def __init__(
        self,
        *,
        key: bytes,
        rules: Sequence[Rule] | None = None,
        secrets: Sequence[str] = (),
        engine: EngineName = "auto",
    ) -> None:
        if not key:
            raise ConfigurationError("the mask needs a key of at least one byte", next="playhead doctor")
        pseudonyms = Pseudonyms(key)
        self.key_id = pseudonyms.key_id
        self._texts = TextMask(pseudonyms, default_rules() if rules is None else rules, secrets, engine)
        self._trees = TreeMask(self._texts)

    @property
    def engine(self) -> str:
        """``re2`` or ``re``."""
        return self._texts.engine.name

    @property
    def refused(self) -> tuple[RefusedSecret, ...]:
        """The registered secrets that are not masked, and why."""
        return tuple(self._texts.refused)

    def text(self, text: str, *, cut: bool = False) -> str:
        """``text`` masked; the same object if it holds no secret.

        ``cut`` says that ``text`` broke off, so that a part of a secret at its end is masked as well.
        """
        return self._texts.mask(text, cut=cut)

    def value(self, value: Any, *, cut: bool = False) -> Any:
        """A tree of dict, list, tuple, str, bytes and atoms, masked; the same object if it holds no secret.

        Strings are masked as `text` does, and as a whole where the key above them says that they are secret.
        Numbers, booleans, ``None`` and the types of all else stay. ``value`` itself is not changed.
        """
        if isinstance(value, str):
            return self.text(value, cut=cut)
        if isinstance(value, (bytes, bytearray)):
            return self._trees.mask([value], cut=cut)[0]
        return self._trees.mask(value, cut=cut) if isinstance(value, (dict, list, tuple)) else value

    def names_secrets(self, node: Mapping[Any, Any] | Sequence[Any]) -> list[bool] | None:
        """For each value right in ``node``, whether a name in it says that all below is secret; ``None``: of none.

        Whoever masks what is below by itself has to know: only together with the name it is masked.
        """
        labels = label_items(node, None) if isinstance(node, Mapping) else label_members(node, None)
        return None if labels is None else [label is not None for label in labels]

    def is_clean_json(self, text: bytes) -> bool:
        """Whether `value` changes nothing in the tree that ``text`` is the JSON of. ``True`` is sure, ``False`` is not.

        It takes one look at a short text as it stands. Without escapes each string is there letter for letter, and
        the quotes around it are no part of any word, so what matches in none of the text matches in none of them.
        """
        return (
            len(text) <= _GLANCE
            and b"\\" not in text
            and text.isascii()
            and not self._texts.callables
            and not may_name_secret(text.lower())
            and not self._texts.engine.may_match(text)
        )

    def command(self, words: Sequence[str]) -> list[str]:
        """A command line masked; a word after an option whose name says so (``--password x``) is masked as a whole."""
        masked: list[str] = []
        option = ""
        for word in words:
            is_option = word.startswith("-")
            named = option and not is_option and is_secret_name(option.lstrip("-"))
            masked.append(self._named(option.lstrip("-"), word) if named else self.text(word))
            option = word if is_option and "=" not in word else ""
        return masked

    def headers(self, headers: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Header pairs masked; their order, the case of their names and repeated ones are kept."""
        return [
            (self.text(name), self._named(name, value) if is_secret_name(name) else self.text(value))
            for name, value in headers
        ]

    def url(self, url: str) -> str:
        """A URL masked: its password, the parameters whose names are secret, and whatever else is found in it."""
        masked = self.text(_PARAMETER.sub(self._parameter, url))
        return url if masked == url else masked

    def data(self, data: bytes) -> bytes:
        """Bytes masked, as text if they are UTF-8; the same object if they hold no secret."""
        return self._texts.mask_bytes(data)

    def pieces(self, pieces: Sequence[str]) -> list[str]:
        """A text that arrived in pieces, masked as one: as many pieces come back, none with a part of a secret.

        A placeholder stands in the first piece that its secret touched. The text counts as cut off: see `text`.
        """
        return self._texts.mask_pieces(pieces)

    def find(self, text: str) -> list[Finding]:
        """Where secrets stand in ``text``: the check whether something is clean, with the same rules and decoders."""
        return [Finding(hit.rule, hit.start, hit.end) for hit in self._texts.hits(text)]

    def _named(self, name: str, value: str) -> str:
        return self._texts.mask_under(name, value)

    def _parameter(self, match: re.Match[str]) -> str:
        mark, name, raw = match.groups()
        value = unquote_plus(raw)
        if not is_secret_parameter(unquote_plus(name)) or is_placeholder(value):
            return match.group()
        return f"{mark}{name}={self._named('secret', value)}"
