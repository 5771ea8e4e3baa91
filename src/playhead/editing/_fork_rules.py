"""What a fork may do, and what is said where it is refused something."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping

import msgspec

from playhead.boundary import Call, Lane
from playhead.errors import ForkRefusedError
from playhead.player import Divergence, boundary_of, model_of

LIVE = ("http", "model", "tool", "wrap")
"""The boundaries that go live in a fork, unless they are answered from the recording."""


class ForkRules(msgspec.Struct, frozen=True, kw_only=True):
    """What may go live: the boundaries ``live``; of tools with side effects those ``allowed``, or that ``ask`` allows.

    ``models`` are those that the parent asked, by provider; a fork asks others only with ``cross_version``. ``run`` is
    the parent, and ``at`` the step after which it goes live.
    """

    run: str
    at: int
    live: Collection[str] = LIVE
    allowed: Collection[str] = ()
    cross_version: bool = False
    ask: Callable[[str], bool] | None = None
    models: Mapping[str, Collection[str | None]] = {}

    @property
    def command(self) -> str:
        """What to type for this fork."""
        return f"playhead fork {shlex.quote(self.run)} --at {self.at}"

    def check(self, call: Call) -> None:
        """Raise `ForkRefusedError` where ``call`` may not go live."""
        if call.side_effects and call.name not in self.allowed and not (self.ask is not None and self.ask(call.name)):
            raise self._refuse(
                call,
                f"the tool {call.name} has side effects, and the fork was about to call it live",
                f"{self.command} --allow-side-effects {shlex.quote(call.name)}",
            )
        asked = model_of(call)
        if asked is None or self.cross_version:
            return
        provider, model = asked
        known = self.models.get(provider, ())
        if model not in known:
            recorded = ", ".join(sorted(map(str, known))) or "no model of this provider"
            raise self._refuse(
                call,
                f"the fork asks {model} and the recording was made with {recorded}: words, tool calls, their order and "
                "their number may drift from there on, so that what comes out says little about the recorded run",
                f"{self.command} --cross-version",
            )

    def _refuse(self, call: Call, text: str, then: str) -> ForkRefusedError:
        found = Divergence(kind="refused", lane="", boundary=boundary_of(call), name=call.name, message=text, next=then)
        return ForkRefusedError(text, next=then, facts={"name": call.name}, divergence=found)


def ask_too_early(call: Call, boundary: str, lane: Lane, rules: ForkRules) -> ForkRefusedError:
    """The error where what runs again asks otherwise before the point."""
    text = (
        f"the {boundary} {call.name} is asked for something that was not asked up to step {rules.at} of the recording, "
        "before all that was asked there has been: what runs again does something else"
    )
    then = f"playhead replay {shlex.quote(rules.run)} --reexecute"
    found = Divergence(kind="new", lane=lane.name, boundary=boundary, name=call.name, message=text, next=then)
    return ForkRefusedError(text, next=then, facts={"name": call.name}, divergence=found)


def ask_unknown(call: Call, boundary: str, lane: Lane, command: str) -> ForkRefusedError:
    """The error where a boundary that does not go live has no recorded answer."""
    text = (
        f"the fork asks for {boundary} {call.name}, which is answered from the recording, and there is no equal "
        "question in it"
    )
    then = f"{command} --live {boundary}"
    found = Divergence(kind="new", lane=lane.name, boundary=boundary, name=call.name, message=text, next=then)
    return ForkRefusedError(text, next=then, facts={"name": call.name}, divergence=found)
