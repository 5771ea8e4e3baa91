"""The newcomer's page: its commands, in its order, in one shell, say what the page says they say."""

from __future__ import annotations

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.newcomer import follow

FOLDER = Path(__file__).parents[2] / "docs" / "tutorial"
PAGE = FOLDER / "index.md"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("openai") is None, reason="openai is not installed"),
    pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash"),
]


def test_every_command_of_the_page_works_and_says_what_the_page_shows(tmp_path: Path) -> None:
    shown = follow(PAGE, tmp_path, port=8123, fails=("sed -i.before",))
    assert len(shown) == 9
    times = {time for said in shown for time in re.findall(r"\((\d\d:\d\d:\d\d)\)", said)}
    assert len(times) == 1, "the replays tell the time of the recorded run"


def test_the_story_of_a_refusal_goes_as_its_page_tells(tmp_path: Path) -> None:
    """A failing run, the step found, the refusal put in, the agent mended, and kept as a regression."""
    fails = ("--id complaint", "bisect", "replay refused\n", "suite runs\n# changed")
    assert len(follow(FOLDER / "a-refusal.md", tmp_path, port=8124, fails=fails)) == 8


@pytest.mark.skipif(
    find_spec("google") is None or find_spec("google.antigravity") is None, reason="no Antigravity here"
)
def test_the_story_of_an_antigravity_agent_goes_as_its_page_tells(tmp_path: Path) -> None:
    """Recorded, replayed without harness, key and network, searched, edited, run again by the harness, and kept."""
    fails = ("record --id desk", "bisect", "sed -i.before")
    assert len(follow(FOLDER / "antigravity.md", tmp_path, port=8125, fails=fails)) == 10


def test_the_page_installs_extras_that_there_are() -> None:
    import tomllib

    project = tomllib.loads((PAGE.parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    extras = re.findall(r"pip install 'playhead\[(\w+)\]'", PAGE.read_text(encoding="utf-8"))
    assert extras == ["demo", "pytest"]
    assert set(extras) <= set(project["project"]["optional-dependencies"])
