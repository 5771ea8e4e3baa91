"""Keys are in no file of the store, and a replay with another key, or none, is the same."""

import pytest
from google.antigravity import types

import playhead
from tests.antigravity._desk import Desk, Recorded, play, say
from tests.antigravity._scenarios import _chat
from tests.secrets.test_no_secret_leaves import kept, spellings

pytestmark = pytest.mark.slow

KEY = "AIzaSyFAKE-heron-0123456789-abcdefghijk"
TOKEN = "FAKE-ibis-9988776655"
PLANTED = (KEY, TOKEN)


async def with_secrets(desk):
    servers = [
        types.McpStdioServer(name="local", command="true", env={"PLACE_TOKEN": TOKEN}),
        types.McpStreamableHttpServer(name="far", url=f"{desk.url}/mcp", headers={"Authorization": f"Bearer {TOKEN}"}),
    ]
    return await _chat(desk, say("Say.", [{"text": "so"}]), mcp_servers=servers)


@pytest.mark.parametrize("kind", ["gemini", "vertex"])
def test_no_key_is_in_the_store_and_none_is_needed(kind, place, monkeypatch):
    recorded = Recorded(with_secrets, kind, place, key=KEY)

    data = kept(recorded.store)
    assert b"antigravity.configure" in data
    assert [secret for secret in PLANTED for spelling in spellings(secret) if spelling in data] == []
    result, report, _ = recorded.replay(monkeypatch)
    assert result == recorded.result
    assert report.identical, str(report)

    with playhead.replay(recorded.recording) as replay:
        result = play(with_secrets, Desk(kind, place, recorded.url, key="another-key"))
    assert result == recorded.result
    assert replay.report.identical
