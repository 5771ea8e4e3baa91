"""Editing a recording in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from playhead._configuration import read_settings
from playhead._masking import make_masker
from playhead._stores import choose_store
from playhead.errors import UsageError
from playhead.eventlog import Recording
from playhead.events import freeze

if TYPE_CHECKING:
    from playhead.editing import Edit, FaultName

Where = int | str
"""A step by its number, or any exchange or read by its event: ``"#41"``."""


class Edits:
    """Changes to a recording, collected until `save` writes what they make as a new one.

    Every method gives the object itself, so that they can be chained. With ``first=True`` what is said comes first and
    the recorded answer after it, for a program that asks once more.
    """

    def __init__(self, recording: Recording, *, store: str | Path | None = None) -> None:
        self.recording = recording
        self._store = store
        self._edits: list[Edit] = []

    def __repr__(self) -> str:
        return f"<Edits of {self.recording.id}: {len(self._edits)}>"

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What was collected."""
        return tuple(self._edits)

    def returns(self, step: Where, value: Any, *, first: bool = False) -> Edits:
        """The tool, or whatever was wrapped, gives ``value``; a generator yields the items of a list."""
        from playhead.editing import Returns, as_place

        return self.add(Returns(at=as_place(step), value=freeze(value), first=first))

    def raises(self, step: Where, error: BaseException | str, *, first: bool = False) -> Edits:
        """It raises ``error``: an exception, or class and message as text. Of HTTP: the connection fails by it."""
        from playhead.editing import Raises, as_place, error_tree

        return self.add(Raises(at=as_place(step), error=error_tree(error, self.recording), first=first))

    def answers(
        self,
        step: Where,
        text: str | None = None,
        *,
        calls: Sequence[tuple[str, Mapping[str, Any] | str]] = (),
        first: bool = False,
    ) -> Edits:
        """The model says ``text``, or asks for the tools ``calls`` (names and arguments), in its own wire format."""
        from playhead.editing import Answers, Wanted, as_place

        wanted = tuple(Wanted(name, given if isinstance(given, str) else dict(given)) for name, given in calls)
        return self.add(Answers(at=as_place(step), text=text, calls=wanted, first=first))

    def status(
        self,
        step: Where,
        status: int | None = None,
        *,
        headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
        body: Any = None,
        first: bool = False,
    ) -> Edits:
        """The HTTP answer has this status, these headers, this body; without ``body`` an error has its provider's."""
        from playhead.editing import Responds, as_place

        pairs = tuple(headers.items() if isinstance(headers, Mapping) else headers)
        return self.add(Responds(at=as_place(step), status=status, headers=pairs, body=_json(body), first=first))

    def fault(self, step: Where, name: FaultName, *, first: bool = False) -> Edits:
        """Provider or tool do what they do where this goes wrong, such as ``"rate_limited"``."""
        from playhead.editing import Faults, as_place

        return self.add(Faults(at=as_place(step), name=name, first=first))

    def delay(self, step: Where, seconds: float) -> Edits:
        """The answer comes so much later, and so does all that followed from it."""
        from playhead.editing import Delays, as_place

        return self.add(Delays(at=as_place(step), seconds=seconds))

    def drop(self, step: Where) -> Edits:
        """The exchange is not there: neither question nor answer."""
        from playhead.editing import Drops, as_place

        return self.add(Drops(at=as_place(step)))

    def reads(self, event: Where, value: Any) -> Edits:
        """A read of a clock or a random draw, named by its event, gives ``value``."""
        from playhead.editing import Reads, as_place

        return self.add(Reads(at=as_place(event), value=freeze(value)))

    def says(self, text: str, *, instead_of: str | None = None) -> Edits:
        """The user says ``text`` in place of what was said first, or of ``instead_of``, wherever that went."""
        from playhead.editing import Says, first_said

        return self.add(Says(text=text, instead_of=instead_of or first_said(self.recording)))

    def add(self, edit: Edit) -> Edits:
        """Collect one more."""
        self._edits.append(edit)
        return self

    def save(self, *, id: str | None = None) -> Recording:
        """Write what the edits make as a new recording, which names its parent, and give it.

        It is kept in the ``store`` that was given, or else in that of the settings. Raises `UsageError` where an edit
        cannot be carried out; then nothing is written.
        """
        from playhead._ids import new_id
        from playhead.editing import derive
        from playhead.eventlog import open_recording

        settings = read_settings(store=str(self._store) if self._store is not None else None)
        store = choose_store(settings)
        masker = make_masker(settings, store.mask_key())
        run = id or new_id(self.recording.kind)
        return open_recording(derive(self.recording, self._edits, run=run, store=store, masker=masker))


def _json(body: Any) -> Any:
    """What is JSON, as it is after a round over the wire. Raises `UsageError` for what is none."""
    try:
        return msgspec.json.decode(msgspec.json.encode(body))
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise UsageError(
            f"the body of an answer is a text, or what can be written as JSON: {error}",
            next="playhead.edit(run).status(step, 200, body={})",
        ) from error


def edit(recording: Recording | str | Path, *, store: str | Path | None = None) -> Edits:
    """Begin to edit a recording, given itself, by id, by prefix or by path; nothing is written before `Edits.save`.

    >>> import playhead
    >>> @playhead.tool
    ... def look_up(item: str) -> int:
    ...     return 7
    >>> with playhead.record(kind="example", store=str(tmp)) as run:
    ...     before = look_up("tea")
    >>> other = playhead.edit(run.id, store=str(tmp)).returns(1, 9999).save()
    >>> with playhead.replay(other, store=str(tmp)):
    ...     look_up("tea")
    9999
    """
    settings = read_settings(store=str(store) if store is not None else None)
    found = recording if isinstance(recording, Recording) else choose_store(settings).open(str(recording))
    return Edits(found, store=store)
