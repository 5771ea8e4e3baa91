"""Checks that are there by name, and what they look at.

Each looks at one step at a time and is bad from the first one on that breaks it, so all of them are monotonic.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from playhead.bisection._checks import GOOD, Check, Judgement, all_of, held_so_far
from playhead.bisection._prefixes import Prefix
from playhead.comparison import has_prices
from playhead.errors import UsageError
from playhead.eventlog import Recording, counted, printable
from playhead.events import ToolCalled, canonical
from playhead.providers import ToolCallSeen, answer_schema, find_faults, read_outcome, tool_names, tool_schemas


class Rule(msgspec.Struct, frozen=True):
    """What a named check is for, and what it takes: ``argument`` is how it is written, empty where it takes none."""

    name: str
    argument: str
    meaning: str
    make: Callable[[str], Check]


def make_check(rules: Sequence[str]) -> Check:
    """One check of several rules, each ``NAME`` or ``NAME=ARGUMENT``. Raises `UsageError` for what is no rule."""
    return held_so_far(all_of([_make(text) for text in rules]))


def _make(text: str) -> Check:
    name, sign, argument = text.partition("=")
    rule = RULES.get(name)
    if rule is None:
        raise UsageError(
            f"there is no rule {printable(name)!r}; there are {', '.join(RULES)}", next="playhead bisect --help"
        )
    if bool(sign) and not rule.argument:
        raise _unusable(rule, "takes no argument")
    if not sign and rule.argument and not rule.argument.startswith("["):
        raise _unusable(rule, "needs an argument")
    return rule.make(argument)


def _unusable(rule: Rule, why: str) -> UsageError:
    return UsageError(f"the rule {rule.name} {why}: {rule.meaning}", next=f"playhead bisect RUN --rule {_usage(rule)}")


def _usage(rule: Rule) -> str:
    argument = rule.argument.strip("[]").removeprefix("=")
    return f"{rule.name}={argument}" if argument else rule.name


def _number(name: str, text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = -1.0
    if not 0 <= amount < float("inf"):
        raise _unusable(RULES[name], f"cannot be {printable(text)!r}")
    return amount


def _arguments(_: str) -> Check:
    return arguments_fit


def arguments_fit(prefix: Prefix) -> Judgement:
    """Whether the tool calls of a step have arguments that follow the schema that the model was given of them.

    Of a model's answer that is what it asked for. Of a tool call it is what the program passed on, as far as the
    schema names it: what a program adds for itself (a connection, a user) is its own business.
    """
    if prefix.kind == "model":
        schemas = tool_schemas(prefix.provider, prefix.context)
        faults = [_judge_call(call, schemas.get(call.name)) for call in prefix.tool_calls]
        return next((Judgement("bad", fault) for fault in faults if fault), GOOD)
    schema = tool_schemas(_provider_of(prefix), prefix.context).get(prefix.name)
    body = prefix.exchange.question.body
    if schema is None or not isinstance(body, ToolCalled) or not isinstance(body.arguments, dict):
        return GOOD
    named = schema.get("properties") or {}
    found = find_faults(schema, {name: value for name, value in body.arguments.items() if name in named})
    return Judgement("bad", f"{prefix.name}: {_told(found)}") if found else GOOD


def _judge_call(call: ToolCallSeen, schema: dict[str, Any] | None) -> str:
    if schema is None:
        return ""
    if call.verdict == "empty":
        value: Any = {}
    elif call.verdict == "ok":
        value = json.loads(call.arguments)
    else:
        return f"{call.name}: the arguments are {call.verdict.replace('_', ' ')}"
    found = find_faults(schema, value)
    return f"{call.name}: {_told(found)}" if found else ""


def _told(faults: Sequence[Any]) -> str:
    more = f", and {counted(len(faults) - 3, 'fault')} more" if len(faults) > 3 else ""
    return ", ".join(map(str, faults[:3])) + more


def _provider_of(prefix: Prefix) -> str:
    """The wire format of the model that was asked last before a tool's step."""
    return next((each.provider for each in reversed(prefix.steps) if each.kind == "model"), "")


def _tool_existed(_: str) -> Check:
    def check(prefix: Prefix) -> Judgement:
        request = prefix.context if prefix.tool_calls else None
        offered = tool_names(prefix.provider, request) if isinstance(request, dict) else []
        if not isinstance(request, dict) or "mcp_servers" in request or any(n.startswith("mcp") for n in offered):
            return GOOD  # what a server of tools offers is not in the request
        missing = [call.name for call in prefix.tool_calls if call.name not in offered]
        known = ", ".join(offered[:8]) or "none"
        return Judgement("bad", f"the model called {missing[0]!r}; it was offered {known}") if missing else GOOD

    return check


