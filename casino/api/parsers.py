"""JSON without surprises: duplicate keys, NaN and floats are errors; there is no money in floats."""

import codecs
import json
from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            raise ParseError(f"The key {key!r} stands twice in one object.")
        seen[key] = value
    return seen


def _no_floats(text: str) -> Any:
    raise ParseError(f"{text} is not an integer; amounts are integers of minor units.")


class StrictJSONParser(BaseParser):
    """application/json, UTF-8."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """The parsed body. Raises ParseError (400)."""
        try:
            text = codecs.decode(stream.read(), "utf-8", "strict")
            return json.loads(text, object_pairs_hook=_no_duplicates, parse_float=_no_floats, parse_constant=_no_floats)
        except (UnicodeDecodeError, ValueError, RecursionError) as error:
            raise ParseError(f"The body is not JSON: {error}") from error
