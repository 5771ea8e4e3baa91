"""The lines of a recording: written here, read here.

History of the format:

1   first release.

``docs/reference/event-log-format.md`` describes it byte by byte.
"""

from __future__ import annotations

import re
import shlex
from functools import cache
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import astuple

from playhead._version import __version__
from playhead.errors import CorruptRecordingError, HostileRecordingError, NewerFormatError, NotARecordingError
from playhead.eventlog._printing import printable
from playhead.events import BODIES, Event

FORMAT: Final = 1
"""The format that this version writes, and the newest it reads."""

LIVE_SUFFIX: Final = ".playhead.jsonl"
SEALED_SUFFIX: Final = ".playhead"

HEADER_LIMIT: Final = 64 * 1024
"""Bytes a header line may have."""

UNNAMED: Final = "this recording"
"""What messages call a recording that is not in a file."""

BODY_KEY: Final = b',"body":'
ERASED_KEY: Final = b',"erased":"'
SALT_LENGTH: Final = 16
SALT_END: Final = len('{"salt":"') + SALT_LENGTH + 1
"""Bytes of a body up to and including the quote that ends its salt."""

_SALTED: Final = BODY_KEY + b'{"salt":"'
_SALTED_END: Final = len(BODY_KEY) + SALT_END - 1
_AFTER_SALT: Final = (b'",', b'"}')

_KIND = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_-]+)+")


