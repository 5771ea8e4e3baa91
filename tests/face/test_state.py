"""`playhead.AgentState`: frozen values, changed by copy, safe from any thread; kept once in a recording."""

from __future__ import annotations

import copy
import json
import pickle
import random
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import playhead
from playhead.errors import UsageError, ValueRefusedError
from playhead.events import FrozenDict, FrozenList, freeze_tree

ATOMS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8) | st.binary(max_size=4)
)
TREES = st.recursive(
    ATOMS,
    lambda held: st.lists(held, max_size=4) | st.dictionaries(st.text(max_size=4), held, max_size=4),
    max_leaves=20,
)
ROOTS = st.dictionaries(st.text(max_size=4), TREES, max_size=5)


def change(node: Any, chance: random.Random, depth: int = 0) -> None:
    """Change something, anywhere in a dict or a list, or in a draft that stands for one."""
    slots = list(node) if hasattr(node, "keys") else list(range(len(node)))
    inner = [slot for slot in slots if hasattr(node[slot], "__len__") and not isinstance(node[slot], str | bytes)]
    if inner and depth < 4 and chance.random() < 0.7:
        change(node[chance.choice(inner)], chance, depth + 1)
        return
    do = chance.randrange(4)
    if do == 0 and slots:
        del node[chance.choice(slots)]
    elif hasattr(node, "keys"):
        node[chance.choice([*slots, "new"])] = [depth, {"deep": do}]
    elif do == 1:
        node.insert(chance.randrange(len(node) + 1), {"at": do})
    elif do == 2:
        node.reverse()
    else:
        node.append(depth)


@given(ROOTS, st.integers())
def test_a_draft_changes_as_the_dict_that_it_stands_for_and_the_value_before_stays(root: Any, seed: int) -> None:
    state, plain = playhead.AgentState(root), copy.deepcopy(root)
    for number in range(6):
        expected_before = copy.deepcopy(plain)
        change(plain, random.Random(seed + number))
        before = state.update(lambda draft, number=number: change(draft, random.Random(seed + number)))
        assert before == expected_before
        assert state.snapshot() == plain


@given(ROOTS)
def test_what_a_change_leaves_alone_is_shared(root: Any) -> None:
    state = playhead.AgentState({**root, "list": [1, [2], {"a": [3]}]})
    before = state.update(lambda draft: draft["list"][2]["a"].append(4))
    now = state.snapshot()
    assert now is not before
    assert all(now[key] is before[key] for key in root if key != "list")
    assert now["list"][1] is before["list"][1]
    assert state.update(lambda draft: (draft["list"], draft.get("nothing"), list(draft))) is now
    assert state.snapshot() is now


def test_a_frozen_value_cannot_be_changed_and_is_a_dict_to_all_who_read_it() -> None:
    value = playhead.AgentState({"open": [{"id": 1}]}).snapshot()
    for write in (
        lambda: value.update(a=1),
        lambda: value["open"].append(2),
        lambda: value["open"][0].pop("id"),
        lambda: value.__setitem__("a", 1),
        lambda: value["open"].sort(),
        lambda: value["open"].__iadd__([1]),
    ):
        with pytest.raises(TypeError, match=r"AgentState\.update"):
            write()
    assert isinstance(value, dict)
    assert json.dumps(value) == '{"open": [{"id": 1}]}'
    assert copy.deepcopy(value) is value
    again = pickle.loads(pickle.dumps(value))
    assert (again, type(again), type(again["open"])) == (value, FrozenDict, FrozenList)
    assert freeze_tree(value) is value


def test_a_mutator_that_raises_changes_nothing() -> None:
    state = playhead.AgentState({"a": [1]})

    def fail(draft: Any) -> None:
        draft["a"].append(2)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        state.update(fail)
    assert state.snapshot() == {"a": [1]}
    assert state.update(lambda draft: draft.clear()) == {"a": [1]}
    assert state.replace([1]) == {}
    assert state.snapshot() == [1]


