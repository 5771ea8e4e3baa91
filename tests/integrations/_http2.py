"""A server of HTTP/2 with prior knowledge, for one answer."""

from __future__ import annotations

import contextlib
import socket
import threading


class Http2Server:
    """Answers every request with ``body``; entering gives its address."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def __enter__(self) -> str:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}/"

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self._thread.join(5)

    def _serve(self) -> None:
        from h2.config import H2Configuration
        from h2.connection import H2Connection
        from h2.events import RequestReceived

        with contextlib.suppress(OSError):
            sock, _ = self._listener.accept()
            with sock:
                connection = H2Connection(H2Configuration(client_side=False))
                connection.initiate_connection()
                sock.sendall(connection.data_to_send())
                while data := sock.recv(65536):
                    for event in connection.receive_data(data):
                        if isinstance(event, RequestReceived):
                            connection.send_headers(event.stream_id, [(":status", "200"), ("x-by", "h2")])
                            connection.send_data(event.stream_id, self._body, end_stream=True)
                    sock.sendall(connection.data_to_send())
