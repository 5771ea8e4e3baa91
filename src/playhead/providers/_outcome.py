"""How a model call came out: what a loop that only reads the text would miss."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from playhead.providers._draft import look_up

__all__ = ["ModelOutcome", "OutcomeKind", "read_model_version", "read_outcome"]

OutcomeKind = Literal["ok", "refusal", "error", "truncated", "length", "content_filter"]

_LONG: Final = ("length", "max_tokens", "model_context_window_exceeded", "max_output_tokens", "MAX_TOKENS")
_FILTERS: Final = frozenset(
    [
        "content_filter",
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "LANGUAGE",
        "MODEL_ARMOR",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
    ]
)
_FAILURES: Final = frozenset(
    [
        "error",
        "OTHER",
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MALFORMED_RESPONSE",
        "MISSING_THOUGHT_SIGNATURE",
        "NO_IMAGE",
        "IMAGE_OTHER",
    ]
)


class ModelOutcome(msgspec.Struct, frozen=True):
    """``kind``, and in ``detail`` the provider's words for it: an error's message, the refusal, a reason.

    - ``error``: an error status, or an error inside a stream that began with 200;
    - ``truncated``: the answer ends before the model said that it had;
    - ``refusal``: the model, or a filter before it said anything, declined;
    - ``content_filter``: a filter stopped an answer that had begun;
    - ``length``: the answer reached its limit of tokens.
    """

    kind: OutcomeKind
    detail: str | None = None


def read_outcome(provider: str, status: int, response: Any, *, complete: bool) -> ModelOutcome:
    """The outcome of a call from its HTTP status and its final JSON, merged or not. Never raises.

    ``complete`` is False where the body was left or dropped before its end. A complete stream may be truncated all the
    same: servers close connections politely in the middle of an answer.
    """
    error = _read_error(response)
    if error is not None or status >= 400:
        return ModelOutcome("error", error or f"HTTP {status}")
    reason, refusal, text = _READERS.get(provider, _read_nothing)(response)
    if refusal:
        return ModelOutcome("refusal", refusal)
    if reason in _FILTERS:
        return ModelOutcome("content_filter" if text else "refusal", reason)
    if reason in _FAILURES:
        return ModelOutcome("error", reason)
    if reason in _LONG:
        return ModelOutcome("length", reason)
    if not complete or reason is None:
        return ModelOutcome("truncated", "no end of the answer" if complete else "the body was cut off")
    return ModelOutcome("ok")


def _read_error(response: Any) -> str | None:
    for path in (("error",), ("choices", 0, "error"), (0, "error")):
        error = look_up(response, path)
        if error:
            return _describe(error)
    if look_up(response, ("type",)) == "error" or look_up(response, ("status",)) == "failed":
        return _describe(response)
    return None


def _describe(error: Any) -> str:
    if type(error) is not dict:
        return str(error)
    name = next((error[key] for key in ("code", "type", "status") if type(error.get(key)) is str), None)
    message = error.get("message")
    return ": ".join(part for part in (name, message) if type(part) is str and part) or "error"


def _read_nothing(response: Any) -> tuple[str | None, str | None, bool]:
    return "unknown", None, True


def _read_chat(response: Any) -> tuple[str | None, str | None, bool]:
    """The reason the answer ended (None: it did not), the refusal, and whether there is any answer."""
    choices = look_up(response, ("choices",))
    reasons: list[Any] = []
    refusal, text = None, False
    for choice in choices if type(choices) is list else ():
        message = look_up(choice, ("message",), {})
        reasons.append(look_up(choice, ("finish_reason",)))
        refusal = refusal or look_up(message, ("refusal",))
        text = text or bool(look_up(message, ("content",)) or look_up(message, ("tool_calls",)))
    if not reasons or None in reasons:
        return None, refusal, text
    telling = [reason for reason in reasons if reason in _FILTERS or reason in _FAILURES or reason in _LONG]
    reason = str((telling or reasons)[0])
    return reason, refusal or ("refusal" if reason == "refusal" else None), text


def _read_responses(response: Any) -> tuple[str | None, str | None, bool]:
    output = look_up(response, ("output",))
    refusals: list[str] = []
    text = False
    for item in output if type(output) is list else ():
        content = look_up(item, ("content",))
        for part in content if type(content) is list else ():
            if look_up(part, ("type",)) == "refusal":
                refusals.append(str(look_up(part, ("refusal",)) or "refusal"))
            text = text or bool(look_up(part, ("text",)))
    refusal = "\n".join(refusals) or None
    match look_up(response, ("status",)):
        case "incomplete":
            return str(look_up(response, ("incomplete_details", "reason")) or "max_output_tokens"), refusal, text
        case "in_progress" | "queued" if not look_up(response, ("background",)):
            return None, refusal, text
        case None:
            return None, refusal, text
    return "completed", refusal, text


def _read_messages(response: Any) -> tuple[str | None, str | None, bool]:
    content = look_up(response, ("content",))
    texts = [look_up(block, ("text",)) for block in content] if type(content) is list else []
    said = "".join(text for text in texts if type(text) is str)
    reason = look_up(response, ("stop_reason",))
    if reason == "refusal":
        return reason, said or str(look_up(response, ("stop_details", "explanation")) or "refusal"), bool(said)
    return reason if type(reason) is str else None, None, bool(content)


def _read_generate(response: Any) -> tuple[str | None, str | None, bool]:
    chunks = response if type(response) is list else [response]
    reason, text = None, False
    for chunk in chunks:
        blocked = look_up(chunk, ("promptFeedback", "blockReason"))
        if type(blocked) is str:
            return blocked, blocked, False
        reason = look_up(chunk, ("candidates", 0, "finishReason"), reason)
        text = text or bool(look_up(chunk, ("candidates", 0, "content", "parts")))
    return reason if type(reason) is str else None, None, text


_READERS: Final = {
    "openai.chat": _read_chat,
    "openai.responses": _read_responses,
    "anthropic.messages": _read_messages,
    "gemini.generate": _read_generate,
}

_MODEL_KEYS: Final = {"gemini.generate": "modelVersion"}


def read_model_version(provider: str, response: Any) -> str | None:
    """The model that answered, as the provider names it in its response; None where it does not say."""
    last = response[-1] if type(response) is list and response else response
    version = look_up(last, (_MODEL_KEYS.get(provider, "model"),))
    return version if type(version) is str and version else None
