"""Where settings come from, and what they do."""

from __future__ import annotations

from pathlib import Path

import pytest

import playhead
from playhead._configuration import host_matcher, read_settings
from playhead._stores import store_path
from playhead.errors import ConfigurationError
from playhead.player import Request


def test_an_argument_wins_over_a_variable_and_a_variable_over_a_file(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "pyproject.toml").write_text('[tool.playhead]\nstore = "a"\nignore_hosts = ["x.example"]\n')
    assert read_settings().store == "a"
    monkeypatch.setenv("PLAYHEAD_STORE", "b")
    assert read_settings().store == "b"
    assert read_settings(store="c").store == "c"
    assert read_settings().ignore_hosts == ("x.example",)


def test_a_file_is_found_upwards_and_its_paths_start_from_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "playhead.toml").write_text('store = "kept"\n')
    (project / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(project / "deep" / "er")
    assert store_path(read_settings()) == project / "kept"


def test_the_default_store_stands_beside_the_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (project / "src").mkdir()
    monkeypatch.chdir(project / "src")
    assert store_path(read_settings()) == project / ".playhead"


@pytest.mark.parametrize(
    "text", ['colour = "green"', "durability = 'sometimes'", "masks = [{name = 'x', shape = 'y'}]", "store = ["]
)
def test_what_is_not_known_is_an_error_that_names_the_next_step(project: Path, text: str) -> None:
    (project / "playhead.toml").write_text(text)
    with pytest.raises(ConfigurationError, match="next:"):
        read_settings()


def test_variables_can_hold_lists_and_secrets_can_stand_in_other_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAYHEAD_SECRETS", "one-secret, two-secret")
    monkeypatch.setenv("PLAYHEAD_SECRET_VARIABLES", "MY_TOKEN,NOT_SET")
    monkeypatch.setenv("MY_TOKEN", "three-secret")
    assert read_settings().secrets == ("one-secret", "two-secret", "three-secret")


def test_hosts_match_with_and_without_their_port() -> None:
    matches = host_matcher(("*.telemetry.example", "127.0.0.1:9"))
    assert matches is not None
    found = [matches(host) for host in ("eu.telemetry.example:443", "127.0.0.1:9", "127.0.0.1:10", "example")]
    assert found == [True, True, False, False]


def test_a_pattern_and_a_function_of_ones_own_mask(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "my_masks.py").write_text(
        "def find(text):\n    at = text.find('Heron')\n    return [(at, at + 5)] if at >= 0 else []\n"
    )
    (project / "playhead.toml").write_text(
        "masks = [{name = 'customer', pattern = 'CUST-[0-9]{8}'}, {name = 'bird', function = 'my_masks:find'}]"
    )
    monkeypatch.syspath_prepend(project)

    @playhead.tool
    def look(text: str) -> str:
        return text

    with playhead.record() as run:
        assert look("CUST-12345678 saw a Heron") == "CUST-12345678 saw a Heron"
    (step,) = playhead.load(run.id).steps
    kept = str(step)
    assert "12345678" not in kept
    assert "Heron" not in kept
    assert "masked:customer" in kept
    assert "masked:bird" in kept


@pytest.mark.parametrize("mask", ["{name = 'x', pattern = '('}", "{name = 'x'}", "{name = 'x', function = 'no:where'}"])
def test_a_mask_that_cannot_work_is_refused_by_its_name(project: Path, mask: str) -> None:
    """B76: a broken pattern is named, not quoted."""
    (project / "playhead.toml").write_text(f"masks = [{mask}]")
    with pytest.raises(ConfigurationError, match="x"), playhead.record():
        pass


def test_secrets_that_are_too_short_are_refused_with_a_warning_and_the_text_stays_readable() -> None:
    """B84"""

    @playhead.tool
    def look(text: str) -> str:
        return text

    secrets = ["", "a", "true", "1234", " ", "FAKE-long-value"]
    with pytest.warns(playhead.PlayheadWarning) as warned, playhead.record(secrets=secrets) as run:
        look("a true page of 1234 words and FAKE-long-value")
    kept = str(playhead.load(run.id).steps[0])
    assert "a true page of 1234 words and" in kept
    assert "FAKE-long-value" not in kept
    assert warned


def test_code_can_be_declared_ones_own_or_foreign(project: Path) -> None:
    (project / "playhead.toml").write_text("foreign_code = ['*/test_settings.py']")
    import time

    with playhead.record() as run:
        time.time()
    assert not [event for event in playhead.load(run.id).events if event.kind == "clock.read"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "there is no such file"),
        ("NORMALISERS = 3\n", "it has no list NORMALISERS of functions"),
        ("import no_such_module\n", "ModuleNotFoundError"),
    ],
)
def test_a_file_of_normalisers_that_cannot_be_used_is_named(project: Path, text: str | None, why: str) -> None:
    (project / "playhead.toml").write_text('normalisers = ["own.py"]\n')
    if text is not None:
        (project / "own.py").write_text(text)
    with playhead.record(kind="any") as run:
        pass
    with pytest.raises(ConfigurationError, match=why) as caught, playhead.replay(run.id):
        pass
    assert str(project / "own.py") in caught.value.message
    assert caught.value.next == "playhead help configuration"


def test_normalisers_of_a_file_go_before_those_of_the_argument(project: Path) -> None:
    (project / "playhead.toml").write_text('normalisers = ["own.py"]\n')
    (project / "own.py").write_text(
        "import msgspec\n"
        "def plain(request):\n"
        "    return msgspec.structs.replace(request, content={'word': request.content['word'].lower()})\n"
        "NORMALISERS = [plain]\n"
    )
    seen: list[str] = []

    def look(request: Request) -> Request:
        seen.append(request.content["word"])
        return request

    ask = playhead.tool(lambda word: word, name="ask")
    with playhead.record(kind="any") as run:
        ask("Yes")
    with playhead.replay(run.id, normalisers=[look]):
        assert ask("YES") == "Yes"
    assert set(seen) == {"yes"}
