"""Faults that people suffered from recorders of HTTP, over recordings in files."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest

import playhead
from playhead.testing import ModelServer, Raw, Request
from tests.faults.playing import diverge, record, replay, urls
from tests.integrations._clients import CLIENTS, Client
from tests.integrations._server import BINARY, DOCUMENT, Exchange, Server

CITIES = ("oslo", "lima", "cairo", "quito", "perth")


@pytest.mark.parametrize("other", CLIENTS, ids=repr)
def test_each_client_decodes_the_recorded_bytes_by_itself(other: Client, server: Server) -> None:
    """B04: recorded with one client, replayed with another."""

    def program(client: Client) -> tuple[Any, bytes]:
        return json.loads(client.fetch(f"{server.url}/zipped").body), client.fetch(f"{server.url}/binary").body

    run, live = record(lambda: program(CLIENTS[2]))
    assert live == (DOCUMENT, BINARY)
    with replay(run):
        assert program(other) == live


@pytest.mark.parametrize("how", ["gather", "threads"])
def test_parallel_callers_get_their_own_answers_whatever_the_order(how: str) -> None:
    """B06: in the replay the callers come in the opposite order."""

    def answer(request: Request) -> Raw:
        city = request.json["city"]
        return Raw(body=json.dumps({"said": city}), delay=0.01 * (len(CITIES) - CITIES.index(city)))

    def program(order: tuple[str, ...]) -> dict[str, str]:
        if how == "threads":
            with ThreadPoolExecutor(len(order)) as pool, httpx2.Client(verify=False) as client:

                def ask(city: str) -> str:
                    return str(client.post(url, json={"city": city}).json()["said"])

                return dict(zip(order, pool.map(ask, order), strict=True))

        async def run() -> dict[str, str]:
            async with httpx2.AsyncClient(verify=False) as client:

                async def ask(city: str) -> str:
                    return str((await client.post(url, json={"city": city})).json()["said"])

                return dict(zip(order, await asyncio.gather(*map(ask, order)), strict=True))

        return asyncio.run(run())

    with ModelServer(routes={"/city": answer}) as server:
        url = f"{server.url}/city"
        run, live = record(lambda: program(CITIES))
    assert live == {city: city for city in CITIES}
    with replay(run):
        assert program(CITIES) == live
    with replay(run) as playing:
        assert program(CITIES[::-1]) == live
    assert len(playing.report.reordered) >= 4


def test_a_stream_that_was_abandoned_belongs_to_its_own_run(server: Server) -> None:
    """B08 (a): its generator is collected while the next run is replayed."""
    with httpx2.Client(verify=False) as client:
        with playhead.record() as first:
            abandoned = client.send(client.build_request("GET", f"{server.url}/events"), stream=True).iter_raw()
            next(abandoned)
        run, _ = record(lambda: client.get(f"{server.url}/c").text)
        with replay(run):
            del abandoned
            gc.collect()
            assert client.get(f"{server.url}/c").text == "arrived"
    assert urls(first.id) == [f"{server.url}/events"]
    assert urls(run) == [f"{server.url}/c"]


def test_a_client_of_one_run_serves_the_next_and_its_replay(server: Server) -> None:
    """B08 (b): connections that it has kept open are not used in a replay."""
    with httpx2.Client(verify=False) as client:

        def program() -> str:
            return client.get(f"{server.url}/c").text

        record(program)
        run, live = record(program)
        before = server.hits
        with replay(run):
            assert program() == live
        assert server.hits == before
        assert program() == live
        assert server.hits == before + 1


def test_a_request_after_the_end_reaches_no_later_run_and_no_network_in_a_replay(server: Server) -> None:
    """B08 (c): a thread outlives its run, and another its replay."""
    results: list[str] = []

    def start(go: threading.Event) -> threading.Thread:
        def later() -> None:
            go.wait(10)
            try:
                results.append(httpx2.get(f"{server.url}/bytes/3").text)
            except playhead.PlayheadError as error:
                results.append(type(error).__name__)

        thread = threading.Thread(target=later)
        thread.start()
        return thread

    with playhead.record() as first:
        httpx2.get(f"{server.url}/c")
        thread = start(go := threading.Event())
    with playhead.record() as second:
        go.set()
        thread.join()
    with replay(first.id):
        httpx2.get(f"{server.url}/c")
        thread = start(go := threading.Event())
    before = server.hits
    go.set()
    thread.join()
    assert results == ["xxx", "LateCrossingError"]
    assert server.hits == before
    assert (urls(first.id), urls(second.id)) == ([f"{server.url}/c"], [])
    with playhead.record() as third:
        thread = start(go := threading.Event())
    with pytest.raises(playhead.DivergenceError, match="tried to connect"), playhead.replay(second.id):
        go.set()
        thread.join()
    assert results[2:] == ["ConnectionRefusedInReplayError"]
    assert server.hits == before
    assert urls(third.id) == []
    assert not hasattr(httpx2.HTTPTransport.handle_request, "__playhead__"), "nothing stays patched"


def test_repeated_headers_keep_order_case_and_number(server: Server) -> None:
    """B09: on both sides. The cookies' values are secrets, so a replay has others under the same names."""

    def program() -> tuple[list[str], list[tuple[bytes, bytes]]]:
        with httpx.Client() as client:
            found = client.get(f"{server.url}/cookies", headers=[("X-Trace", "one"), ("X-Trace", "two")])
            return sorted(client.cookies), [pair for pair in found.headers.raw if pair[0].lower() != b"set-cookie"]

    run, live = record(program)
    assert live[0] == ["a", "b"]
    with replay(run):
        assert program() == live
    exchange = playhead.load(run).exchanges[0]
    asked, answered = (list(side.body.headers) for side in (exchange.question, exchange.answer))  # type: ignore[union-attr]
    assert [value for name, value in asked if name == "X-Trace"] == ["one", "two"]
    assert [name for name, _ in answered][:4] == ["Set-Cookie", "Warning", "set-cookie", "Warning"]


