"""What exactly differs between two trees: paths, values, words.

A difference is a leaf (or a missing or added branch) with its JSON pointer. Distances add up over leaves, so
two small changes far apart stay small. Opaque ids and times that play the same part everywhere are told
apart from changed wording.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from playhead.player._texts import align, changed_length

_MOST = 200

_OPAQUE = re.compile(
    r"""[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}   # UUID
      | \b[a-z]{2,12}[_-][A-Za-z0-9]{4,64}\b                                          # call_…, toolu_…, note_…
      | \d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?  # dates and times
      | \b\d{10,19}(?:\.\d{1,9})?\b                                                   # epoch times
      | \b[0-9a-f]{16,64}\b                                                           # digests
      | 0x[0-9a-f]{6,16}\b                                                            # addresses
    """,
    re.VERBOSE,
)


class Difference(msgspec.Struct, frozen=True):
    """One place where two trees differ.

    ``path`` is a JSON pointer; ``kind`` says whether the place was changed, is new, or is gone. ``renaming``
    is true where the two texts are equal but for opaque ids, times or addresses.
    """

    path: str
    kind: Literal["changed", "added", "removed"]
    recorded: Any = None
    asked: Any = None
    renaming: bool = False

    def words(self) -> str:
        """The change, word by word for texts: ``[-gone-]`` and ``{+new+}``."""
        if isinstance(self.recorded, str) and isinstance(self.asked, str):
            return word_difference(self.recorded, self.asked)
        return f"[-{_short(self.recorded)}-] {{+{_short(self.asked)}+}}"

    @property
    def distance(self) -> int:
        """How many characters changed at this place, about."""
        if isinstance(self.recorded, str) and isinstance(self.asked, str):
            return changed_length(self.recorded, self.asked)
        return len(_short(self.recorded)) + len(_short(self.asked))


def differences(recorded: Any, asked: Any, path: str = "") -> Iterator[Difference]:
    """Where ``asked`` differs from ``recorded``, in the order of the trees; at most 200 places."""
    for count, difference in enumerate(_walk(recorded, asked, path)):
        if count >= _MOST:
            return
        yield difference


def word_difference(recorded: str, asked: str) -> str:
    """Both texts in one, with what went and what came marked, and long equal stretches cut short."""
    out: list[str] = []
    for gone, new in align(recorded, asked):
        if gone == new:
            out.append(gone if len(gone) <= 80 else f"{gone[:35]} … {gone[-35:]}")
        else:
            out.append((f"[-{_cut(gone)}-]" if gone else "") + (f"{{+{_cut(new)}+}}" if new else ""))
    return "".join(out)


def is_renaming(recorded: str, asked: str) -> bool:
    """Whether two texts are equal once ids, times and addresses are renamed, each the same way everywhere."""
    if _OPAQUE.sub("\0", recorded) != _OPAQUE.sub("\0", asked):
        return False
    names: dict[str, str] = {}
    pairs = zip(_OPAQUE.findall(recorded), _OPAQUE.findall(asked), strict=True)
    return all(names.setdefault(before, after) == after for before, after in pairs)


def _walk(recorded: Any, asked: Any, path: str) -> Iterator[Difference]:
    if recorded is asked:
        return
    if isinstance(recorded, Mapping) and isinstance(asked, Mapping):
        for key in recorded:
            place = f"{path}/{_pointer(key)}"
            if key in asked:
                yield from _walk(recorded[key], asked[key], place)
            else:
                yield Difference(place, "removed", recorded[key])
        for key in asked:
            if key not in recorded:
                yield Difference(f"{path}/{_pointer(key)}", "added", asked=asked[key])
    elif isinstance(recorded, list) and isinstance(asked, list):
        yield from _walk_lists(recorded, asked, path)
    elif not _equal(recorded, asked):
        renaming = isinstance(recorded, str) and isinstance(asked, str) and is_renaming(recorded, asked)
        yield Difference(path, "changed", recorded, asked, renaming)


def _walk_lists(recorded: list[Any], asked: list[Any], path: str) -> Iterator[Difference]:
    for index, (before, after) in enumerate(zip(recorded, asked, strict=False)):
        yield from _walk(before, after, f"{path}/{index}")
    for index in range(len(asked), len(recorded)):
        yield Difference(f"{path}/{index}", "removed", recorded[index])
    for index in range(len(recorded), len(asked)):
        yield Difference(f"{path}/{index}", "added", asked=asked[index])


def _equal(recorded: Any, asked: Any) -> bool:
    if isinstance(recorded, bool) or isinstance(asked, bool):
        return recorded is asked
    return bool(recorded == asked)


def _pointer(key: str) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")


def _cut(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:95]} … {text[-95:]}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode("utf-8", "replace")
    return _cut(text)
