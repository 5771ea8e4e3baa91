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
    def _command(self) -> str:
        """What to type for this fork."""
        return f"playhead fork {shlex.quote(self.run)} --at {self.at}"

    def check(self, call: Call) -> None:
        """Raise `ForkRefusedError` where ``call`` may not go live."""
        if call.side_effects and call.name not in self.allowed and not (self.ask is not None and self.ask(call.name)):
            raise _refused(
                call,
                f"the tool {call.name} has side effects, and the fork was about to call it live",
                f"{self._command} --allow-side-effects {shlex.quote(call.name)}",
            )
        asked = model_of(call)
        if asked is None or self.cross_version:
            return
        provider, model = asked
        known = self.models.get(provider, ())
        if model not in known:
            recorded = ", ".join(sorted(map(str, known))) or "no model of this provider"
            raise _refused(
                call,
                f"the fork asks {model} and the recording was made with {recorded}: words, tool calls, their order and "
                "their number may drift from there on, so that what comes out says little about the recorded run",
                f"{self._command} --cross-version",
            )

    def asked_too_early(self, call: Call, lane: Lane) -> ForkRefusedError:
        """The error where what runs again asks otherwise before the point."""
        return _refused(
            call,
            f"the {boundary_of(call)} {call.name} is asked for something that was not asked up to step {self.at} of "
            "the recording, before all that was asked there has been: what runs again does something else",
            f"playhead replay {shlex.quote(self.run)} --reexecute",
            lane=lane,
        )

    def asked_anew(self, call: Call, lane: Lane) -> ForkRefusedError:
        """The error where a boundary that does not go live has no recorded answer."""
        boundary = boundary_of(call)
        return _refused(
            call,
            f"the fork asks for {boundary} {call.name}, which is answered from the recording, and there is no equal "
            "question in it",
            f"{self._command} --live {boundary}",
            lane=lane,
        )


def _refused(call: Call, text: str, then: str, *, lane: Lane | None = None) -> ForkRefusedError:
    """The error for ``call``: it may not go live, or, in the ``lane`` where it is asked, has no recorded answer."""
    found = Divergence(
        kind="refused" if lane is None else "new",
        lane="" if lane is None else lane.name,
        boundary=boundary_of(call),
        name=call.name,
        message=text,
        next=then,
    )
    return ForkRefusedError(text, next=then, facts={"name": call.name}, divergence=found)
