"""The learning loop: what was wrong, what should have happened, and whether it does now."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import playhead
from playhead.errors import CorruptRecordingError, UsageError
from playhead.stores import LocalStore
from playhead.suite import Annotation, annotations_of, read_rule
from tests.suite.projects import Project


def annotate(project: Project, *words: str, code: int = 0) -> dict[str, Any]:
    done = project.type("annotate", *words, "--json")
    assert done.returncode == code, done.stderr
    found: dict[str, Any] = json.loads(done.stdout) if done.stdout else {"error": done.stderr}
    return found


def score(project: Project, *words: str) -> tuple[int, dict[str, Any]]:
    done = project.type("suite", "runs", "--expectations", "--json", *words)
    assert done.stdout, done.stderr
    assert project.lines("live.log") == 0
    return done.returncode, json.loads(done.stdout)


def verdicts(data: dict[str, Any]) -> dict[str, str]:
    return {judged["rule"]: judged["verdict"] for each in data["scored"] for judged in each["expectations"]}


@pytest.fixture
def annotated(project: Project) -> Project:
    """Step 3 of one recording, a call of `notify`, was wrong."""
    path = f"runs/{project.store()[0]}.playhead.jsonl"
    rules = ["tool=ask_first", "no-tool=notify", "argument order=A-9", "be polite"]
    annotate(project, path, "--step", "3", "--wrong", "it told the customer", "--class", "hasty",
             *[word for rule in rules for word in ("--expect", rule)])  # fmt: skip
    return project


def test_the_code_that_was_wrong_is_not_fixed(annotated: Project) -> None:
    code, data = score(annotated)
    assert code == 1
    assert data["by_class"] == {"hasty": {"not fixed": 1}}
    wanted = {"tool=ask_first": "failed", "no-tool=notify": "failed"}
    wanted |= {"argument order=A-9": "failed", "be polite": "open"}
    assert verdicts(data) == wanted


def test_a_divergence_at_the_annotated_step_may_be_the_improvement(annotated: Project) -> None:
    """The tool that was expected was never recorded, so that the replay ends there; that is what is judged."""
    annotated.change("def close()", "@playhead.tool\ndef ask_first(order):\n    return True\n\n\ndef close()")
    annotated.change("    notify(order, answer)\n", "    ask_first('A-9')\n    notify(order, answer)\n")
    code, data = score(annotated, "--history", "history.jsonl")
    assert (code, data["by_class"], data["before"]) == (0, {"hasty": {"fixed": 1}}, [])
    code, data = score(annotated, "--history", "history.jsonl")
    assert [each["fixed"] for each in data["before"]] == [1]


def test_the_call_that_was_wrong_may_simply_be_left_out(project: Project) -> None:
    path = f"runs/{project.store()[0]}.playhead.jsonl"
    annotate(project, path, "--step", "3", "--wrong", "hasty", "--expect", "no-tool=notify")
    project.change("    notify(order, answer)\n", "")
    assert score(project)[0] == 0


def test_a_replay_that_does_not_come_to_the_step_says_nothing_of_it(annotated: Project) -> None:
    annotated.change("found = look_up(order)", "found = look_up(order)\n    look_up('again')")
    code, data = score(annotated)
    assert (code, set(verdicts(data).values())) == (1, {"open"})


def test_a_suite_without_annotations_is_an_error_of_usage(project: Project) -> None:
    done = project.type("suite", "runs", "--expectations")
    assert (done.returncode, "is annotated" in done.stderr) == (2, True)


def test_annotations_are_listed_taken_back_shown_and_go_into_a_suite(project: Project) -> None:
    name = project.store()[0]
    before = (project.folder / f".playhead/recordings/{name}.playhead").read_bytes()
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"
    annotate(project, name, "--step", "2", "--wrong", f"it said {secret}", "--expect", "answer~polite")
    annotate(project, name, "--wrong", "all of it")
    kept = annotate(project, name, "--remove", "2")["annotations"]
    assert [each["number"] for each in kept] == [1]
    assert secret not in json.dumps(kept)
    done = project.type("show", name)
    assert done.returncode == 0, done.stderr
    shown = done.stdout
    assert "! step 2: it said" in shown
    assert "!2" in shown
    assert json.loads(project.type("show", name, "--json").stdout)["annotations"] == kept
    assert (project.folder / f".playhead/recordings/{name}.playhead").read_bytes() == before
    assert project.type("suite", "other", "--add", name).returncode == 0
    assert annotate(project, f"other/{name}.playhead.jsonl")["annotations"] == kept


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--step", "9", "--wrong", "x"], "has steps 1 to 3"),
        (["--wrong", "x", "--expect", "answer~("], "no regular expression"),
        (["--wrong", "x", "--expect", "tool="], "does not say"),
        (["--step", "1"], "does not say what was wrong"),
        (["--remove", "4"], "no annotation 4"),
    ],
)
def test_what_cannot_be_kept_is_an_error_of_usage_and_nothing_is_kept(
    project: Project, words: list[str], said: str
) -> None:
    name = project.store()[0]
    assert said in annotate(project, name, *words, code=2)["error"]
    assert annotate(project, name)["annotations"] == []


def test_annotations_go_out_in_three_forms_and_come_back(project: Project) -> None:
    first, second, _ = project.store()
    annotate(project, first, "--step", "3", "--wrong", "hasty", "--expect", "no-tool=notify", "--class", "hasty")
    annotate(project, second, "--wrong", "rude")
    for form in ("jsonl", "inspect", "pydantic-evals"):
        assert project.type("annotate", "--export", form, f"out.{form}").returncode == 0
    lines = [json.loads(line) for line in (project.folder / "out.jsonl").read_text().splitlines()]
    assert {(line["run"], line["wrong"]) for line in lines} == {(first, "hasty"), (second, "rude")}
    samples = [json.loads(line) for line in (project.folder / "out.inspect").read_text().splitlines()]
    assert all({"id", "input", "target", "metadata"} == set(sample) for sample in samples)
    cases = json.loads((project.folder / "out.pydantic-evals").read_text())["cases"]
    assert [case["inputs"]["args"] for case in cases] != [[], []]
    assert annotate(project, "--import", "out.jsonl") == {"read": 2, "added": 0}
    annotate(project, first, "--remove", "1")
    assert annotate(project, "--import", "out.jsonl") == {"read": 2, "added": 1}
    (project.folder / "bad.jsonl").write_text('{"run": "x"}\n')
    assert "line 1 of bad.jsonl" in annotate(project, "--import", "bad.jsonl", code=2)["error"]


def test_an_update_carries_annotations_over_to_the_steps_that_are_left(project: Project) -> None:
    path = f"runs/{project.store()[0]}.playhead.jsonl"
    annotate(project, path, "--step", "1", "--wrong", "first")
    annotate(project, path, "--step", "3", "--wrong", "last")
    project.change("found = look_up(order)", 'found = {"status": "shipped"}')
    assert project.type("suite", "runs", "--update").returncode == 0
    kept = annotate(project, path)["annotations"]
    assert [(each["step"], each["wrong"]) for each in kept] == [(2, "last")]


@pytest.fixture
def recording(tmp_path: Path) -> playhead.Recording:
    with playhead.record(kind="example", store=str(tmp_path)) as run:
        playhead.now()
    return playhead.load(run.id, store=tmp_path)


def test_a_line_that_was_changed_or_is_gone_is_noticed(recording: playhead.Recording, tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    kept = annotations_of(recording, store)
    for text in ("a", "b", "c"):
        kept.add(Annotation(wrong=text))
    lines = kept.file.read_bytes().splitlines(keepends=True)
    for broken in (lines[1:], [lines[0], lines[2]], [lines[0].replace(b'"a"', b'"x"'), *lines[1:]], [*lines, b"{\n"]):
        kept.file.write_bytes(b"".join(broken))
        with pytest.raises(CorruptRecordingError, match=r"do not hold"):
            annotations_of(recording, store)
    kept.file.write_bytes(b"".join(lines))
    assert [each.wrong for each in annotations_of(recording, store)] == ["a", "b", "c"]


@given(st.text())
def test_whatever_is_typed_is_a_rule_or_an_error_of_usage(text: str) -> None:
    try:
        assert read_rule(text).text == text.strip()
    except UsageError:
        pass


@pytest.mark.parametrize(
    ("rule", "found", "holds"),
    [
        ("argument amount<=100", 100, True),
        ("argument amount<=100", "many", False),
        ("argument amount!=3", 4, True),
        ("argument order.id~^A-", "A-7", True),
        ('argument tags=["x"]', ["x"], True),
        ("argument name=Ann", "Ann", True),
    ],
)
def test_a_rule_compares(rule: str, found: Any, *, holds: bool) -> None:
    assert read_rule(rule).holds_for(found) is holds
