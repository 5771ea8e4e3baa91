"""How long a suite of 200 recordings takes on two cores, beside running its agents once more against the model server.

The agent asks a model twice through the SDK of OpenAI, looks something up and notifies somebody. "As scripts" starts an
interpreter for each run, two at a time, as a shell script of regression tests would (it is measured on some of them);
"in one process each" runs a hundred in each of two processes, which nothing but the server's own speed limits. The
server is scripted and answers
at once: a real model takes seconds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from _measuring import Figure, gauge, report

from playhead._program import play_suite
from playhead.eventlog import pack
from playhead.providers.writing import Answer, Request
from playhead.stores import LocalStore
from playhead.suite import Summary, read_suite
from playhead.testing import ModelServer, Text

RUNS = 200
SCRIPTS = 40
"""So many are started as scripts; the others would take as long."""
JOBS = 2
SOURCE = Path(__file__).resolve().parent.parent / "src"

AGENT = """
import sys

import openai

import playhead

PROMPT = "You answer in one friendly sentence."


@playhead.tool
def look_up(order):
    return {"order": order, "status": "shipped"}


@playhead.tool
def notify(order, text):
    return "sent"


def ask(client, said):
    return client.chat.completions.create(model="gpt-5", messages=said).choices[0].message.content


@playhead.agent(kind="shop")
def shop(order):
    client = openai.OpenAI()
    said = [{"role": "system", "content": PROMPT}, {"role": "user", "content": f"Where is {order}?"}]
    said.append({"role": "assistant", "content": ask(client, said)})
    said.append({"role": "user", "content": str(look_up(order))})
    answer = ask(client, said)
    notify(order, answer)
    return answer


if __name__ == "__main__":
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        shop.__wrapped__(f"A-{number}")
"""


def answer(request: Request) -> Answer:
    """The model."""
    return Text("It is on its way.")


def run_all(folder: Path, spans: Sequence[tuple[int, int]]) -> float:
    """Run the agent as it is, without playhead, ``JOBS`` processes at a time; seconds."""

    def start(span: tuple[int, int]) -> None:
        subprocess.run([sys.executable, "agent.py", *map(str, span)], cwd=folder, check=True)

    begun = time.perf_counter()
    with ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(start, spans))
    return time.perf_counter() - begun


def record_all(folder: Path) -> None:
    """Two hundred recordings of the agent as a suite."""
    code = f"import agent\nfor number in range({RUNS}): agent.shop(f'A-{{number}}')"
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
    (folder / "runs").mkdir()
    for path in (folder / ".playhead" / "recordings").iterdir():
        pack(path, folder / "runs" / f"{path.name}.jsonl")


def play(folder: Path, **how: object) -> Summary:
    """Play the suite."""
    fixtures = read_suite(folder / "runs", **how)  # type: ignore[arg-type]
    return play_suite(fixtures, LocalStore(folder / ".playhead"), folder="runs", jobs=JOBS)


def change(folder: Path, before: str, after: str) -> None:
    """Change the agent."""
    path = folder / "agent.py"
    path.write_text(path.read_text().replace(before, after))


def verdicts(folder: Path) -> dict[str, str]:
    """What the suite says of a prompt edit and of a tool call that is dropped."""
    found = {}
    change(folder, "one friendly", "one short")
    for match in ("strict", "loose"):
        found[f"prompt edit, {match}"] = str(play(folder, match=match, only=["*-0*"]))
    change(folder, "one short", "one friendly")
    change(folder, "    notify(order, answer)\n", "")
    for match in ("strict", "loose"):
        summary = play(folder, match=match, only=["*-0*"])
        steps = {problem.step for result in summary.results for problem in result.problems}
        found[f"dropped tool call, {match}"] = f"{summary}, at step {sorted(map(str, steps))}"
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as name, ModelServer(answer) as server:
        folder = Path(name)
        (folder / "agent.py").write_text(AGENT)
        (folder / "pyproject.toml").write_text("")
        os.environ |= {"OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "none", "PYTHONPATH": str(SOURCE)}
        record_all(folder)
        gauge()
        scripts = run_all(folder, [(number, number + 1) for number in range(SCRIPTS)]) * RUNS / SCRIPTS
        halves = run_all(folder, [(0, RUNS // 2), (RUNS // 2, RUNS)])
        hits = server.hits
        summary = play(folder)
        gauge()
        assert server.hits == hits, "a replay went live"
        assert summary.count("held") == RUNS, str(summary)
        took = summary.took_ns / 1e9
        figures = [
            Figure(f"suite of {RUNS}, {JOBS} at a time", took, "s", ratio_budget=0.5).beside_of("as scripts", scripts),
            Figure("the same", took, "s").beside_of("in one process each", halves),
        ]
        report("suite", figures, extra={"verdicts": verdicts(folder)})


if __name__ == "__main__":
    main()
