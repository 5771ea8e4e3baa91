"""An agent to step through: three tools in a loop, one of them failing, then two at once."""

from __future__ import annotations

from pathlib import Path

from tests.cli.commands import record, write_agent

AGENT = """
import asyncio

import playhead


@playhead.tool
def search(query):
    return query.upper()


@playhead.tool
def refund(amount):
    raise PermissionError(f"{amount} needs a manager")


@playhead.tool
async def notify(name):
    await asyncio.sleep(0.01)
    return f"told {name}"


def collect(queries):
    found = []
    for number, query in enumerate(queries):
        playhead.checkpoint({"found": list(found)})
        found.append(search(query))
    print("collected", found)
    return found


async def finish(found):
    try:
        refund(len(found))
    except PermissionError as error:
        reason = str(error)
    told = await asyncio.gather(notify("ana"), notify("bo"))
    print("finished", reason, told)


asyncio.run(finish(collect(["tea", "salt", "sugar"])))
"""

SECOND_SEARCH = AGENT.splitlines().index("        found.append(search(query))") + 1
STEPS = 6


def record_agent(folder: Path) -> None:
    """Record it under ``run-1``."""
    write_agent(folder, AGENT)
    done = record(folder)
    assert done.returncode == 0, done.stderr
