"""``playhead edit``: a new recording, in which something else was answered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from playhead.cli._options import as_json, example, open_store, store_option
from playhead.cli._output import print_json, say
from playhead.errors import UsageError

if TYPE_CHECKING:
    from playhead._edits import Edits
    from playhead.eventlog import Recording

_FAULTS = (
    *("auth_expired", "empty_answer", "malformed_json", "overloaded", "rate_limited", "refusal", "timeout"),
    *("truncated_arguments", "unknown_tool"),
)
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)?")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class _Ordered(click.Command):
    """A command that knows in which order its options were typed: each change belongs to the place before it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        values, _, order = self.make_parser(ctx).parse_args(args=list(args))
        taken: dict[str, int] = {}
        typed: list[tuple[str, Any]] = []
        for parameter in order:
            name, given = parameter.name or "", values.get(parameter.name or "")
            if isinstance(given, list) and isinstance(parameter, click.Option):
                at = taken.get(name, 0)
                taken[name] = at + 1
                given = parameter.type.convert(given[at], parameter, ctx)
            typed.append((name, given))
        ctx.meta["playhead.typed"] = typed
        return super().parse_args(ctx, args)


@click.command(
    "edit", cls=_Ordered, **example("playhead edit triage-7f3a --step 7 --status 403 --header 'retry-after: 30'")
)
@click.argument("run")
@click.option("--step", type=click.IntRange(min=1), multiple=True, metavar="N", help="What follows changes step N.")
@click.option("--event", type=click.IntRange(min=0), multiple=True, metavar="SEQ", help="The same, by an event of it.")
@click.option("--returns", multiple=True, metavar="JSON", help="The tool, or what was wrapped, gives this.")
@click.option("--raises", multiple=True, metavar="ERROR", help="It raises this: 'TimeoutError: too slow'.")
@click.option("--answers", multiple=True, metavar="TEXT", help="The model says this.")
@click.option("--calls", multiple=True, metavar="CALL", help='The model asks for a tool: \'search({"query": "tea"})\'.')
@click.option("--status", type=click.IntRange(100, 599), multiple=True, metavar="CODE", help="The HTTP status.")
@click.option("--header", multiple=True, metavar="'NAME: VALUE'", help="A header of the HTTP answer.")
@click.option("--body", multiple=True, metavar="TEXT", help="The body of the HTTP answer; a file as @FILE.")
@click.option("--fault", type=click.Choice(_FAULTS), multiple=True, metavar="NAME", help="A fault of the provider.")
@click.option("--delay", multiple=True, metavar="SPAN", help="The answer comes later by this: 2s, 300ms.")
@click.option("--drop", is_flag=True, help="The exchange is not there.")
@click.option("--first", is_flag=True, help="What is said comes first, and the recorded answer when it is asked again.")
@click.option("--reads", multiple=True, metavar="JSON", help="The read of a clock or of chance at --event gives this.")
@click.option("--says", multiple=True, metavar="TEXT", help="The user says this, in place of what was said first.")
@click.option("--instead-of", multiple=True, metavar="TEXT", help="After --says: in place of this.")
@click.option("--editor", is_flag=True, help="Open the answer of --step as JSON in $VISUAL or $EDITOR.")
@click.option("--id", "new_id", metavar="ID", help="The id of the new recording.")
@store_option
@as_json
def command(run: str, store: str | None, as_json: bool, new_id: str | None, **_: Any) -> int:
    """Make a new recording of a run, in which something else was answered.

    The recording itself stays as it is. Each change belongs to the --step or --event before it, and several can be made
    at once. All events after a change are as they were recorded: a replay goes on with them for as long as the program
    asks the same.

    \b
    Faults: auth_expired, empty_answer, malformed_json, overloaded, rate_limited, refusal, timeout,
            truncated_arguments, unknown_tool.
    """
    from playhead._edits import Edits

    recording = open_store(store).open(run)
    edits = Edits(recording, store=open_store(store).path)
    groups = list(_groups(click.get_current_context().meta["playhead.typed"], recording))
    for group in groups:
        group.add_to(edits)
    made = edits.save(id=new_id)
    if as_json:
        import msgspec

        parent = made.started.parent if made.started is not None else None
        print_json({"id": made.id, "path": str(made.path), "parent": msgspec.to_builtins(parent)})
        return 0
    click.echo(made.id)
    # What was asked behind a conversation is not asked for in a replay: a change there shows where it runs again.
    again = " --reexecute" if any(group.is_behind for group in groups) else ""
    say(f"  next: playhead replay {made.id}{again}")
    say(f"        playhead diff {recording.id} {made.id}")
    return 0


