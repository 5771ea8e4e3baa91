"""Runs every benchmark, each in a process of its own, and sums up what has a budget.

``python benchmarks`` prints the tables; ``--json`` prints all figures as one JSON object. Names choose some:
``python benchmarks caller growth``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from _measuring import RESULTS, Figure, table

HERE = Path(__file__).parent


def main() -> int:
    as_json = "--json" in sys.argv
    chosen = [word for word in sys.argv[1:] if not word.startswith("-")]
    files = [file for file in sorted(HERE.glob("[a-z]*.py")) if not chosen or file.stem in chosen]
    failed = []
    for file in files:
        if not as_json:
            print(f"== {file.stem}", flush=True)
        (RESULTS / f"{file.stem}.json").unlink(missing_ok=True)
        done = subprocess.run([sys.executable, file], stdout=subprocess.DEVNULL if as_json else None, check=False)
        if done.returncode != 0:
            failed.append(file.stem)
        if not as_json:
            print(flush=True)
    found = {file.stem: RESULTS / f"{file.stem}.json" for file in files}
    data = {name: json.loads(path.read_text("utf-8")) for name, path in found.items() if path.exists()}
    if as_json:
        print(json.dumps(data, indent=2))
    else:
        print("== what has a budget")
        print(table([pair for each in data.values() for pair in judged(each)]))
    for name in failed:
        print(f"benchmark {name} failed", file=sys.stderr)
    return bool(failed)


def judged(data: dict[str, Any]) -> list[tuple[Figure, float]]:
    """Those figures of one benchmark that have a budget, and how slow the machine was."""
    derived = ("ratio", "verdict")
    return [
        (Figure(**{key: value for key, value in each.items() if key not in derived}), data["slower_than_reference"])
        for each in data["figures"]
        if each["verdict"]
    ]


if __name__ == "__main__":
    sys.exit(main())
