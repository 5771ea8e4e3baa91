"""Exceptions come back as the same class, with what they carried, ready to be raised."""

from __future__ import annotations

import asyncio
import builtins
import json
import pathlib
import pickle
import subprocess
import sys
import threading
import urllib.error
from collections.abc import Callable
from typing import Any

import msgspec
import pydantic
import pydantic_core
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playhead.errors import MissingTypeError, ValueRefusedError
from playhead.events._opaque import Opaque, OpaqueError
from playhead.events._snapshot import encode, freeze, snapshot_error
from playhead.events._values import decode, decode_error
from tests.events import samples


def tree_of(error: BaseException) -> Any:
    return msgspec.json.decode(msgspec.json.encode(encode(snapshot_error(error))))


def back(error: BaseException) -> BaseException:
    samples.ran.clear()
    found = decode_error(tree_of(error))
    assert samples.ran == [], "code of the class ran"
    return found


def caught(act: Callable[[], Any]) -> BaseException:
    try:
        act()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def chained() -> None:
    try:
        try:
            pathlib.Path("/no/such/file").read_text()
        except OSError as error:
            error.add_note("while loading")
            raise KeyError("profile") from error
    except KeyError:
        raise samples.RefusedError(code=403, reason="forbidden")  # noqa: B904


class Order(pydantic.BaseModel):
    size: int
    name: str

    @pydantic.field_validator("name")
    @classmethod
    def check_name(cls, name: str) -> str:
        raise pydantic_core.PydanticCustomError("taken", "{name} is taken", {"name": name})


RAISED: dict[str, Callable[[], Any]] = {
    "os": lambda: pathlib.Path("/no/such/file").read_text(),
    "os-two": lambda: __import__("os").rename("/no/a", "/no/b"),
    "unicode-decode": lambda: b"\xff".decode(),
    "unicode-encode": lambda: "\ud800".encode(),
    "key": lambda: {}["x"],
    "index": lambda: [][1],
    "import": lambda: __import__("no_such_module_here"),
    "name": lambda: no_such_name,  # type: ignore[name-defined]  # noqa: F821
    "attribute": lambda: object().nothing,  # type: ignore[attr-defined]
    "syntax": lambda: compile("a b", "<text>", "exec"),
    "zero": lambda: 1 / 0,
    "exit": lambda: sys.exit(3),
    "json": lambda: json.loads("{"),
    "process": lambda: subprocess.run(["false"], check=True),
    "expired": lambda: subprocess.run(["sleep", "9"], timeout=0.01),
    "pickle": lambda: pickle.loads(b"junk"),
    "http": lambda: (_ for _ in ()).throw(urllib.error.URLError("down")),
    "msgspec": lambda: msgspec.json.decode(b"{", type=int),
    "missing": lambda: decode({"$t": "dataclass", "class": "a:B"}),
}


@pytest.mark.parametrize("name", RAISED)
def test_what_the_standard_library_raises_comes_back_equal(name: str) -> None:
    error = caught(RAISED[name])
    found = back(error)
    assert type(found) is type(error)
    assert found.args == error.args
    assert str(found) == str(error)
    for attribute in ("errno", "filename", "filename2", "start", "object", "name", "path", "code", "lineno", "doc"):
        if attribute != "object" or isinstance(error, UnicodeError):
            assert getattr(found, attribute, None) == getattr(error, attribute, None)


ORDINARY = [
    cls
    for cls in vars(builtins).values()
    if isinstance(cls, type)
    and issubclass(cls, BaseException)
    and not issubclass(cls, (BaseExceptionGroup, UnicodeError, SyntaxError))
]


@given(st.sampled_from(ORDINARY), st.lists(st.text() | st.integers() | st.none(), max_size=2))
def test_every_built_in_exception_comes_back_with_its_arguments(cls: Any, args: list[Any]) -> None:
    error = cls(*args)
    found = back(error)
    assert type(found) is type(error)
    assert found.args == error.args
    assert repr(found) == repr(error)


