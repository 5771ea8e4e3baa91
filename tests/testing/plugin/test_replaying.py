"""Marked tests are replayed from their recordings, strictly and offline, and what does not hold fails them."""

from __future__ import annotations

from tests.testing.plugin.projects import Project, next_command

THREE = """
import os
CALLS = [int(part) for part in os.environ.get("CALLS", "1,2,3").split(",")]

@pytest.mark.playhead(match=os.environ.get("MATCH", "strict"))
def test_fetching():
    for number in CALLS:
        assert fetch(number)["number"] == number
"""


def test_a_recorded_test_replays_and_nothing_runs_live(project: Project) -> None:
    project.write(test_it=THREE)
    made = project.record()
    assert (made.code, made.counts, project.live) == (0, {"passed": 1}, ["1", "2", "3"])
    assert [path.relative_to(project.folder).as_posix() for path in project.recordings] == [
        "recordings/test_it/test_fetching.playhead.jsonl"
    ]
    assert "recorded recordings/test_it/test_fetching.playhead.jsonl" in made.section("playhead")
    played = project.pytest()
    assert (played.code, played.counts, project.live) == (0, {"passed": 1}, [])


def test_a_missing_recording_is_a_failure_and_names_the_command_that_makes_it(project: Project) -> None:
    """B39b: nothing is called."""
    project.write(test_it=THREE)
    ended = project.pytest()
    assert (ended.code, ended.counts, project.live) == (1, {"failed": 1}, [])
    assert "UnknownRunError: there is no recording of test_fetching" in ended.text
    assert next_command(ended.text) == ["pytest", "test_it.py::test_fetching", "--playhead=record"]


def test_an_empty_file_is_a_failure_of_its_own(project: Project) -> None:
    """B39c."""
    project.write(test_it=THREE)
    project.record()
    assert project.live
    project.recordings[0].write_bytes(b"")
    ended = project.pytest()
    assert (ended.code, ended.counts, project.live) == (1, {"failed": 1}, [])
    assert "NotARecordingError" in ended.text
    assert next_command(ended.text)[0] == "pytest"


def test_the_recording_of_another_test_is_a_failure_of_its_own(project: Project) -> None:
    """B39d: the two make the same calls, so only the file can tell."""
    project.write(test_it=THREE + "\n@pytest.mark.playhead\ndef test_other():\n    test_fetching()\n")
    project.record()
    assert project.live
    first, second = project.recordings
    second.write_bytes(first.read_bytes())
    ended = project.pytest()
    assert (ended.code, ended.counts, project.live) == (1, {"passed": 1, "failed": 1}, [])
    assert "ForeignRecordingError" in ended.text
    assert "test_it.py::test_fetching, not of test_it.py::test_other" in ended.text


def test_a_changed_or_cut_recording_is_a_failure_of_its_own(project: Project) -> None:
    project.write(test_it=THREE)
    project.record()
    assert project.live
    path = project.recordings[0]
    whole = path.read_text()
    for damaged in (whole.replace('"number":2', '"number":7', 1), "".join(whole.splitlines(keepends=True)[:-2])):
        assert damaged != whole
        path.write_text(damaged)
        ended = project.pytest()
        assert (ended.code, ended.counts, project.live) == (1, {"failed": 1}, [])
        assert "CorruptRecordingError" in ended.text


def test_a_call_that_is_left_out_fails_the_test_itself(project: Project) -> None:
    """B18, X: calls 1 and 3 of 1, 2, 3."""
    project.write(test_it=THREE)
    project.record()
    assert project.live
    ended = project.pytest(CALLS="1,3")
    assert (ended.code, ended.counts, project.live) == (1, {"failed": 1}, [])
    assert "UnplayedError: never asked in this replay: step 2 (fetch)" in ended.text


def test_a_call_that_is_made_once_more_fails_the_test(project: Project) -> None:
    """B18, Y: calls 1, 2, 3 and 3 again."""
    project.write(test_it=THREE)
    project.record()
    assert project.live
    ended = project.pytest(CALLS="1,2,3,3")
    assert (ended.code, ended.counts, project.live) == (1, {"failed": 1}, [])
    assert "recorded 1 time (step 3) and asked once more now" in ended.text


def test_a_loose_replay_passes_and_warns_of_what_drifted(project: Project) -> None:
    text = """
import os, agent, playhead
@pytest.mark.playhead(match="loose")
def test_it():
    ask(os.environ.get("WORDS", "please"))

@playhead.tool
def ask(words):
    return fetch(1)
"""
    project.write(test_it=text)
    project.record()
    assert project.live
    ended = project.pytest(WORDS="kindly")
    assert (ended.code, ended.counts, project.live) == (0, {"passed": 1, "warning": 1}, [])
    assert "test_it.py::test_it was replayed with drift at /words" in ended.text


def test_a_loose_replay_warns_of_a_call_that_is_left_out(project: Project) -> None:
    """B18: loose lists it as a difference."""
    project.write(test_it=THREE)
    project.record()
    ended = project.pytest(CALLS="1,2", MATCH="loose")
    assert (ended.code, ended.counts) == (0, {"passed": 1, "warning": 1})
    assert "test_it.py::test_fetching was replayed never asking for fetch" in ended.text