def test_what_could_change_by_itself_is_refused_and_so_is_a_draft_that_outlives_its_update() -> None:
    state = playhead.AgentState()
    for value in ({1}, object(), bytearray(b"x"), {"deep": [threading.Lock()]}):
        with pytest.raises(ValueRefusedError, match="behind the state's back"):
            state.update(lambda draft, value=value: draft.__setitem__("a", value))
    ring: list[Any] = []
    ring.append(ring)
    with pytest.raises(ValueRefusedError, match="contains itself"):
        playhead.AgentState(ring)
    held: list[Any] = []
    state.update(held.append)
    with pytest.raises(UsageError, match="after its update had ended"):
        held[0]["a"] = 1
    with pytest.raises(UsageError, match="inside an update"):
        state.update(lambda draft: state.update(lambda inner: None))
    assert state.snapshot() == {}


def test_a_snapshot_under_mutating_threads_is_never_torn_and_no_change_is_lost(own_store: Path) -> None:
    """Every value has all its counters equal; each thread's changes are all there at the end."""
    state = playhead.AgentState({"counters": [0] * 40, "parts": [{"count": 0, "of": [0, 0]} for _ in range(10)]})
    rounds, threads = 150, 4
    torn: list[Any] = []
    is_over = threading.Event()

    def mutate() -> None:
        for _ in range(rounds):
            state.update(add)

    def add(draft: Any) -> None:
        for at in range(40):
            draft["counters"][at] += 1
        for part in draft["parts"]:
            part["count"] += 1
            part["of"][:] = [part["count"]] * 2

    def judge(value: Any) -> None:
        counts = {*value["counters"], *(part["count"] for part in value["parts"])}
        counts |= {each for part in value["parts"] for each in part["of"]}
        if len(counts) != 1:
            torn.append(value)

    def look() -> None:
        while not is_over.is_set():
            judge(state.snapshot())

    with playhead.record() as run:
        mutators = [threading.Thread(target=mutate) for _ in range(threads)]
        lookers = [threading.Thread(target=look) for _ in range(2)]
        for thread in (*mutators, *lookers):
            thread.start()
        while any(thread.is_alive() for thread in mutators):
            playhead.checkpoint(state)
        for thread in mutators:
            thread.join()
        is_over.set()
        for thread in lookers:
            thread.join()
        playhead.checkpoint(state, label="end")
    assert torn == []
    recording = playhead.load(run.id)
    kept = recording.of_kind("state.kept")
    for event in kept[:: max(1, len(kept) // 50)]:
        body: Any = event.body
        judge(body.state)
    assert torn == []
    assert recording.state()["counters"] == [rounds * threads] * 40


@playhead.tool
def look_up(number: int) -> int:
    return number


def test_the_state_as_of_each_step_is_the_one_kept_last_in_its_lane(own_store: Path) -> None:
    state = playhead.AgentState({"seen": []})

    def part(number: int) -> None:
        playhead.checkpoint({"own": number})
        look_up(100 + number)

    with playhead.record() as run:
        look_up(0)
        for number in range(3):
            state.update(lambda draft, number=number: draft["seen"].append(number))
            playhead.checkpoint(state)
            look_up(number)
        thread = threading.Thread(target=part, args=(7,))
        thread.start()
        thread.join()
        look_up(9)
    recording = playhead.load(run.id)
    seen = [recording.state(step) for step in range(1, 7)]
    kept = [{"seen": [0]}, {"seen": [0, 1]}, {"seen": [0, 1, 2]}]
    assert seen == [None, *kept, {"own": 7}, {"seen": [0, 1, 2]}]
    assert recording.state() == {"own": 7}


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_small_change_to_a_large_state_costs_little(own_store: Path, is_shared: bool) -> None:
    chance = random.Random(1)
    documents = [{"text": chance.randbytes(1000).hex(), "id": at} for at in range(200)]
    state = playhead.AgentState({"documents": documents})
    with playhead.record() as run:
        for at in range(40):
            state.update(lambda draft, at=at: draft["documents"][at].update(text=chance.randbytes(1000).hex()))
            playhead.checkpoint(state if is_shared else json.loads(json.dumps(state.snapshot())))
    recording = playhead.load(run.id)
    assert recording.state() == state.snapshot()
    assert recording.path is not None
    size = sum(path.stat().st_size for path in own_store.rglob("*") if path.is_file())
    assert size < 3 * len(json.dumps(state.snapshot()))
    assert len(recording.of_kind("part.kept")) < 200 + 3 * 40
