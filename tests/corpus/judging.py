"""The corpus recorded and replayed: what came back equal, and in which form it was kept."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import playhead
from playhead.masking import PLACEHOLDER
from playhead.providers import equal_for_client, merge_stream, parse_events
from playhead.testing import forbid_connections
from tests.corpus.clients import CLIENTS, Reply, has_sdk, hear, provider_of
from tests.corpus.traffic import CorpusServer, Exchange


class Row(NamedTuple):
    """One kind of exchange, counted. ``masked`` are equal but for placeholders in the place of secrets."""

    provider: str
    family: str
    total: int
    equal: int
    masked: int
    merged: int
    raw: int


class Account(NamedTuple):
    """What became of the corpus with one client."""

    client: str
    rows: list[Row]
    unequal: list[str]
    raw: dict[str, int]
    """Streams that were kept as they came, counted by the reason."""

    def count(self, field: str, *, streams: bool | None = None, family: str = "") -> int:
        found = [row for row in self.rows if streams is None or (row.merged + row.raw > 0) == streams]
        return sum(getattr(row, field) for row in found if row.family.startswith(family))


def record_and_replay(
    exchanges: Sequence[Exchange], fetch: Callable[[str, Sequence[Exchange]], list[Any]], store: Path
) -> tuple[list[Any], list[Any], playhead.Recording]:
    """What a program was given when recorded and when replayed, the server gone; and the recording."""
    with CorpusServer(exchanges) as server:
        base = server.url
        with playhead.record(kind="corpus", store=store) as run:
            recorded = fetch(base, exchanges)
        assert server.hits == len(exchanges)
    with forbid_connections() as guard, playhead.replay(run.id, store=store) as replay:
        replayed = fetch(base, exchanges)
    assert guard.attempts == []
    assert replay.report.identical, replay.report.lines()
    return recorded, replayed, playhead.load(run.id, store=store)


def account_for_bytes(client: str, exchanges: Sequence[Exchange], store: Path) -> Account:
    """Fetch ``exchanges`` with a plain client; compare status, headers and bodies."""
    recorded, replayed, recording = record_and_replay(exchanges, CLIENTS[client][1], store)
    counts: dict[tuple[str, str], Counter[str]] = {}
    unequal: list[str] = []
    reasons: Counter[str] = Counter()
    for one, before, after, kept in zip(exchanges, recorded, replayed, recording.exchanges, strict=True):
        row = counts.setdefault((provider_of(one) or "other HTTP", family_of(one)), Counter())
        row["total"] += 1
        verdict = compare(one, before, after)
        row[verdict] += 1
        if verdict == "unequal":
            unequal.append(f"{one.file} ({one.number}): {describe(before, after)}")
        if one.is_stream:
            form = _form_of(kept)
            row["merged" if form == "stream" else "raw"] += 1
            if form != "stream":
                reasons[why_raw(one, form)] += 1
    rows = [
        Row(*key, *(row[name] for name in ("total", "equal", "masked", "merged", "raw")))
        for key, row in sorted(counts.items())
    ]
    return Account(client, rows, unequal, dict(reasons))


def account_for_objects(exchanges: Sequence[Exchange], store: Path) -> Account:
    """Have the real SDKs read ``exchanges``; compare the objects and exceptions they give."""
    known = [one for one in exchanges if has_sdk(provider_of(one))]
    recorded, replayed, _ = record_and_replay(known, lambda base, all: [hear(base, one) for one in all], store)
    counts: dict[tuple[str, str], Counter[str]] = {}
    unequal = []
    for one, before, after in zip(known, recorded, replayed, strict=True):
        row = counts.setdefault((provider_of(one), "stream" if one.is_stream else "plain"), Counter())
        row["total"] += 1
        same = before == after
        masked = not same and equal_but_for_masks(_unmeasured(before), _unmeasured(after))
        row["equal" if same else "masked" if masked else "unequal"] += 1
        if not same and not masked:
            unequal.append(f"{one.file} ({one.number}): {str(before)[:300]} became {str(after)[:300]}")
    rows = [Row(*key, row["total"], row["equal"], row["masked"], 0, 0) for key, row in sorted(counts.items())]
    return Account("SDKs", rows, unequal, {})


def compare(exchange: Exchange, before: Reply, after: Reply) -> str:
    """``equal``: served, recorded and replayed; ``masked``: but for placeholders; else ``unequal``."""
    provider = provider_of(exchange) or "sse"
    live, played = b"".join(before.pieces), b"".join(after.pieces)
    if before.status != exchange.status or live != (b"" if exchange.has_no_body else b"".join(exchange.pieces)):
        return "unequal"
    same_body = live == played or (exchange.is_stream and equal_for_client(provider, before.pieces, after.pieces))
    if (before.status, before.headers) == (after.status, after.headers) and same_body:
        return "equal"
    if before.status != after.status or not _equal_heads(before, after):
        return "unequal"
    if same_body or equal_but_for_masks(_text(live), _text(played)):
        return "masked"
    if exchange.content_type == "text/event-stream":
        finals = [_final(provider, exchange, reply) for reply in (before, after)]
        return "masked" if equal_but_for_masks(*finals) else "unequal"
    return "unequal"


def equal_but_for_masks(live: str, played: str) -> bool:
    """Whether the texts are equal, apart from the placeholders in ``played``, each of which stands for something."""
    if PLACEHOLDER.search(played) is None:
        return live == played
    parts, start = [], 0
    for found in PLACEHOLDER.finditer(played):
        parts.append(re.escape(played[start : found.start()]))
        start = found.end()
    return re.fullmatch(".+?".join([*parts, re.escape(played[start:])]), live, re.DOTALL) is not None


def _equal_heads(before: Reply, after: Reply) -> bool:
    heads = [[pair for pair in reply.headers if pair[0].lower() != "content-length"] for reply in (before, after)]
    return equal_but_for_masks(*(json.dumps(head) for head in heads))


def _form_of(kept: Any) -> str:
    form: str = kept.answer.body.content["form"] if kept.answer is not None else "nothing"
    return form


def _unmeasured(seen: list[Any]) -> str:
    """What an SDK gave, without the length of the body: a masked body may have another."""
    return re.sub(r'"content-length": "[0-9]+"', "", json.dumps(seen))


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def _final(provider: str, exchange: Exchange, reply: Reply) -> str:
    merged = merge_stream(provider, exchange.content_type, reply.pieces, complete=True)
    return json.dumps(merged.final if merged is not None else None)


def describe(before: Reply, after: Reply) -> str:
    """Where two replies first differ."""
    if before.status != after.status or before.headers != after.headers:
        return f"{before.status} {before.headers} became {after.status} {after.headers}"
    live, played = b"".join(before.pieces), b"".join(after.pieces)
    pairs = enumerate(zip(live, played, strict=False))
    at = next((i for i, (one, two) in pairs if one != two), min(len(live), len(played)))
    return f"at byte {at} of {len(live)}: {live[at : at + 80]!r} became {played[at : at + 80]!r}"


def family_of(exchange: Exchange) -> str:
    """What an exchange brings: its type or, for a stream, what kinds of events it has."""
    if exchange.content_type != "text/event-stream":
        return exchange.content_type or "nothing"
    kinds: set[str] = set()
    for event in parse_events(b"".join(exchange.pieces)):
        try:
            value = json.loads(event.data or "null")
        except ValueError:
            continue
        kind = value.get("type") or value.get("object") or value.get("jsonrpc") if isinstance(value, dict) else None
        kinds.add(str(kind or "response").split(".")[0].split("_")[0])
    return f"events: {'+'.join(sorted(kinds))}"[:44]


def why_raw(exchange: Exchange, form: str) -> str:
    """Why a stream was kept as it came."""
    if exchange.content_type != "text/event-stream":
        return f"{exchange.content_type}: binary frames, kept as {form}"
    if not any(event.data[:1] in ("{", "[") for event in parse_events(b"".join(exchange.pieces)) if event.data):
        return "no event in it carries JSON"
    return f"no merged form plays back equal, kept as {form} ({exchange.file})"


def write_table(account: Account) -> str:
    """The account as text for a person."""
    lines = [f"{account.client}: {account.count('total')} exchanges"]
    lines.append(f"{'provider':20}{'what':46}" + "".join(f"{name:>8}" for name in Row._fields[2:]))
    lines += [
        f"{row.provider:20}{row.family:46}" + "".join(f"{number:>8}" for number in row[2:]) for row in account.rows
    ]
    totals = "".join(f"{account.count(name):>8}" for name in Row._fields[2:])
    lines.append(f"{'all':66}{totals}")
    lines += [f"  kept as they came, {count} x {reason}" for reason, count in account.raw.items()]
    return "\n".join([*lines, *(f"  UNEQUAL {each}" for each in account.unequal)])
