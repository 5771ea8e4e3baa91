"""Any damage to a recording is found, and said where."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playhead.errors import FormatError
from playhead.eventlog import Head, Verification, verify
from tests.eventlog.runs import live_run, plain_lines, sealed_run

FORMS = ("live", "sealed plain", "sealed")


@cache
def recording(form: str) -> bytes:
    with TemporaryDirectory() as folder:
        if form == "live":
            return live_run(Path(folder)).read_bytes()
        path = sealed_run(Path(folder))
        return path.read_bytes() if form == "sealed" else b"\n".join(plain_lines(path)) + b"\n"


def check(data: bytes, *, expected: Head | None = None) -> Verification | FormatError:
    try:
        return verify(data, expected=expected)
    except FormatError as error:
        return error


def seq_of(line: bytes) -> int | None:
    found = re.match(rb'\{"seq":(\d+)', line)
    return int(found[1]) if found else None


@pytest.mark.parametrize("form", FORMS)
def test_an_untouched_recording_verifies(form: str) -> None:
    found = verify(recording(form))
    assert found.ok
    assert found.sealed is (form != "live")
    assert found.proven is (form != "live")
    assert found.count == found.confirmed > 15


@pytest.mark.parametrize("form", FORMS)
def test_a_flipped_bit_is_found_wherever_it_is(form: str) -> None:
    data = recording(form)
    for at in range(len(data)):
        found = check(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :])
        assert isinstance(found, FormatError) or not found.ok, f"byte {at}"


@settings(deadline=None)
@given(form=st.sampled_from(FORMS), share=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_a_changed_byte_is_found(form: str, share: float, byte: int) -> None:
    data = recording(form)
    at = int(share * len(data))
    changed = data[:at] + bytes([byte]) + data[at + 1 :]
    found = check(changed)
    assert (changed == data) == (isinstance(found, Verification) and found.ok)


@settings(deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("form", ["live", "sealed plain"])
def test_a_change_in_an_event_is_located_between_the_marks_around_it(form: str, data: st.DataObject) -> None:
    lines = recording(form).splitlines()
    at = data.draw(st.sampled_from([n for n, line in enumerate(lines) if seq_of(line) is not None]))
    seq = seq_of(lines[at])
    place = data.draw(st.integers(0, len(lines[at]) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte not in (lines[at][place], 0x0A)))
    lines[at] = lines[at][:place] + bytes([byte]) + lines[at][place + 1 :]
    found = verify(b"\n".join(lines) + b"\n")
    assert found.status == "broken"
    assert len(found.breaks) == 1
    assert found.breaks[0].first <= seq <= found.breaks[0].last  # type: ignore[operator]
    assert found.breaks[0].at in (None, seq)


Damage = st.sampled_from(["drop", "repeat", "swap"])


@settings(deadline=None)
@given(data=st.data(), damage=Damage)
@pytest.mark.parametrize("form", ["live", "sealed plain"])
def test_a_dropped_repeated_or_swapped_line_is_found_and_located(form: str, damage: str, data: st.DataObject) -> None:
    lines = recording(form).splitlines()
    last = len(lines) - 1
    at = data.draw(st.integers(1, last - 1))
    touched = [at]
    if damage == "drop":
        changed = lines[:at] + lines[at + 1 :]
    elif damage == "repeat":
        changed = lines[: at + 1] + lines[at:]
    else:
        other = data.draw(st.integers(1, last).filter(lambda other: other != at))
        touched.append(other)
        changed = list(lines)
        changed[at], changed[other] = lines[other], lines[at]
    found = verify(b"\n".join(changed) + b"\n")
    assert found.status == "broken"
    first = min(touched)
    seqs = [seq for line in lines[first:] if (seq := seq_of(line)) is not None]
    assert found.breaks[0].first <= seqs[0] <= found.breaks[0].last + 1 if seqs else found.breaks


@settings(deadline=None)
@given(share=st.floats(0, 1, exclude_max=True))
@pytest.mark.parametrize("form", FORMS)
def test_a_truncated_recording_is_found_against_a_head_kept_elsewhere(form: str, share: float) -> None:
    data = recording(form)
    whole = verify(data)
    cut = check(data[: int(share * len(data))], expected=Head(whole.count, whole.head))
    assert isinstance(cut, FormatError) or cut.status in ("truncated", "rolled back", "torn")
    assert isinstance(cut, FormatError) or not cut.proven


@settings(deadline=None)
@given(share=st.floats(0, 1, exclude_max=True))
@pytest.mark.parametrize("form", ["sealed plain", "sealed"])
def test_what_is_left_of_a_truncated_recording_is_never_called_proven(form: str, share: float) -> None:
    data = recording(form)
    cut = check(data[: int(share * len(data))])
    assert isinstance(cut, FormatError) or not cut.proven


def test_the_other_breaks_are_found_too() -> None:
    lines = recording("live").splitlines()
    events = [n for n, line in enumerate(lines) if seq_of(line) is not None]
    for at in (events[1], events[-1]):
        lines[at] = lines[at].replace(b'"mono_ns":', b'"mono_ns":9')
    found = verify(b"\n".join(lines) + b"\n")
    assert len(found.breaks) == 2
    assert found.breaks[0].last < found.breaks[1].first


def test_two_recordings_of_the_same_run_have_different_heads() -> None:
    """Salts are random: nobody can tell from a digest what was said."""
    with TemporaryDirectory() as one, TemporaryDirectory() as two:
        assert verify(sealed_run(Path(one))).head != verify(sealed_run(Path(two))).head
