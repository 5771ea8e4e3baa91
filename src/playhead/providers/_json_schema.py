"""JSON Schema, as far as tools and answers use it: where a value does not follow a schema.

The vocabulary is that of draft 2020-12 for checking values, with ``$ref`` inside the schema, and the upper-case types
and ``nullable`` of Gemini's. ``format`` and other annotations say nothing about validity, as in the standard. What is
left out: references to other documents, ``$dynamicRef``, ``unevaluated…``, and a ``pattern`` in another dialect; they
are never taken for a fault. A schema comes from a recording, which nobody has to trust: it cannot lead this astray by
references in a ring, by alternatives that double, or by a pattern that takes for ever where RE2 is there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from playhead.events import canonical

__all__ = ["Fault", "find_faults"]

_DEEP: Final = 64
_MOST: Final = 50
_LONGEST: Final = 100_000
"""How many schemas are held against how many values before the rest is let be: alternatives in a ring double."""


class Fault(msgspec.Struct, frozen=True):
    """A place (a JSON pointer) where a value does not follow its schema, and what is wrong there."""

    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path or '/'} {self.what}"


def find_faults(schema: Any, value: Any) -> list[Fault]:
    """Where ``value`` does not follow ``schema``; at most 50 places, none where it does.

    >>> find_faults({"type": "object", "required": ["city"]}, {"town": "Ulm"})
    [Fault(path='', what="lacks 'city'")]
    """
    found: list[Fault] = []
    for fault in _Walk(schema).check(schema, value, "", 0):
        found.append(fault)
        if len(found) == _MOST:
            break
    return found


class _Walk:
    def __init__(self, root: Any) -> None:
        self._root = root
        self._left = _LONGEST

    def check(self, schema: Any, value: Any, path: str, depth: int) -> Iterator[Fault]:
        if schema is False:
            yield Fault(path, "is not allowed")
        self._left -= 1
        if not isinstance(schema, Mapping) or depth > _DEEP or self._left < 0:
            return
        if value is None and schema.get("nullable") is True:
            return
        kinds = schema.get("type")
        if kinds is not None and not any(_is_a(value, kind) for kind in _listed(kinds)):
            yield Fault(path, f"is {_kind_of(value)}, not {_spoken(kinds)}")
            return
        yield from _compare(schema, value, path)
        if isinstance(value, str):
            yield from _check_text(schema, value, path)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield from _check_number(schema, value, path)
        elif isinstance(value, list):
            yield from self._check_list(schema, value, path, depth)
        elif isinstance(value, Mapping):
            yield from self._check_object(schema, value, path, depth)
        yield from self._combine(schema, value, path, depth)

    def _fits(self, schema: Any, value: Any, depth: int) -> bool:
        return next(self.check(schema, value, "", depth + 1), None) is None

    def _combine(self, schema: Mapping[str, Any], value: Any, path: str, depth: int) -> Iterator[Fault]:
        if "$ref" in schema:
            yield from self.check(self._resolve(schema["$ref"]), value, path, depth + 1)
        for inner in _list_of(schema, "allOf"):
            yield from self.check(inner, value, path, depth + 1)
        choices = _list_of(schema, "anyOf")
        if choices and not any(self._fits(inner, value, depth) for inner in choices):
            yield from self._nearest(choices, value, path, depth)
        single = _list_of(schema, "oneOf")
        fitting = sum(self._fits(inner, value, depth) for inner in single)
        if single and fitting == 0:
            yield from self._nearest(single, value, path, depth)
        elif fitting > 1:
            yield Fault(path, f"follows {fitting} of the alternatives, not one")
        if "not" in schema and self._fits(schema["not"], value, depth):
            yield Fault(path, "is what it must not be")
        if "if" in schema:
            branch = "then" if self._fits(schema["if"], value, depth) else "else"
            yield from self.check(schema.get(branch, True), value, path, depth + 1)

    def _nearest(self, choices: list[Any], value: Any, path: str, depth: int) -> Iterator[Fault]:
        """Of several alternatives, none of which fits, the one that fails farthest inside the value."""
        tried = [list(self.check(inner, value, path, depth + 1)) for inner in choices]
        inside = [faults for faults in tried if faults[0].path != path]
        if len(inside) == 1:
            yield from inside[0]
        elif len(tried) == 1:
            yield from tried[0]
        else:
            yield Fault(path, "follows none of the alternatives")

    def _check_list(self, schema: Mapping[str, Any], value: list[Any], path: str, depth: int) -> Iterator[Fault]:
        yield from _check_size(schema, len(value), path, ("minItems", "maxItems"), "items")
        if schema.get("uniqueItems") is True and len({canonical(item) for item in value}) < len(value):
            yield Fault(path, "has equal items")
        first = _list_of(schema, "prefixItems") or _list_of(schema, "items")
        rest = schema.get("items", True) if not isinstance(schema.get("items"), list) else True
        for at, item in enumerate(value):
            yield from self.check(first[at] if at < len(first) else rest, item, f"{path}/{at}", depth + 1)
        if "contains" in schema:
            count = sum(self._fits(schema["contains"], item, depth) for item in value)
            if count < (_bound(schema, "minContains") if "minContains" in schema else 1) or count > (
                _bound(schema, "maxContains", math.inf)
            ):
                yield Fault(path, f"has {count} of the items that it has to contain")

    def _check_object(
        self, schema: Mapping[str, Any], value: Mapping[str, Any], path: str, depth: int
    ) -> Iterator[Fault]:
        yield from _check_size(schema, len(value), path, ("minProperties", "maxProperties"), "properties")
        yield from (Fault(path, f"lacks {name!r}") for name in _names_of(schema.get("required")) if name not in value)
        for name, needed in _map_of(schema, "dependentRequired").items():
            if name in value:
                missing = (one for one in _names_of(needed) if one not in value)
                yield from (Fault(path, f"has {name!r} and lacks {one!r}") for one in missing)
        for name, inner in _map_of(schema, "dependentSchemas").items():
            if name in value:
                yield from self.check(inner, value, path, depth + 1)
        named, patterns = _map_of(schema, "properties"), _map_of(schema, "patternProperties")
        for name, item in value.items():
            place = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
            inners = [inner for pattern, inner in patterns.items() if _matches(pattern, name)]
            if name in named:
                inners.append(named[name])
            if not inners and schema.get("additionalProperties") is False:
                yield Fault(place, "is not one of its properties")
                continue
            for inner in inners or [schema.get("additionalProperties", True)]:
                yield from self.check(inner, item, place, depth + 1)
            if "propertyNames" in schema and not self._fits(schema["propertyNames"], name, depth):
                yield Fault(place, "has a name that it must not have")

    def _resolve(self, ref: Any) -> Any:
        """What a reference leads to; anything is allowed where it leads out of the schema."""
        if not isinstance(ref, str) or not ref.startswith("#"):
            return True
        place = self._root
        for part in ref[1:].split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(place, Mapping) and key in place:
                place = place[key]
            elif isinstance(place, list) and key.isdigit() and int(key) < len(place):
                place = place[int(key)]
            else:
                return True
        return place


def _compare(schema: Mapping[str, Any], value: Any, path: str) -> Iterator[Fault]:
    allowed = schema.get("enum")
    if isinstance(allowed, list) and not any(_equal(value, one) for one in allowed):
        shown = ", ".join(map(_shown, allowed[:8])) + (", …" if len(allowed) > 8 else "")
        yield Fault(path, f"is {_shown(value)}, not one of {shown}")
    if "const" in schema and not _equal(value, schema["const"]):
        yield Fault(path, f"is {_shown(value)}, not {_shown(schema['const'])}")


def _check_text(schema: Mapping[str, Any], value: str, path: str) -> Iterator[Fault]:
    yield from _check_size(schema, len(value), path, ("minLength", "maxLength"), "characters")
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and not _matches(pattern, value):
        yield Fault(path, f"is {_shown(value)}, which {pattern} does not match")


def _check_number(schema: Mapping[str, Any], value: float, path: str) -> Iterator[Fault]:
    low, high = _bound(schema, "minimum", -math.inf), _bound(schema, "maximum", math.inf)
    above, below = _bound(schema, "exclusiveMinimum", -math.inf), _bound(schema, "exclusiveMaximum", math.inf)
    if schema.get("exclusiveMinimum") is True:  # draft 4, and what was generated for it
        above = low
    if schema.get("exclusiveMaximum") is True:
        below = high
    if value < low:
        yield Fault(path, f"is {value}, less than {low}")
    elif value <= above:
        yield Fault(path, f"is {value}, not more than {above}")
    if value > high:
        yield Fault(path, f"is {value}, more than {high}")
    elif value >= below:
        yield Fault(path, f"is {value}, not less than {below}")
    step = _bound(schema, "multipleOf", 0)
    if step > 0 and not _is_multiple(value, step):
        yield Fault(path, f"is {value}, no multiple of {step}")


def _is_multiple(value: float, step: float) -> bool:
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    quotient = value / step
    return math.isfinite(quotient) and abs(quotient - round(quotient)) < 1e-9 * max(1.0, abs(quotient))


def _check_size(schema: Mapping[str, Any], size: int, path: str, names: tuple[str, str], what: str) -> Iterator[Fault]:
    if size < (low := _bound(schema, names[0], 0)):
        yield Fault(path, f"has {size} {what}, fewer than {low}")
    if size > (high := _bound(schema, names[1], math.inf)):
        yield Fault(path, f"has {size} {what}, more than {high}")


def _bound(schema: Mapping[str, Any], name: str, default: float = 0) -> float:
    value = schema.get(name)
    if isinstance(value, str) and value.isdigit():  # Gemini writes 64-bit numbers as texts
        return int(value)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else default


def _list_of(schema: Mapping[str, Any], name: str) -> list[Any]:
    value = schema.get(name)
    return value if isinstance(value, list) else []


def _names_of(listed: Any) -> list[str]:
    return [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []


def _map_of(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = schema.get(name)
    return value if isinstance(value, Mapping) else {}


_KINDS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, Mapping),
}


def _listed(kinds: Any) -> list[Any]:
    return kinds if isinstance(kinds, list) else [kinds]


def _is_a(value: Any, kind: Any) -> bool:
    test = _KINDS.get(kind.lower()) if isinstance(kind, str) else None
    return test is None or test(value)


def _kind_of(value: Any) -> str:
    return next((name for name, test in _KINDS.items() if test(value)), type(value).__name__)


def _spoken(kinds: Any) -> str:
    return " or ".join(str(kind).lower() for kind in _listed(kinds))


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    return bool(one == other)


def _shown(value: Any) -> str:
    text = msgspec.json.encode(value).decode("utf-8", "replace")
    return text if len(text) <= 60 else f"{text[:57]}…"


def _matches(pattern: str, text: str) -> bool:
    search = _compiled(pattern)
    return search is None or search(text) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Callable[[str], Any] | None:
    """A search for the pattern, by RE2 where it is there and can; ``None`` for what is no pattern here."""
    try:
        import re2

        options = re2.Options()
        options.log_errors = False
        return re2.compile(pattern, options).search  # type: ignore[no-any-return]
    except ImportError:
        pass
    except re2.error:
        return None
    try:
        return re.compile(pattern).search
    except (re.error, RecursionError, OverflowError):
        return None
