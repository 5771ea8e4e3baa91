"""An editor attaches to the program before it begins, so that it stops there instead of at a prompt."""

from __future__ import annotations

import sys

from playhead.errors import UsageError


def await_editor(port: int) -> None:
    """Wait until an editor has attached on ``port`` of this machine.

    It comes before the replay, since what a debugger itself connects to and starts is no part of the program. Raises
    `UsageError` where debugpy is not installed or the port is taken.
    """
    try:
        import debugpy
    except ImportError as error:
        raise UsageError(
            f"the Python at {sys.executable} has no debugpy, which editors attach to", next="pip install debugpy"
        ) from error
    debugpy.configure(subProcess=False)
    try:
        debugpy.listen(("127.0.0.1", port))
    except (RuntimeError, OSError) as error:
        raise UsageError(
            f"no editor can attach on port {port}: {error}", next=f"playhead replay RUN --break 1 --listen {port + 1}"
        ) from error
    print(f"waiting for an editor on 127.0.0.1:{port}", file=sys.stderr, flush=True)  # noqa: T201
    debugpy.wait_for_client()
