"""Marking what crosses the boundary without going over a known transport: tools, models, anything; and entry points."""

from __future__ import annotations

import copy
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

import wrapt

from playhead._state import AgentState
from playhead.boundary import Arguments, Call, cross, cross_async, cross_items, cross_items_async, current_lane
from playhead.boundary import Lane as _Lane
from playhead.events import Entry, FrozenDict, FrozenList, freeze

if TYPE_CHECKING:
    from playhead._runs import Recorder

F = TypeVar("F", bound=Callable[..., Any])

MAIN_AGAIN = "__playhead_main__"
"""The name that a replay gives to the program's main module, so that its `if __name__ == "__main__"` is not run."""

_call_id: ContextVar[str | None] = ContextVar("playhead_call_id", default=None)


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(*, name: str | None = None, causes: str | None = None, side_effects: bool = False) -> Callable[[F], F]: ...
def tool(
    function: Any = None, /, *, name: str | None = None, causes: str | None = None, side_effects: bool = False
) -> Any:
    """Mark a tool: what it is called with, returns, yields or raises is recorded; in a replay its body does not run.

    Functions, coroutines, generators, asynchronous generators, methods and callable objects can be tools. What
    happens inside belongs to the tool and is not recorded by itself. ``name`` defaults to the function's own;
    ``causes`` is as for `wrap`. A tool with ``side_effects``, which changes something in the world, does not go live
    in a fork unless that is allowed by its name.

    >>> import playhead
    >>> @playhead.tool
    ... def add(a: int, b: int) -> int:
    ...     return a + b
    >>> add(1, b=2)
    3
    """
    if function is None:
        return lambda chosen: _bounded(chosen, "tool", name, causes, side_effects=side_effects)
    return _bounded(function, "tool", name, causes, side_effects=side_effects)


def model(function: F, /, *, name: str | None = None) -> F:
    """Mark a function that asks a model over something else than HTTP. Its calls count as steps.

    >>> import playhead
    >>> ask = playhead.model(lambda prompt: prompt.upper(), name="shouting")
    >>> ask("hello")
    'HELLO'
    """
    return cast(F, _bounded(function, "model", name))


def wrap(name: str, function: F, /, *, causes: str | None = None) -> F:
    """Mark anything else that observes the world: a database, a queue, a file.

    ``causes`` names the calls by which what this one gives was put there: ``wrap("jobs.get", jobs.get,
    causes="jobs.put")``. So `playhead why` finds the way through a channel of your own.

    >>> import playhead
    >>> read = playhead.wrap("settings", lambda key: {"colour": "green"}[key])
    >>> read("colour")
    'green'
    """
    return cast(F, _bounded(function, "wrap", name, causes))


@contextmanager
def calling(call_id: str) -> Iterator[None]:
    """Say which of a model's tool calls the tools in this block carry out, by the provider's id of it.

    Equal calls in parallel are told apart by it.
    """
    token = _call_id.set(call_id)
    try:
        yield
    finally:
        _call_id.reset(token)


