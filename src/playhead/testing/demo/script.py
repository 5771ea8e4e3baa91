"""What the model says to the ticket-triage agent.

It decides by what the conversation already holds, so it serves any ticket and any number of agents at once.
"""

from __future__ import annotations

import json
import re
from typing import Any

from playhead.providers.writing import Answer, Request, Text, ToolCall, ToolCalls
from playhead.testing._server import ModelServer

__all__ = ["answer", "serve"]

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ORDER = re.compile(r"#([A-Z]+-\d+)")
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?) ?(?:EUR|USD|€|\$)")


def serve() -> ModelServer:
    """A server that plays the model of the demo."""
    return ModelServer(answer)


def answer(request: Request) -> Answer:
    """The next turn of the model: look up, look up, read the policy, try the refund, reply."""
    known = [json.loads(result.content) for result in request.tool_results]
    ticket = request.user_text
    order = found[1] if (found := _ORDER.search(ticket)) else "unknown"
    match len(known):
        case 0:
            email = found[0] if (found := _EMAIL.search(ticket)) else "unknown"
            return _call("lookup_customer", "Let me see who this is.", email=email)
        case 1:
            return _call("search_orders", None, customer_id=(known[0] or {}).get("id", "unknown"))
        case 2:
            return _call("read_policy", "The order is there. What does the policy say?", topic="damaged")
        case 3:
            return _call("issue_refund", None, order_id=order, amount=_amount(ticket, known[1], order))
        case _:
            return Text(_reply(known, order, careful="Never promise" in _instructions(request)))


def _call(tool: str, words: str | None, **arguments: Any) -> ToolCalls:
    return ToolCalls([ToolCall(tool, arguments)], text=words)


def _amount(ticket: str, orders: list[dict[str, Any]], order: str) -> float:
    for entry in orders:
        if entry["id"] == order:
            return float(entry["total"])
    return float(found[1]) if (found := _AMOUNT.search(ticket)) else 0.0


def _reply(known: list[Any], order: str, *, careful: bool) -> str:
    """Under the first wording of the instructions the model takes the failed refund for a done one."""
    customer = (known[0] or {}).get("name", "there").split()[0]
    if "error" in known[3] and careful:
        return f"Hi {customer}, a manager has to approve the refund for #{order}; we have asked, and will write again."
    return f"Hi {customer}, so sorry about that! #{order} is refunded, the money is with you in 3 to 5 days."


def _instructions(request: Request) -> str:
    return next((entry["content"] for entry in request.conversation if entry["role"] == "system"), "")
