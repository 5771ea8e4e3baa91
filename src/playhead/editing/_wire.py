"""Answers as their provider would send them, put in the place of a recorded one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from playhead.boundary import HttpHead, Streamed
from playhead.errors import UsageError
from playhead.eventlog import Exchange
from playhead.events import (
    BoundaryAnswered,
    BoundaryAsked,
    BoundaryFailed,
    ModelFailed,
    ModelRequested,
    ModelResponded,
)
from playhead.masking import Masker
from playhead.providers import ModelCall, decode_content, decode_plain, play_stream
from playhead.providers.writing import Answer, Fail, Mint, Reply, Request, Spoken, Usage, write_reply
from playhead.recorder import AnswerReader

Asked = ModelRequested | BoundaryAsked

_FRAMING = frozenset({"content-length", "content-type", "content-encoding", "transfer-encoding"})
_BINARY_STREAM = "application/vnd.amazon.eventstream"


def is_http(body: Any) -> bool:
    """Whether a question went over HTTP."""
    if isinstance(body, ModelRequested):
        return body.form != "arguments"
    return isinstance(body, BoundaryAsked) and body.name == "http"


class Speaker:
    """Writes answers to one recorded HTTP question."""

    def __init__(self, exchange: Exchange, masker: Masker) -> None:
        question = exchange.question
        body = question.body
        assert isinstance(body, ModelRequested | BoundaryAsked)
        self.asked: Asked = body
        self._exchange = exchange
        self._masker = masker
        self._mint = Mint(seed=question.seq)
        self.model = ModelCall(body.provider, body.model, body.stream) if isinstance(body, ModelRequested) else None  # type: ignore[arg-type]
        self.request = self._read_request()

    def _read_request(self) -> Request:
        asked = self.asked
        content = asked.request
        if asked.form == "json" and not (isinstance(content, Mapping) and content.get("form") == "json"):
            text = msgspec.json.encode(content)
        elif isinstance(content, Mapping) and "form" in content:
            text = decode_plain(content)
        else:
            text = b""
        dialect: Any = self.model.provider if self.model is not None else "http"
        method, url = asked.method or "POST", asked.url or "/"
        return Request(method, url, list(asked.headers), text, number=1, dialect=dialect)

    @property
    def recorded(self) -> ModelResponded | BoundaryAnswered | None:
        """The recorded answer, where one came over HTTP."""
        answer = self._exchange.answer
        body = answer.body if answer is not None else None
        found = isinstance(body, ModelResponded | BoundaryAnswered) and body.status is not None
        return body if found else None  # type: ignore[return-value]

    @property
    def pieces(self) -> list[bytes]:
        """The body of the recorded answer, uncompressed, as it came."""
        recorded = self.recorded
        if recorded is None or recorded.content is None:
            return []
        plain = {key: value for key, value in recorded.content.items() if key != "encoding"}
        return decode_content(plain)

    def header(self, name: str) -> str:
        """A header of the recorded answer."""
        recorded = self.recorded
        return next((value for key, value in (recorded.headers if recorded else ()) if key.lower() == name), "")

    def write(self, answer: Answer) -> Reply:
        """What the provider sends to say ``answer``. Raises `UsageError` for what its format cannot express."""
        if self.header("content-type").startswith(_BINARY_STREAM):
            raise UsageError(
                "this answer came as a binary stream of events, which cannot be written", next="playhead edit --help"
            )
        if isinstance(answer, Spoken):
            answer = msgspec.structs.replace(answer, usage=answer.usage or self._usage(), model_version=self._version())
        try:
            return write_reply(answer, self.request, self._mint, padding=False, gzip=False)
        except ValueError as error:
            raise UsageError(str(error), next="playhead edit --help") from error

    def _usage(self) -> Usage | None:
        usage = getattr(self.recorded, "usage", None) or {}
        given = usage.get("input_tokens")
        return Usage(input_tokens=given, output_tokens=8) if isinstance(given, int) else None

    def _version(self) -> str | None:
        return getattr(self.recorded, "version", None) or (self.model.model if self.model is not None else None)

    def error(self, status: int, *, message: str | None = None, code: str | None = None) -> Reply:
        """An error in the provider's own words."""
        return self.write(Fail(status, message, code))

    def raw(self, status: int, body: bytes, kind: str, *, streamed: bool = False) -> Reply:
        """Exactly these bytes, with the headers that this provider adds."""
        own = self.write(Fail(500)).headers
        return Reply(status, {**own, "content-type": kind}, [body], streamed=streamed)

    def again(self, status: int) -> Reply:
        """The recorded body again."""
        kind = self.header("content-type") or "application/octet-stream"
        return Reply(status, {"content-type": kind}, self.pieces, streamed="stream" in kind)

    def streamed(self, status: int, final: Any) -> Reply | None:
        """A recorded stream that comes to ``final`` in as many pieces; ``None`` where the answer was no stream."""
        content = self.recorded.content if self.recorded is not None else None
        if isinstance(final, str) or content is None or content.get("form") != "stream" or status >= 400:
            return None
        pieces = play_stream(content["provider"], final, content["shape"])
        return Reply(status, {"content-type": self.header("content-type")}, pieces, streamed=True)

    def body(self, reply: Reply, *, more: Sequence[tuple[str, str]] = ()) -> tuple[str, Any]:
        """The kind of event and its body for a reply; the recorded headers stay where an answer follows an answer."""
        pieces = [piece for piece in reply.pieces if piece]
        head = HttpHead(reply.status, self._headers(reply, more), "HTTP/1.1", _reason(reply.status))
        outcome = Streamed(head, pieces, self._gaps(len(pieces)), "complete")
        reader = AnswerReader(self._masker)
        tree, masked, failed = reader.read(outcome, None, model=self.model, asked=self.request.body)
        tree = {**self._masker.value(tree), **masked}
        family, made = self._family(failed=failed)
        return family, msgspec.convert(tree, made)

    def broken(self, error: Any) -> tuple[str, Any]:
        """The kind of event and its body where the connection fails."""
        family, made = self._family(failed=True)
        return family, made(error=error)

    def _family(self, *, failed: bool) -> tuple[str, Any]:
        if self.model is None:
            return ("boundary.failed", BoundaryFailed) if failed else ("boundary.answered", BoundaryAnswered)
        return ("model.failed", ModelFailed) if failed else ("model.responded", ModelResponded)

    def _headers(self, reply: Reply, more: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        recorded = self.recorded
        framed = {"content-type": reply.headers.get("content-type", "application/octet-stream")}
        if reply.streamed:
            framed["transfer-encoding"] = "chunked"
        else:
            framed["content-length"] = str(sum(map(len, reply.pieces)))
        own = {key: value for key, value in reply.headers.items() if key not in _FRAMING}
        if recorded is not None and recorded.status is not None and recorded.status < 400 and reply.status < 400:
            kept = [(key, value) for key, value in recorded.headers if key.lower() not in _FRAMING]
        else:
            kept = list(own.items())
        said = {key.lower() for key, _ in more}
        every = [*kept, *framed.items()]
        return (*((key, value) for key, value in every if key.lower() not in said), *more)

    def _gaps(self, count: int) -> list[int]:
        """The first piece comes when one did; the others follow evenly until the recorded end."""
        answer, recorded = self._exchange.answer, self.recorded
        took = max(0, answer.mono_ns - self._exchange.question.mono_ns) if answer is not None else 0
        if not count:
            return []
        first = min(recorded.gaps[0] * 1000, took) if recorded is not None and recorded.gaps else took // 2
        return [first, *[(took - first) // count] * (count - 1)]


def _reason(status: int) -> str:
    from http import HTTPStatus

    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def as_reply(speaker: Speaker, status: int, body: Any) -> Reply:
    """A reply with this body: text as it stands, anything else as JSON."""
    if isinstance(body, str):
        kind = "application/json" if body[:1] in ("{", "[") else "text/plain; charset=utf-8"
        return speaker.raw(status, body.encode(), kind)
    return speaker.raw(status, msgspec.json.encode(body), "application/json")
