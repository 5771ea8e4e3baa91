"""How a process that plays recordings is told which, and says how each ended: messages over a socket of the two."""

from __future__ import annotations

import socket
from typing import Final

import msgspec

_HEAD: Final = 8


class Done(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the process of a replay ended, as `os.waitstatus_to_exitcode` gives it.

    Where ``forks`` is false nothing was played: the module has started threads, and a fork would not have them.
    """

    code: int = 0
    forks: bool = True


def send(sock: socket.socket, message: bytes, descriptor: int | None = None) -> None:
    """Hand over a message, and with it an open file."""
    head = len(message).to_bytes(_HEAD)
    if descriptor is None:
        sock.sendall(head)
    else:
        socket.send_fds(sock, [head], [descriptor])
    sock.sendall(message)


def receive(sock: socket.socket) -> tuple[bytes, int | None] | None:
    """The next message with its open file, ``None`` where the other side has gone."""
    head, descriptors, _, _ = socket.recv_fds(sock, _HEAD, 1)
    size = int.from_bytes(_rest(sock, head, _HEAD)) if head else 0
    message = _rest(sock, b"", size) if head else b""
    return (message, descriptors[0] if descriptors else None) if head and len(message) == size else None


def _rest(sock: socket.socket, begun: bytes, size: int) -> bytes:
    pieces, missing = [begun], size - len(begun)
    while missing > 0 and (piece := sock.recv(missing)):
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)
