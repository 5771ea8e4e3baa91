"""A server over TLS, and a proxy that opens tunnels to it."""

from __future__ import annotations

import contextlib
import datetime
import socket
import ssl
import threading
from pathlib import Path
from typing import Self

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret"


class TlsServer:
    """Answers every request with ``secret``. ``port`` is its own, ``proxy`` the address of the proxy before it."""

    def __init__(self, folder: Path) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(_certificate(folder))
        self.tunnels = 0

    def __enter__(self) -> Self:
        self._listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        self.port, proxy = (listener.getsockname()[1] for listener in self._listeners)
        self.url = f"https://127.0.0.1:{self.port}/x?y=1"
        self.proxy = f"http://127.0.0.1:{proxy}"
        for listener, serve in zip(self._listeners, (self._answer, self._tunnel), strict=True):
            threading.Thread(target=self._accept, args=(listener, serve), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for listener in self._listeners:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def _accept(self, listener: socket.socket, serve: object) -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = listener.accept()
                threading.Thread(target=serve, args=(sock,), daemon=True).start()  # type: ignore[arg-type]

    def _answer(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError), self._context.wrap_socket(sock, server_side=True) as tls:
            while b"\r\n\r\n" in tls.recv(65536):
                tls.sendall(ANSWER)

    def _tunnel(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError), sock, socket.create_connection(("127.0.0.1", self.port)) as far:
            sock.recv(65536)
            self.tunnels += 1
            sock.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            threading.Thread(target=_pump, args=(far, sock), daemon=True).start()
            _pump(sock, far)


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def _certificate(folder: Path) -> Path:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
    pem = serialization.Encoding.PEM
    place = folder / "server.pem"
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    place.write_bytes(secret + builder.sign(key, hashes.SHA256()).public_bytes(pem))
    return place
