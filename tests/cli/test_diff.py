"""``playhead diff``, typed in."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

import playhead
from tests.cli.commands import type_in


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two runs: the second calls one tool with another value, one with another sort of value, and one more."""
    store = tmp_path / ".playhead"
    tool = {name: playhead.tool(lambda q: f"found {q}", name=name) for name in ("search", "read", "refund")}
    for run, calls in (
        ("run-1", [("search", "tea"), *[("read", n) for n in range(8)], ("refund", 3)]),
        ("run-2", [("search", "<b>salt</b>"), *[("read", n) for n in range(8)], ("refund", "3"), ("refund", "3")]),
    ):
        with playhead.record(kind="run", store=store, id=run):
            for name, argument in calls:
                tool[name](argument)
    return tmp_path


def test_the_two_stand_side_by_side_and_what_is_equal_is_summed_up(folder: Path) -> None:
    done = type_in(folder, "diff", "run-1", "run-2")
    assert done.returncode == 1
    rows = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert '≈ 1 tool search (q="tea") → "found tea" │ 1 tool search (q="<b>salt</b>") → "found <b>salt</b>"' in rows
    assert '~ 10 tool refund (q=3) → "found 3" │ 10 tool refund (q="3") → "found 3"' in rows
    assert '+ │ 11 tool refund (q="3") → "found 3"' in rows
    assert "… 6 exchanges equal" in rows
    assert "≈ tools: read × 8, refund, search │ tools: read × 8, refund × 2, search" in rows
    assert "asked /q: [-3-] {+3+}" in rows
    assert not any("tea" in row for row in rows if row.startswith("asked"))
    assert rows[-1] == "different by names and shapes: 8 exchanges equal, 3 not, of which 2 count"
    assert "--values" in done.stderr


def test_another_outcome_counts_and_is_said_to(tmp_path: Path) -> None:
    store = tmp_path / ".playhead"
    find = playhead.tool(lambda q: q, name="find")
    for run in ("run-1", "run-2"):
        with playhead.record(kind="run", store=store, id=run) as made:
            find("茶")
            if run == "run-2":
                made.fail("no tea")
    done = type_in(tmp_path, "diff", "run-1", "run-2", "--on", "names")
    rows = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert (done.returncode, "~ outcome: success │ outcome: failure" in rows) == (1, True)
    assert rows[-1] == "different by names: 1 exchange equal, 0 not; the outcome differs"


@pytest.mark.parametrize(
    ("words", "code"),
    [(["--on", "names"], 1), (["--values"], 1), (["--path", "/q"], 1), (["--values", "--on", "names"], 2)],
)
def test_how_closely_can_be_said(folder: Path, words: list[str], code: int) -> None:
    assert type_in(folder, "diff", "run-1", "run-2", *words).returncode == code
    assert type_in(folder, "diff", "run-1", "run-1", *words).returncode == (code if code == 2 else 0)


def test_json_has_all_changes_and_says_which_count(folder: Path) -> None:
    done = type_in(folder, "diff", "run-1", "run-2", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["same"], found["on"]) == (1, False, "shapes")
    assert [(each["kind"], each.get("level"), each.get("counts")) for each in found["changes"]] == [
        *(("changed", "values", False), ("changed", "shapes", None), ("added", None, None))
    ]
    assert len(found["places"]) == 11


def test_a_path_that_is_none_is_told(folder: Path) -> None:
    done = type_in(folder, "diff", "run-1", "run-2", "--path", "q")
    assert done.returncode == 2
    assert "'q' is no path" in done.stderr


class Tags(HTMLParser):
    """The tags of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_holds_the_same_and_nothing_that_a_recording_put_there_is_more_than_text(folder: Path) -> None:
    done = type_in(folder, "diff", "run-1", "run-2", "--html", "page.html")
    assert done.returncode == 1
    assert "written: page.html" in done.stderr
    page = (folder / "page.html").read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(page)
    assert tags.seen.isdisjoint({"b", "script", "img", "iframe", "link"})
    assert "found <b>salt</b>" in tags.text
    assert "different by names and shapes" in tags.text
    assert type_in(folder, "diff", "run-1", "run-2", "--html", "no/such/page.html").returncode == 2
