"""Frames: what is kept of them, compared of them, and where they are sent."""

import json
import sys
from pathlib import Path

import pytest
from google.antigravity.connections.local import local_connection
from hypothesis import given
from hypothesis import strategies as st

import playhead
from playhead.boundary import current_lane
from playhead.integrations.antigravity import find_changed
from playhead.integrations.antigravity._frames import Growth, camel, comparable, name_frame, snake
from playhead.integrations.antigravity._models import stand_before
from playhead.integrations.antigravity._patching import _CONNECTION, _EXPECTED

texts = st.text('ab é"\\', max_size=60)
actions = st.dictionaries(st.sampled_from(["commandLine", "combinedOutput", "exitCode"]), texts | st.integers(0, 9))
steps = st.fixed_dictionaries(
    {
        "trajectoryId": st.sampled_from(["a" * 32, "b" * 32]),
        "stepIndex": st.integers(0, 2),
        "state": st.sampled_from(["STATE_ACTIVE", "STATE_DONE", "STATE_ERROR"]),
    },
    optional={"text": texts, "thinking": texts, "runCommand": actions},
)


@given(st.lists(steps, max_size=20), st.booleans())
def test_what_was_shortened_becomes_whole_again(found, growing):
    short, whole = Growth(), Growth()
    text = ""
    for step in found:
        text += step.get("text", "") + "x" * 30
        frame = {"stepUpdate": {**step, "text": text} if growing else step, "seqNum": "1"}
        assert whole.lengthen(json.loads(json.dumps(short.shorten(frame)))) == frame


def test_what_is_kept_of_an_answer_grows_with_it_and_not_with_its_square():
    def size(pieces):
        growth, text, total = Growth(), "", 0
        for _ in range(pieces):
            text += "some more words "
            step = {"trajectoryId": "t", "stepIndex": 1, "state": "STATE_ACTIVE", "text": text}
            total += len(json.dumps(growth.shorten({"stepUpdate": step})))
        return total

    assert size(1600) < 5 * size(400)


def test_a_configuration_is_compared_without_keys_and_from_where_the_program_stands():
    config = {
        "models": [{"geminiApiEndpoint": {"apiKey": "k", "baseUrl": "u", "httpHeaders": {"x-goog-api-key": "k"}}}],
        "appDataDir": str(Path.home() / ".gemini"),
        "workspaces": [{"filesystemWorkspace": {"directory": str(Path.cwd() / "work")}}],
        "mcpServers": [{"stdio": {"command": "c", "env": {"TOKEN": "t"}}}],
    }
    assert comparable({"config": config}) == {
        "config": {
            "models": [{"geminiApiEndpoint": {"baseUrl": "u", "httpHeaders": []}}],
            "appDataDir": "~/.gemini",
            "workspaces": [{"filesystemWorkspace": {"directory": "./work"}}],
            "mcpServers": [{"stdio": {"command": "c", "env": ["TOKEN"]}}],
        }
    }
    prompt = {"userInput": {"parts": [{"text": "Run `/tmp/x/.agy_workflow_steps_a1b2c3d4.py` now"}]}}
    assert comparable(prompt)["userInput"]["parts"][0]["text"] == "Run `.agy_workflow_steps.py` now"


def test_a_gateway_stands_before_the_models_whose_address_is_known(own_store, monkeypatch):
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://example.test/here")
    models = [
        {"geminiApiEndpoint": {"apiKey": "k"}},
        {"geminiApiEndpoint": {"baseUrl": "http://example.test/there/"}},
        {"vertexEndpoint": {"apiKey": "k"}},
        {"vertexEndpoint": {"project": "p"}},
        {"gemmaEndpoint": {"baseUrl": "http://127.0.0.1:1/v1"}},
    ]
    frame = {"config": {"models": models}}
    with playhead.record(kind="small", store=own_store) as run:
        wire, gateway = stand_before(frame, current_lane(), {})
        sent = [next(iter(model.values())) for model in wire["config"]["models"]]
        untouched, nothing = stand_before(frame, current_lane(), {"https_proxy": "http://proxy.test"})
    assert gateway is not None
    gateway.close()
    assert list(gateway.routes.values()) == [
        "http://example.test/here",
        "http://example.test/there",
        "https://aiplatform.googleapis.com",
        "http://127.0.0.1:1/v1",
    ]
    assert [each.get("baseUrl", "")[:17] for each in sent] == ["http://127.0.0.1:"] * 3 + ["", "http://127.0.0.1:"]
    assert sent[0]["apiKey"] == "k"
    assert "baseUrl" not in models[0]["geminiApiEndpoint"]
    assert (untouched, nothing) == (frame, None)
    seen = [event.body.details for event in playhead.load(run.id, store=own_store).of_kind("note.added")]
    assert {"place": "vertex at its usual address"} in seen


def test_frames_and_fields_are_called_in_words_of_our_own():
    assert name_frame({"callHookResponse": {}}) == "hook_response"
    assert name_frame({"somethingNew": {}}) == "something_new"
    assert [snake("commandLine"), camel("command_line")] == ["command_line", "commandLine"]


def test_a_changed_name_of_the_sdk_is_said_with_the_versions_that_work(monkeypatch, tmp_path):
    assert find_changed(sys.modules) == []
    assert all(module.startswith("google.antigravity.") for module, _ in _EXPECTED)

    def renamed(self, **changed):
        raise NotImplementedError

    monkeypatch.setattr(local_connection.LocalConnectionStrategy, "_spawn_harness_and_connect_ws", renamed)
    assert find_changed(sys.modules) == [f"{_CONNECTION}.LocalConnectionStrategy._spawn_harness_and_connect_ws"]
    told = pytest.warns(playhead.PlayheadWarning, match=r"known to work: 0\.1\.22")
    with told, playhead.record(kind="small", store=tmp_path) as run:
        pass
    assert run.path is not None
