"""What people and disks do to a command line: a clear error, the next command, the right exit code, no traceback."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import playhead
from playhead.eventlog._compression import compress
from playhead.eventlog._source import Bytes
from playhead.eventlog._text import Text
from tests.cli.commands import environment, type_in, write_agent

READING = (["show"], ["replay"], ["verify"], ["diff", "good-1"])
STEERING = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\r"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with two good recordings, one of which has a blob."""
    store = tmp_path / ".playhead"
    tool = playhead.tool(lambda n: os.urandom(50_000).hex() if n == 99 else n, name="count")
    for run in ("good-1", "good-2"):
        with playhead.record(kind="good", store=store, id=run):
            for n in range(99 + (run == "good-2")):
                tool(n)
    return tmp_path


def path_of(project: Path, run: str) -> Path:
    return project / ".playhead" / "recordings" / f"{run}.playhead"


def check(done: subprocess.CompletedProcess[str], *, code: int, slug: str) -> str:
    """What was said: an error with its next command and its address, and no traceback."""
    assert done.returncode == code, done.stderr + done.stdout
    lines = done.stderr.splitlines()
    assert lines[0].startswith("error: "), done.stderr
    assert any(line.startswith("  next: ") for line in lines), done.stderr
    assert lines[-1] == f"  more: playhead help {slug}"
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr + done.stdout
    return done.stderr


@pytest.mark.parametrize("words", READING, ids=lambda words: words[0])
def test_an_unknown_run_and_an_ambiguous_prefix_are_told_apart(project: Path, words: list[str]) -> None:
    said = check(type_in(project, *words, "god-1"), code=3, slug="unknown-run")
    assert "there is good-1" in said
    said = check(type_in(project, *words, "good"), code=3, slug="ambiguous-run")
    assert "good-1, good-2" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "slug"),
    [
        (b"", "not-a-recording"),
        (b"hello, world\n", "not-a-recording"),
        (b'{"some":"json"}\n', "not-a-recording"),
        (os.urandom(5000), "not-a-recording"),
        (b'{"playhead":99,"run":"r","kind":"k","writer":"playhead 9","created_ns":1}\n', "newer-format"),
    ],
    ids=["empty", "text", "json", "noise", "newer"],
)
def test_what_is_no_recording_is_said_to_be_none(project: Path, content: bytes, slug: str) -> None:
    path = path_of(project, "odd-1")
    path.write_bytes(content)
    for words in READING:
        check(type_in(project, *words, str(path)), code=3, slug=slug)
    listed = {run["id"]: run["outcome"] for run in json.loads(type_in(project, "runs", "--json").stdout)}
    assert listed["odd-1"] == "unreadable"
    done = type_in(project, "verify", "--all")
    assert done.returncode == 3
    assert len(done.stdout.splitlines()) == 3


@pytest.mark.slow
def test_a_folder_in_place_of_a_recording_is_unknown(project: Path) -> None:
    check(type_in(project, "show", str(project / ".playhead")), code=3, slug="unknown-run")


def test_a_torn_recording_opens_up_to_the_tear(project: Path) -> None:
    plain = project / "torn.playhead.jsonl"
    recording = playhead.load("good-1", store=project / ".playhead")
    assert recording.path is not None
    lines = [line for _, block in Text(Bytes(recording.path)) for line in block]
    plain.write_bytes(b"\n".join(lines[:60]) + b"\n" + lines[60][:30])
    done = type_in(project, "show", str(plain))
    assert done.returncode == 0
    assert "torn: its last line is not whole" in done.stdout
    assert "aborted" in done.stdout
    done = type_in(project, "verify", str(plain))
    assert done.returncode == 1
    assert "torn tail" in done.stdout


