"""From an answer to the bytes of a reply, in the wire format of the request."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import msgspec

from playhead.providers.writing import _anthropic, _gemini, _openai_chat, _openai_responses, _plain_http
from playhead.providers.writing._answers import Answer, Drop, Fail, Raw, Spoken
from playhead.providers.writing._minting import Mint
from playhead.providers.writing._requests import Dialect, Request
from playhead.providers.writing._wire_format import WireFormat

__all__ = ["Reply", "write_reply"]

_FORMATS: Mapping[Dialect, WireFormat] = {
    "openai.chat": _openai_chat,
    "openai.responses": _openai_responses,
    "anthropic.messages": _anthropic,
    "gemini.generate": _gemini,
    "http": _plain_http,
}


class Reply(msgspec.Struct, frozen=True):
    """A reply ready to be sent. A ``streamed`` one goes out as HTTP chunks, another under its length."""

    status: int
    headers: dict[str, str]
    pieces: list[bytes]
    streamed: bool


def write_reply(answer: Answer, request: Request, mint: Mint, *, padding: bool, gzip: bool) -> Reply:
    """The reply that says ``answer`` in the format of ``request``.

    Raises ValueError for an answer that this format cannot express.
    """
    if isinstance(answer, Drop):
        return Reply(0, {}, [], streamed=True)
    if isinstance(answer, Raw):
        return _write_raw(answer)
    wire = _FORMATS[request.dialect]
    if isinstance(answer, Fail):
        status, kind, pieces = answer.status, "application/json", [wire.write_error(answer, mint)]
    elif not isinstance(answer, Spoken):
        raise ValueError(f"{type(answer).__name__} is not an answer this server can give")
    elif request.stream:
        turn = wire.make_turn(answer, request, mint)
        pieces = wire.write_events(turn, request, mint, padding=padding)
        status, kind = 200, wire.stream_type(request)
    else:
        turn = wire.make_turn(answer, request, mint)
        kind = "text/plain; charset=utf-8" if request.dialect == "http" else "application/json"
        status, pieces = 200, [wire.write_plain(turn, request, mint)]
    streamed = request.stream and not isinstance(answer, Fail)
    if streamed and (after := answer.error_event_after) is not None:
        broken = Fail(503, "The server is overloaded. Please try again later.")
        pieces = [*pieces[:after], wire.write_error_event(broken, request, mint, number=min(after, len(pieces)))]
    headers = {"content-type": kind, **wire.make_headers(request, mint)}
    if gzip and "gzip" in (request.header("accept-encoding") or ""):
        headers["content-encoding"] = "gzip"
        pieces = _compress(pieces)
    return Reply(status, headers | _lower(answer.headers), pieces, streamed=streamed)


def _write_raw(answer: Raw) -> Reply:
    headers = _lower(answer.headers)
    if answer.chunks is not None:
        return Reply(answer.status, headers, list(answer.chunks), streamed=True)
    body = answer.body.encode() if isinstance(answer.body, str) else answer.body
    return Reply(answer.status, headers, [body or b""], streamed=False)


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _compress(pieces: list[bytes]) -> list[bytes]:
    """Gzip that can be decompressed up to the end of each piece as soon as that piece is there."""
    packer = zlib.compressobj(wbits=31)
    packed = [packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH) for piece in pieces]
    return [*packed[:-1], packed[-1] + packer.flush()]
