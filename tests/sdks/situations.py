"""What can happen to a call of a model: what the server does, how the program reads, what the recording has to say."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from playhead.testing import Drop, Fail, Raw, Refusal, Text, ToolCall, ToolCalls, Usage
from tests.sdks.conversations import Way

USAGE = Usage(input_tokens=120, output_tokens=40, cached_input_tokens=90)
SAID = "Order 7 is on its way, café 🌍: it left the house this morning."
TEXT = Text(SAID, usage=USAGE, stream_pieces=7)
BUSY = Fail(429, headers={"retry-after-ms": "1", "retry-after": "0.001"})
IMPATIENT = 0.4


def text(**travel: Any) -> Text:
    """The usual answer, travelling in an unusual way."""
    return Text(SAID, usage=USAGE, stream_pieces=7, **travel)


def calls(*arguments: str, **travel: Any) -> ToolCalls:
    return ToolCalls([ToolCall("find", each) for each in arguments], usage=USAGE, **travel)


class Answered(NamedTuple):
    """One exchange as it has to be in the recording. ``verdict`` None: no answer began.

    ``end`` "said": the model had said that it was done; some SDKs leave then, some read on to the end. ``usage`` says
    whether the tokens are all there, ``partial`` (a lower bound: some providers count from the start) or unknown.
    """

    verdict: str | None = "ok"
    end: str = "said"
    usage: Literal["whole", "partial", "none"] = "whole"
    failed: bool = False
    status: int | None = 200


class Situation(NamedTuple):
    """``script`` None: nobody listens. ``error``: the SDK raises."""

    way: Way
    script: list[Any] | None
    answered: list[Answered]
    error: bool = False


OK = Answered()
FAILED = Answered("error", usage="none", failed=True)
NOTHING = Answered(None, usage="none", failed=True, status=None)
LEFT = Answered("left", "closed", usage="partial")
CUT = Answered("truncated", "broken", usage="none", failed=True)
CUT_STREAM = CUT._replace(usage="partial")


def status(number: int) -> Answered:
    return FAILED._replace(status=number)


BROKEN_ARGUMENTS = ('{"a":1,}', "null", "[1]", "", '{"a":1,"a":2}', '"' + "x" * 200_000)
"""B28: what models write where the arguments of a tool should stand."""

SITUATIONS: dict[str, Situation] = {
    "plain": Situation(Way("plain"), [TEXT], [OK]),
    "plain, with its headers": Situation(Way("raw"), [text(headers={"x-note": "a  b", "x-twice": "one, two"})], [OK]),
    "plain, tools wanted": Situation(Way("plain"), [calls('{"order": 7}', '{"text": "é 🌍"}')], [OK]),
    "plain, cut by a limit": Situation(
        Way("plain"), [Text("Order", finish="length", usage=USAGE)], [Answered("length")]
    ),
    "plain, refused": Situation(Way("plain"), [Refusal("I cannot.", usage=USAGE)], [Answered("refusal")]),
    "plain, filtered": Situation(Way("plain"), [Text("", finish="content_filter", usage=USAGE)], [Answered("refusal")]),
    "stream": Situation(Way("stream"), [TEXT], [OK]),
    "stream, by the helper": Situation(Way("helper"), [TEXT], [OK]),
    "stream, tools wanted": Situation(Way("stream"), [calls('{"order": 7}', '{"text": "é 🌍"}')], [OK]),
    "stream, broken arguments": Situation(Way("stream"), [calls(*BROKEN_ARGUMENTS, stream_pieces=5000)], [OK]),
    "stream, refused": Situation(Way("stream"), [Refusal("I cannot.", usage=USAGE)], [Answered("refusal")]),
    "stream, slow": Situation(Way("stream"), [text(chunk_delay=0.003)], [OK]),
    "left early": Situation(Way("leave"), [text(chunk_delay=0.01)], [LEFT]),
    "left unread": Situation(Way("unread"), [text(chunk_delay=0.01)], [LEFT._replace(usage="none")]),
    "429, then success": Situation(Way("plain", retries=2), [BUSY, TEXT], [status(429), OK]),
    "429, then a stream": Situation(Way("stream", retries=2), [BUSY, BUSY, TEXT], [status(429), status(429), OK]),
    "429 until it gives up": Situation(Way("plain", retries=1), [BUSY, BUSY], [status(429)] * 2, error=True),
    "no answer, then success": Situation(Way("plain", retries=2), [Drop(), TEXT], [NOTHING, OK]),
    **{
        f"error {code}": Situation(Way("plain"), [Fail(code, "No.")], [status(code)], error=True)
        for code in (400, 401, 404, 500, 529)
    },
    "error that is no JSON": Situation(
        Way("plain"),
        [Raw(502, "<html>bad gateway</html>", headers={"content-type": "text/html"})],
        [status(502)],
        error=True,
    ),
    "error in place of a stream": Situation(Way("stream"), [Fail(529, "No.")], [status(529)], error=True),
    "timeout": Situation(Way("plain", timeout=IMPATIENT), [text(hang=True)], [NOTHING], error=True),
    "timeout, then success": Situation(
        Way("plain", retries=2, timeout=IMPATIENT), [text(hang=True), TEXT], [NOTHING, OK]
    ),
    "timeout in a stream": Situation(
        Way("stream", timeout=IMPATIENT), [text(drop_after=4, hang=True)], [CUT_STREAM], error=True
    ),
    "nobody listens": Situation(Way("plain"), None, [NOTHING], error=True),
    "closed before the answer": Situation(Way("plain"), [Drop()], [NOTHING], error=True),
    "reset before the answer": Situation(Way("plain"), [Drop(rst=True)], [NOTHING], error=True),
    "closed in the body": Situation(Way("plain"), [text(drop_after=1)], [CUT], error=True),
    "reset in the body": Situation(Way("plain"), [text(drop_after=1, rst=True)], [CUT], error=True),
    "closed in a stream": Situation(Way("stream"), [text(drop_after=4, chunk_delay=0.005)], [CUT_STREAM], error=True),
    "reset in a stream": Situation(
        Way("stream"), [text(drop_after=4, rst=True, chunk_delay=0.02)], [CUT_STREAM], error=True
    ),
    "error event in a stream": Situation(
        Way("stream"), [text(error_event_after=4)], [FAILED._replace(usage="partial")], error=True
    ),
}

UNKNOWN_TO = {
    ("gemini.generate", "stream, broken arguments"): "arguments are JSON objects on its wire, never text",
    ("gemini.generate", "no answer, then success"): "most of its transports do not try again after that",
    ("gemini.generate-async", "timeout, then success"): "with aiohttp it does not try again after that",
    ("gemini.generate", "left unread"): "the SDK asks when the stream is first read",
    ("anthropic.messages", "plain, filtered"): "it has no such end of an answer",
}
"""What a provider's format or its SDK does not have: by the beginning of the flavour's name, and the situation."""

COUNTS_FROM_THE_START = ("anthropic.messages", "gemini.generate")
"""Providers whose streams tell tokens before their end."""


def why_unknown(flavour: str, situation: str) -> str | None:
    """Why this situation cannot come about with an SDK in a mode (``gemini.generate-async``); None where it can."""
    found = (why for (start, name), why in UNKNOWN_TO.items() if flavour.startswith(start) and name == situation)
    return next(found, None)


def foreseen(sdk: str, situation: str) -> list[Answered]:
    """The exchanges that the recording of a conversation through ``sdk`` has to show."""
    answered = SITUATIONS[situation].answered
    if sdk.startswith(COUNTS_FROM_THE_START):
        return answered
    return [each._replace(usage="none") if each.usage == "partial" else each for each in answered]
