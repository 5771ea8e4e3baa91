"""Tests of an agent on a real SDK: recorded against a model server, replayed without one, also on another machine."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from playhead.eventlog import LogWriter, escape, open_recording, pack
from playhead.events import ModelResponded
from playhead.testing import ModelServer
from tests.testing.plugin.projects import Project

pytest.importorskip("openai")
pytestmark = pytest.mark.slow

SECRET = "sk-proj-" + "Zq3xV8nB5mK1tR7w" * 3
TEST = """
import os
from openai import OpenAI

@pytest.fixture
def client():
    return OpenAI(api_key="KEY", base_url=os.environ["BASE"], max_retries=0)

@pytest.mark.playhead
def test_it(client):
    words = os.environ.get("WORDS", "Where is it?")
    secret = "My key is KEY, ask ana@customer.example"
    messages = [{"role": "system", "content": secret}, {"role": "user", "content": words}]
    asked = {"model": "gpt-4o", "messages": messages}
    if "PLAIN" in os.environ:
        said = client.chat.completions.create(**asked).choices[0].message.content
    else:
        chunks = client.chat.completions.create(**asked, stream=True)
        said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert said == "The order is on its way."
""".replace("KEY", SECRET)


def record(project: Project, server: ModelServer, **environment: str) -> Path:
    """Record the test; where its recording is."""
    project.write(test_it=TEST)
    made = project.record(BASE=server.openai_url, **environment)
    assert made.counts == {"passed": 1}, made.text
    assert server.hits == 1
    return project.recordings[0]


def test_the_test_replays_with_the_server_gone(project: Project, server: ModelServer) -> None:
    record(project, server)
    server.close()
    assert project.pytest(BASE=server.openai_url).counts == {"passed": 1}


def test_a_replay_that_fails_reaches_no_server(project: Project, server: ModelServer) -> None:
    """B39: a missing, an empty and a foreign recording and another prompt, before a server that counts."""
    names = ("changed", "empty", "foreign", "missing", "sound")
    project.write(
        **{f"test_{name}": TEST.replace("WORDS", f"WORDS_{name}").replace("test_it", f"test_{name}") for name in names}
    )
    assert project.record(BASE=server.openai_url).counts == {"passed": len(names)}
    kept = {name: next(path for path in project.recordings if name in str(path)) for name in names}
    kept["empty"].write_bytes(b"")
    kept["foreign"].write_bytes(kept["foreign"].read_bytes().replace(b"test_foreign.py::", b"test_strange.py::"))
    kept["missing"].unlink()
    ended = project.pytest(BASE=server.openai_url, WORDS_changed="Where on earth is it?")
    assert ended.counts == {"failed": 4, "passed": 1}, ended.text
    assert "/messages/1/content: Where {+on earth +}is it?" in ended.text
    assert len(ended.section("test_changed")) < 20
    assert server.hits == len(names)


def test_a_connection_that_the_recording_does_not_know_is_refused(project: Project, server: ModelServer) -> None:
    project.write(
        test_it="""
import os, socket
@pytest.mark.playhead
def test_it():
    fetch(1)
    if "CONNECT" in os.environ:
        socket.create_connection(("127.0.0.1", int(os.environ["CONNECT"].split(":")[2])))
"""
    )
    project.record()
    ended = project.pytest(CONNECT=server.url)
    assert ended.counts == {"failed": 1}
    assert "ConnectionRefusedInReplayError: the program tried to connect to 127.0.0.1:" in ended.text


@pytest.mark.sweep
def test_a_recording_holds_on_a_machine_with_another_mask_key(
    project: Project, server: ModelServer, tmp_path: Path
) -> None:
    """Placeholders made with another key are compared by the rule that they name."""
    path = record(project, server)
    server.close()
    text = path.read_text()
    assert SECRET not in text
    assert "ana@customer.example" not in text
    elsewhere = Project(tmp_path / "elsewhere")
    elsewhere.write(test_it=TEST, test_own="@pytest.mark.playhead\ndef test_own():\n    fetch(1)\n")
    assert elsewhere.record("test_own.py").counts == {"passed": 1}  # so that it has a key of its own
    shutil.copytree(project.folder / "recordings", elsewhere.folder / "recordings", dirs_exist_ok=True)
    keys = [each.folder / ".playhead" / "keys" / "mask.key" for each in (project, elsewhere)]
    assert keys[0].read_text() != keys[1].read_text()
    assert elsewhere.pytest(BASE=server.openai_url).counts == {"passed": 2}
    ended = elsewhere.pytest("test_it.py", BASE=server.openai_url, WORDS="Who is it?")
    assert ended.counts == {"failed": 1}
    assert "/messages/1/content" in ended.text
    assert "/messages/0" not in ended.text
    assert SECRET not in ended.text


@pytest.mark.parametrize(
    ("environment", "kind"),
    [
        pytest.param({}, "text/event-stream", id="stream"),
        pytest.param({"PLAIN": "1"}, "application/json", id="json", marks=pytest.mark.sweep),
    ],
)
def test_a_reply_that_lost_its_content_fails_the_test_and_says_what_was_lost(
    project: Project, server: ModelServer, environment: dict[str, str], kind: str
) -> None:
    """B22: the file is sound in itself, but something blanked the body in it."""
    path = record(project, server, **environment)
    blank(path)
    ended = project.pytest(BASE=server.openai_url, **environment)
    assert ended.counts == {"failed": 1}
    assert f"the reply of step 1 has no content; {kind} was lost" in ended.text
    assert server.hits == 1


def blank(path: Path) -> None:
    """Write the recording anew, chain and seal and all, without what the model answered."""
    with open_recording(path) as recording:
        log = LogWriter(path.with_name("blank"), recording.header)
        for event in list(recording)[:-1]:
            body: Any = event.body
            if isinstance(body, ModelResponded):
                body = msgspec.structs.replace(body, content=None)
            log.append(
                kind=event.kind,
                lane=event.lane,
                at_ns=event.at_ns,
                mono_ns=event.mono_ns,
                of=event.of,
                body=msgspec.json.encode(escape(msgspec.to_builtins(body))),
            )
    pack(log.seal(), path)
