"""Many at once: every stream arrives whole, and a replay answers in the recorded order."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from playhead.boundary import outside_runs
from playhead.testing import Answer, ModelServer, Request, Text
from tests.cli.commands import environment, type_in
from tests.gateway.standing import Client, question, recorded, replayed

CROWD = 200
PARALLEL = """
import asyncio, openai
client = openai.AsyncOpenAI()
board = []

async def ask(number):
    said = [{"role": "user", "content": f"part {number}: {' '.join(board)}"}]
    answer = await client.chat.completions.create(model="gpt-4o", messages=said)
    board.append(f"{number}={answer.choices[0].message.content}")
    said = [*said, {"role": "user", "content": " ".join(board)}]
    await client.chat.completions.create(model="gpt-4o", messages=said)

async def main():
    await asyncio.gather(*map(ask, range(6)))
    print(board)

asyncio.run(main())
"""


def ask_all(url: str) -> dict[int, bytes]:
    begin = threading.Barrier(CROWD)

    def ask(number: int) -> bytes:
        with outside_runs():
            client = Client(url)
            begin.wait(60)
            status, body = client.ask(question(f"I am number {number}"))
            client.close()
            assert status == 200
            return body

    with ThreadPoolExecutor(CROWD) as pool:
        return dict(enumerate(pool.map(ask, range(CROWD))))


def by_number(delay: Callable[[int], float]) -> Callable[[Request], Answer]:
    def script(request: Request) -> Answer:
        number = int(request.user_text.split()[-1])
        return Text(f"you are number {number} of them all", chunk_delay=delay(number))

    return script


def test_two_hundred_streams_at_once_arrive_whole_and_do_so_again(tmp_path: Path) -> None:
    script = by_number(lambda number: 0.001 * (number % 7))
    with ModelServer(script, padding=False) as server, recorded(tmp_path, openai=server.openai_url) as gateway:
        then = ask_all(gateway.url("openai"))
    assert all(str(number).encode() in body for number, body in then.items())
    with replayed(tmp_path, openai=server.openai_url) as (gateway, report):
        now = ask_all(gateway.url("openai"))
    assert now == then
    assert report.answered == CROWD


def test_parallel_requests_of_one_program_come_out_the_same_each_time(tmp_path: Path) -> None:
    """What each asks next depends on who was answered before, so that another order would be a divergence."""
    (tmp_path / "agent.py").write_text(PARALLEL)
    delays = {number: 0.15 * ((number * 5 + 3) % 6) for number in range(6)}

    def script(request: Request) -> Answer:
        number = int(request.user_text.split()[1].rstrip(":")) if request.user_text.startswith("part") else 0
        return Text("seen", delay=delays[number])

    with ModelServer(script) as server:
        env = environment(OPENAI_API_KEY="sk-test", OPENAI_BASE_URL=server.openai_url)
        then = type_in(tmp_path, "gateway", "--id", "run-1", "--", sys.executable, "agent.py", env=env)
    assert then.stdout.startswith("["), then.stderr
    now = type_in(tmp_path, "replay", "run-1")
    assert now.stdout.splitlines()[0] == then.stdout.strip(), now.stdout
    assert now.returncode == 0


@pytest.mark.sweep
@pytest.mark.parametrize(("match", "code"), [("strict", 1), ("loose", 0)])
def test_an_answer_that_is_held_for_what_never_comes_is_given_up_and_that_is_said(
    tmp_path: Path, match: str, code: int
) -> None:
    body = '{"model": "m", "messages": [{"role": "user", "content": "%s"}]}'
    ask = f"curl -s $OPENAI_BASE_URL/chat/completions -d '{body}'"
    slow, quick = ask % "slow", ask % "quick"
    with ModelServer(lambda request: Text("yes", delay=1.0 if "slow" in request.user_text else 0.0)) as server:
        env = environment(OPENAI_BASE_URL=server.openai_url)
        type_in(tmp_path, "gateway", "--id", "run-1", "--", "bash", "-c", f"{slow} & sleep 0.3; {quick}; wait", env=env)
    now = type_in(tmp_path, "replay", "run-1", "--match", match, "--", "bash", "-c", slow)
    assert "the order cannot be kept" in now.stdout, now.stdout + now.stderr
    assert now.returncode == code


@pytest.mark.sweep
def test_a_fork_goes_live_through_the_gateway(tmp_path: Path) -> None:
    (tmp_path / "agent.sh").write_text(
        """for n in 1 2 3; do
body="{\\"model\\": \\"m\\", \\"messages\\": [{\\"role\\": \\"user\\", \\"content\\": \\"part $n\\"}]}"
curl -s $OPENAI_BASE_URL/chat/completions -d "$body" | grep -o '"content": *"[^"]*"'; done"""
    )
    with ModelServer(Text("then")) as server:
        port = int(server.url.rpartition(":")[2])
        env = environment(OPENAI_BASE_URL=server.openai_url)
        type_in(tmp_path, "gateway", "--id", "run-1", "--", "bash", "agent.sh", env=env)
    with ModelServer(Text("now"), port=port) as server:
        done = type_in(tmp_path, "fork", "run-1", "--at", "1", "--id", "run-2")
        assert (done.returncode, server.hits) == (0, 2), done.stdout + done.stderr
    assert [("then" in line, "now" in line) for line in done.stdout.splitlines()[:3]] == [
        (True, False),
        (False, True),
        (False, True),
    ]
