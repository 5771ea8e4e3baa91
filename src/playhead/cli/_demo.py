"""``playhead demo``: the story in a minute, without a key."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import click

from playhead.cli._options import example
from playhead.errors import ProgramNotStartedError


@click.command("demo", **example("playhead demo"))
def command() -> int:
    """Record, replay and diverge: a small agent against a scripted model; needs no key."""
    import subprocess

    if find_spec("openai") is None:
        raise ProgramNotStartedError(
            "the demo's agent uses the openai SDK, which is not installed here", next="pip install 'playhead[demo]'"
        )
    return subprocess.call([sys.executable, "-m", "playhead.testing.demo"])
