"""``playhead bisect``: the first step of a run at which something is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from playhead.cli._bisected import as_data, print_found, print_marked
from playhead.cli._options import as_json, example, open_store, store_option
from playhead.cli._output import print_json, say
from playhead.errors import UsageError

if TYPE_CHECKING:
    from playhead.bisection import Check, Marking
    from playhead.eventlog import Recording
    from playhead.stores import LocalStore

_STEP = click.IntRange(min=1)


@click.command("bisect", **example("playhead bisect triage-7f3a --check checks.py:refund_is_allowed"))
@click.argument("run")
@click.option("--check", "named", metavar="FUNCTION", help="A function of your own: module:function, file.py:function.")
@click.option("--schema", is_flag=True, help="Tool calls have arguments that follow their JSON Schema.")
@click.option("--rule", "rules", multiple=True, metavar="NAME[=ARG]", help="A check by name, see --rules.")
@click.option("--rules", "list_rules", is_flag=True, help="List the checks by name.")
@click.option("--live", metavar="EXPR", help="A Python expression, in the agent as it asks for a step, in a replay.")
@click.option("--each", is_flag=True, help="The check looks at one step: it has to be good at every step so far.")
@click.option(
    "--sweep/--no-sweep",
    default=None,
    help="Whether all other steps are looked at too, to prove the answer. Default: not with --live and PROGRAM.",
)
@click.option("--start", is_flag=True, help="Search by hand: begin.")
@click.option("--good", type=_STEP, multiple=True, metavar="STEP", help="By hand: it is as it should be there.")
@click.option("--bad", type=_STEP, multiple=True, metavar="STEP", help="By hand: it is broken there.")
@click.option("--skip", type=_STEP, multiple=True, metavar="STEP", help="By hand: nobody can tell there.")
@click.option("--log", is_flag=True, help="By hand: what was said so far, as commands.")
@click.option("--reset", is_flag=True, help="By hand: end the search.")
@store_option
@as_json
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- PROGRAM [ARGS]...]")
def command(
    run: str,
    named: str | None,
    schema: bool,
    rules: tuple[str, ...],
    list_rules: bool,
    live: str | None,
    each: bool,
    sweep: bool | None,
    store: str | None,
    as_json: bool,
    command: tuple[str, ...],
    **by_hand: Any,
) -> int:
    """Find the first step of a run at which something is broken.

    Nothing of the agent runs, but for --live: a check gets the recording up to a step. PROGRAM gets it as JSON on its
    standard input; exit code 0 is good, 1 to 124 bad, 125 skip. Exit code 1: it is broken somewhere.
    """
    place = open_store(store)
    rules = (*(["schema"] if schema else []), *rules)
    ways = [bool(named), bool(rules), bool(command), bool(live), any(by_hand.values())]
    if list_rules:
        return _list_rules(as_json)
    recording = place.open(run)
    if sum(ways) != 1:
        raise UsageError(
            "one of --check, --schema and --rule, --live, PROGRAM, or a search by hand says what is broken",
            next=f"playhead bisect {recording.id} --schema",
        )
    if any(by_hand.values()):
        return _by_hand(recording, place, as_json, **by_hand)
    check = _make_check(named, rules, live, command, place, each=each)
    thorough = sweep if sweep is not None else not (command or live)
    return _search(recording, check, thorough, as_json)


def _make_check(
    named: str | None,
    rules: tuple[str, ...],
    live: str | None,
    command: tuple[str, ...],
    place: LocalStore,
    *,
    each: bool,
) -> Check:
    from playhead.bisection import check_of, command_check, held_so_far, load_function, make_check

    if rules:
        return make_check(rules)
    if named is not None:
        check = check_of(load_function(named), name=named)
    elif live is not None:
        from playhead.cli._live_check import live_check

        check = live_check(live, place.path)
    else:
        check = command_check(command, variables={"PLAYHEAD_STORE": str(place.path.absolute())})
    return held_so_far(check) if each else check


def _search(recording: Recording, check: Check, sweep: bool, as_json: bool) -> int:
    from playhead.bisection import bisect_recording
    from playhead.eventlog import printable

    if not len(recording.steps):
        run = printable(recording.id)
        raise UsageError(f"run {run} has no steps to search", next=f"playhead show {run}")
    found = bisect_recording(recording, check, sweep=sweep)
    if as_json:
        print_json(as_data(recording, found.finding, found.why))
    else:
        print_found(recording, found.finding, found.why, hints=True)
    return 0 if found.finding.kind == "holds" else 1


def _by_hand(
    recording: Recording,
    place: LocalStore,
    as_json: bool,
    *,
    start: bool,
    good: tuple[int, ...],
    bad: tuple[int, ...],
    skip: tuple[int, ...],
    log: bool,
    reset: bool,
) -> int:
    from playhead.bisection import Marking, forget_marks

    file = place.beside("bisections", recording.id)
    if reset:
        if start or good or bad or skip or log:
            raise UsageError("--reset goes alone", next=f"playhead bisect {recording.id} --reset")
        forget_marks(file)
        say(f"the search by hand on {recording.id} was ended")
        return 0
    marking = Marking(recording, file)
    if start:
        marking.start()
    for step in good:
        marking.mark(step, "good")
    for step in bad:
        marking.mark(step, "bad")
    for step in skip:
        marking.mark(step, "skip")
    if log:
        return _print_log(marking, as_json)
    if as_json:
        print_json({**as_data(recording, marking.finding, {}), "next": marking.search.next_step()})
    else:
        print_marked(recording, marking)
    return 1 if marking.finding.kind == "not_monotonic" else 0


def _print_log(marking: Marking, as_json: bool) -> int:
    from playhead.eventlog import printable

    marking.require_begun()
    run = printable(marking.recording.id)
    if as_json:
        print_json({"run": marking.recording.id, "marks": marking.marks})
        return 0
    click.echo(f"playhead bisect {run} --start")
    for mark in marking.marks:
        click.echo(f"playhead bisect {run} --{mark.verdict} {mark.step}")
    return 0


def _list_rules(as_json: bool) -> int:
    from playhead.bisection import RULES

    if as_json:
        print_json([{"name": rule.name, "argument": rule.argument, "meaning": rule.meaning} for rule in RULES.values()])
        return 0
    for rule in RULES.values():
        optional = rule.argument.startswith("[") or not rule.argument
        usage = rule.name + (rule.argument if optional else f"={rule.argument}")
        click.echo(f"{usage:18}  {rule.meaning}")
    return 0
