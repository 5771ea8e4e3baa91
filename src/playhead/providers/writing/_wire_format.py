"""What a wire format has to be able to do, and what the formats share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from playhead.providers.writing._answers import Fail
from playhead.providers.writing._minting import Mint
from playhead.providers.writing._requests import Request
from playhead.providers.writing._turns import Turn

__all__ = ["WireFormat", "encode_json", "encode_sse", "fail_message"]

_REASONS = {
    400: "The request could not be understood.",
    401: "Incorrect API key provided.",
    403: "You do not have access to this resource.",
    404: "The requested resource does not exist.",
    429: "Rate limit reached. Please try again later.",
    500: "The server had an error while processing your request.",
    503: "The engine is currently overloaded, please try again later.",
    529: "Overloaded",
}


class WireFormat(Protocol):
    """One provider's way of writing answers. Each format is a module of this shape."""

    def make_headers(self, request: Request, mint: Mint) -> dict[str, str]:
        """The headers this provider adds to every answer."""

    def make_turn(self, answer: Any, request: Request, mint: Mint) -> Turn:
        """The answer with ids and model version in this provider's style."""

    def write_plain(self, turn: Turn, request: Request, mint: Mint) -> bytes:
        """The body of an answer that is not streamed."""

    def write_events(self, turn: Turn, request: Request, mint: Mint, *, padding: bool) -> list[bytes]:
        """The stream's events. ``padding`` adds the noise some providers use to hide lengths."""

    def write_error(self, fail: Fail, mint: Mint) -> bytes:
        """The body of an HTTP error."""

    def write_error_event(self, fail: Fail, request: Request, mint: Mint, *, number: int) -> bytes:
        """The event that ends a stream in an error; ``number`` events came before."""

    def stream_type(self, request: Request) -> str:
        """The content type of a stream."""


def encode_json(value: Any) -> bytes:
    """Compact JSON, as servers write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def encode_sse(data: Mapping[str, Any] | str, *, event: str | None = None, end: str = "\n") -> bytes:
    """One server-sent event."""
    payload = data.encode() if isinstance(data, str) else encode_json(data)
    head = f"event: {event}{end}".encode() if event else b""
    return head + b"data: " + payload + 2 * end.encode()


def fail_message(fail: Fail) -> str:
    """What the failure says, or the usual words for its status."""
    return fail.message or _REASONS.get(fail.status, f"The request failed with status {fail.status}.")
