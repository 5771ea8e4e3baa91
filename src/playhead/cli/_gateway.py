"""``playhead gateway``: a command of any language runs as it always does, and what it asks models is recorded."""

from __future__ import annotations

import os

import click

from playhead.cli._options import example, open_store, store_option
from playhead.cli._record import tell_recorded
from playhead.errors import UsageError


@click.command(
    "gateway",
    context_settings={"allow_interspersed_args": False},
    **example("playhead gateway --kind triage -- node agent.js T-42"),
)
@click.option("--kind", default="run", show_default=True, help="Groups runs, and begins their ids.")
@click.option("--task", help="Your own id of what was to be done.")
@click.option("--id", "run_id", help="The id of the run. Default: a new one.")
@click.option(
    "--route",
    "routes",
    multiple=True,
    metavar="NAME=URL",
    help="Whom to ask in a route: openai, anthropic, gemini, vertex, or one of your own, which COMMAND finds in "
    "NAME_BASE_URL. Can be given several times.",
)
@store_option
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND [ARGS]...")
def command(
    kind: str,
    task: str | None,
    run_id: str | None,
    routes: tuple[str, ...],
    store: str | None,
    command: tuple[str, ...],
) -> int:
    """Run a command of any language, and keep a recording of what it asks models over the wire.

    COMMAND finds the server in OPENAI_BASE_URL, ANTHROPIC_BASE_URL, GOOGLE_GEMINI_BASE_URL and GOOGLE_VERTEX_BASE_URL;
    where one of these is set already, that is who is asked. Its input, output, signals and exit code are its own. For a
    Python program `playhead record` sees more: its tools, its clock, its chance.
    """
    from playhead._ids import new_id
    from playhead._program import KEYS, find_routes, record_program
    from playhead._system import ENVIRONMENT
    from playhead.events import Entry

    if not command:
        raise UsageError("say which command to run", next="playhead gateway -- node agent.js")
    entry = Entry(
        form="gateway",
        argv=list(command),
        folder=os.getcwd(),
        routes=find_routes(routes, ENVIRONMENT),
        keys=[name for name in KEYS if ENVIRONMENT.get(name)],
    )
    run = run_id or new_id(kind)
    done = record_program(command, open_store(store), run=run, kind=kind, task=task, entry=entry)
    return tell_recorded(done, run)
