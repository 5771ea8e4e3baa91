"""A store of the test's own, and a server whose every byte a test decides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integrations._clients import CLIENTS, Client
from tests.integrations._server import Server


@pytest.fixture(autouse=True)
def store(own_store: Path) -> Path:
    """Everything is kept in a folder of the test's own."""
    return own_store


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture(params=CLIENTS, ids=repr)
def client(request: pytest.FixtureRequest) -> Client:
    """Every client library, plain and asynchronous."""
    found: Client = request.param
    return found
