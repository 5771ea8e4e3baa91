"""The wire formats of models: recognise a call, merge its stream, read what came back.

Pure functions over bytes and JSON. A ``provider`` is the name of a format (``openai.chat``, ``openai.responses``,
``anthropic.messages``, ``gemini.generate``), whoever speaks it; a stream of any other format is merged under any
other name (``sse``).

**A merged stream and the mask.** ``merge_stream`` gives ``final``, in which each text that grew stands once and whole,
and ``shape``, which holds of those texts nothing but lengths. So mask both, as any JSON, after merging: a secret
spread over deltas is one string by then. ``play_stream`` cuts a text whose length has changed into as many deltas as
before, each with its share, the last with what is left. What a shape repeats of ``final`` it refers to, and so takes
as masked. The numbers in a shape are lengths, counts and references: a mask leaves numbers alone, here as everywhere.
Log-probabilities are a list of tokens by nature, in ``final`` too: their pieces have to be masked together, as those
of a stream that is kept as it came.
"""

from playhead.providers._content import decode_content, decode_plain, encode_content, encode_plain, read_json
from playhead.providers._conversation import read_answer, read_conversation, read_parameters, read_text
from playhead.providers._json_schema import Fault, find_faults
from playhead.providers._merge import MergedStream, equal_for_client, merge_stream, play_stream
from playhead.providers._outcome import ModelOutcome, OutcomeKind, read_model_version, read_outcome
from playhead.providers._recognise import ModelCall, Provider, recognise
from playhead.providers._requests import RequestParts, final_user_turn, list_request_parts, tool_names
from playhead.providers._schemas import answer_schema, tool_schemas
from playhead.providers._sse import SseEvent, SseParser, parse_events
from playhead.providers._tool_calls import ToolCallSeen, Verdict, judge_arguments, read_tool_calls
from playhead.providers._usage import INPUT_INCLUDES_CACHED, Usage, read_usage

__all__ = [
    "INPUT_INCLUDES_CACHED",
    "Fault",
    "MergedStream",
    "ModelCall",
    "ModelOutcome",
    "OutcomeKind",
    "Provider",
    "RequestParts",
    "SseEvent",
    "SseParser",
    "ToolCallSeen",
    "Usage",
    "Verdict",
    "answer_schema",
    "decode_content",
    "decode_plain",
    "encode_content",
    "encode_plain",
    "equal_for_client",
    "final_user_turn",
    "find_faults",
    "judge_arguments",
    "list_request_parts",
    "merge_stream",
    "parse_events",
    "play_stream",
    "read_answer",
    "read_conversation",
    "read_json",
    "read_model_version",
    "read_outcome",
    "read_parameters",
    "read_text",
    "read_tool_calls",
    "read_usage",
    "recognise",
    "tool_names",
    "tool_schemas",
]
