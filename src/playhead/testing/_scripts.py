"""What a scripted model server answers next."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from playhead.providers.writing import Answer, Request

__all__ = ["OutOfAnswersError", "Script", "ScriptReader"]

Script: TypeAlias = "Answer | Sequence[Answer] | Callable[[Request], Answer] | Mapping[str, Script]"
"""One answer for everything; answers to be used in order; a function of the request; or a script for each model.

In a mapping the key ``"*"`` stands for every model that is not named.
"""


class OutOfAnswersError(LookupError):
    """The script has nothing to say to a request."""


class ScriptReader:
    """Hands out the answers of a script, each answer of a sequence once, to any number of threads."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._given = 0
        self._lock = threading.Lock()
        self._by_model: dict[str, ScriptReader] = {}
        if isinstance(script, Mapping):
            self._by_model = {model: ScriptReader(part) for model, part in script.items()}

    def answer(self, request: Request) -> Answer:
        """The answer to ``request``. Raises `OutOfAnswersError` when the script has none."""
        script = self._script
        if isinstance(script, Answer):
            return script
        if isinstance(script, Mapping):
            reader = self._by_model.get(request.model or "*") or self._by_model.get("*")
            if reader is None:
                raise OutOfAnswersError(f"the script knows {sorted(self._by_model)} but not {request.model!r}")
            return reader.answer(request)
        if callable(script):
            return script(request)
        with self._lock:
            if self._given == len(script):
                raise OutOfAnswersError(f"the script has no answer left; it had {len(script)}")
            self._given += 1
            return script[self._given - 1]
