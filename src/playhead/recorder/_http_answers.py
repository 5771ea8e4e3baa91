"""What an answer over HTTP says: its body in the form in which it is kept, its tokens, what became of the question."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import msgspec

from playhead.boundary import Streamed
from playhead.eventlog import counted
from playhead.masking import Masker
from playhead.providers import ModelCall, encode_content, read_json, read_model_version, read_outcome, read_usage
from playhead.recorder._pieces import mask_events, mask_tokens

_UNFINISHED = ("error", "left", "truncated")
"""Verdicts of answers that broke off: the tokens counted so far are fewer than what was used."""

_encode_json = msgspec.json.Encoder().encode

Body = dict[str, Any]


class AnswerReader:
    """Reads answers and masks them."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker

    def read(
        self, outcome: Streamed, error: Any, *, model: ModelCall | None, asked: bytes | None
    ) -> tuple[Body, Body, bool]:
        """The parts of an answer that are to be masked yet, those that are masked, and whether it is a failure.

        ``error`` is the tree of what cut it short; ``asked`` is the body of the request.
        """
        head = outcome.head
        assert head is not None
        types = [value for name, value in head.headers if name.lower() == "content-type"]
        encodings = [value for name, value in head.headers if name.lower() == "content-encoding"]
        complete = outcome.end == "complete"
        provider = model.provider if model else None
        plain = encode_content(
            outcome.items,
            content_type=types[0] if types else "",
            encoding=encodings[0] if encodings else "",
            provider=provider,
            complete=complete,
        )
        content = self._masked_content(plain, asked, cut=self._is_cut(outcome, plain, provider))
        body: Body = {
            "status": head.status,
            "protocol": {"version": head.version, "reason": head.reason},
            "gaps": to_micros(outcome.gaps_ns),
            "end": outcome.end,
        }
        if outcome.head_ns is not None:
            body["head_after"] = [-(-outcome.head_ns // 1000), *outcome.head_turns]
        if error is not None:
            body["error"] = error
        failed = outcome.end == "broken" or (head.status >= 400 and model is not None)
        if model is not None:
            body |= self._read_answer(model.provider, head.status, read_json(content), outcome)
            if outcome.gaps_ns:
                body["first_ns"] = outcome.gaps_ns[0]
            failed = failed or body["verdict"]["kind"] in ("error", "truncated")
        return body, {"headers": self._masker.headers(head.headers), "content": content}, failed

    def _is_cut(self, outcome: Streamed, plain: Body, provider: Any) -> bool:
        """Whether the body breaks off anywhere, so that its texts may end inside a secret."""
        if outcome.end == "complete":
            return False
        said = read_json(plain)
        if provider is None or said is None or outcome.end != "closed":
            return True
        return read_outcome(provider, 200, said, complete=True).kind == "truncated"

    def _masked_content(self, plain: Body, asked: bytes | None, *, cut: bool) -> Body:
        """A body without its secrets, also those that are spread over events or tokens."""
        content: Body = self._masker.value(plain, cut=cut)
        if b'"token"' in _encode_json(content) and b"ogprobs" in (asked or b""):
            content = mask_tokens(self._masker, content)
        if plain["form"] == "text" and "cuts" in plain:
            content = mask_events(self._masker, content)
        if content != plain and "wire" in content.get("encoding", ()):
            content = {**content, "encoding": {"name": content["encoding"]["name"]}}
        return content

    def _read_answer(self, provider: Any, status: int, said: Any, outcome: Streamed) -> Body:
        """What a model's answer says of itself; a wire format that surprises us is not a reason to lose the answer.

        SDKs leave a stream at its closing mark, before the connection's end, so a stream that was left is
        whole where the model said that it had finished; otherwise the program left it, which is no failure.
        """
        try:
            usage = read_usage(provider, said)
            verdict = msgspec.to_builtins(read_outcome(provider, status, said, complete=_seems_whole(outcome)))
            version = read_model_version(provider, said)
        except Exception as error:
            return {"verdict": {"kind": "ok", "unread": type(error).__name__}}
        if verdict["kind"] == "truncated" and outcome.end in ("closed", "cancelled"):
            verdict = {"kind": "left", "detail": f"left by the program after {counted(len(outcome.items), 'piece')}"}
        read: Body = {"verdict": verdict}
        if usage is not None:
            partial = {"partial": True} if verdict["kind"] in _UNFINISHED else {}
            read["usage"] = msgspec.to_builtins(usage) | partial
        if version is not None:
            read["version"] = version
        return read


def _seems_whole(outcome: Streamed) -> bool:
    return outcome.end in ("complete", "closed")


def to_micros(gaps_ns: Sequence[int]) -> list[int]:
    """The gaps in microseconds. Their sum stays true: a long stream does not drift against all else.

    None ends before its piece came: what came less than a microsecond before that is not taken to have come after it.
    """
    ends = [-(-total // 1000) for total in accumulate(gaps_ns)]
    return [end - begin for begin, end in pairwise([0, *ends])]
