"""What a check is given: a recording up to a step, as the agent saw it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, overload

import msgspec

from playhead.comparison import Spending, Spent
from playhead.eventlog import Exchange, Recording
from playhead.events import ErasedBody, ModelRequested, ToolCalled, decode, decode_error
from playhead.player import request_of_event
from playhead.providers import ToolCallSeen, read_answer, read_json, read_tool_calls


class Return(msgspec.Struct, frozen=True):
    """What came of a tool call: ``value``, or the ``error`` that it raised."""

    step: int
    name: str
    arguments: Any
    value: Any
    error: BaseException | None


class Prefixes(Sequence["Prefix"]):
    """The prefixes of a recording, the shortest first: ``prefixes[k - 1]`` ends with step ``k``."""

    def __init__(self, recording: Recording, *, count: int | None = None, spending: Spending | None = None) -> None:
        self.recording = recording
        self.spending = spending or Spending(recording)
        self._count = count if count is not None else len(recording.steps)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> Prefix: ...
    @overload
    def __getitem__(self, at: slice) -> list[Prefix]: ...
    def __getitem__(self, at: int | slice) -> Prefix | list[Prefix]:
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(self._count))]
        if not -self._count <= at < self._count:
            raise IndexError(at)
        return Prefix(self, at % self._count + 1)

    def up_to(self, step: int) -> Prefix:
        """The prefix that ends with ``step``. Raises `UsageError` where there is no such step."""
        self.recording.step(step)
        return Prefix(self, step)


class Prefix:
    """A recording up to ``step``, with the answer of that step.

    Values are made afresh as they were; what cannot be made here (its class is not imported) is a
    `playhead.events.Opaque`. What is asked for first is read first: nothing is read that a check does not look at.
    """

    def __init__(self, prefixes: Prefixes, step: int) -> None:
        self._prefixes = prefixes
        self.step = step

    def __repr__(self) -> str:
        return f"<Prefix of {self.recording.id} up to step {self.step}>"

    @property
    def recording(self) -> Recording:
        """The whole recording: what came later too."""
        return self._prefixes.recording

    @cached_property
    def exchange(self) -> Exchange:
        """The step's question and answer as recorded."""
        return self.recording.steps[self.step - 1]

    @property
    def steps(self) -> Sequence[Prefix]:
        """All steps so far, this one last, each as the prefix that ends with it."""
        return Prefixes(self.recording, count=self.step, spending=self._prefixes.spending)

    @property
    def kind(self) -> Literal["model", "tool"]:
        """Who was asked."""
        return "model" if self.exchange.question.kind.startswith("model.") else "tool"

    @property
    def name(self) -> str:
        """The tool, or the model; empty where the question was erased."""
        body = self.exchange.question.body
        if isinstance(body, ModelRequested):
            return body.model or body.provider
        return body.name if isinstance(body, ToolCalled) else ""

    @property
    def provider(self) -> str:
        """The wire format in which a model was asked; empty for a tool."""
        body = self.exchange.question.body
        return body.provider if isinstance(body, ModelRequested) else ""

    @cached_property
    def asked(self) -> Any:
        """A tool's arguments by name, or a model's request; ``None`` where it was erased."""
        if isinstance(self.exchange.question.body, ErasedBody):
            return None
        content = request_of_event(self.exchange.question).content
        return content if self.over_wire else decode(content, missing="opaque")

    @cached_property
    def answered(self) -> Any:
        """What a tool returned (what it yielded, as a list), or a model's answer as JSON; ``None`` without one."""
        body: Any = self.exchange.answer.body if self.exchange.answer is not None else None
        if self.over_wire:
            content = getattr(body, "content", None)
            said = read_json(content)
            return said if said is not None else (content or {}).get("text")
        return decode(self.answer_tree, missing="opaque")

    @property
    def error(self) -> BaseException | None:
        """What was raised instead of an answer."""
        body: Any = self.exchange.answer.body if self.exchange.answer is not None else None
        tree = getattr(body, "error", None)
        return decode_error(tree, missing="opaque") if tree is not None else None

    @property
    def failed(self) -> bool:
        """Whether the answer was a failure: an exception, an error status."""
        answer = self.exchange.answer
        return answer is not None and answer.kind.endswith(".failed")

    @cached_property
    def text(self) -> str:
        """The answer in words: a model's text, or a tool's value as text or JSON; the error where it failed."""
        if (error := self.error) is not None:
            return f"{type(error).__name__}: {error}"
        body: Any = self.exchange.answer.body if self.exchange.answer is not None else None
        if self.over_wire:
            return read_answer(self.provider, getattr(body, "content", None))[0]
        return (
            self.answer_tree
            if isinstance(self.answer_tree, str)
            else ""
            if self.answer_tree is None
            else _written(self.answer_tree)
        )

    @property
    def tool_calls(self) -> list[ToolCallSeen]:
        """The tool calls that this answer of a model asks for."""
        return read_tool_calls(self.provider, self.answered) if self.over_wire else []

    @property
    def context(self) -> Any:
        """The full request that the model saw at this step or, for a tool's, last before it."""
        return self.recording.context(self.step)

    @property
    def returns(self) -> list[Return]:
        """What tools returned since a model was last asked before this step, this step with them if it is a tool's."""
        found: list[Return] = []
        for step in range(self.step - (self.kind == "model"), 0, -1):
            each = Prefix(self._prefixes, step)
            if each.kind == "model":
                break
            found.append(Return(step, each.name, each.asked, each.answered, each.error))
        return found[::-1]

    @property
    def state(self) -> Any:
        """The state that the agent had kept last when it asked for this step; ``None`` where it kept none before."""
        return decode(self.state_tree, missing="opaque")

    @property
    def state_tree(self) -> Any:
        """The same as it was recorded: JSON with tagged values."""
        return self.recording.state_tree(self.step)

    @property
    def spent(self) -> Spent:
        """Tokens and money that the models of all steps so far have used."""
        return self._prefixes.spending.up_to(self.step)

    @property
    def answer_tree(self) -> Any:
        """What a function gave, as recorded: what it yielded, else what it returned (of a model's, its content)."""
        body: Any = self.exchange.answer.body if self.exchange.answer is not None else None
        given = (getattr(body, name, None) for name in ("items", "value", "content"))
        return next((tree for tree in given if tree is not None), None)

    @property
    def over_wire(self) -> bool:
        """Whether a model was asked over its own wire format; a wrapped model function has arguments and a value."""
        body = self.exchange.question.body
        return isinstance(body, ModelRequested) and body.form != "arguments"


def _written(tree: Any) -> str:
    import json

    return json.dumps(tree, ensure_ascii=False)
