"""The help pages, and what starting the command line loads."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from playhead.cli import _messages
from playhead.cli._verbs import VERBS
from tests.cli.commands import environment, type_in
from tests.repo.house import ROOT


def test_the_page_of_help_lists_every_verb_and_ends_with_an_example(tmp_path: Path) -> None:
    done = type_in(tmp_path, "--help")
    lines = done.stdout.splitlines()
    assert all(f"  {verb} " in done.stdout for verb in VERBS)
    assert lines[-1].strip().startswith("Example: playhead ")


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_s_help_begins_with_its_sentence_and_ends_with_an_example(tmp_path: Path, verb: str) -> None:
    done = type_in(tmp_path, verb, "--help")
    paragraphs = [" ".join(part.split()) for part in done.stdout.strip().split("\n\n")]
    assert paragraphs[1] == VERBS[verb]
    assert paragraphs[-1].startswith(f"Example: playhead {verb}")


@pytest.mark.parametrize("verb", sorted(set(VERBS) - {"record", "gateway", "debug", "demo", "help"}))
def test_every_reading_verb_has_json(verb: str) -> None:
    command = import_module(f"playhead.cli._{verb}").command
    assert "--json" in [option for parameter in command.params for option in parameter.opts]


@pytest.mark.parametrize(
    ("words", "banned"),
    [(["--version"], {"click", "msgspec", "rich"}), (["--help"], {"click", "msgspec", "rich", "playhead.eventlog"})],
)
def test_version_and_help_load_nothing_heavy(tmp_path: Path, words: list[str], banned: set[str]) -> None:
    code = f"""
import sys
sys.argv = ["playhead", *{words!r}]
from playhead.cli import main
try:
    main()
finally:
    print(*sorted(set(sys.modules) & {banned | {"asyncio", "httpx", "openai", "playhead._runs"}!r}), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stderr.strip()) == (0, "")
    assert done.stdout.startswith("playhead 0." if words == ["--version"] else "Usage: playhead")


@pytest.mark.parametrize("slug", ["divergence", "unknown-run"])
def test_what_stands_under_more_can_be_read_anywhere(tmp_path: Path, slug: str) -> None:
    done = type_in(tmp_path, "help", slug)
    section = (ROOT / "docs/reference/messages.md").read_text().partition(f"\n## {slug}\n")[2].partition("\n## ")[0]
    told = [word for word in done.stdout.removeprefix(slug).split() if word.isalpha()]
    assert done.returncode == 0
    assert told == [word for word in section.replace("*", "").split() if word.isalpha()]
    assert len(told) > 30


def test_the_page_of_messages_is_installed_where_the_command_line_looks_for_it() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {"docs/reference/messages.md": "playhead/cli/messages.md"}
    assert ROOT / "src" / "playhead/cli/messages.md" == _messages._INSTALLED


def test_help_without_a_word_is_the_page_and_with_a_verb_its_own(tmp_path: Path) -> None:
    assert type_in(tmp_path, "help").stdout == type_in(tmp_path, "--help").stdout
    assert type_in(tmp_path, "help", "show").stdout == type_in(tmp_path, "show", "--help").stdout


def test_no_verb_at_all_is_help_and_a_usage_error(tmp_path: Path) -> None:
    done = type_in(tmp_path)
    assert "Verbs:" in done.stdout
    assert done.returncode == 2


@pytest.mark.parametrize("columns", ["20", "45", "80", "300"])
def test_the_page_of_help_fits_its_terminal(tmp_path: Path, columns: str) -> None:
    done = type_in(tmp_path, "--help", env=environment(COLUMNS=columns))
    words = [line for line in done.stdout.splitlines() if not line.startswith(("Usage", "Options", "  Example"))]
    assert max(map(len, words)) <= min(max(int(columns), 30), 100)