class _Group:
    """What was typed after one --step or --event."""

    def __init__(self, where: int | str | None, recording: Recording) -> None:
        self._where = where
        self._recording = recording
        self._typed: list[tuple[str, Any]] = []

    @property
    def is_behind(self) -> bool:
        """Whether it changes a step that another process asked for, behind its conversation with the program."""
        return isinstance(self._where, int) and self._recording.is_behind(self._where)

    def take(self, name: str, value: Any) -> None:
        self._typed.append((name, value))

    def _all(self, name: str) -> list[Any]:
        return [value for typed, value in self._typed if typed == name]

    def _one(self, name: str) -> Any:
        found = self._all(name)
        if len(found) > 1:
            raise self._wrong(f"--{name} is given {len(found)} times")
        return found[0] if found else None

    def _wrong(self, why: str) -> UsageError:
        place = "without --step" if self._where is None else f"of step {self._where}".replace("step #", "event ")
        return UsageError(f"what is typed {place} cannot be carried out: {why}", next="playhead edit --help")

    def add_to(self, edits: Edits) -> None:
        """Carry out what was typed."""
        names = {name for name, _ in self._typed}
        if not names:
            if self._where is None:
                return
            raise self._wrong("it does not say what to change")
        if "says" in names:
            edits.says(str(self._one("says")), instead_of=self._one("instead_of"))
            names -= {"says", "instead_of"}
        if names and self._where is None:
            raise self._wrong(f"--{min(names).replace('_', '-')} needs a --step before it")
        if self._where is not None and names:
            self._change(edits, self._where, names)

    def _change(self, edits: Edits, where: int | str, names: set[str]) -> None:
        first = "first" in names
        if "delay" in names:
            edits.delay(where, _seconds(self._one("delay")))
        if "reads" in names:
            edits.reads(where, _json("--reads", self._one("reads")))
        if "editor" in names:
            from playhead.cli._editor import edit_step

            edit_step(edits, where)
        answers = names & {"returns", "raises", "fault", "drop"}
        if names & {"answers", "calls"}:
            answers.add("answers")
        if names & {"status", "header", "body"}:
            answers.add("status")
        if len(answers) > 1:
            raise self._wrong(f"--{' and --'.join(sorted(answers))} exclude each other")
        makers: dict[str, Callable[[], Any]] = {
            "returns": lambda: edits.returns(where, _json("--returns", self._one("returns")), first=first),
            "raises": lambda: edits.raises(where, str(self._one("raises")), first=first),
            "fault": lambda: edits.fault(where, self._one("fault"), first=first),
            "drop": lambda: edits.drop(where),
            "answers": lambda: edits.answers(
                where, self._one("answers"), calls=list(map(_call, self._all("calls"))), first=first
            ),
            "status": lambda: edits.status(
                where,
                self._one("status"),
                headers=list(map(_header, self._all("header"))),
                body=_body(self._one("body")),
                first=first,
            ),
        }
        for name in answers:
            makers[name]()


def _groups(typed: list[tuple[str, Any]], recording: Recording) -> Iterator[_Group]:
    group = _Group(None, recording)
    for name, value in typed:
        if name in ("step", "event"):
            yield group
            group = _Group(int(value) if name == "step" else f"#{int(value)}", recording)
        elif name not in ("run", "store", "as_json", "new_id", "help"):
            group.take(name, value)
    yield group


def _json(option: str, text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(
            f"{option} takes JSON, and {text!r} is none: {error}",
            next=f"playhead edit RUN --step N {option} '\"text\"'",
        ) from error


def _seconds(text: str) -> float:
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise UsageError(
            f"{text!r} is no span of time: a number with ms, s, m or h", next="playhead edit RUN --step N --delay 2s"
        )
    return float(found[1]) * _UNITS[found[2] or "s"]


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise UsageError(f"{text!r} is no header", next="playhead edit RUN --step N --header 'retry-after: 30'")
    return name.strip().lower(), value.strip()


def _call(text: str) -> tuple[str, Any]:
    name, bracket, arguments = text.partition("(")
    if not bracket or not arguments.endswith(")") or not name.strip():
        raise UsageError(f"{text!r} is no call of a tool", next="playhead edit RUN --step N --calls 'search({})'")
    given = _json("--calls", arguments[:-1] or "{}")
    if not isinstance(given, dict):
        raise UsageError("the arguments of a call are a JSON object", next="playhead edit RUN --step N --calls 'f({})'")
    return name.strip(), given


def _body(text: str | None) -> str | None:
    if text is None or text[:1] != "@":
        return text
    from pathlib import Path

    try:
        return Path(text[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise UsageError(f"the body cannot be read from {text[1:]}: {error}", next="playhead edit --help") from error