def _bounded(
    function: Any, kind: Any, name: str | None, causes: str | None = None, *, side_effects: bool = False
) -> Any:
    if isinstance(function, staticmethod | classmethod):
        return type(function)(_bounded(function.__func__, kind, name, causes, side_effects=side_effects))
    label = name or str(getattr(function, "__name__", type(function).__name__))
    door = _door(function)

    def bounded(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        lane = current_lane()
        if lane is None or lane.opaque:
            return wrapped(*args, **kwargs)
        call = Call(kind, label, Arguments(wrapped, args, kwargs), _call_id.get(), causes, side_effects)
        return door(lane, call, lambda: wrapped(*args, **kwargs))

    marked: Any = _Marked(function, bounded)
    marked._self_marked = {"causes": causes, "side_effects": side_effects}  # for SDKs that call tools by themselves
    return marked


class _MarkedMethod(wrapt.BoundFunctionWrapper):  # type: ignore[type-arg]
    """What a marked function is once it is looked up on an object; copied as methods are, with that object."""

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        owner = copy.deepcopy(self._self_instance, memo)
        return self._self_parent.__get__(owner, type(owner))


class _Marked(wrapt.FunctionWrapper):  # type: ignore[type-arg]
    """A marked function. Copied it is itself, as functions are: SDKs copy the configurations in which tools stand."""

    __bound_function_wrapper__ = _MarkedMethod

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self


def _door(function: Any) -> Callable[..., Any]:
    target = function if inspect.isroutine(function) else type(function).__call__
    if inspect.isasyncgenfunction(target):
        return cross_items_async
    if inspect.isgeneratorfunction(target):
        return cross_items
    return cross_async if inspect.iscoroutinefunction(target) else cross


@overload
def agent(function: F, /) -> F: ...
@overload
def agent(*, kind: str | None = None) -> Callable[[F], F]: ...
def agent(function: Any = None, /, *, kind: str | None = None) -> Any:
    """Mark an entry point: every call outside a run is recorded as one, and can be invoked again from its recording.

    A call inside a run is a lane of that run. What it returns is the run's result; an exception fails it.

    >>> import playhead
    >>> @playhead.agent(kind="echo")
    ... def echo(text: str) -> str:
    ...     return text
    """
    if function is None:
        return lambda chosen: _entered(chosen, kind)
    return _entered(function, kind)


def _entered(function: Any, kind: str | None) -> Any:
    label = kind or function.__name__

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Recorder:
        from playhead._configuration import read_settings
        from playhead._runs import Recorder

        entry = Entry(form="block")
        settings = None
        if current_lane() is None:
            settings = read_settings()
            entry = _entry_of(function, args, kwargs)
        else:
            entry = Entry(form="call", call=_path(function))
        return Recorder(label, entry, settings, None, task=None, policy=None, tools=())

    if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        raise TypeError("@playhead.agent takes a function or a coroutine; for a generator use `with playhead.record()`")
    if inspect.iscoroutinefunction(function):

        async def enter_async(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            with begin(args, kwargs) as run:
                result = await wrapped(*args, **kwargs)
                run.succeed(result)
                return result

        return wrapt.FunctionWrapper(function, enter_async)

    def enter(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with begin(args, kwargs) as run:
            result = wrapped(*args, **kwargs)
            run.succeed(result)
            return result

    return wrapt.FunctionWrapper(function, enter)


def _entry_of(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Entry:
    return Entry(
        form="call",
        call=_path(function),
        arguments=freeze({"args": list(args), "kwargs": kwargs}),
        argv=list(sys.argv),
        folder=os.getcwd(),
        file=getattr(sys.modules.get(function.__module__), "__file__", None),
    )


def _path(function: Any) -> str:
    module = "__main__" if function.__module__ == MAIN_AGAIN else function.__module__
    return f"{module}:{function.__qualname__}"


@contextmanager
def cycle(*, action_type: str | None = None) -> Iterator[None]:
    """Mark one turn of the agent loop.

    >>> import playhead
    >>> with playhead.cycle(action_type="search"):
    ...     pass
    """
    lane = current_lane()
    if lane is None or lane.opaque:
        yield
        return
    index = lane.root.count("cycle")
    _note(lane, "cycle.started", {"index": index, "action_type": action_type})
    try:
        yield
    except BaseException:
        _note(lane, "cycle.finished", {"index": index, "end": "failed"})
        raise
    _note(lane, "cycle.finished", {"index": index})


def checkpoint(state: Any, *, label: str | None = None) -> None:
    """Keep the agent's state, as it is now, in the recording.

    An `AgentState`, or a snapshot of one, is taken by reference: what has not changed since the last time costs
    nothing. Anything else is copied. `Recording.state` gives it back.

    >>> import playhead
    >>> playhead.checkpoint({"open": ["T-42"]}, label="before the refund")
    """
    lane = current_lane()
    if lane is not None and not lane.opaque:
        kept = state.snapshot() if isinstance(state, AgentState) else state
        frozen = kept if isinstance(kept, FrozenDict | FrozenList) else freeze(kept)
        _note(lane, "state.kept", {"state": frozen, "label": label})


def _note(lane: _Lane, kind: str, body: dict[str, Any]) -> None:
    lane.session.note(lane, kind, {key: value for key, value in body.items() if value is not None})
