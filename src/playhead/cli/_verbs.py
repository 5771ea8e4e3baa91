"""The verbs, and the page that lists them. It is written without the command line's machinery, to be there at once."""

from __future__ import annotations

import os
from collections.abc import Iterator

VERBS = {
    "record": "Run a program and keep a recording of it, without a change to the program.",
    "gateway": "Run a command of any language, and keep a recording of what it asks models over the wire.",
    "runs": "List the runs of the store, the newest first.",
    "show": "Show a run step by step, or one step with the context that the model saw.",
    "replay": "Run a recorded program again, offline: every call is answered from the recording.",
    "debug": "Go through a run step by step, forwards and back, with the agent's own variables at hand.",
    "diff": "Compare two recordings: what was asked, what was answered, how it ended.",
    "edit": "Make a new recording of a run, in which something else was answered.",
    "fork": "Replay a run up to a step, then go live, into a new recording.",
    "bisect": "Find the first step of a run at which something is broken.",
    "blame": "Find the fewest answers that, taken from a passing run, make a failing run of the same agent pass.",
    "shrink": "Make the shortest recording of a run with which the agent still fails, and print its id.",
    "suite": "Play a folder of recordings against the present code, and fail where it asks something else.",
    "annotate": "Say what was wrong in a run and what should have happened, for a suite to check.",
    "why": "Show why something happened in a run: the chain of what was handed on, back to where it came from.",
    "verify": "Check that a recording is whole and has not been changed.",
    "doctor": "Check this installation, or find what makes a program come out differently from run to run.",
    "demo": "Record, replay and diverge: a small agent against a scripted model; needs no key.",
    "help": "Explain a message by the name that stands under its `more:`, or a verb.",
}
"""The verbs, in the order of the help page, with the first sentence of each."""

_WIDEST = 100
_INDENT = 11


def help_page() -> str:
    """The help of the command line as a whole."""
    width = _width()
    page = [
        "Usage: playhead VERB [OPTIONS] [ARGS]...",
        "",
        *_wrapped("Record what an AI agent observed, and replay the run offline, exactly as it happened.", 2, width),
        "",
        "Verbs:",
    ]
    for verb, sentence in VERBS.items():
        first, *more = _wrapped(sentence, _INDENT, width)
        page += [f"  {verb:{_INDENT - 2}}{first.lstrip()}", *more]
    page += ["", "Options: --version, --help; playhead VERB --help tells more.", ""]
    return "\n".join([*page, "  Example: playhead record -- python my_agent.py", ""])


def _width() -> int:
    """The terminal's width, within reason; what a pipe leads to is taken to be as wide as a page."""
    try:
        columns = int(os.environ.get("COLUMNS", "")) if os.environ.get("COLUMNS") else os.get_terminal_size().columns
    except (OSError, ValueError):
        columns = 80
    return max(30, min(columns, _WIDEST))


def _wrapped(text: str, indent: int, width: int) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and indent + len(line) + 1 + len(word) > width:
            yield " " * indent + line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield " " * indent + line
