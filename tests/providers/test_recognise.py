"""A model call is told by its path and body, whoever serves it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playhead.providers import ModelCall, final_user_turn, list_request_parts, recognise, tool_names
from tests.providers.streams import JSON_VALUES

CHAT = {"model": "m", "messages": []}
ANTHROPIC = {"anthropic_version": "vertex-2023-10-16", "messages": [], "max_tokens": 1}
PROVIDERS = ("openai.chat", "openai.responses", "anthropic.messages", "gemini.generate", "sse")


@pytest.mark.parametrize(
    ("url", "body", "expected"),
    [
        ("https://api.openai.com/v1/chat/completions", CHAT, ModelCall("openai.chat", "m", False)),
        ("http://localhost:11434/v1/chat/completions", CHAT | {"stream": True}, ModelCall("openai.chat", "m", True)),
        ("https://api.groq.com/openai/v1/chat/completions", CHAT, ModelCall("openai.chat", "m", False)),
        ("https://x.example/novita/v3/openai/chat/completions", CHAT, ModelCall("openai.chat", "m", False)),
        (
            "https://x.openai.azure.com/openai/deployments/gpt%2D4o/chat/completions?api-version=1",
            {"messages": []},
            ModelCall("openai.chat", "gpt-4o", False),
        ),
        ("https://a/v1/responses", {"model": "m", "input": "x"}, ModelCall("openai.responses", "m", False)),
        ("https://a/v1/responses/", {"previous_response_id": "r"}, ModelCall("openai.responses", None, False)),
        ("https://a/v1/messages?beta=true", CHAT | {"max_tokens": 1}, ModelCall("anthropic.messages", "m", False)),
        (
            "https://v/v1/projects/p/locations/l/publishers/anthropic/models/claude-x@1:streamRawPredict",
            ANTHROPIC,
            ModelCall("anthropic.messages", "claude-x@1", True),
        ),
        ("https://b/model/claude-v1%3A0/invoke", ANTHROPIC, ModelCall("anthropic.messages", "claude-v1:0", False)),
        (
            "https://g/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
            {"contents": []},
            ModelCall("gemini.generate", "gemini-2.5-flash", True),
        ),
        (
            "https://v/v1beta1/projects/p/locations/global/publishers/google/models/g:generateContent",
            {"contents": []},
            ModelCall("gemini.generate", "g", False),
        ),
    ],
)
def test_a_call_is_recognised_by_shape(url: str, body: Any, expected: ModelCall) -> None:
    assert recognise("POST", url, [], json.dumps(body).encode()) == expected


@pytest.mark.parametrize(
    ("method", "url", "body"),
    [
        ("GET", "https://a/v1/chat/completions", CHAT),
        ("POST", "https://a/v1/embeddings", {"model": "m", "input": "x"}),
        ("POST", "https://a/v1/responses/compact", {"model": "m", "input": "x"}),
        ("POST", "https://a/v1/messages/count_tokens", CHAT),
        ("POST", "https://a/v1/threads/t/messages", {"role": "user", "content": "x"}),
        ("POST", "https://a/v1beta/models/g:countTokens", {"contents": []}),
        ("POST", "https://a/v1/chat/completions", {"other": 1}),
        ("POST", "https://a/v1/chat/completions", [1]),
    ],
)
def test_anything_else_is_not_a_model_call(method: str, url: str, body: Any) -> None:
    assert recognise(method, url, [], json.dumps(body).encode()) is None


def test_a_body_that_is_not_json_is_not_a_model_call() -> None:
    for body in (None, b"", b"{", b"\xff", b"[" * 100_000):
        assert recognise("POST", "https://a/v1/chat/completions", [], body) is None


@given(url=st.text(), body=st.binary() | JSON_VALUES.map(lambda value: json.dumps(value).encode()))
def test_nothing_makes_it_raise(url: str, body: bytes) -> None:
    for path in (url, f"https://a/{url}/v1/messages", f"https://[{url}/chat/completions"):
        recognise("POST", path, [], body)


@pytest.mark.parametrize(
    ("provider", "request_body", "turn"),
    [
        (
            "openai.chat",
            {"messages": [{"role": "user", "content": "a"}, {"role": "assistant"}, {"role": "tool", "content": "b"}]},
            "a",
        ),
        ("openai.responses", {"input": "a"}, "a"),
        ("openai.responses", {"input": [{"role": "user", "content": "a"}, {"type": "function_call_output"}]}, "a"),
        (
            "anthropic.messages",
            {
                "messages": [
                    {"role": "user", "content": "a"},
                    {"role": "assistant", "content": []},
                    {"role": "user", "content": [{"type": "tool_result", "content": "b"}]},
                ]
            },
            "a",
        ),
        (
            "gemini.generate",
            {
                "contents": [
                    {"parts": [{"text": "a"}]},
                    {"role": "model", "parts": []},
                    {"role": "user", "parts": [{"functionResponse": {}}]},
                ]
            },
            [{"text": "a"}],
        ),
        ("openai.chat", {"messages": [{"role": "system", "content": "s"}]}, None),
        ("sse", {"messages": "x"}, None),
    ],
)
def test_the_final_user_turn_is_what_a_person_wrote_last(provider: str, request_body: Any, turn: Any) -> None:
    assert final_user_turn(provider, request_body) == turn


@pytest.mark.parametrize(
    ("provider", "tools", "names"),
    [
        (
            "openai.chat",
            [{"type": "function", "function": {"name": "f"}}, {"type": "custom", "custom": {"name": "c"}}],
            ["f", "c"],
        ),
        (
            "openai.responses",
            [{"type": "function", "name": "f"}, {"type": "web_search"}, {"type": "mcp", "server_label": "wiki"}],
            ["f", "web_search", "mcp:wiki"],
        ),
        ("anthropic.messages", [{"name": "f"}, {"type": "bash_20250124", "name": "bash"}], ["f", "bash"]),
        ("gemini.generate", [{"functionDeclarations": [{"name": "f"}]}, {"googleSearch": {}}], ["f", "googleSearch"]),
        ("sse", [{"name": "f"}], []),
    ],
)
def test_tools_go_by_their_names(provider: str, tools: Any, names: list[str]) -> None:
    assert tool_names(provider, {"tools": tools}) == names


@given(provider=st.sampled_from(PROVIDERS), value=JSON_VALUES)
def test_parts_of_any_request_are_read_without_raising(provider: str, value: Any) -> None:
    parts = list_request_parts(provider)
    keys = (*parts["conversation"], *parts["tools"])
    for request in ({}, dict.fromkeys(keys, value), {key: [value] for key in keys}):
        final_user_turn(provider, request)
        tool_names(provider, request)
