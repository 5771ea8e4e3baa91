"""An editor attaches to the program before it begins, so that it stops there instead of at a prompt."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from typing import Any, Final

from playhead.boundary import leave_out_others
from playhead.errors import UsageError
from playhead.player import Stops

_LIBRARIES: Final = "LIBRARY_ROOTS"
_OURS: Final = str(Path(__file__).parent.parent)


def await_editor(port: int) -> None:
    """Wait until an editor has attached on ``port`` of this machine.

    It comes before the replay, since what a debugger itself connects to and starts is no part of the program, nor are
    its threads. Raises `UsageError` where debugpy is not installed or the port is taken.
    """
    paths = sysconfig.get_paths()
    libraries = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    os.environ[_LIBRARIES] = os.pathsep.join([*libraries, _OURS])  # we are no one's own code
    try:
        import debugpy
    except ImportError as error:
        raise UsageError(
            f"the Python at {sys.executable} has no debugpy, which editors attach to", next="pip install debugpy"
        ) from error
    try:
        debugpy.configure(subProcess=False)
        debugpy.listen(("127.0.0.1", port))
    except (RuntimeError, OSError) as error:
        raise UsageError(
            f"no editor can attach on port {port}: {error}", next=f"playhead replay RUN --break 1 --listen {port + 1}"
        ) from error
    del os.environ[_LIBRARIES]
    sys.stderr.write(f"waiting for an editor to attach on 127.0.0.1:{port}\n")
    sys.stderr.flush()
    debugpy.wait_for_client()
    leave_out_others()


def hold_for_editor(stops: Stops) -> None:
    """Wherever the editor stops the program, at a step or at a line, nobody else goes on and no time passes."""
    debugger: Any = sys.modules["pydevd"].PyDB
    suspend = debugger.do_wait_suspend

    def do_wait_suspend(*args: Any, **kwargs: Any) -> Any:
        with stops.held():
            return suspend(*args, **kwargs)

    debugger.do_wait_suspend = do_wait_suspend
