"""A recording is made when it is asked for, takes its place whole and only after success, and has a safe name."""

from __future__ import annotations

import re
from pathlib import Path

import playhead
from tests.testing.plugin.projects import Project, next_command

THREE = """
@pytest.mark.playhead
def test_fetching():
    for number in (1, 2, 3):
        assert fetch(number)["number"] == number
"""


def test_a_failed_new_recording_leaves_the_good_one_and_keeps_its_own_run(project: Project) -> None:
    """B21: the program raises after one of three calls."""
    project.write(test_it=THREE)
    project.record()
    good = project.recordings[0].read_bytes()
    ended = project.record(BREAK_AT="2")
    assert ended.counts == {"failed": 1}
    assert [path.read_bytes() for path in project.recordings] == [good]
    assert project.live
    assert project.pytest().counts == {"passed": 1}
    (kept,) = project.kept
    command = next_command("\n".join(ended.section(" playhead ")))
    assert command[:2] == ["playhead", "show"]
    with playhead.load(command[2], store=str(project.folder / ".playhead")) as run:
        assert run.path == kept
        assert run.outcome == "failure"
        assert run.finished is not None
        assert run.finished.incomplete == ["1 x rest of the test, which failed (ConnectionError)"]
        assert len(run.steps) == 2
        assert run.verify().sealed


def test_a_test_that_fails_at_its_first_recording_has_none(project: Project) -> None:
    project.write(test_it=THREE)
    assert project.record(BREAK_AT="1").counts == {"failed": 1}
    assert project.recordings == []
    assert len(project.kept) == 1


def test_a_full_disk_at_the_saving_leaves_the_good_one_and_keeps_the_new_run(project: Project) -> None:
    """B21: what is saved has more bytes than fit; the store keeps its large bodies apart, so it still has room."""
    fixture = """
import os, resource
from agent import playhead

@playhead.tool
def read_pages():
    return [os.urandom(60_000) for _ in range(5)]

@pytest.fixture(autouse=True)
def little_room():
    yield
    if "FULL" in os.environ:
        resource.setrlimit(resource.RLIMIT_FSIZE, (250_000, 250_000))

@pytest.mark.playhead
def test_pages():
    for _ in range(2):
        assert len(read_pages()) == 5
"""
    project.write(test_it=fixture)
    assert project.record().counts == {"passed": 1}
    good = project.recordings[0].read_bytes()
    assert len(good) > 500_000
    ended = project.record(FULL="yes")
    assert ended.counts == {"passed": 1, "error": 1}
    assert "StoreNotWritableError" in ended.text
    assert "it is full; recordings/test_it/test_pages.playhead.jsonl is as it was" in ended.text
    assert [path.read_bytes() for path in project.recordings] == [good]
    assert [path.name for path in (project.folder / "recordings" / "test_it").iterdir()] == [project.recordings[0].name]
    with playhead.load(next_command(ended.text)[2], store=str(project.folder / ".playhead")) as kept:
        assert len(kept.steps) == 2
    assert project.pytest().counts == {"passed": 1}


def test_a_new_recording_without_a_call_leaves_the_good_one(project: Project) -> None:
    """B21: a re-record that makes no call."""
    project.write(test_it="import os\n@pytest.mark.playhead\ndef test_it():\n    'NO' in os.environ or fetch(1)\n")
    project.record()
    good = project.recordings[0].read_bytes()
    ended = project.record(NO="yes")
    assert ended.code == 1
    assert "test_it asked for nothing that could be recorded" in ended.text
    assert [path.read_bytes() for path in project.recordings] == [good]
    assert project.pytest().counts == {"passed": 1}


def test_a_good_run_replaces_the_recording_and_leaves_nothing_else(project: Project) -> None:
    project.write(test_it=THREE)
    project.record()
    first = project.recordings[0].read_bytes()
    assert project.record().counts == {"passed": 1}
    assert project.recordings[0].read_bytes() != first
    assert len(list((project.folder / "recordings").rglob("*"))) == 2
    assert project.kept == []


