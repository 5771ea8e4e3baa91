"""Settings: the default, then a file, then the environment, then an argument; the last one wins.

Nothing here is process-wide state: settings are read when a run or a replay begins.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from playhead._system import ENVIRONMENT
from playhead.errors import ConfigurationError

_PREFIX = "PLAYHEAD_"


class Mask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mask of one's own: ``pattern`` (RE2 syntax) or ``function`` (``module:function``), under a name."""

    name: str
    pattern: str | None = None
    function: str | None = None


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All settings. Each is described in ``docs/reference/configuration.md``."""

    store: str | None = None
    durability: Literal["group", "every"] = "group"
    ignore_hosts: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    secret_variables: tuple[str, ...] = ()
    masks: tuple[Mask, ...] = ()
    own_code: tuple[str, ...] = ()
    foreign_code: tuple[str, ...] = ()
    normalisers: tuple[str, ...] = ()
    base: str = "."
    """The folder of the file that was read; relative paths start from there."""


def read_settings(folder: Path | None = None, **arguments: Any) -> Settings:
    """The settings that hold in ``folder`` (the current one); ``arguments`` that are not ``None`` win.

    Raises `ConfigurationError` for a name or a value that is not known.
    """
    base, found = _read_files((folder or Path.cwd()).absolute())
    values = {**found, **_read_variables(), **{key: value for key, value in arguments.items() if value is not None}}
    try:
        settings = msgspec.convert({**values, "base": str(base)}, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise ConfigurationError(
            f"a setting of playhead is not usable: {error}", next="playhead help configuration"
        ) from None
    known = tuple(ENVIRONMENT[name] for name in settings.secret_variables if ENVIRONMENT.get(name))
    return msgspec.structs.replace(settings, secrets=settings.secrets + known)


def host_matcher(patterns: tuple[str, ...]) -> Callable[[str], bool] | None:
    """Whether a host (``name`` or ``name:port``) is among ``patterns``, in which ``*`` stands for anything."""
    if not patterns:
        return None

    def matches(host: str) -> bool:
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        return any(fnmatchcase(host, pattern) or fnmatchcase(name, pattern) for pattern in patterns)

    return matches


def _read_files(folder: Path) -> tuple[Path, dict[str, Any]]:
    for place in (folder, *folder.parents):
        for name, table in (("playhead.toml", ()), ("pyproject.toml", ("tool", "playhead"))):
            found = _read_table(place / name, table)
            if found is not None:
                return place, found
    return folder, {}


def _read_table(path: Path, table: tuple[str, ...]) -> dict[str, Any] | None:
    try:
        content: Any = _parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # no UTF-8, or no TOML
        if not table:
            raise ConfigurationError(f"{path.name} cannot be read: {error}", next=f"open {path.name}") from None
        return None  # another tool's file: whether it is well formed is not ours to say
    for key in table:
        content = content.get(key) if isinstance(content, dict) else None
    return content if isinstance(content, dict) else None


@lru_cache(maxsize=4)
def _parse(text: str) -> dict[str, Any]:
    """The same text is read over and over, once for each run, and parsing it takes longer than all else."""
    import tomllib  # most projects have no file to be read

    return tomllib.loads(text)


def _read_variables() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(Settings):
        text = ENVIRONMENT.get(_PREFIX + field.name.upper())
        if text and field.name not in ("base", "masks"):
            many = field.default == () or isinstance(field.default, tuple)
            found[field.name] = [part.strip() for part in text.split(",") if part.strip()] if many else text
    return found
