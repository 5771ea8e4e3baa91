"""The mask of a run, from its settings."""

from __future__ import annotations

import importlib
import warnings

from playhead._configuration import Settings
from playhead.errors import ConfigurationError, PlayheadWarning
from playhead.masking import Masker, Rule, default_rules


def make_masker(settings: Settings, key: bytes) -> Masker:
    """The masker with the rules of the field and those of ``settings``; warns of secrets that are too short to mask."""
    own = tuple(_rule(mask.name, mask.pattern, mask.function) for mask in settings.masks)
    masker = Masker(key=key, rules=(*default_rules(), *own) if own else None, secrets=settings.secrets)
    for refused in masker.refused:
        warnings.warn(f"playhead: {refused}", PlayheadWarning, stacklevel=3)
    return masker


def _rule(name: str, pattern: str | None, function: str | None) -> Rule:
    if (pattern is None) == (function is None):
        raise ConfigurationError(
            f"the mask {name!r} needs either a pattern or a function", next="playhead help configuration"
        )
    if pattern is not None:
        return Rule(name, pattern=pattern)
    module, _, attribute = str(function).partition(":")
    try:
        return Rule(name, find=getattr(importlib.import_module(module), attribute))
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(
            f"the function {function!r} of the mask {name!r} was not found: {error}",
            next="playhead help configuration",
        ) from None
