"""Is this request a call of a model? Told by the shape of its path and body, never by its host."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, Literal
from urllib.parse import unquote, urlsplit

import msgspec

__all__ = ["ModelCall", "Provider", "recognise"]

Provider = Literal["openai.chat", "openai.responses", "anthropic.messages", "gemini.generate"]

_GEMINI: Final = re.compile(r"/([^/:]+):(generateContent|streamGenerateContent)\Z")
_VERTEX_ANTHROPIC: Final = re.compile(r"/publishers/anthropic/models/([^/:]+):(rawPredict|streamRawPredict)\Z")
_BEDROCK: Final = re.compile(r"/model/([^/]+)/(invoke|invoke-with-response-stream)\Z")
_AZURE: Final = re.compile(r"/deployments/([^/]+)/")
_ABSENT: Final = msgspec.Raw(b"")


class ModelCall(msgspec.Struct, frozen=True):
    """A request to a model. ``provider`` names the wire format, not the company; ``stream`` says what was asked for."""

    provider: Provider
    model: str | None
    stream: bool


class _Asked(msgspec.Struct):
    """The few keys of a request that tell it; the conversation is passed over without being built."""

    model: Any = None
    stream: Any = None
    messages: msgspec.Raw = _ABSENT
    input: msgspec.Raw = _ABSENT
    prompt: msgspec.Raw = _ABSENT
    contents: msgspec.Raw = _ABSENT
    max_tokens: msgspec.Raw = _ABSENT
    anthropic_version: msgspec.Raw = _ABSENT
    previous_response_id: msgspec.Raw = _ABSENT


def recognise(method: str, url: str, headers: Sequence[tuple[str, str]], body: bytes | None) -> ModelCall | None:
    """The model call that a request is, None for any other request. Never raises.

    >>> recognise("POST", "http://localhost/v1/chat/completions", [], b'{"model":"m","messages":[]}')
    ModelCall(provider='openai.chat', model='m', stream=False)
    """
    if method.upper() != "POST" or not body:
        return None
    try:
        path = unquote(urlsplit(url).path).rstrip("/")
        asked = msgspec.json.decode(body, type=_Asked)
    except (ValueError, RecursionError):
        return None
    return _tell_openai(path, asked) or _tell_anthropic(path, asked, headers) or _tell_gemini(path, asked)


def _tell_openai(path: str, asked: _Asked) -> ModelCall | None:
    if path.endswith("/chat/completions") and asked.messages:
        deployment = _AZURE.search(path)
        model = _text(asked.model) or (deployment.group(1) if deployment else None)
        return ModelCall("openai.chat", model, asked.stream is True)
    if path.endswith("/responses") and (asked.input or asked.prompt or asked.previous_response_id):
        return ModelCall("openai.responses", _text(asked.model), asked.stream is True)
    return None


def _tell_anthropic(path: str, asked: _Asked, headers: Sequence[tuple[str, str]]) -> ModelCall | None:
    if not asked.messages:
        return None
    if path.endswith("/messages"):
        versioned = any(name.lower() == "anthropic-version" for name, _ in headers)
        if versioned or asked.max_tokens:
            return ModelCall("anthropic.messages", _text(asked.model), asked.stream is True)
    if found := _VERTEX_ANTHROPIC.search(path):
        return ModelCall("anthropic.messages", found.group(1), found.group(2) == "streamRawPredict")
    if (found := _BEDROCK.search(path)) and asked.anthropic_version:
        return ModelCall("anthropic.messages", found.group(1), found.group(2) != "invoke")
    return None


def _tell_gemini(path: str, asked: _Asked) -> ModelCall | None:
    found = _GEMINI.search(path)
    if found is None or not asked.contents:
        return None
    return ModelCall("gemini.generate", found.group(1), found.group(2) == "streamGenerateContent")


def _text(value: Any) -> str | None:
    return value if type(value) is str and value else None
