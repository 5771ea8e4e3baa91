"""How fast masking is with each engine, and what gets through, beside the usual loop of patterns over serialised JSON.

``python benchmarks/masking.py`` prints a table; ``--json`` prints the figures.
"""

from __future__ import annotations

import json
import random
import re
import string
from collections.abc import Callable
from typing import Any

from _material import text
from _measuring import Figure, median_rounds, report

from playhead.errors import ConfigurationError
from playhead.masking import Masker
from playhead.masking._engine import EngineName

BUDGETS: dict[EngineName, float] = {"re2": 75, "re": 20}
LETTERS = string.ascii_letters + string.digits
NAIVE = [
    re.compile(pattern)
    for pattern in (
        r"\bsk-[A-Za-z0-9_-]{20,200}",
        r"\bgh[pousr]_[A-Za-z0-9]{36,80}",
        r"\b[prs]k_(?:live|test)_[A-Za-z0-9]{16,64}",
        r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
        r"\bA(?:KIA|SIA)[0-9A-Z]{16}\b",
        r"\bAIza[0-9A-Za-z_-]{35}",
        r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[\s\S]*?-----END [A-Z ]{0,20}PRIVATE KEY-----",
        r"(?i)(?:authorization|cookie)[\"']?\s{0,4}[:=]\s{0,4}[\"']?[^\"'\\\r\n]{4,}",
        r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,4}\.[A-Za-z]{2,24}",
        r"(?:\+[0-9]{1,3}[ .-]?)?\(?[0-9]{3}\)?[ .-][0-9]{3}[ .-][0-9]{4}\b",
    )
]


def naive(event: Any) -> Any:
    """What many do: the whole document as text, one pattern after another."""
    line = json.dumps(event)
    for pattern in NAIVE:
        line = pattern.sub("[MASKED]", line)
    return line


def secret(chance: random.Random) -> str:
    """A made-up key of one of the usual vendors."""
    prefix, length = chance.choice([("sk-proj-", 40), ("ghp_", 36), ("pk_live_", 24), ("AIza", 35)])
    return prefix + "".join(chance.choices(LETTERS, k=length))


def content(chance: random.Random, length: int, planted: list[str]) -> str:
    """A message or tool result of prose, code, rows or log lines; one in twenty has a secret on a line of its own."""
    kind = chance.randrange(3)
    if kind == 0:
        made = text(chance, length)
    elif kind == 1:
        row = '{{"id": {}, "at": 179600{:07d}, "price": {:.2f}, "name": "{}", "note": "{}"}}'
        rows = [
            row.format(n, chance.randrange(10**7), chance.random() * 100, text(chance, 9), text(chance, 60))
            for n in range(max(1, length // 140))
        ]
        made = "[" + ", ".join(rows) + "]"
    else:
        line = "2026-11-{:02d}T10:12:{:02d}.123Z INFO svc-3 req={:x} 10.0.3.{} GET /v1/items/{} 200 {:.4f}"
        made = "\n".join(
            line.format(n % 28 + 1, n % 60, chance.getrandbits(64), n % 255, chance.randrange(10**7), chance.random())
            for n in range(max(1, length // 95))
        )
    if chance.random() < 0.05:
        planted.append(secret(chance))
        place = chance.randrange(len(made))
        made = f"{made[:place]}\n{planted[-1]}\n{made[place:]}"
    return made


def model_event(chance: random.Random, planted: list[str]) -> dict[str, Any]:
    """A model exchange of about 14 kB: twenty messages and an answer."""
    roles = ("user", "assistant", "tool")
    messages = [{"role": roles[n % 3], "content": content(chance, 600, planted)} for n in range(20)]
    return {"model": "gpt-5", "messages": messages, "answer": {"content": content(chance, 1500, planted)}}


def row_event(chance: random.Random) -> dict[str, Any]:
    """A decoded tool result of about 14 kB: eighty small objects, each with an e-mail address."""
    rows = [
        {"id": n, "email": f"{text(chance, 5).strip()}{n}@example.org", "status": "open", "note": text(chance, 60)}
        for n in range(80)
    ]
    return {"tool": "orders", "result": rows}


def main() -> None:
    chance = random.Random(7)
    planted: list[str] = []
    material = {
        "events of 14 kB": [model_event(chance, planted) for _ in range(40)],
        "results of 1 MB": [{"result": content(chance, 1_000_000, planted)} for _ in range(3)],
        "rows with an address each": [row_event(chance) for _ in range(20)],
    }
    masks: dict[str, Callable[[Any], Any]] = {"json.dumps and re.sub": naive}
    for engine in BUDGETS:
        try:
            masks[engine] = Masker(key=b"benchmark", engine=engine).value
        except ConfigurationError:
            continue
    speeds = {}
    for name, events in material.items():
        size = sum(len(json.dumps(event)) for event in events)
        cases = {mask: lambda run=run, events=events: [run(one) for one in events] for mask, run in masks.items()}
        speeds[name] = {mask: size / taken for mask, taken in median_rounds(cases, rounds=7).items()}
    everything = [event for events in material.values() for event in events]
    leaks = {mask: leaked([run(event) for event in everything], planted) for mask, run in masks.items()}
    figures = [
        Figure(
            f"{engine}, {name}",
            speeds[name][engine],
            "MB/s",
            budget=None if name.startswith("rows") else BUDGETS[engine],
            better="higher",
        ).beside_of("json.dumps and re.sub", speeds[name]["json.dumps and re.sub"])
        for engine in BUDGETS
        if engine in masks
        for name in material
    ]
    note = f"Of {len(planted)} planted secrets got through: " + ", ".join(f"{leaks[mask]} ({mask})" for mask in masks)
    report("masking", figures, note=note, extra={"speeds": speeds, "planted": len(planted), "leaked": leaks})


def leaked(masked: list[Any], planted: list[str]) -> int:
    """How many of the ``planted`` secrets are in what is ``masked``."""
    kept = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in masked)
    return sum(one in kept for one in planted)


if __name__ == "__main__":
    main()
