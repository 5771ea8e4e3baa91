"""``python -m playhead.testing.demo``, also ``playhead demo``: record, replay offline, diverge. It needs no key."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from playhead.testing.demo import AGENT_PATH, serve

_MOST_LINES = 24


class Story:
    """The demo, told step by step: what is done, the command that does it, what came out, whether that was as told."""

    def __init__(self, folder: Path, store: Path, *, quiet: bool) -> None:
        self.folder = folder
        self.store = store
        self.quiet = quiet
        self.steps: list[dict[str, Any]] = []
        self.run = ""
        self.said = ""
        self.environment: dict[str, str] = {}

    def tell(self, text: str = "") -> None:
        """Say something to the person, unless a program is reading."""
        if not self.quiet:
            print(text, flush=True)

    def step(self, name: str, title: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Do the next step of the story with ``playhead``, as the person would, in the agent's folder."""
        words = ["python" if word == sys.executable else word for word in arguments]
        command = " ".join([*(f"{key}={value}" for key, value in variables.items()), shlex.join(["playhead", *words])])
        self.tell(f"\n{len(self.steps) + 1}. {title}\n\n   $ {command}")
        store = ("--store", str(self.store))
        ended = subprocess.run(
            [sys.executable, "-m", "playhead.cli", arguments[0], *store, *arguments[1:]],
            cwd=self.folder,
            env={**self.environment, **variables},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        lines = (ended.stdout + ended.stderr).splitlines()
        for line in lines[:_MOST_LINES]:
            self.tell(f"   | {line}")
        if len(lines) > _MOST_LINES:
            self.tell(f"   | … and {len(lines) - _MOST_LINES} more lines")
        self.steps.append({"name": name, "command": command, "exit_code": ended.returncode})
        return ended

    def check(self, told: str, *, holds: bool, **facts: Any) -> None:
        """Whether the last step came out as it should."""
        self.steps[-1] |= {"told": told, "holds": holds, **facts}
        self.tell(f"\n   {told}" if holds else f"\n   THIS WAS TO COME OUT, AND DID NOT: {told}")

    def replay(self, name: str, title: str, *options: str, **variables: str) -> tuple[Any, dict[str, Any]]:
        """A step that replays the run; also gives the report."""
        path = self.folder / f"{name}.json"
        ended = self.step(name, title, "replay", self.run, *options, "--report", path.name, **variables)
        report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return ended, report


def record(story: Story) -> None:
    """Record the agent, which fails: its refund is turned down, and it promises it all the same."""
    with serve() as server:
        story.environment = _environment(server.openai_url)
        title = "Record a run of agent.py. Nothing in it changes; the openai SDK and its four tools are the real ones."
        ended = story.step("record", title, "record", "--kind", "triage", "--", sys.executable, "agent.py")
        hits = server.hits
    found = re.search(r"^recorded (\S+) \(failure, 9 steps\)", ended.stderr, re.MULTILINE)
    story.run, story.said = found[1] if found else "none", ended.stdout
    story.check(
        f"The model was asked {hits} times, over HTTP. The agent failed: its reply promises what was turned down. "
        "The model server is stopped now.",
        holds=found is not None and ended.returncode == 1 and hits == 5,
        hits=hits,
    )


def look(story: Story) -> None:
    """Find the step at which it went wrong."""
    ended = story.step("show", "Look at it, step by step.", "show", story.run)
    told = "Step 8 failed with 403; step 9 says that the money is on its way."
    story.check(told, holds=ended.returncode == 0 and "403" in ended.stdout)


def replay_strictly(story: Story) -> None:
    """Replay the same program: same output, no connection."""
    title = "Replay it, with no model to talk to. Every answer comes from the recording, the clock and chance too."
    ended, report = story.replay("strict", title)
    equal = bool(story.said) and ended.stdout.startswith(story.said)
    refused = len(report.get("refused", ()))
    story.check(
        "The output is the same to the letter, its date and random reference included. Nothing was connected to.",
        holds=ended.returncode == 0 and report.get("ok") is True and report["answered"] == 9 and equal and not refused,
        equal_output=equal,
        connections=refused,
    )


def replay_patched(story: Story) -> None:
    """Replay the agent with other instructions, strictly: the first difference is named."""
    title = "Change the agent (TRIAGE_PROMPT=v2 gives it other instructions) and replay strictly."
    ended, report = story.replay("patched", title, TRIAGE_PROMPT="v2")
    paths = [each["path"] for each in (report.get("divergence") or {}).get("differences", ())]
    story.check(
        "It diverged at step 1: the field that changed is named, and its words. The changed question went nowhere.",
        holds=ended.returncode == 1 and paths == ["/messages/0/content"] and "[-" in ended.stdout,
        paths=paths,
    )


def replay_loosely(story: Story) -> None:
    """Replay it loosely: it holds, and what drifted is listed."""
    title = "The change was meant: replay loosely, where the same question in other words is answered."
    ended, report = story.replay("loose", title, "--match", "loose", TRIAGE_PROMPT="v2")
    drift = [entry.get("step") for entry in report.get("drift", ())]
    story.check(
        f"It held to the end, with the drift listed: {len(drift)} questions to the model had other instructions.",
        holds=ended.returncode == 0 and report.get("ok") is True and drift == [1, 3, 5, 7, 9],
        drift=drift,
    )


def _environment(base_url: str) -> dict[str, str]:
    """The child's environment: ours, without settings that would tell another story, and no way out but the server."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("PLAYHEAD_", "OPENAI_", "TRIAGE_"))}
    no_proxy = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    if "PYTHONPATH" in kept:  # the agent runs in another folder
        kept["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, kept["PYTHONPATH"].split(os.pathsep)))
    width = {"COLUMNS": str(min(shutil.get_terminal_size().columns, 120) - len("   | "))}
    return {**kept, **no_proxy, **width, "PYTHONUTF8": "1", "OPENAI_API_KEY": "needs-none", "OPENAI_BASE_URL": base_url}


def main(arguments: list[str] | None = None) -> int:
    """Tell the story; 0 when all of it came out as told, 1 otherwise, 2 where the SDK is missing."""
    parser = argparse.ArgumentParser(prog="playhead demo", description=__doc__)
    parser.add_argument("--store", metavar="PATH", help="keep the recording there (default: a temporary folder)")
    parser.add_argument("--json", action="store_true", help="print a summary for programs instead of the story")
    options = parser.parse_args(arguments)
    if find_spec("openai") is None:
        print("error: the demo's agent uses the openai SDK, which is not installed here", file=sys.stderr)
        print("  next: pip install 'playhead[demo]'", file=sys.stderr)
        return 2
    folder = Path(tempfile.mkdtemp(prefix="playhead-demo-"))
    shutil.copy(AGENT_PATH, folder / "agent.py")
    store = Path(options.store).absolute() if options.store else folder / ".playhead"
    story = Story(folder, store, quiet=options.json)
    story.tell(f"A support agent triages a ticket, against a scripted model on this machine. It is in {folder}.")
    for chapter in (record, look, replay_strictly, replay_patched, replay_loosely):
        chapter(story)
    ok = all(step["holds"] for step in story.steps)
    if options.json:
        facts = {"ok": ok, "run": story.run, "store": str(store), "folder": str(folder), "steps": story.steps}
        print(json.dumps(facts, indent=2))
        return 0 if ok else 1
    where = f" --store {shlex.quote(str(store))}" if options.store else ""
    story.tell("\nAll of it came out as told." if ok else "\nNot all of it came out as told.")
    story.tell(f"Go on by yourself:\n   $ cd {shlex.quote(str(folder))}")
    key = "OPENAI_API_KEY=none "  # without any, the SDK does not start
    for before, words in (("", f"show '{story.run}#8'"), (key, f"replay {story.run}"), ("", f"verify {story.run}")):
        story.tell(f"   $ {before}{_playhead()} {words}{where}")
    return 0 if ok else 1


def _playhead() -> str:
    """What to type for ``playhead``: its environment need not be the shell's."""
    beside = Path(sys.executable).with_name("playhead")
    if shutil.which("playhead") is not None:
        return "playhead"
    return shlex.quote(str(beside)) if beside.exists() else f"{shlex.quote(sys.executable)} -m playhead.cli"


if __name__ == "__main__":
    sys.exit(main())
