"""What starting costs: ``import playhead`` and the command line, beside a bare interpreter and others' imports.

``python benchmarks/startup.py`` prints a table; ``--json`` prints the figures.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

ROUNDS = 15
SOURCE = Path(__file__).resolve().parent.parent / "src"


def verb(*words: str) -> str:
    """What the installed script does."""
    return f"import sys; sys.argv = ['playhead', *{list(words)!r}]; from playhead.cli import main; main()"


CASES = {
    "bare interpreter": "pass",
    "import playhead": "import playhead",
    "import playhead; playhead.record": "import playhead; playhead.record",
    "playhead --version": verb("--version"),
    "playhead --help": verb("--help"),
    "playhead runs (empty store)": verb("runs"),
    "import click": "import click",
    "import opentelemetry.sdk.trace": "import opentelemetry.sdk.trace",
    "import openai": "import openai",
}
BUDGETS_MS = {"import playhead": 45, "playhead --version": 60, "playhead --help": 80}
"""Over a bare interpreter for the import, whole for the others (DESIGN section 12)."""


def run(code: str, folder: str) -> tuple[float, float]:
    """Milliseconds on the wall clock and of processor time."""
    env = {**os.environ, "PYTHONPATH": str(SOURCE), "PLAYHEAD_STORE": folder}
    before = os.times()
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], env=env, cwd=folder, check=True, capture_output=True)
    wall = time.perf_counter() - begun
    after = os.times()
    used = after.children_user - before.children_user + after.children_system - before.children_system
    return wall * 1000, used * 1000


def measure() -> dict[str, dict[str, float]]:
    """Medians of interleaved rounds, after one that fills the caches."""
    cases = {
        name: code
        for name, code in CASES.items()
        if not name.startswith("import ") or find_spec(name.split()[1].rstrip(";").partition(".")[0]) or "play" in name
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in cases}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(ROUNDS + 1):
            for name, code in cases.items():
                taken = run(code, folder)
                if number:
                    times[name].append(taken)
    bare = statistics.median(wall for wall, _ in times["bare interpreter"])
    figures = {}
    for name, taken in times.items():
        wall = statistics.median(each for each, _ in taken)
        figures[name] = {
            "wall_ms": wall,
            "cpu_ms": statistics.median(each for _, each in taken),
            "fastest_ms": min(each for each, _ in taken),
            "over_bare_ms": wall - bare,
            "to_bare": wall / bare,
        }
    return figures


def main() -> None:
    figures = measure()
    if "--json" in sys.argv:
        print(json.dumps(figures, indent=2))
        return
    print(f"{'':34}{'wall ms':>10}{'cpu ms':>10}{'fastest':>10}{'over bare':>11}{'x bare':>8}{'budget':>9}")
    for name, row in figures.items():
        budget = BUDGETS_MS.get(name)
        shown = f"{budget} ms" if budget else ""
        cells = "".join(f"{row[key]:>10.1f}" for key in ("wall_ms", "cpu_ms", "fastest_ms"))
        print(f"{name:34}{cells}{row['over_bare_ms']:>11.1f}{row['to_bare']:>8.2f}{shown:>9}")


if __name__ == "__main__":
    main()
