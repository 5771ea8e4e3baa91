"""One self-contained file: the blobs of a recording as lines inside it.

A blob line is ``{"blob":"<sha256>","data":{…}}`` and stands before the first event that refers to it. The chain
covers it through the digest in that event's body.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from playhead.eventlog._blobs import BlobPlace, blob_ref, fetch_blob, find_blobs
from playhead.eventlog._format import corrupt, split_line
from playhead.eventlog._reader import BLOB_LINE, inline_data, read_header
from playhead.eventlog._rewriting import write_recording
from playhead.eventlog._source import Bytes
from playhead.eventlog._text import Text


def pack(path: Path, target: Path, *, blobs: BlobPlace | None = None) -> Path:
    """Write the recording in ``path``, with its blobs, to ``target``; a file there is replaced.

    The name says in which form: ``.playhead.jsonl`` plain, any other compressed. Raises `BlobError` where a
    blob is missing or altered.
    """
    write_recording(_packed(path, blobs or find_blobs(path)), target)
    return target


def _packed(path: Path, blobs: BlobPlace | None) -> Iterator[bytes]:
    run = read_header(path).run
    inside: set[str] = set()
    seq = 0
    for _, lines in Text(Bytes(path)):
        for line in lines:
            if line.startswith(BLOB_LINE):
                found = inline_data(line)
                inside.add(found[0] if found is not None else "")
            elif line.startswith(b'{"seq":'):
                split = split_line(line)
                ref = blob_ref(split.body) if split is not None and split.body is not None else None
                if ref is not None and ref.digest not in inside:
                    content = fetch_blob(ref, seq=seq, name=path.name, run=run, place=blobs)
                    if b"\n" in content or content[:1] != b"{":
                        raise corrupt(path.name, f"the blob of event {seq} is not a body", seq=seq)
                    inside.add(ref.digest)
                    yield b'%b%b","data":%b}' % (BLOB_LINE, ref.digest.encode(), content)
                seq += 1
            yield line
