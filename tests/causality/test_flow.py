"""What is found to have been handed on, and what is not guessed."""

from __future__ import annotations

import json
import queue
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import playhead
from playhead.causality import Edge, Graph, read_graph
from tests.causality.writing import Fact, write


class Story:
    """Facts of one or several lanes, told one after the other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._facts: list[Fact] = []
        self._names = count(1)

    def tell(self, kind: str, body: dict[str, Any], *, lane: str = "main", of: Fact | None = None) -> Fact:
        place = sum(fact.lane == lane for fact in self._facts)
        self._facts.append(Fact(lane, place, kind, body, None if of is None else of.key))
        return self._facts[-1]

    def model(self, messages: list[Any], answer: dict[str, Any], *, lane: str = "main") -> tuple[int, int]:
        """A model exchange; the ``seq`` of both events."""
        body = {"provider": "openai.chat", "model": "m", "request": {"model": "m", "messages": messages}}
        asked = self.tell("model.requested", body, lane=lane)
        content = {"form": "json", "value": {"choices": [{"message": answer}]}, "style": "compact"}
        self.tell("model.responded", {"status": 200, "content": content}, lane=lane, of=asked)
        return len(self._facts) - 2, len(self._facts) - 1

    def tool(self, name: str, arguments: Any, value: Any, *, lane: str = "main", **more: Any) -> tuple[int, int]:
        """A tool exchange; the ``seq`` of both events."""
        asked = self.tell("tool.called", {"name": name, "arguments": arguments, **more}, lane=lane)
        self.tell("tool.returned", {"value": value}, lane=lane, of=asked)
        return len(self._facts) - 2, len(self._facts) - 1

    def edges(self, *kinds: str) -> list[tuple[int, int, str]]:
        """The edges of these kinds."""
        graph = read_graph(write(self._folder, self._facts, name=f"run-{next(self._names)}"))
        return [(edge.before, edge.after, edge.kind) for edge in graph.edges if edge.kind in kinds]


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path)


def calls(*wanted: tuple[str, str, Any]) -> dict[str, Any]:
    """An answer that asks for tool calls: id, name, arguments."""
    asked = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for call_id, name, arguments in wanted
    ]
    return {"role": "assistant", "content": None, "tool_calls": asked}


def result(call_id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


USER = {"role": "user", "content": "Please go on."}


def test_a_result_is_found_by_the_id_of_its_call_however_it_was_written_down(story: Story) -> None:
    _, answered = story.model([USER], calls(("c1", "price", {"item": "tea"}), ("c2", "price", {"item": "salt"})))
    salt, salt_value = story.tool("price", {"item": "salt"}, {"eur": 2}, lane="main/salt#1")
    tea, tea_value = story.tool("price", {"item": "tea"}, {"eur": 7}, lane="main/tea#1")
    request, _ = story.model([USER, result("c1", "seven!"), result("c2", "two!")], {"content": "Both are cheap."})
    assert story.edges("call") == [(answered, salt, "call"), (answered, tea, "call")]
    assert story.edges("result") == [(salt_value, request, "result"), (tea_value, request, "result")]


def test_ids_that_are_used_twice_are_told_apart_by_what_the_tools_gave(story: Story) -> None:
    """B34: an id from outside is a label; two calls with the same one are two calls."""
    first = calls(("call_7", "price", {"item": "tea"}))
    story.model([USER], first)
    _, tea = story.tool("price", {"item": "tea"}, "7 euros")
    middle, _ = story.model([USER, first, result("call_7", "7 euros")], calls(("call_7", "weight", {"item": "tea"})))
    _, weight = story.tool("weight", {"item": "tea"}, "1 kilo")
    last, _ = story.model([result("call_7", "1 kilo")], {"content": "Seven euros per kilo."})
    assert story.edges("result") == [(tea, middle, "result"), (weight, last, "result")]


def test_equal_calls_side_by_side_are_told_apart_by_their_values(story: Story) -> None:
    """B06: a caller's answer is its own, whoever ended first."""
    same = {"kind": "dice"}
    story.model([USER], calls(("c1", "draw", same), ("c2", "draw", same)))
    _, one = story.tool("draw", same, "a four was thrown", lane="main/draw#1")
    _, two = story.tool("draw", same, "a six was thrown", lane="main/draw#2")
    swapped = [USER, result("c1", "a six was thrown"), result("c2", "a four was thrown")]
    request, _ = story.model(swapped, {"content": "Ten together."})
    assert story.edges("result") == [(one, request, "result"), (two, request, "result")]


