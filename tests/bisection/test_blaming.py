"""Which answers made a run fail, and the shortest recording that fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import playhead
from playhead._configuration import read_settings
from playhead._masking import make_masker
from playhead._stores import choose_store
from playhead.bisection import Blamed, Shrunk, blame, shrink
from playhead.bisection._reducing import Reducer
from playhead.editing import Edit, derive
from playhead.errors import DivergenceError
from playhead.eventlog import open_recording
from playhead.testing import ModelServer, Text
from tests.examples import up_to

Program = Callable[[], bool]
"""An agent; whether it did well."""

world: dict[Any, Any] = {}
"""What the tools of these tests give."""


@playhead.tool
def look(number: int) -> Any:
    found = world.get(number, "fine")
    if isinstance(found, Exception):
        raise found
    return found


@playhead.tool
async def fetch(name: str) -> str:
    await asyncio.sleep(world[name])
    return name


def recorded(program: Program, store: Path, given: dict[Any, Any]) -> playhead.Recording:
    world.clear()
    world.update(given)
    with playhead.record(kind="agent", store=store) as run:
        (run.succeed if program() else run.fail)("done")
    world.clear()
    return playhead.load(run.id, store=store)


class Desk:
    """Derives recordings and replays the agent with them."""

    def __init__(self, program: Program, store: Path, *others: playhead.Recording) -> None:
        self.program = program
        self.store = store
        self._others = {other.id: other for other in others}
        self._numbers = count()

    def writer(self, of: playhead.Recording) -> Callable[[Sequence[Edit]], playhead.Recording]:
        settings = read_settings(store=str(self.store))
        store = choose_store(settings)
        masker = make_masker(settings, store.mask_key())

        def write(edits: Sequence[Edit]) -> playhead.Recording:
            if not edits:
                return of
            run = f"{of.id}-{next(self._numbers)}"
            return open_recording(derive(of, edits, run=run, store=store, masker=masker, others=self._others))

        return write

    def comes_out(self, recording: playhead.Recording, order: Sequence[int] | None = None) -> bool | None:
        """Whether the agent does well when it is given these answers; ``None`` where they are not enough for it."""
        try:
            with playhead.replay(recording, match="loose", store=self.store, order=order):
                return self.program()
        except DivergenceError:
            return None

    def passes(self, recording: playhead.Recording, order: Sequence[int] | None = None) -> bool:
        return self.comes_out(recording, order) is True

    def blame(self, failing: playhead.Recording, passing: playhead.Recording) -> Blamed:
        self._others[passing.id] = passing
        return blame(failing, passing, write=self.writer(failing), passes=self.passes)

    def shrink(self, recording: playhead.Recording) -> Shrunk:
        return shrink(recording, write=self.writer(recording), fails=lambda found: self.comes_out(found) is False)


def steps_of(found: Blamed) -> list[int | None]:
    return [each.before.step for each in found.differences if each.before is not None]


def looks(number: int) -> list[Any]:
    return [look(each) for each in range(number)]


def all_fine() -> bool:
    return "broken" not in looks(20)


def not_both() -> bool:
    found = looks(20)
    return not (found[3] == "low" and found[17] == "high")


def needs_both() -> bool:
    found = looks(20)
    return found[4] == "key" and found[11] == "door"


def one_of_two() -> bool:
    found = looks(12)
    return found[2] == "key" or found[9] == "key"


def goes_on_otherwise() -> bool:
    """What it asks later depends on the answer."""
    if look(1) == "left":
        return look(100) == "fine"
    return look(200) == "fine" and look(201) == "fine"


def catches() -> bool:
    try:
        looks(10)
    except LookupError:
        return False
    return True


def draws() -> bool:
    looks(6)
    return playhead.random.random() < 0.5


def first_wins() -> bool:
    async def main() -> bool:
        tasks = [asyncio.create_task(fetch(name)) for name in ("red", "blue")]
        log = [await each for each in asyncio.as_completed(tasks)]
        return log[0] == "red"

    return asyncio.run(main())


noise = dict.fromkeys(range(0, 20, 2), "noise")

CAUSES: dict[str, tuple[Program, dict[Any, Any], dict[Any, Any], list[int]]] = {
    "one answer": (all_fine, {7: "broken"}, {}, [8]),
    "one answer among others that differ": (all_fine, {7: "broken"}, noise, [8]),
    "the first": (all_fine, {0: "broken"}, {5: "noise"}, [1]),
    "the last": (all_fine, {19: "broken"}, {5: "noise"}, [20]),
    "two, each of which is enough to fail": (all_fine, {3: "broken", 12: "broken"}, noise, [4, 13]),
    "two of which one is enough": (not_both, {3: "low", 17: "high"}, noise, [4]),
    "two that matter only together": (needs_both, {}, {4: "key", 11: "door", 6: "x", 7: "y"}, [5, 12]),
    "one of two that would do": (one_of_two, {}, {2: "key", 9: "key", 5: "noise"}, [3]),
    "an error": (catches, {6: LookupError("gone")}, {1: "noise"}, [7]),
    "an answer after which others are asked": (goes_on_otherwise, {1: "right", 200: "broken"}, {1: "left"}, [1]),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_the_smallest_set_of_answers_is_found(cause: str, tmp_path: Path) -> None:
    program, bad, good, steps = CAUSES[cause]
    failing, passing = recorded(program, tmp_path, bad), recorded(program, tmp_path, good)
    before = failing.path.read_bytes() if failing.path else b""
    found = Desk(program, tmp_path).blame(failing, passing)
    assert (found.kind, steps_of(found)) == ("found", steps)
    assert found.mixture is not None
    assert Desk(program, tmp_path).passes(found.mixture)
    assert failing.path is not None
    assert failing.path.read_bytes() == before


def test_an_order_is_found(tmp_path: Path) -> None:
    failing = recorded(first_wins, tmp_path, {"red": 0.03, "blue": 0.001})
    passing = recorded(first_wins, tmp_path, {"red": 0.001, "blue": 0.03})
    (guilty,) = Desk(first_wins, tmp_path).blame(failing, passing).differences
    assert (guilty.what, guilty.swapped) == ("order", ((2, 1),))


def test_reads_of_chance_are_found_where_the_answers_are_not_enough(tmp_path: Path) -> None:
    def drawn(outcome: str, given: dict[Any, Any]) -> playhead.Recording:
        return next(each for _ in count() if (each := recorded(draws, tmp_path, given)).outcome == outcome)

    failing, passing = drawn("failure", {}), drawn("success", noise)
    (guilty,) = Desk(draws, tmp_path).blame(failing, passing).differences
    assert (guilty.what, "random" in guilty.name) == ("reads", True)


def test_a_model_is_found_that_sent_the_agent_another_way(tmp_path: Path) -> None:
    """The questions after a changed answer are those of the passing run, whose answers are there for them."""
    import httpx2

    def program(url: str) -> bool:
        history: list[dict[str, str]] = []
        for words in ("plan", "act", "check"):
            history.append({"role": "user", "content": words})
            answer = httpx2.post(f"{url}/chat/completions", json={"model": "big", "messages": history}).json()
            history.append({"role": "assistant", "content": answer["choices"][0]["message"]["content"]})
        return history[-1]["content"].endswith("good")

    def run(plan: str) -> tuple[playhead.Recording, str]:
        def answer(request: Any) -> Text:
            said = [each["content"] for each in request.json["messages"]]
            verdict = "good" if said[1:2] == ["walk"] else "bad"
            return Text({1: plan, 3: "acted", 5: f"that was {verdict}"}[len(said)])

        with ModelServer(answer) as server:
            return recorded(lambda: program(server.openai_url), tmp_path, {}), server.openai_url

    failing, url = run("fly")
    passing, _ = run("walk")
    found = Desk(lambda: program(url), tmp_path).blame(failing, passing)
    assert (found.kind, steps_of(found)) == ("found", [1])


def test_what_cannot_be_found_is_said(tmp_path: Path) -> None:
    failing, passing = recorded(all_fine, tmp_path, {3: "broken"}), recorded(all_fine, tmp_path, {})
    desk = Desk(all_fine, tmp_path)
    assert desk.blame(passing, passing).kind == "alike"
    assert desk.blame(passing, failing).kind == "passes"
    assert Desk(lambda: all_fine() and False, tmp_path).blame(failing, passing).kind == "fails"


def test_the_shortest_recording_that_fails_is_found(tmp_path: Path) -> None:
    def program() -> bool:
        """Reads pages until there is none, and does not bear two bad ones."""
        bad = 0
        while (page := turn()) != "end":
            bad += page == "bad"
        return bad < 2

    @playhead.tool
    def turn() -> str:
        return str(world["pages"].pop(0))

    pages = ["a", "b", "bad", "c", "d", "bad", "e", "bad", "f", "end"]
    found = Desk(program, tmp_path).shrink(recorded(program, tmp_path, {"pages": pages}))
    assert found.recording is not None
    given = [each.answer.body.value for each in found.recording.exchanges]  # type: ignore[union-attr]
    assert given == ["bad", "bad", "end"]


@settings(max_examples=up_to(200), deadline=None)
@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1), min_size=1))))
def test_what_matters_is_found_among_much_that_does_not(given: tuple[int, set[int]]) -> None:
    number, matter = given
    reducer = Reducer(lambda part: matter <= set(part))
    assert reducer.reduce(range(number)) == sorted(matter)
    assert reducer.tried <= number**2 + 3 * number
