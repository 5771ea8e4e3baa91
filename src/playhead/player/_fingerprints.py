"""Telling quickly whether two requests are equal.

A fingerprint digests the canonical form of a request. Model requests repeat the conversation, so each of
their parts is digested once: on the asked side parts are known by their raw bytes, on the recorded side the
reader hands out the same object for the same part.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Literal

import msgspec

from playhead.boundary import HttpRequest
from playhead.events import canonical
from playhead.masking import Masker
from playhead.player._mask_keys import without_keys
from playhead.player._requests import Request

Side = Literal["plain", "masked"]

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
        self._by_text: dict[tuple[Side, str], dict[bytes, bytes]] = defaultdict(dict)
        self._by_object: dict[int, tuple[Any, bytes]] = {}

    def of_request(self, request: Request) -> bytes:
        """The fingerprint of a request in the form of a tree."""
        content = request.content
        if request.boundary != "model" or not isinstance(content, Mapping):
            return self._digest(canonical([request.boundary, request.name, content]))
        return self._combine(request.name, {key: self._of_value(value) for key, value in content.items()})

    def of_model_call(self, provider: str, call: HttpRequest, *, side: Side) -> bytes | None:
        """The same for a live model request, from its raw bytes; ``None`` where they are not a plain object.

        That of the ``"masked"`` request decides. That of the ``"plain"`` one takes less time, and where it is
        that of a recorded request, it decides as well: what was recorded is masked, and a mask leaves that as
        it is, so what equals it before it is masked equals it afterwards.
        """
        try:
            parts = {}
            for key, raw in _decode_top(call.body or b"{}").items():
                whole = bytes(raw)
                known = self._by_text[side, key]
                is_list = whole[:1] == b"["
                texts = map(bytes, _decode_items(whole)) if is_list else (whole,)
                digests = [known.get(text) or self._of_text(side, key, text) for text in texts]
                parts[key] = self._of_items(digests) if is_list else digests[0]
            return self._combine(provider, parts)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None

    def _combine(self, name: str, parts: Mapping[str, bytes]) -> bytes:
        whole = blake2b(name.encode(), digest_size=_SIZE)
        for key in sorted(parts):
            whole.update(key.encode() + b"\0" + parts[key])
        return whole.digest()

    def _of_value(self, value: Any) -> bytes:
        if not isinstance(value, list):
            return self._of_tree(value)
        get = self._by_object.get
        return self._of_items(
            [
                known[1] if (known := get(id(item))) is not None and known[0] is item else self._of_tree(item)
                for item in value
            ]
        )

    def _of_tree(self, value: Any) -> bytes:
        if not isinstance(value, dict | list | str) or len(value) == 0:
            return self._digest(canonical(value))
        known = self._by_object.get(id(value))
        if known is None or known[0] is not value:
            known = self._by_object[id(value)] = (value, self._digest(canonical(value)))
        return known[1]

    def _of_text(self, side: Side, key: str, text: bytes) -> bytes:
        """The digest of one part; whether something in it is a secret may lie in the ``key`` that it stands under."""
        tree = _decode(text)
        if side == "masked":
            tree = next(iter(self._masker.value({key: [tree]}).values()))[0]
        digest = self._by_text[side, key][text] = self._digest(canonical(tree))
        return digest

    @staticmethod
    def _of_items(digests: list[bytes]) -> bytes:
        return blake2b(b"".join(digests), digest_size=_SIZE, person=b"list").digest()

    def _digest(self, text: bytes) -> bytes:
        if not self.same_key:
            text = without_keys(text.decode("utf-8")).encode("utf-8")
        return blake2b(text, digest_size=_SIZE).digest()
