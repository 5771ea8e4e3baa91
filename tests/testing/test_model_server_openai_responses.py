"""The responses of the scripted server, as the real openai SDK sees them."""

import json
from typing import Any

import pytest

from playhead.testing import Fail, ModelServer, Refusal, Text, ToolCall, ToolCalls, Usage

openai = pytest.importorskip("openai")

USAGE = Usage(input_tokens=120, output_tokens=40, cached_input_tokens=100, reasoning_tokens=16)
CALLS = ToolCalls(
    [ToolCall("find", {"order": 7}, id="call_fixed"), ToolCall("note", {"text": "é 🌍"})], text="Looking."
)


def create(client: Any) -> Any:
    return client.responses.create


@pytest.fixture
def responses(drive):
    def driver(server, *, max_retries=0, timeout=10.0):
        settings = {"api_key": "k", "base_url": server.openai_url, "max_retries": max_retries, "timeout": timeout}
        return drive(  # without TLS, which takes most of the time to set up a client
            lambda: openai.OpenAI(**settings, http_client=openai.DefaultHttpxClient(verify=False)),
            lambda: openai.AsyncOpenAI(**settings, http_client=openai.DefaultAsyncHttpxClient(verify=False)),
        )

    return driver


def ask(driver, **more):
    return driver.call(create, model="gpt-4o", input="Where is order 7?", **more)


def listen(driver, **more):
    return driver.stream(create, model="gpt-4o", input="Where is order 7?", stream=True, **more)


def test_text_comes_as_a_response_with_usage_and_echoed_settings(responses):
    with ModelServer([Text("On its way, café.", usage=USAGE)]) as server:
        response = ask(responses(server), instructions="Be kind.", temperature=0.25)
    assert type(response).__name__ == "Response"
    assert (response.status, response.output_text) == ("completed", "On its way, café.")
    assert (response.instructions, response.temperature) == ("Be kind.", 0.25)
    assert response.id.startswith("resp_")
    assert response.model == "gpt-4o-2024-08-06"
    (message,) = response.output
    assert (message.type, message.role, message.content[0].type) == ("message", "assistant", "output_text")
    usage = response.usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (120, 40, 160)
    assert usage.input_tokens_details.cached_tokens == 100
    assert usage.output_tokens_details.reasoning_tokens == 16


def test_a_stream_tells_the_same_text_by_events_in_the_documented_order(responses):
    with ModelServer([Text("On its way.", stream_pieces=["On", " its way."])]) as server:
        events, error = listen(responses(server))
    assert error is None
    assert [event.type for event in events] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [event.sequence_number for event in events] == list(range(10))
    assert [event.delta for event in events if event.type == "response.output_text.delta"] == ["On", " its way."]
    final = events[-1].response
    assert final.output_text == "On its way."
    assert {final.id} == {event.response.id for event in events if hasattr(event, "response")}
    assert type(events[4]).__name__ == "ResponseTextDeltaEvent"


def test_the_sdks_own_accumulation_of_a_stream_agrees(responses):
    with ModelServer([CALLS]) as server:
        client = openai.OpenAI(api_key="k", base_url=server.openai_url)
        with client.responses.stream(model="gpt-4o", input="hi") as stream:
            final = stream.get_final_response()
    assert final.output_text == "Looking."
    assert [json.loads(item.arguments) for item in final.output[1:]] == [{"order": 7}, {"text": "é 🌍"}]


def test_tool_calls_are_items_with_arguments_verbatim(responses):
    with ModelServer([CALLS, CALLS]) as server:
        response = ask(responses(server))
        events, _ = listen(responses(server))
    message, first, second = response.output
    assert message.content[0].text == "Looking."
    assert (first.type, first.call_id, first.name) == ("function_call", "call_fixed", "find")
    assert json.loads(second.arguments) == {"text": "é 🌍"}
    streamed = [event.item for event in events if event.type == "response.output_item.done"]
    assert [item.type for item in streamed] == ["message", "function_call", "function_call"]
    deltas = [e.delta for e in events if e.type == "response.function_call_arguments.delta" and e.output_index == 1]
    assert json.loads("".join(deltas)) == {"order": 7}


def test_a_refusal_is_a_refusal_plain_and_streamed(responses):
    with ModelServer([Refusal("I cannot."), Refusal("I cannot.")]) as server:
        response = ask(responses(server))
        events, _ = listen(responses(server))
    assert response.output_text == ""
    assert response.output[0].content[0].refusal == "I cannot."
    assert "".join(event.delta for event in events if event.type == "response.refusal.delta") == "I cannot."


def test_a_text_cut_short_is_an_incomplete_response(responses):
    with ModelServer([Text("On", finish="length"), Text("On", finish="length")]) as server:
        response = ask(responses(server))
        events, _ = listen(responses(server))
    assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert events[-1].type == "response.incomplete"


def test_log_probabilities_come_when_asked_for(responses):
    wanted = {"include": ["message.output_text.logprobs"], "top_logprobs": 2}
    with ModelServer([Text("Hi you.")] * 2) as server:
        part = ask(responses(server), **wanted).output[0].content[0]
        events, _ = listen(responses(server), **wanted)
    assert "".join(entry.token for entry in part.logprobs) == "Hi you."
    assert all(len(entry.top_logprobs) == 2 for entry in part.logprobs)
    assert [len(event.logprobs) for event in events if event.type == "response.output_text.delta"] == [1, 1, 1]


def test_the_sdk_tries_again_after_429_and_gets_the_answer(responses):
    with ModelServer([Fail(429, headers={"retry-after-ms": "1"}), Text("Lucky.")]) as server:
        assert ask(responses(server, max_retries=1)).output_text == "Lucky."
        assert server.hits == 2


@pytest.mark.parametrize(
    ("status", "error"), [(400, "BadRequestError"), (401, "AuthenticationError"), (500, "InternalServerError")]
)
def test_an_error_status_is_raised_as_the_sdks_own_error(responses, status, error):
    with ModelServer([Fail(status)]) as server, pytest.raises(getattr(openai, error)) as caught:
        ask(responses(server))
    assert caught.value.status_code == status
    assert caught.value.body["message"]


def test_a_server_that_never_answers_is_a_timeout(responses):
    with ModelServer(Text("too late", hang=True)) as server, pytest.raises(openai.APITimeoutError):
        ask(responses(server, timeout=0.2))


@pytest.mark.parametrize("rst", [False, True])
def test_a_connection_lost_in_a_stream_leaves_the_text_so_far(responses, rst):
    with ModelServer([Text("one two three four", drop_after=6, rst=rst)]) as server:
        events, error = listen(responses(server))
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == "one two"
    assert type(error) is openai.APIConnectionError


def test_an_error_event_ends_a_stream_that_began_well(responses):
    """B26: the status was 200, and yet it failed."""
    with ModelServer([Text("one two three four", error_event_after=5)]) as server:
        events, error = listen(responses(server))
    assert [event.type for event in events][-1] == "response.output_text.delta"
    assert type(error) is openai.APIError
    assert error.body["code"] == "server_error"
