"""An example of every operation, shown in the schema: request and answer from an evening that a test plays.

`make examples` records `examples.json`; it is not edited by hand. `tests/casino/api/test_examples.py` plays the evening
again and compares.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("examples.json")


@cache
def examples() -> Mapping[str, Mapping[str, Any]]:
    """By the operation's id: `path` and `query` with the parameters by name, `request` where a body was sent, `answer`
    (JSON, or the first lines of a text; none without a body)."""
    found: Mapping[str, Mapping[str, Any]] = json.loads(FILE.read_text("utf-8"))
    return found


def add_to(described: dict[str, Any], status: int) -> None:
    """Show an operation's example in its description: parameters, body, and the answer with its status."""
    example = examples().get(described["operationId"])
    if example is None:
        return
    sent = example["path"] | example["query"]
    for parameter in described.get("parameters", ()):
        if parameter["in"] != "header" and parameter["name"] in sent:
            parameter["example"] = sent[parameter["name"]]
    if "request" in example:
        for content in described.get("requestBody", {}).get("content", {}).values():
            content["example"] = example["request"]
    if "answer" in example:
        for media, content in described["responses"][str(status)].get("content", {}).items():
            if media == example["media"]:
                content["example"] = example["answer"]
