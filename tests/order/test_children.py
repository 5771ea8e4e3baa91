"""Child processes are recorded beside the run that starts them, and replayed from there."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from playhead.testing import ModelServer, Text
from tests.order.families import Family

pytestmark = pytest.mark.slow

TWICE = pytest.mark.parametrize("run", ["run-1", pytest.param("run-2", marks=pytest.mark.sweep)])
"""Who is quicker is another in each recording."""

TIMES = {"run-1": 1, "run-2": 2}


def test_what_a_child_asks_for_is_in_a_recording_of_its_own_and_answered_from_it(tmp_path: Path) -> None:
    """Also where the child asks a model, whose server is not there any more when it is replayed."""
    with ModelServer([Text("I am the model")]) as server:
        family = Family(
            tmp_path,
            f"""
            def agent():
                return output("{server.url}")
            """,
            """
            import urllib3
            said = urllib3.request("POST", sys.argv[1] + "/v1/chat/completions", json={
                "model": "gpt-x", "messages": [{"role": "user", "content": "who are you?"}]})
            print(said.json()["choices"][0]["message"]["content"], random.random())
            """,
        )
        given = family.record()
    assert given.startswith("I am the model")
    (child,) = family.children()
    assert child.started is not None
    assert child.started.starter is not None
    assert (child.started.starter.run, child.started.starter.lane) == ("run-1", "main/child.py#1")
    assert [step.question.kind for step in child.steps] == ["model.requested"]
    assert child.outcome == "success"
    assert child.sealed
    replayed, report = family.replay()
    assert replayed == given
    assert report["identical"], report
    assert [each["run"] for each in report["children"]] == [child.id]
    assert report["children"][0]["report"]["steps"] == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "way", ["spawn", *(pytest.param(way, marks=pytest.mark.sweep) for way in ("asyncio", "threads", "poll", "fork"))]
)
@TWICE
def test_the_program_learns_of_the_ends_of_its_children_in_the_recorded_order(
    way: str, run: str, tmp_path: Path
) -> None:
    ways = {
        "asyncio": """
            async def one(name):
                child = await asyncio.create_subprocess_exec(
                    sys.executable, "child.py", name, delay[name], stdout=asyncio.subprocess.PIPE)
                said, _ = await child.communicate()
                seen.append(said.decode())
            async def main():
                await asyncio.gather(*map(one, "abc"))
            asyncio.run(main())
        """,
        "threads": """
            with concurrent.futures.ThreadPoolExecutor(3) as pool:
                list(pool.map(lambda name: seen.append(output(name, delay[name])), "abc"))
        """,
        "poll": """
            left = {name: start(name, delay[name], stdout=subprocess.PIPE, text=True) for name in "abc"}
            while left:
                time.sleep(0.005)
                for name in list(left):
                    if left[name].poll() is not None:
                        seen.append(left.pop(name).communicate()[0])
        """,
        "fork": """
            context = multiprocessing.get_context("fork")
            def one(name):
                worker = context.Process(target=work, args=(name, delay[name]))
                worker.start()
                worker.join()
                seen.append([worker.exitcode, open(f"{name}.txt").read()])
            with concurrent.futures.ThreadPoolExecutor(3) as pool:
                list(pool.map(one, "abc"))
        """,
    }
    ways["spawn"] = ways["fork"].replace('"fork"', '"spawn"')
    code = """
    def work(name, delay):
        time.sleep(float(delay))
        with open(f"{name}.txt", "w") as file:
            print(look_up(name), random.random(), file=file)
        sys.exit(ord(name))

    def agent():
        # Two that end at once may meet in the program in another order than they came.
        seen, delay = [], dict(zip("abc", random.sample(["0", "0.3", "0.6"], 3)))
    """
    family = Family(
        tmp_path,
        dedent(code) + "\n".join("    " + line for line in dedent(ways[way]).splitlines()) + "\n    return seen\n",
        """
        time.sleep(float(sys.argv[2]))
        print(look_up(sys.argv[1]), random.random())
        """,
    )
    given = family.record(run)
    assert len(given) == 3
    for _ in range(TIMES[run]):
        replayed, report = family.replay(run)
        assert replayed == given
        assert report["identical"], report


@pytest.mark.slow
@TWICE
def test_the_results_of_pools_come_in_the_recorded_order_whichever_worker_did_them(run: str, tmp_path: Path) -> None:
    family = Family(
        tmp_path,
        """
        def job(number):
            time.sleep(random.random() * 0.05)
            return [number, look_up(number), random.random()]

        def agent():
            context, seen = multiprocessing.get_context("fork"), []
            with concurrent.futures.ProcessPoolExecutor(3, mp_context=context) as pool:
                for done in concurrent.futures.as_completed([pool.submit(job, number) for number in range(6)]):
                    seen.append(done.result())
            with context.Pool(3) as pool:
                seen += pool.imap_unordered(job, range(6))
                seen.append(pool.map(job, range(8)))
            pool = context.Pool(2)
            later = [pool.apply_async(job, (number,), callback=seen.append) for number in range(4)]
            pool.close()
            pool.join()
            return seen + [each.get() for each in later]
        """,
    )
    given = family.record(run)
    for _ in range(TIMES[run]):
        replayed, report = family.replay(run)
        assert replayed == given
        assert report["identical"], report
    assert family.load(run).finished.unseen == {}  # type: ignore[union-attr]


VICTIM = """
look_up("first")
print("ready", flush=True)
match sys.argv[1]:
    case "sleep": time.sleep(60)
    case "itself": os.kill(os.getpid(), signal.SIGKILL)
    case "exit":
        look_up("last")
        os._exit(5)
    case "raise": raise ValueError("as recorded")
