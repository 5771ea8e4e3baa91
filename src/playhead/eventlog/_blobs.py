"""Blobs: bodies too large for a line, kept once beside the recordings, under the digest of their content.

The content of a blob is a body as it was handed to the writer (JSON text, no salt). The line's body is
``{"salt":"…","$blob":"<sha256>","size":<bytes>}``: so the chain covers the digest, and the digest the content.
"""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from playhead._system import random_hex
from playhead.errors import BlobError
from playhead.eventlog._compression import compress, new_decompressor, zstd
from playhead.eventlog._files import sync_folder, writing
from playhead.eventlog._format import LIMITS, SALT_END, hostile
from playhead.eventlog._printing import counted, printable

BLOB_FROM: Final = 64 * 1024
"""Bodies of more bytes than this go to blobs."""

_DIGEST = re.compile(r"[0-9a-f]{64}")


class BlobRef(msgspec.Struct, frozen=True):
    """What stands in a line for a large body."""

    digest: str = msgspec.field(name="$blob")
    size: int


_ref_decoder = msgspec.json.Decoder(BlobRef)


class BlobPlace:
    """A folder of blobs: ``<first two digits>/<sha256>.zst``, each one zstd frame."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, digest: str) -> Path:
        """Where the blob is. Raises `ValueError` for what is not a SHA-256, such as a path that climbs."""
        if _DIGEST.fullmatch(digest) is None:
            raise ValueError(f"not a digest: {printable(digest)}")
        return self.folder / digest[:2] / f"{digest}.zst"

    def put(self, content: bytes) -> str:
        """Keep ``content``, on disk when this returns, and give its digest. What is there already is not written.

        Raises `StoreNotWritableError`.
        """
        digest = sha256(content).hexdigest()
        path = self.path(digest)
        if path.exists():
            return digest
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(f".{digest}.tmp-{random_hex(8)}")
            try:
                with beside.open("xb") as file:
                    file.write(compress(content, level=3))
                    file.flush()
                    os.fsync(file.fileno())
                beside.replace(path)
            finally:
                beside.unlink(missing_ok=True)
            sync_folder(path.parent)
        return digest

    def get(self, digest: str, size: int) -> bytes:
        """The content, checked. Raises `LookupError` where it is missing and `ValueError` where it is not itself."""
        try:
            packed = self.path(digest).read_bytes()
        except OSError as error:
            raise LookupError(digest) from error
        try:
            content: bytes = new_decompressor().decompress(packed, max_length=size + 1)
        except zstd().ZstdError as error:
            raise ValueError("it cannot be unpacked") from error
        check_blob(content, digest, size)
        return content


def check_blob(content: bytes, digest: str, size: int) -> None:
    """Raise `ValueError` unless ``content`` is what the digest and size say."""
    if len(content) != size or sha256(content).hexdigest() != digest:
        raise ValueError("its content is not what its digest says")


def blob_ref(body: bytes) -> BlobRef | None:
    """What a salted body says of a blob, or ``None`` for a body that stands in the line itself."""
    if not body.startswith(b',"$blob":"', SALT_END):
        return None
    try:
        return _ref_decoder.decode(body)
    except (msgspec.MsgspecError, RecursionError):
        return None


def find_blobs(recording: Path) -> BlobPlace | None:
    """The blobs of a recording in a file: ``blobs`` beside it, or beside the folder it is in."""
    for folder in (recording.parent / "blobs", recording.parent.parent / "blobs"):
        if folder.is_dir():
            return BlobPlace(folder)
    return None


def fetch_blob(
    ref: BlobRef, *, seq: int, name: str, run: str, place: BlobPlace | None, inside: bytes | None = None
) -> bytes:
    """The body that ``ref`` stands for: what the recording has ``inside``, or what is in ``place``.

    Raises `BlobError` naming run and seq where it is missing or altered.
    """
    if ref.size > LIMITS.line:
        raise hostile(name, f"event {seq} refers to a blob of {counted(ref.size, 'byte')}", seq=seq)
    try:
        if inside is not None:
            check_blob(inside, ref.digest, ref.size)
            return inside
        if place is None:
            raise LookupError(ref.digest)
        return place.get(ref.digest, ref.size)
    except LookupError as error:
        raise blob_error(ref, "is missing", seq=seq, run=run) from error
    except ValueError as error:
        raise blob_error(ref, f"was altered: {error}", seq=seq, run=run) from error


def blob_error(ref: BlobRef, why: str, *, seq: int, run: str) -> BlobError:
    """The error for a blob; ``why`` continues "the blob … of event … of run …"."""
    return BlobError(
        f"the blob {printable(ref.digest, 16)} of event {seq} of run {printable(run)} {why}",
        next=f"playhead verify {printable(run)}",
        facts={"run": run, "seq": seq, "blob": ref.digest},
    )
