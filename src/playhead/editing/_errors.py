"""Exceptions by what a person types: ``'TimeoutError: too slow'``, ``'requests.exceptions:HTTPError: 403'``."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

from playhead.errors import UsageError
from playhead.eventlog import Recording, printable
from playhead.events import NoteAdded, snapshot_error
from playhead.events import encode as encode_value

_OF_PACKAGES = {
    "HTTPError": (
        ("requests", "requests.exceptions:HTTPError"),
        ("httpx2", "httpx2:HTTPError"),
        ("httpx", "httpx:HTTPError"),
        ("urllib3", "urllib3.exceptions:HTTPError"),
    ),
    "HTTPStatusError": (("httpx2", "httpx2:HTTPStatusError"), ("httpx", "httpx:HTTPStatusError")),
    "ConnectTimeout": (("requests", "requests.exceptions:ConnectTimeout"), ("httpx2", "httpx2:ConnectTimeout")),
    "ReadTimeout": (("requests", "requests.exceptions:ReadTimeout"), ("httpx2", "httpx2:ReadTimeout")),
}
"""Where a well-known name comes from, by the package that the run had."""

_FALLBACK = {"HTTPError": "urllib.error:HTTPError"}


def error_tree(error: BaseException | str, recording: Recording) -> Any:
    """The tree of an exception: of one that there is, or of the class and message in a text.

    A class is told by its name where it is built in or was raised in this run, and by ``module:Class`` otherwise.
    Raises `UsageError` where the text names none that can be found.
    """
    if isinstance(error, BaseException):
        return encode_value(snapshot_error(error))
    name, _, message = error.partition(": ")
    name, message = name.strip(), message.strip()
    built_in = getattr(builtins, name, None)
    if isinstance(built_in, type) and issubclass(built_in, BaseException):
        return encode_value(snapshot_error(_make(built_in, message)))
    found = _find(name, recording)
    if found is None:
        raise UsageError(
            f"no exception called {printable(name)!r} is built in or was raised in {printable(recording.id)}: "
            "say where it comes from",
            next=f"playhead edit {printable(recording.id)} --step N --raises 'module:{printable(name)}: {message}'",
        )
    tree: dict[str, Any] = {"$t": "error", "class": found, "args": [message] if message else []}
    if found == "urllib.error:HTTPError":
        code = int(message) if message.isdigit() else 500
        tree["attributes"] = {"code": code, "msg": message, "hdrs": None, "fp": None}
    elif message:
        tree["message"] = message
    return tree


def _make(cls: type[BaseException], message: str) -> BaseException:
    try:
        return cls(message) if message else cls()
    except TypeError:
        raise UsageError(
            f"{cls.__name__} cannot be made of a message alone: name another exception, or pass one in Python",
            next="playhead.edit(run).raises(step, error)",
        ) from None


def _find(name: str, recording: Recording) -> str | None:
    if ":" in name:
        return name
    module, _, plain = name.rpartition(".")
    if module:
        return f"{module}:{plain}"
    for raised in _raised(recording):
        if raised.rpartition(":")[2].rpartition(".")[2] == name:
            return raised
    packages = _packages(recording)
    for package, found in _OF_PACKAGES.get(name, ()):
        if package in packages:
            return found
    return _FALLBACK.get(name)


def _raised(recording: Recording) -> Iterator[str]:
    """The classes of exceptions that were raised in the run."""
    for kind in ("tool.failed", "model.failed", "boundary.failed"):
        for event in recording.of_kind(kind):
            error = getattr(event.body, "error", None)
            if isinstance(error, dict) and isinstance(error.get("class"), str):
                yield error["class"]


def _packages(recording: Recording) -> set[str]:
    found = set(recording.started.environment.packages) if recording.started is not None else set()
    for event in recording.of_kind("note.added"):
        if isinstance(event.body, NoteAdded) and event.body.name == "packages" and isinstance(event.body.details, dict):
            found |= set(event.body.details)
    return found
