"""Accepting a change after it has been shown."""

from __future__ import annotations

import json
import subprocess

import playhead
from playhead.stores import LocalStore
from tests.suite.projects import Project


def update(project: Project) -> tuple[int, list[dict[str, object]]]:
    done = project.type("suite", "runs", "--update", "--json")
    assert project.lines("live.log") == 0
    return done.returncode, json.loads(done.stdout)["updated"]


def fixture(project: Project, name: str) -> playhead.Recording:
    return playhead.load(project.folder / "runs" / f"{name}.playhead.jsonl")


def test_other_words_and_a_call_that_is_left_out_are_shown_and_accepted(project: Project) -> None:
    """The recording that takes the place names the one before as its parent, and that one is not lost."""
    project.change("You are a shop.", "You are a friendly shop.")
    project.change("    notify(order, answer)\n", "")
    project.change('{"answer": answer}', '{"answer": answer.upper()}')
    name = project.store()[0]
    done = project.type("suite", "runs", "--update")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "~ step 2" in done.stdout
    assert "{+friendly +}" in done.stdout
    assert "- step 3 tool notify is not asked any more" in done.stdout
    assert f"playhead show {name}" in done.stderr
    code, data = project.suite()
    assert (code, data["held"]) == (0, 3)
    new, before = fixture(project, name), playhead.load(name, store=project.folder / ".playhead")
    assert new.started is not None
    assert new.started.parent is not None
    assert (new.started.parent.run, new.started.parent.head) == (name, before.head)
    assert (len(new.steps), len(before.steps)) == (2, 3)
    assert new.verify().ok


def test_what_the_recording_cannot_answer_is_not_accepted_and_nothing_is_touched(project: Project) -> None:
    project.change("    notify(order, answer)\n", "    notify(order, answer)\n    notify(order, 'once more')\n")
    files = {path: path.read_bytes() for path in (project.folder / "runs").iterdir()}
    code, updated = update(project)
    assert code == 1
    assert [each["accepted"] for each in updated] == [False] * 3
    assert "no answer to what is asked now" in str(updated[0]["why_not"])
    assert {path: path.read_bytes() for path in (project.folder / "runs").iterdir()} == files


def test_a_recording_that_git_has_is_left_to_git(project: Project) -> None:
    for words in (["init", "-q"], ["add", "runs"], ["-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "c"]):
        subprocess.run(["git", *words], cwd=project.folder, check=True, capture_output=True)
    name = project.store()[0]
    before = (project.folder / "runs" / f"{name}.playhead.jsonl").read_text()
    project.change("You are a shop.", "You are a friendly shop.")
    code, updated = update(project)
    assert code == 0
    told = next(str(each["before"]) for each in updated if each["name"] == name)
    shown = subprocess.run(told.split(), cwd=project.folder / "runs", check=True, capture_output=True, text=True)
    assert shown.stdout == before


def test_a_change_is_accepted_on_a_machine_with_other_mask_keys_and_holds_on_the_first(project: Project) -> None:
    """Placeholders of two keys in one recording: neither machine takes one for a change."""
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"
    project.change("You are a shop.", f"You are a shop with {secret}.")
    project.record(1)
    other = project.copy(project.folder.parent / "other")
    (other.folder / ".playhead" / "keys" / "mask.key").unlink()
    LocalStore(other.folder / ".playhead").mask_key()
    for place in (project, other):
        place.change("You are a shop with", "You are a friendly shop with")
    assert update(other)[0] == 0
    assert other.suite()[0] == 0
    for path in (other.folder / "runs").iterdir():
        (project.folder / "runs" / path.name).write_bytes(path.read_bytes())
        assert secret not in path.read_text()
    assert project.suite()[0] == 0
