"""Tags of values that hold no others: numbers, texts, times, paths and the like.

Each has its encoder beside its decoder. An encoder gives the fields that go beside ``"$t"``.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import re
import uuid
from collections.abc import Callable, Mapping
from typing import Any

Encode = Callable[[Any], Any]
Tree = dict[str, Any]

INT_LOW, INT_HIGH = -(2**63), 2**64
"""Whole numbers from the first up to before the second are written as JSON numbers, others as hexadecimal text."""

_SURROGATES = re.compile("([\ud800-\udfff])")
_ZONE_KEY = re.compile(r"[A-Za-z0-9_+-]{1,64}(/[A-Za-z0-9_+-]{1,64}){0,4}")
_FRACTION_TEXT = 20_000


def encode_int(value: int) -> Tree:
    return {"$t": "int", "v": hex(value)}


def decode_int(tree: Tree) -> int:
    text = tree["v"]
    if type(text) is not str or not re.fullmatch("-?0x[0-9a-f]+", text):
        raise ValueError("not hexadecimal")
    return int(text, 16)


def encode_float(value: float) -> Tree:
    return {"$t": "float", "v": repr(value)}


def decode_float(tree: Tree) -> float:
    return {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}[tree["v"]]


def is_well_formed(text: str) -> bool:
    """Whether a text has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_plain_keys: set[str] = set()
_PLAIN_KEYS, _PLAIN_KEY_LENGTH = 4096, 64
_TEXT = frozenset({str})


def keys_are_plain(keys: Mapping[Any, Any]) -> bool:
    """Whether all keys can be keys of JSON as they are: well-formed text that does not begin with ``$``."""
    if not _TEXT.issuperset(map(type, keys)):
        return False
    # Programs use the same few keys over and over: one look at the set tells about all keys of a dict.
    if _plain_keys.issuperset(keys):
        return True
    if any(key[:1] == "$" or not (key.isascii() or is_well_formed(key)) for key in keys):
        return False
    if len(_plain_keys) < _PLAIN_KEYS:
        _plain_keys.update(key for key in keys if len(key) <= _PLAIN_KEY_LENGTH)
    return True


def encode_text(value: str) -> Tree:
    """A text with lone surrogates, which UTF-8 cannot hold: its pieces, with the surrogates as numbers."""
    pieces = _SURROGATES.split(value)
    return {"$t": "str", "v": [ord(piece) if i % 2 else piece for i, piece in enumerate(pieces) if piece]}


def decode_text(tree: Tree) -> str:
    return "".join(piece if type(piece) is str else _surrogate(piece) for piece in _a(list, tree["v"]))


def _surrogate(code: Any) -> str:
    if type(code) is not int or not 0xD800 <= code <= 0xDFFF:
        raise ValueError("not a surrogate")
    return chr(code)


def encode_bytes(value: bytes | bytearray) -> Tree:
    """Bytes as the text they are, where they are text, so that people, masks and zstd can see it."""
    tag = "bytes" if type(value) is bytes else "bytearray"
    if b"\0" not in value:
        try:
            return {"$t": tag, "utf8": value.decode()}
        except UnicodeDecodeError:
            pass
    return {"$t": tag, "base64": base64.b64encode(value).decode()}


def decode_bytes(tree: Tree) -> bytes:
    if "utf8" in tree:
        return bytes(_a(str, tree["utf8"]).encode())
    return base64.b64decode(_a(str, tree["base64"]), validate=True)


def encode_datetime(value: datetime.datetime, encode: Encode) -> Tree:
    tree: Tree = {"$t": "datetime", "v": value.replace(tzinfo=None).isoformat()}
    return _with_zone(tree, value, encode)


def encode_time(value: datetime.time, encode: Encode) -> Tree:
    tree: Tree = {"$t": "time", "v": value.replace(tzinfo=None).isoformat()}
    return _with_zone(tree, value, encode)


def _with_zone(tree: Tree, value: datetime.datetime | datetime.time, encode: Encode) -> Tree:
    if value.fold:
        tree["fold"] = 1
    if value.tzinfo is not None:
        tree["tz"] = encode(value.tzinfo)
    return tree


