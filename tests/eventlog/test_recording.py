"""The read view: what people and programs see of a run."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path

import pytest

from playhead.errors import NotARecordingError, UnknownRunError, UsageError
from playhead.eventlog import Recording, open_recording
from playhead.events import ModelRequested, ToolReturned, UnknownBody
from tests.eventlog.runs import STARTED, Run, live_run, plain_lines, sealed_run


def both_forms(path: Path) -> list[Recording]:
    plain = path.with_name("plain.playhead.jsonl")
    plain.write_bytes(b"\n".join(plain_lines(path)) + b"\n")
    return [open_recording(path), open_recording(plain)]


def test_both_forms_say_the_same(tmp_path: Path) -> None:
    sealed, plain = both_forms(sealed_run(tmp_path))
    assert list(sealed) == list(plain)
    assert sealed.head == plain.head
    assert sealed.sealed
    assert plain.sealed


def test_a_recording_opens_from_bytes_and_open_files_too(tmp_path: Path) -> None:
    path = sealed_run(tmp_path)
    with path.open("rb") as file:
        opened = [
            open_recording(path.read_bytes()),
            open_recording(io.BytesIO(path.read_bytes())),
            open_recording(file),
        ]
    assert all(list(recording) == list(open_recording(path)) for recording in opened)


def test_a_run_is_told_by_its_header_and_its_ends(tmp_path: Path) -> None:
    recording = open_recording(sealed_run(tmp_path))
    assert (recording.id, recording.kind, recording.task) == ("triage-7f3a", "triage", "T-42")
    assert recording.started == STARTED
    assert recording.finished is not None
    assert recording.outcome == recording.finished.outcome == "success"
    assert recording.count == len(recording) == len(recording.events)


def test_a_run_that_was_cut_off_was_aborted(tmp_path: Path) -> None:
    recording = open_recording(live_run(tmp_path))
    assert recording.finished is None
    assert recording.outcome == "aborted"
    assert not recording.sealed


def test_exchanges_are_questions_with_their_answers(tmp_path: Path) -> None:
    run = Run(tmp_path / "a")
    slow = run.add("tool.called", b'{"name":"slow"}', lane="main/a#1")
    quick = run.add("tool.called", b'{"name":"quick"}', lane="main/b#1")
    plain = run.add("boundary.asked", b'{"name":"http"}')
    run.add("tool.returned", b'{"value":1}', of=quick, lane="main/b#1")
    run.add("boundary.answered", b'{"status":200}', of=plain)
    run.add("note.added", b'{"name":"about"}', of=slow)
    run.log.commit()
    recording = open_recording(run.log.path)
    pairs = [(e.question.seq, e.answer.seq if e.answer else None, e.step) for e in recording.exchanges]
    assert pairs == [(0, None, 1), (1, 3, 2), (2, 4, None)]
    assert [step.question.seq for step in recording.steps] == [0, 1]
    assert recording.lanes == ("main/a#1", "main/b#1", "main")
    assert [event.seq for event in recording.in_lane("main/b#1")] == [1, 3]
    assert list(recording.in_lane("elsewhere")) == []


def test_step_numbers_begin_with_one_and_end_with_the_last(tmp_path: Path) -> None:
    recording = open_recording(sealed_run(tmp_path, cycles=2))
    assert len(recording.steps) == 5
    assert recording.step(1) == recording.steps[0]
    assert recording.step(5).step == 5
    for number in (0, -1, 6):
        with pytest.raises(UsageError, match="steps 1 to 5") as caught:
            recording.step(number)
        assert caught.value.next == "playhead show triage-7f3a"


def test_the_context_of_a_step_is_the_whole_request_its_model_saw(tmp_path: Path) -> None:
    run = Run(tmp_path / "a")
    run.started()
    seen = run.conversation(4)
    recording = open_recording(run.log.seal())
    for number, messages in enumerate(seen):
        assert recording.context(2 * number + 1) == {"messages": messages}
    assert recording.context(4) == {"messages": seen[1]}, "a tool's is that of the model that asked for it"


def test_a_lane_without_a_model_takes_the_context_of_the_lane_that_made_it(tmp_path: Path) -> None:
    run = Run(tmp_path / "a")
    run.add("tool.called", b'{"name":"early"}')
    run.add("model.requested", b'{"provider":"openai","request":{"a":1}}', lane="main/other#1")
    run.add("model.requested", b'{"provider":"openai","request":{"a":2}}')
    run.add("tool.called", b'{"name":"t"}', lane="main/task#1")
    run.log.commit()
    recording = open_recording(run.log.path)
    assert recording.context(1) is None
    assert recording.context(4) == {"a": 2}


def test_kinds_of_later_versions_survive_a_round_trip(tmp_path: Path) -> None:
    run = Run(tmp_path / "a")
    raw = b'{"z":1.50,"a":[1e2,{"$t":"later"}]}'
    run.add("x.mine", raw)
    run.add("model.dreamed", b"{}")
    recording = open_recording(run.log.seal())
    first = recording.events[0]
    assert first.body == UnknownBody(raw=raw)
    again = Run(tmp_path / "b")
    again.add(first.kind, first.body)
    again.log.commit()
    assert open_recording(again.log.path).events[0].body == first.body
    assert recording.events[1].body == UnknownBody(raw=b"{}")


def test_a_recording_being_written_is_read_as_far_as_it_is(tmp_path: Path) -> None:
    run = Run(tmp_path / "a")
    run.started()
    run.log.flush()
    recording = open_recording(run.log.path)
    assert len(recording) == 1
    run.finished()
    run.log.seal()
    assert recording.events[0].body == STARTED, "also after the live file has gone"


def test_a_large_recording_is_read_in_any_order(tmp_path: Path) -> None:
    """Frames of a megabyte, read at random."""
    run = Run(tmp_path / "a")
    for number in range(400):
        run.add("tool.returned", b'{"value":"%d %b"}' % (number, b"x" * (number * 97 % 20_000)))
    recording = open_recording(run.log.seal())
    assert recording.path is not None
    for number in [*range(399, 0, -7), 0, 399, *range(400)]:
        body = recording.events[number].body
        assert isinstance(body, ToolReturned)
        assert body.value.startswith(f"{number} ")
    assert recording.verify().ok


def test_parts_of_equal_bodies_are_the_same_objects(tmp_path: Path) -> None:
    run = Run(tmp_path / "a")
    run.conversation(3)
    run.log.commit()
    bodies = [event.body for event in open_recording(run.log.path)]
    requests = [body.request["messages"] for body in bodies if isinstance(body, ModelRequested)]
    for one, other in pairwise(requests):
        assert all(a is b for a, b in zip(one, other, strict=False))


@pytest.mark.parametrize(
    "data", [b"", b"hello\n", b"{}\n", b'{"playhead":"x"}\n', b"\x28\xb5\x2f\xfdrubbish", b'{"playhead":1']
)
def test_what_is_not_a_recording_is_said_so(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.playhead"
    path.write_bytes(data)
    with pytest.raises(NotARecordingError) as caught:
        open_recording(path)
    assert caught.value.next == "playhead runs"
    assert "x.playhead" in str(caught.value)


def test_a_path_without_a_file_and_a_folder_are_said_so(tmp_path: Path) -> None:
    with pytest.raises(UnknownRunError, match="no recording at"):
        open_recording(tmp_path / "none.playhead")
    with pytest.raises(NotARecordingError, match="is a folder"):
        open_recording(tmp_path)
