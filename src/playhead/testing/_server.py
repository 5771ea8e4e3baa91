"""A model server that says what a script tells it, over real HTTP on the loopback interface."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import traceback
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from playhead.providers.writing import Answer, Drop, Fail, Mint, Raw, Reply, Request, write_reply

from ._connections import BadRequestError, Connection
from ._scripts import OutOfAnswersError, Script, ScriptReader

__all__ = ["ModelServer"]


class ModelServer:
    """A loopback server that speaks the wire formats of OpenAI, Anthropic and Gemini.

    ``script`` says what to answer (see `Script`); each answer is written in the format of the request and streamed
    if the request asks for it. ``routes`` are scripts for other requests, by ``"GET /path"`` or ``"/path"``, looked
    up first. By default every answer carries fresh random ids and nonces; ``deterministic=True`` makes them follow
    from the number of the request. ``padding=False`` leaves out the noise that some providers add to their streams
    to hide lengths; ``gzip=True`` compresses for clients that accept it. A request the script does not foresee gets
    an error 500 that says so, and a line in ``failures``.

        >>> from urllib.request import urlopen
        >>> from playhead.testing import ModelServer, Text
        >>> with ModelServer(routes={"GET /hello": Text("hi")}) as server:
        ...     urlopen(server.url + "/hello").read()
        b'hi'
    """

    def __init__(
        self,
        script: Script = (),
        *,
        routes: Mapping[str, Script] | None = None,
        deterministic: bool = False,
        padding: bool = True,
        gzip: bool = False,
        port: int = 0,
    ) -> None:
        self.requests: list[Request] = []
        self.failures: list[str] = []
        self._script = ScriptReader(script)
        self._routes = {route: ScriptReader(part) for route, part in (routes or {}).items()}
        self._deterministic = deterministic
        self._padding = padding
        self._gzip = gzip
        self._port = port
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._connections: set[Connection] = set()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", self._port), backlog=256)
        self._port = self._listener.getsockname()[1]
        self._bell, self._ringer = socket.socketpair()
        self._acceptor = threading.Thread(target=self._accept, name="model-server", daemon=True)
        self._acceptor.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def url(self) -> str:
        """The address, without a slash at the end."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def openai_url(self) -> str:
        """The base URL for OpenAI clients."""
        return self.url + "/v1"

    @property
    def anthropic_url(self) -> str:
        """The base URL for Anthropic clients."""
        return self.url

    @property
    def gemini_url(self) -> str:
        """The base URL for Gemini clients."""
        return self.url

    @property
    def hits(self) -> int:
        """How many requests have arrived."""
        return len(self.requests)

    def close(self) -> None:
        """Stop listening, break off every connection, let go of what hangs. From then on connections are refused."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._ringer.send(b"!")
        self._acceptor.join()
        with self._lock:
            for connection in self._connections:
                connection.interrupt()
        for thread in self._threads:
            thread.join(timeout=5)
        for sock in (self._listener, self._bell, self._ringer):
            sock.close()

    def _accept(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._bell, selectors.EVENT_READ)
            while not self._closing.is_set():
                selector.select()
                if not self._closing.is_set():
                    self._welcome(self._listener.accept()[0])
        self._listener.close()

    def _welcome(self, sock: socket.socket) -> None:
        connection = Connection(sock)
        with self._lock:
            self._connections.add(connection)
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            thread = threading.Thread(target=self._serve, args=(connection,), name="model-server", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: Connection) -> None:
        try:
            with contextlib.suppress(OSError):
                self._converse(connection)
        finally:
            with self._lock:
                self._connections.discard(connection)
            connection.close()

    def _converse(self, connection: Connection) -> None:
        while connection.open and not self._closing.is_set():
            try:
                came = connection.read_request()
            except (BadRequestError, ValueError) as error:
                self._fail(f"not HTTP: {error}")
                connection.send_head(400, {"connection": "close"}, length=0)
                return
            if came is None:
                return
            self._reply(connection, *came)

    def _reply(
        self, connection: Connection, method: str, target: str, headers: list[tuple[str, str]], body: bytes
    ) -> None:
        with self._lock:
            request = Request(method, target, headers, body, number=len(self.requests) + 1)
            self.requests.append(request)
        mint = Mint(seed=request.number if self._deterministic else None)
        try:
            answer = self._reader(request).answer(request)
            reply = write_reply(answer, request, mint, padding=self._padding, gzip=self._gzip)
        except OutOfAnswersError as error:
            answer, reply = self._unforeseen(request, mint, str(error))
        except Exception as error:
            answer, reply = self._unforeseen(request, mint, "".join(traceback.format_exception_only(error)).strip())
        _deliver(connection, answer, reply, closing=self._closing)

    def _reader(self, request: Request) -> ScriptReader:
        for route in (f"{request.method} {request.path}", request.path):
            if route in self._routes:
                return self._routes[route]
        return self._script

    def _unforeseen(self, request: Request, mint: Mint, why: str) -> tuple[Answer, Reply]:
        """The answer when there is none. It asks the SDKs not to try again."""
        message = f"request {request.number}, {request.method} {request.path}: {why}"
        self._fail(message)
        answer = Fail(500, message, code="script_failed", headers={"x-should-retry": "false"})
        return answer, write_reply(answer, request, mint, padding=False, gzip=False)

    def _fail(self, message: str) -> None:
        with self._lock:
            self.failures.append(message)


def _deliver(connection: Connection, answer: Answer, reply: Reply, *, closing: threading.Event) -> None:
    """Send ``reply`` the way ``answer`` wants it to travel."""
    if closing.wait(answer.delay):
        return
    if isinstance(answer, Drop) or (answer.hang and answer.drop_after is None):
        _break_off(connection, answer, closing=closing)
        return
    length = None if reply.streamed else sum(map(len, reply.pieces))
    connection.send_head(reply.status, reply.headers, length=length)
    delays = answer.delays if isinstance(answer, Raw) else ()
    for number, piece in enumerate(reply.pieces):
        if number == answer.drop_after:
            break
        if closing.wait(delays[number] if number < len(delays) else answer.chunk_delay):
            return
        if not reply.streamed and answer.drop_after is not None:
            piece = piece[: len(piece) // 2]
        connection.send(piece)
    if answer.drop_after is None:
        connection.finish()
    else:
        _break_off(connection, answer, closing=closing)


def _break_off(connection: Connection, answer: Answer, *, closing: threading.Event) -> None:
    if answer.hang:
        closing.wait()
    if answer.rst:
        connection.reset()
    else:
        connection.close()
