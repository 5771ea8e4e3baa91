"""The contents that the scripted server generates, as the real google-genai SDK sees them."""

import json
from typing import Any
from urllib.request import Request, urlopen

import pytest

from playhead.testing import Fail, ModelServer, Refusal, Text, ToolCall, ToolCalls, Usage

genai = pytest.importorskip("google.genai")

QUESTION = {"model": "gemini-2.5-flash", "contents": "Where is order 7?"}
USAGE = Usage(input_tokens=120, output_tokens=40, cached_input_tokens=100, reasoning_tokens=16)
CALLS = ToolCalls([ToolCall("find", {"order": 7}, id="fixed"), ToolCall("note", {"text": "é 🌍"})], text="Looking.")


def generate(client: Any) -> Any:
    return client.models.generate_content


def generate_stream(client: Any) -> Any:
    return client.models.generate_content_stream


@pytest.fixture
def gemini(drive):
    def driver(server, *, attempts=1, timeout=10.0):
        retry = genai.types.HttpRetryOptions(attempts=attempts, initial_delay=0.001, max_delay=0.01, jitter=0.001)
        options = genai.types.HttpOptions(base_url=server.gemini_url, timeout=int(timeout * 1000), retry_options=retry)

        def client() -> Any:
            return genai.Client(api_key="k", http_options=options)

        return drive(client, lambda: client().aio)

    return driver


def ask(driver, **more):
    return driver.call(generate, **QUESTION, **more)


def listen(driver, **more):
    return driver.stream(generate_stream, **QUESTION, **more)


def test_text_comes_as_a_response_whose_usage_counts_thoughts_apart(gemini):
    with ModelServer([Text("On its way, café.", usage=USAGE)]) as server:
        response = ask(gemini(server))
    assert type(response).__name__ == "GenerateContentResponse"
    assert response.text == "On its way, café."
    assert response.model_version == "gemini-2.5-flash"
    assert len(response.response_id) == 22
    assert response.candidates[0].finish_reason == "STOP"
    usage = response.usage_metadata
    assert (usage.prompt_token_count, usage.cached_content_token_count) == (120, 100)
    assert (usage.candidates_token_count, usage.thoughts_token_count, usage.total_token_count) == (24, 16, 160)


def test_a_stream_brings_the_same_text_in_pieces_and_cumulative_usage(gemini):
    with ModelServer([Text("On its way.", usage=USAGE)]) as server:
        chunks, error = listen(gemini(server))
        assert server.requests[0].query == {"alt": ["sse"]}
    assert error is None
    assert len(chunks) == 4
    assert "".join(chunk.text for chunk in chunks) == "On its way."
    assert [chunk.candidates[0].finish_reason for chunk in chunks][-1] == "STOP"
    assert chunks[-1].usage_metadata.total_token_count == 160
    assert len({chunk.response_id for chunk in chunks}) == 1


def test_without_alt_sse_a_stream_is_one_json_array_in_pieces():
    body = json.dumps({"contents": [{"parts": [{"text": "hi"}]}]}).encode()
    with ModelServer([Text("On its way.")]) as server:
        address = f"{server.url}/v1beta/models/gemini-2.5-flash:streamGenerateContent"
        with urlopen(Request(address, data=body, method="POST")) as reply:
            assert reply.headers["content-type"] == "application/json; charset=UTF-8"
            answers = json.loads(reply.read())
    assert "".join(answer["candidates"][0]["content"]["parts"][0]["text"] for answer in answers) == "On its way."


def test_tool_calls_are_parts_with_their_arguments_plain_and_streamed(gemini):
    with ModelServer([CALLS, CALLS]) as server:
        response = ask(gemini(server))
        chunks, _ = listen(gemini(server))
    assert response.candidates[0].content.parts[0].text == "Looking."
    for calls in (response.function_calls, [call for chunk in chunks for call in chunk.function_calls or []]):
        first, second = calls
        assert (first.id, first.name, first.args) == ("fixed", "find", {"order": 7})
        assert (second.name, second.args) == ("note", {"text": "é 🌍"})
        assert second.id


def test_a_refusal_is_a_finish_reason_plain_and_streamed(gemini):
    """B30: a refusal is not an error, and not an answer either."""
    with ModelServer([Refusal("I cannot."), Refusal("I cannot.")]) as server:
        response = ask(gemini(server))
        chunks, _ = listen(gemini(server))
    assert (response.text, response.candidates[0].finish_reason) == (None, "SAFETY")
    assert [chunk.candidates[0].finish_reason for chunk in chunks] == ["SAFETY"]


def test_a_text_cut_short_says_why(gemini):
    with ModelServer([Text("On", finish="length")]) as server:
        assert ask(gemini(server)).candidates[0].finish_reason == "MAX_TOKENS"


def test_log_probabilities_come_when_asked_for(gemini):
    with ModelServer([Text("Hi you.")]) as server:
        candidate = ask(gemini(server), config={"response_logprobs": True}).candidates[0]
    assert "".join(chosen.token for chosen in candidate.logprobs_result.chosen_candidates) == "Hi you."
    assert candidate.avg_logprobs <= 0


def test_the_sdk_tries_again_after_429_and_gets_the_answer(gemini):
    with ModelServer([Fail(429), Text("Lucky.")]) as server:
        assert ask(gemini(server, attempts=2)).text == "Lucky."
        assert server.hits == 2


@pytest.mark.parametrize(
    ("status", "error", "word"),
    [
        (400, "ClientError", "INVALID_ARGUMENT"),
        (401, "ClientError", "UNAUTHENTICATED"),
        (429, "ClientError", "RESOURCE_EXHAUSTED"),
        (500, "ServerError", "INTERNAL"),
        (503, "ServerError", "UNAVAILABLE"),
    ],
)
@pytest.mark.parametrize("pick", [generate, generate_stream])
def test_an_error_status_is_raised_as_the_sdks_own_error(gemini, status, error, word, pick):
    with ModelServer([Fail(status, "No.")]) as server:
        driver = gemini(server)
        if pick is generate:
            with pytest.raises(genai.errors.APIError) as raised:
                ask(driver)
            caught = raised.value
        else:
            _, caught = listen(driver)
    assert type(caught).__name__ == error
    assert (caught.code, caught.status, caught.message) == (status, word, "No.")


def test_a_server_that_never_answers_is_a_timeout(gemini):
    with ModelServer(Text("too late", hang=True)) as server:
        chunks, error = listen(gemini(server, timeout=0.2))
    assert chunks == []
    assert type(error).__name__ in ("ReadTimeout", "TimeoutError")


@pytest.mark.parametrize("rst", [False, True])
def test_a_connection_lost_in_a_stream_leaves_the_text_so_far(gemini, rst):
    with ModelServer([Text("one two three four", drop_after=2, rst=rst)]) as server:
        chunks, error = listen(gemini(server))
    assert "".join(chunk.text for chunk in chunks) == "one two"
    assert type(error).__name__ in ("RemoteProtocolError", "ReadError", "ClientPayloadError")


def test_an_error_event_ends_a_stream_that_began_well(gemini):
    """B26: the status was 200, and yet it failed."""
    with ModelServer([Text("one two three four", error_event_after=2)]) as server:
        chunks, error = listen(gemini(server))
    assert "".join(chunk.text for chunk in chunks) == "one two"
    assert type(error).__name__ == "ServerError"
    assert error.code == 503