def test_a_skipped_test_is_neither_recorded_nor_kept_as_failed(project: Project) -> None:
    project.write(test_it="@pytest.mark.playhead\ndef test_it():\n    fetch(1)\n    pytest.skip('not today')\n")
    ended = project.record()
    assert ended.counts == {"skipped": 1}
    assert project.recordings == []
    assert "failed while it was recorded" not in ended.text


def test_new_records_only_what_has_no_recording(project: Project) -> None:
    project.write(test_it=THREE)
    project.record()
    before = project.recordings[0].read_bytes()
    assert project.live
    project.write(test_it=THREE + "\n@pytest.mark.playhead\ndef test_new():\n    fetch(7)\n")
    assert project.pytest("--playhead=new").counts == {"passed": 2}
    assert project.live == ["7"]
    assert project.recordings[0].read_bytes() == before
    assert project.pytest().counts == {"passed": 2}
    assert project.live == []


def test_whatever_a_parameter_is_the_file_is_safe_distinct_and_the_same_every_time(project: Project) -> None:
    """B19."""
    text = """
VALUES = ["foo/bar", "../../x", "a:b*c", "z" * 300, "\\u00e9", "e\\u0301", "A", "a", "", "con"]

@pytest.mark.parametrize("value", VALUES)
@pytest.mark.playhead
def test_it(value):
    assert fetch(value)["number"] == value

@pytest.mark.parametrize("value", [pytest.param(1, id=part) for part in ["\\u00e9", "e\\u0301", "z" * 190, "Z" * 190]])
@pytest.mark.playhead
def test_ids(value):
    fetch(1)
"""
    project.write(test_it=text)
    (project.folder / "pytest.ini").write_text(
        "[pytest]\ndisable_test_id_escaping_and_forfeit_all_rights_to_community_support = true\n"
    )
    assert project.record().counts == {"passed": 14}
    made = project.recordings
    assert len(made) == 14
    for path in made:
        assert path.parent == project.folder / "recordings" / "test_it"
        assert re.fullmatch(r"test_[a-z0-9_-]+\.playhead\.jsonl", path.name)
        assert len(path.name.encode()) < 200
    assert len({path.name.lower() for path in made}) == 14
    assert project.live
    assert project.pytest().counts == {"passed": 14}
    assert project.live == []
    assert project.recordings == made


def test_the_folder_of_the_recordings_can_be_chosen(project: Project) -> None:
    project.write(api__test_it=THREE)
    chosen = {
        "--playhead-store=kept": "kept/api/test_it/test_fetching.playhead.jsonl",
        "--override-ini=playhead_store=other": "other/api/test_it/test_fetching.playhead.jsonl",
    }
    for option, path in chosen.items():
        assert project.record(option).counts == {"passed": 1}
        assert (project.folder / path).is_file()
        assert project.pytest(option).counts == {"passed": 1}
    project.write(api__test_it=THREE.replace("playhead\n", "playhead(store='../mine', name='all of it')\n", 1))
    project.record()
    assert [path.name for path in (project.folder / "mine" / "test_it").iterdir()] == [
        "all-of-it-0763077764.playhead.jsonl"
    ]
    assert project.pytest().counts == {"passed": 1}


def test_recordings_that_no_test_uses_are_listed(project: Project) -> None:
    project.write(test_it=THREE + "\n@pytest.mark.playhead\ndef test_new():\n    fetch(7)\n", test_gone=THREE)
    project.write(test_other=THREE)
    project.record()
    assert project.live
    none = project.pytest("--playhead-unused")
    assert (none.code, none.section("recordings that no test uses")) == (0, ["none"])
    project.write(test_it=THREE)
    (project.folder / "test_gone.py").unlink()
    ended = project.pytest("--playhead-unused", "test_it.py")
    assert ended.code == 1
    assert ended.section("recordings that no test uses") == [
        "recordings/test_gone/test_fetching.playhead.jsonl",
        "recordings/test_it/test_new.playhead.jsonl",
    ]
    assert project.live == []


def test_no_folder_of_this_machine_is_in_a_recording(project: Project) -> None:
    project.write(test_it=THREE)
    project.record()
    text = project.recordings[0].read_text()
    assert str(project.folder) not in text
    assert str(Path.home()) not in text
