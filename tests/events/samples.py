"""Classes of every kind that the codec knows, each of which says when any code of it runs."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
from typing import Any, Generic, NamedTuple, TypeVar

import attrs
import msgspec
import pydantic

T = TypeVar("T")

ran: list[str] = []
"""What ran, by name. Empty it before, look at it after."""


class Colour(enum.Enum):
    RED = "red"
    PAIR = (1, 2)


class Level(enum.IntEnum):
    LOW = 1


class Word(enum.StrEnum):
    YES = "yes"


class Access(enum.Flag):
    READ = 1
    WRITE = 2
    RUN = 4


class Loose(enum.IntFlag, boundary=enum.KEEP):
    ONE = 1


class Text(str):
    """Text with attributes."""


class Slotted(str):
    __slots__ = ()


class Number(int):
    pass


class Real(float):
    pass


class Row(list[Any]):
    pass


class Table(dict[str, Any]):
    pass


class Ordered(collections.OrderedDict[str, Any]):
    pass


class Loud(dict[str, Any]):
    """Overrides whatever could be called while it is looked at."""

    def __iter__(self) -> Any:
        ran.append("__iter__")
        return super().__iter__()

    def keys(self) -> Any:
        ran.append("keys")
        return super().keys()

    def items(self) -> Any:
        ran.append("items")
        return super().items()

    def __getitem__(self, key: str) -> Any:
        ran.append("__getitem__")
        return super().__getitem__(key)

    def __setitem__(self, key: str, value: Any) -> None:
        ran.append("__setitem__")
        super().__setitem__(key, value)


class Point(NamedTuple):
    x: int
    y: Any = 0


@dataclasses.dataclass
class Quote:
    """B55's."""

    price: Any
    at: Any = None
    tags: Any = dataclasses.field(default_factory=set)
    seen: int = dataclasses.field(init=False, default=0)
    kind: dataclasses.InitVar[str] = "spot"

    def __post_init__(self, kind: str) -> None:
        ran.append("__post_init__")
        self.also = kind

    @functools.cached_property
    def half(self) -> Any:
        return self.price / 2


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    row: int
    value: Any = None


@dataclasses.dataclass
class Box(Generic[T]):
    item: T


@dataclasses.dataclass(eq=False)
class Node:
    name: str
    parent: Node | None = None
    children: list[Node] = dataclasses.field(default_factory=list)


class Base(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")

    name: str
    items: list[int] = []
    _private: Any = pydantic.PrivateAttr(default=None)

    def model_post_init(self, context: Any) -> None:
        ran.append("model_post_init")
        super().model_post_init(context)


class Wrapper(pydantic.BaseModel, Generic[T]):
    inner: T


class Root(pydantic.RootModel[list[int]]):
    pass


WrappedInt = Wrapper[int]


@attrs.define
class Slim:
    x: int
    y: Any = None

    def __attrs_post_init__(self) -> None:
        ran.append("__attrs_post_init__")


@attrs.frozen(cache_hash=True)
class Hashed:
    name: str


class Packed(msgspec.Struct, frozen=True, tag="packed"):
    x: int
    y: Any = None


class Checked(msgspec.Struct):
    x: int

    def __post_init__(self) -> None:
        ran.append("__post_init__")


class Hooked:
    """Nothing of this may run, however it is named."""

    def __init__(self, *args: Any) -> None:
        ran.append("__init__")

    def __new__(cls, *args: Any) -> Hooked:
        ran.append("__new__")
        return object.__new__(cls)

    def __setstate__(self, state: Any) -> None:
        ran.append("__setstate__")

    def __reduce__(self) -> Any:
        ran.append("__reduce__")
        return (Hooked, ())

    def __getattr__(self, name: str) -> Any:
        ran.append(f"__getattr__ {name}")
        raise AttributeError(name)

    def __repr__(self) -> str:
        ran.append("__repr__")
        raise RuntimeError("no")

    def __eq__(self, other: object) -> bool:
        ran.append("__eq__")
        return False

    def __hash__(self) -> int:
        ran.append("__hash__")
        return 1

    @property
    def __class__(self) -> Any:
        ran.append("__class__")
        return dict


@dataclasses.dataclass
class HookedData:
    """A dataclass with every hook a hostile recording could hope for."""

    x: Any = None

    def __init__(self, *args: Any) -> None:
        ran.append("__init__")

    def __new__(cls, *args: Any) -> HookedData:
        ran.append("__new__")
        return object.__new__(cls)

    def __post_init__(self) -> None:
        ran.append("__post_init__")

    def __setattr__(self, name: str, value: Any) -> None:
        ran.append("__setattr__")

    def __setstate__(self, state: Any) -> None:
        ran.append("__setstate__")

    def __reduce__(self) -> Any:
        ran.append("__reduce__")
        return (HookedData, ())


@dataclasses.dataclass
class Dropped:
    path: str

    def __del__(self) -> None:
        ran.append("__del__")


class RefusedError(Exception):
    """An exception whose constructor does not take its own ``args``."""

    def __init__(self, *, code: int, reason: str) -> None:
        ran.append("__init__")
        super().__init__(f"{reason} ({code})")
        self.code = code
        self.reason = reason


class QuietError(ValueError):
    __slots__ = ("where",)

    def __str__(self) -> str:
        return "said by the class"


class RudeError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class GroupError(ExceptionGroup[Exception]):
    def __new__(cls, message: str, members: list[Exception], extra: int = 0) -> GroupError:
        ran.append("__new__")
        self = super().__new__(cls, message, members)
        self.extra = extra
        return self


class DiskError(OSError):
    def __init__(self, path: str) -> None:
        super().__init__(28, "No space left", path)
