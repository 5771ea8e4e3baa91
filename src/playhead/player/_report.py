"""What a replay found: what was answered, forgiven, asked in another order, left unplayed, or not seen."""

from __future__ import annotations

from typing import Any

import msgspec

from playhead.eventlog import counted
from playhead.player._differences import Difference


class Drift(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question that was answered although it differed."""

    seq: int
    lane: str
    boundary: str
    name: str
    differences: tuple[Difference, ...]
    step: int | None = None
    causes: tuple[str, ...] = ()


class Reordered(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question that was asked at another place than recorded and was answered with its own answer."""

    seq: int
    lane: str
    recorded_lane: str
    name: str
    step: int | None = None


class Unplayed(msgspec.Struct, frozen=True, omit_defaults=True):
    """A recorded exchange that the program did not ask for."""

    seq: int
    lane: str
    boundary: str
    name: str
    step: int | None = None


class Divergence(msgspec.Struct, frozen=True, omit_defaults=True):
    """The first crossing that the recording cannot answer, explained.

    ``kind``: ``changed`` (asked differently), ``new`` (never asked when recorded), ``again`` (more often than
    recorded), ``unanswered`` (the recording ends here), ``erased`` (its answer was erased), ``unplayed`` (not
    asked now), ``never-recorded`` (the conversation is another one from its beginning), ``child`` (a child process
    diverged, or could not be replayed).
    """

    kind: str
    lane: str
    boundary: str
    name: str
    message: str
    step: int | None = None
    seq: int | None = None
    differences: tuple[Difference, ...] = ()
    causes: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    next: str = ""


class ChildReport(msgspec.Struct, frozen=True):
    """The account of a child process, which is replayed from a recording of its own: that of ``run``."""

    lane: str
    run: str
    report: ReplayReport


class ReplayReport(msgspec.Struct, omit_defaults=True):
    """The account of one replay. ``ok`` is the answer to "did it hold", in the mode it was played in."""

    run: str
    match: str
    answered: int = 0
    steps: int = 0
    reads: int = 0
    drift: list[Drift] = []
    reordered: list[Reordered] = []
    unplayed: list[Unplayed] = []
    new_reads: dict[str, int] = {}
    ambiguous: list[str] = []
    unseen: dict[str, int] = {}
    behind: int = 0
    """Exchanges of other processes, which the program only learned of in its conversation with them: not asked for."""
    refused: list[str] = []
    """Connections that were about to be opened and were not."""
    warnings: list[str] = []
    children: list[ChildReport] = []
    stopped_at: int | None = None
    """The step before which the replay was stopped, as asked; what comes after it was not played."""
    divergence: Divergence | None = None

    @property
    def ok(self) -> bool:
        """Nothing diverged, and in strict nothing was left unplayed."""
        held = self.divergence is None and not (self.unplayed and self.match == "strict")
        return held and all(child.report.ok for child in self.children)

    @property
    def identical(self) -> bool:
        """All that was seen happened as recorded. It never speaks of what could not be seen: see ``unseen``."""
        seen = (self.drift, self.reordered, self.unplayed, self.new_reads, self.ambiguous, self.refused, self.unseen)
        alike = self.divergence is None and not any(seen)
        return alike and all(child.report.identical for child in self.children)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain JSON."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        children = [{**msgspec.to_builtins(child), "report": child.report.to_dict()} for child in self.children]
        nested = {"children": children} if children else {}
        return {**plain, **nested, "ok": self.ok, "identical": self.identical}

    def __str__(self) -> str:
        """The report for a person."""
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The report for a person, line by line, without colour."""
        amounts = f"{counted(self.answered, 'exchange')}, {counted(self.reads, 'read')}"
        found = [f"replayed {self.run} ({self.match}): {amounts} answered"]
        found += [f"warning: {text}" for text in self.warnings]
        for drift in self.drift:
            found.append(f"drift at {_place(drift.step, drift.seq)} ({drift.name}, {drift.lane}):")
            found += [f"  {cause}" for cause in drift.causes]
            found += [f"  {each.path or '/'}: {each.words()}" for each in drift.differences]
        found += [
            f"order changed at {_place(each.step, each.seq)}: {each.name} was asked in {each.lane}, "
            + (
                f"recorded in {each.recorded_lane}"
                if each.lane != each.recorded_lane
                else "earlier or later than recorded"
            )
            for each in self.reordered
        ]
        found += [f"ambiguous: {text}" for text in self.ambiguous]
        found += [f"{count} x new {site}" for site, count in self.new_reads.items()]
        found += [f"never asked: {_place(each.step, each.seq)} ({each.name}, {each.lane})" for each in self.unplayed]
        if self.behind:
            found.append(f"made by another process, behind what was replayed: {counted(self.behind, 'exchange')}")
        found += [f"connection refused: {text}" for text in self.refused]
        found += [f"not seen: {count} x {name}" for name, count in self.unseen.items()]
        for child in self.children:
            found.append(f"child process {child.lane}:")
            quiet = child.report if self.divergence is None else msgspec.structs.replace(child.report, divergence=None)
            found += [f"  {line}" for text in quiet.lines() for line in text.split("\n")]
        if self.stopped_at is not None:
            found.append(f"stopped at step {self.stopped_at}, before it was answered")
        if self.divergence is not None:
            found.append(self.divergence.message)
        return found


def _place(step: int | None, seq: int) -> str:
    return f"step {step}" if step is not None else f"event {seq}"
