"""A state in parts is, put together again, what it would be as a whole: masked the same, and nothing else."""

from __future__ import annotations

import copy
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import playhead
from playhead.eventlog import escape
from playhead.events import freeze, freeze_tree
from playhead.masking import Masker
from playhead.recorder._states import StateKeeper

MASKER = Masker(key=b"of a test", secrets=["correct-horse-battery"])
SECRET = "correct-horse-battery"

TEXTS = st.sampled_from(
    ["short", "x" * 200, "y " * 700, SECRET, f"a {SECRET} b", "ana@example.org", "plain words " * 20]
)
KEYS = st.sampled_from(["a", "b", "text", "password", "api_key", "token", "name", "value", "$part", "$t", "key", "ü"])
TREES = st.recursive(
    TEXTS | st.integers() | st.none() | st.floats(),
    lambda held: (
        st.lists(held, max_size=4)
        | st.dictionaries(KEYS, held, max_size=5)
        | st.lists(st.tuples(KEYS, held).map(list), max_size=3)
    ),
    max_leaves=25,
)


class Parts:
    """What was kept, and a state put together again."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.keeper = StateKeeper(MASKER, self.keep)

    def keep(self, content: bytes) -> str:
        digest = sha256(content).hexdigest()
        self.contents[digest] = content
        return digest

    def whole(self, value: Any) -> Any:
        return self._resolve(msgspec.json.decode(self.keeper.state(value)))

    def _resolve(self, tree: Any) -> Any:
        if isinstance(tree, dict):
            if list(tree) == ["$part"]:
                return self._resolve(msgspec.json.decode(self.contents[tree["$part"]]))
            return {key: self._resolve(value) for key, value in tree.items()}
        return list(map(self._resolve, tree)) if isinstance(tree, list) else tree


@given(TREES)
def test_parts_come_to_the_same_as_the_whole(tree: Any) -> None:
    parts = Parts()
    plain = copy.deepcopy(tree)
    expected = msgspec.json.decode(msgspec.json.encode(escape(MASKER.value(freeze(plain)))))
    frozen = freeze_tree(tree)
    assert repr(parts.whole(frozen)) == repr(expected)
    assert repr(parts.whole(frozen)) == repr(expected)
    assert repr(parts.whole(freeze(plain))) == repr(expected)


@pytest.mark.parametrize("is_shared", [True, False])
def test_no_secret_of_a_state_reaches_the_file(own_store: Path, is_shared: bool) -> None:
    value = {
        "password": {"deep": ["hunter-two-hunter-two"] * 30, "more": {"x": "swordfish-" * 200}},
        "headers": [["Authorization", "Bearer opensesame-opensesame"], ["Accept", "x" * 300]],
        "fields": [{"name": "api_key", "value": "tell-nobody-" * 20}, {"name": "other", "value": "y" * 300}],
        "text": f"the secret is {SECRET} " * 40,
    }
    with playhead.record(secrets=[SECRET]) as run:
        playhead.checkpoint(playhead.AgentState(value) if is_shared else value)
    recording = playhead.load(run.id)
    held = repr([event.body for event in recording.events])
    for secret in ("hunter-two", "swordfish", "opensesame", "tell-nobody", SECRET):
        assert secret not in held
    assert "y" * 300 in held
    assert recording.verify().ok
