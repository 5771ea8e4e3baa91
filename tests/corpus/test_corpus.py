"""Every exchange of the public traffic is the same to its client while recording and while replaying."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.corpus.clients import CLIENTS
from tests.corpus.judging import Account, account_for_bytes, account_for_objects, write_table
from tests.corpus.traffic import FOLDER, read_exchanges

pytest.importorskip("yaml")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no corpus at {FOLDER}; PLAYHEAD_CORPUS names its folder"),
]

EVERY = 5
"""One exchange in so many is enough for a further client: what it shares with the first has been tested."""


def need(client: str) -> None:
    package = CLIENTS[client][0]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")


def expect_equal(account: Account) -> None:
    print(f"\n{write_table(account)}")
    assert account.unequal == []
    assert account.count("equal") + account.count("masked") == account.count("total") > 0


def test_every_exchange_comes_back_equal_and_streams_are_kept_merged(tmp_path: Path) -> None:
    """B22: status, headers and bytes; a stream may differ in what its client cannot see."""
    need("httpx2")
    account = account_for_bytes("httpx2", read_exchanges(), tmp_path)
    expect_equal(account)
    merged, raw = (account.count(field, family="events") for field in ("merged", "raw"))
    assert merged >= 0.95 * (merged + raw) > 0


@pytest.mark.parametrize("client", [name for name in CLIENTS if name != "httpx2"])
def test_the_other_clients_get_equal_exchanges_too(client: str, tmp_path: Path) -> None:
    need(client)
    start = list(CLIENTS).index(client)
    expect_equal(account_for_bytes(client, read_exchanges()[start::EVERY], tmp_path))


def test_the_real_sdks_make_the_same_objects_of_every_exchange(tmp_path: Path) -> None:
    account = account_for_objects(read_exchanges(), tmp_path)
    if not account.rows:
        pytest.skip("none of the SDKs is installed")
    expect_equal(account)
