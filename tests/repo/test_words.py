"""The words of the house: the same everywhere, and nothing that belongs to one machine."""

from __future__ import annotations

import re

from tests.repo.house import DOCS, ROOT, list_pages, list_python_files, list_texts, name_of

WORDS = (
    *("run", "recording", "event", "exchange", "crossing", "boundary", "session", "lane", "step", "cycle", "replay"),
    *("fork", "edit", "divergence", "mismatch", "drift", "mask", "placeholder", "chain", "head", "seal", "verify"),
    *("store", "index", "outcome", "failure class", "part", "blob", "shape", "ticket", "integration", "provider"),
    *("strict", "loose", "matcher", "normaliser", "miss", "unplayed exchange"),
    *("edge", "slice", "race", "strand"),
    *("check", "prefix", "turning point"),
    *("suite", "annotation"),
)
NOT_OURS = re.compile(r"\b(cassettes?|scrub\w*|sanitis\w*|sanitiz\w*|redact\w*|mock\w*)\b", re.IGNORECASE)
GLOSSARY = DOCS / "reference" / "glossary.md"
# Written so that this file does not hold what it forbids.
ONE_MACHINE = re.compile(r"/work/(main|shared)|/tmp/(ve|team)\b|(?<![\w.])/root/|\b[A-Z]:\\Users\\")
REGISTRY = re.compile(r"\b(pypi|pythonhosted|npmjs|crates)\.(org|com|io)\b")


def find(pattern: re.Pattern[str], text: str) -> list[str]:
    """Where the pattern stands in a text: line and match."""
    lines = enumerate(text.splitlines(), start=1)
    return [f"{number}: {match.group(0)}" for number, line in lines for match in pattern.finditer(line)]


def test_the_glossary_has_every_word() -> None:
    lines = GLOSSARY.read_text(encoding="utf-8").splitlines()
    headings = {line[3:].strip() for line in lines if line.startswith("## ")}
    assert set(WORDS) - headings == set()


def test_code_and_pages_use_our_words() -> None:
    """The glossary itself says which words are not ours; the tests read other projects' files and may name them."""
    texts = [path for path in (*list_python_files("src"), *list_pages()) if path != GLOSSARY]
    assert {name_of(path): found for path in texts if (found := find(NOT_OURS, path.read_text(encoding="utf-8")))} == {}


def test_nothing_names_one_machine_or_a_registry() -> None:
    found = {}
    for path in list_texts():
        text = path.read_text(encoding="utf-8")
        if path.name != "test_words.py" and (hits := find(ONE_MACHINE, text) + find(REGISTRY, text)):
            found[name_of(path)] = hits
    assert found == {}


def test_no_file_holds_a_path_to_this_checkout() -> None:
    assert [name_of(path) for path in list_texts() if str(ROOT) in path.read_text(encoding="utf-8")] == []
