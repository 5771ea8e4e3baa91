"""The server, the clients, and the rigs under which a program is recorded and replayed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integrations._clients import CLIENTS, Client
from tests.integrations._server import Server
from tests.integrations._sessions import MemoryRig, RealRig


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def rig() -> MemoryRig:
    """Sessions in memory, with the transports alone."""
    from playhead.integrations import aiohttp, httpx, urllib3, websockets

    return MemoryRig((httpx.install, urllib3.install, aiohttp.install, websockets.install))


@pytest.fixture(params=["memory", "file"])
def any_rig(request: pytest.FixtureRequest, tmp_path: Path) -> MemoryRig | RealRig:
    """Sessions in memory, and the real ones."""
    if request.param == "file":
        return RealRig(tmp_path)
    found: MemoryRig = request.getfixturevalue("rig")
    return found


@pytest.fixture(params=CLIENTS, ids=repr)
def client(request: pytest.FixtureRequest) -> Client:
    """Every client library, plain and asynchronous."""
    found: Client = request.param
    return found
