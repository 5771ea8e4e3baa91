"""The JSON Schemas that a request declares: of its tools' arguments, and of the answer it asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from playhead.providers._draft import look_up
from playhead.providers._requests import list_request_parts

__all__ = ["answer_schema", "tool_schemas"]

_PLACES: Final = (("function", "parameters"), ("parameters",), ("input_schema",))
_GEMINI: Final = ("parametersJsonSchema", "parameters_json_schema", "parameters")
_ANSWERS: Final = (
    ("response_format", "json_schema", "schema"),
    ("text", "format", "schema"),
    ("output_format", "schema"),
    ("output_config", "format", "schema"),
    *(("generationConfig", name) for name in ("responseJsonSchema", "_responseJsonSchema", "responseSchema")),
)


def tool_schemas(provider: str, request: Any) -> dict[str, dict[str, Any]]:
    """The schema of each tool's arguments, by the tool's name; a tool that declares none is left out."""
    found: dict[str, dict[str, Any]] = {}
    for name, schema in _declared(provider, request):
        if type(name) is str and type(schema) is dict:
            found[name] = schema
    return found


def answer_schema(request: Any) -> dict[str, Any] | None:
    """The schema that a model's answer has to follow, where the request asks for one."""
    schemas = (look_up(request, place) for place in _ANSWERS)
    return next((schema for schema in schemas if type(schema) is dict), None)


def _declared(provider: str, request: Any) -> Iterator[tuple[Any, Any]]:
    if not isinstance(request, Mapping):
        return
    for key in list_request_parts(provider)["tools"]:
        tools = request.get(key)
        for tool in tools if type(tools) is list else ():
            if provider == "gemini.generate":
                yield from _gemini(tool)
            else:
                name = look_up(tool, ("function", "name")) or look_up(tool, ("name",))
                schemas = (look_up(tool, place) for place in _PLACES)
                yield name, next((schema for schema in schemas if schema is not None), None)


def _gemini(tool: Any) -> Iterator[tuple[Any, Any]]:
    for key in ("functionDeclarations", "function_declarations"):
        declared = look_up(tool, (key,))
        for one in declared if type(declared) is list else ():
            yield look_up(one, ("name",)), next((one[key] for key in _GEMINI if type(one) is dict and key in one), None)
