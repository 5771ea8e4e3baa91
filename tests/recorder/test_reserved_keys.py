"""Data of the program that looks like the file's own references comes back as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import playhead
from playhead.events import decode

TRICKY: dict[str, Any] = {
    "$part": "x",
    "$list": {"of": 0, "path": [], "keep": 1, "then": []},
    "$$part": (1,),
    "$ref": "#/x",
}


def test_arguments_results_states_and_notes_may_have_any_keys(tmp_path: Path) -> None:
    @playhead.tool
    def echo(value: Any, **more: Any) -> Any:
        return [value, more]

    @playhead.tool
    def fail(value: Any) -> Any:
        raise LookupError(value)

    with playhead.record(kind="keys", store=str(tmp_path)) as run:
        echo(TRICKY, **{"$part": 1})
        try:
            fail(TRICKY)
        except LookupError:
            pass
        run.succeed(TRICKY)
    recording = playhead.load(run.id, store=str(tmp_path))
    echoed, failed = recording.exchanges
    assert decode(echoed.question.body.arguments["value"]) == TRICKY  # type: ignore[union-attr]
    assert echoed.answer is not None
    assert decode(echoed.answer.body.value) == [TRICKY, {"$part": 1}]  # type: ignore[union-attr]
    assert failed.answer is not None
    assert decode(failed.answer.body.error).args == (TRICKY,)  # type: ignore[union-attr]
    assert decode(recording.finished.result) == TRICKY  # type: ignore[union-attr]
    assert recording.verify().ok
