"""A small agent's means: a model behind a loopback server, asked through a real HTTP client, and a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import playhead
from playhead.testing import ModelServer, Request, Text

Ask = Callable[..., str]


@pytest.fixture(autouse=True)
def store(own_store: Path) -> Path:
    """Everything is kept in a folder of the test's own."""
    return own_store


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """Answers with the last user's words and a number that is new each time."""
    count = 0

    def answer(request: Request) -> Text:
        nonlocal count
        count += 1
        return Text(f"{request.user_text} [{count}]")

    with ModelServer(answer) as server:
        yield server


@pytest.fixture
def ask(server: ModelServer) -> Ask:
    """Ask the model; keyword arguments go into the request."""
    url = server.openai_url + "/chat/completions"

    def ask(text: str, *, messages: list[dict[str, Any]] | None = None, model: str = "big", **extra: Any) -> str:
        body = {"model": model, "messages": messages or [{"role": "user", "content": text}], **extra}
        answer = httpx2.post(url, json=body)
        answer.raise_for_status()
        return str(answer.json()["choices"][0]["message"]["content"])

    return ask


def record(program: Callable[[], Any]) -> tuple[playhead.Recording, Any]:
    """The recording of ``program`` and what it gave."""
    with playhead.record(kind="test") as run:
        result = program()
    return playhead.load(run.id), result
