"""Recordings made to hurt, and recordings that make no sense: a clear error, soon, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playhead.errors import CorruptRecordingError, FormatError, HostileRecordingError, PlayheadError
from playhead.eventlog import Limits, open_recording, printable, verify
from playhead.eventlog._compression import compress, zstd
from tests.eventlog.runs import plain_lines, sealed_run

HEADER = b'{"playhead":1,"run":"r","kind":"k","writer":"w","created_ns":1}\n'
SALT = b'"salt":"0123456789abcdef"'


def event(seq: int, body: bytes = b"", *, kind: bytes = b"tool.called", more: bytes = b"") -> bytes:
    text = b'{"seq":%d,"kind":"%b","lane":"main","at_ns":1,"mono_ns":1%b,"body":{%b%b}}\n'
    return text % (seq, kind, more, SALT, b"," + body if body else b"")


def read(data: bytes, limits: Limits | None = None) -> list[object]:
    return list(open_recording(data, limits=limits or Limits()))


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (event(1), "has the number 1"),
        (event(0) + event(0), "has the number 0"),
        (event(0) + event(2), "has the number 2"),
        (event(0, more=b',"of":0'), "not before it"),
        (event(0) + event(1, more=b',"of":5'), "not before it"),
        (event(0) + event(1, more=b',"of":-1'), "not before it"),
        (event(0) + event(1, more=b',"causes":[0,1]'), "not before it"),
        (event(0)[:-3] + b"\n" + event(1), "is not an event"),
        (event(0).replace(b'"lane":"main"', b'"lane":7'), "no readable header"),
        (event(0).replace(b'"at_ns":1', b'"at_ns":' + b"9" * 100_000), "no readable header"),
        (b"hello\n" + event(0), "is not a line"),
        (b'{"mark":0}\n' + event(0), "is not a line"),
        (b'{"blob":"x","data":{}}\n' + event(0), "is not a line"),
        (b"\n" + event(0), "is not a line"),
        (b"\x00" * 20 + b"\n" + event(0), "is not a line"),
    ],
)
def test_a_line_that_is_wrong_is_told_with_its_place(lines: bytes, why: str) -> None:
    with pytest.raises(CorruptRecordingError, match=why) as caught:
        read(HEADER + lines)
    assert "at byte" in str(caught.value)
    assert caught.value.next is not None
    assert caught.value.next.startswith("playhead verify")


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (event(0, b'"name":"t","arguments":' + b"[" * 100_000 + b"]" * 100_000), HostileRecordingError),
        (event(0, b'"x":{"$part":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}"), HostileRecordingError),
        (event(0, b'"name":"t","arguments":' + b"9" * 1_000_000), CorruptRecordingError),
        (event(0, b'"name":"t","arguments":1e999'), CorruptRecordingError),
        (event(0, b'"name":7'), CorruptRecordingError),
        (event(0, b'"arguments":1'), CorruptRecordingError),
        (event(0, b'"name":"\xff\xfe"'), CorruptRecordingError),
        (event(0, b'"name":NaN'), CorruptRecordingError),
        (event(0, b'"name":"x"').replace(b'"salt"', b'"pepper"'), CorruptRecordingError),
        (event(0, b'"$part":"x"'), CorruptRecordingError),
        (event(0, b'"$blob":"../../etc/passwd","size":10'), FormatError),
        (event(0, b'"$blob":"%b","size":1000000000000' % (b"a" * 64)), HostileRecordingError),
    ],
)
def test_a_body_that_is_wrong_is_told_and_the_others_are_read(line: bytes, error: type[FormatError]) -> None:
    recording = open_recording(HEADER + line + event(1, b'"name":"fine"'))
    assert recording.events[1].body.name == "fine"  # type: ignore[union-attr]
    with pytest.raises(error, match="event 0") as caught:
        recording.events[0]
    assert caught.value.next


def bomb(text: bytes, times: int) -> bytes:
    packer = zstd().ZstdCompressor(level=1)
    return compress(HEADER, level=1) + b"".join(packer.compress(text) for _ in range(times)) + packer.flush()


@pytest.mark.parametrize("use", [read, verify])
def test_a_compression_bomb_in_one_line_is_refused_before_it_fills_the_memory(use: Callable[[bytes], object]) -> None:
    data = bomb(b"0" * (1 << 20), 300)
    assert len(data) < 100_000
    with pytest.raises(HostileRecordingError, match="times its size"):
        use(data)
    with pytest.raises(HostileRecordingError, match="a line is longer"):
        read(data, Limits(line=1 << 24))


def test_a_compression_bomb_of_good_lines_is_refused() -> None:
    lines = b'{"mark":0,"count":0,"head":"%b"}\n' % (b"0" * 64)
    data = bomb(lines * 20_000, 150)
    assert len(data) < 100_000
    with pytest.raises(HostileRecordingError, match="times its size"):
        read(data)


def test_limits_can_be_set() -> None:
    data = HEADER + b"".join(event(n, b'"name":"t"') for n in range(50))
    assert len(read(data)) == 50
    with pytest.raises(HostileRecordingError, match="more than 20 events"):
        read(data, Limits(events=20))
    with pytest.raises(HostileRecordingError, match="its text is longer"):
        read(data, Limits(plain=1000))


def test_a_frame_that_asks_for_a_window_of_gigabytes_is_refused() -> None:
    z = zstd()
    options = {z.CompressionParameter.window_log: 30, z.CompressionParameter.compression_level: 1}
    packer = z.ZstdCompressor(options=options)
    data = compress(HEADER, level=1) + packer.compress(b"x" * 1000) + packer.flush()
    with pytest.raises(FormatError):
        read(data)


def test_what_a_recording_says_cannot_steer_a_terminal() -> None:
    nasty = "\x1b]0;owned\x07\x1b[2J\r\u202egpj.exe"
    later = HEADER.replace(b":1,", b":7,").replace(b'"writer":"w"', b'"writer":"\\u001b[31mred\\u202e"')
    named = HEADER.replace(b'"run":"r"', b'"run":"\\u001b[2J"')
    for data in (later, named + event(0, b'"$blob":"%b","size":1' % (b"a" * 64))):
        with pytest.raises(PlayheadError) as caught:
            read(data)
        assert "\x1b" not in str(caught.value)
        assert "\u202e" not in str(caught.value)
    shown = printable(nasty)
    assert shown.isprintable()
    assert shown == r"\x1b]0;owned\x07\x1b[2J\x0d\u202egpj.exe"
    assert printable("x" * 500) == "x" * 199 + "…"


def survey(data: bytes) -> None:
    """Read everything there is to read; errors of ours are fine, others are not."""
    try:
        recording = open_recording(data)
        events = recording.events
        for seq in range(len(events)):
            with suppress(FormatError):
                events[seq]
    except PlayheadError:
        pass
    with suppress(FormatError):
        str(verify(data))


@settings(deadline=None)
@given(data=st.binary(max_size=300))
def test_no_bytes_whatever_are_more_than_an_error(data: bytes) -> None:
    survey(data)
    survey(HEADER + data)
    survey(HEADER + b'{"seq":0,' + data + b"\n")
    survey(HEADER + event(0, data))
    survey(compress(HEADER, level=1) + data)
    survey(b"\x28\xb5\x2f\xfd" + data)


@cache
def good_lines() -> list[bytes]:
    with TemporaryDirectory() as folder:
        return plain_lines(sealed_run(Path(folder)))


@settings(deadline=None)
@given(data=st.data())
def test_no_mixture_of_good_lines_is_more_than_an_error(data: st.DataObject) -> None:
    lines = good_lines()
    mixed = data.draw(st.lists(st.sampled_from(lines), max_size=30))
    survey(b"\n".join([lines[0], *mixed]) + b"\n")
