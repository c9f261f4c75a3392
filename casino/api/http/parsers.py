"""Strict JSON: duplicate keys, NaN, floats and lone surrogates are errors. Money is never a float."""

import codecs
import json
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser

#: Bytes; the largest sensible body, twenty actions, is about 2,000.
MAX_BODY = 64 * 1024
#: Objects and lists inside each other; no operation takes more than three.
MAX_DEPTH = 16


class BodyTooLarge(APIException):
    """More than any operation takes."""

    status_code = 413
    default_detail = f"A body has at most {MAX_BODY} bytes."


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            raise ParseError(f'The key "{key}" occurs twice in one object.')
        seen[key] = value
    return seen


def _no_floats(text: str) -> Any:
    raise ParseError(f"{text} is not an integer; amounts are integers of minor units.")


def _is_shallow(value: Any) -> bool:
    """Whether nothing nests deeper than MAX_DEPTH, so that later recursive functions cannot overflow the stack."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        nested = [item for item in level if isinstance(item, (dict, list))]
        if not nested:
            return True
        level = [child for item in nested for child in (item.values() if isinstance(item, dict) else item)]
    return False


def strict_json(body: bytes) -> Any:
    """A body's value. Raises ParseError (400)."""
    try:
        text = codecs.decode(body, "utf-8", "strict")
        found = json.loads(text, object_pairs_hook=_no_duplicates, parse_float=_no_floats, parse_constant=_no_floats)
        if not _is_shallow(found):
            raise ParseError(f"The body nests deeper than {MAX_DEPTH} levels.")
        if "\\u" in text:
            # An escaped half of a surrogate pair is text that no UTF-8 can hold, neither in an answer nor a row.
            json.dumps(found, ensure_ascii=False).encode()
        return found
    except UnicodeError as error:
        raise ParseError("The body is not UTF-8 text.") from error
    except RecursionError as error:
        raise ParseError(f"The body nests deeper than {MAX_DEPTH} levels.") from error
    except json.JSONDecodeError as error:
        raise ParseError(f"The body is not JSON: {error}.") from error
    except ValueError as error:
        raise ParseError("The body has a number of too many digits.") from error


class StrictJSONParser(BaseParser):
    """application/json, UTF-8."""

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """The parsed body. Raises ParseError (400) and BodyTooLarge (413)."""
        body = stream.read(MAX_BODY + 1)
        # Kept for the audit trail: a refusal's event records the body, and a stream can be read only once.
        if parser_context is not None:
            parser_context["request"]._request.body_read = body
        if len(body) > MAX_BODY:
            raise BodyTooLarge
        return strict_json(body)
