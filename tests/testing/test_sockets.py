"""The guard against connections."""

import asyncio
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import pytest

from playhead.testing import ForbiddenConnectionError, ModelServer, Text, forbid_connections


@pytest.fixture
def server():
    with ModelServer(Text("hi")) as server:
        yield server


def address(server):
    host, port = server.url.removeprefix("http://").split(":")
    return host, int(port)


def connect(server):
    with socket.socket() as sock:
        sock.connect(address(server))


def connect_ex(server):
    with socket.socket() as sock:
        sock.connect_ex(address(server))


def create_connection(server):
    socket.create_connection(address(server)).close()


def open_url(server):
    urllib.request.urlopen(server.url).close()


def send_datagram(server):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"x", address(server))


def connect_by_asyncio(server):
    async def run():
        _, writer = await asyncio.open_connection(*address(server))
        writer.close()

    asyncio.run(run())


def connect_in_a_thread(server):
    caught: list[BaseException] = []

    def run():
        try:
            connect(server)
        except BaseException as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if caught:
        raise caught[0]


WAYS = [connect, connect_ex, create_connection, open_url, send_datagram, connect_by_asyncio, connect_in_a_thread]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_connect_is_refused_and_counted_and_free_again_afterwards(server, way):
    with forbid_connections() as guard, pytest.raises(ForbiddenConnectionError):
        way(server)
    assert guard.attempts == [server.url.removeprefix("http://")]
    way(server)
    assert len(guard.attempts) == 1


def test_a_name_look_up_is_an_attempt_even_where_no_name_can_be_resolved():
    with forbid_connections() as guard, pytest.raises(ForbiddenConnectionError):
        urllib.request.urlopen("http://api.example.invalid/")
    assert guard.attempts == ["api.example.invalid:80"]


def test_an_attempt_that_the_program_swallowed_is_still_counted(server):
    with forbid_connections() as guard:
        for _ in range(2):
            try:
                connect(server)
            except Exception:
                continue
    assert len(guard.attempts) == 2


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no Unix sockets here")
def test_unix_sockets_and_pairs_and_event_loops_are_free(tmp_path):
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        listener.bind(path)
        listener.listen()
        with forbid_connections() as guard:
            client.connect(path)
            for sock in socket.socketpair():
                sock.close()
            asyncio.run(asyncio.sleep(0))
            socket.getaddrinfo("127.0.0.1", 80)
    assert guard.attempts == []


def test_the_standard_librarys_own_pair_of_tcp_sockets_is_free():
    make_pair = getattr(socket, "_fallback_socketpair", None)
    if make_pair is None:
        pytest.skip("this Python has only one way to make a pair")
    with forbid_connections() as guard:
        for sock in make_pair():
            sock.close()
    assert guard.attempts == []


def test_a_guard_inside_a_guard_leaves_the_outer_one_in_force(server):
    with forbid_connections() as outer:
        with forbid_connections() as inner:
            pass
        with pytest.raises(ForbiddenConnectionError):
            connect(server)
    assert (len(outer.attempts), inner.attempts) == (1, [])


def test_a_failure_inside_lifts_the_guard(server):
    with pytest.raises(ZeroDivisionError), forbid_connections():
        _ = 1 / 0
    connect(server)


def test_an_sdk_does_not_take_the_refusal_for_a_fault_of_the_network(server):
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(api_key="k", base_url=server.openai_url, max_retries=5)
    with forbid_connections() as guard, pytest.raises(ForbiddenConnectionError):
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
    assert len(guard.attempts) == 1


def test_the_hook_is_set_on_first_use_and_only_once():
    code = (
        "import sys; added = []; real = sys.addaudithook\n"
        "sys.addaudithook = lambda hook: added.append(hook) or real(hook)\n"
        "from playhead.testing import forbid_connections\nassert not added\n"
        "with forbid_connections(): pass\nwith forbid_connections(): pass\nassert len(added) == 1\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})
