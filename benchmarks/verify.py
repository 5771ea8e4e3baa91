"""What verifying, reading and writing a recording cost, beside SHA-256 over the same bytes in the same run.

``python benchmarks/verify.py`` prints a table; ``--json`` prints the figures.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from _measuring import Figure, gauge, keep

from playhead.eventlog import Header, LogWriter, open_recording, verify

ROUNDS = 5
WORDS = [f"word{number}" for number in range(4000)]


def bodies(size: int, count: int) -> list[bytes]:
    """Bodies of about ``size`` bytes of text that compresses as prose does."""
    chance = random.Random(size)
    return [
        b'{"value":"%b"}' % " ".join(chance.choices(WORDS, k=max(1, size // 9))).encode()[: size - 12]
        for _ in range(count)
    ]


def write(folder: Path, texts: list[bytes]) -> LogWriter:
    """A run of ``texts``, committed every 200 events."""
    log = LogWriter(folder / "a", Header(run="a", kind="bench", created_ns=0))
    for number, text in enumerate(texts):
        log.append(kind="tool.returned", lane="main", at_ns=time.time_ns(), mono_ns=number * 1000, body=text)
        if number % 200 == 199:
            log.commit()
    log.commit()
    return log


def best(work: Callable[[], object]) -> float:
    """Seconds of processor time, of the best of some rounds."""
    times = []
    for _ in range(ROUNDS):
        gauge()
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)


def measure(size: int, count: int) -> dict[str, float]:
    """Figures for ``count`` events of ``size`` bytes."""
    with tempfile.TemporaryDirectory() as one:
        begun = time.process_time()
        log = write(Path(one), bodies(size, count))
        written = time.process_time() - begun
        plain = log.path.read_bytes()
        begun = time.process_time()
        sealed = log.seal()
        sealing = time.process_time() - begun
        whole = best(lambda: sha256(plain).digest())
        each = best(lambda: [sha256(line).digest() for line in plain.split(b"\n")])
        checked = best(lambda: verify(sealed))
        checked_plain = best(lambda: verify(plain))
        read = best(lambda: sum(1 for _ in open_recording(sealed)))
        opened = best(lambda: len(open_recording(sealed)))
        return {
            "event_bytes": len(plain) / count,
            "events": count,
            "stored_share": sealed.stat().st_size / len(plain),
            "write_events_per_s": count / written,
            "seal_mb_per_s": len(plain) / sealing / 1e6,
            "verify_mb_per_s": len(plain) / checked / 1e6,
            "verify_events_per_s": count / checked,
            "verify_plain_events_per_s": count / checked_plain,
            "verify_to_sha256": checked / whole,
            "verify_to_sha256_by_line": checked / each,
            "open_events_per_s": count / opened,
            "read_events_per_s": count / read,
        }


def main() -> None:
    figures = {"small": measure(60, 40_000), "14 kB": measure(14_000, 2_000), "1 MB": measure(1_000_000, 30)}
    large, small = figures["14 kB"], figures["small"]
    digest = large["verify_mb_per_s"] * large["verify_to_sha256"]
    fast = Figure("verify, events of 14 kB", large["verify_mb_per_s"], "MB/s", 300, better="higher")
    many = Figure("verify, small events", small["verify_events_per_s"], "events/s", 500_000, better="higher")
    keep("verify", [fast.beside_of("SHA-256", digest), many], extra={"figures_by_size": figures})
    if "--json" in sys.argv:
        print(json.dumps(figures, indent=2))
        return
    for name in next(iter(figures.values())):
        print(f"{name:28}" + "".join(f"{row[name]:>16,.2f}" for row in figures.values()))
    print("\nbudgets: verify >= 300 MB/s at 14 kB, >= 500,000 small events/s; columns: " + ", ".join(figures))


if __name__ == "__main__":
    main()
