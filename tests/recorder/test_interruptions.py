"""Crossings in signal handlers and finalizers, which come in the midst of anything, the writer included."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.recorder.programs import Program, answers

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no interval timers")


@pytest.mark.parametrize("durability", ["group", "every"])
def test_a_signal_handler_can_cross_at_any_moment(durability: str, tmp_path: Path) -> None:
    program = Program(
        tmp_path,
        f"""
        import random
        from playhead.boundary import current_lane
        handled = []  # appended to in one step: a handler may be interrupted by the next
        def handle(number, frame):
            if not current_lane().opaque:  # what crosses inside a tool belongs to the tool
                handled.append(number)
            work(["handler", "y" * 5000])
        signal.signal(signal.SIGALRM, handle)
        with recording(durability="{durability}"):
            for number in range(300):
                signal.setitimer(signal.ITIMER_REAL, random.uniform(0.00001, 0.0003))
                work([number, "x" * 5000])
            signal.setitimer(signal.ITIMER_REAL, 0)
        print(len(handled))
        """,
    )
    out, err = program.run()
    assert err == ""
    kept = answers(program.load())
    own = [value[0] for value in kept if isinstance(value, list) and value[0] != "handler"]
    assert own == list(range(300))
    assert len(kept) - len(own) == int(out) > 5


@pytest.mark.parametrize("durability", ["group", "every"])
def test_a_finalizer_can_cross_on_whichever_thread_it_runs(durability: str, tmp_path: Path) -> None:
    """Garbage is collected wherever something is allocated, in the middle of an event that is being written too."""
    program = Program(
        tmp_path,
        f"""
        made = []
        class Ring:
            def __init__(self, number):
                self.ring, self.number = self, number
            def __del__(self):
                made.append(threading.current_thread().name)
                work(["finalizer", self.number, "y" * 5000])
        gc.set_threshold(5)
        with recording(durability="{durability}"):
            def go_on(kind):
                for number in range(150):
                    Ring(number)
                    work([kind, number, {{"list": [number] * 50, "text": "x" * 5000}}])
            threads = [threading.Thread(target=go_on, args=(kind,)) for kind in range(3)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            gc.collect()
        print(len(made))
        """,
    )
    out, err = program.run()
    assert err == ""
    assert int(out) == 450
    kept = [value for value in answers(program.load()) if isinstance(value, list)]
    own = sorted(value[:2] for value in kept if value[0] != "finalizer")
    assert own == [[kind, number] for kind in range(3) for number in range(150)]
