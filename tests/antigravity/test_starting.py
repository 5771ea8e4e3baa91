"""A harness that does not start, or dies: what the program was told then it is told again."""

import copy
import sys

import pytest

import playhead
from tests.antigravity._desk import Recorded, say
from tests.antigravity._scenarios import _chat, killed

pytestmark = pytest.mark.slow

_DIES = """#!{python}
import sys
sys.stderr.write("no room for a harness\\n")
sys.exit(3)
"""


async def started(desk):
    return await _chat(desk, say("Say.", [{"text": "so"}]))


def test_a_harness_that_is_not_there_is_not_there_again(place, monkeypatch):
    monkeypatch.setenv("ANTIGRAVITY_HARNESS_PATH", str(place / "none"))
    recorded = Recorded(started, "gemini", place)
    assert recorded.result[0] == "FileNotFoundError"

    result, report, _ = recorded.replay(monkeypatch)
    assert result == recorded.result
    assert report.identical, str(report)


def test_a_harness_that_dies_at_once_says_the_same_again(place, monkeypatch):
    file = place / "harness"
    file.write_text(_DIES.format(python=sys.executable))
    file.chmod(0o755)
    monkeypatch.setenv("ANTIGRAVITY_HARNESS_PATH", str(file))
    recorded = Recorded(started, "openai", place)
    assert "no room for a harness" in recorded.result[1] or recorded.result[0] == "BrokenPipeError"

    result, report, _ = recorded.replay(monkeypatch)
    assert result == recorded.result
    assert report.identical, str(report)


def test_a_harness_that_was_killed_ends_with_its_signal_and_its_last_words(place, monkeypatch):
    recorded = Recorded(killed, "gemini", place)
    assert recorded.result[0][0] == "AntigravityConnectionError"
    assert "close code 1006" in recorded.result[0][1]
    assert "exited with code -9" in recorded.result[-1][1]

    result, report, _ = recorded.replay(monkeypatch)
    assert result == recorded.result
    assert report.identical, str(report)
    assert report.unseen == {}


def test_a_marked_function_is_copied_as_functions_are():
    class Desk:
        @playhead.tool
        def say(self) -> str:
            return self.word

    @playhead.tool
    def speak() -> str:
        return "so"

    assert copy.deepcopy({"tools": [speak]})["tools"][0] is speak
    assert copy.copy(speak) is speak
    desk = Desk()
    desk.word = "so"
    other = copy.deepcopy(desk.say)
    desk.word = "else"
    assert [other(), desk.say()] == ["so", "else"]
