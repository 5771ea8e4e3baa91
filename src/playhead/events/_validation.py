"""pydantic's ``ValidationError``, which programs read (or hand to the model) error by error.

It is compiled, keeps nothing in ``args`` and cannot be made bare: pydantic's own constructor for it is called, with
the recorded errors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

Encode = Callable[[Any], Any]

_NAME = "pydantic_core._pydantic_core:ValidationError"


def is_validation_error(class_name: str) -> bool:
    return class_name == _NAME


def encode_validation(error: Any, encode: Encode) -> dict[str, Any]:
    """Title and errors: of each its type, place, message, input and context."""
    return {"title": encode(error.title), "errors": encode(error.errors(include_url=False))}


def rebuild_validation(cls: Any, title: Any, errors: Any) -> BaseException:
    """A ``ValidationError`` with these errors."""
    core: Any = sys.modules["pydantic_core"]
    if cls is not core.ValidationError or type(title) is not str or type(errors) is not list:
        raise ValueError("not a validation error")
    made: BaseException = core.ValidationError.from_exception_data(title, [_detail(core, error) for error in errors])
    return made


def _detail(core: Any, error: dict[str, Any]) -> dict[str, Any]:
    """An error as pydantic's constructor takes it; one of a kind that it does not know keeps its message."""
    kind, context = error["type"], error.get("ctx")
    detail = {"type": kind, "loc": error["loc"], "input": error["input"]}
    try:
        if str(core.PydanticKnownError(kind, context)) == error["msg"]:
            return detail if context is None else {**detail, "ctx": context}
    except (KeyError, TypeError):
        pass
    return {**detail, "type": core.PydanticCustomError(kind, error["msg"], context)}
