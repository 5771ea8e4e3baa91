"""How fast a recording is replayed: in process, and through a real client and SDK with nothing behind them.

In process: events per second, loading included. Through the clients: microseconds a call on top of the same call
over a transport that answers at once, for recordings of 50 to 3,000 exchanges; beside VCR.py, which matches by
method and address, and once by body as well.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from _material import completion, conversation, dumped, message, tools
from _measuring import Figure, gauge, report
from growth import URL, ask

import playhead

CHANCE = random.Random(11)
TOOLS = tools(CHANCE, 2)
ANSWER = dumped(completion(CHANCE, message(CHANCE, "assistant", 400)))
SIZES = {"httpx2": (50, 500, 3000), "the openai SDK": (50, 500)}
BUDGET_US = {"httpx2": 150.0}
"""The SDK takes milliseconds of its own, which drown what is on top: it is shown without a verdict."""


@playhead.tool
def look_up(order: str, limit: int) -> dict[str, Any]:
    """A small tool."""
    return {"order": order, "status": "shipped", "limit": limit}


def use_tools(count: int) -> None:
    """So many small exchanges."""
    for at in range(count):
        look_up(f"A-{at}", limit=at)


def bodies(count: int) -> Iterator[bytes]:
    """Requests of a conversation that keeps its last sixteen messages, 12 kB each."""
    chance = random.Random(5)
    said = conversation(chance, 16, 600)
    for _ in range(count):
        said = [*said[2:], *conversation(chance, 2, 600)]
        yield dumped({"model": "gpt-5", "messages": said, "tools": TOOLS})


def recorded(folder: str, work: Callable[[], Any]) -> Path:
    """The recording of ``work``."""
    with playhead.record(kind="bench", store=folder) as run:
        work()
    assert run.path is not None
    return run.path


def in_process(folder: str) -> list[Figure]:
    """Load and replay."""
    ready = list(bodies(300))
    figures = []
    for what, work, events, budget in (
        ("small tool events", lambda: use_tools(2000), 4000, 200_000.0),
        ("12 kB model events", lambda: [ask(body, ANSWER) for body in ready], 600, 10_000.0),
    ):
        path = recorded(folder, work)
        seen, loads = [], []
        for _ in range(3):
            gauge()
            begun = time.thread_time()
            work_replayed(path, folder, work)
            seen.append(time.thread_time() - begun)
            begun = time.thread_time()
            sum(1 for _ in playhead.load(path, store=folder))
            loads.append(time.thread_time() - begun)
        figures.append(
            Figure(f"replay in process, {what}", events / min(seen), "events/s", budget, better="higher").beside_of(
                "reading the file alone", events / min(loads)
            )
        )
    return figures


def work_replayed(path: Path, folder: str, work: Callable[[], Any]) -> None:
    """Load a recording and replay ``work`` from it."""
    with playhead.replay(path, store=folder):
        work()


def post(client: Any, count: int) -> None:
    """So many requests by the client itself."""
    for body in bodies(count):
        client.post(URL, content=body).read()


def chat(client: Any, count: int) -> None:
    """So many by the SDK."""
    import openai

    sdk = openai.OpenAI(api_key="none", base_url=URL.partition("/chat")[0], http_client=client, max_retries=0)
    said = conversation(random.Random(9), 4, 200)
    for at in range(count):
        said = [*said[-15:], {"role": "user", "content": f"question {at} about {'x' * 500}"}]
        sdk.chat.completions.create(model="gpt-5", messages=said)  # type: ignore[arg-type]


def through_clients(folder: str) -> list[Figure]:
    """The seam of `httpx2`, and the SDK of OpenAI above it, on top of what they cost themselves."""
    figures = []
    for name, work in (("httpx2", post), ("the openai SDK", chat)):
        sizes = SIZES[name]
        seen = {count: seam(folder, work, count) for count in sizes}
        for count, (cost, bare) in seen.items():
            what = f"replay through {name}, {count:,} exchanges"
            figures.append(Figure(what, cost, "us", BUDGET_US.get(name), "the client alone", bare))
        if name in BUDGET_US:
            first, last = seen[sizes[0]][0], seen[sizes[-1]][0]
            figures.append(Figure(f"{name}: a call of {sizes[-1]:,} to one of {sizes[0]}", last / first, "x", 1.25))
    return figures


def seam(folder: str, work: Callable[[Any, int], None], count: int) -> tuple[float, float]:
    """Microseconds a call on top of the client alone, and of the client alone."""
    import httpx2

    sent: list[bytes] = []

    def answer(request: Any) -> Any:
        sent.append(request.content)
        return httpx2.Response(200, headers={"content-type": "application/json"}, content=ANSWER)

    costs, bares = [], []
    path: Path | None = None
    for _ in range(3 if count < 100 else 1):
        gauge()
        sent.clear()
        with httpx2.Client(transport=httpx2.MockTransport(answer)) as client:
            bares.append(timed(lambda client=client: work(client, count)) / count)
        path = path or recorded(folder, lambda: [ask(body, ANSWER) for body in sent])
        with httpx2.Client() as client, playhead.replay(path, store=folder):
            costs.append(timed(lambda client=client: work(client, count)) / count)
    return (min(costs) - min(bares)) * 1e6, min(bares) * 1e6


def timed(work: Callable[[], object]) -> float:
    """Seconds of this thread's processor time."""
    begun = time.thread_time()
    work()
    return time.thread_time() - begun


def vcr_beside(folder: str, count: int = 50) -> dict[str, float]:
    """Microseconds a call that VCR.py takes on top of `httpx` alone, by what it matches on."""
    import httpx
    import vcr

    from playhead.testing import ModelServer, Text

    found = {}
    floor = httpx.MockTransport(lambda request: httpx.Response(200, content=ANSWER))
    for name, match_on in (("method and address", ["method", "uri"]), ("body", ["method", "uri", "body"])):
        keeper = vcr.VCR(match_on=match_on, record_mode="once")
        place = str(Path(folder) / f"{name}.yaml")
        with ModelServer(lambda request: Text("done"), padding=False) as server:
            url = server.openai_url + "/chat/completions"

            def send(client: Any, url: str = url) -> None:
                for body in bodies(count):
                    client.post(url, content=body).read()

            with httpx.Client() as client, keeper.use_cassette(place):
                send(client)
            with httpx.Client(transport=floor) as client:
                bare = timed(lambda client=client: send(client))
            with httpx.Client() as client, keeper.use_cassette(place):
                found[name] = (timed(lambda client=client: send(client)) - bare) / count * 1e6
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        figures = [*in_process(folder), *through_clients(folder)]
        others = vcr_beside(folder)
    ours = next(each.value for each in figures if each.what.startswith("replay through httpx2, 50"))
    for name, cost in others.items():
        figures.append(Figure("replay through httpx2, 50 exchanges", ours, "us").beside_of(f"VCR.py by {name}", cost))
    report("replaying", figures, note="Processor time; files are loaded before the calls through clients begin.")


if __name__ == "__main__":
    main()
