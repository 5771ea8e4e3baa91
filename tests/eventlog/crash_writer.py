"""A process that writes recordings until it is killed: for each path on stdin it forks a child and says its id.

The child notes, after each commit that returned, how many events are on disk.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.eventlog.runs import Run


def write(path: Path) -> None:
    """Write until killed, in batches from one small event to some megabytes."""
    noted = os.open(path.with_suffix(".count"), os.O_CREAT | os.O_WRONLY)
    run = Run(path)
    batch = 0
    while True:
        batch += 1
        for number in range(batch % 40):
            text = b"x" * (batch * number * 131 % 90_000)
            run.add("tool.returned", b'{"value":"%d %b"}' % (run.log.count, text))
        run.log.commit()
        os.pwrite(noted, b"%10d" % run.log.count, 0)


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            write(Path(line.strip()))
        print(child, flush=True)
        os.waitpid(child, 0)
        print("dead", flush=True)


if __name__ == "__main__":
    main()
