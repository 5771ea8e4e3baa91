"""A named fault gives, in the real SDKs, the exception or the object that the real provider's fault would give."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

import playhead
from playhead.editing import FAULTS
from playhead.testing import Fail, ModelServer, Refusal, Text, ToolCall, ToolCalls, forbid_connections
from tests.repo.house import DOCS
from tests.sdks.conversations import SDKS, Mode, Way, converse

pytestmark = pytest.mark.usefixtures("own_store")

PAGE = DOCS / "reference" / "faults.md"
PROVIDERS = ("openai.chat", "openai.responses", "anthropic", "gemini")
WANTED = ToolCalls([ToolCall("find", {"order": 7, "note": "a longer text"})])
FLAVOURS: list[tuple[str, Mode]] = [
    (sdk, mode) for sdk in SDKS for mode in ("sync", "async") if (sdk, mode) != ("gemini.generate over httpx2", "sync")
]  # type: ignore[misc]


def read_table() -> dict[tuple[str, str], str]:
    """The exceptions that the page of faults promises, by provider and fault; ``""`` where it promises an object."""
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[0].strip("`") in FAULTS:
            for provider, cell in zip(
                ("openai.chat", "openai.responses", "anthropic", "gemini"), cells[1:], strict=True
            ):
                classes = re.match(r"`([a-z][\w.]*\.[A-Z]\w+)`", cell)
                found[provider, cells[0].strip("`")] = classes[1] if classes else ""
    return found


TABLE = read_table()


def promised(sdk: str, fault: str) -> str:
    return next(cell for (provider, name), cell in TABLE.items() if sdk.startswith(provider) and name == fault)


def record(sdk: str, mode: Mode, how: Any) -> tuple[str, str]:
    package = SDKS[sdk].module
    if any(importlib.util.find_spec(name) is None for name in (package.partition(".")[0], package)):
        pytest.skip(f"{package} is not installed")
    with ModelServer([WANTED]) as server, playhead.record(kind="faulty") as run:
        url = SDKS[sdk].base(server)
        assert not converse(sdk, mode, url, Way(how))["error"]
    return run.id, url


def replay(recording: playhead.Recording, sdk: str, mode: Mode, url: str, how: Any) -> Any:
    with forbid_connections() as guard, playhead.replay(recording):
        seen = converse(sdk, mode, url, Way(how))
    assert guard.attempts == []
    return seen


@pytest.mark.parametrize("how", ["plain", "stream"])
@pytest.mark.parametrize(("sdk", "mode"), FLAVOURS, ids=lambda value: value.replace(" ", "-"))
def test_every_fault_gives_what_the_page_promises(sdk: str, mode: Mode, how: Any) -> None:
    run, url = record(sdk, mode, how)
    for fault in FAULTS:
        made = playhead.edit(run).fault(1, fault).save()  # type: ignore[arg-type]
        assert made.verify().proven, fault
        seen = replay(made, sdk, mode, url, how)
        error = seen["error"]
        if error is not None:
            classes = {error["class"], _outer(error["class"], fault, sdk)}
            assert promised(sdk, fault) in classes, (fault, error)
        else:
            assert not promised(sdk, fault), (fault, seen)
            check_object(fault, sdk, seen["items"])


def _outer(name: str, fault: str, sdk: str) -> str:
    """What the SDK of Gemini leaves to its transports has the class of the transport."""
    if sdk.startswith("gemini"):
        if fault == "timeout" and name in ("httpx.ReadTimeout", "builtins.TimeoutError"):
            return "httpx2.ReadTimeout"
        if fault == "malformed_json" and name == "google.genai.errors.UnknownApiResponseError":
            return "json.JSONDecodeError"
    return name.replace("json.decoder.", "json.")


def check_object(fault: str, sdk: str, items: list[Any]) -> None:
    said = json.dumps(items)
    match fault:
        case "truncated_arguments" if sdk.startswith("gemini"):
            assert '"finish_reason": "MALFORMED_FUNCTION_CALL"' in said
            assert 'function_call": {' not in said
        case "truncated_arguments":
            ends = ('"finish_reason": "length"', '"reason": "max_output_tokens"', '"stop_reason": "max_tokens"')
            assert any(end in said for end in ends)
            assert "longer text" not in said.replace('", "', "")
            assert '"find"' in said
        case "refusal":
            signs = ('"refusal": "I', '"stop_reason": "refusal"', '"block_reason": "SAFETY"')
            assert any(sign in said for sign in signs)
        case "unknown_tool":
            assert '"find_v2"' in said or '"name": "find"' in said
        case "empty_answer":
            ends = ('"finish_reason": "stop"', '"status": "completed"', '"stop_reason": "end_turn"')
            assert any(end in said for end in (*ends, '"finish_reason": "STOP"'))
            assert "longer" not in said


@pytest.mark.parametrize("how", ["plain", "stream"])
@pytest.mark.parametrize(
    ("fault", "answer"),
    [("rate_limited", Fail(429)), ("overloaded", Fail(503)), ("auth_expired", Fail(401)), ("refusal", Refusal("No."))],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("sdk", ["openai.chat", "openai.responses", "anthropic.messages", "gemini.generate"])
def test_a_fault_is_to_the_program_what_a_server_with_that_fault_is(
    sdk: str, fault: Any, answer: Any, how: Any
) -> None:
    if sdk == "gemini.generate" and fault == "refusal":
        pytest.skip("a prompt that is blocked has no answer of the model's, which is what the server would give")
    if sdk == "anthropic.messages" and fault == "overloaded":
        answer = Fail(529)
    if sdk == "gemini.generate" and fault == "auth_expired":
        answer = Fail(400)
    run, url = record(sdk, "sync", how)
    with ModelServer([answer]) as server:
        live = converse(sdk, "sync", SDKS[sdk].base(server), Way(how))
    seen = replay(playhead.edit(run).fault(1, fault).save(), sdk, "sync", url, how)
    assert bool(live["error"]) == bool(seen["error"])
    if live["error"]:
        for name in ("class", "status_code", "type"):
            assert seen["error"].get(name) == live["error"].get(name), name
    else:
        assert {item["class"] for item in seen["items"]} == {item["class"] for item in live["items"]}


@pytest.mark.parametrize("how", ["plain", "stream"])
@pytest.mark.parametrize("sdk", ["openai.chat", "openai.responses", "anthropic.messages", "gemini.generate"])
def test_an_answer_is_to_the_program_what_a_server_with_that_answer_is(sdk: str, how: Any) -> None:
    run, url = record(sdk, "sync", how)
    calls = [("find", {"order": 8}), ("stop", {"now": True})]
    for made, answer in (
        (playhead.edit(run).answers(1, "It is on its way."), Text("It is on its way.")),
        (playhead.edit(run).answers(1, calls=calls), ToolCalls([ToolCall(*call) for call in calls])),
    ):
        with ModelServer([answer]) as server:
            live = converse(sdk, "sync", SDKS[sdk].base(server), Way(how))
        seen = replay(made.save(), sdk, "sync", url, how)
        assert seen["error"] is None
        assert [item["class"] for item in seen["items"]] == [item["class"] for item in live["items"]]
        assert words(seen) == words(live)


def words(seen: Any) -> list[str]:
    """The texts, names and arguments that came, in order."""
    keys = ("content", "text", "delta", "name", "arguments", "partial_json", "refusal")
    found = []

    def walk(tree: Any) -> None:
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
            if key in keys and isinstance(value, str):
                found.append(value)
            walk(value)

    walk(seen["items"])
    return found


def test_a_status_with_headers_reaches_the_program() -> None:
    run, url = record("openai.chat", "sync", "plain")
    made = (
        playhead.edit(run).status(1, 403, headers={"Retry-After": "30"}, body={"error": {"message": "not you"}}).save()
    )
    error = replay(made, "openai.chat", "sync", url, "plain")["error"]
    assert error["class"] == "openai.PermissionDeniedError"
    assert ["retry-after", "30"] in [[name.lower(), value] for name, value in error["headers"]]
    assert "not you" in error["text"]


@pytest.mark.parametrize("how", ["plain", "stream"])
def test_a_program_that_tries_again_gets_the_recorded_answer_after_the_fault(how: Any) -> None:
    run, url = record("anthropic.messages", "sync", how)
    recorded = playhead.load(run)
    made = playhead.edit(run).fault(1, "overloaded", first=True).save()
    with playhead.replay(made) as replaying:
        seen = converse("anthropic.messages", "sync", url, Way(how, retries=2))
    assert seen["error"] is None
    assert replaying.report.answered == 2
    assert made.steps[1].answer is not None
    assert recorded.steps[0].answer is not None
    assert made.steps[1].answer.body == recorded.steps[0].answer.body


def test_a_connection_that_is_refused_is_the_transports_own_error() -> None:
    run, url = record("openai.chat", "sync", "plain")
    made = playhead.edit(run).raises(1, ConnectionError("refused")).save()
    error = replay(made, "openai.chat", "sync", url, "plain")["error"]
    assert error["class"] == "openai.APIConnectionError"


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ("timeout", "TimeoutError('timed out')"),
        ("auth_expired", "PermissionError('the credentials have expired')"),
        ("rate_limited", "ConnectionError('too many requests')"),
        ("overloaded", "ConnectionError('the service is overloaded')"),
        ("empty_answer", "[]"),
        ("malformed_json", "'[{\"price\":'"),
    ],
)
def test_a_tool_has_the_faults_that_make_sense_for_one(fault: Any, seen: str, tmp_path: Path) -> None:
    find = playhead.tool(lambda item: [{"price": 7}], name="find")

    def program() -> str:
        try:
            return repr(find("tea"))
        except Exception as error:
            return repr(error)

    with playhead.record(kind="tools") as run:
        program()
    with playhead.replay(playhead.edit(run.id).fault(1, fault).save()):
        found = program()
    assert found == seen if fault != "malformed_json" else found.startswith("'[{\"pri")
