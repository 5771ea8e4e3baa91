"""Programs of several languages under `playhead gateway`: recorded, the server stopped, replayed the same."""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from playhead.testing import Answer, Fail, ModelServer, Request, Text
from tests.cli.commands import environment, load, type_in

KEYS = {
    "OPENAI_API_KEY": "sk-proj-PLANTEDopenai0123456789abcdefghijklmnop",
    "ANTHROPIC_API_KEY": "sk-ant-api03-PLANTEDanthropic0123456789abcdef",
    "GEMINI_API_KEY": "AIzaSyPLANTEDgemini0123456789abcdefghij",
}
OPENAI_NODE = "openai@6.9.1"

OPENAI = """
import openai
client = openai.OpenAI()
said = [{"role": "user", "content": "hi"}]
for _ in range(2):
    text = ""
    for event in client.chat.completions.create(model="gpt-4o", messages=said, stream=True):
        text += event.choices[0].delta.content or "" if event.choices else ""
    print(text)
    said += [{"role": "assistant", "content": text}, {"role": "user", "content": "more"}]
print(client.responses.create(model="gpt-5", input="hi").output_text)
"""
ANTHROPIC = """
import anthropic
client = anthropic.Anthropic()
asked = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
with client.messages.stream(**asked) as stream:
    print(list(stream.text_stream))
print(client.messages.create(**asked).content)
"""
GEMINI = """
from google import genai
client = genai.Client()
print([piece.text for piece in client.models.generate_content_stream(model="gemini-2.5-flash", contents="hi")])
print(client.models.generate_content(model="gemini-2.5-flash", contents="yo").text)
"""
CURL = """
ask() { curl -sN "$OPENAI_BASE_URL/chat/completions" -H "authorization: Bearer $OPENAI_API_KEY" \
 -H "content-type: application/json" -d "$1"; }
ask '{"model": "gpt-4o", "stream": true, "messages": [{"role": "user", "content": "hi"}]}' | grep -o '"content":"[^"]*"'
ask '{"model": "gpt-4o", "messages": [{"role": "user", "content": "yo"}]}' | grep -o '"content": *"[^"]*"'
curl -s "$GOOGLE_GEMINI_BASE_URL/v1beta/models/gemini-2.5-flash:generateContent?key=$GEMINI_API_KEY" \
 -d '{"contents": [{"parts": [{"text": "hi"}]}]}' | grep -o '"text": *"[^"]*"'
curl -s "$OPENAI_BASE_URL/nothing" -o /dev/null -w '%{http_code}\\n'
exit 7
"""
NODE = """
import OpenAI from "openai";
const client = new OpenAI();
const ask = async (text) => {
  const stream = await client.chat.completions.create({
    model: "gpt-4o", stream: true, messages: [{ role: "user", content: text }] });
  let said = "";
  for await (const event of stream) said += event.choices[0]?.delta?.content ?? "";
  return text + ": " + said;
};
console.log(await ask("hi"));
const order = [];
await Promise.all(["slow", "quick", "middling"].map(async (text) => order.push(await ask(text))));
console.log(order.join(", "));
console.log(await Promise.race(["slow race", "quick race"].map(ask)));
"""


def script(request: Request) -> Answer:
    text = str(request.last_user_text) if hasattr(request, "last_user_text") else request.body.decode()
    delay = 0.4 if "slow" in text else 0.2 if "middling" in text else 0.0
    return Text("hello there, how are you?", delay=delay)


def under_gateway(folder: Path, server: ModelServer, *command: str) -> subprocess.CompletedProcess[str]:
    urls = {
        "OPENAI_BASE_URL": server.openai_url,
        "ANTHROPIC_BASE_URL": server.url,
        "GOOGLE_GEMINI_BASE_URL": server.url,
    }
    return type_in(folder, "gateway", "--id", "run-1", "--", *command, env=environment(**KEYS, **urls))


def replayed(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in environment().items() if not name.endswith("_API_KEY")}
    return type_in(folder, "replay", "run-1", *words, env=kept)


def check_same(folder: Path, *command: str) -> str:
    """Record a command, stop the server, replay it without keys; what it printed."""
    with ModelServer(script) as server:
        then = under_gateway(folder, server, *command)
        assert "recorded run-1" in then.stderr
        assert server.hits > 0
    now = replayed(folder)
    assert "identical in all that was seen" in now.stdout, now.stdout + now.stderr
    assert now.stdout.startswith(then.stdout)
    assert now.returncode == 0
    return then.stdout


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(OPENAI, id="openai"),
        pytest.param(ANTHROPIC, id="anthropic"),
        pytest.param(GEMINI, id="gemini", marks=pytest.mark.sweep),  # its wire and its address: curl shows them
    ],
)
def test_an_sdk_in_a_program_of_its_own_replays_offline(tmp_path: Path, text: str) -> None:
    (tmp_path / "agent.py").write_text(text)
    check_same(tmp_path, sys.executable, "agent.py")
    no_key_is_kept(tmp_path)


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_curl_replays_offline_and_no_key_is_in_any_file(tmp_path: Path) -> None:
    (tmp_path / "agent.sh").write_text(CURL)
    with ModelServer(script, routes={"GET /v1/nothing": Fail(404, "no")}) as server:
        then = under_gateway(tmp_path, server, "bash", "agent.sh")
    assert then.returncode == 7
    now = replayed(tmp_path)
    assert now.stdout.startswith(then.stdout)
    assert then.stdout.splitlines()[-1] == "404"
    assert (now.returncode, "identical in all" in now.stdout) == (0, True)
    assert load(tmp_path).outcome == "failure"
    no_key_is_kept(tmp_path)


