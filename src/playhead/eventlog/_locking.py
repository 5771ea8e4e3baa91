"""Whether somebody is writing a recording now: a lock on the live file, which ends with its writer's process."""

from __future__ import annotations

from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def hold(fd: int) -> None:
    """Hold the lock until ``fd`` is closed. File systems that know no locks are not an error."""
    if fcntl is not None:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
        except OSError:
            return


def take(fd: int) -> bool:
    """Hold the lock as `hold` does, but without waiting; whether nobody else holds it."""
    if fcntl is not None:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
    return True


def is_held(path: Path) -> bool:
    """Whether a living process writes ``path``; where there are no locks, no."""
    if fcntl is None:
        return False
    try:
        with path.open("rb") as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
