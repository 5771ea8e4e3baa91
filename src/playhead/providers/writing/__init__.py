"""Writing what a model says in the wire formats that `playhead.providers` reads.

An `Answer` says what is said, or what goes wrong; `write_reply` gives the status, the headers and the pieces in which
the provider of a request would send it.
"""

from playhead.providers.writing._answers import (
    Answer,
    Drop,
    Fail,
    Finish,
    Raw,
    Refusal,
    Spoken,
    Text,
    ToolCall,
    ToolCalls,
    Usage,
)
from playhead.providers.writing._minting import Mint
from playhead.providers.writing._replies import Reply, write_reply
from playhead.providers.writing._requests import Dialect, Request, ToolResult

__all__ = [
    "Answer",
    "Dialect",
    "Drop",
    "Fail",
    "Finish",
    "Mint",
    "Raw",
    "Refusal",
    "Reply",
    "Request",
    "Spoken",
    "Text",
    "ToolCall",
    "ToolCalls",
    "ToolResult",
    "Usage",
    "write_reply",
]