def test_the_order_of_keys_means_nothing_and_the_order_of_items_does(server: Server) -> None:
    """B10: and a number is its value, however it is written."""

    def send(text: str) -> Callable[[], int]:
        headers = {"content-type": "application/json"}
        return lambda: httpx2.post(f"{server.url}/echo", content=text.encode(), headers=headers).status_code

    run, _ = record(send('{"b":1,"a":[2,3]}'))
    for same in ('{"a": [2, 3], "b": 1}', '{"a":[2,3],"b":1.0}'):
        with replay(run):
            assert send(same)() == 200
    divergence = diverge(run, send('{"a":[3,2],"b":1}')).divergence
    assert {each.path.split("/")[-2] for each in divergence.differences} == {"a"}


def test_the_boundary_of_a_multipart_body_means_nothing(client: Client, server: Server) -> None:
    """B11: each sending has another one; what is in the parts counts, and a replay adds nothing to the store."""

    def upload(content: bytes) -> Callable[[], int]:
        if client.name == "aiohttp":
            return lambda: _upload_by_aiohttp(f"{server.url}/echo", content)
        if client.name == "urllib3":
            fields = {"model": "x", "file": ("a.bin", content)}
            return lambda: client.fetch(f"{server.url}/echo", method="POST", fields=fields).status
        more = {"data": {"model": "x"}, "files": {"file": ("a.bin", content)}}
        return lambda: client.fetch(f"{server.url}/echo", method="POST", **more).status

    run, _ = record(upload(b"k" * 1024))
    path = playhead.load(run).path
    assert path is not None
    kept = {each: each.stat().st_size for each in path.parent.rglob("*")}
    bodies = [each.body for each in server.exchanges]
    assert b"--" in bodies[0]
    with replay(run):
        assert upload(b"k" * 1024)() == 200
    assert diverge(run, upload(b"k" * 1023 + b"l"))
    assert {each: each.stat().st_size for each in path.parent.rglob("*")} == kept


def _upload_by_aiohttp(url: str, content: bytes) -> int:
    import aiohttp

    async def run() -> int:
        form = aiohttp.FormData({"model": "x"})
        form.add_field("file", content, filename="a.bin")
        async with aiohttp.ClientSession() as session, session.post(url, data=form) as found:
            return found.status

    return asyncio.run(run())


@pytest.mark.parametrize(
    "kind", ["multipart/form-data; boundary=", "multipart/form-data; x-boundary=b; boundary=other"]
)
def test_a_multipart_body_that_cannot_be_read_is_compared_as_it_is(kind: str, server: Server) -> None:
    """B11: an empty boundary, and one that the body does not have."""

    def send(body: bytes) -> Callable[[], int]:
        headers = {"content-type": kind}
        return lambda: httpx2.post(f"{server.url}/echo", content=body, headers=headers).status_code

    run, _ = record(send(b"--b\r\n\r\none\r\n--b--"))
    with replay(run):
        assert send(b"--b\r\n\r\none\r\n--b--")() == 200
    assert diverge(run, send(b"--b\r\n\r\ntwo\r\n--b--"))


