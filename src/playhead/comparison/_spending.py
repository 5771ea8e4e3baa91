"""What the models of a run have used by a step: tokens as the wire counts them, and money where there is a price."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

import msgspec

from playhead.eventlog import Exchange, Recording
from playhead.events import ModelRequested


class Spent(msgspec.Struct, frozen=True):
    """Sums over the model exchanges so far. What is not known is counted apart and never taken for 0.

    ``uncounted`` are exchanges without usage, or whose usage is a lower bound; ``unpriced`` are those without a known
    price, ``usd`` is that of the others.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    usd: float = 0.0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens


def has_prices() -> bool:
    """Whether there is a list of prices: the package ``genai-prices``."""
    return find_spec("genai_prices") is not None


class Spending:
    """Sums up a recording step by step; each step is read once."""

    def __init__(self, recording: Recording) -> None:
        self._steps = recording.steps
        self._sums = [Spent()]
        self._price = _pricer()

    def sum_up(self, exchanges: Iterable[Exchange]) -> Spent:
        """What was used in these."""
        total = Spent()
        for exchange in exchanges:
            total = self._add(total, exchange)
        return total

    def up_to(self, step: int) -> Spent:
        """What was used by the end of ``step``."""
        while len(self._sums) <= step:
            self._sums.append(self._add(self._sums[-1], self._steps[len(self._sums) - 1]))
        return self._sums[step]

    def _add(self, before: Spent, exchange: Exchange) -> Spent:
        question, answer = exchange.question.body, exchange.answer
        if not exchange.question.kind.startswith("model."):
            return before
        body: Any = answer.body if answer is not None else None
        usage: dict[str, Any] = getattr(body, "usage", None) or {}
        counts = usage.get("input_tokens"), usage.get("output_tokens")
        usd = None
        if self._price is not None and isinstance(question, ModelRequested) and None not in counts:
            usd = self._price(question, getattr(body, "version", None), usage)
        return Spent(
            input_tokens=before.input_tokens + (counts[0] or 0),
            output_tokens=before.output_tokens + (counts[1] or 0),
            uncounted=before.uncounted + (None in counts or bool(usage.get("partial"))),
            usd=before.usd + (usd or 0.0),
            unpriced=before.unpriced + (usd is None),
        )


def _pricer() -> Any:
    try:
        import genai_prices
    except ImportError:
        return None

    def price(question: ModelRequested, version: str | None, usage: dict[str, Any]) -> float | None:
        amounts = genai_prices.Usage(
            input_tokens=usage["input_tokens"],
            output_tokens=usage["output_tokens"],
            cache_read_tokens=usage.get("cached_input_tokens"),
            cache_write_tokens=usage.get("cache_write_tokens"),
        )
        try:
            found = genai_prices.calc_price(amounts, version or question.model or "", provider_api_url=question.url)
        except (LookupError, ValueError):
            return None
        return float(found.total_price)

    return price