def damaged_in_the_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for at in range(len(data) // 2, len(data) // 2 + 200):
        data[at] ^= 0x55
    path.write_bytes(data)


def one_answer_changed(path: Path) -> None:
    text = b"".join(line + b"\n" for _, block in Text(Bytes(path)) for line in block)
    path.write_bytes(text.replace(b'"value":42}', b'"value":43}'))


@pytest.mark.parametrize("damage", [damaged_in_the_middle, one_answer_changed])
def test_damage_is_found_and_located(project: Path, damage: Callable[[Path], None]) -> None:
    damage(path_of(project, "good-1"))
    done = type_in(project, "verify", "good-1")
    assert done.returncode == 1
    assert "broken: " in done.stdout
    done = type_in(project, "verify", "--all", "--json")
    assert done.returncode == 1
    assert {each["run"]: each["ok"] for each in json.loads(done.stdout)} == {"good-1": False, "good-2": True}


@pytest.mark.slow
def test_a_recording_damaged_in_the_middle_is_not_read_as_if_it_were_whole(project: Path) -> None:
    damaged_in_the_middle(path_of(project, "good-1"))
    said = check(type_in(project, "show", "good-1"), code=3, slug="corrupt-recording")
    assert "next: playhead verify" in said
    check(type_in(project, "diff", "good-1", "good-2"), code=3, slug="corrupt-recording")


@pytest.mark.slow
@pytest.mark.parametrize("altered", [False, True], ids=["missing", "altered"])
def test_a_blob_that_is_missing_or_altered_is_named(project: Path, altered: bool) -> None:
    [blob] = [path for path in (project / ".playhead" / "blobs").rglob("*") if path.is_file()]
    if altered:
        blob.write_bytes(blob.read_bytes()[:-1] + b"x")
    else:
        blob.unlink()
    check(type_in(project, "show", "good-2#100"), code=3, slug="blob")
    done = type_in(project, "verify", "good-2")
    assert done.returncode == 1
    assert "blob" in done.stdout
    assert type_in(project, "show", "good-2#3").returncode == 0


def test_kinds_of_a_later_version_are_passed_over(project: Path) -> None:
    header = b'{"playhead":1,"run":"later-1","kind":"k","writer":"w","created_ns":1}\n'
    line = (
        b'{"seq":0,"kind":"x.future","lane":"main","at_ns":1,"mono_ns":1,"body":{"salt":"0123456789abcdef","new":1}}\n'
    )
    (project / "later.playhead.jsonl").write_bytes(header + line)
    done = type_in(project, "show", "later.playhead.jsonl")
    assert done.returncode == 0, done.stderr
    assert "0 steps" in done.stdout
    assert type_in(project, "diff", "later.playhead.jsonl", "later.playhead.jsonl").returncode == 0
    check(type_in(project, "replay", "later.playhead.jsonl"), code=3, slug="corrupt-recording")


def a_file_in_place_of_the_folder(project: Path) -> None:
    shutil.rmtree(project / ".playhead")
    (project / ".playhead").write_text("not a folder")


def a_file_in_place_of_the_recordings(project: Path) -> None:
    shutil.rmtree(project / ".playhead" / "recordings")
    (project / ".playhead" / "recordings").write_text("not a folder")


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [a_file_in_place_of_the_folder, a_file_in_place_of_the_recordings])
def test_a_store_that_cannot_be_written_stops_the_recording_before_the_program(
    project: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(project)
    write_agent(project, "open('ran', 'w').close()\n")
    check(type_in(project, "record", "--", "python", "agent.py"), code=3, slug="store-not-writable")
    assert not (project / "ran").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may do everything")
def test_a_store_without_permission_is_told(project: Path) -> None:
    os.chmod(project / ".playhead" / "recordings", 0o500)
    write_agent(project)
    said = check(type_in(project, "record", "--", "python", "agent.py"), code=3, slug="store-not-writable")
    assert "permission denied" in said


@pytest.mark.slow
def test_a_disk_that_fills_up_does_not_stop_the_program_and_is_said_loudly(tmp_path: Path) -> None:
    program = """
import os, playhead
from playhead.recorder import drain_all
tool = playhead.tool(lambda n: os.urandom(3000).hex(), name="bulk")
for n in range(80):
    tool(n)
    drain_all()
print("done")
"""
    write_agent(tmp_path, program)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    done = type_in(tmp_path, "record", "--id", "run-1", "--", "python", "agent.py", preexec_fn=limit)
    assert done.stdout == "done\n"
    assert "cannot write the recording any more" in done.stderr
    recording = playhead.load("run-1", store=tmp_path / ".playhead")
    assert recording.verify().ok
    assert len(recording.steps) < 80
    assert recording.finished is not None
    assert any("cannot write to" in gap for gap in recording.finished.incomplete)
    assert [step.question.body.arguments["n"] for step in recording.steps[:5]] == [0, 1, 2, 3, 4]


def test_an_id_that_is_taken_is_never_overwritten(project: Path) -> None:
    before = path_of(project, "good-1").read_bytes()
    write_agent(project, "open('ran', 'w').close()\n")
    said = check(
        type_in(project, "record", "--id", "good-1", "--", "python", "agent.py"), code=3, slug="recording-exists"
    )
    assert "next: playhead show good-1" in said
    assert path_of(project, "good-1").read_bytes() == before
    assert not (project / "ran").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "why"),
    [
        (["no-such-program"], "there is no program no-such-program"),
        (["./agent.py"], "is a Python file and cannot be run by itself"),
        (["./data"], "may not be run by this user"),
        (["./empty"], "could not be started"),
        (["true"], "true started no Python that could be recorded"),
        (["python", "-I", "-c", "pass"], "python started no Python that could be recorded"),
    ],
)
def test_a_program_that_cannot_be_started_or_recorded_is_told_why(tmp_path: Path, program: list[str], why: str) -> None:
    write_agent(tmp_path)
    (tmp_path / "data").write_text("data")
    (tmp_path / "empty").write_text("\x00\x01")
    (tmp_path / "empty").chmod(0o755)
    said = check(type_in(tmp_path, "record", "--", *program), code=2, slug="program-not-started")
    assert why in said
    assert "next: playhead record -- " in said
    assert json.loads(type_in(tmp_path, "runs", "--json").stdout) == []


