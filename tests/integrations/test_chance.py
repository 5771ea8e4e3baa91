"""Draws of chance by the agent's own code."""

from __future__ import annotations

import os
import pickle
import random
import secrets
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playhead.integrations import chance
from tests.examples import up_to
from tests.integrations._reads import RecordingReads, ReplayingReads, load_agent, run


class Thing:
    """Something that has no text worth keeping."""


THINGS = [Thing() for _ in range(50)]

DRAWS: dict[str, Callable[[], Any]] = {
    "random.random": lambda: random.random(),
    "random.randint": lambda: random.randint(1, 1_000_000),
    "random.randrange": lambda: random.randrange(0, 1_000_000, 7),
    "random.uniform": lambda: random.uniform(1, 2),
    "random.gauss": lambda: random.gauss(0, 1),
    "random.getrandbits": lambda: random.getrandbits(200),
    "random.randbytes": lambda: random.randbytes(9),
    "random.choice": lambda: random.choice(range(1_000_000)),
    "random.choices": lambda: random.choices(["a", "b"], k=40),
    "random.sample": lambda: random.sample("abcdefghijklmnopqrstuvwxyz", 20),
    "secrets.choice": lambda: secrets.choice(range(1_000_000)),
    "secrets.randbelow": lambda: secrets.randbelow(1_000_000),
    "secrets.randbits": lambda: secrets.randbits(64),
    "secrets.token_bytes": lambda: secrets.token_bytes(),
    "secrets.token_hex": lambda: secrets.token_hex(8),
    "secrets.token_urlsafe": lambda: secrets.token_urlsafe(8),
    "uuid.uuid1": lambda: uuid.uuid1(),
    "uuid.uuid4": lambda: uuid.uuid4(),
    "os.urandom": lambda: os.urandom(16),
    "random.SystemRandom.random": lambda: random.SystemRandom().random(),
    "random.SystemRandom.choice": lambda: secrets.SystemRandom().choice(range(1_000_000)),
    "random.SystemRandom.sample": lambda: random.SystemRandom().sample(range(100), 30),
}


@pytest.mark.parametrize("fn", DRAWS)
def test_a_draw_is_answered_with_what_was_drawn(fn: str) -> None:
    recorded = RecordingReads()
    with run(recorded, chance.install):
        first = DRAWS[fn]()
    assert recorded.fns == [fn]
    replay = ReplayingReads(recorded)
    with run(replay, chance.install):
        again = DRAWS[fn]()
    assert again == first
    assert type(again) is type(first)
    assert not replay.new


def agent_of_things() -> list[Any]:
    mixed = list(THINGS)
    random.shuffle(mixed)
    drawn = random.SystemRandom()
    return [
        random.choice(THINGS),
        *random.sample(THINGS, 10),
        *random.choices(THINGS, weights=range(50), k=10),
        *random.sample(THINGS[:3], counts=[5, 5, 5], k=9),
        *mixed,
        drawn.choice(THINGS),
        secrets.choice(THINGS),
    ]


def test_objects_come_back_from_the_programs_own_sequence() -> None:
    recorded = RecordingReads()
    with run(recorded, chance.install):
        first = agent_of_things()
    assert "Thing" not in repr([value for *_, value in recorded.reads])
    with run(ReplayingReads(recorded), chance.install):
        again = agent_of_things()
    assert all(one is other for one, other in zip(again, first, strict=True))


def test_atoms_are_kept_by_value_so_that_another_order_of_the_sequence_does_not_matter() -> None:
    words = ["amber", "birch", "cedar"]

    def agent() -> str:
        return random.choice(words)

    recorded = RecordingReads()
    with run(recorded, chance.install):
        first = agent()
    words.reverse()
    with run(ReplayingReads(recorded), chance.install):
        assert agent() == first


def test_a_sequence_that_no_longer_fits_is_drawn_from_anew_and_that_is_noticed() -> None:
    things = list(THINGS)

    def agent() -> tuple[object, list[object], list[object]]:
        order = list(things)
        random.shuffle(order)
        return random.choice(things), random.sample(things, 2), order

    recorded = RecordingReads()
    with run(recorded, chance.install):
        agent()
    del things[2:]
    edits = {"random.choice": {"index": 40}, "random.sample": {"indexes": 3}, "random.shuffle": [1, 1]}
    recorded.reads = [(*read[:4], edits[read[2]]) for read in recorded.reads]
    replay = ReplayingReads(recorded)
    with run(replay, chance.install):
        one, two, order = agent()
    assert one in things
    assert set(two) == set(order) == set(things)
    assert [name for name, _ in replay.notices] == ["drawn anew"] * 3


