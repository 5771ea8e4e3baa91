"""Writing down what crosses the boundary while a program runs."""

from playhead.recorder._copying import Copyist
from playhead.recorder._environment import CodeReader, read_code, read_environment, read_packages
from playhead.recorder._http_answers import AnswerReader
from playhead.recorder._losses import tell_incomplete
from playhead.recorder._processes import drain_all
from playhead.recorder._scribe import Scribe
from playhead.recorder._session import RecordSession
from playhead.recorder._writer import Writer

__all__ = [
    "AnswerReader",
    "CodeReader",
    "Copyist",
    "RecordSession",
    "Scribe",
    "Writer",
    "drain_all",
    "read_code",
    "read_environment",
    "read_packages",
    "tell_incomplete",
]
