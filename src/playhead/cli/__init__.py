"""The command line. Each verb is a file of its own, which is read when the verb is used."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line on ``sys.argv`` and exit: 0 yes, 1 the answer is no, 2 usage, 3 could not read."""
    if sys.argv[1:] == ["--version"]:  # without the command line's machinery: half of its time
        from playhead._version import __version__

        sys.stdout.write(f"playhead {__version__}\n")
        sys.exit()
    from playhead.cli._main import run

    run(sys.argv[1:])
