"""What is said once is kept once, and comes back where it was said."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playhead.errors import CorruptRecordingError, HostileRecordingError
from playhead.eventlog import Limits, escape, escape_text, list_ref, open_recording, part_ref
from playhead.events import ModelRequested, ToolCalled, decode, encode_body, freeze
from tests.eventlog.runs import Run, sealed_run

KEYS = st.sampled_from(["$part", "$list", "$$part", "$$$list", "$ref", "$t", "part", "a", "$", "\u00e9", '"$part"'])
TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5) | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


def read_back(folder: Path, *bodies: bytes) -> list[Any]:
    run = Run(folder / "a")
    for body in bodies:
        run.add("tool.called", body)
    run.log.commit()
    return [event.body.arguments for event in open_recording(run.log.path.read_bytes())]  # type: ignore[union-attr]


@settings(deadline=None)
@given(tree=TREES)
def test_recorded_data_with_keys_of_the_format_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, tree: Any
) -> None:
    body = encode_body(ToolCalled(name="t", arguments=escape(tree)))
    ref = encode_body(ToolCalled(name="$part", arguments=[escape(tree)]))
    assert read_back(tmp_path_factory.mktemp("run"), body, ref) == [tree, [tree]]


@settings(deadline=None)
@given(tree=TREES, plain=st.booleans(), indent=st.sampled_from([None, 1]))
def test_escaping_text_is_escaping_its_tree(tree: Any, plain: bool, indent: int | None) -> None:
    text = json.dumps(tree, ensure_ascii=plain, indent=indent).encode()
    escaped = escape_text(text)
    assert json.loads(escaped) == escape(tree)
    if escape(tree) is tree:
        assert escaped == text


@pytest.mark.parametrize("key", [r"\u0024part", r"$p\u0061rt", r"\u0024\u006c\u0069\u0073\u0074", r"$lis\u0074"])
def test_a_key_written_with_escapes_is_no_way_around(tmp_path: Path, key: str) -> None:
    text = f'{{"{key}":1.50}}'.encode()
    assert json.loads(escape_text(text)) == escape(json.loads(text))
    (back,) = read_back(tmp_path, b'{"name":"t","arguments":%b}' % escape_text(text))
    assert back == json.loads(text)


def test_escaping_leaves_every_other_byte_alone() -> None:
    text = rb'{ "$ref":1.50,"a\"$part":"\u00e9\\","x":["$part"],  "n":1e400,"$part" : {"$list":0.10}}'
    changed = rb'{ "$ref":1.50,"a\"$part":"\u00e9\\","x":["$part"],  "n":1e400,"$$part" : {"$$list":0.10}}'
    assert escape_text(text) == changed


def test_tagged_values_pass_through_untouched(tmp_path: Path) -> None:
    value = {"$part": (1, 2), "$$list": {3}, "$t": b"\x00"}
    (back,) = read_back(tmp_path, encode_body(ToolCalled(name="t", arguments=escape(freeze(value)))))
    assert decode(back) == value


def test_a_long_run_opens_at_any_step_and_stays_small(tmp_path: Path) -> None:
    """B100: 400 steps that add 2 kB each, with one image in every prompt."""
    chance = random.Random(3)
    run = Run(tmp_path / "a")
    run.started()
    image = run.part({"type": "image", "data": chance.randbytes(300_000).hex()})
    base = run.add("model.requested", encode_body(ModelRequested(provider="x", request={"messages": [image]})))
    fresh = 600_000
    for step in range(400):
        text = chance.randbytes(1000).hex()
        fresh += len(text)
        then = [run.part({"role": "user", "content": f"{step} {text}"})]
        request = {"messages": list_ref(of=base, path=["request", "messages"], keep=step + 1, then=then)}
        base = run.add("model.requested", encode_body(ModelRequested(provider="x", request=request)))
        run.log.commit()
    live = run.log.size
    path = run.log.seal()
    assert live < 1.6 * fresh
    assert path.stat().st_size < fresh
    messages = open_recording(path).context(351)["messages"]
    assert len(messages) == 351
    assert messages[-1]["content"].startswith("349 ")
    every = list(open_recording(path))
    assert len(every[-2].body.request["messages"]) == 401  # type: ignore[union-attr]


def test_a_list_deeper_than_any_call_stack_is_read(tmp_path: Path) -> None:
    run = Run(tmp_path / "a")
    run.add("tool.called", b'{"name":"t","arguments":[0]}')
    for number in range(1, 5000):
        ref = list_ref(of=number - 1, path=["arguments"], keep=number, then=[number])
        run.add("tool.called", encode_body(ToolCalled(name="t", arguments=ref)))
    run.log.commit()
    assert open_recording(run.log.path).events[4999].body.arguments == list(range(5000))  # type: ignore[union-attr]


def test_lists_inside_parts_and_parts_inside_lists(tmp_path: Path) -> None:
    run = Run(tmp_path / "a")
    inner = run.part("shared text")
    outer = run.part([1, 2])
    nested = run.add("tool.called", encode_body(ToolCalled(name="t", arguments={"m": [inner, outer, 3]})))
    ref = list_ref(of=nested, path=["arguments", "m"], keep=2, then=[{"again": inner}])
    further = run.add("tool.called", encode_body(ToolCalled(name="t", arguments={"deep": [ref]})))
    last = list_ref(
        of=further,
        path=["arguments", "deep", 0],
        keep=3,
        then=[list_ref(of=nested, path=["arguments", "m"], keep=1, then=[])],
    )
    run.add("tool.called", encode_body(ToolCalled(name="t", arguments=last)))
    run.log.commit()
    recording = open_recording(run.log.path)
    first = ["shared text", [1, 2], {"again": "shared text"}]
    assert recording.events[further].body.arguments == {"deep": [first]}  # type: ignore[union-attr]
    assert recording.events[further + 1].body.arguments == [*first, ["shared text"]]  # type: ignore[union-attr]


def called(arguments: Any) -> bytes:
    return encode_body(ToolCalled(name="t", arguments=arguments))


def reads(folder: Path, *bodies: tuple[str, bytes], limits: Limits | None = None) -> Any:
    run = Run(folder / "a")
    for kind, body in bodies:
        run.add(kind, body)
    run.log.commit()
    recording = open_recording(run.log.path, limits=limits or Limits())
    return list(recording)


@pytest.mark.parametrize(
    "tree",
    [
        {"$part": "unknown"},
        {"$part": 5},
        {"$part": "d", "more": 1},
        {"$list": {}},
        {"$list": {"of": 0, "path": ["arguments"], "keep": 1, "then": [], "more": 1}, "other": 1},
        {"$list": {"of": 0, "path": ["nowhere"], "keep": 1, "then": []}},
        {"$list": {"of": 0, "path": ["name"], "keep": 1, "then": []}},
        {"$list": {"of": 0, "path": ["arguments"], "keep": 9, "then": []}},
        {"$list": {"of": 0, "path": ["arguments"], "keep": -1, "then": []}},
        {"$list": {"of": 0, "path": ["arguments", {}], "keep": 1, "then": []}},
        {"$list": {"of": "0", "path": ["arguments"], "keep": 1, "then": []}},
    ],
)
def test_a_reference_that_leads_nowhere_is_damage(tmp_path: Path, tree: Any) -> None:
    with pytest.raises(CorruptRecordingError, match=r"event [01]") as caught:
        reads(tmp_path, ("tool.called", called([1])), ("tool.called", called(tree)))
    assert caught.value.next


@pytest.mark.parametrize("of", [1, 2, 10**30])
def test_a_reference_forward_or_to_itself_is_hostile(tmp_path: Path, of: int) -> None:
    tree = {"$list": {"of": of, "path": ["arguments"], "keep": 0, "then": []}}
    with pytest.raises(HostileRecordingError, match="not before it"):
        reads(tmp_path, ("tool.called", called([1])), ("tool.called", called(tree)))


def test_a_part_that_holds_itself_is_hostile(tmp_path: Path) -> None:
    with pytest.raises(HostileRecordingError, match="not before it"):
        reads(tmp_path, ("part.kept", b'{"digest":"d","content":[{"$part":"d"}]}'))


def test_parts_that_double_at_each_step_are_hostile(tmp_path: Path) -> None:
    """A billion laughs: each part holds the one before twice."""
    bodies = [("part.kept", b'{"digest":"0","content":"ha"}')]
    for number in range(1, 60):
        twice = [part_ref(str(number - 1))] * 2
        bodies.append(("part.kept", msgspec.json.encode({"digest": str(number), "content": twice})))
    with pytest.raises(HostileRecordingError, match="written out"):
        reads(tmp_path, *bodies)


def test_lists_that_double_at_each_step_are_hostile(tmp_path: Path) -> None:
    bodies = [("tool.called", called(["ha"]))]
    for number in range(1, 60):
        ref = list_ref(of=number - 1, path=["arguments"], keep=min(number, 2), then=[])
        bodies.append(("tool.called", called([ref, ref])))
    with pytest.raises(HostileRecordingError, match="written out"):
        reads(tmp_path, *bodies)


def test_parts_that_nest_deeper_at_each_step_are_hostile(tmp_path: Path) -> None:
    bodies = [("part.kept", b'{"digest":"0","content":[]}')]
    for number in range(1, 2000):
        content = [part_ref(str(number - 1))]
        bodies.append(("part.kept", msgspec.json.encode({"digest": str(number), "content": content})))
    with pytest.raises(HostileRecordingError, match="levels deep"):
        reads(tmp_path, *bodies)


def test_what_one_body_makes_a_reader_read_is_limited(tmp_path: Path) -> None:
    large = [("tool.called", called(["x" * 1000] * 20)) for _ in range(70)]
    refs = [list_ref(of=n % 70, path=["arguments"], keep=0, then=[]) for n in range(700)]
    with pytest.raises(HostileRecordingError, match="have to be read"):
        reads(tmp_path, *large, ("tool.called", called(refs)), limits=Limits(resolved=1_000_000))


def test_a_sealed_run_reads_the_same_forwards_and_backwards(tmp_path: Path) -> None:
    recording = open_recording(sealed_run(tmp_path, cycles=30))
    forwards = list(recording)
    again = open_recording(recording.path)  # type: ignore[arg-type]
    assert [again.events[seq] for seq in reversed(range(len(again)))] == forwards[::-1]
