"""``playhead help``: what stands under ``more:`` in a message, wherever playhead is installed."""

from __future__ import annotations

from typing import Final

import click

from playhead.cli._options import example
from playhead.cli._output import width
from playhead.cli._verbs import VERBS, help_page
from playhead.errors import UsageError

_WIDE: Final = 100


@click.command("help", **example("playhead help unknown-run"))
@click.argument("topic", required=False)
@click.pass_context
def command(context: click.Context, topic: str | None) -> int:
    """Explain a message by the name that stands under its `more:`, or a verb.

    The texts are those of docs/reference/messages.md.
    """
    if topic is None:
        click.echo(help_page(), nl=False)
        return 0
    group = context.parent
    if topic in VERBS and group is not None and isinstance(group.command, click.Group):
        verb = group.command.get_command(group, topic)
        assert verb is not None
        click.echo(verb.get_help(verb.make_context(topic, [], parent=group, resilient_parsing=True)))
        return 0
    _explain(topic)
    return 0


def _explain(topic: str) -> None:
    from playhead.cli._messages import read_messages, wrapped
    from playhead.eventlog import printable

    texts = read_messages()
    if topic not in texts:
        import difflib

        near = difflib.get_close_matches(topic, [*texts, *VERBS], n=1)
        guess = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(
            f"there is no message and no verb {printable(topic)!r}{guess}",
            next=f"playhead help {near[0]}" if near else "playhead help",
        )
    click.secho(topic, bold=True)
    click.echo("\n".join(wrapped(texts[topic], min(width(piped=_WIDE), _WIDE))))
