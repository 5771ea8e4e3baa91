"""What was asked, in the form in which it is compared.

A `Request` is made from a live call and from a recorded question alike, masked on both sides, so that a
comparison never sees a secret and a masked recording matches the program that made it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from playhead.boundary import Arguments, Call, HttpRequest, Pause, Program, name_arguments, name_trees
from playhead.events import BoundaryAsked, Child, Event, ModelRequested, ToolCalled, freeze
from playhead.masking import Masker
from playhead.player._multipart import normalise_multipart
from playhead.providers import ModelCall, encode_plain, read_json, recognise

Boundary = Literal["model", "tool", "http", "wrap", "sleep", "process"]


class Request(msgspec.Struct, frozen=True):
    """A question at a boundary.

    ``name`` is the tool, the wrapped function, the provider, or method and address of plain HTTP. ``content``
    is the tree of what was asked: a model's request, a tool's arguments by name, an HTTP body. Normalisers
    may change any of it with `msgspec.structs.replace`.
    """

    boundary: Boundary
    name: str
    content: Any
    call_id: str | None = None
    http: dict[str, Any] = {}
    """Method, URL, headers of the message that carried it; not compared, except ``name`` of plain HTTP."""


Normaliser = Callable[[Request], Request]
"""Takes out of a request what should not count; applied to both sides."""


def request_of_call(call: Call, masker: Masker, model: ModelCall | None = None) -> Request:
    """What a live call asks."""
    if isinstance(call.payload, Arguments):
        content = masker.value(tree_of_call(call.payload))
        return Request(_boundary(call), masker.text(call.name), content, call.call_id)
    if isinstance(call.payload, Program):
        return _request_of_process(masker.command(call.payload.argv))
    if isinstance(call.payload, Pause):
        raise TypeError("a sleep asks nothing")
    return _request_of_http(call.payload, masker, model)


def tree_of_call(arguments: Arguments) -> Any:
    """The arguments of a live call by name, as they are: not masked."""
    args, kwargs = arguments.args, arguments.kwargs
    kept: Any = {"args": list(args), "kwargs": kwargs}
    if not (all(map(_is_tree, args)) and all(map(_is_tree, kwargs.values())) and all(map(_is_key, kwargs))):
        kept = freeze(kept)
    return name_arguments(arguments.function, kept)


def quick_tree(arguments: Arguments) -> Any:
    """The same to be compared as text: what is not its own tree is then another text, or none at all."""
    args, kwargs = arguments.args, arguments.kwargs
    are_plain = _PLAIN.issuperset(map(type, args)) and _PLAIN.issuperset(map(type, kwargs.values()))
    if not (are_plain and all(map(str.isidentifier, kwargs))):
        return tree_of_call(arguments)
    return name_trees(arguments.function, args, kwargs)


_PLAIN = frozenset({str, int, bool, type(None)})
"""No floats: the text of one that is no number is that of ``None``."""

_FAR = 2**63
"""Whole numbers nearer to zero than this are their own trees."""


def _is_tree(value: Any) -> bool:
    """Whether a value is its own tree, seen at a glance."""
    cls = type(value)
    return (cls is str and value.isascii()) or cls is bool or value is None or (cls is int and -_FAR < value < _FAR)


def _is_key(name: str) -> bool:
    return name.isidentifier() and name.isascii()


def request_of_event(question: Event) -> Request:
    """What a recorded question asked."""
    match question.body:
        case ToolCalled() as body:
            return Request("tool", body.name, body.arguments, body.call_id)
        case ModelRequested(form="arguments") as body:
            return Request("model", body.provider, body.request)
        case ModelRequested() as body:
            return Request("model", body.provider, _plain(body.form, body.request), http=_http(body))
        case BoundaryAsked(name="http") as body:
            name = f"{body.method} {body.url}"
            return Request("http", name, _comparable(body.request, body.headers), http=_http(body))
        case BoundaryAsked(child=Child()) as body:
            return _request_of_process(body.request["argv"])
        case BoundaryAsked() as body:
            return Request("wrap", body.name, body.request)
        case _:
            raise TypeError(f"{question.kind} is not a question")


def _request_of_process(argv: list[str]) -> Request:
    return Request("process", argv[0] if argv else "?", {"argv": argv})


def recognise_call(call: Call) -> ModelCall | None:
    """The model call that an HTTP request is, if it is one."""
    if not isinstance(call.payload, HttpRequest):
        return None
    request = call.payload
    return recognise(request.method, request.url, request.headers, request.body)


def _boundary(call: Call) -> Boundary:
    return call.kind


def _request_of_http(request: HttpRequest, masker: Masker, model: ModelCall | None) -> Request:
    url = masker.url(request.url)
    http = {"method": request.method, "url": url, "headers": masker.headers(request.headers)}
    if model is not None:
        form = encode_plain(request.body or b"{}")
        return Request("model", model.provider, masker.value(_plain(form["form"], form)), http=http)
    content = masker.value(encode_plain(request.body)) if request.body else None
    return Request("http", f"{request.method} {url}", _comparable(content, http["headers"]), http=http)


def _plain(form: str, content: Any) -> Any:
    """The JSON of a request; a body that is not JSON stands for itself, form and all."""
    if form in ("json", "text") and isinstance(content, Mapping) and content.get("form") == form:
        found = read_json(content)
        return content if found is None else found
    return content


def _comparable(content: Any, headers: Iterable[Sequence[str]]) -> Any:
    """A body without what says nothing: the style of its JSON, the boundary text of its multipart form."""
    if not content:
        return None
    if isinstance(content, Mapping) and content.get("form") == "json":
        return content["value"]
    kinds = [value for name, value in headers if name.lower() == "content-type"]
    if kinds and kinds[0].lower().startswith("multipart/"):
        return normalise_multipart(content, kinds[0])
    return content


def _http(body: ModelRequested | BoundaryAsked) -> dict[str, Any]:
    return {"method": body.method, "url": body.url, "headers": body.headers}
