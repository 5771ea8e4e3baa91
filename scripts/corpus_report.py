"""Record and replay the public traffic, and say what came back equal and which streams were kept merged.

    python scripts/corpus_report.py [--json]

PLAYHEAD_CORPUS names the folder of the traffic. Exits with 1 where anything came back otherwise than recorded.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.corpus.clients import CLIENTS  # noqa: E402
from tests.corpus.judging import account_for_bytes, account_for_objects, write_table  # noqa: E402
from tests.corpus.traffic import FOLDER, read_exchanges  # noqa: E402


def main() -> int:
    """Print an account for the first client and one for the SDKs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    as_json: bool = parser.parse_args().json
    exchanges = read_exchanges()
    if not exchanges:
        print(f"no traffic at {FOLDER}; PLAYHEAD_CORPUS names its folder", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as folder:
        accounts = [
            account_for_bytes(next(iter(CLIENTS)), exchanges, Path(folder) / "bytes"),
            account_for_objects(exchanges, Path(folder) / "objects"),
        ]
    if as_json:
        plain = [{**each._asdict(), "rows": [row._asdict() for row in each.rows]} for each in accounts]
        print(json.dumps(plain, indent=2))
    else:
        print("\n\n".join(map(write_table, accounts)))
    return 1 if any(each.unequal for each in accounts) else 0


if __name__ == "__main__":
    sys.exit(main())
