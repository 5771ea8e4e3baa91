"""The bodies of HTTP messages, in the forms a recording keeps them.

A body is kept in the most telling form that gives the same bytes back: JSON as JSON together with the style
it was written in, text as text, anything else as bytes. A stream of a known kind is kept merged. A body that
was compressed on the way is kept plain, with what is needed to compress it again.

The forms (``form`` is always there)::

    {"form": "json",   "value": …, "style": "compact"[, "tail": "\\n"]}
    {"form": "text",   "text": "…"}
    {"form": "bytes",  "data": "<base64>"}
    {"form": "stream", "provider": "…", "final": …, "shape": …}

with, where they apply, ``"cuts"`` (lengths in bytes of the pieces it came in, more than one) and
``"encoding"`` (``{"name": "gzip", "level": 6}``; with ``"wire"``, the compressed bytes themselves in base64,
where compressing again gives others).
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from playhead.errors import ValueRefusedError
from playhead.providers._json_text import Unmergeable, load
from playhead.providers._merge import merge_stream, play_stream

_STYLES: Mapping[str, dict[str, Any]] = {
    "spaced": {"ensure_ascii": False},
    "ascii": {"ensure_ascii": True, "separators": (",", ":")},
    "spaced-ascii": {"ensure_ascii": True},
    "indent-2": {"ensure_ascii": False, "indent": 2},
    "indent-4": {"ensure_ascii": False, "indent": 4},
    "indent-2-ascii": {"ensure_ascii": True, "indent": 2},
}


def encode_content(
    pieces: Sequence[bytes],
    *,
    content_type: str,
    encoding: str = "",
    provider: str | None = None,
    complete: bool = True,
) -> dict[str, Any]:
    """The form in which a recording keeps a body that came in ``pieces`` as they were on the wire.

    ``provider`` is the model provider whose stream this may be; ``complete`` says whether the end was seen.
    """
    wire = b"".join(pieces)
    plain, recipe = _unpack(wire, encoding, exact=provider is None)
    form = None
    if "event-stream" in content_type:
        form = _as_stream([plain] if recipe else pieces, provider or "sse", content_type, complete=complete)
    if form is None:
        form = encode_plain(plain)
        if len(pieces) > 1:
            form["cuts"] = [len(piece) for piece in pieces]
    if recipe is not None:
        form["encoding"] = recipe
    return form


def decode_content(content: Mapping[str, Any]) -> list[bytes]:
    """The pieces of a body again, as they are to be given to a client that expects them on the wire.

    Raises `ValueRefusedError` where ``content`` is not one of the forms.
    """
    try:
        recipe = content.get("encoding")
        if content["form"] == "stream":
            pieces = play_stream(content["provider"], content["final"], content["shape"])
            return [_pack(b"".join(pieces), recipe)] if recipe else pieces
        plain = decode_plain(content)
        return _cut(_pack(plain, recipe) if recipe else plain, content.get("cuts"))
    except (KeyError, TypeError, AttributeError, binascii.Error) as error:
        raise ValueRefusedError(f"a recorded body is not in a form known here: {error!r}") from error


def encode_plain(plain: bytes) -> dict[str, Any]:
    """The most telling form of uncompressed bytes."""
    form = _as_json(plain) if plain[:1] in (b"{", b"[") else None
    if form is not None:
        return form
    try:
        return {"form": "text", "text": plain.decode("utf-8")}
    except UnicodeDecodeError:
        return {"form": "bytes", "data": base64.b64encode(plain).decode("ascii")}


def decode_plain(content: Mapping[str, Any]) -> bytes:
    """The uncompressed bytes of a ``json``, ``text`` or ``bytes`` form."""
    match content["form"]:
        case "json":
            return _write_json(content["value"], content["style"]) + str(content.get("tail", "")).encode()
        case "text":
            return str(content["text"]).encode("utf-8")
        case "bytes":
            return base64.b64decode(content["data"])
        case form:
            raise ValueRefusedError(f"a recorded body has the unknown form {form!r}")


def read_json(content: Mapping[str, Any] | None) -> Any:
    """The JSON that a body says, in whichever form it is kept; ``None`` where it says none."""
    match (content or {}).get("form"):
        case "json":
            return content["value"]  # type: ignore[index]
        case "stream":
            return content["final"]  # type: ignore[index]
        case "text":
            return _read_text(str(content["text"]))  # type: ignore[index]
        case _:
            return None


def _read_text(text: str) -> Any:
    """The JSON of a text that is kept as it came, since nobody whom we know writes JSON like that."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return load(text.strip(), "p")[0]
    except (Unmergeable, ValueError, RecursionError):
        return None


