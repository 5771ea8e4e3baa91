"""Where recordings are kept."""

from __future__ import annotations

import errno
import os
import shlex
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, Protocol

from playhead._system import Clock, SystemClock
from playhead.errors import AmbiguousRunError, StoreError, UnknownRunError
from playhead.eventlog import (
    LIVE_SUFFIX,
    SEALED_SUFFIX,
    BlobPlace,
    Header,
    LogWriter,
    Recording,
    find_blobs,
    open_recording,
    printable,
    writing,
)
from playhead.stores._keys import read_or_make_key
from playhead.stores._names import file_name, readable_part
from playhead.stores._places import find_other_stores
from playhead.stores._summaries import Summary, header_or_reason, summarise

Durability = Literal["group", "every"]

_SHOWN: Final = 5


class Store(Protocol):
    """A place of recordings. `LocalStore` says what each method means."""

    def create(
        self,
        run: str,
        kind: str,
        *,
        task: str | None = None,
        mask_key: str | None = None,
        durability: Durability = "group",
        starter: str | None = None,
    ) -> LogWriter: ...
    def find(self, run: str) -> Path: ...
    def locate(self, run: str) -> Path | None: ...
    def open(self, run: str) -> Recording: ...
    def list(self) -> Iterator[Summary]: ...
    def mask_key(self) -> bytes: ...


