"""The chat completions of the scripted server, as the real openai SDK sees them."""

import json
from typing import Any

import pytest

from playhead.testing import Drop, Fail, ModelServer, Refusal, Text, ToolCall, ToolCalls, Usage

openai = pytest.importorskip("openai")

MESSAGES = [{"role": "user", "content": "Where is order 7?"}]
USAGE = Usage(input_tokens=120, output_tokens=40, cached_input_tokens=100, reasoning_tokens=16)
CALLS = ToolCalls(
    [ToolCall("find", {"order": 7}, id="call_fixed"), ToolCall("note", {"text": "é 🌍"})], text="Looking."
)
QUICK = {"retry-after-ms": "1"}


def create(client: Any) -> Any:
    return client.chat.completions.create


@pytest.fixture
def chat(drive):
    def driver(server, *, max_retries=0, timeout=10.0):
        settings = {"api_key": "k", "base_url": server.openai_url, "max_retries": max_retries, "timeout": timeout}
        return drive(  # without TLS, which takes most of the time to set up a client
            lambda: openai.OpenAI(**settings, http_client=openai.DefaultHttpxClient(verify=False)),
            lambda: openai.AsyncOpenAI(**settings, http_client=openai.DefaultAsyncHttpxClient(verify=False)),
        )

    return driver


def ask(driver, **more):
    return driver.call(create, model="gpt-4o", messages=MESSAGES, **more)


def listen(driver, **more):
    return driver.stream(create, model="gpt-4o", messages=MESSAGES, stream=True, **more)


def test_text_comes_as_a_completion_with_usage_and_a_dated_model(chat):
    with ModelServer([Text("It is on its way, café.", usage=USAGE)]) as server:
        completion = ask(chat(server))
    assert type(completion).__name__ == "ChatCompletion"
    assert completion.id.startswith("chatcmpl-")
    assert completion.model == "gpt-4o-2024-08-06"
    assert completion.system_fingerprint.startswith("fp_")
    (choice,) = completion.choices
    assert (choice.finish_reason, choice.message.role) == ("stop", "assistant")
    assert choice.message.content == "It is on its way, café."
    assert choice.message.refusal is None
    usage = completion.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (120, 40, 160)
    assert usage.prompt_tokens_details.cached_tokens == 100
    assert usage.completion_tokens_details.reasoning_tokens == 16


def test_a_stream_brings_the_same_text_in_pieces_and_the_usage_once(chat):
    with ModelServer([Text("It is on its way, café 🌍.", usage=USAGE)]) as server:
        chunks, error = listen(chat(server), stream_options={"include_usage": True})
    assert error is None
    assert {type(chunk).__name__ for chunk in chunks} == {"ChatCompletionChunk"}
    assert len({chunk.id for chunk in chunks}) == 1
    pieces = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]
    assert pieces[0] == ""
    assert pieces[-1] is None
    assert len(pieces) > 5
    assert "".join(piece or "" for piece in pieces) == "It is on its way, café 🌍."
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert [chunk.usage.total_tokens for chunk in chunks if chunk.usage] == [160]


def test_usage_is_left_out_of_a_stream_that_did_not_ask_for_it(chat):
    with ModelServer([Text("Hi there.")]) as server:
        chunks, _ = listen(chat(server))
    assert all(chunk.usage is None and chunk.choices for chunk in chunks)


def test_tool_calls_come_typed_and_verbatim(chat):
    with ModelServer([CALLS]) as server:
        choice = ask(chat(server)).choices[0]
    assert (choice.finish_reason, choice.message.content) == ("tool_calls", "Looking.")
    first, second = choice.message.tool_calls
    assert (first.id, first.type, first.function.name) == ("call_fixed", "function", "find")
    assert json.loads(first.function.arguments) == {"order": 7}
    assert json.loads(second.function.arguments) == {"text": "é 🌍"}
    assert second.id.startswith("call_")


def test_streamed_tool_calls_are_put_together_by_the_sdk(chat):
    with ModelServer([CALLS]) as server:
        chunks, error = listen(chat(server))
    assert error is None
    calls: dict[int, dict[str, str]] = {}
    for delta in (chunk.choices[0].delta for chunk in chunks):
        for part in delta.tool_calls or []:
            call = calls.setdefault(part.index, {"id": "", "name": "", "arguments": ""})
            call["id"] += part.id or ""
            call["name"] += part.function.name or ""
            call["arguments"] += part.function.arguments or ""
    assert [call["name"] for call in calls.values()] == ["find", "note"]
    assert [json.loads(call["arguments"]) for call in calls.values()] == [{"order": 7}, {"text": "é 🌍"}]
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


def test_arguments_that_are_no_json_arrive_as_they_are(chat):
    """B28: a model's arguments are text, sound or not."""
    with ModelServer([ToolCalls([ToolCall("find", '{"order": 7, "order"')])]) as server:
        call = ask(chat(server)).choices[0].message.tool_calls[0]
    assert call.function.arguments == '{"order": 7, "order"'


def test_a_refusal_is_a_refusal_plain_and_streamed(chat):
    with ModelServer([Refusal("I cannot do that."), Refusal("I cannot do that.")]) as server:
        message = ask(chat(server)).choices[0].message
        chunks, _ = listen(chat(server))
    assert (message.content, message.refusal) == (None, "I cannot do that.")
    assert "".join(chunk.choices[0].delta.refusal or "" for chunk in chunks) == "I cannot do that."


