"""The command line. Each verb is a file of its own, which is read when the verb is used."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line on ``sys.argv`` and exit: 0 yes, 1 the answer is no, 2 usage, 3 could not read."""
    words = sys.argv[1:]
    if words in (["--version"], ["--help"], ["-h"], []):  # without the command line's machinery: most of its time
        sys.stdout.write(_version() if words == ["--version"] else _help())
        sys.exit(0 if words else 2)
    from playhead.cli._main import run

    run(words)


def _version() -> str:
    from playhead._version import __version__

    return f"playhead {__version__}\n"


def _help() -> str:
    from playhead.cli._verbs import help_page

    return help_page()