class LocalStore:
    """Recordings in a folder::

        .playhead/
        ├── recordings/<run>.playhead          sealed
        ├── recordings/<run>.playhead.jsonl    going on, or cut off
        ├── blobs/                             large bodies, by digest
        ├── bisections/<run>.json              what was said of steps by hand
        ├── annotations/<run>.jsonl            what was wrong, and what should have happened
        └── keys/mask.key                      what the placeholders of masks are made with

    Nothing is made before something is to be kept. ``runs`` may be named by their id, by a prefix of it that
    only one has, or by the path of a file.
    """

    def __init__(self, path: Path | str, *, clock: Clock | None = None) -> None:
        self.path = Path(path)
        self.recordings = self.path / "recordings"
        self.blobs = BlobPlace(self.path / "blobs")
        self._clock = clock or SystemClock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"

    def create(
        self,
        run: str,
        kind: str,
        *,
        task: str | None = None,
        mask_key: str | None = None,
        durability: Durability = "group",
        starter: str | None = None,
    ) -> LogWriter:
        """Begin the recording of ``run``, an agent of this ``kind``; of a child process, one that ``starter`` started.

        Raises `RecordingExistsError` where the id is taken, `StoreNotWritableError` where nothing can be kept.
        """
        self._prepare(self.recordings)
        header = Header(
            run=run, kind=kind, task=task, mask_key=mask_key, created_ns=self._clock.wall_ns(), starter=starter
        )
        return LogWriter(
            self.recordings / file_name(run), header, durability=durability, blobs=self.blobs, clock=self._clock
        )

    def has(self, run: str) -> bool:
        """Whether there is a recording of exactly this id."""
        name = self.recordings / file_name(run)
        return any(Path(f"{name}{suffix}").exists() for suffix in (SEALED_SUFFIX, LIVE_SUFFIX))

    def _prepare(self, folder: Path) -> None:
        with writing(folder):
            new = not self.path.exists()
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except FileExistsError as error:
                raise NotADirectoryError(errno.ENOTDIR, "a file is in the place of a folder") from error
            if new:
                os.chmod(self.path, 0o700)  # prompts and answers are nobody else's business
                (self.path / ".gitignore").write_text("*\n")

    def find(self, run: str) -> Path:
        """The file of a run.

        Raises `UnknownRunError` with ids that are like it, or `AmbiguousRunError` with some of those it may mean.
        """
        if run.endswith((SEALED_SUFFIX, LIVE_SUFFIX)) or os.sep in run:
            path = Path(run)
            if path.is_file():
                return path
        start = readable_part(run)
        found: dict[str, Path] = {}
        for name, path in self._files().items():
            if name.startswith(start):
                header = header_or_reason(path)
                found[name if isinstance(header, str) else header.run] = path
        if run in found:
            return found[run]
        matching = sorted(name for name in found if run and name.startswith(run))
        if len(matching) == 1:
            return found[matching[0]]
        raise self._ambiguous(run, matching) if matching else self._unknown(run)

    def locate(self, run: str) -> Path | None:
        """The file of the run whose whole id this is, if it is here."""
        for suffix in (SEALED_SUFFIX, LIVE_SUFFIX):
            path = self.recordings / (file_name(run) + suffix)
            if path.is_file():
                return path
        return None

    def beside(self, what: str, run: str, suffix: str = ".json") -> Path:
        """The file in which something about a run is kept beside its recording, made by whoever writes it.

        ``what`` is the folder of its kind, such as ``bisections``; ``run`` is the whole id.
        """
        return self.path / what / (file_name(run) + suffix)

    def _files(self) -> dict[str, Path]:
        """Names without suffix and their files; a sealed one goes before what its crash left of the live one.

        Raises `StoreError` where the folder may not be read.
        """
        files: dict[str, Path] = {}
        try:
            paths = list(self.recordings.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return files
        except OSError as error:
            why = f"{printable(self.path)} cannot be read: {(error.strerror or str(error)).lower()}"
            raise StoreError(why, next="playhead doctor", facts={"store": str(self.path)}) from error
        for path in paths:
            if path.name.endswith(LIVE_SUFFIX):
                files.setdefault(path.name.removesuffix(LIVE_SUFFIX), path)
            elif path.name.endswith(SEALED_SUFFIX):
                files[path.name.removesuffix(SEALED_SUFFIX)] = path
        return files

    def _ambiguous(self, run: str, matching: list[str]) -> AmbiguousRunError:
        shown = ", ".join(printable(name) for name in matching[:_SHOWN])
        more = f" and {len(matching) - _SHOWN} more" if len(matching) > _SHOWN else ""
        return AmbiguousRunError(
            f"{len(matching)} runs begin with {printable(run)!r}: {shown}{more}",
            next="playhead runs",
            facts={"prefix": run, "runs": matching},
        )

    def _unknown(self, run: str) -> UnknownRunError:
        import difflib

        names = list(self._files())
        near = difflib.get_close_matches(readable_part(run), names, n=3, cutoff=0.5)
        like = f"; there is {' and '.join(map(printable, near))}" if near else ""
        others = [str(other) for other in find_other_stores(self.path)]
        if others:
            like += f"; other runs are in {printable(others[0])}"
        elif not near:
            like += "; --store PATH looks in another folder"
        kept = (
            "not its one run"
            if len(names) == 1
            else f"none of its {len(names)} runs"
            if names
            else "it is empty: no run"
        )
        return UnknownRunError(
            f"no run {printable(run)!r} in {printable(self.path)} ({kept} begins with that){like}",
            next=f"playhead runs --store {shlex.quote(others[0])}" if others and not near else "playhead runs",
            facts={"run": run, "store": str(self.path), "near": near, "others": others},
        )

    def open(self, run: str) -> Recording:
        """The recording of a run, to be read. Raises what `find` and `open_recording` raise."""
        path = self.find(run)
        blobs = self.blobs if path.parent == self.recordings else find_blobs(path)
        return open_recording(path, blobs=blobs)

    def list(self) -> Iterator[Summary]:
        """All runs, the newest first, each by the first line and the last ones of its file."""
        headers = [(path, header_or_reason(path)) for path in self._files().values()]
        headers.sort(key=lambda pair: -1 if isinstance(pair[1], str) else pair[1].created_ns, reverse=True)
        for path, header in headers:
            try:
                yield summarise(path, header)
            except FileNotFoundError:  # sealed or removed meanwhile
                sealed = path.with_name(path.name.removesuffix(LIVE_SUFFIX) + SEALED_SUFFIX)
                if sealed.exists():
                    yield summarise(sealed, header)

    def mask_key(self) -> bytes:
        """The 32 bytes that this store's placeholders are made with, made when they are first asked for.

        Raises `StoreNotWritableError` where they can be neither read nor made.
        """
        self._prepare(self.path / "keys")
        return read_or_make_key(self.path / "keys" / "mask.key")


class MemoryStore(LocalStore):
    """A store for tests, which goes away with the object: a folder of its own, in memory where the system has one."""

    def __init__(self, *, clock: Clock | None = None) -> None:
        import tempfile

        memory = "/dev/shm" if os.path.isdir("/dev/shm") and os.access("/dev/shm", os.W_OK) else None
        folder = tempfile.TemporaryDirectory(prefix="playhead-", dir=memory, ignore_cleanup_errors=True)
        super().__init__(folder.name, clock=clock)
        self.close = weakref.finalize(self, folder.cleanup)