@pytest.mark.slow
def test_a_program_whose_folder_is_gone_is_told(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    write_agent(tmp_path / "work")
    store = ["--store", str(tmp_path / "store")]
    type_in(tmp_path / "work", "record", "--id", "run-1", *store, "--", "python", "agent.py")
    shutil.rmtree(tmp_path / "work")
    said = check(type_in(tmp_path, "replay", *store, "run-1"), code=2, slug="program-not-started")
    assert "which is not there" in said


@pytest.mark.parametrize("words", [["record"], ["verify"], ["verify", "--all", "x"], ["show", "good-1", "--raw"]])
def test_what_was_not_said_is_asked_for(project: Path, words: list[str]) -> None:
    check(type_in(project, *words), code=2, slug="usage")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["runs", "--since", "soon"], "error: invalid value for '--since': 'soon' is not a span of time"),
        (["show"], "error: missing argument 'RUN[#STEP]'\n  next: playhead show --help"),
        (["replay", "x", "--match", "x"], "  next: playhead replay --help"),
        (["runs", "--x"], "error: no such option"),
        (["--x"], "  next: playhead --help"),
        (["diff", "a", "b", "c"], "error: got unexpected extra argument (c)\n  next: playhead diff --help"),
        (["shaw", "x"], "error: there is no verb 'shaw'; did you mean 'show'?\n  next: playhead show --help"),
        (["xyz"], "error: there is no verb 'xyz'\n  next: playhead --help"),
        (["help", "unknown-rnu"], "  next: playhead help unknown-run"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_understood_is_an_error_like_any_other(project: Path, words: list[str], said: str) -> None:
    assert said in check(type_in(project, *words), code=2, slug="usage")


def test_a_run_that_is_kept_further_up_is_looked_for_there(project: Path) -> None:
    below = project / "src"
    below.mkdir()
    said = check(type_in(below, "show", "good-1"), code=3, slug="unknown-run")
    store = project / ".playhead"
    assert f"no run 'good-1' in {below / '.playhead'}" in said
    assert f"other runs are in {store}\n  next: playhead runs --store {store}\n" in said
    assert type_in(below, "runs").stderr == (
        f"no runs in {below / '.playhead'}; there are some in {store}  next: playhead runs --store {store}\n"
    )
    assert "; --store PATH looks in another folder" in type_in(project, "show", "xyz").stderr


@pytest.mark.slow
def test_a_setting_that_is_not_usable_names_itself(project: Path) -> None:
    (project / "playhead.toml").write_text("durability = 'sometimes'\n")
    assert "durability" in check(type_in(project, "runs"), code=2, slug="configuration")


def hostile(body: bytes, *, kind: bytes = b"tool.called", lane: bytes = b"main", run: bytes = b"h-1") -> bytes:
    header = b'{"playhead":1,"run":"%b","kind":"k","writer":"w","created_ns":1}\n' % run
    line = b'{"seq":0,"kind":"%b","lane":"%b","at_ns":1,"mono_ns":1,"body":{"salt":"0123456789abcdef",%b}}\n'
    return header + line % (kind, lane, body)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "slug"),
    [
        (hostile(b'"name":"t","arguments":' + b'{"a":' * 5000 + b"1" + b"}" * 5000), "hostile-recording"),
        (hostile(b'"name":"t","arguments":' + b"[" * 100_000 + b"]" * 100_000), "hostile-recording"),
        (compress(hostile(b'"name":"' + b"x" * (300 << 20) + b'"'), level=1), "hostile-recording"),
        (hostile(b'"$blob":"../../../../etc/passwd","size":100'), "blob"),
    ],
    ids=["objects", "lists", "bomb", "climbing"],
)
def test_a_recording_made_to_hurt_ends_in_a_clear_error(tmp_path: Path, data: bytes, slug: str) -> None:
    suffix = ".playhead" if data[:1] != b"{" else ".playhead.jsonl"
    path = tmp_path / f"hurt{suffix}"
    path.write_bytes(data)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

    for words in (["show", f"{path}#1"], ["show", str(path)], ["diff", str(path), str(path)]):
        check(type_in(tmp_path, *words, preexec_fn=limit), code=3, slug=slug)
    done = type_in(tmp_path, "verify", str(path), preexec_fn=limit)
    assert done.returncode in (0, 1, 3)
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_numbers_of_absurd_length_are_shown_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "numbers.playhead.jsonl"
    path.write_bytes(hostile(b'"name":"t","arguments":{"n":' + b"9" * 50_000 + b',"e":1e99999}'))
    for words in (["show", str(path)], ["show", f"{path}#1"], ["show", f"{path}#1", "--json"]):
        done = type_in(tmp_path, *words)
        assert done.returncode in (0, 3)
        assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        f"../../x{STEERING}",
        *(pytest.param(each, marks=pytest.mark.sweep) for each in ("../../x", "a" * 5000, "[bold]x[/bold]", "-x")),
    ],
)
def test_names_in_a_recording_reach_no_file_and_no_terminal(tmp_path: Path, name: str) -> None:
    text = json.dumps(name)[1:-1].encode()
    body = b'"name":"%b","arguments":{"%b":"%b"}' % (text, text, text)
    (tmp_path / ".playhead" / "recordings").mkdir(parents=True)
    path = tmp_path / ".playhead" / "recordings" / "odd.playhead.jsonl"
    path.write_bytes(hostile(body, lane=text, run=text))
    for words in (["runs"], ["show", str(path)], ["show", f"{path}#1"], ["verify", str(path)], ["verify", "--all"]):
        for more in ([], ["--json"]):
            done = type_in(tmp_path, *words, *more)
            assert done.returncode in (0, 1), done.stderr
            assert not set("\x1b\x07\x9b\u202e\r") & set(done.stdout + done.stderr)
    assert "[bold]x[/bold]" not in name or "[bold]x[/bold]" in type_in(tmp_path, "show", str(path)).stdout


@pytest.mark.slow
def test_interrupting_a_long_check_leaves_nothing_half_done(project: Path) -> None:
    code = """
import os, signal, threading
import playhead.eventlog
check = playhead.eventlog.verify
def verify(path):
    os.kill(os.getpid(), signal.SIGINT)
    return check(path)
playhead.eventlog.verify = verify
import sys
sys.argv = ["playhead", "verify", "--all"]
from playhead.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=project, env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stderr.strip()) == (130, "interrupted")
    assert type_in(project, "verify", "--all").returncode == 0
