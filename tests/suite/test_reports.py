"""What a suite writes for others: JUnit, Markdown, GitHub; and the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from playhead.suite import Problem, Result, Summary, as_junit, as_markdown, github_annotations
from tests.cli.commands import environment
from tests.suite.projects import Project


def summary(*results: Any) -> Summary:
    return Summary("runs", tuple(results), 1_500_000_000)


def result(outcome: Any = "changed", message: str = "it differs", **about: Any) -> Result:
    problems = (Problem("changed", message, 2, "agent.py:7 in shop"),) if outcome in ("changed", "broken") else ()
    return Result("shop-1", "runs/shop-1.playhead.jsonl", "strict", outcome, 10**9, problems=problems, **about)


def test_junit_has_a_case_for_each_recording_and_tells_failures_from_errors() -> None:
    text = as_junit(summary(result("held"), result("drifted", drift=("a",)), result("changed"), result("broken")))
    top = Xml.fromstring(text)
    assert (top.get("tests"), top.get("failures"), top.get("errors")) == ("4", "1", "1")
    assert [len(case.findall("failure")) for case in top.iter("testcase")] == [0, 0, 1, 0]
    assert [len(case.findall("error")) for case in top.iter("testcase")] == [0, 0, 0, 1]


@pytest.mark.parametrize("text", ["<b>&amp;", "]]>", "\x00\x1b[31m", "\ud800", "a\nb", "\ufffe"])
def test_whatever_a_recording_holds_junit_stays_xml(text: str) -> None:
    found = Xml.fromstring(as_junit(summary(result(message=text, output=text))))
    assert len(list(found.iter("failure"))) == 1


@pytest.mark.parametrize("text", ["```\n# no heading", "a|b", "<script>", "[x](javascript:1)", "\x1b[31m"])
def test_whatever_a_recording_holds_the_page_keeps_its_form(text: str) -> None:
    lines = as_markdown(summary(result(message=text))).split("\n")
    row = next(line for line in lines if line.startswith("| shop-1"))
    assert row.count("|") == 6
    assert "<script>" not in row
    fences = [line for line in lines if line.startswith("```")]
    assert fences[0].removesuffix("text") == fences[-1]
    assert "\x1b" not in "".join(lines)


def test_an_annotation_is_one_line_at_the_line_of_the_agent() -> None:
    """What a recording says cannot give the runner a command of its own."""
    (line,) = github_annotations(summary(result(message="50% off,\n::set-env name=X::y"), result("held")))
    assert line.startswith("::error file=agent.py,line=7,title=shop-1%3A changed at step 2::50%25 off,%0A")
    assert "\n" not in line


def test_a_workflow_gets_annotations_its_page_and_junit_and_no_line_that_is_a_command(
    project: Project, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n")
    project.change("You are a shop.", "You are a shop.\\n::warning::hidden\\n")
    env = environment(GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(page))
    done = project.type("suite", "runs", "--junit", "out.xml", "--markdown", "out.md", env=env)
    assert done.returncode == 1
    assert sum(line.startswith("::error ") for line in done.stderr.splitlines()) == 3
    assert not any(line.lstrip().startswith("::") for line in done.stdout.splitlines())
    assert page.read_text() == "before\n" + (project.folder / "out.md").read_text()
    assert Xml.parse(project.folder / "out.xml").getroot().get("failures") == "3"
    assert "3 recordings: 3 changed" in done.stdout


def test_the_recordings_can_be_listed_and_a_run_is_added_once(project: Project) -> None:
    name = project.store()[0]
    listed = json.loads(project.type("suite", "runs", "--list", "--json").stdout)
    assert (len(listed), listed[0]["match"]) == (3, "strict")
    again = project.type("suite", "runs", "--add", name)
    assert (again.returncode, "is there already" in again.stderr) == (3, True)
