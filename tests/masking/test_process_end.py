"""A process that ends while threads of it are masking ends well, whichever engine they use."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.eventlog.runs import child_env

PROGRAM = """
import sys, threading
from playhead.masking import Masker

masker = Masker(key=b"key", engine=sys.argv[1])
text = "words and more words, a number 12345 and ana@example.org, " * 20
begun = [threading.Event() for _ in range(4)]

def mask(event):
    while True:
        assert "ana@" not in masker.text(text)
        event.set()

for event in begun:
    threading.Thread(target=mask, args=(event,), daemon=True).start()
for event in begun:
    event.wait()
"""


@pytest.mark.parametrize("engine", ["re2", "re"])
def test_a_process_ends_well_while_its_threads_mask(engine: str) -> None:
    if engine == "re2":
        pytest.importorskip("re2")
    for _ in range(10):
        command = [sys.executable, "-c", PROGRAM, engine]
        ended = subprocess.run(command, env=child_env(), capture_output=True, text=True, check=False, timeout=60)
        assert (ended.returncode, ended.stderr) == (0, "")
