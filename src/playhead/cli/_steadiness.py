"""Finding what makes a program come out differently on the same answers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from playhead._program import Match, Recorded, Replayed, record_program, replay_program
from playhead.player import Difference
from playhead.stores import LocalStore

_MATCHES: Final[tuple[Match, ...]] = ("strict", "loose")
_MINTED: Final = "let it come from a recorded read, wrap what makes it with playhead.wrap, or drop it by a normaliser"
_ORDERED: Final = "it follows the order of a set, which changes with PYTHONHASHSEED: sort before use"


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that differs from run to run, or could not be seen: ``what``, ``where``, and the ``fix``."""

    what: str
    where: str
    fix: str
    path: str | None = None
    name: str | None = None


class Diagnosis(msgspec.Struct, frozen=True):
    """What a recording and two replays of a program showed."""

    findings: tuple[Finding, ...]
    steps: int
    outcome: str


def diagnose(command: Sequence[str]) -> Diagnosis:
    """Record ``command`` once, live, and replay it from that: as it was, and with sets in another order.

    What the program prints is printed once and then dropped. Raises what recording and replaying raise.
    """
    with tempfile.TemporaryDirectory(prefix="playhead-doctor-") as folder:
        place = LocalStore(Path(folder) / "store")
        recorded = record_program(command, place, run="doctor", kind="doctor")
        if recorded.closed is None:
            assert recorded.failure is not None
            raise recorded.failure
        as_it_was, reordered = _replay(place, None), _replay(place, _another_seed(place))
        found = list(_in_recording(recorded))
        for replay in as_it_was:
            found += _in_replay(replay, _MINTED)
        for replay in reordered:
            found += _in_replay(replay, _ORDERED)
        return Diagnosis(tuple(_merged(found)), recorded.closed.steps, recorded.closed.outcome)


def _replay(place: LocalStore, seed: str | None) -> list[Replayed]:
    """A strict replay, and where it diverged a loose one as well, which tells the rest."""
    replays: list[Replayed] = []
    with open(os.devnull, "wb") as nowhere, place.open("doctor") as recording:
        for match in _MATCHES:
            done = replay_program(recording, place.path, match=match, stdout=nowhere.fileno(), hash_seed=seed)
            replays.append(done)
            if done.report.divergence is None:
                break
    return replays


def _another_seed(place: LocalStore) -> str:
    with place.open("doctor") as recording:
        started = recording.started
    recorded = started.environment.hash_seed if started is not None else None
    return "2" if recorded == "1" else "1"


def _in_recording(recorded: Recorded) -> Iterator[Finding]:
    for place in recorded.captured:
        yield Finding(
            what="a read that cannot be caught, since its function was taken away before playhead came",
            where=place,
            fix="call it by its module at the place of use, or use playhead.now(), playhead.random, playhead.uuid4()",
        )
    if recorded.others:
        yield Finding(
            what="Python processes beside the first are neither recorded nor replayed",
            where=f"{recorded.others} of them",
            fix="record the one that runs the agent: playhead record -- python my_agent.py",
        )


def _in_replay(replay: Replayed, cause: str) -> Iterator[Finding]:
    report, where = replay.report, replay.where
    for site, times in report.new_reads.items():
        yield Finding(
            what=f"a read that the recorded run did not make ({times} x)",
            where=site,
            fix="find what leads the program here in one run and not in another; the value was a live one",
        )
    for text in report.ambiguous:
        yield Finding("equal calls in parallel that nothing tells apart", text, "tell them: with playhead.calling(id)")
    for name, times in report.unseen.items():
        yield Finding(f"seen and not caught ({times} x)", name, "wrap what makes it: playhead.wrap(name, function)")
    for place in report.refused:
        yield Finding(
            "a connection that no known transport made", place, "wrap the call: playhead.wrap(name, function)"
        )
    for drift in report.drift:
        yield from (_differing(each, drift.name, where, cause) for each in drift.differences)
    found = report.divergence
    if found is not None:
        yield from (_differing(each, found.name, where, cause) for each in found.differences)
        if not found.differences:
            yield Finding(found.message.partition("\n")[0], where or f"lane {found.lane}", cause)


def _differing(each: Difference, name: str, where: str | None, cause: str) -> Finding:
    place = f"{each.path or '/'} of {name}" + (f", asked at {where}" if where else "")
    return Finding(f"another value each time: {each.words()}", place, cause, each.path, name)


def _merged(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Each place once, under the first cause that was found; the items of a list as one place."""
    seen: set[tuple[str | None, str]] = set()
    lists: dict[tuple[str | None, str], int] = {}
    for finding in findings:
        if finding.path is not None:
            parent = (finding.name, finding.path.rpartition("/")[0])
            lists[parent] = lists.get(parent, 0) + finding.path.rpartition("/")[2].isdigit()
    for finding in findings:
        key = (finding.name, finding.where if finding.path is None else finding.path)
        parent = (finding.name, (finding.path or "").rpartition("/")[0])
        if finding.path is not None and lists[parent] > 1 and parent[1]:
            key = parent
            where = finding.where.replace(f"{finding.path} of", f"{parent[1]} of", 1)
            finding = msgspec.structs.replace(finding, path=parent[1], where=where)
        if key not in seen:
            seen.add(key)
            yield finding


def normalisers_for(findings: Sequence[Finding]) -> str:
    """The source of normalisers that take every field out that differed."""
    fields: dict[str, list[str]] = {}
    for finding in findings:
        if finding.path is not None and finding.name is not None:
            paths = fields.setdefault(finding.name, [])
            paths += [finding.path] if finding.path not in paths else []
    return _SOURCE.replace("FIELDS", repr(fields))


_SOURCE: Final = '''"""Fields that may differ from run to run: playhead replay RUN --normalisers FILE."""

import copy

import msgspec

DIFFERING = FIELDS


def drop_fields(request):
    """Take the fields out that differed, on both sides of the comparison."""
    content = copy.deepcopy(request.content)
    for path in DIFFERING.get(request.name, ()):
        *way, last = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]
        place = content
        try:
            for step in way:
                place = place[int(step) if isinstance(place, list) else step]
            place[int(last) if isinstance(place, list) else last] = None
        except (KeyError, IndexError, ValueError, TypeError):
            continue
    return msgspec.structs.replace(request, content=content)


NORMALISERS = [drop_fields]
'''
