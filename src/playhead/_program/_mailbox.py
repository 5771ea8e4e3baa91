"""How the program that was started and its parent tell each other what only one of them knows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

_CLAIM: Final = "claim"
_OTHERS: Final = "others"
_FAILURE: Final = "failure"
_REPORT: Final = "report.json"
_MOMENTS: Final = "moments.json"
_IMPORTED: Final = "imported.json"


class Mailbox:
    """A folder that the parent makes and takes away again. Whoever comes too late finds none, and that is no error."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @classmethod
    def make(cls) -> Mailbox:
        """A new one, which only this user may look into."""
        import tempfile  # only the parent makes one

        return cls(tempfile.mkdtemp(prefix="playhead-"))

    def __enter__(self) -> Mailbox:
        return self

    def __exit__(self, *exc_info: object) -> None:
        import shutil

        shutil.rmtree(self.path, ignore_errors=True)

    def claim(self) -> bool:
        """Whether the order is this process's to carry out: the first one that asks gets it."""
        try:
            os.close(os.open(self.path / _CLAIM, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            self._add(_OTHERS, f"{os.getpid()}\n")
            return False
        except OSError:
            return False
        return True

    def release(self) -> None:
        """Give the claim back, for the program that is about to take this process's place."""
        (self.path / _CLAIM).unlink(missing_ok=True)

    @property
    def claimed(self) -> bool:
        """Whether a Python process took up the order."""
        return (self.path / _CLAIM).exists()

    @property
    def others(self) -> int:
        """How many Python processes came after the first."""
        return len(self._read(_OTHERS).splitlines())

    def fail(self, why: str) -> None:
        """Say why the order was not carried out."""
        self._add(_FAILURE, f"{why}\n")

    @property
    def failure(self) -> str | None:
        """Why the order was not carried out, if it was not."""
        lines = self._read(_FAILURE).splitlines()
        return lines[0] if lines else None

    def report(self, report: dict[str, Any]) -> None:
        """Hand the report of a replay in, whole or not at all."""
        beside = self.path / f"{_REPORT}.tmp"
        beside.write_bytes(msgspec.json.encode(report))
        beside.replace(self.path / _REPORT)

    def read_report(self) -> dict[str, Any] | None:
        """The report, if one was handed in."""
        text = self._read(_REPORT)
        found: dict[str, Any] | None = msgspec.json.decode(text) if text else None
        return found

    def rearrange(self, moments: Sequence[int]) -> None:
        """Have what happened come in another order than recorded."""
        (self.path / _MOMENTS).write_bytes(msgspec.json.encode(moments))

    def read_moments(self) -> list[int]:
        """The other order."""
        return msgspec.json.decode((self.path / _MOMENTS).read_bytes(), type=list[int])

    def tell_imported(self, modules: Sequence[str]) -> None:
        """Say which modules were imported meanwhile, for those that come after to have them."""
        (self.path / _IMPORTED).write_bytes(msgspec.json.encode(modules))

    def read_imported(self) -> list[str]:
        """Them, if that was said."""
        text = self._read(_IMPORTED)
        return msgspec.json.decode(text, type=list[str]) if text else []

    def _add(self, name: str, text: str) -> None:
        try:
            with (self.path / name).open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError:
            return

    def _read(self, name: str) -> str:
        try:
            return (self.path / name).read_text(encoding="utf-8")
        except OSError:
            return ""
