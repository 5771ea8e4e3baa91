"""``playhead why``: what led to an event of a run, and what came of it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import click

from playhead.cli._options import as_json, example, open_run, split_event, store_option
from playhead.cli._output import print_json, say
from playhead.errors import UsageError

if TYPE_CHECKING:
    from playhead.causality import Graph, Race, Through
    from playhead.cli._tracing import Teller
    from playhead.eventlog import Recording


@click.command("why", **example("playhead why triage-7f3a#41"))
@click.argument("run", metavar="RUN[#SEQ]")
@click.option("--step", type=click.IntRange(min=1), metavar="N", help="Start from step N instead of an event.")
@click.option("--forward", is_flag=True, help="What it led to, instead of what led to it.")
@click.option("--all", "everything", is_flag=True, help="All that came before (or after) it; with --races, every pair.")
@click.option("--races", is_flag=True, help="The exchanges whose order was a matter of luck.")
@click.option("--limit", type=click.IntRange(min=1), default=20, metavar="N", help="With --races: show N. Default: 20.")
@store_option
@as_json
def command(
    run: str,
    step: int | None,
    forward: bool,
    everything: bool,
    races: bool,
    limit: int,
    store: str | None,
    as_json: bool,
) -> int:
    """Show why something happened in a run: the chain of what was handed on, back to where it came from.

    SEQ is the number of an event, as in `playhead show RUN --graph`; the number of a step goes with --step. Without
    either it is the end of the run.
    """
    from playhead.causality import read_graph
    from playhead.cli._tracing import Teller

    name, seq = split_event(run)
    if step is not None and seq is not None:
        raise UsageError("either #SEQ or --step says where to start", next=f"playhead why {name} --step {step}")
    if races and (seq is not None or step is not None or forward):
        raise UsageError("--races looks at the whole run", next=f"playhead why {name} --races")
    recording = open_run(name, store)
    if step is not None:
        seq = recording.step(step).question.seq
    graph = read_graph(recording)
    teller = Teller(recording, graph)
    if races:
        return _show_races(graph, teller, limit, everything, as_json)
    start = seq if seq is not None else _end_of(graph, recording)
    _show_slice(graph, teller, start, "all" if everything else "data", forward, as_json)
    return 0


def _end_of(graph: Graph, recording: Recording) -> int:
    if graph.end is not None:
        return graph.end
    if not graph.order:
        raise UsageError(f"run {recording.id} has no events", next=f"playhead verify {recording.id}")
    return graph.order[-1]


def _show_slice(graph: Graph, teller: Teller, start: int, through: Through, forward: bool, as_json: bool) -> None:
    from playhead.causality import find_causes, find_effects
    from playhead.eventlog import printable

    if as_json:
        found = (find_effects if forward else find_causes)(graph, start, through=through)
        edges = [{"before": edge.before, "after": edge.after, "kind": edge.kind} for edge in found.edges]
        events = [teller.as_data(seq) for seq in found.seqs]
        print_json({"run": graph.run, "start": start, "forward": forward, "events": events, "edges": edges})
        return
    graph.node(start)
    if through == "all":
        found = (find_effects if forward else find_causes)(graph, start, through=through)
        for unit in dict.fromkeys(map(graph.question, found.seqs)):
            if teller.is_shown(unit):
                click.echo(teller.line(unit))
        return
    for line in teller.tree(start, forward=forward):
        click.echo(line)
    say(f"all that came {'after' if forward else 'before'} it: add --all  lanes and edges: "
        f"playhead show {printable(graph.run)} --graph")  # fmt: skip


def _show_races(graph: Graph, teller: Teller, limit: int, everything: bool, as_json: bool) -> int:
    from playhead.causality import find_races
    from playhead.eventlog import counted, printable

    races = list(islice(find_races(graph, each="pair" if everything else "meeting"), limit + 1))
    more, races = len(races) > limit, races[:limit]
    if as_json:
        import msgspec

        print_json({"run": graph.run, "races": [msgspec.to_builtins(race) for race in races], "more": more})
    else:
        for race in races:
            _print_race(race, teller)
        known = f"{counted(len(races), 'race')}{', more with --limit' if more else ''}"
        click.secho(known if races else "no races: no two exchanges could have ended in another order", bold=True)
        if races:
            say(f"whether the outcome depends on them: playhead replay {printable(graph.run)} --permute 10")
    return 1 if races else 0


def _print_race(race: Race, teller: Teller) -> None:
    met = {"direct": "both went into", "data": "something of both went into", "order": "both came before"}[race.way]
    click.secho(f"the order of #{race.first} and #{race.second} was a matter of luck", fg="yellow")
    for seq in (race.first, race.second):
        click.echo(f"  {teller.line(seq)}")
    click.echo(f"  {met} {teller.line(race.met)}")