def no_key_is_kept(folder: Path) -> None:
    """No key that was planted is in any file of the store, as it lies there or read."""
    for path in (folder / ".playhead").rglob("*"):
        held = path.read_bytes() if path.is_file() else b""
        assert not any(key.encode() in held for key in KEYS.values())
    recording = load(folder)
    lines = "".join(repr(event) for event in recording.events)
    assert "PLANTED" not in lines
    assert "hello" in lines


@functools.cache
def node_modules() -> Path:
    """A folder with the OpenAI SDK for Node, installed once; skips where that cannot be."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("there is no node with npm")
    home = Path(os.environ.get("PLAYHEAD_TEST_CACHE") or Path(tempfile.gettempdir()) / f"playhead-tests-{os.getuid()}")
    folder = home / OPENAI_NODE.replace("@", "-")
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-package-lock", "--no-save", "--silent", "--prefix", str(folder), OPENAI_NODE]
        made = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if made.returncode:
            pytest.skip(f"npm cannot install {OPENAI_NODE}")
        (folder / "done").touch()
    return folder / "node_modules"


def test_the_node_sdk_replays_offline_in_the_order_in_which_it_was_answered(tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(node_modules())
    (tmp_path / "agent.mjs").write_text(NODE)
    printed = check_same(tmp_path, "node", "agent.mjs").splitlines()
    assert printed[1].startswith("quick: ")
    assert printed[2].startswith("quick race")


def test_a_command_that_asks_something_else_diverges_and_loose_takes_it(tmp_path: Path) -> None:
    body = '{"model": "gpt-4o", "messages": [{"role": "system", "content": "WORD"}, {"role": "user", "content": "hi"}]}'
    command = f"curl -s $OPENAI_BASE_URL/chat/completions -d '{body}'"
    with ModelServer(script) as server:
        under_gateway(tmp_path, server, "sh", "-c", command.replace("WORD", "be kind"))
    changed = ["--", "sh", "-c", command.replace("WORD", "be curt")]
    strict = replayed(tmp_path, *changed)
    assert (strict.returncode, "diverged at step 1" in strict.stdout) == (1, True)
    assert "invalid_request_error" in strict.stdout
    told = replayed(tmp_path, "--json", *changed)
    assert json.loads(told.stdout)["ok"] is False
    loose = replayed(tmp_path, "--match", "loose", *changed)
    assert (loose.returncode, "drift at step 1" in loose.stdout) == (0, True), loose.stdout


def test_what_comes_after_works_on_such_recordings(tmp_path: Path) -> None:
    """show, one step with its context, edit with its replay, verify, a suite."""
    body = '{"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}'
    with ModelServer(script) as server:
        under_gateway(tmp_path, server, "sh", "-c", f"curl -s $OPENAI_BASE_URL/chat/completions -d '{body}'")
    page = type_in(tmp_path, "show", "run-1").stdout
    assert "behind the gateway: sh -c" in page
    assert "hello there" in page
    assert "not seen inside" not in page
    assert "hi" in type_in(tmp_path, "show", "run-1#1").stdout
    edited = type_in(tmp_path, "edit", "run-1", "--step", "1", "--answers", "good bye")
    again = type_in(tmp_path, "replay", edited.stdout.strip())
    assert "good bye" in again.stdout, again.stdout + again.stderr
    refused = type_in(tmp_path, "edit", "run-1", "--step", "1", "--raises", "ConnectionError: gone")
    assert "cannot be reached: gone" in type_in(tmp_path, "replay", refused.stdout.strip()).stdout
    assert type_in(tmp_path, "verify", "run-1").returncode == 0
    suite = type_in(tmp_path, "suite", str(tmp_path / ".playhead" / "recordings"))
    assert (suite.returncode, "3 held" in suite.stdout) == (0, True)


def test_signals_reach_the_command_and_the_run_is_aborted(tmp_path: Path) -> None:
    started = subprocess.Popen(
        [sys.executable, "-m", "playhead.cli", "gateway", "--id", "run-1", "--", "sh", "-c", "echo up; exec sleep 60"],
        cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert started.stdout is not None
    assert started.stdout.readline() == "up\n"
    started.send_signal(signal.SIGTERM)
    assert started.wait(60) == 128 + signal.SIGTERM
    finished = load(tmp_path).finished
    assert finished is not None
    assert (finished.outcome, finished.reason) == ("aborted", "SIGTERM")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "say which command to run"),
        (("--route", "openai", "--", "true"), "--route takes NAME=URL"),
        (("--route", "openai=ftp://x", "--", "true"), "no base URL"),
        (("--", "no-such-command"), "there is no program no-such-command"),
    ],
)
def test_what_cannot_be_carried_out_is_said_with_the_next_command(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = type_in(tmp_path, "gateway", *words)
    assert said in done.stderr
    assert "next: playhead gateway" in done.stderr
    assert done.stderr.count("nothing was recorded") <= 1
    assert done.returncode == 2, done.stderr
