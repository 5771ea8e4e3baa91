"""What `playhead doctor` looks at in an installation."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Final, Literal

import msgspec

from playhead._version import __version__
from playhead.errors import PlayheadError, PlayheadWarning
from playhead.eventlog import counted
from playhead.stores import LocalStore

Grade = Literal["good", "note", "bad"]

_TRANSPORTS: Final = {
    "httpx": ("httpx", "httpx"),
    "httpx2": ("httpx", "httpx2"),
    "urllib3": ("urllib3", "urllib3"),
    "requests": ("urllib3", "requests"),
    "aiohttp": ("aiohttp", "aiohttp"),
    "websockets": ("websockets", "websockets"),
}
"""A client library: the integration that stands in it, and what it is called where packages are installed."""

_SDKS: Final = {"openai": "openai", "anthropic": "anthropic", "google.genai": "google-genai"}


class Check(msgspec.Struct, frozen=True):
    """One thing that was looked at, what was found, and what to do about it."""

    grade: Grade
    name: str
    found: str
    fix: str | None = None


def check_all(store: LocalStore) -> Iterator[Check]:
    """Look at everything. Imports the client libraries that are installed."""
    yield _python()
    yield Check("good", "playhead", f"{__version__} in {os.path.dirname(os.path.dirname(__file__))}")
    yield _re2()
    yield _zstd()
    yield _ctypes()
    yield _store(store)
    yield from _transports()
    yield from _sdks()
    if find_spec("uvloop") is not None:
        yield Check("note", "uvloop", "installed: its own connections are not seen by the network guard in a replay")


def _python() -> Check:
    name = f"{platform.python_implementation()} {platform.python_version()} at {sys.executable}"
    if (3, 11) <= sys.version_info[:2] <= (3, 14) and platform.python_implementation() == "CPython":
        return Check("good", "Python", name)
    return Check("note", "Python", name, "playhead is tested on CPython 3.11 to 3.14")


def _re2() -> Check:
    if find_spec("re2") is not None:
        return Check("good", "masking", "RE2")
    return Check("note", "masking", "the standard library's re: several times slower", "pip install google-re2")


def _zstd() -> Check:
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    try:
        import_module(name)
    except ImportError as error:
        return Check("bad", "compression", f"{name} cannot be imported: {error}", "pip install backports.zstd")
    return Check("good", "compression", name)


def _ctypes() -> Check:
    try:
        import ctypes

        ctypes.pythonapi.PyType_Modified  # noqa: B018
    except (ImportError, AttributeError):
        return Check(
            "note",
            "datetime",
            "not replaceable in this interpreter: datetime.now() is not recorded",
            "read the clock with playhead.now()",
        )
    return Check("good", "datetime", "datetime.now() and its like can be recorded")


def _store(store: LocalStore) -> Check:
    there = store.path.exists()
    try:
        store.mask_key()
        probe = store.create(f"doctor-{os.getpid()}", "doctor")
        probe.abandon()
        probe.path.unlink()
    except PlayheadError as error:
        return Check("bad", "store", error.message, "name another one with --store or PLAYHEAD_STORE")
    runs = sum(1 for _ in store.list())
    return Check(
        "good", "store", f"{store.path.absolute()}, writable, {counted(runs, 'run')}" + ("" if there else ", new")
    )


def _transports() -> Iterator[Check]:
    for module, (integration, distribution) in _TRANSPORTS.items():
        if find_spec(module) is None:
            continue
        trouble = _try(partial(_stand_in, module, integration))
        if trouble is None:
            yield Check("good", module, f"{_version(distribution)}, recorded")
        else:
            yield Check(
                "bad",
                module,
                f"{_version(distribution)} has another inside than the known versions: {trouble}",
                f"its calls may not be recorded; pip install another version of {distribution}",
            )


def _stand_in(module: str, integration: str) -> None:
    from playhead.boundary import Patches

    import_module(module)
    patches = Patches()
    try:
        import_module(f"playhead.integrations.{integration}").install(patches)
    finally:
        patches.undo()


def _sdks() -> Iterator[Check]:
    for module, distribution in _SDKS.items():
        try:
            there = find_spec(module) is not None
        except ModuleNotFoundError:
            there = False
        if there:
            yield Check("good", module, _version(distribution))


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "of no known version"


def _try(work: Callable[[], None]) -> str | None:
    """Why ``work`` did not go well, or ``None``."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error", PlayheadWarning)
        try:
            work()
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return None