class Header(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The first line of a recording.

    ``playhead`` is the number of the format, ``created_ns`` wall clock nanoseconds, ``mask_key`` the id (not
    the value) of the key that the placeholders of masks were made with. ``starter`` is the run whose program started
    this one as a child process.
    """

    playhead: int = msgspec.field(default_factory=lambda: FORMAT)
    run: str
    kind: str
    writer: str = msgspec.field(default_factory=lambda: f"playhead {__version__}")
    created_ns: int
    task: str | None = None
    mask_key: str | None = None
    starter: str | None = None


class Head(msgspec.Struct, frozen=True):
    """Where a chain stands: after ``count`` events its last link is ``head`` (hexadecimal).

    Kept somewhere else than the recording, it proves that no tail was dropped.
    """

    count: int
    head: str


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much a reader takes before it calls a recording hostile. Sizes are bytes of plain text."""

    line: int = 256 * 1024 * 1024
    plain: int = 8 * 1024 * 1024 * 1024
    ratio: int = 2000
    """Plain bytes for each compressed one, once there are more than 64 MiB."""
    events: int = 20_000_000
    resolved: int = 1024 * 1024 * 1024
    """What one body may come to when each part in it is written out."""
    depth: int = 800
    """How deeply lists and objects may be nested once parts are in place."""


LIMITS: Final = Limits()


class EventLine(msgspec.Struct, frozen=True):
    """What an event line says before its body."""

    seq: int
    kind: str
    lane: str
    at_ns: int
    mono_ns: int
    of: int | None = None
    causes: tuple[int, ...] = ()


class Mark(msgspec.Struct, frozen=True):
    """What a mark line says: the ``mark``-th, after ``count`` events, with the chain's head there.

    Mark 0 stands right after the header.
    """

    mark: int
    count: int
    head: str


class Split(msgspec.Struct, frozen=True, gc=False):
    """An event line taken apart: what the chain hashes."""

    prefix: bytes
    body: bytes | None
    """The body's text, or ``None`` where it was erased."""
    digest: str | None = None
    """The digest that stands in an erased body's place."""


_header_decoder = msgspec.json.Decoder(Header)
_line_decoder = msgspec.json.Decoder(EventLine)
_mark_decoder = msgspec.json.Decoder(Mark)


def encode_header(header: Header) -> bytes:
    """The header line, without its newline."""
    return msgspec.json.encode(header)


def decode_header(line: bytes, *, name: str) -> Header:
    """Read a first line; ``name`` is the recording's in error messages.

    Raises `NotARecordingError`, or `NewerFormatError` where a later version wrote it.
    """
    if not line:
        raise _not_a_recording(name, "its first line is not there or not whole")
    if not line.startswith(b'{"playhead":'):
        raise _not_a_recording(name, "it does not begin with a playhead header")
    try:
        version = msgspec.json.decode(line, type=dict[str, object]).get("playhead")
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _not_a_recording(name, "its header line is not JSON") from error
    if isinstance(version, int) and version > FORMAT:
        raise newer_format(name, version, line)
    try:
        return _header_decoder.decode(line)
    except msgspec.MsgspecError as error:
        raise _not_a_recording(name, f"its header is not complete ({printable(str(error))})") from error


def newer_format(name: str, version: int, line: bytes) -> NewerFormatError:
    """The error for a recording of a later format, with the writer's own name where it can be read."""
    try:
        writer = str(msgspec.json.decode(line, type=dict[str, object]).get("writer", "a later playhead"))
    except (msgspec.MsgspecError, RecursionError):
        writer = "a later playhead"
    return NewerFormatError(
        f"{printable(name)} is in format {version}, written by {printable(writer)}; "
        f"this is playhead {__version__}, which reads formats up to {FORMAT}",
        next="pip install --upgrade playhead",
        facts={"format": version, "writer": writer, "reads": FORMAT},
    )


def _not_a_recording(name: str, why: str) -> NotARecordingError:
    return NotARecordingError(f"{printable(name)} is not a recording: {why}", next="playhead runs")


def check_kind(kind: str) -> None:
    """Raise `ValueError` unless ``kind`` has the form of a kind, such as ``tool.called`` or ``x.mine``."""
    if len(kind) > 100 or _KIND.fullmatch(kind) is None:
        raise ValueError(f"not a kind of event: {kind!r}")


def encode_prefix(
    *, seq: int, kind: str, lane: bytes, at_ns: int, mono_ns: int, of: int | None, causes: tuple[int, ...]
) -> bytes:
    """An event line up to its body. ``lane`` is JSON text."""
    prefix = b'{"seq":%d,"kind":"%b","lane":%b,"at_ns":%d,"mono_ns":%d' % (seq, kind.encode(), lane, at_ns, mono_ns)
    if of is not None:
        prefix += b',"of":%d' % of
    if causes:
        prefix += b',"causes":[%b]' % b",".join(b"%d" % cause for cause in causes)
    return prefix


def encode_mark(mark: Mark) -> bytes:
    """A mark line, without its newline."""
    return b'{"mark":%d,"count":%d,"head":"%b"}' % (mark.mark, mark.count, mark.head.encode())


def encode_erased(prefix: bytes, digest: str) -> bytes:
    """An event line whose body is gone, without its newline."""
    return prefix + ERASED_KEY + digest.encode() + b'"}'


def decode_mark(line: bytes) -> Mark | None:
    """Read a mark line; ``None`` where it is not exactly one."""
    try:
        mark = _mark_decoder.decode(line)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return mark if encode_mark(mark) == line else None


def find_body(line: bytes) -> int | None:
    """Where the key of the body stands in an event line; ``None`` where there is no body, or not a whole one.

    The first ``,"body":`` is the body's key, since a quote inside a JSON string is escaped and nothing before
    the body holds an object.
    """
    at = line.find(BODY_KEY)
    return at if at >= 0 and line[-2:] == b"}}" and line.startswith(b"{", at + len(BODY_KEY)) else None


def split_line(line: bytes) -> Split | None:
    """Take an event line apart; ``None`` where it does not have the form."""
    at = find_body(line)
    if at is not None:
        return Split(line[:at], line[at + len(BODY_KEY) : -1])
    if BODY_KEY in line:
        return None
    at = line.find(ERASED_KEY)
    digest = line[at + len(ERASED_KEY) : -2]
    if at < 0 or len(digest) != 64 or line[-2:] != b'"}' or digest.strip(b"0123456789abcdef"):
        return None
    return Split(line[:at], None, digest.decode())


def decode_prefix(prefix: bytes) -> EventLine:
    """Read what stands before the body. Raises `msgspec.MsgspecError` where it is not a header of an event."""
    return _line_decoder.decode(prefix + b"}")


def decode_event(line: bytes, kind: str) -> Event | None:
    """The event of a line, in one go where it is plain: known, nothing escaped, nothing to be put in place.

    ``None`` where it is not, or is damaged: whoever takes it apart finds out.
    """
    if b"$" in line or b"\\" in line or line.count(b'"body"') != 1 or kind not in BODIES:
        return None
    at = line.find(_SALTED)
    if at < 0 or line[-2:] != b"}}" or line[at + _SALTED_END : at + _SALTED_END + 2] not in _AFTER_SALT:
        return None
    try:
        whole = _whole_decoder(kind).decode(line)
    except (msgspec.MsgspecError, RecursionError):
        return None
    if whole.kind != kind:
        return None
    return Event(*astuple(whole))


@cache
def _whole_decoder(kind: str) -> msgspec.json.Decoder[Any]:
    """Its struct has the fields of an `Event`, in that order."""
    fields = [(field.name, field.type, field.default) for field in msgspec.structs.fields(EventLine)]
    before, after = [field[:2] for field in fields[:-2]], fields[-2:]
    whole = msgspec.defstruct(
        "WholeLine", [*before, ("body", BODIES[kind]), *after], forbid_unknown_fields=True, gc=False
    )
    return msgspec.json.Decoder(whole)


def has_salt(body: bytes) -> bool:
    """Whether a body opens with its salt."""
    return body.startswith(b'{"salt":"') and body[SALT_END - 1 : SALT_END + 1] in _AFTER_SALT


def unsalted(body: bytes) -> bytes:
    """The body as it was handed to the writer."""
    return b"{" + body[SALT_END + 1 :] if body[SALT_END : SALT_END + 1] == b"," else b"{}"


def corrupt(name: str, why: str, **facts: object) -> CorruptRecordingError:
    """The error for damage; ``why`` says where."""
    return CorruptRecordingError(f"{printable(name)} is damaged: {why}", next=_verify_command(name), facts=facts)


def hostile(name: str, why: str, **facts: object) -> HostileRecordingError:
    """The error for a recording that would harm its reader; ``why`` says how."""
    message = f"{printable(name)} was not read further: {why}"
    return HostileRecordingError(message, next=_verify_command(name), facts=facts)


def _verify_command(name: str) -> str:
    return f"playhead verify {'RUN' if name == UNNAMED else shlex.quote(printable(name))}"


Form = Literal["plain", "zstd"]
"""The two forms of a recording; their lines are the same."""
