"""The file format of recordings: written, read, verified, erased from; the read view `Recording`."""

from playhead.eventlog._blobs import BlobPlace, find_blobs
from playhead.eventlog._cutting import cut_recording
from playhead.eventlog._ends import End, count_steps, read_end
from playhead.eventlog._erasing import erase_body
from playhead.eventlog._files import writing
from playhead.eventlog._format import FORMAT, LIMITS, LIVE_SUFFIX, SEALED_SUFFIX, Head, Header, Limits
from playhead.eventlog._locking import is_held
from playhead.eventlog._moments import Moment, Moments
from playhead.eventlog._packing import pack
from playhead.eventlog._parts import escape, escape_text, list_ref, part_digest, part_ref
from playhead.eventlog._printing import counted, printable, shown_path
from playhead.eventlog._reader import Line, LogReader, Torn, read_header
from playhead.eventlog._recording import Exchange, Question, Recording, open_recording
from playhead.eventlog._verdicts import Break, Verification
from playhead.eventlog._verifying import verify
from playhead.eventlog._writer import LogWriter

__all__ = [
    "FORMAT",
    "LIMITS",
    "LIVE_SUFFIX",
    "SEALED_SUFFIX",
    "BlobPlace",
    "Break",
    "End",
    "Exchange",
    "Head",
    "Header",
    "Limits",
    "Line",
    "LogReader",
    "LogWriter",
    "Moment",
    "Moments",
    "Question",
    "Recording",
    "Torn",
    "Verification",
    "count_steps",
    "counted",
    "cut_recording",
    "erase_body",
    "escape",
    "escape_text",
    "find_blobs",
    "is_held",
    "list_ref",
    "open_recording",
    "pack",
    "part_digest",
    "part_ref",
    "printable",
    "read_end",
    "read_header",
    "shown_path",
    "verify",
    "writing",
]