def test_a_divergence_that_the_test_swallows_fails_it_nevertheless(project: Project) -> None:
    text = """
import os
@pytest.mark.playhead
def test_it():
    try:
        fetch(int(os.environ.get("CALL", "1")))
    except BaseException:
        pass
"""
    project.write(test_it=text)
    project.record()
    assert project.live
    ended = project.pytest(CALL="2")
    assert (ended.code, ended.counts, project.live) == (1, {"failed": 1}, [])
    assert "DivergenceError: tool fetch in lane main: differs from step 1" in ended.text


def test_an_assertion_of_the_test_is_not_hidden_by_what_it_left_out(project: Project) -> None:
    text = """
import os
@pytest.mark.playhead
def test_it():
    assert fetch(1)["number"] == int(os.environ.get("WANTED", "1")), "the wrong number"
    fetch(2)
"""
    project.write(test_it=text)
    project.record()
    ended = project.pytest(WANTED="5")
    assert ended.counts == {"failed": 1}
    assert "AssertionError: the wrong number" in ended.text
    assert "UnplayedError" not in ended.text


def test_a_failure_is_short_and_shows_the_test_s_own_line_and_the_next_command(project: Project) -> None:
    project.write(test_it=THREE)
    project.record()
    ended = project.pytest(CALLS="1,2,4")
    shown = ended.section("test_fetching")
    assert len(shown) < 15
    assert shown[0] == "test_it.py:10: in test_fetching"
    assert any("/number: [-3-] {+4+}" in line for line in shown)
    assert not any("site-packages" in line or "boundary" in line for line in shown)
    show = next_command(ended.text)
    assert show == ["playhead", "show", "recordings/test_it/test_fetching.playhead.jsonl#3"]
    assert any("record again: pytest test_it.py::test_fetching --playhead=record" in line for line in shown)
    assert "FAILED test_it.py::test_fetching - playhead.errors.DivergenceError: tool fetch" in ended.text


def test_the_whole_traceback_is_there_when_asked_for(project: Project) -> None:
    project.write(test_it=THREE)
    project.record()
    assert "_doors.py" in project.pytest("--full-trace", CALLS="1,2,4").text


def test_calls_of_the_test_s_own_fixtures_are_part_of_the_recording(project: Project) -> None:
    text = """
import os
@pytest.fixture
def order():
    yield fetch(1)
    fetch(int(os.environ.get("LAST", "3")))

@pytest.mark.playhead
def test_it(order):
    assert fetch(2)["number"] == 2
"""
    project.write(test_it=text)
    assert project.record().counts == {"passed": 1}
    assert project.live == ["1", "2", "3"]
    assert project.pytest().counts == {"passed": 1}
    ended = project.pytest(LAST="4")
    assert ended.counts == {"passed": 1, "error": 1}
    assert "differs from step 3" in ended.text
    assert project.live == []


def test_a_call_in_a_fixture_s_end_that_was_not_recorded_stays_off_the_network(project: Project) -> None:
    text = """
import os
@pytest.fixture
def order():
    yield
    if "LAST" in os.environ:
        fetch(9)

@pytest.mark.playhead
def test_it(order):
    fetch(2)
"""
    project.write(test_it=text)
    project.record()
    assert project.live
    ended = project.pytest(LAST="yes")
    assert ended.counts == {"passed": 1, "error": 1}
    assert "LateCrossingError" in ended.text
    assert project.live == []


def test_a_replay_writes_nothing(project: Project) -> None:
    project.write(test_it=THREE)
    project.record()
    (project.folder / ".playhead").rename(project.folder.parent / "gone")
    before = {path: path.stat().st_mtime_ns for path in project.folder.rglob("*")}
    assert project.pytest().counts == {"passed": 1}
    assert {path: path.stat().st_mtime_ns for path in project.folder.rglob("*")} == before


def test_the_fixture_says_how_the_test_is_run(project: Project) -> None:
    text = """
def test_it(playhead):
    fetch(1)
    assert playhead.path.name == "test_it.playhead.jsonl"
    if playhead.mode == "replay":
        assert playhead.report.answered == 1
    else:
        assert playhead.report is None
        assert not playhead.path.exists()
"""
    project.write(test_it=text)
    assert project.record().counts == {"passed": 1}
    assert project.pytest().counts == {"passed": 1}
    assert project.live == ["1"]


def test_a_mark_with_an_argument_it_does_not_take_is_refused(project: Project) -> None:
    project.write(test_it="@pytest.mark.playhead(mode='loose')\ndef test_it():\n    fetch(1)\n")
    ended = project.record()
    assert (ended.counts, project.live) == ({"failed": 1}, [])
    assert "it has no argument 'mode'; it takes match=, name=, normalisers=, store=" in ended.text


def test_tests_without_a_mark_do_not_import_playhead(project: Project) -> None:
    (project.folder / "test_plain.py").write_text(
        "import sys\ndef test_plain():\n    assert not any(name.startswith('playhead') for name in sys.modules)\n"
    )
    assert project.pytest().counts == {"passed": 1}
