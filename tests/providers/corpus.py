"""The public traffic that the tests run over, where it is at hand."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(os.environ.get("PLAYHEAD_CORPUS") or Path(__file__).parents[3] / "shared" / "corpus")


class Recorded(NamedTuple):
    """One exchange of the corpus."""

    file: str
    method: str
    url: str
    request: Any
    status: int
    content_type: str
    body: Any


@functools.cache
def read_exchanges() -> list[Recorded]:
    """All HTTP exchanges of the corpus; ``body`` is a string (a stream) or parsed JSON."""
    import yaml

    found: list[Recorded] = []
    for path in sorted((FOLDER / "cassettes").rglob("*.yaml")):
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        for one in content.get("interactions", []) if isinstance(content, dict) else []:
            if "response" in one and "uri" in one["request"]:
                found.append(_read(path.stem, one["request"], one["response"]))
    return found


def _read(file: str, request: dict[str, Any], response: dict[str, Any]) -> Recorded:
    headers = {name.lower(): value for name, value in response["headers"].items()}
    kind = headers.get("content-type", "")
    body = response.get("parsed_body", response.get("body"))
    return Recorded(
        file=file,
        method=request["method"],
        url=request["uri"],
        request=request.get("parsed_body", request.get("body")),
        status=int(response["status"]["code"] if isinstance(response["status"], dict) else response["status"]),
        content_type=kind[0] if isinstance(kind, list) else kind,
        body=body.get("string") if isinstance(body, dict) and set(body) <= {"string", "base64_string"} else body,
    )
