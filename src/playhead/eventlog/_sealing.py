"""The closing statement of a recording, and its signature.

What is signed is the text ``playhead seal 1\\nrun <run id as JSON>\\ncount <count>\\nhead <head>\\n``: its first line
keeps it apart from anything else that the same key may sign.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Union

import msgspec

from playhead.events import RecordingSealed, encode_body

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SealKey = Union[bytes, "Ed25519PrivateKey"]
"""An Ed25519 private key, or its 32 bytes."""

Signature = Literal["none", "good", "bad"]


def sealing_body(run: str, count: int, head: str, *, key: SealKey | None) -> bytes:
    """The body of ``recording.sealed``."""
    if key is None:
        return encode_body(RecordingSealed(count=count, head=head))
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.from_private_bytes(key) if isinstance(key, bytes) else key
    signature = private.sign(_statement(run, count, head)).hex()
    public = private.public_key().public_bytes_raw().hex()
    return encode_body(RecordingSealed(count=count, head=head, signature=signature, key=public))


def check_signature(run: str, seal: RecordingSealed) -> Signature:
    """Whether the seal is signed by the key that it names. Whether that key is to be trusted is the caller's to say."""
    if seal.signature is None and seal.key is None:
        return "none"
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(seal.key or ""))
        public.verify(bytes.fromhex(seal.signature or ""), _statement(run, seal.count, seal.head))
    except (InvalidSignature, ValueError):
        return "bad"
    return "good"


def _statement(run: str, count: int, head: str) -> bytes:
    return b"playhead seal 1\nrun %b\ncount %d\nhead %b\n" % (msgspec.json.encode(run), count, head.encode())
