"""Server-sent events are read the same wherever the network cut them."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from playhead.providers import SseEvent, SseParser, parse_events
from tests.providers.streams import ENDS

B23 = 'event: x\r\ndata:{"t":"né"}\r\n\r\n: ping\r\n\r\ndata: line1\r\ndata: line2\r\n\r\n'
B23_EVENTS = [
    SseEvent(event="x", data='{"t":"né"}'),
    SseEvent(comments=("ping",)),
    SseEvent(data="line1\nline2"),
]


def feed(*pieces: bytes) -> list[SseEvent]:
    parser = SseParser()
    return [event for piece in pieces for event in parser.feed(piece)]


def test_every_cut_into_two_gives_the_same_events_for_every_line_end() -> None:
    """B23: multi-byte characters, CRLF, bare CR, 'data:' without a space, keep-alive comments, cut anywhere."""
    for end in ("\r\n", "\n", "\r"):
        data = B23.replace("\r\n", end).encode()
        for cut in range(len(data) + 1):
            assert feed(data[:cut], data[cut:]) == B23_EVENTS, (end, cut)


def test_a_stream_fed_byte_by_byte_gives_the_same_events() -> None:
    """B23."""
    data = B23.encode()
    assert feed(*(data[at : at + 1] for at in range(len(data)))) == B23_EVENTS


lines = st.sampled_from(
    [
        *("data: a", "data:b", "data", "data:  two", "event: e", "event:", "id: 7", "id: \0", "retry: 10", "retry: x"),
        *(": c", ":", "é: ü", "data: 漢字🎈", "", "", "\ufeffdata: x"),
    ]
)


@given(
    text=st.lists(st.tuples(lines, ENDS)).map(lambda rows: "".join(map("".join, rows))),
    cuts=st.lists(st.integers(0, 200)),
)
def test_any_cuts_give_equal_events_and_an_equal_tail(text: str, cuts: list[int]) -> None:
    """B23."""
    data = text.encode()
    borders = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    parser = SseParser()
    events = [event for one, two in pairwise(borders) for event in parser.feed(data[one:two])]
    whole = SseParser()
    assert events == whole.feed(data) == parse_events(data)
    assert parser.tail == whole.tail


def test_fields_are_read_as_the_standard_says() -> None:
    data = b"\xef\xbb\xbfid: 1\nretry: 3000\nevent: a\ndata\ndata:  x\nunknown: y\n\nid: \0\nretry: 1s\ndata: z\n\n"
    assert parse_events(data) == [
        SseEvent(event="a", data="\n x", id="1", retry=3000),
        SseEvent(data="z"),
    ]


def test_an_event_that_no_empty_line_closes_is_the_tail() -> None:
    parser = SseParser()
    assert parser.feed(b"data: a\n\ndata: b\nda") == [SseEvent(data="a")]
    assert parser.tail == b"data: b\nda"
    assert parser.feed(b"ta: c\n\n") == [SseEvent(data="b\nc")]
    assert parser.tail == b""


def test_bytes_that_are_not_utf_8_do_not_stop_the_reader() -> None:
    assert parse_events(b"data: \xff\n\n") == [SseEvent(data="\ufffd")]
