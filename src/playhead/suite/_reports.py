"""The results of a suite for others to read: JUnit XML, Markdown, annotations of GitHub."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from playhead.eventlog import printable
from playhead.suite._verdicts import Problem, Result, Summary

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MOST = 50
"""So many recordings are told in full on a page."""


def as_junit(summary: Summary) -> str:
    """The results as JUnit XML: a test case for each recording; what could not be played is an error."""
    from xml.etree import ElementTree as Xml

    results = summary.results
    counts: dict[str, Any] = {
        "tests": str(len(results)),
        "failures": str(summary.count("changed")),
        "errors": str(summary.count("broken")),
        "time": _seconds(summary.took_ns),
    }
    top = Xml.Element("testsuites", name="playhead", **counts)
    suite = Xml.SubElement(top, "testsuite", name=_xml(summary.folder), **counts)
    for result in results:
        place: dict[str, Any] = {
            "classname": _xml(summary.folder),
            "file": _xml(result.path),
            "time": _seconds(result.took_ns),
        }
        case = Xml.SubElement(suite, "testcase", name=_xml(result.name), **place)
        for problem in result.problems:
            kind = "error" if result.outcome == "broken" else "failure"
            first = problem.message.partition("\n")[0]
            told = Xml.SubElement(case, kind, type=problem.kind, message=_xml(first))
            told.text = _xml(problem_text(problem, result))
        said = "\n".join([*result.drift, *(f"warning: {text}" for text in result.warnings), result.output]).strip()
        if said:
            Xml.SubElement(case, "system-out").text = _xml(said)
    Xml.indent(top)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{Xml.tostring(top, encoding="unicode")}\n'


def as_markdown(summary: Summary) -> str:
    """The results as a page of Markdown: a table of what is not as recorded, then each of them in full."""
    mark = "✅" if summary.ok else "❌"
    lines = [
        f"### {mark} playhead suite {_inline(summary.folder)}",
        "",
        f"{summary}, in {_seconds(summary.took_ns)} s",
        "",
    ]
    told = [each for each in summary.results if each.outcome != "held"]
    if told:
        lines += ["| recording | match | | step | |", "|---|---|---|--:|---|", *map(_row, told[:_MOST]), ""]
    for result in [each for each in told if not each.ok][:_MOST]:
        text = "\n".join(problem_text(problem, result) for problem in result.problems)
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
        lines += [
            f"<details><summary>{_html(result.name)}</summary>",
            "",
            f"{fence}text",
            text,
            fence,
            "",
            "</details>",
            "",
        ]
    if len(told) > _MOST:
        lines += [f"… and {len(told) - _MOST} more", ""]
    return "\n".join(lines)


def github_annotations(summary: Summary) -> Iterator[str]:
    """A workflow command for each recording that does not pass: GitHub shows them beside the change."""
    for result in summary.results:
        if result.ok:
            continue
        problem = result.problems[0]
        title = f"{result.name}: {'could not be played' if result.outcome == 'broken' else 'changed'}"
        if problem.step is not None:
            title += f" at step {problem.step}"
        place = f"file={_property(result.path)},title={_property(title)}"
        site = re.match(r"(.+):(\d+) in ", problem.where or "")
        if site is not None:
            place = f"file={_property(_relative(site[1]))},line={site[2]},title={_property(title)}"
        yield f"::error {place}::{_escaped(problem_text(problem, result))}"


def problem_text(problem: Problem, result: Result) -> str:
    """A problem in full, as lines."""
    lines = [printable(line, limit=2000) for line in problem.message.split("\n")]
    if problem.where is not None:
        lines.append(f"  asked at {printable(problem.where)}")
    if result.next:
        lines.append(f"  next: {printable(result.next)}")
    return "\n".join(lines)


def _row(result: Result) -> str:
    words = {"changed": "❌ changed", "broken": "⚠️ not played", "drifted": "drifted"}
    first = result.problems[0] if result.problems else None
    said = first.message.partition("\n")[0] if first is not None else result.drift[0]
    step = str(first.step) if first is not None and first.step is not None else ""
    return f"| {_cell(result.name)} | {result.match} | {words[result.outcome]} | {step} | {_cell(said)} |"


def _cell(text: str) -> str:
    return _html(printable(text, limit=200)).replace("|", "&#124;").replace("`", "&#96;").replace("[", "&#91;")


def _html(text: str) -> str:
    return printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _inline(text: str) -> str:
    return f"`{printable(text).replace('`', '')}`"


def _xml(text: str) -> str:
    return _NOT_XML.sub("�", text)


def _seconds(took_ns: int) -> str:
    return f"{took_ns / 1e9:.3f}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(printable(text)).replace(":", "%3A").replace(",", "%2C")


def _relative(file: str) -> str:
    from pathlib import Path

    from playhead.eventlog import shown_path

    return shown_path(Path(file))