def test_cause_context_notes_and_suppression_come_back() -> None:
    error = caught(chained)
    found = back(error)
    assert type(found) is samples.RefusedError
    assert str(found) == "forbidden (403)"
    assert (found.code, found.reason) == (403, "forbidden")
    assert found.__cause__ is None
    assert found.__suppress_context__ is False
    key = found.__context__
    assert type(key) is KeyError
    assert key.__suppress_context__ is True
    assert key.__cause__ is key.__context__
    assert type(key.__cause__) is FileNotFoundError
    assert key.__cause__.filename == "/no/such/file"
    assert key.__cause__.__notes__ == ["while loading"]
    hidden = KeyError("a")
    hidden.__context__ = ValueError("b")
    hidden.__suppress_context__ = True
    assert back(hidden).__suppress_context__ is True


def test_groups_come_back_with_their_members_and_can_be_split() -> None:
    group = BaseExceptionGroup("all", [ValueError(1), ExceptionGroup("some", [OSError(2, "no")]), KeyboardInterrupt()])
    found = back(group)
    assert type(found) is BaseExceptionGroup
    matched, rest = found.split(OSError)
    assert type(matched.exceptions[0].exceptions[0]) is FileNotFoundError
    assert [type(each) for each in rest.exceptions] == [ValueError, KeyboardInterrupt]
    own = samples.GroupError("own", [TypeError("t")], 3)
    again = back(own)
    assert type(again) is samples.GroupError
    assert again.extra == 3
    assert [type(each) for each in again.exceptions] == [TypeError]


def test_exceptions_that_refuse_their_own_arguments_come_back_without_their_constructor() -> None:
    error = samples.DiskError("/full")
    found = back(error)
    assert type(found) is samples.DiskError
    assert (found.errno, found.filename, str(found)) == (error.errno, error.filename, str(error))
    quiet = samples.QuietError(1, 2)
    quiet.where = "here"
    assert back(quiet).where == "here"
    assert tree_of(quiet)["message"] == "said by the class"
    assert back(samples.RudeError("x")).args == ("x",)


def test_cancellation_and_iteration_ends_come_back() -> None:
    assert type(back(asyncio.CancelledError("stop"))) is asyncio.CancelledError
    assert back(StopIteration(5)).value == 5
    assert back(StopAsyncIteration()).args == ()
    assert type(back(GeneratorExit())) is GeneratorExit


def test_a_validation_error_comes_back_with_its_errors() -> None:
    error = caught(lambda: Order(size="x", name="ana"))
    error.add_note("from the tool")
    found = back(error)
    assert type(found) is pydantic.ValidationError
    assert str(found) == str(error)
    assert found.errors() == error.errors()
    assert found.__notes__ == ["from the tool"]


def test_what_an_exception_carried_and_could_not_be_kept_is_marked_and_the_class_still_comes_back() -> None:
    error = samples.RefusedError(code=1, reason="r")
    error.lock = threading.Lock()
    error.__cause__ = ValueError("v", object())
    found = back(error)
    assert type(found) is samples.RefusedError
    assert isinstance(found.lock, Opaque)
    assert found.lock.class_name == "_thread:lock"
    assert found.__cause__.args[0] == "v"
    assert isinstance(found.__cause__.args[1], Opaque)


def test_a_missing_class_is_an_error_or_a_marked_exception() -> None:
    tree = tree_of(ValueError("x"))
    tree["class"] = "shop.errors:SoldOut"
    with pytest.raises(MissingTypeError, match="SoldOut") as raised:
        decode_error(tree)
    assert raised.value.facts["module"] == "shop.errors"
    found = decode_error(tree, missing="opaque")
    assert isinstance(found, OpaqueError)
    assert found.opaque.class_name == "shop.errors:SoldOut"
    outer = tree_of(KeyError("k"))
    outer["cause"] = tree
    assert isinstance(decode_error(outer).__cause__, OpaqueError)


def test_exceptions_as_values_come_back_as_well() -> None:
    assert repr(decode(freeze([ValueError("x"), {"e": KeyError("k")}]))) == "[ValueError('x'), {'e': KeyError('k')}]"


def test_a_thousand_linked_exceptions_are_cut_and_marked() -> None:
    error: BaseException = ValueError(0)
    for number in range(1000):
        outer = ValueError(number)
        outer.__context__, error = error, outer
    found = back(error)
    depth = 0
    while found.__context__ is not None:
        found, depth = found.__context__, depth + 1
    assert isinstance(found, OpaqueError)
    assert found.opaque.why in ("deep", "incomplete")
    assert depth > 10


def test_only_an_exception_is_taken_for_one() -> None:
    with pytest.raises(ValueRefusedError):
        decode_error({"a": 1})
