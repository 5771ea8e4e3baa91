"""What tests of several packages stand on."""

from __future__ import annotations

import atexit
import os
import signal
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

_unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# How long an example takes is the machine's affair: one that is under load is not to fail for it.
settings.register_profile("steady", _unhurried, derandomize=True, max_examples=30)
settings.register_profile("exploring", _unhurried)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
# What decides whether a change is taken gives the same answer each time; `make test-all` goes where nobody has been.

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Where it is set, each of the hundreds of programs that tests start compiles all that it imports, SDKs included.


def trust_few() -> None:
    """Have one authority of the web trusted instead of them all, here and in the programs that tests start.

    No test goes to the web, but each client of each SDK would read the long list of those: half of its making.
    """
    if "SSL_CERT_FILE" in os.environ or find_spec("certifi") is None:
        return
    import certifi

    end = "-----END CERTIFICATE-----\n"
    first, _, _ = Path(certifi.where()).read_text(encoding="utf-8").partition(end)
    handle, name = tempfile.mkstemp(suffix=".pem")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(first + end)
    os.environ["SSL_CERT_FILE"] = name
    atexit.register(os.unlink, name)


def keep_in_memory() -> None:
    """Have the temporary files of tests, and of the programs that they start, in memory, where that has room for them.

    Recordings are synced to the disk over and over: for most tests that took longer than all else together. None cuts
    the power, so that none can tell.
    """
    memory = "/dev/shm"
    if "TMPDIR" in os.environ or not os.access(memory, os.W_OK):
        return
    found = os.statvfs(memory)
    if found.f_bavail * found.f_frsize >= 2 << 30 and not found.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = memory
        tempfile.tempdir = None


keep_in_memory()
trust_few()

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what is to run behind it so, all children would have it from here, and no Ctrl-C reached them.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which everything that the test records is kept: one of its own."""
    folder = tmp_path / "store"
    monkeypatch.setenv("PLAYHEAD_STORE", str(folder))
    return folder
