"""``python -m playhead.cli``."""

from playhead.cli import main

main()