def decode_datetime(tree: Tree, decode: Encode) -> datetime.datetime:
    value = datetime.datetime.fromisoformat(_a(str, tree["v"]))
    return value.replace(tzinfo=_zone(tree, decode), fold=int(tree.get("fold", 0)))


def decode_time(tree: Tree, decode: Encode) -> datetime.time:
    value = datetime.time.fromisoformat(_a(str, tree["v"]))
    return value.replace(tzinfo=_zone(tree, decode), fold=int(tree.get("fold", 0)))


def _zone(tree: Tree, decode: Encode) -> datetime.tzinfo | None:
    zone = decode(tree["tz"]) if "tz" in tree else None
    if zone is not None and not isinstance(zone, datetime.tzinfo):
        raise ValueError("not a time zone")
    return zone


def encode_timezone(value: datetime.timezone) -> Tree:
    offset, *name = value.__getinitargs__()  # type: ignore[attr-defined]
    tree: Tree = {"$t": "timezone", "v": _parts(offset)}
    if name:
        tree["name"] = name[0]
    return tree


def decode_timezone(tree: Tree) -> datetime.timezone:
    offset = datetime.timedelta(*_whole(tree["v"], 3))
    if "name" in tree:
        return datetime.timezone(offset, _a(str, tree["name"]))
    return datetime.timezone(offset)


def _parts(value: datetime.timedelta) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


def decode_zone(tree: Tree) -> datetime.tzinfo:
    key = _a(str, tree["v"])
    if not _ZONE_KEY.fullmatch(key):
        raise ValueError("not the name of a time zone")
    import zoneinfo

    return zoneinfo.ZoneInfo(key)


def decode_decimal(tree: Tree) -> decimal.Decimal:
    text = _a(str, tree["v"])
    value = decimal.Decimal(text)
    if str(value) != text:
        raise ValueError("not a decimal number")
    return value


def decode_uuid(tree: Tree) -> uuid.UUID:
    text = _a(str, tree["v"])
    if len(text) != 36:
        raise ValueError("not a UUID")
    return uuid.UUID(text)


def decode_fraction(tree: Tree) -> Any:
    from fractions import Fraction

    top, bottom = _a(list, tree["v"])
    if max(len(_a(str, top)), len(_a(str, bottom))) > _FRACTION_TEXT:
        raise ValueError("too big a fraction")
    return Fraction(decode_int({"v": top}), decode_int({"v": bottom}))


def decode_path(tree: Tree, decode: Encode) -> Any:
    import pathlib

    cls = {name: getattr(pathlib, name) for name in _PATHS}[tree["class"]]
    return cls(_a(str, decode(tree["v"])))


def decode_address(tree: Tree) -> Any:
    import ipaddress

    cls = {name: getattr(ipaddress, name) for name in _ADDRESSES}[tree["class"]]
    return cls(_a(str, tree["v"]))


def decode_constant(tree: Tree) -> Any:
    return {"Ellipsis": Ellipsis, "NotImplemented": NotImplemented}[tree["v"]]


def _whole(value: Any, count: int) -> list[int]:
    if type(value) is not list or len(value) != count or any(type(part) is not int for part in value):
        raise ValueError("not whole numbers")
    return value


def _a(cls: type, value: Any) -> Any:
    if type(value) is not cls:
        raise ValueError(f"not of type {cls.__name__}")
    return value


_PATHS = ("PosixPath", "PurePosixPath", "PureWindowsPath", "WindowsPath")
_ADDRESSES = ("IPv4Address", "IPv4Interface", "IPv4Network", "IPv6Address", "IPv6Interface", "IPv6Network")

