"""The chain of heads: ``head_n = SHA-256(head_{n-1} ‖ line before the body ‖ SHA-256(body))``."""

from __future__ import annotations

from hashlib import sha256


def first_head(header_line: bytes) -> bytes:
    """The head before any event: the digest of the header line, without its newline."""
    return sha256(header_line).digest()


def link(head: bytes, prefix: bytes, body_digest: bytes) -> bytes:
    """The head after an event.

    Each of the three has a fixed length or begins where the one before ends, so no two events link alike.
    """
    return sha256(head + prefix + body_digest).digest()


def digest_body(body: bytes) -> bytes:
    """The digest of a body's exact bytes, salt included."""
    return sha256(body).digest()
