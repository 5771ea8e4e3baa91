"""``playhead demo``: the story in a minute, without a key."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import click

from playhead.cli._options import as_json, example
from playhead.errors import ProgramNotStartedError


@click.command("demo", **example("playhead demo"))
@click.option("--store", metavar="PATH", help="Keep the recording there. Default: a temporary folder, which stays.")
@as_json
def command(store: str | None, as_json: bool) -> int:
    """Record, replay and diverge: a small agent against a scripted model; needs no key."""
    import subprocess

    if find_spec("openai") is None:
        raise ProgramNotStartedError(
            "the demo's agent uses the openai SDK, which is not installed here", next="pip install 'playhead[demo]'"
        )
    options = [*(("--store", store) if store is not None else ()), *(("--json",) if as_json else ())]
    return subprocess.call([sys.executable, "-m", "playhead.testing.demo", *options])