def test_log_probabilities_come_when_asked_for(chat):
    with ModelServer([Text("Hi you.")] * 3) as server:
        choice = ask(chat(server), logprobs=True, top_logprobs=2).choices[0]
        chunks, _ = listen(chat(server), logprobs=True)
        silent = ask(chat(server)).choices[0]
    assert "".join(entry.token for entry in choice.logprobs.content) == "Hi you."
    assert all(len(entry.top_logprobs) == 2 and entry.logprob <= 0 for entry in choice.logprobs.content)
    assert "".join(c.choices[0].logprobs.content[0].token for c in chunks if c.choices[0].logprobs) == "Hi you."
    assert silent.logprobs is None


def test_a_text_cut_short_says_why(chat):
    with ModelServer([Text("It is", finish="length")]) as server:
        assert ask(chat(server)).choices[0].finish_reason == "length"


def test_the_sdk_tries_again_after_429_and_gets_the_answer(chat):
    with ModelServer([Fail(429, headers=QUICK), Text("Second time lucky.")]) as server:
        completion = ask(chat(server, max_retries=2))
        assert completion.choices[0].message.content == "Second time lucky."
        assert server.hits == 2
        assert server.requests[1].header("x-stainless-retry-count") == "1"


def test_the_sdk_tries_again_when_the_connection_drops_before_an_answer(chat):
    with ModelServer([Drop(rst=True), Text("Here.")]) as server:
        assert ask(chat(server, max_retries=2)).choices[0].message.content == "Here."


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, "BadRequestError"),
        (401, "AuthenticationError"),
        (403, "PermissionDeniedError"),
        (404, "NotFoundError"),
        (429, "RateLimitError"),
        (500, "InternalServerError"),
        (503, "InternalServerError"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_an_error_status_is_raised_as_the_sdks_own_error(chat, status, error, stream):
    with (
        ModelServer([Fail(status, "No such thing.", code="no_such_thing")]) as server,
        pytest.raises(getattr(openai, error)) as caught,
    ):
        ask(chat(server), stream=stream)
    assert caught.value.status_code == status
    assert caught.value.code == "no_such_thing"
    assert caught.value.body["message"] == "No such thing."
    assert caught.value.request_id.startswith("req_")


def test_a_server_that_never_answers_is_a_timeout(chat):
    with ModelServer(Text("too late", hang=True)) as server, pytest.raises(openai.APITimeoutError):
        ask(chat(server, timeout=0.2))


def test_a_stream_that_goes_silent_is_a_timeout_after_its_beginning(chat):
    with ModelServer(Text("one two three", drop_after=2, hang=True)) as server:
        chunks, error = listen(chat(server, timeout=0.2))
    assert "".join(chunk.choices[0].delta.content for chunk in chunks) == "one"
    assert type(error) is openai.APITimeoutError


@pytest.mark.parametrize("rst", [False, True])
def test_a_connection_lost_in_a_stream_leaves_the_text_so_far(chat, rst):
    with ModelServer([Text("one two three four", drop_after=3, rst=rst)]) as server:
        chunks, error = listen(chat(server, max_retries=2))
        assert server.hits == 1
    assert "".join(chunk.choices[0].delta.content for chunk in chunks) == "one two"
    assert type(error) is openai.APIConnectionError


@pytest.mark.parametrize("after", [0, 1])
def test_a_plain_body_cut_off_is_a_connection_error(chat, after):
    with ModelServer([Text("one two", drop_after=after)]) as server, pytest.raises(openai.APIConnectionError):
        ask(chat(server))


def test_an_error_event_ends_a_stream_that_began_well(chat):
    """B26: the status was 200, and yet it failed."""
    with ModelServer([Text("one two three four", error_event_after=3)]) as server:
        chunks, error = listen(chat(server))
    assert "".join(chunk.choices[0].delta.content for chunk in chunks) == "one two"
    assert type(error) is openai.APIError
    assert "overloaded" in error.message


def test_padding_is_there_unless_it_is_turned_off(chat):
    texts = [Text("one two")] * 3
    with ModelServer(texts) as server:
        padded, _ = listen(chat(server))
        bare, _ = listen(chat(server), stream_options={"include_obfuscation": False})
    with ModelServer(texts, padding=False) as server:
        off, _ = listen(chat(server))
    assert all(chunk.to_dict()["obfuscation"] for chunk in padded)
    assert not any("obfuscation" in chunk.to_dict() for chunk in [*bare, *off])


def test_response_headers_reach_the_sdk(chat):
    with ModelServer([Text("Hi.")]) as server:
        raw = chat(server).call(
            lambda client: client.chat.completions.with_raw_response.create, model="gpt-4o", messages=MESSAGES
        )
    assert raw.headers["openai-version"] == "2020-10-01"
    assert raw.headers["x-request-id"].startswith("req_")
    assert int(raw.headers["x-ratelimit-remaining-requests"]) > 0


def test_the_sdk_reads_gzip(chat):
    with ModelServer([Text("one two three " * 50)] * 2, gzip=True) as server:
        assert ask(chat(server)).choices[0].message.content == "one two three " * 50
        chunks, error = listen(chat(server))
    assert error is None
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "one two three " * 50