def _result_validated(_: str) -> Check:
    def check(prefix: Prefix) -> Judgement:
        if prefix.kind == "tool":
            return _judge_result(prefix)
        schema = answer_schema(prefix.context) if prefix.provider and not prefix.tool_calls else None
        if schema is None or not isinstance(prefix.answered, dict):
            return GOOD
        outcome = read_outcome(prefix.provider, 200, prefix.answered, complete=True)
        if outcome.kind in ("refusal", "content_filter", "error"):
            return Judgement("bad", f"{outcome.kind} instead of an answer by its schema")
        try:
            value = json.loads(prefix.text)
        except (ValueError, RecursionError):
            return Judgement("bad", "the answer is no JSON, though a schema was asked for")
        found = find_faults(schema, value)
        return Judgement("bad", _told(found)) if found else GOOD

    return check


def _judge_result(prefix: Prefix) -> Judgement:
    """A tool's result against the schema that the run began with for it, as servers of tools declare one."""
    started = prefix.recording.started
    for tool in started.tools if started is not None else ():
        if isinstance(tool, dict) and tool.get("name") == prefix.name and not prefix.failed:
            schema = tool.get("outputSchema") or tool.get("output_schema")
            body: Any = prefix.exchange.answer.body if prefix.exchange.answer is not None else None
            found = find_faults(schema, getattr(body, "value", None)) if schema and body is not None else []
            return Judgement("bad", f"{prefix.name}: {_told(found)}") if found else GOOD
    return GOOD


def _tokens(text: str) -> Check:
    most = int(_number("tokens", text))

    def check(prefix: Prefix) -> Judgement:
        spent = prefix.spent
        if spent.tokens > most:
            return Judgement("bad", f"{spent.tokens} tokens so far, {most} allowed")
        why = f"{counted(spent.uncounted, 'model exchange')} so far without usage"
        return Judgement("skip", why) if spent.uncounted else GOOD

    return check


def _cost(text: str) -> Check:
    most = _number("cost", text)
    if not has_prices():
        raise UsageError("what a model costs is not known without a list of prices", next="pip install genai-prices")

    def check(prefix: Prefix) -> Judgement:
        spent = prefix.spent
        if spent.usd > most:
            return Judgement("bad", f"${spent.usd:.4f} so far, ${most:.4f} allowed")
        why = f"{counted(spent.unpriced, 'model exchange')} so far without a known price"
        return Judgement("skip", why) if spent.unpriced else GOOD

    return check


def _repeated(text: str) -> Check:
    most = int(_number("repeated", text)) if text else 1
    times: dict[tuple[str, str, bytes], int] = {}
    of: list[Recording] = []

    def check(prefix: Prefix) -> Judgement:
        if of[:1] != [prefix.recording] or prefix.step == 1:
            of[:] = [prefix.recording]
            times.clear()
        question = prefix.exchange.question
        if not isinstance(question.body, ToolCalled):
            return GOOD
        call = (question.lane, prefix.name, canonical(question.body.arguments))
        times[call] = times.get(call, 0) + 1
        why = f"{prefix.name} was called {times[call]} times with the same arguments"
        return Judgement("bad", why) if times[call] > most else GOOD

    return check


def _regex(text: str) -> Check:
    try:
        search = re.compile(text).search
    except (re.error, RecursionError, OverflowError) as error:
        raise _unusable(RULES["regex"], f"cannot be {printable(text)!r} ({error})") from None

    def check(prefix: Prefix) -> Judgement:
        match = search(prefix.text)
        return Judgement("bad", f"the answer has {printable(match[0], limit=200)!r}") if match else GOOD

    return check


RULES: Final[dict[str, Rule]] = {
    rule.name: rule
    for rule in (
        Rule("schema", "", "the arguments of tool calls follow their JSON Schema", _arguments),
        Rule("tool-existed", "", "the model calls no tool that it was not offered", _tool_existed),
        Rule("result-validated", "", "what was asked for by a JSON Schema follows it", _result_validated),
        Rule("tokens", "N", "no more than N tokens in all, as the wire counts them", _tokens),
        Rule("cost", "USD", "no more than USD dollars in all", _cost),
        Rule("repeated", "[=N]", "no tool is called more than N times (1) in a lane with equal arguments", _repeated),
        Rule("regex", "PATTERN", "no answer has what the regular expression matches", _regex),
    )
}
"""The checks by name."""
