"""Everything that playhead can say went wrong.

The tree::

    PlayheadError
    ├── UsageError                 what was typed cannot be carried out            exit 2
    │   ├── ConfigurationError     a setting is not usable
    │   ├── ProgramNotStartedError the program to record or replay cannot be started
    │   ├── NestedRunError         a run was begun where one is going on already
    │   ├── NotStoppedError        something was asked that only a stopped replay knows
    │   ├── AtPromptError          a boundary was crossed from the prompt of a stopped replay
    │   └── CheckFailedError       a check of one's own cannot say anything
    ├── StoreError                 a recording could not be found, read or kept    exit 3
    │   ├── UnknownRunError        no recording has this id
    │   ├── AmbiguousRunError      several recordings begin with this prefix
    │   ├── ForeignRecordingError  the recording is of something else than what asks for it
    │   ├── RecordingExistsError   the place is taken and is not overwritten
    │   └── StoreNotWritableError  the store is read-only, full or not permitted
    ├── FormatError                the bytes are not a recording we can read       exit 3
    │   ├── NotARecordingError     something else, or empty
    │   ├── NewerFormatError       written by a later version
    │   ├── CorruptRecordingError  damaged in the middle
    │   ├── BlobError              a blob is missing or altered
    │   └── HostileRecordingError  built to hurt the reader (bombs, nesting, paths)
    ├── ValueRefusedError          a value that cannot be kept or rebuilt safely   exit 3
    │   └── MissingTypeError       its class is not in this program
    ├── DivergenceError            the recording cannot answer a crossing          exit 1
    │   ├── ForkRefusedError       a fork would ask live for what it was not allowed to
    │   ├── UnplayedError          the program ended before the recording did
    │   └── ConnectionRefusedInReplayError  the program tried to reach the network
    ├── LateCrossingError          a crossing after its run had ended
    ├── ReplayStoppedError         a replay has come to where it was to stop          exit 0
    └── NoReportError              the replayed program ended without a report     exit 3

Each class has a ``slug``, the heading under which ``docs/reference/messages.md`` explains it, and an exit
code of the command line. What a message shows has passed the mask before it gets here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

__all__ = [
    "AmbiguousRunError",
    "AtPromptError",
    "BlobError",
    "CheckFailedError",
    "ConfigurationError",
    "ConnectionRefusedInReplayError",
    "CorruptRecordingError",
    "DivergenceError",
    "ForeignRecordingError",
    "ForkRefusedError",
    "FormatError",
    "HostileRecordingError",
    "LateCrossingError",
    "MissingTypeError",
    "NestedRunError",
    "NewerFormatError",
    "NoReportError",
    "NotARecordingError",
    "NotStoppedError",
    "PlayheadError",
    "PlayheadWarning",
    "ProgramNotStartedError",
    "RecordingExistsError",
    "ReplayStoppedError",
    "StoreError",
    "StoreNotWritableError",
    "UnknownRunError",
    "UnplayedError",
    "UsageError",
    "ValueRefusedError",
]


class PlayheadWarning(UserWarning):
    """Something that does not stop the program but that its owner should know."""


class PlayheadError(BaseException):
    """The base of all errors of playhead.

    ``message`` says what happened; ``facts`` are the details a program can read; ``next`` is the command to
    type next, without a prompt sign.

    Ordinary errors are `Exception`s as well. Those that end a replay (divergence and its kin, a late crossing, a
    stop) are not, so that an SDK's retry loop or an agent's ``except Exception`` cannot swallow them.
    """

    slug: ClassVar[str] = "playhead-error"
    exit_code: ClassVar[int] = 3

    def __init__(self, message: str, *, next: str | None = None, facts: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.next = next
        self.facts: dict[str, Any] = dict(facts or {})

    def __str__(self) -> str:
        return f"{self.message}\n  next: {self.next}" if self.next else self.message


class UsageError(PlayheadError, Exception):
    """What was typed or passed cannot be carried out as it stands."""

    slug = "usage"
    exit_code = 2


class ConfigurationError(UsageError):
    """A setting in a file, a variable or an argument is not usable."""

    slug = "configuration"


class ProgramNotStartedError(UsageError):
    """The program to record or replay is missing, not executable or not Python."""

    slug = "program-not-started"


class NestedRunError(UsageError):
    """A run was begun inside a replay, or a replay inside a run, in the same context."""

    slug = "nested-run"


class NotStoppedError(UsageError):
    """`playhead.here` was asked where no replay is stopped."""

    slug = "not-stopped"


class AtPromptError(UsageError):
    """A boundary was crossed from a debugger's prompt: nothing is answered there, and nothing goes live."""

    slug = "at-prompt"


