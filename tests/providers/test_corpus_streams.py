"""Every stream of the corpus is kept merged, and played back it is the same to a client."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict

import pytest

from playhead.providers import equal_for_client, merge_stream, parse_events, play_stream, recognise
from tests.providers.corpus import FOLDER, Recorded, read_exchanges
from tests.providers.streams import cut_at_random

pytest.importorskip("yaml")
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no corpus at {FOLDER}; PLAYHEAD_CORPUS names its folder")

EVENT = re.compile(rb".*?(?:\r\n|\n|\r){2}|.+\Z", re.DOTALL)


def read_streams() -> list[tuple[str, Recorded]]:
    return [(provider_of(one), one) for one in read_exchanges() if one.content_type.startswith("text/event-stream")]


def provider_of(exchange: Recorded) -> str:
    body = exchange.request if isinstance(exchange.request, str) else json.dumps(exchange.request)
    call = recognise(exchange.method, exchange.url, [("anthropic-version", "1")], body.encode())
    return call.provider if call else "sse"


def cut(data: bytes, way: str) -> list[bytes]:
    if way == "whole":
        return [data]
    if way == "events":
        return EVENT.findall(data)
    return cut_at_random(data, seed=len(data), pieces=int(way))


@pytest.mark.parametrize("way", ["whole", "events", "3", "40"])
def test_at_least_95_percent_are_kept_merged_and_all_of_those_play_back_equal(way: str) -> None:
    """B22, B23: no stream comes back empty or changed, however the network cut it."""
    table: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    streams = read_streams()
    for provider, exchange in streams:
        data = exchange.body.encode()
        chunks = cut(data, way)
        merged = merge_stream(provider, exchange.content_type, chunks, complete=True)
        row = table[provider, family_of(data)]
        row["streams"] += 1
        row["events"] += len(parse_events(data))
        if merged is None:
            row["raw"] += 1
            continue
        final, shape = json.loads(json.dumps(merged.final)), json.loads(json.dumps(merged.shape))
        played = play_stream(provider, final, shape)
        assert equal_for_client(provider, chunks, played), exchange.file
        assert len(played) == len(chunks), exchange.file
        assert b"".join(played).strip(), exchange.file
        row["merged"] += 1
        row["exact"] += merged.exact
        row["of another format"] += list(final) == ["events"] and provider != "sse"
        row["bytes"] += len(data)
        row["bytes of shape"] += len(json.dumps(shape, separators=(",", ":")))
    print_table(table)
    merged_all = sum(row["merged"] for row in table.values())
    assert len(streams) >= 40
    assert merged_all >= 0.95 * len(streams)
    assert sum(row["of another format"] for row in table.values()) == 0


def family_of(data: bytes) -> str:
    """What kinds of events a stream has, in few words."""
    kinds: list[str] = []
    for event in parse_events(data):
        try:
            value = json.loads(event.data or "null")
        except ValueError:
            continue
        kind = value.get("type") or value.get("object") or value.get("jsonrpc") if isinstance(value, dict) else None
        kinds.append(str(kind or "response").split(".")[0].split("_")[0])
    return "+".join(sorted(set(kinds)))[:40]


def print_table(table: dict[tuple[str, str], Counter[str]]) -> None:
    columns = ("streams", "merged", "exact", "raw", "events", "bytes", "bytes of shape")
    print()
    print(f"{'provider':20}{'events':42}" + "".join(f"{name:>16}" for name in columns))
    for (provider, family), row in sorted(table.items()):
        print(f"{provider:20}{family:42}" + "".join(f"{row[name]:>16}" for name in columns))
