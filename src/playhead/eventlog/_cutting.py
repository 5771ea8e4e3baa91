"""The beginning of a recording, as a recording of its own that is held in memory."""

from __future__ import annotations

from playhead.eventlog._chain import digest_body
from playhead.eventlog._format import encode_erased, split_line
from playhead.eventlog._reader import BLOB_LINE, LogReader, first_line
from playhead.eventlog._recording import Recording
from playhead.eventlog._text import Text


def cut_recording(recording: Recording, last: int) -> Recording:
    """The events up to ``last``, with the numbers that they have; it is not sealed.

    A question that was answered later has no answer there. A sleep that ended later has no body: it is slept anew.
    """
    stored, columns = recording._stored, recording._columns
    asked = (seq for seq in columns.sleeps if seq <= last)
    waiting = {seq for seq in asked if columns.answers.get(seq, last + 1) > last}
    kept = [first_line(stored)]
    kept += [line for _, lines in Text(stored) for line in lines if line.startswith(BLOB_LINE)]
    for line in LogReader(stored):
        if line.event.seq > last:
            break
        split = split_line(line.text) if line.event.seq in waiting else None
        if split is not None and split.body is not None:
            kept.append(encode_erased(split.prefix, digest_body(split.body).hex()))
        else:
            kept.append(line.text)
    return Recording(b"\n".join([*kept, b""]), blobs=recording._blobs)
