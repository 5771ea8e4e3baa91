"""The messages of the scripted server, as the real anthropic SDK sees them."""

from typing import Any

import pytest

from playhead.testing import Fail, ModelServer, Refusal, Text, ToolCall, ToolCalls, Usage

anthropic = pytest.importorskip("anthropic")

QUESTION = {"model": "claude-opus-5", "max_tokens": 99, "messages": [{"role": "user", "content": "Where is order 7?"}]}
USAGE = Usage(input_tokens=120, output_tokens=40, cached_input_tokens=90, cache_write_tokens=10)
CALLS = ToolCalls(
    [ToolCall("find", {"order": 7}, id="toolu_fixed"), ToolCall("note", {"text": "é 🌍"})], text="Looking."
)


def create(client: Any) -> Any:
    return client.messages.create


@pytest.fixture
def messages(drive):
    def driver(server, *, max_retries=0, timeout=10.0):
        settings = {"api_key": "k", "base_url": server.anthropic_url, "max_retries": max_retries, "timeout": timeout}
        return drive(  # without TLS, which takes most of the time to set up a client
            lambda: anthropic.Anthropic(**settings, http_client=anthropic.DefaultHttpxClient(verify=False)),
            lambda: anthropic.AsyncAnthropic(**settings, http_client=anthropic.DefaultAsyncHttpxClient(verify=False)),
        )

    return driver


def ask(driver, **more):
    return driver.call(create, **QUESTION, **more)


def listen(driver, **more):
    return driver.stream(create, **QUESTION, stream=True, **more)


def texts(events):
    return "".join(event.delta.text for event in events if event.type == "content_block_delta")


def test_text_comes_as_a_message_whose_usage_counts_the_cache_apart(messages):
    with ModelServer([Text("On its way, café.", usage=USAGE)]) as server:
        message = ask(messages(server))
    assert type(message).__name__ == "Message"
    assert message.id.startswith("msg_01")
    assert message.model == "claude-opus-5-20250929"
    assert [(block.type, block.text) for block in message.content] == [("text", "On its way, café.")]
    assert message.stop_reason == "end_turn"
    usage = message.usage
    assert (usage.input_tokens, usage.output_tokens) == (20, 40)
    assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (90, 10)


def test_a_stream_tells_the_same_text_by_events_in_the_documented_order(messages):
    with ModelServer([Text("On its way.", stream_pieces=["On", " its way."], usage=USAGE)]) as server:
        events, error = listen(messages(server))
    assert error is None
    assert [event.type for event in events] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert texts(events) == "On its way."
    assert (events[0].message.usage.input_tokens, events[-2].usage.output_tokens) == (20, 40)
    assert events[-2].delta.stop_reason == "end_turn"


def test_the_sdks_own_accumulation_of_a_stream_agrees(messages):
    with ModelServer([CALLS]) as server:
        client = anthropic.Anthropic(api_key="k", base_url=server.anthropic_url)
        with client.messages.stream(**QUESTION) as stream:
            final = stream.get_final_message()
    assert [block.type for block in final.content] == ["text", "tool_use", "tool_use"]
    assert [block.input for block in final.content[1:]] == [{"order": 7}, {"text": "é 🌍"}]
    assert final.stop_reason == "tool_use"


def test_tool_calls_are_blocks_with_their_input(messages):
    with ModelServer([CALLS]) as server:
        message = ask(messages(server))
    text, first, second = message.content
    assert text.text == "Looking."
    assert (first.type, first.id, first.name, first.input) == ("tool_use", "toolu_fixed", "find", {"order": 7})
    assert second.id.startswith("toolu_01")
    assert message.stop_reason == "tool_use"


def test_a_stream_brings_broken_arguments_as_they_are_and_a_plain_answer_says_it_cannot(messages):
    """B28: a model's arguments are text, sound or not."""
    with ModelServer(ToolCalls([ToolCall("find", '{"order": ')])) as server:
        events, error = listen(messages(server))
        with pytest.raises(anthropic.InternalServerError):
            ask(messages(server))
        assert len(server.failures) == 1
    deltas = [event.delta.partial_json for event in events if event.type == "content_block_delta"]
    assert (error, "".join(deltas)) == (None, '{"order": ')


def test_a_refusal_is_a_stop_reason_plain_and_streamed(messages):
    """B30: a refusal is not an error, and not an answer either."""
    with ModelServer([Refusal("I cannot."), Refusal("")]) as server:
        message = ask(messages(server))
        events, _ = listen(messages(server))
    assert (message.stop_reason, message.content[0].text) == ("refusal", "I cannot.")
    assert [event.type for event in events] == ["message_start", "message_delta", "message_stop"]
    assert events[1].delta.stop_reason == "refusal"


def test_a_text_cut_short_says_why(messages):
    with ModelServer([Text("On", finish="length")]) as server:
        assert ask(messages(server)).stop_reason == "max_tokens"


def test_the_sdk_tries_again_after_429_and_gets_the_answer(messages):
    with ModelServer([Fail(429, headers={"retry-after-ms": "1"}), Text("Lucky.")]) as server:
        assert ask(messages(server, max_retries=1)).content[0].text == "Lucky."
        assert server.hits == 2


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (400, "BadRequestError", "invalid_request_error"),
        (401, "AuthenticationError", "authentication_error"),
        (403, "PermissionDeniedError", "permission_error"),
        (404, "NotFoundError", "not_found_error"),
        (429, "RateLimitError", "rate_limit_error"),
        (500, "InternalServerError", "api_error"),
        (529, "APIStatusError", "overloaded_error"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_an_error_status_is_raised_as_the_sdks_own_error(messages, status, error, kind, stream):
    with ModelServer([Fail(status, "No.")]) as server, pytest.raises(getattr(anthropic, error)) as caught:
        ask(messages(server), stream=stream)
    assert caught.value.status_code == status
    assert caught.value.body["error"] == {"type": kind, "message": "No."}
    assert caught.value.request_id.startswith("req_01")


def test_a_server_that_never_answers_is_a_timeout(messages):
    with ModelServer(Text("too late", hang=True)) as server, pytest.raises(anthropic.APITimeoutError):
        ask(messages(server, timeout=0.2))


@pytest.mark.parametrize("rst", [False, True])
def test_a_connection_lost_in_a_stream_leaves_the_text_so_far(messages, rst):
    with ModelServer([Text("one two three four", drop_after=5, rst=rst)]) as server:
        events, error = listen(messages(server))
    deltas = [event.delta.text for event in events if event.type == "content_block_delta"]
    assert "".join(deltas) == "one two"
    assert type(error).__name__ == ("ReadError" if rst else "RemoteProtocolError")


def test_an_error_event_ends_a_stream_that_began_well(messages):
    """B26: the status was 200, and yet it failed."""
    with ModelServer([Text("one two three four", error_event_after=4)]) as server:
        events, error = listen(messages(server))
    assert texts(events) == "one"
    assert isinstance(error, anthropic.APIStatusError)
    assert error.status_code == 200
    assert error.body["error"]["type"] == "overloaded_error"
