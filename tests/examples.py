"""How many examples a law is tried with."""

from __future__ import annotations

import os
from typing import Final

_SHARE: Final = 4


def up_to(count: int) -> int:
    """All of them in `make test-all`; else a share, which is the same each time, so that more of them say no more."""
    return count if os.environ.get("HYPOTHESIS_PROFILE") == "exploring" else max(count // _SHARE, 1)
