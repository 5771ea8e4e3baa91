"""Functions that are named on the command line: ``module:function`` or ``file.py:function``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from playhead.errors import UsageError
from playhead.eventlog import printable


def load_function(named: str) -> Callable[..., Any]:
    """The function of this name. Its module or file is run, as an import does.

    Raises `UsageError` where there is none, or the module fails.
    """
    place, sign, path = named.rpartition(":")
    if not sign or not place or not path:
        raise _unusable(named, "it is not of the form module:function or file.py:function")
    try:
        found: Any = _load_file(Path(place)) if place.endswith(".py") else _load_module(place)
    except FileNotFoundError:
        raise _unusable(named, f"there is no file {place}") from None
    except Exception as error:
        raise _unusable(named, f"{type(error).__name__}: {error}") from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise _unusable(named, f"{place} has no {path}")
        found = getattr(found, part)
    if not callable(found):
        raise _unusable(named, "it is no function")
    return found  # type: ignore[no-any-return]


def _load_module(name: str) -> Any:
    if "" not in sys.path:
        sys.path.insert(0, "")
    return importlib.import_module(name)


def _load_file(path: Path) -> Any:
    path = path.absolute()
    if not path.is_file():
        raise FileNotFoundError(path)
    spec = spec_from_file_location(f"playhead_checks_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec.loader.exec_module(module)
    return module


def _unusable(named: str, why: str) -> UsageError:
    return UsageError(
        f"{printable(named)} cannot be used: {printable(why, limit=600)}",
        next="playhead bisect RUN --check checks.py:my_check",
    )