ENCODERS: dict[type, Callable[[Any, Encode], Tree | None]] = {
    bytes: lambda value, encode: encode_bytes(value),
    bytearray: lambda value, encode: encode_bytes(value),
    complex: lambda value, encode: {"$t": "complex", "v": [encode(value.real), encode(value.imag)]},
    range: lambda value, encode: {"$t": "range", "v": [encode(value.start), encode(value.stop), encode(value.step)]},
    datetime.date: lambda value, encode: {"$t": "date", "v": value.isoformat()},
    datetime.datetime: encode_datetime,
    datetime.time: encode_time,
    datetime.timedelta: lambda value, encode: {"$t": "timedelta", "v": _parts(value)},
    datetime.timezone: lambda value, encode: encode_timezone(value),
    decimal.Decimal: lambda value, encode: {"$t": "decimal", "v": str(value)},
    uuid.UUID: lambda value, encode: {"$t": "uuid", "v": str(value)},
    type(Ellipsis): lambda value, encode: {"$t": "constant", "v": "Ellipsis"},
    type(NotImplemented): lambda value, encode: {"$t": "constant", "v": "NotImplemented"},
}
"""By exact class. An encoder gives ``None`` for a value that it cannot keep."""


def _learn_fractions() -> None:
    from fractions import Fraction

    def encode_fraction(value: Fraction, encode: Encode) -> Tree | None:
        texts = [hex(value.numerator), hex(value.denominator)]
        return {"$t": "fraction", "v": texts} if max(map(len, texts)) <= _FRACTION_TEXT else None

    ENCODERS[Fraction] = encode_fraction


def _learn_addresses() -> None:
    import ipaddress

    for name in _ADDRESSES:
        ENCODERS[getattr(ipaddress, name)] = lambda value, encode: {
            "$t": "ip",
            "class": type(value).__name__,
            "v": str(value),
        }


def _learn_paths() -> None:
    import pathlib

    for name in _PATHS:
        ENCODERS[getattr(pathlib, name)] = lambda value, encode: {
            "$t": "path",
            "class": type(value).__name__,
            "v": encode(str(value)),
        }


def _learn_zones() -> None:
    import zoneinfo

    def encode_zone(value: zoneinfo.ZoneInfo, encode: Encode) -> Tree | None:
        key = value.key
        return {"$t": "zone", "v": key} if key and _ZONE_KEY.fullmatch(key) else None

    ENCODERS[zoneinfo.ZoneInfo] = encode_zone


_LATE: Mapping[str, Callable[[], None]] = {
    "fractions": _learn_fractions,
    "ipaddress": _learn_addresses,
    "pathlib": _learn_paths,
    "pathlib._local": _learn_paths,
    "zoneinfo": _learn_zones,
}


def encoder_of(cls: type, module: str) -> Callable[[Any, Encode], Tree | None] | None:
    """The encoder of a class, or ``None``. Standard modules that are slow to import are looked at when met."""
    found = ENCODERS.get(cls)
    if found is None and module in _LATE:
        _LATE[module]()
        found = ENCODERS.get(cls)
    return found


def decode_range(tree: Tree, decode: Encode) -> range:
    start, stop, step = (_a(int, decode(part)) for part in _a(list, tree["v"]))
    return range(start, stop, step)


def decode_complex(tree: Tree, decode: Encode) -> complex:
    real, imaginary = (_a(float, decode(part)) for part in _a(list, tree["v"]))
    return complex(real, imaginary)


DECODERS: dict[str, Callable[[Tree, Encode], Any]] = {
    "bytearray": lambda tree, decode: bytearray(decode_bytes(tree)),
    "bytes": lambda tree, decode: decode_bytes(tree),
    "complex": decode_complex,
    "constant": lambda tree, decode: decode_constant(tree),
    "date": lambda tree, decode: datetime.date.fromisoformat(_a(str, tree["v"])),
    "datetime": decode_datetime,
    "decimal": lambda tree, decode: decode_decimal(tree),
    "float": lambda tree, decode: decode_float(tree),
    "fraction": lambda tree, decode: decode_fraction(tree),
    "int": lambda tree, decode: decode_int(tree),
    "ip": lambda tree, decode: decode_address(tree),
    "path": decode_path,
    "range": decode_range,
    "str": lambda tree, decode: decode_text(tree),
    "time": decode_time,
    "timedelta": lambda tree, decode: datetime.timedelta(*_whole(tree["v"], 3)),
    "timezone": lambda tree, decode: decode_timezone(tree),
    "uuid": lambda tree, decode: decode_uuid(tree),
    "zone": lambda tree, decode: decode_zone(tree),
}
