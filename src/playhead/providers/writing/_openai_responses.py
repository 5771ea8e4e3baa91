"""The wire format of OpenAI's responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playhead.providers.writing._answers import Fail
from playhead.providers.writing._minting import Mint
from playhead.providers.writing._openai_chat import make_headers, make_logprobs, make_turn, stream_type, write_error
from playhead.providers.writing._requests import Request
from playhead.providers.writing._turns import Call, Turn
from playhead.providers.writing._wire_format import encode_json, encode_sse, fail_message

__all__ = [
    "make_headers",
    "make_turn",
    "stream_type",
    "write_error",
    "write_error_event",
    "write_events",
    "write_plain",
]

_ECHOED: dict[str, Any] = {
    "background": False,
    "frequency_penalty": 0.0,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}, "verbosity": "medium"},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}


def write_plain(turn: Turn, request: Request, mint: Mint) -> bytes:
    return encode_json(_Writer(turn, request, mint).completed())


def write_events(turn: Turn, request: Request, mint: Mint, *, padding: bool) -> list[bytes]:
    options = request.fields.get("stream_options") or {}
    padding = padding and options.get("include_obfuscation") is not False
    events: list[bytes] = []
    for kind, fields in _Writer(turn, request, mint).events():
        data = {"type": kind, **fields, "sequence_number": len(events)}
        if padding and kind.endswith(".delta"):
            data["obfuscation"] = mint.letters(1 + mint.below(15))
        events.append(encode_sse(data, event=kind))
    return events


def write_error_event(fail: Fail, request: Request, mint: Mint, *, number: int) -> bytes:
    code = fail.code or "server_error"
    error = {"type": code, "code": code, "message": fail_message(fail), "param": None}
    return encode_sse({"type": "error", "error": error, "sequence_number": number}, event="error")


class _Writer:
    """One response: its ids are the same in every place they appear."""

    def __init__(self, turn: Turn, request: Request, mint: Mint) -> None:
        self.turn = turn
        self.request = request
        self.frame = {"id": f"resp_{mint.hex(50)}", "object": "response", "created_at": mint.seconds()}
        self.message_id = f"msg_{mint.hex(50)}"
        self.call_ids = [f"fc_{mint.hex(50)}" for _ in turn.calls]
        with_logprobs = "message.output_text.logprobs" in (request.fields.get("include") or [])
        alternatives = request.fields.get("top_logprobs") or 0
        self.logprobs = make_logprobs(turn.pieces, mint, alternatives=alternatives) if with_logprobs else []

    def response(self, status: str, *, output: list[Any], usage: Any) -> dict[str, Any]:
        cut_short = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(self.turn.finish)
        echoed = {key: self.request.fields.get(key, default) for key, default in _ECHOED.items()}
        done = status != "in_progress"
        return {
            **self.frame,
            "status": "incomplete" if done and cut_short else status,
            "completed_at": self.frame["created_at"] if done and not cut_short else None,
            "error": None,
            "incomplete_details": {"reason": cut_short} if done and cut_short else None,
            **echoed,
            "model": self.turn.model,
            "output": output,
            "service_tier": "default" if done else "auto",
            "usage": usage,
        }

    def completed(self) -> dict[str, Any]:
        output = [self.message(self.part(self.turn.words))] if self.speaks else []
        output += [self.call(call, at, call.arguments, self.end_of(at)) for at, call in enumerate(self.turn.calls)]
        return self.response("completed", output=output, usage=self.usage())

    def end_of(self, at: int) -> str:
        """How a call ended: the last of an answer that reached its limit is not whole."""
        return "incomplete" if self.turn.finish == "length" and at == len(self.turn.calls) - 1 else "completed"

    @property
    def speaks(self) -> bool:
        return self.turn.text is not None or self.turn.refusal is not None

    def message(self, part: dict[str, Any] | None) -> dict[str, Any]:
        status = "completed" if part else "in_progress"
        content = [part] if part else []
        return {
            "id": self.message_id,
            "type": "message",
            "status": status,
            "content": content,
            "role": "assistant",
        }

    def part(self, words: str) -> dict[str, Any]:
        if self.turn.refusal is not None:
            return {"type": "refusal", "refusal": words}
        return {"type": "output_text", "annotations": [], "logprobs": self.logprobs if words else [], "text": words}

    def call(self, call: Call, at: int, arguments: str, status: str) -> dict[str, Any]:
        return {
            "id": self.call_ids[at],
            "type": "function_call",
            "status": status,
            "arguments": arguments,
            "call_id": call.id,
            "name": call.name,
        }

    def usage(self) -> dict[str, Any]:
        usage = self.turn.usage
        return {
            "input_tokens": usage.input_tokens,
            "input_tokens_details": {"cached_tokens": usage.cached_input_tokens},
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
            "total_tokens": usage.input_tokens + usage.output_tokens,
        }

    def events(self) -> Iterator[tuple[str, dict[str, Any]]]:
        started = self.response("in_progress", output=[], usage=None)
        yield "response.created", {"response": started}
        yield "response.in_progress", {"response": started}
        if self.speaks:
            yield from self.message_events()
        for at, call in enumerate(self.turn.calls):
            yield from self.call_events(call, at)
        completed = self.completed()
        yield f"response.{completed['status']}", {"response": completed}

    def message_events(self) -> Iterator[tuple[str, dict[str, Any]]]:
        item = {"item_id": self.message_id, "output_index": 0, "content_index": 0}
        kind = "response.refusal" if self.turn.refusal is not None else "response.output_text"
        said = {"refusal": self.turn.words} if self.turn.refusal is not None else {"text": self.turn.words}
        yield "response.output_item.added", {"output_index": 0, "item": self.message(None)}
        yield "response.content_part.added", {**item, "part": self.part("")}
        for at, piece in enumerate(self.turn.pieces):
            logprobs = {} if self.turn.refusal is not None else {"logprobs": self.logprobs[at : at + 1]}
            yield f"{kind}.delta", {**item, "delta": piece, **logprobs}
        logprobs = {} if self.turn.refusal is not None else {"logprobs": self.logprobs}
        yield f"{kind}.done", {**item, **said, **logprobs}
        part = self.part(self.turn.words)
        yield "response.content_part.done", {**item, "part": part}
        yield "response.output_item.done", {"output_index": 0, "item": self.message(part)}

    def call_events(self, call: Call, at: int) -> Iterator[tuple[str, dict[str, Any]]]:
        index = at + self.speaks
        item = {"item_id": self.call_ids[at], "output_index": index}
        added = self.call(call, at, "", "in_progress")
        yield "response.output_item.added", {"output_index": index, "item": added}
        for piece in call.pieces:
            yield "response.function_call_arguments.delta", {**item, "delta": piece}
        yield "response.function_call_arguments.done", {**item, "name": call.name, "arguments": call.arguments}
        done = self.call(call, at, call.arguments, self.end_of(at))
        yield "response.output_item.done", {"output_index": index, "item": done}