def _as_stream(pieces: Sequence[bytes], provider: str, content_type: str, *, complete: bool) -> dict[str, Any] | None:
    merged = merge_stream(provider, content_type, pieces, complete=complete)
    if merged is None:
        return None
    return {"form": "stream", "provider": provider, "final": merged.final, "shape": merged.shape}


def _as_json(plain: bytes) -> dict[str, Any] | None:
    body = plain.rstrip(b"\r\n")
    tail = plain[len(body) :]
    try:
        value = msgspec.json.decode(body)
        style = next((name for name in ("compact", *_STYLES) if _write_json(value, name) == body), None)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError):
        return None
    if style is None:
        return None
    form = {"form": "json", "value": value, "style": style}
    return {**form, "tail": tail.decode()} if tail else form


def _write_json(value: Any, style: str) -> bytes:
    if style == "compact":
        return msgspec.json.encode(value)
    return json.dumps(value, **_STYLES[style]).encode("utf-8")


def _cut(wire: bytes, cuts: Sequence[int] | None) -> list[bytes]:
    """``wire`` in pieces of the lengths recorded; where a mask changed the length, the last piece takes it."""
    if not cuts:
        return [wire] if wire else []
    pieces, start = [], 0
    for length in cuts[:-1]:
        pieces.append(wire[start : start + length])
        start += length
    return [*pieces, wire[start:]]


def _unpack(wire: bytes, encoding: str, *, exact: bool) -> tuple[bytes, dict[str, Any] | None]:
    """The plain bytes and how to compress them again; ``None`` where they are not compressed, or not readably.

    ``exact`` asks for the same compressed bytes later, not only for the same plain ones.
    """
    name = encoding.strip().lower()
    plain = _decompress(wire, name) if name and wire else None
    if plain is None:
        return wire, None
    for level in (6, 9, 1, 4):
        recipe: dict[str, Any] = {"name": name, "level": level}
        if _pack(plain, recipe) == wire:
            return plain, recipe
    recipe = {"name": name}
    if exact:
        recipe["wire"] = base64.b64encode(wire).decode("ascii")
    return plain, recipe


def _decompress(wire: bytes, name: str) -> bytes | None:
    try:
        match name:
            case "gzip" | "x-gzip":
                return zlib.decompress(wire, 16 + zlib.MAX_WBITS)
            case "deflate":
                return zlib.decompress(wire, zlib.MAX_WBITS if wire[0] & 15 == 8 else -zlib.MAX_WBITS)
            case "br":
                import brotli

                return bytes(brotli.decompress(wire))
            case "zstd":
                return bytes(_zstd().decompress(wire))
            case _:
                return None
    except Exception:  # a body that only claims to be compressed is kept as it came
        return None


def _pack(plain: bytes, recipe: Mapping[str, Any]) -> bytes:
    if "wire" in recipe:
        return base64.b64decode(recipe["wire"])
    level = recipe.get("level", 6)
    match recipe["name"]:
        case "gzip" | "x-gzip":
            packer = zlib.compressobj(level, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
            return packer.compress(plain) + packer.flush()
        case "deflate":
            return zlib.compress(plain, level)
        case "br":
            import brotli

            return bytes(brotli.compress(plain, quality=level))
        case "zstd":
            return bytes(_zstd().compress(plain, level))
        case name:
            raise ValueRefusedError(f"a recorded body was compressed with {name!r}, which is not known here")


def _zstd() -> Any:
    try:
        from compression import zstd
    except ImportError:
        from backports import zstd
    return zstd
