"""The pages: links lead somewhere, every page can be reached, decisions and changes have their form."""

from __future__ import annotations

import re
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.repo.house import DOCS, ROOT, list_pages, name_of

FRAGMENT = re.compile(r"(\d+|\+[a-z0-9-]+)\.(added|changed|fixed|removed|security)\.md")
DECISION = re.compile(r"\d{4}-[a-z0-9-]+\.md|template\.md|README\.md")


def read_tokens(path: Path) -> list[Token]:
    """The page as a flat list of Markdown tokens, those inside a line too."""
    tokens = MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8"))
    return [inner for token in tokens for inner in (token, *(token.children or ()))]


def list_links(path: Path) -> list[tuple[Path, str]]:
    """Where the relative links of a page lead: file and anchor."""
    links = []
    for token in read_tokens(path):
        target = str(token.attrGet("href") or token.attrGet("src") or "")
        if target and not re.match(r"[a-z]+:", target):
            file, _, anchor = target.partition("#")
            links.append(((path.parent / file).resolve() if file else path, anchor))
    return links


def list_anchors(path: Path) -> set[str]:
    """The anchors that a forge gives to the headings of a page."""
    tokens = read_tokens(path)
    titles = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower().strip()).replace(" ", "-") for title in titles}


def test_every_link_leads_somewhere() -> None:
    broken = []
    for page in list_pages():
        for target, anchor in list_links(page):
            if not target.exists() or (anchor and target.suffix == ".md" and anchor not in list_anchors(target)):
                broken.append(f"{name_of(page)} -> {target.name}#{anchor}")
    assert broken == []


def test_every_page_of_the_docs_can_be_reached_from_their_index() -> None:
    reached: set[Path] = set()
    queue = [DOCS / "index.md"]
    while queue:
        page = queue.pop()
        if page not in reached and page.suffix == ".md" and page.exists():
            reached.add(page)
            queue += [target for target, _ in list_links(page)]
    assert [name_of(page) for page in DOCS.rglob("*.md") if page not in reached and page.name != "template.md"] == []


def test_every_page_begins_with_one_title() -> None:
    wrong = []
    for page in list_pages():
        headings = [token.tag for token in read_tokens(page) if token.type == "heading_open"]
        if page.parent != ROOT / "changelog.d" and (headings[:1] != ["h1"] or headings.count("h1") != 1):
            wrong.append(name_of(page))
    assert wrong == []


def test_a_change_is_told_in_a_fragment_of_the_agreed_form() -> None:
    fragments = [path.name for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md"]
    assert [name for name in fragments if not FRAGMENT.fullmatch(name)] == []


def test_decisions_are_numbered() -> None:
    names = sorted(path.name for path in (DOCS / "adr").iterdir())
    assert [name for name in names if not DECISION.fullmatch(name)] == []
    numbers = [int(name[:4]) for name in names if name[:4].isdigit()]
    assert numbers == list(range(1, len(numbers) + 1))