"""


@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        ("child = ready('sleep'); child.kill(); return child.wait()", "aborted"),
        pytest.param(
            "child = ready('sleep'); child.terminate(); return child.wait()",
            "aborted",
            marks=pytest.mark.sweep,
        ),
        ("return start('itself').wait()", "aborted"),
        ("return start('exit').wait()", "failure"),
        pytest.param("return start('raise', stderr=subprocess.DEVNULL).wait()", "failure", marks=pytest.mark.sweep),
    ],
)
def test_however_a_child_ends_its_recording_is_whole_and_it_ends_so_again(
    lines: str, outcome: str, tmp_path: Path
) -> None:
    (tmp_path / "playhead.toml").write_text('durability = "every"\n')  # else what was asked last may not be on disk yet
    family = Family(tmp_path, f"def agent():\n    {lines}\n", VICTIM)
    given = family.record()
    (child,) = family.children()
    assert child.outcome == outcome
    assert child.sealed
    assert "first" in str(child.step(1).question.body)
    replayed, report = family.replay()
    assert replayed == given
    assert report["identical"], report


def test_a_child_that_was_too_slow_is_too_slow_again(tmp_path: Path) -> None:
    family = Family(
        tmp_path,
        """
        def agent():
            child = ready("sleep")
            seen = [child.poll()]
            try:
                child.communicate(timeout=0.5)
            except subprocess.TimeoutExpired:
                seen.append("expired")
            child.kill()
            return seen + [child.communicate()[0].decode(), child.returncode]
        """,
        VICTIM,
    )
    given = family.record()
    assert given == [None, "expired", "", -9]
    replayed, report = family.replay()
    assert replayed == given
    assert report["identical"], report


def test_children_of_children_are_recorded_and_replayed_alike(tmp_path: Path) -> None:
    family = Family(
        tmp_path,
        """
        def agent():
            return output("2")
        """,
        """
        depth = int(sys.argv[1])
        print(depth, look_up(depth), random.random(), output(str(depth - 1)) if depth else "")
        """,
    )
    given = family.record()
    assert given.count("value of") == 3
    replayed, report = family.replay()
    assert replayed == given
    assert report["identical"], report
    (child,) = report["children"]
    (grandchild,) = child["report"]["children"]
    assert grandchild["report"]["children"][0]["report"]["steps"] == 1


@pytest.mark.parametrize("match", ["strict", "loose"])
def test_a_child_that_diverges_is_named_and_fails_the_replay_of_its_run(match: str, tmp_path: Path) -> None:
    family = Family(
        tmp_path,
        """
        def agent():
            return start("x").wait()
        """,
        "look_up('as recorded')",
    )
    family.record()
    family.change("def agent():\n    return start('x').wait()\n", "playhead.tool(len)('changed')")
    _, report = family.replay(match=match)
    assert not report["ok"]
    assert report["divergence"]["kind"] == "child"
    assert report["divergence"]["lane"].startswith("main/child.py#1")
    assert "the child process main/child.py#1" in report["error"]
    assert "tool len" in report["error"]


def test_what_a_child_leaves_out_fails_a_strict_replay(tmp_path: Path) -> None:
    family = Family(tmp_path, "def agent():\n    return start('x').wait()\n", "look_up('one')\nlook_up('two')")
    family.record()
    family.change("def agent():\n    return start('x').wait()\n", "look_up('one')")
    given, report = family.replay()
    assert not report["ok"]
    assert "never asked in this replay: step 2 (look_up)" in report["error"]
    given, report = family.replay(match="loose")
    assert given == 0
    assert report["ok"]
    assert not report["identical"]


def test_a_child_that_was_not_recorded_reaches_nothing(tmp_path: Path) -> None:
    child = """
    import socket
    try:
        socket.create_connection(("127.0.0.1", 9), timeout=1)
    except BaseException as error:
        print(type(error).__name__)
    """
    family = Family(tmp_path, "def agent():\n    return ''\n", child)
    family.record()
    family.change("def agent():\n    return output()\n", child)
    given, report = family.replay()
    assert given == "ConnectionRefusedInReplayError\n"
    assert report["unseen"] == {"child process": 1}


@pytest.mark.sweep
def test_children_are_found_by_where_they_are_started_and_not_by_when(tmp_path: Path) -> None:
    agent = """
    import threading
    def agent():
        seen = {{}}
        def one(name):
            seen[name] = output(name)
        def two(name):
            seen[name] = output(name)
        workers = [threading.Thread(target=target, args=(target.__name__,)) for target in ({order})]
        for worker in workers:
            worker.start()
            worker.join()
        return sorted(seen.items())
    """
    child = "print(random.random())"
    family = Family(tmp_path, agent.format(order="one, two"), child)
    given = family.record()
    family.change(agent.format(order="two, one"), child)
    replayed, _ = family.replay(match="loose")
    assert replayed == given


def test_a_child_is_told_nothing_that_it_can_see(tmp_path: Path) -> None:
    """Its environment is what the program gave it, but for the seed of its hashes, which a replay has to know."""
    family = Family(
        tmp_path,
        """
        def agent():
            given = {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", ""), "MINE": "1"}
            child = start(env=given, stdout=subprocess.PIPE, text=True)
            seen = json.loads(child.communicate()[0])
            return [sorted(set(seen) - set(given)), [name for name in given if seen.get(name) != given[name]]]
        """,
        "print(json.dumps(dict(os.environ)))",
    )
    added, changed = family.record()
    assert set(added) <= {"PYTHONHASHSEED", "LC_CTYPE"}
    assert changed == []


def test_secrets_are_masked_in_children_and_are_never_in_their_environment(tmp_path: Path) -> None:
    family = Family(
        tmp_path,
        """
        def agent():
            seen = subprocess.run(["env"], stdout=subprocess.PIPE, text=True).stdout
            return seen + output("x", "--password", "pw-1234567")
        """,
        "print(look_up('the-open-sesame-word'))",
    )
    (tmp_path / "playhead.toml").write_text('secrets = ["the-open-sesame-word"]\n')
    given = family.record()
    assert given.count("the-open-sesame-word") == 1
    kept = [event for recording in (family.load(), *family.children()) for event in recording]
    assert "the-open-sesame-word" not in repr(kept)
    assert "pw-1234567" not in repr([exchange.question for exchange in family.load().exchanges])
    replayed, report = family.replay()
    assert "value of the-open-sesame-word" not in replayed  # the tool's recorded value has lost it
    assert report["ok"], report