@settings(max_examples=up_to(80), deadline=None)
@given(seed=st.integers(), picks=st.lists(st.sampled_from(sorted(DRAWS)), max_size=8))
def test_the_state_of_the_generator_is_what_it_would_be_without_us(seed: int, picks: list[str]) -> None:
    def agent() -> list[Any]:
        random.seed(seed)
        values = [DRAWS[fn]() for fn in picks if fn.startswith("random.")]
        order = list(range(12))
        random.shuffle(order)
        return [values, order, random.sample(THINGS, 3), random.choices(THINGS, k=2), random.choice(THINGS)]

    picks = [fn for fn in picks if "System" not in fn]
    alone, state = agent(), random.getstate()
    recorded = RecordingReads()
    with run(recorded, chance.install):
        assert agent() == alone
    assert random.getstate() == state
    random.seed(0)
    with run(ReplayingReads(recorded), chance.install):
        assert agent() == alone
    assert random.getstate() == state


def test_a_generator_without_a_seed_is_given_a_drawn_one() -> None:
    class Own(random.Random):
        pass

    def agent() -> list[float]:
        late = random.Random(1)
        late.seed()
        random.seed()
        return [random.Random().random(), Own().random(), random.Random(7).random(), late.random()]

    recorded = RecordingReads()
    with run(recorded, chance.install):
        first = agent()
    assert recorded.fns == ["random.Random.seed", "random.seed", "random.Random", "random.Random"]
    assert random.Random(7).random() == first[2]
    with run(ReplayingReads(recorded), chance.install):
        assert agent() == first
    assert len({*first}) == 4


def test_the_draws_of_libraries_are_not_recorded() -> None:
    session = RecordingReads()
    with run(session, chance.install):
        Path(tempfile.mkdtemp()).rmdir()
        uuid.UUID(bytes=b"0" * 16)
    assert session.reads == []


def test_what_a_draw_refuses_it_refuses_in_the_replay_as_well() -> None:
    refusals: list[Callable[[], Any]] = [
        lambda: random.choice([]),
        lambda: random.choice(),  # type: ignore[call-arg]
        lambda: random.sample({1, 2}, 1),  # type: ignore[arg-type]
        lambda: random.sample([1], 2),
        lambda: random.choices([1], weights=[1, 2]),
        lambda: random.shuffle((1, 2)),  # type: ignore[arg-type]
        lambda: random.randint(2, 1),
        lambda: os.urandom(-1),
        lambda: secrets.randbelow(0),
    ]
    for refused in refusals:
        with pytest.raises(Exception) as alone:
            refused()
        session = RecordingReads()
        with run(session, chance.install), pytest.raises(type(alone.value)) as recorded:
            refused()
        assert str(recorded.value) == str(alone.value)
        assert session.reads == []


def test_everything_is_put_back() -> None:
    before = [dict(vars(owner)) for owner in (random, secrets, uuid, os, random.Random, random.SystemRandom)]
    with run(RecordingReads(), chance.install):
        assert random.choice is not before[0]["choice"]
        sent = pickle.dumps(uuid.uuid4)
    assert [dict(vars(owner)) for owner in (random, secrets, uuid, os, random.Random, random.SystemRandom)] == before
    assert pickle.loads(sent) is uuid.uuid4


def test_a_new_draw_does_not_shift_the_others(tmp_path: Path) -> None:
    """B48: a draw added before others, and lines moved, leave every recorded draw where it belongs."""
    old = """
        import uuid
        def go():
            id = uuid.uuid4()
            other = uuid.uuid4()
            return id, other
    """
    new = """
        import random
        import uuid


        def go():
            jitter = random.random()
            id = uuid.uuid4()
            extra = uuid.uuid4()
            other = uuid.uuid4()
            return id, other
    """
    recorded = RecordingReads()
    with run(recorded, chance.install):
        first = load_agent(tmp_path, old).go()
    replay = ReplayingReads(recorded)
    with run(replay, chance.install):
        assert load_agent(tmp_path, new, name="agent").go() == first
    assert [fn for fn, _ in replay.new] == ["random.random", "uuid.uuid4"]
    assert [site.split("#")[0] for _, site in replay.new] == ["agent:go:7", "agent:go:9"]
