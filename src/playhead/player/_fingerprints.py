"""Telling quickly whether two requests are equal.

A fingerprint digests the canonical form of a request. Model requests repeat the conversation, so each of
their parts is digested once: on the asked side parts are known by their raw bytes, on the recorded side the
reader hands out the same object for the same part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

import msgspec

from playhead.boundary import HttpRequest
from playhead.events import canonical
from playhead.masking import Masker
from playhead.player._mask_keys import without_keys
from playhead.player._requests import Request

_SIZE = 16
_decode_top = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode = msgspec.json.Decoder().decode


class Fingerprints:
    """Digests of requests, comparable within one replay.

    ``same_key`` says whether the recording was masked with the key that the program's side is masked with now;
    where it was not, one placeholder is as good as another.
    """

    def __init__(self, masker: Masker, *, same_key: bool) -> None:
        self._masker = masker
        self.same_key = same_key
        self._by_text: dict[bytes, bytes] = {}
        self._by_object: dict[int, tuple[Any, bytes]] = {}

    def of_request(self, request: Request) -> bytes:
        """The fingerprint of a request in the form of a tree."""
        content = request.content
        if request.boundary != "model" or not isinstance(content, Mapping):
            return self._digest(canonical([request.boundary, request.name, content]))
        return self._combine(request.name, {key: self._of_value(value) for key, value in content.items()})

    def of_model_call(self, provider: str, call: HttpRequest) -> bytes | None:
        """The same for a live model request, from its raw bytes; ``None`` where they are not a plain object."""
        try:
            top = _decode_top(call.body or b"{}")
            return self._combine(provider, {key: self._of_text(key, bytes(raw)) for key, raw in top.items()})
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None

    def _combine(self, name: str, parts: Mapping[str, bytes]) -> bytes:
        whole = blake2b(name.encode(), digest_size=_SIZE)
        for key in sorted(parts):
            whole.update(key.encode() + b"\0" + parts[key])
        return whole.digest()

    def _of_value(self, value: Any) -> bytes:
        if isinstance(value, list):
            return self._of_items([self._of_tree(item) for item in value])
        return self._of_tree(value)

    def _of_tree(self, value: Any) -> bytes:
        if not isinstance(value, dict | list | str) or len(value) == 0:
            return self._digest(canonical(value))
        known = self._by_object.get(id(value))
        if known is None or known[0] is not value:
            known = self._by_object[id(value)] = (value, self._digest(canonical(value)))
        return known[1]

    def _of_text(self, key: str, text: bytes) -> bytes:
        if text[:1] == b"[":
            return self._of_items([self._of_part(bytes(item), self._masker.value) for item in _decode_items(text)])
        return self._of_part(text, lambda tree: next(iter(self._masker.value({key: tree}).values())))

    def _of_part(self, text: bytes, mask: Callable[[Any], Any]) -> bytes:
        known = self._by_text.get(text)
        if known is None:
            known = self._by_text[text] = self._digest(canonical(mask(_decode(text))))
        return known

    @staticmethod
    def _of_items(digests: list[bytes]) -> bytes:
        return blake2b(b"".join(digests), digest_size=_SIZE, person=b"list").digest()

    def _digest(self, text: bytes) -> bytes:
        if not self.same_key:
            text = without_keys(text.decode("utf-8")).encode("utf-8")
        return blake2b(text, digest_size=_SIZE).digest()
