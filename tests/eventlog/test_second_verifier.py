"""The verifier in the documentation, written from the format's page alone, agrees with ours on everything."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from playhead.eventlog import BlobPlace, erase_body, pack, verify
from playhead.events import NoteAdded, encode_body, freeze
from tests.eventlog.runs import Run, live_run, plain_lines, sealed_run
from tests.eventlog.test_chain import FORMS, recording

SCRIPT = Path(__file__).parents[2] / "docs" / "examples" / "verify_recording.py"

VECTORS = [1, 1.0, 1e-7, -0.0, 9007199254740993, float("nan"), float("-inf"), 10**40, "a\ud800", {"a\ud800": 1}]
"""What two languages may read differently (B94)."""


def load() -> ModuleType:
    spec = spec_from_file_location("verify_recording", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SECOND = load()


def second(path: Path) -> str:
    """What the second verifier says: its first words, or ``broken``."""
    try:
        return str(SECOND.check(path))
    except Exception:
        return "broken"


def test_the_second_verifier_is_short_and_knows_nothing_of_playhead() -> None:
    text = SCRIPT.read_text("utf-8")
    assert len(text.splitlines()) <= 60
    assert "import playhead" not in text
    assert "from playhead" not in text


def test_both_verifiers_agree_on_what_languages_read_differently(tmp_path: Path) -> None:
    """B94: what is hashed is what is stored, so nothing depends on how a number or a string is written."""
    run = Run(tmp_path / "a")
    for vector in VECTORS:
        run.add("note.added", encode_body(NoteAdded(name="n", details=freeze(vector))))
    run.add("x.raw", b'{"k":1,"k":2,"n":1.0,"m":1e-7,"z":-0.0}')
    path = run.log.seal()
    assert verify(path).ok
    assert second(path) == f"ok: {len(VECTORS) + 2} events, sealed, 0 erased"


def test_both_verifiers_agree_on_every_kind_of_recording(tmp_path: Path) -> None:
    for name in ("live", "sealed", "blobs"):
        (tmp_path / name).mkdir()
    paths = [live_run(tmp_path / "live"), sealed_run(tmp_path / "sealed", cycles=20)]
    run = Run(tmp_path / "blobs" / "a", blobs=BlobPlace(tmp_path / "blobs" / "blobs"))
    run.add("tool.returned", b'{"value":"%b"}' % (b"x" * 100_000))
    paths.append(run.log.seal())
    paths.append(pack(paths[-1], tmp_path / "packed.playhead"))
    paths.append(erase_body(paths[1], [3, 5], to=tmp_path / "erased.playhead"))
    for path in paths:
        found = verify(path)
        assert found.ok
        assert (
            second(path) == f"ok: {found.count} events, {'' if found.sealed else 'not '}sealed, {found.erased} erased"
        )
    next((tmp_path / "blobs" / "blobs").rglob("*.zst")).unlink()
    assert second(paths[2]) == "broken"


@pytest.mark.parametrize("form", FORMS)
def test_both_verifiers_agree_on_every_flipped_bit(tmp_path: Path, form: str) -> None:
    data = recording(form)
    path = tmp_path / "damaged.playhead"
    for at in range(0, len(data), 3):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :])
        assert second(path) == "broken", f"byte {at}"


def test_it_runs_as_a_program(tmp_path: Path) -> None:
    path = sealed_run(tmp_path)
    done = subprocess.run([sys.executable, SCRIPT, path], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"ok: {verify(path).count} events, sealed, 0 erased\n")
    lines = plain_lines(path)
    path.write_bytes(b"\n".join(lines[:5] + lines[6:]) + b"\n")
    done = subprocess.run([sys.executable, SCRIPT, path], capture_output=True, text=True)
    assert done.returncode == 1
    assert "ValueError: " in done.stderr
