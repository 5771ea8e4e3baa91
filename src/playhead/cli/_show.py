"""``playhead show``: a run as a person reads it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal

import click

from playhead.cli._options import as_json, example, open_run, open_store, split_step, store_option
from playhead.cli._output import console, print_json, say, width
from playhead.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection

    from playhead.cli._timeline import Row
    from playhead.eventlog import Recording
    from playhead.stores import LocalStore

_WIDE = 160
"""How much of an answer a line shows in a pipe, where no terminal says how wide it is."""


@click.command("show", **example("playhead show triage-7f3a#7"))
@click.argument("run", metavar="RUN[#STEP]")
@click.option("--raw", is_flag=True, help="With #STEP: both events as they are recorded, as JSON.")
@click.option("--state", is_flag=True, help="With #STEP: the state that the agent had kept last; alone: at the end.")
@click.option(
    "--graph",
    type=click.Choice(["text", "dot", "mermaid", "json"]),
    is_flag=False,
    flag_value="text",
    help="The lanes, and what led to what: drawn here, or as =dot (Graphviz), =mermaid or =json.",
)
@store_option
@as_json
def command(
    run: str,
    raw: bool,
    state: bool,
    graph: Literal["text", "dot", "mermaid", "json"] | None,
    store: str | None,
    as_json: bool,
) -> int:
    """Show a run step by step, or one step with the context that the model saw.

    RUN is an id, a prefix that no other id has, or the path of a recording.
    """
    name, step = split_step(run)
    recording = open_run(name, store)
    if state:
        if raw or graph is not None:
            raise UsageError("--state shows the state alone", next=f"playhead show {run} --state")
        return _show_state(recording, step, as_json)
    if graph is not None:
        if step is not None or raw:
            raise UsageError("--graph shows a whole run", next=f"playhead show {recording.id} --graph")
        _show_graph(recording, "json" if as_json else graph)
        return 0
    if step is None:
        if raw:
            raise UsageError("--raw shows one step", next=f"playhead show {recording.id}#1 --raw")
        _show_run(recording, open_store(store), as_json)
        return 0
    from playhead.cli._step import print_step, step_as_data

    exchange = recording.step(step)
    if raw or as_json:
        print_json(step_as_data(recording, exchange, context=not raw))
    else:
        print_step(recording, exchange)
    return 0


def _show_state(recording: Recording, step: int | None, as_json: bool) -> int:
    """The state as of a step; exit code 1 where none had been kept."""
    from playhead.eventlog import printable
    from playhead.events import decode

    tree = recording.state_tree(step)
    kept = decode(tree, missing="opaque")
    if as_json:
        print_json({"run": recording.id, "step": step, "state": tree})
    elif kept is not None:
        import pprint

        for line in pprint.pformat(kept, width=_width(), sort_dicts=False).split("\n"):
            click.echo(printable(line, limit=100_000))
    else:
        when = f"before step {step}" if step is not None else "in this run"
        say(f"no state was kept {when}: playhead.checkpoint(state) keeps one")
    return 0 if kept is not None else 1


def _show_graph(recording: Recording, form: Literal["text", "dot", "mermaid", "json"]) -> None:
    from playhead.causality import export_graph, graph_as_data, read_graph
    from playhead.eventlog import printable

    graph = read_graph(recording)
    if form == "json":
        print_json(graph_as_data(graph))
    elif form == "text":
        from playhead.cli._graph import draw

        for line in draw(recording, graph):
            click.echo(line)
        say(f"why one of them: playhead why {printable(recording.id)}#SEQ")
    else:
        click.echo(export_graph(graph, form), nl=False)


def _show_run(recording: Recording, place: LocalStore, as_json: bool) -> None:
    import msgspec

    from playhead.cli._children import family_as_data, family_lines
    from playhead.cli._header import header_as_data, header_lines
    from playhead.cli._timeline import folded, rows
    from playhead.eventlog import printable
    from playhead.suite import annotations_file, annotations_of

    family = family_as_data(recording, place)
    annotations = list(annotations_of(recording, place)) if annotations_file(recording, place).exists() else []
    if as_json:
        steps = [msgspec.to_builtins(row) for row in rows(recording, width=_WIDE)]
        said = {"annotations": [msgspec.to_builtins(each) for each in annotations]} if annotations else {}
        print_json({**header_as_data(recording), **family, **said, "timeline": steps})
        return
    for text, style in header_lines(recording, width=_width()):
        click.echo(click.style(text, **style) if style else text)
    for text in family_lines(family):
        click.echo(text)
    found = list(folded(rows(recording, width=_width())))
    if found:
        click.echo()
        _print_timeline(found, _width(), {each.step for each in annotations})
    for each in annotations:
        where = f"step {each.step}" if each.step is not None else "the run"
        click.secho(f"! {where}: {printable(each.wrong, limit=_WIDE)}", fg="red")
    click.echo()
    count = len(recording.steps)
    if count:
        say(f"one step with its context: playhead show {printable(recording.id)}#{count}")


def _width() -> int:
    return max(20, width(piped=_WIDE))


def _print_timeline(found: list[Row], width: int, annotated: Collection[int | None]) -> None:
    """A line for each row, with a sign at ``annotated`` steps; a narrow terminal has only what matters most."""
    from rich.table import Table
    from rich.text import Text

    from playhead.cli._words import duration
    from playhead.eventlog import printable

    lanes = len({row.lane for row in found}) > 1 and width >= 60
    amounts = width >= 70
    tokens = amounts and any(row.input_tokens or row.output_tokens for row in found)
    table = Table(box=None, pad_edge=False, show_header=False, expand=sys.stdout.isatty())
    table.add_column(justify="right", no_wrap=True, style="bold")
    if lanes:
        table.add_column(no_wrap=True, style="dim", overflow="ellipsis", max_width=width // 5)
    table.add_column(no_wrap=True, style="dim")
    table.add_column(no_wrap=True, overflow="ellipsis", max_width=max(8, width // 4))
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    if tokens:
        table.add_column(justify="right", no_wrap=True, style="dim")
    if amounts:
        table.add_column(justify="right", no_wrap=True, style="dim")
    for row in found:
        style = "red" if row.failed else "yellow" if row.failed is None else ""
        sign = "!" if row.step is not None and row.step in annotated else ""
        cells = [Text(f"{sign}{row.step}" if row.step is not None else "·", style="red" if sign else "")]
        if lanes:
            cells.append(Text(printable(row.lane.removeprefix("main/"))))
        cells += [Text(row.kind), Text(row.name, style=style), Text(row.said, style=style)]
        if tokens:
            known = row.input_tokens is not None or row.output_tokens is not None
            cells.append(Text(f"{_amount(row.input_tokens)}→{_amount(row.output_tokens)}" if known else ""))
        if amounts:
            cells.append(Text(duration(row.took_ns) if row.took_ns is not None else ""))
        table.add_row(*cells)
    console().print(table)


def _amount(tokens: int | None) -> str:
    return "?" if tokens is None else str(tokens)
