"""Values come back as they were."""

from __future__ import annotations

import datetime
import decimal

import msgspec

from playhead.events._snapshot import freeze
from playhead.events._values import decode


def test_a_value_with_dates_and_decimals_comes_back_equal() -> None:
    value = {"at": datetime.datetime(2026, 1, 1), "price": decimal.Decimal("1.10"), (1, 2): {1, 2}}
    assert decode(msgspec.json.decode(msgspec.json.encode(freeze(value)))) == value
