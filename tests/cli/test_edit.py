"""``edit``: something else was answered, as a person types it."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from playhead.eventlog import open_recording
from tests.cli.commands import environment, load, type_in

AGENT = """
import playhead


@playhead.tool
def search(query):
    return {"found": query}


@playhead.tool
def refund(amount):
    return "done"


print(search("parcel"))
try:
    print(refund(249))
except Exception as error:
    print("refused:", type(error).__name__, error)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run ``shop-1`` of a program, made as a person makes it."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "agent.py").write_text(AGENT)
    done = type_in(folder, "record", "--id", "shop-1", "--", sys.executable, "agent.py")
    assert done.returncode == 0, done.stderr
    return folder


def made(project: Path, *words: str, **added: str) -> str:
    done = type_in(project, "edit", "shop-1", *words, env=environment(**added))
    assert done.returncode == 0, done.stderr
    run = done.stdout.strip()
    assert f"playhead replay {run}" in done.stderr
    assert f"playhead diff shop-1 {run}" in done.stderr
    assert type_in(project, "verify", run).returncode == 0
    return run


def test_several_changes_each_belong_to_the_step_before_them(project: Path) -> None:
    run = made(
        project, "--step", "1", "--returns", '{"found": null}', "--step", "2", "--raises", "PermissionError: 403"
    )
    done = type_in(project, "replay", run)
    assert done.returncode == 0, done.stdout
    assert "{'found': None}\nrefused: PermissionError 403\n" in done.stdout
    assert type_in(project, "diff", "shop-1", run).returncode == 1


def test_the_new_run_says_where_it_comes_from(project: Path) -> None:
    run = made(project, "--step", "2", "--fault", "timeout", "--step", "1", "--delay", "2s", "--id", "slow-1")
    assert run == "slow-1"
    assert "edited from shop-1: 2 changes, the first at step 1" in type_in(project, "show", run).stdout
    assert "refused: TimeoutError timed out" in type_in(project, "replay", run).stdout
    data = json.loads(type_in(project, "show", run, "--json").stdout)
    assert [each["edit"] for each in data["parent"]["edits"]] == ["faults", "delays"]


def test_an_http_status_is_a_number(tmp_path: Path) -> None:
    program = """
import httpx, playhead
from playhead.testing import ModelServer, Raw

with ModelServer({}, routes={"GET /stock": Raw(200, b"3")}) as server:
    with playhead.record(id="run-1"):
        httpx.get(f"{server.url}/stock")
"""
    (tmp_path / "agent.py").write_text(program)
    subprocess.run([sys.executable, "agent.py"], cwd=tmp_path, env=environment(), check=True)
    asked = load(tmp_path, "run-1").questions[0].seq
    words = ("--event", str(asked), "--status", "403", "--header", "retry-after: 30", "--id", "run-2")
    done = type_in(tmp_path, "edit", "run-1", *words)
    assert done.returncode == 0, done.stderr
    assert "403" in type_in(tmp_path, "show", "run-2").stdout


def test_json_names_the_run_and_its_parent(project: Path) -> None:
    done = type_in(project, "edit", "shop-1", "--step", "1", "--drop", "--json")
    data = json.loads(done.stdout)
    assert data["parent"]["run"] == "shop-1"
    assert open_recording(Path(data["path"])).id == data["id"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "nothing to change"),
        (("--step", "1"), "does not say what to change"),
        (("--returns", "1"), "--returns needs a --step before it"),
        (("--step", "1", "--returns", "{no"), "--returns takes JSON"),
        (("--step", "1", "--returns", "1", "--drop"), "exclude each other"),
        (("--step", "1", "--delay", "soon"), "is no span of time"),
        (("--step", "1", "--status", "403"), "did not go over HTTP"),
        (("--step", "1", "--header", "nothing"), "is no header"),
        (("--step", "1", "--calls", "search"), "is no call of a tool"),
        (("--step", "9", "--drop"), "has steps 1 to 2, not 9"),
        (("--step", "1", "--raises", "HTPError: 403"), "no exception called 'HTPError'"),
        (("--step", "1", "--fault", "bad_luck"), "bad_luck"),
        (("--event", "0", "--drop"), "is run.started, and no part of an exchange"),
        (("--step", "1", "--body", "@missing.txt", "--status", "500"), "cannot be read from missing.txt"),
    ],
)
def test_what_cannot_be_carried_out_is_a_matter_of_usage(project: Path, words: tuple[str, ...], told: str) -> None:
    before = sorted((project / ".playhead" / "recordings").iterdir())
    done = type_in(project, "edit", "shop-1", *words)
    assert done.returncode == 2
    assert told in done.stderr
    assert "next: " in done.stderr
    assert sorted((project / ".playhead" / "recordings").iterdir()) == before


def editor(folder: Path, code: str) -> str:
    """A program that changes the file that it is given, as a person would."""
    path = folder / f"editor-{abs(hash(code))}.py"
    path.write_text(
        f"#!{sys.executable}\nimport json, os, re, sys\npath = sys.argv[1]\ntext = open(path).read()\n{code}"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_an_editor_is_shown_the_step_and_what_is_changed_is_the_edit(project: Path) -> None:
    change = (
        'assert \'"query": "parcel"\' in text\n'
        "open(path, 'w').write(text.replace('\"found\": \"parcel\"', '\"found\": 0'))"
    )
    run = made(project, "--step", "1", "--editor", EDITOR=editor(project, change), VISUAL="")
    assert "{'found': 0}" in type_in(project, "replay", run).stdout


def test_what_an_editor_spoilt_can_be_mended(project: Path) -> None:
    change = (
        "good = 'This does not work yet' in text\n"
        "broken = re.sub(r'(?s)\"answer\": .*', '\"answer\": [broken}', text)\n"
        "new = text.replace('[broken', '{\"returns\": 5}') if good else broken\n"
        "open(path, 'w').write(new)"
    )
    used = environment(EDITOR=editor(project, change), VISUAL="")
    done = type_in(project, "edit", "shop-1", "--step", "1", "--editor", env=used, input="y\n")
    assert "it is no JSON" in done.stderr
    assert done.returncode == 0, done.stderr
    assert "5\n" in type_in(project, "replay", done.stdout.strip()).stdout


def test_an_editor_that_changes_nothing_makes_nothing(project: Path) -> None:
    done = type_in(
        project, "edit", "shop-1", "--step", "1", "--editor", env=environment(EDITOR="true", VISUAL=""), input="n\n"
    )
    assert done.returncode == 2
    assert "nothing was changed" in done.stderr


def test_an_editor_may_not_change_what_was_asked(project: Path) -> None:
    change = "open(path, 'w').write(text.replace('parcel', 'letter'))"
    used = environment(EDITOR=editor(project, change), VISUAL="")
    done = type_in(project, "edit", "shop-1", "--step", "1", "--editor", env=used, input="n\n")
    assert done.returncode == 2
    assert 'only "answer" can be changed' in done.stderr
