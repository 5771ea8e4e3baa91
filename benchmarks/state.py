"""A large state that changes a little, kept again and again: size and time per snapshot, beside pickling each whole."""

from __future__ import annotations

import json
import pickle
import random
import sys
import tempfile
import time
from base64 import b64encode
from pathlib import Path
from typing import Any

from _measuring import Figure, gauge, report

import playhead

_DOCUMENTS = 1000
_FIELDS = 10


def _text(chance: random.Random) -> str:
    return b64encode(chance.randbytes(750)).decode()  # of which zstd can save a quarter


def _make(chance: random.Random) -> dict[str, Any]:
    """About 10 MB: a thousand documents of ten texts each, and what is open."""
    texts = [{f"field {number}": _text(chance) for number in range(_FIELDS)} for _ in range(_DOCUMENTS)]
    return {"documents": texts, "open": list(range(100)), "turn": 0}


def measure(snapshots: int) -> list[Figure]:
    """The figures of so many snapshots, each after one of a hundred documents has been changed."""
    chance = random.Random(7)
    fresh: list[str] = []

    def change(draft: Any) -> None:
        draft["turn"] += 1
        for _ in range(_DOCUMENTS // 100):
            document = draft["documents"][chance.randrange(_DOCUMENTS)]
            for number in range(_FIELDS):
                document[f"field {number}"] = fresh.pop()

    state = playhead.AgentState(_make(chance))
    plain = json.loads(json.dumps(state.snapshot()))
    began = time.perf_counter()
    pickled = len(pickle.dumps(plain))
    pickling_s = time.perf_counter() - began
    with tempfile.TemporaryDirectory() as store:
        changing_s = keeping_s = 0.0
        began = time.perf_counter()
        with playhead.record(store=store) as run:
            for number in range(snapshots):
                fresh += [_text(chance) for _ in range(_DOCUMENTS // 100 * _FIELDS)]
                before = time.perf_counter()
                state.update(change)
                between = time.perf_counter()
                playhead.checkpoint(state)
                keeping_s += time.perf_counter() - between
                changing_s += between - before
                if number % 20 == 0:
                    gauge()
        whole_s = time.perf_counter() - began - changing_s
        size = sum(path.stat().st_size for path in Path(store).rglob("*") if path.is_file())
        recording = playhead.load(run.id, store=store)
        began = time.perf_counter()
        assert recording.state() == state.snapshot()
        reading_s = time.perf_counter() - began
    whole, each = f"a pickle of {pickled / 1e6:.1f} MB", pickling_s * 1e3
    return [
        Figure(f"store of {snapshots} snapshots", size / 1e6, "MB", None, "a pickle each", snapshots * pickled / 1e6),
        Figure("a snapshot, on the caller's thread", keeping_s / snapshots * 1e3, "ms", None, whole, each),
        Figure("a snapshot, until all is sealed", whole_s / snapshots * 1e3, "ms", None, whole, each),
        Figure("an update that changes 1 %", changing_s / snapshots * 1e3, "ms", None, whole, each),
        Figure("reading a state", reading_s * 1e3, "ms", None, whole, each),
    ]


if __name__ == "__main__":
    amounts = [int(word) for word in sys.argv[1:] if word.isdigit()]
    report("state", measure(amounts[0] if amounts else 1000))