def test_a_chain_of_redirects_can_be_replayed_without_following_it(client: Client, server: Server) -> None:
    """B14: each hop is an exchange, so the first one has an answer of its own."""
    run, live = record(lambda: client.fetch(f"{server.url}/a"))
    assert (live.status, live.body, live.history[-2:]) == (200, b"arrived", live.history)
    assert [url.removeprefix(server.url) for url in urls(run)] == ["/a", "/b", "/c"]
    with replay(run):
        assert client.fetch(f"{server.url}/a").body == b"arrived"
    with pytest.raises(playhead.DivergenceError, match="never"), replay(run) as playing:
        assert client.fetch(f"{server.url}/a", follow=False).status == 302
    assert len(playing.report.unplayed) == 2
    run, live = record(lambda: client.fetch(f"{server.url}/form", method="POST", content=b"x"))
    with replay(run):
        assert client.fetch(f"{server.url}/form", method="POST", content=b"x").body == live.body == b"arrived"


def test_the_program_has_real_values_while_it_is_recorded(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B15: a token from one answer opens the next; the file does not hold it, and the replay matches."""
    monkeypatch.setenv("PLAYHEAD_SECRETS", "FAKE-t0k-9")

    def me(exchange: Exchange) -> None:
        right = ("authorization", "Bearer FAKE-t0k-9") in [(name.lower(), value) for name, value in exchange.headers]
        exchange.answer(b"you" if right else b"no", status="200 OK" if right else "403 Forbidden")

    def program() -> tuple[int, str]:
        with httpx2.Client(verify=False) as client:
            token = client.post(f"{server.url}/login").json()["token"]
            headers = {"authorization": f"Bearer {token}"}
            found = client.post(f"{server.url}/me", headers=headers, json={"token": token})
            return found.status_code, found.text

    with Server(login=lambda exchange: exchange.answer(b'{"token": "FAKE-t0k-9"}'), me=me) as server:
        run, live = record(program)
    assert live == (200, "you")
    texts = [repr(event.body) for event in playhead.load(run).events]
    assert "FAKE-t0k-9" not in "".join(texts)
    with replay(run):
        assert program() == live


def test_calls_that_are_missing_or_made_again_are_named(server: Server) -> None:
    """B18."""

    def program(*numbers: int) -> Callable[[], list[str]]:
        return lambda: [httpx2.get(f"{server.url}/bytes/{number}").text for number in numbers]

    run, _ = record(program(1, 2, 3))
    missing = diverge(run, program(1, 3))
    assert missing.divergence.kind == "unplayed"
    assert f"{server.url}/bytes/2" in str(missing)
    again = diverge(run, program(1, 2, 3, 3))
    assert again.divergence.kind == "again"
    assert f"{server.url}/bytes/3" in str(again)
    with replay(run, match="loose") as playing:
        program(1, 3)()
    assert [each.name for each in playing.report.unplayed] == [f"GET {server.url}/bytes/2"]


def test_traffic_of_the_background_is_no_part_of_the_run(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """B20: hosts that are ignored are recorded by nobody and reached by no replay."""
    failures: list[str] = []

    def program() -> list[str]:
        stop, sent = threading.Event(), threading.Event()

        def report() -> None:
            while not stop.is_set():
                try:
                    httpx2.post(f"{telemetry.url}/echo", content=b"span")
                except OSError as error:
                    failures.append(type(error).__name__)
                except httpx2.HTTPError as error:
                    failures.append(type(error).__name__)
                sent.set()
                time.sleep(0.005)

        thread = threading.Thread(target=report)
        thread.start()
        sent.wait(10)
        got = [httpx2.get(f"{server.url}/bytes/{number}").text for number in range(2)]
        stop.set()
        thread.join()
        return got

    with Server() as telemetry:
        monkeypatch.setenv("PLAYHEAD_IGNORE_HOSTS", f"127.0.0.1:{telemetry.port}")
        run, live = record(program)
        assert telemetry.hits > 0
        assert failures == []
        assert urls(run) == [f"{server.url}/bytes/{number}" for number in range(2)]
        before = telemetry.hits
        with replay(run):
            assert program() == live
        assert telemetry.hits == before
    assert set(failures) == {"ConnectError"}


def test_a_run_that_fails_leaves_the_good_recording_as_it_is(server: Server) -> None:
    """B21: each run is a recording of its own; what there was of the failed one is kept too."""

    def program(*, fail: bool = False) -> list[str]:
        got = [httpx2.get(f"{server.url}/bytes/1").text]
        if fail:
            raise RuntimeError("stopped")
        return [*got, httpx2.get(f"{server.url}/bytes/2").text, httpx2.get(f"{server.url}/bytes/3").text]

    good, live = record(program)
    path = playhead.load(good).path
    assert path is not None
    before = path.read_bytes()
    with pytest.raises(RuntimeError), playhead.record(kind="fault") as partial:
        program(fail=True)
    with playhead.record(kind="fault") as empty:
        pass
    assert path.read_bytes() == before
    assert playhead.load(partial.id).outcome == "failure"
    assert len(playhead.load(partial.id).exchanges) == 1
    assert len(playhead.load(empty.id).exchanges) == 0
    with replay(good):
        assert program() == live
