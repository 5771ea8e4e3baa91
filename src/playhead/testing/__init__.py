"""Tests without keys and without a network: a scripted model server and a guard against connections.

`ModelServer` is a real HTTP server on the loopback interface that speaks the wire formats of OpenAI, Anthropic and
Gemini, so the real SDKs talk to it. Its script says what the model answers, and how the network misbehaves.
`forbid_connections` proves that a piece of code opens no connection.
"""

from playhead.providers.writing import (
    Answer,
    Drop,
    Fail,
    Raw,
    Refusal,
    Request,
    Text,
    ToolCall,
    ToolCalls,
    ToolResult,
    Usage,
)

from ._scripts import Script
from ._server import ModelServer
from ._sockets import ConnectionGuard, ForbiddenConnectionError, forbid_connections

__all__ = [
    "Answer",
    "ConnectionGuard",
    "Drop",
    "Fail",
    "ForbiddenConnectionError",
    "ModelServer",
    "Raw",
    "Refusal",
    "Request",
    "Script",
    "Text",
    "ToolCall",
    "ToolCalls",
    "ToolResult",
    "Usage",
    "forbid_connections",
]
