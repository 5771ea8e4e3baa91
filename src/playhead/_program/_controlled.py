"""In the program: a session of `playhead debug` tells it how far to go, and asks it what stands in its frames."""

from __future__ import annotations

import inspect
import linecache
import os
import reprlib
import sys
from types import FrameType, FunctionType, ModuleType
from typing import Any, Final

import msgspec

from playhead.integrations._frames import agent_frame
from playhead.integrations._sites import find_site
from playhead.player import Stop, Stops

_LONGEST: Final = 4000
_BRIEF: Final = 300


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the session asks for.

    ``go`` on and stop at the ``step``, or with 0 nowhere; ``print`` the value of ``text``; ``locals``; ``where``.
    """

    ask: str
    text: str = ""
    step: int = 0


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the program says: that it is ``stopped`` at a step, or the ``lines`` that were asked for.

    ``ahead`` are later steps that were asked for before it, side by side with others.
    """

    stopped: int | None = None
    lane: str = ""
    lines: tuple[str, ...] = ()
    ahead: tuple[int, ...] = ()


class Control:
    """The program's end of the two pipes, as it is told where it stops."""

    def __init__(self, source: int, sink: int) -> None:
        for descriptor in (source, sink):
            os.set_inheritable(descriptor, False)
        self._source = os.fdopen(source, "rb")
        self._sink = os.fdopen(sink, "wb", buffering=0)

    def halt(self, stops: Stops, stop: Stop) -> bool:
        """Answer what is asked until the program is to go on; it does not where the session has gone."""
        frame = agent_frame(sys._getframe(1))
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
        ahead = tuple(step for step in stops.reached if step > stop.step)
        self._say(Reply(stopped=stop.step, lane=stop.lane, lines=tuple(_source_lines(frame)), ahead=ahead))
        while (request := self._next()) is not None:
            if request.ask == "go":
                stops.breaks = {request.step} if request.step else set()
                return True
            self._say(Reply(lines=tuple(_answer(request, frame))))
        return False

    def _next(self) -> Request | None:
        while True:
            try:
                line = self._source.readline()
            except KeyboardInterrupt:  # meant for whoever sits at the prompt
                continue
            return msgspec.json.decode(line, type=Request) if line else None

    def _say(self, reply: Reply) -> None:
        self._sink.write(msgspec.json.encode(reply) + b"\n")


def _answer(request: Request, frame: FrameType) -> list[str]:
    match request.ask:
        case "print":
            return _evaluated(request.text, frame)
        case "locals":
            return [f"{name} = {_brief(value)}" for name, value in frame.f_locals.items() if _is_data(name, value)]
        case _:
            return list(_callers(frame))


def _evaluated(text: str, frame: FrameType) -> list[str]:
    try:
        value = eval(text, {**frame.f_globals, **frame.f_locals})  # what a person types at the prompt
        return [_repr(value)]
    except BaseException as error:
        return [f"{type(error).__name__}: {error}"]


def _repr(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def _brief(value: Any) -> str:
    short = reprlib.Repr()
    short.maxstring = short.maxother = _BRIEF
    try:
        return short.repr(value)
    except Exception as error:
        return f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"


def _is_data(name: str, value: Any) -> bool:
    is_code = isinstance(value, ModuleType | FunctionType | type) or inspect.isroutine(value)
    return not (is_code or name.startswith("__"))


def _source_lines(frame: FrameType) -> list[str]:
    code = frame.f_code
    line = linecache.getline(code.co_filename, frame.f_lineno, frame.f_globals).strip()
    return [f"{code.co_filename}:{frame.f_lineno} in {code.co_name}", *([line] if line else [])]


def _callers(frame: FrameType) -> list[str]:
    found: list[str] = []
    each: FrameType | None = frame
    while each is not None:
        if find_site(each) is not None:
            place, *line = _source_lines(each)
            found = [place, *(f"    {text}" for text in line), *found]
        each = each.f_back
    return found
