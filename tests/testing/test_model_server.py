"""The scripted server below the wire formats: its scripts, its HTTP, the ways it breaks off."""

import gzip
import http.client
import json
import socket
import threading
import time
from urllib.parse import urlsplit

import pytest

from playhead.testing import Drop, Fail, ModelServer, Raw, Refusal, Request, Text, ToolCall, ToolCalls

CHAT = "/v1/chat/completions"


def connect(server):
    return http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)


def post(connection, path=CHAT, /, *, headers=None, **fields):
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}], **fields})
    connection.request("POST", path, body, {"content-type": "application/json", **(headers or {})})
    response = connection.getresponse()
    return response, response.read()


def said(body):
    return json.loads(body)["choices"][0]["message"]["content"]


def test_answers_are_used_in_order_and_then_the_server_says_it_has_none_left():
    with ModelServer([Text("one"), Text("two")]) as server:
        connection = connect(server)
        assert [said(post(connection)[1]) for _ in range(2)] == ["one", "two"]
        response, body = post(connection)
        assert server.hits == 3
    assert response.status == 500
    assert response.headers["x-should-retry"] == "false"
    error = json.loads(body)["error"]
    assert error["code"] == "script_failed"
    assert error["message"] == f"request 3, POST {CHAT}: the script has no answer left; it had 2"
    assert server.failures == [error["message"]]


def test_a_function_gets_the_parsed_request_and_decides():
    def script(request: Request):
        return Text(f"{request.dialect} {request.model} {request.stream} {request.user_text} {request.number}")

    with ModelServer(script) as server:
        _, body = post(connect(server))
    assert said(body) == "openai.chat m False hi 1"


def test_a_function_that_fails_is_named_in_the_answer_and_in_the_failures():
    def script(request: Request):
        raise LookupError("no such order")

    with ModelServer(script) as server:
        response, body = post(connect(server))
    assert response.status == 500
    assert "LookupError: no such order" in json.loads(body)["error"]["message"]
    assert len(server.failures) == 1


def test_a_mapping_scripts_each_model_by_itself():
    with ModelServer({"big": [Text("from big")], "*": lambda request: Text(f"from {request.model}")}) as server:
        connection = connect(server)
        answers = [said(post(connection, model=model)[1]) for model in ("small", "big", "other")]
    assert answers == ["from small", "from big", "from other"]


def test_a_model_that_no_script_knows_is_a_failure():
    with ModelServer({"big": Text("hi")}) as server:
        assert post(connect(server), model="small")[0].status == 500
    assert "['big'] but not 'small'" in server.failures[0]


def test_one_answer_serves_every_request():
    with ModelServer(Text("always")) as server:
        connection = connect(server)
        assert {said(post(connection)[1]) for _ in range(5)} == {"always"}


def test_ids_and_nonces_are_fresh_in_every_answer_unless_deterministic():
    def bodies(**settings):
        with ModelServer(Text("same"), **settings) as server:
            connection = connect(server)
            return [post(connection)[1] for _ in range(2)]

    first, second = bodies()
    assert json.loads(first)["id"] != json.loads(second)["id"]
    assert bodies()[0] != first
    assert bodies(deterministic=True) == bodies(deterministic=True)
    assert len(set(bodies(deterministic=True))) == 2


def test_routes_answer_plain_http_and_come_before_the_script():
    routes = {
        "GET /orders": Raw(200, b'{"orders": []}', headers={"Content-Type": "application/json", "ETag": "x"}),
        "/note": [Text("noted"), Fail(403, "not yours")],
    }
    with ModelServer([Text("script")], routes=routes) as server:
        connection = connect(server)
        connection.request("GET", "/orders?since=1")
        response = connection.getresponse()
        assert (response.read(), response.headers["etag"]) == (b'{"orders": []}', "x")
        assert server.requests[0].query == {"since": ["1"]}
        assert post(connection, "/note")[1] == b"noted"
        response, body = post(connection, "/note")
        assert (response.status, json.loads(body)["error"]["message"]) == (403, "not yours")
        connection.request("GET", "/elsewhere")
        assert connection.getresponse().read() == b"script"


def test_one_connection_carries_many_requests():
    with ModelServer(Text("hi")) as server:
        connection = connect(server)
        connection.connect()
        port = connection.sock.getsockname()
        for fields in ({}, {"stream": True}, {"stream": True}, {}):
            post(connection, **fields)
            assert connection.sock.getsockname() == port


def test_a_client_that_asks_to_close_is_obeyed():
    with ModelServer(Text("hi")) as server:
        response, _ = post(connect(server), headers={"connection": "close"})
    assert response.headers["connection"] == "close"


def test_a_stream_arrives_event_by_event_and_not_at_its_end():
    with ModelServer(Text("one two", drop_after=2, hang=True)) as server:
        connection = connect(server)
        connection.request("POST", CHAT, json.dumps({"model": "m", "messages": [], "stream": True}))
        response = connection.getresponse()
        assert response.headers["transfer-encoding"] == "chunked"
        lines = [response.readline() for _ in range(4)]
        assert lines[1] == lines[3] == b"\n"
        assert json.loads(lines[2].removeprefix(b"data: "))["choices"][0]["delta"] == {"content": "one"}


