"""What `verify` says, as data and as a sentence."""

from __future__ import annotations

from typing import Literal

import msgspec

from playhead.eventlog._format import Head
from playhead.eventlog._printing import counted, printable
from playhead.eventlog._reader import Torn

Status = Literal["ok", "torn", "broken", "truncated", "rolled back", "replaced", "missing"]


class Break(msgspec.Struct, frozen=True, kw_only=True):
    """A place where the chain does not hold: among the events ``first`` to ``last``, which two marks enclose.

    ``at`` is the event itself where the form of its line shows it, ``why`` says what is wrong.
    """

    first: int
    last: int
    at: int | None
    why: str

    def __str__(self) -> str:
        place = f"event {self.at}, " if self.at is not None else ""
        return f"{place}between the marks around events {self.first} to {self.last}: {printable(self.why)}"


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """What `verify` found. ``status`` is the worst of it:

    - ``ok``: every link holds; whether the end is proven, ``proven`` says;
    - ``torn``: every link holds up to the tail, and the tail is not whole;
    - ``broken``: links do not hold, ``breaks`` says where;
    - ``truncated``: fewer events than the head kept elsewhere says;
    - ``rolled back``: the same, and it ends as a commit left it: an older copy of itself;
    - ``replaced``: not the events that the head kept elsewhere stands for;
    - ``missing``: there is no file.

    ``count`` events were found, the last link is ``head``; ``confirmed`` of them stand before a mark that holds.
    ``key`` is the public key that the seal is signed with, where it is and the signature is good; ``erased``
    counts bodies that were erased.
    """

    status: Status
    run: str
    count: int
    head: str
    confirmed: int = 0
    sealed: bool = False
    key: str | None = None
    erased: int = 0
    torn: Torn | None = None
    breaks: tuple[Break, ...] = ()
    expected: Head | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong with what is there."""
        return self.status == "ok"

    @property
    def proven(self) -> bool:
        """Whether it is sure that no tail was dropped: by the seal, or by the head kept elsewhere."""
        return self.ok and (self.sealed or self.expected is not None)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        expected = self.expected.count if self.expected is not None else 0
        match self.status:
            case "ok":
                said = f"ok: {counted(self.count, 'event')}, {self._end()}"
            case "torn":
                lost = f", {counted(self.torn.bytes, 'byte')} lost" if self.torn is not None and self.torn.bytes else ""
                why = self.torn.why if self.torn else ""
                said = (
                    f"torn tail: {counted(self.count, 'event')} {'holds' if self.count == 1 else 'hold'}, {why}{lost}"
                )
            case "broken":
                said = "broken: " + "; ".join(map(str, self.breaks))
            case "truncated" | "rolled back":
                said = f"{self.status} (expected {expected}, found {self.count})"
            case "replaced":
                first = f"its first {counted(expected, 'event')}"
                said = f"replaced: the head kept elsewhere stands for others than {first}"
            case "missing":
                said = "missing: there is no file"
        return f"{said}; {self.erased} erased" if self.erased else said

    def _end(self) -> str:
        if self.sealed:
            return f"sealed and signed by {self.key}" if self.key is not None else "sealed"
        return "as the head kept elsewhere says" if self.expected is not None else "not sealed, so the end is unproven"
