"""What the first Python process of a command finds before its program: it begins the recording or the replay.

Python imports a module of this name when it starts. This one takes itself out of the path and the environment,
lets the ``sitecustomize`` run that it stood before, if there is one, and then carries out the order. The
processes that the program starts itself find nothing of it; they are given orders of their own.
"""

from __future__ import annotations

import os
import sys


def step_aside() -> str | None:
    """Take what brought us here out of path and environment; gives the order."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [place for place in sys.path if not place or os.path.abspath(place) != here]
    sys.path_importer_cache.pop(here, None)
    places = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    left = [place for place in places if not place or os.path.abspath(place) != here]
    if any(left):
        os.environ["PYTHONPATH"] = os.pathsep.join(left)
    else:
        os.environ.pop("PYTHONPATH", None)
    return os.environ.pop("PLAYHEAD_ORDER", None)


def run_next() -> None:
    """Run the ``sitecustomize`` that Python would have found without us."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    found = PathFinder.find_spec("sitecustomize")
    if found is None or found.loader is None:
        return
    module = module_from_spec(found)
    sys.modules["sitecustomize"] = module
    found.loader.exec_module(module)


def carry_out(order: str) -> None:
    """Begin. Where this Python has no playhead, the mailbox says so, and a program to be replayed must not go on."""
    try:
        from playhead._program._inside import begin
    except ImportError as error:
        import json

        wanted = json.loads(order)
        if not wanted.get("mailbox"):
            return
        with open(os.path.join(wanted["mailbox"], "failure"), "a", encoding="utf-8") as file:
            file.write(f"the Python at {sys.executable} cannot import playhead ({error})\n")
        if wanted["mode"] == "replay":
            os._exit(3)
    else:
        begin(order)


_order = step_aside()
try:
    run_next()
finally:
    if _order is not None:
        carry_out(_order)