def test_a_tool_that_was_given_the_arguments_as_one_object_is_known_by_them(story: Story) -> None:
    _, answered = story.model([USER], calls(("c1", "price", {"item": "tea"})))
    as_text, _ = story.tool("price", {"context": {"$t": "opaque"}, "raw": '{"item": "tea"}'}, "7 euros")
    assert story.edges("call") == [(answered, as_text, "call")]


def test_a_call_with_other_arguments_is_not_the_one_that_was_named(story: Story) -> None:
    story.model([USER], calls(("c1", "price", {"item": "tea"})))
    story.tool("price", {"item": "salt"}, "2 euros")
    assert story.edges("call") == []


def test_what_one_agent_said_is_found_inside_the_prompt_of_another(story: Story) -> None:
    _, said = story.model([USER], {"content": "The parcel is lost."}, lane="main/a#1")
    prompt = {"role": "user", "content": "A colleague says: The parcel is lost. What now?"}
    request, _ = story.model([prompt], {"content": "Send another one."}, lane="main/b#1")
    assert story.edges("text") == [(said, request, "text")]


def test_of_what_was_said_inside_something_else_only_the_outer_is_the_source(story: Story) -> None:
    story.tool("look", {}, "the parcel is lost in Lyon")
    quoting = "I looked: the parcel is lost in Lyon, sorry."
    _, said = story.model([USER], {"content": quoting}, lane="main/a#1")
    request, _ = story.model([{"role": "user", "content": f"He says {quoting}"}], {"content": "Oh."}, lane="main/b#1")
    assert [edge for edge in story.edges("text") if edge[1] == request] == [(said, request, "text")]


def test_a_text_that_two_may_have_said_proves_nothing(story: Story) -> None:
    story.tool("look", {}, "nothing was found at all", lane="main/a#1")
    story.tool("look", {}, "nothing was found at all", lane="main/b#1")
    story.model([{"role": "user", "content": "So: nothing was found at all"}], {"content": "Hm."}, lane="main/c#1")
    assert story.edges("text") == []


def test_short_texts_prove_nothing(story: Story) -> None:
    story.tool("look", {}, "ok", lane="main/a#1")
    story.model([{"role": "user", "content": "ok"}], {"content": "Fine."}, lane="main/b#1")
    assert story.edges("text") == []


@pytest.fixture
def channel() -> tuple[Any, Any]:
    jobs: queue.Queue[Any] = queue.Queue()
    return playhead.wrap("jobs.put", jobs.put), playhead.wrap("jobs.get", jobs.get, causes="jobs.put")


def test_what_came_out_of_a_channel_of_the_programs_own_is_joined_to_what_went_in(
    tmp_path: Path, channel: tuple[Any, Any]
) -> None:
    put, get = channel
    with playhead.record(store=tmp_path, id="run-1"):
        for job in (1, 2, 1):
            put(job)
        assert [get() for _ in range(3)] == [1, 2, 1]
    recording = playhead.load("run-1", store=tmp_path)
    graph = read_graph(recording)
    puts, gets = ([each for each in recording.exchanges if each.question.body.name == name] for name in _NAMES)  # type: ignore[union-attr]
    expected = [(one.question.seq, two.answer.seq) for one, two in zip(puts, gets, strict=True) if two.answer]
    assert _of_kind(graph, "channel") == expected


_NAMES = ("jobs.put", "jobs.get")


def _of_kind(graph: Graph, kind: str) -> list[tuple[int, int]]:
    found: list[Edge] = [edge for edge in graph.edges if edge.kind == kind]
    return [(edge.before, edge.after) for edge in found]


def test_a_channel_is_replayed_as_before(tmp_path: Path, channel: tuple[Any, Any]) -> None:
    put, get = channel
    with playhead.record(store=tmp_path, id="run-1"):
        put("job")
        get()
    with playhead.replay(playhead.load("run-1", store=tmp_path)) as replay:
        put("job")
        assert get() == "job"
    assert replay.report.answered == 2
