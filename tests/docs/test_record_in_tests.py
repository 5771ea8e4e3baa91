"""The how-to page about recording in tests: its examples run, and a failure looks as it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from playhead.testing import ModelServer, Text
from tests.docs.newcomer import BLOCK, missing
from tests.docs.test_tutorial import PAGE
from tests.testing.plugin.projects import Project

HOW_TO = PAGE.parents[1] / "how-to" / "record-in-tests.md"

pytestmark = pytest.mark.slow


def read_blocks(page: Path) -> dict[str, str]:
    """The fenced blocks of a page, by title or else by kind."""
    return {title or kind: content for kind, title, content in BLOCK.findall(page.read_text(encoding="utf-8"))}


def test_the_examples_are_recorded_replayed_and_diverge_as_the_page_says(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    project = Project(tmp_path / "project")
    blocks = read_blocks(HOW_TO)
    agent = read_blocks(PAGE)["agent.py"]
    for name in ("test_agent.py", "test_options.py"):
        (project.folder / name).write_text(blocks[name], encoding="utf-8")
    (project.folder / "agent.py").write_text(agent, encoding="utf-8")
    with ModelServer(lambda request: Text("It is on its way.")) as server:
        reach = {"OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "none"}
        made = project.record(**reach)
    assert made.counts == {"passed": 5}, made.text
    shown = set(re.findall(r"recordings/test_agent/\S+\.jsonl", HOW_TO.read_text(encoding="utf-8")))
    assert {(project.folder / path).is_file() for path in shown} == {True}
    assert len(project.recordings) == 4
    assert project.pytest(**reach).counts == {"passed": 5}
    (project.folder / "agent.py").write_text(agent.replace("one friendly", "one short"), encoding="utf-8")
    changed = project.pytest("test_agent.py", **reach)
    assert changed.counts == {"failed": 1}
    assert missing(blocks["text"], changed.text) == []
