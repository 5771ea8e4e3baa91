"""Answers of the gateway's own, in the form in which a client of each provider reads an error."""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec

_GOOGLE = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 501: "UNIMPLEMENTED", 502: "UNAVAILABLE"}
_ANTHROPIC = {400: "invalid_request_error", 404: "not_found_error"}
_OPENAI = {400: "invalid_request_error", 404: "invalid_request_error"}


def write_refusal(status: int, message: str, *, code: str, route: str, path: str) -> bytes:
    """The body of an error: ``code`` names it, ``route`` and the ``path`` asked for tell who reads it."""
    form = _form(route, path)
    if form == "anthropic":
        kind = _ANTHROPIC.get(status, "api_error")
        return msgspec.json.encode({"type": "error", "error": {"type": kind, "message": message}})
    if form == "google":
        error = {"code": status, "message": message, "status": _GOOGLE.get(status, "UNKNOWN")}
        return msgspec.json.encode({"error": error})
    kind = _OPENAI.get(status, "server_error")
    return msgspec.json.encode({"error": {"message": message, "type": kind, "param": None, "code": code}})


def _form(route: str, path: str) -> str:
    path = urlsplit(path).path
    if path.endswith(("/messages", "/count_tokens")) or "anthropic" in route or ":rawPredict" in path:
        return "anthropic"
    if ":" in path.rpartition("/")[2] or "gemini" in route or "vertex" in route:
        return "google"
    return "openai"