def test_raw_chunks_are_http_chunks_as_given():
    with ModelServer(routes={"/x": Raw(207, chunks=[b"ab", b"", b"c\n"], delays=[0, 0.001])}) as server:
        sock = socket.create_connection(("127.0.0.1", urlsplit(server.url).port))
        with sock, sock.makefile("rb") as file:
            sock.sendall(b"GET /x HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            head, _, body = file.read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 207 Multi-Status\r\n")
    assert body == b"2\r\nab\r\n2\r\nc\n\r\n0\r\n\r\n"


def test_http_1_0_head_and_chunked_requests_are_understood():
    with ModelServer(lambda request: Raw(200, request.body or b"none")) as server:
        address = ("127.0.0.1", urlsplit(server.url).port)

        def exchange(request: bytes) -> tuple[bytes, bytes]:
            with socket.create_connection(address) as sock, sock.makefile("rb") as file:
                sock.sendall(request)
                head, _, body = file.read().partition(b"\r\n\r\n")
                return head.lower(), body

        assert exchange(b"GET / HTTP/1.0\r\n\r\n")[1] == b"none"
        head, body = exchange(b"HEAD / HTTP/1.1\r\nconnection: close\r\n\r\n")
        assert (b"content-length: 4" in head, body) == (True, b"")
        chunked = b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
        assert exchange(chunked + b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n")[1] == b"abcde"
        expecting = b"POST / HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi"
        head, rest = exchange(expecting)
        assert head == b"http/1.1 100 continue"
        assert rest.endswith(b"hi")


@pytest.mark.parametrize("junk", [b"\x16\x03\x01 no http\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n\r\n"])
def test_what_is_not_http_gets_400_and_is_noted(junk):
    with ModelServer(Text("hi")) as server:
        with socket.create_connection(("127.0.0.1", urlsplit(server.url).port)) as sock, sock.makefile("rb") as file:
            sock.sendall(junk)
            assert file.read().startswith(b"HTTP/1.1 400 ")
        assert (server.hits, len(server.failures)) == (0, 1)


def test_a_reset_is_a_reset_and_a_drop_an_end():
    with ModelServer([Drop(rst=True), Drop()]) as server:
        with pytest.raises(ConnectionResetError):
            post(connect(server))
        with pytest.raises(http.client.RemoteDisconnected):
            post(connect(server))


def test_gzip_is_used_only_for_clients_that_accept_it():
    with ModelServer(Text("hi " * 100), gzip=True) as server:
        connection = connect(server)
        plain, body = post(connection)
        assert plain.headers["content-encoding"] is None
        packed, packed_body = post(connection, headers={"accept-encoding": "br, gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert said(gzip.decompress(packed_body)) == said(body)


def test_many_clients_are_served_at_once():
    barrier = threading.Barrier(8, timeout=10)

    def script(request: Request):
        barrier.wait()
        return Text("together")

    with ModelServer(script) as server:
        threads = [threading.Thread(target=lambda: post(connect(server))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (server.hits, server.failures) == (8, [])


def test_closing_lets_go_of_what_hangs_and_refuses_what_comes_after():
    with ModelServer(Text("never", hang=True)) as server:
        connection = connect(server)
        connection.request("POST", CHAT, "{}")
        while not server.hits:
            time.sleep(0.001)
        server.close()
        with pytest.raises(http.client.RemoteDisconnected):
            connection.getresponse()
    with pytest.raises(ConnectionRefusedError):
        connect(server).connect()


def test_tool_results_and_the_users_words_are_read_from_every_format():
    requests = {
        CHAT: {
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "go"}]},
                {"role": "assistant", "tool_calls": []},
                {"role": "tool", "tool_call_id": "c1", "content": "42"},
            ]
        },
        "/v1/responses": {
            "input": [
                {"role": "user", "content": "go"},
                {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "42"},
            ]
        },
        "/v1/messages": {
            "messages": [
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "42"}]},
            ]
        },
        "/v1beta/models/m:generateContent": {
            "contents": [
                {"role": "user", "parts": [{"text": "go"}]},
                {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "f", "response": 42}}]},
            ]
        },
    }
    for path, body in requests.items():
        request = Request("POST", path, [], json.dumps(body).encode(), number=1)
        assert [(result.id, result.content) for result in request.tool_results] == [("c1", "42")], path
        assert request.user_text == "go", path


def test_pieces_that_do_not_make_the_text_are_refused():
    with ModelServer(Text("abc", stream_pieces=["a", "b"])) as server:
        assert post(connect(server))[0].status == 500
    assert "stream_pieces" in server.failures[0]


@pytest.mark.parametrize("answer", [Refusal("no"), ToolCalls([ToolCall("f", {})])])
def test_plain_http_has_no_model_to_refuse_or_call(answer):
    with ModelServer(routes={"/x": answer}) as server:
        assert post(connect(server), "/x")[0].status == 500
