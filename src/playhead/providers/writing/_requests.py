"""What a scripted model server was asked: the request as it came, and what it means."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Literal
from urllib.parse import parse_qs, unquote, urlsplit

__all__ = ["Dialect", "Request", "ToolResult"]

Dialect = Literal["openai.chat", "openai.responses", "anthropic.messages", "gemini.generate", "http"]

_GEMINI = re.compile(r"/models/(?P<model>[^/:]+):(?P<verb>generateContent|streamGenerateContent)$")


class ToolResult:
    """A tool's result as the conversation gives it back to the model."""

    def __init__(self, *, id: str | None, name: str | None, content: str) -> None:
        self.id = id
        self.name = name
        self.content = content

    def __repr__(self) -> str:
        return f"ToolResult(id={self.id!r}, name={self.name!r}, content={self.content!r})"


class Request:
    """One request that reached the server.

    ``number`` counts from 1 in the order of arrival. ``dialect`` is the wire format; ``"http"`` for anything that
    is not a call to a model.
    """

    def __init__(
        self,
        method: str,
        target: str,
        headers: list[tuple[str, str]],
        body: bytes,
        *,
        number: int,
        dialect: Dialect | None = None,
    ) -> None:
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.number = number
        self._dialect = dialect
        parts = urlsplit(target)
        self.path = unquote(parts.path)
        self.query: dict[str, list[str]] = parse_qs(parts.query, keep_blank_values=True)

    def __repr__(self) -> str:
        return f"Request({self.number}: {self.method} {self.target}, {len(self.body)} bytes)"

    def header(self, name: str) -> str | None:
        """The first header of this name, whatever its case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    @cached_property
    def json(self) -> Any:
        """The body as JSON; None when it is not."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def fields(self) -> Mapping[str, Any]:
        """The body as a JSON object; empty when it is not one."""
        return self.json if isinstance(self.json, dict) else {}

    @cached_property
    def dialect(self) -> Dialect:
        """Which wire format this is, by its path unless it was said."""
        if self._dialect is not None:
            return self._dialect
        if self.method != "POST":
            return "http"
        if self.path.endswith("/chat/completions"):
            return "openai.chat"
        if self.path.endswith("/responses"):
            return "openai.responses"
        if self.path.endswith("/messages"):
            return "anthropic.messages"
        return "gemini.generate" if _GEMINI.search(self.path) else "http"

    @property
    def model(self) -> str | None:
        """The model asked for."""
        if found := _GEMINI.search(self.path):
            return found["model"]
        model = self.fields.get("model")
        return model if isinstance(model, str) else None

    @property
    def stream(self) -> bool:
        """Whether a stream was asked for."""
        if self.dialect == "gemini.generate":
            return self.path.endswith(":streamGenerateContent")
        return self.fields.get("stream") is True

    @property
    def conversation(self) -> list[Any]:
        """The messages, input items or contents, as sent."""
        key = {"openai.responses": "input", "gemini.generate": "contents"}.get(self.dialect, "messages")
        found = self.fields.get(key, [])
        return found if isinstance(found, list) else [found]

    @property
    def user_text(self) -> str:
        """The words of the last turn of the user that has any; tool results do not count."""
        for message in reversed(self.conversation):
            if isinstance(message, str):
                return message
            if message.get("role", "user") != "user":
                continue
            if text := "".join(_texts(message.get("content", message.get("parts")))):
                return text
        return ""

    @property
    def tool_results(self) -> list[ToolResult]:
        """Every tool result in the conversation, in order."""
        return [result for message in self.conversation if isinstance(message, dict) for result in _results(message)]


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, str):
                yield part
            elif isinstance(part, dict) and isinstance(part.get("text"), str):
                yield part["text"]


def _results(message: dict[str, Any]) -> Iterator[ToolResult]:
    if message.get("role") == "tool":
        yield ToolResult(id=message.get("tool_call_id"), name=None, content="".join(_texts(message.get("content"))))
    elif message.get("type") == "function_call_output":
        yield ToolResult(id=message.get("call_id"), name=None, content="".join(_texts(message.get("output"))))
    parts = message.get("parts") or message.get("content")
    for part in parts if isinstance(parts, list) else []:
        if not isinstance(part, dict):
            continue
        if part.get("type") == "tool_result":
            yield ToolResult(id=part.get("tool_use_id"), name=None, content="".join(_texts(part.get("content"))))
        elif isinstance(answer := part.get("functionResponse"), dict):
            content = json.dumps(answer.get("response"), ensure_ascii=False)
            yield ToolResult(id=answer.get("id"), name=answer.get("name"), content=content)
