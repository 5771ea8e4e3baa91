"""What should have happened at a step, said so that it can be checked."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable
from typing import Any, Final, Literal

import msgspec

from playhead.errors import UsageError

Kind = Literal["tool", "no-tool", "argument", "answer", "no-answer", "text"]

_TOOL: Final = re.compile(r"(tool|no-tool)\s*=\s*(\S+)")
_ARGUMENT: Final = re.compile(r"argument\s+([\w.\-]+)\s*(<=|>=|!=|=|<|>|~)\s*(.+)", re.DOTALL)
_ANSWER: Final = re.compile(r"(answer|no-answer)\s*~\s*(.+)", re.DOTALL)
_COMPARING: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Rule(msgspec.Struct, frozen=True):
    """A rule as it was typed (``text``), and what it means: a ``kind``, a ``name``, and a comparison with ``value``."""

    text: str
    kind: Kind
    name: str = ""
    sign: str = ""
    value: Any = None

    def holds_for(self, found: Any) -> bool:
        """Whether a value, of an argument or an answer, is as the rule wants it."""
        match self.sign:
            case "=":
                return bool(found == self.value)
            case "!=":
                return bool(found != self.value)
            case "~":
                text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
                return re.search(str(self.value), text) is not None
            case _:
                try:
                    return _COMPARING[self.sign](found, self.value)
                except TypeError:
                    return False


def read_rule(text: str) -> Rule:
    """A rule from how it is typed; what has no other form is text for a person.

    Raises `UsageError` for a rule that begins as one that can be checked and is none.

    >>> read_rule("tool=refund").kind, read_rule("argument amount<=100").value
    ('tool', 100)
    """
    text = text.strip()
    if found := _TOOL.fullmatch(text):
        return Rule(text, found[1], found[2])  # type: ignore[arg-type]
    if found := _ARGUMENT.fullmatch(text):
        value = _pattern(found[3], text) if found[2] == "~" else _value(found[3])
        return Rule(text, "argument", found[1], found[2], value)
    if found := _ANSWER.fullmatch(text):
        return Rule(text, found[1], "", "~", _pattern(found[2], text))  # type: ignore[arg-type]
    if not text or re.match(r"(no-)?(tool|answer)\s*[=~]|argument\s+\S+\s*[<>=!~]", text):
        raise _unusable(text, "it does not say what is expected")
    return Rule(text, "text")


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _pattern(text: str, rule: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise _unusable(rule, f"it is no regular expression: {error}") from None
    return text


def _unusable(rule: str, why: str) -> UsageError:
    return UsageError(
        f"the rule {rule!r} cannot be used: {why}",
        next="playhead annotate RUN --step N --wrong TEXT --expect tool=NAME",
    )