class CheckFailedError(UsageError):
    """A check of one's own raised, or said neither yes nor no: it is broken itself."""

    slug = "check-failed"


class StoreError(PlayheadError, Exception):
    """A recording could not be found, read or kept."""

    slug = "store"


class UnknownRunError(StoreError):
    """No recording in the store has this id or begins with this prefix."""

    slug = "unknown-run"


class AmbiguousRunError(StoreError):
    """Several recordings begin with this prefix."""

    slug = "ambiguous-run"


class ForeignRecordingError(StoreError):
    """The recording is of another run than the one that asks for it."""

    slug = "foreign-recording"


class RecordingExistsError(StoreError):
    """A recording stands at this place already; evidence is never overwritten."""

    slug = "recording-exists"


class StoreNotWritableError(StoreError):
    """The store is read-only, full, or not permitted to this user."""

    slug = "store-not-writable"


class FormatError(PlayheadError, Exception):
    """The bytes cannot be read as a recording."""

    slug = "format"


class NotARecordingError(FormatError):
    """The file is empty or is something else than a recording."""

    slug = "not-a-recording"


class NewerFormatError(FormatError):
    """The recording was written by a later version of playhead."""

    slug = "newer-format"


class CorruptRecordingError(FormatError):
    """The recording is damaged in the middle, or its chain does not hold."""

    slug = "corrupt-recording"


class BlobError(FormatError):
    """A blob that the recording refers to is missing or is not what it was."""

    slug = "blob"


class HostileRecordingError(FormatError):
    """The recording is built so that reading it would harm: bombs, deep nesting, paths that climb."""

    slug = "hostile-recording"


class ValueRefusedError(PlayheadError, Exception):
    """A value cannot be kept exactly, or cannot be rebuilt safely."""

    slug = "value-refused"


class MissingTypeError(ValueRefusedError):
    """A recorded value belongs to a class that this program has not imported, or that is of another kind now."""

    slug = "missing-type"


class DivergenceError(PlayheadError):
    """A crossing of the replayed program that the recording cannot answer.

    ``divergence`` holds the explained difference (`playhead.player.Divergence`), or ``None`` where there is
    nothing to compare with. Common causes, with the usual way out:

    1. The program changed on purpose: replay with ``match="loose"``, or record again.
    2. A value differs from run to run and does not matter: add a normaliser.
    3. A value differs because a read of clock or chance was not caught: ``playhead doctor``.
    """

    slug = "divergence"
    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        next: str | None = None,
        facts: Mapping[str, Any] | None = None,
        divergence: Any = None,
    ) -> None:
        super().__init__(message, next=next, facts=facts)
        self.divergence = divergence


class ForkRefusedError(DivergenceError):
    """A fork was about to go live with something that it was not allowed to: a side effect, or another model."""

    slug = "fork-refused"


class UnplayedError(DivergenceError):
    """The program ended, in strict mode, while recorded exchanges were not asked for."""

    slug = "unplayed"


class ConnectionRefusedInReplayError(DivergenceError):
    """A transport was about to open a connection while a replay is going on."""

    slug = "connection-refused-in-replay"


class LateCrossingError(PlayheadError):
    """A crossing came after the replay that it belongs to had ended."""

    slug = "late-crossing"
    exit_code = 1


class ReplayStoppedError(PlayheadError):
    """A replay has come to the step at which it was to stop, or was left at a debugger's prompt.

    It ends the program without being a fault of it; the block of `playhead.replay` swallows it.
    """

    slug = "replay-stopped"
    exit_code = 0


class NoReportError(PlayheadError, Exception):
    """The program that was replayed from outside died, or never began, before it could report."""

    slug = "no-report"
