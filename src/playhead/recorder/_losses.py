"""Saying loudly that a recording is not whole. Nothing here raises, whatever the program made of its warnings."""

from __future__ import annotations

import sys
import warnings

from playhead.errors import PlayheadWarning


def tell_failure(why: str) -> None:
    """The disk has failed while the program goes on."""
    _warn(f"playhead cannot write the recording any more; the program goes on, the recording ends here. {why}")


def tell_loss(error: BaseException) -> None:
    """An event could not be kept. Told of the first one; the end of the run counts them."""
    _warn(f"playhead could not keep an event ({type(error).__name__}); the recording is marked incomplete")


def tell_incomplete(run: str, reasons: tuple[str, ...]) -> None:
    """A run has ended, and its recording is known not to be whole."""
    _say(f"playhead: the recording of {run} is incomplete: {'; '.join(reasons)}\n  next: playhead show {run}\n")


def _warn(text: str) -> None:
    try:
        warnings.warn(text, PlayheadWarning, stacklevel=4)
    except Warning:  # the program turns warnings into errors; this thread has nobody to raise to
        _say(f"{text}\n")
    except Exception:
        pass


def _say(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except Exception:  # closed, or there is none
        pass
