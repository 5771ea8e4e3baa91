"""``playhead show --state``: the state as of a step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import record, type_in, write_agent
from tests.cli.stepping import record_agent

pytestmark = pytest.mark.slow


def test_the_state_as_of_a_step_and_of_the_end_is_shown(tmp_path: Path) -> None:
    record_agent(tmp_path)
    at_third = type_in(tmp_path, "show", "run-1#3", "--state")
    assert (at_third.returncode, at_third.stdout) == (0, "{'found': ['TEA', 'SALT']}\n")
    assert type_in(tmp_path, "show", "run-1", "--state").stdout == at_third.stdout
    data = json.loads(type_in(tmp_path, "show", "run-1#2", "--state", "--json").stdout)
    assert data == {"run": "run-1", "step": 2, "state": {"found": ["TEA"]}}
    both = type_in(tmp_path, "show", "run-1#2", "--state", "--raw")
    assert (both.returncode, "--state shows the state alone" in both.stderr) == (2, True)


def test_where_none_was_kept_the_answer_is_no(tmp_path: Path) -> None:
    write_agent(tmp_path)
    record(tmp_path)
    done = type_in(tmp_path, "show", "run-1#1", "--state")
    assert done.returncode == 1
    assert "no state was kept before step 1" in done.stderr
