"""Every error has an address: a slug, and a heading of that name on the page of messages."""

from __future__ import annotations

from playhead import errors
from tests.repo.house import DOCS

PAGE = DOCS / "reference" / "messages.md"
CLASSES = [
    value
    for name in errors.__all__
    if isinstance(value := getattr(errors, name), type) and issubclass(value, errors.PlayheadError)
]


def test_every_error_class_has_a_slug_of_its_own() -> None:
    assert [name.__name__ for name in CLASSES if "slug" not in name.__dict__] == []
    assert len({name.slug for name in CLASSES}) == len(CLASSES)


def test_every_slug_has_a_heading_and_every_heading_a_slug() -> None:
    headings = [line[3:].strip() for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("## ")]
    assert sorted(headings) == sorted(name.slug for name in CLASSES)


def test_the_tree_at_the_top_of_errors_draws_every_class() -> None:
    drawn = errors.__doc__ or ""
    assert [name.__name__ for name in CLASSES if name.__name__ not in drawn] == []
